// SPDX-License-Identifier: MIT
// sleep.h: bodies at rest for long take no part in a step until something wakes them. Only in
// scenes with `sleep: true`.
//
// Bodies that touch or are linked sleep and wake together, as an island. A sleeping body is like a
// static one: its inverse mass is 0. The state holds everything that determines when it wakes: the
// flag FOLIOT_BODY_ASLEEP, the number of ticks for which it has been still (the upper bits of
// `flags`), and the rows of the table `contact` between sleepers, which are kept.
#ifndef FOLIOT_SIM_ISLAND_SLEEP_H
#define FOLIOT_SIM_ISLAND_SLEEP_H

#include "sim/state/state.h"

#define FOLIOT__STILL_SHIFT 24 // of flags: ticks at rest, at most FOLIOT__STILL_TICKS
#define FOLIOT__STILL_TICKS 30u
#define FOLIOT__STILL_BITS (0x1fu << FOLIOT__STILL_SHIFT)

uint64_t foliot__sleep_workspace_bytes(const foliot_world_config *config);

// The one rule for what wakes when a command, a join or a leave changes a body. These wake at the
// next foliot__sleep_begin: the body, bodies in contact with it or tied to it by a constraint or a
// spring, and bodies in the region that it can reach within this tick. Called before every change
// and after it.
void foliot__sleep_change(foliot_world *world, uint32_t slot);
// The same for a change of the effect of a player's controls: its body, and the bodies that it
// pulls or pushes.
void foliot__sleep_change_player(foliot_world *world, uint32_t player);
// The body wakes with its island at the next foliot__sleep_begin, if it sleeps: for both ends of a
// tie that changes. Slot FOLIOT_NO_BODY is allowed.
void foliot__sleep_wake(foliot_world *world, uint32_t slot);
// After the inputs: wakes what must wake, and sets the sleepers' contacts aside.
void foliot__sleep_begin(foliot_world *world);
// After the step: restores those contacts, counts still ticks and puts islands to sleep.
void foliot__sleep_end(foliot_world *world);
// Whether no body of the world moves: forces, integrator and solver then have nothing to do.
bool foliot__sleep_everywhere(const foliot_world *world);

#endif
