// SPDX-License-Identifier: MIT
// target.h: kinematic bodies that a command sends to a pose: they arrive there at the end of the
// tick, with the velocity that takes them there, and stop at the next tick unless sent again.
//
// Order in a tick: commands act (foliot__target_set, foliot__target_drop), foliot__targets_begin,
// foliot__sleep_begin, the substeps, foliot__targets_end, and only then the checks of ranges.
#ifndef FOLIOT_SIM_WORLD_TARGET_H
#define FOLIOT_SIM_WORLD_TARGET_H

#include "sim/state/state.h"

// Beside FOLIOT_BODY_TARGETED, from the command until foliot__targets_begin: sent in this tick. No
// state between ticks has it.
#define FOLIOT__TARGET_NEW (1u << 31)

// Sends a living kinematic body to a pose. A part that is NULL stays as an earlier command of this
// tick set it, else as it is now; `orientation` need not have unit length, but not the length 0.
// False, and nothing changes: the body is not kinematic or is frozen, the world takes no commands,
// or the way is so long that the speed would be out of range.
bool foliot__target_set(foliot_world *world, uint32_t slot, const double position[3],
                        const double orientation[4]);
// The body is sent nowhere any more: its velocity is as set from now on. For commands that set the
// motion or the kind of a body.
void foliot__target_drop(foliot_world *world, uint32_t slot);

// Bodies that were sent in the tick before stop; those sent in this one get their velocities.
void foliot__targets_begin(foliot_world *world);
// Bodies that were sent in this tick are where they were sent, to the bit.
void foliot__targets_end(foliot_world *world);

#endif
