// SPDX-License-Identifier: MIT
// layout.h: an empty world's block.
#ifndef FOLIOT_SIM_WORLD_LAYOUT_H
#define FOLIOT_SIM_WORLD_LAYOUT_H

#include "foliot/world.h"

// Zeroes the block and fills in sizes, offsets and the integrator. FOLIOT_STATUS_FULL,
// FOLIOT_STATUS_INVALID.
foliot_status foliot__block_init(void *block, size_t bytes, const foliot_world_config *config);

#endif
