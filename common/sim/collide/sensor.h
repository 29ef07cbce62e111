// SPDX-License-Identifier: MIT
// sensor.h: which bodies overlap which sensors. Only in worlds of scenes with sensors.
#ifndef FOLIOT_SIM_COLLIDE_SENSOR_H
#define FOLIOT_SIM_COLLIDE_SENSOR_H

#include "sim/state/state.h"

// At the start of a step, before anything acts: keeps the overlaps that the last step ended with.
void foliot__sensors_begin(foliot_world *world);
// At its end, at the final poses: finds the overlaps.
void foliot__sensors_end(foliot_world *world);

#endif
