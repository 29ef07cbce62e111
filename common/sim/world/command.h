// SPDX-License-Identifier: MIT
// command.h: the part of the stage `input` that follows the players' inputs: commands.
//
// Each command acts whole or is refused whole, and the reason depends on the state and the command
// alone.
#ifndef FOLIOT_SIM_WORLD_COMMAND_H
#define FOLIOT_SIM_WORLD_COMMAND_H

#include "sim/state/state.h"

// At most commands_max, with sequences that grow.
bool foliot__commands_ordered(const foliot_world *world, const foliot_command *commands,
                              uint32_t count);
// Applies them in their order. What is refused is counted and makes an event.
void foliot__commands_apply(foliot_world *world, const foliot_command *commands, uint32_t count);

// Removes a body: its contacts, and what holds it to others. What rested on it wakes. `player` goes
// into the event; FOLIOT_NO_BODY: none.
void foliot__body_despawn(foliot_world *world, uint32_t slot, uint32_t player);

// Sets the world's gravity, the force that it is included.
void foliot__gravity_set(foliot_world *world, const double gravity[3]);

#endif
