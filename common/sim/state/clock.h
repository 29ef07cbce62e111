// SPDX-License-Identifier: MIT
// clock.h: simulated time.
#ifndef FOLIOT_SIM_STATE_CLOCK_H
#define FOLIOT_SIM_STATE_CLOCK_H

#include "sim/state/state.h"

// Time at the start of substep `s` of the present tick.
double foliot__substep_time(const foliot_world *world, uint32_t s);

#endif
