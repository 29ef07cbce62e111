// SPDX-License-Identifier: MIT
// player.h: the stage `input`: what players do becomes bodies and forces.
#ifndef FOLIOT_SIM_WORLD_PLAYER_H
#define FOLIOT_SIM_WORLD_PLAYER_H

#include "sim/state/state.h"

// Players within the limit, known kinds, ascending (player, sequence).
bool foliot__inputs_ordered(const foliot_world *world, const foliot_input *inputs, uint32_t count);
// Applies them. What cannot be applied is counted and makes an event.
void foliot__players_apply(foliot_world *world, const foliot_input *inputs, uint32_t count);
// Force and torque of every joined player's held controls into `applied` and `torque`.
void foliot__players_push(foliot_world *world);

#endif
