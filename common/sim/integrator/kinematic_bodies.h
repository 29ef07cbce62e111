// SPDX-License-Identifier: MIT
// kinematic_bodies.h: what happens to bodies after the scheme's own motion in a substep.
#ifndef FOLIOT_SIM_INTEGRATOR_KINEMATIC_BODIES_H
#define FOLIOT_SIM_INTEGRATOR_KINEMATIC_BODIES_H

#include "sim/state/state.h"

// Kinematic bodies are where their velocities take them, under every scheme. Velocities of dynamic
// bodies are divided by 1 + damping dt.
void foliot__kinematic_and_damped(const foliot__step *step);

// A kinematic body turns exactly, by an angle of x in a step; a dynamic one turns by Cayley maps
// (rotation.c), which lag behind. The ratio of speeds at which both turn alike: tan(x/2) / (x/2).
double foliot__cayley_rate(const double spin[3], double dt);

#endif
