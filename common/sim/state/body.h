// SPDX-License-Identifier: MIT
// body.h: slots of bodies: written, emptied, refreshed.
#ifndef FOLIOT_SIM_STATE_BODY_H
#define FOLIOT_SIM_STATE_BODY_H

#include "sim/state/state.h"

// One body's entries in the tables of FOLIOT__BODY_DEFINITION.
typedef struct foliot__body_row {
#define FOLIOT__ROW(type, name) foliot__##type name;
    FOLIOT__BODY_DEFINITION(FOLIOT__ROW)
#undef FOLIOT__ROW
} foliot__body_row;

// The row that a definition implies; generation 0.
foliot__body_row foliot__body_row_of(const foliot_body_definition *body);
// Fills an empty slot; `flags` are added to what the definition implies. The generation is kept.
void foliot__body_write(foliot_world *world, uint32_t slot, const foliot_body_definition *body,
                        const double position[3], uint32_t flags);
// Turns the body to `q` divided by its length, which is not 0.
void foliot__body_set_orientation(foliot_world *world, uint32_t slot, const double q[4]);
// Empties a slot: everything zero but the generation, which grows.
void foliot__body_erase(foliot_world *world, uint32_t slot);
// Changes how a body moves: of what becomes static the velocity is 0. False, and nothing changes:
// the slot is empty or frozen, a body without mass would become dynamic (what starts static has
// none), or a plane something else than static. The caller calls foliot__forces_body_gone, and
// foliot__sleep_change before and after.
bool foliot__body_set_motion(foliot_world *world, uint32_t slot, foliot_body_motion motion);
// Sets world->counts. A step does it after its commands.
void foliot__bodies_count(foliot_world *world);
// Stops a body whose state is non-finite or out of range, where it was when the tick began.
void foliot__body_freeze(foliot_world *world, uint32_t slot);

#endif
