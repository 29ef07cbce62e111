// SPDX-License-Identifier: MIT
// contact_cache.h: the table `contact`, the impulses that pairs of bodies ended the last substep
// with. It is part of the state: the next substep starts from it (warm starting).
//
// Invariant: rows ascend by (a, b), and each pair has one row at most.
#ifndef FOLIOT_SIM_STATE_CONTACT_CACHE_H
#define FOLIOT_SIM_STATE_CONTACT_CACHE_H

#include "sim/state/state.h"

// The first row that is not before the pair (a, b), which may be the table's end.
uint32_t foliot__contact_lower_bound(const foliot_world *world, uint32_t a, uint32_t b);
// Whether the pair pushed each other in the last substep; a < b.
bool foliot__contact_was_active(const foliot_world *world, uint32_t a, uint32_t b);
// Whether the body pushed any other in the last substep.
bool foliot__contact_any_active(const foliot_world *world, uint32_t slot);

// -- changes between two steps: bodies that leave their place
//
// The first few bodies of a tick are looked for in the whole table. If there are more, the rows of
// every body are listed, so that a tick which removes all bodies takes time with the number of rows
// alone. Rows that go then name FOLIOT_NO_BODY until foliot__contact_end_changes.

// Calls visit() for every body that pushed this one in the last substep.
void foliot__contact_visit(foliot_world *world, uint32_t slot,
                           void (*visit)(foliot_world *world, uint32_t other));
// Drops the rows of a body whose slot is emptied: the next body in the slot must not inherit them.
void foliot__contact_forget(foliot_world *world, uint32_t slot);
// After the last of both: the table is in order again.
void foliot__contact_end_changes(foliot_world *world);

// -- what foliot/query.h reports of contacts

// At a step's start, and where a world begins: remembers which pairs are in contact.
void foliot__contact_events_begin(foliot_world *world);
// Appends a hit event; counted if there is no room. They are in the order of time.
void foliot__hit_event(foliot_world *world, const foliot_hit_event *impact);

#endif
