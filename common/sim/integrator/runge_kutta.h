// SPDX-License-Identifier: MIT
// runge_kutta.h: what other schemes borrow from the classic Runge-Kutta rule (verlet's first step).
#ifndef FOLIOT_SIM_INTEGRATOR_RUNGE_KUTTA_H
#define FOLIOT_SIM_INTEGRATOR_RUNGE_KUTTA_H

#include "sim/state/state.h"

// Six times the rule's mean slopes over the step, of position and of velocity; the world is left as
// it was. Uses the scratch vectors `scratch` .. `scratch` + 4; the results lie in the last two.
void foliot__rk4_slopes(const foliot__step *step, uint32_t scratch, foliot__v3 *dx, foliot__v3 *dv);

#endif
