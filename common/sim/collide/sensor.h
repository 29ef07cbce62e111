// SPDX-License-Identifier: MIT
// sensor.h: which bodies overlap which sensors. Only in worlds of scenes with sensors.
#ifndef FOLIOT_SIM_COLLIDE_SENSOR_H
#define FOLIOT_SIM_COLLIDE_SENSOR_H

#include "sim/state/state.h"

// At the start of a step, before anything acts: keeps the overlaps that the last step ended with.
void foliot__sensors_begin(foliot_world *world);
// Before the first substep: paths begin at the present poses.
void foliot__sensors_follow(foliot_world *world);
// An impact bends a body's path after that share of the substep, at that pose; sensors are where
// the substep takes them already.
void foliot__sensors_bend(foliot_world *world, uint32_t body, double share, vec3 x, quat q);
// At a substep's end: finds what overlapped on the way.
void foliot__sensors_sweep(foliot_world *world);
// At the step's end, at the final poses: finds the overlaps. `swept`: it had substeps.
void foliot__sensors_end(foliot_world *world, bool swept);

#endif
