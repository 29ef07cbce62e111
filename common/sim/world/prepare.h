// SPDX-License-Identifier: MIT
// prepare.h: the cache of a world, made from its state.
#ifndef FOLIOT_SIM_WORLD_PREPARE_H
#define FOLIOT_SIM_WORLD_PREPARE_H

#include "sim/state/state.h"

// Fills all that is cache, after init and after restore.
void foliot__world_prepare(foliot_world *world);
// What joins, leaves and commands of one tick changed, once after all of them.
void foliot__world_prepare_changed(foliot_world *world);

#endif
