// SPDX-License-Identifier: MIT
// bounds.h: what keeps the numbers of a world finite and in range.
#ifndef FOLIOT_SIM_WORLD_BOUNDS_H
#define FOLIOT_SIM_WORLD_BOUNDS_H

#include "sim/state/state.h"

// Keeps positions and velocities of the present tick, which a frozen body goes back to.
void foliot__keep_start(foliot_world *world);

// Freezes every body whose state is non-finite or beyond FOLIOT_POSITION_MAX.
void foliot__freeze_out_of_range(foliot_world *world);

// Scales velocities down to the scene's speed_max.
void foliot__clamp_speeds(foliot_world *world);

#endif
