// SPDX-License-Identifier: MIT
// layout.h: an empty world's block, and memory for it.
#ifndef FOLIOT_SIM_WORLD_LAYOUT_H
#define FOLIOT_SIM_WORLD_LAYOUT_H

#include <stdbool.h>

#include "foliot/world.h"

// Zeroes the block, unless it is `zeroed` already, and fills in sizes, offsets and the integrator.
// FOLIOT_STATUS_FULL, FOLIOT_STATUS_INVALID.
foliot_status foliot__block_init(void *block, size_t bytes, const foliot_world_config *config,
                                 bool zeroed);
// The head of such a block alone, of sizeof(foliot_world) bytes. It has no tables and no offsets.
foliot_status foliot__head_init(foliot_world *head, const foliot_world_config *config);
// The same with what the scene fixes: for checks of captured bytes, and nothing else. Refuses what
// foliot_world_init refuses.
foliot_status foliot__world_outline(foliot_world *outline, const foliot_world_config *config,
                                    const foliot_scene *scene);
// foliot_world_init of a block that is all zeros.
foliot_status foliot__world_init_zeroed(void *block, size_t bytes,
                                        const foliot_world_config *config,
                                        const foliot_scene *scene, foliot_world **world);
// The six capacities that bound the tables of bodies, forces, constraints, contacts, players and
// spawns, as the world was made with. The other members are zero.
foliot_world_config foliot__world_capacities(const foliot_world *world);
// foliot_world_create with the capacities of `config`.
foliot_status foliot__world_create(const foliot_world_config *config, const foliot_scene *scene,
                                   foliot_world **world);

#endif
