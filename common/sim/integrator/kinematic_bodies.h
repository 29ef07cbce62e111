// SPDX-License-Identifier: MIT
// kinematic_bodies.h: what happens to bodies after the scheme's own motion in a substep.
#ifndef FOLIOT_SIM_INTEGRATOR_KINEMATIC_BODIES_H
#define FOLIOT_SIM_INTEGRATOR_KINEMATIC_BODIES_H

#include "sim/state/state.h"

// Kinematic bodies are where their velocities take them, under every scheme. Velocities of dynamic
// bodies are divided by 1 + damping dt.
void foliot__kinematic_and_damped(const foliot__step *step);

#endif
