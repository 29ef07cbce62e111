// SPDX-License-Identifier: MIT
// stage.h: the stages `input` and `finish` of a tick, for step.c and for each other.
#ifndef FOLIOT_SIM_WORLD_STAGE_H
#define FOLIOT_SIM_WORLD_STAGE_H

#include "sim/state/state.h"

// -- player.c: turns players' inputs into bodies and forces.

// Players within the limit, known kinds, ascending (player, sequence).
bool foliot__inputs_ordered(const foliot_world *world, const foliot_input *inputs, uint32_t count);
// Applies the inputs. One that cannot be applied is counted and reported as an event.
void foliot__players_apply(foliot_world *world, const foliot_input *inputs, uint32_t count);
// Force and torque of every joined player's held controls into `applied` and `torque`.
void foliot__players_push(foliot_world *world);

// -- command.c, in the stage `input` after the players. A command acts whole or is refused whole;
// the reason depends on the state and the command alone.

// At most commands_max, with sequences that grow.
bool foliot__commands_ordered(const foliot_world *world, const foliot_command *commands,
                              uint32_t count);
// Applies the commands in order. A refused one is counted and reported as an event.
void foliot__commands_apply(foliot_world *world, const foliot_command *commands, uint32_t count);

// Removes a body with its contacts and constraints. Bodies that rested on it wake. `player` goes
// into the event; FOLIOT_NO_BODY: none.
void foliot__body_despawn(foliot_world *world, uint32_t slot, uint32_t player);

// Sets the world's gravity and the uniform force that represents it.
void foliot__gravity_set(foliot_world *world, const double gravity[3]);

// -- world.c: the cache of a world, made from its state.

// Fills all caches, after init and after restore.
void foliot__world_prepare(foliot_world *world);
// Updates the caches for the changes by joins, leaves and commands of one tick, once after all.
void foliot__world_prepare_changed(foliot_world *world);

// -- command.c: kinematic bodies that a command sends to a pose: they arrive there at the end of
// the tick, with the velocity that takes them there, and stop at the next tick unless sent again.
//
// Order in a tick: commands act (foliot__target_set, foliot__target_drop), foliot__targets_begin,
// foliot__sleep_begin, the substeps, foliot__targets_end, and only then the checks of ranges.

// A flag next to FOLIOT_BODY_TARGETED, from the command until foliot__targets_begin: sent in this
// tick. No state between ticks has it.
#define FOLIOT__TARGET_NEW (1u << 31)

// Sends a living kinematic body to a pose. A part that is NULL keeps the value that an earlier
// command of this tick set, else its present one; `orientation` need not have unit length, but not
// the length 0. False, and nothing changes: the body is not kinematic or is frozen, the world takes
// no commands, or the distance is so large that the speed would be out of range.
bool foliot__target_set(foliot_world *world, uint32_t slot, const double position[3],
                        const double orientation[4]);
// Cancels the body's target: its velocity is as set from now on. For commands that set the motion
// or the kind of a body.
void foliot__target_drop(foliot_world *world, uint32_t slot);

// Bodies that were sent in the tick before stop; those sent in this one get their velocities.
void foliot__targets_begin(foliot_world *world);
// Sets the bodies that were sent in this tick to their targets, to the bit.
void foliot__targets_end(foliot_world *world);

#endif
