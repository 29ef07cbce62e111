// SPDX-License-Identifier: MIT
// state_io.h: which part of a world is state, as digests and keyframes see it.
#ifndef FOLIOT_SIM_WORLD_STATE_IO_H
#define FOLIOT_SIM_WORLD_STATE_IO_H

#include "sim/state/state.h"

// Bit f: field f of FOLIOT_BODY_STATE is state in this world. Rotation is state if a body rotates,
// `previous` in the Verlet schemes, the lattice in reversible-leapfrog; otherwise they stay
// constant.
uint32_t foliot__state_fields(const foliot_world *world);

// Brings world->digests.definition up to date if definition_dirty is set.
void foliot__definition_refresh(foliot_world *world);

// The digest of the state that captured bytes hold, without restoring them. Only the fixed values
// of the scene of `world` are used. FOLIOT_STATUS_TRUNCATED or FOLIOT_STATUS_CORRUPT, as
// foliot_world_restore, for bytes that cannot be of this scene.
foliot_status foliot__captured_digest(const foliot_world *world, const uint8_t *bytes,
                                      size_t length, foliot_digest *digest);

// -- the state in parts, for reports
//
// A part is one slot's body, the world itself, the session, one player, constraint, contact,
// variable or made joint; the count of slots comes first. A part whose number varies comes after
// the part that holds its count. A body's fields are those of FOLIOT_BODY_STATE in order, so that a
// field's number is its foliot_field, and then its definition. Parts can be read between the stages
// of a step.
typedef enum foliot__state_group {
    FOLIOT__STATE_SLOTS,
    FOLIOT__STATE_BODY,
    FOLIOT__STATE_WORLD,
    FOLIOT__STATE_SESSION,
    FOLIOT__STATE_PLAYER,
    FOLIOT__STATE_CONSTRAINT,
    FOLIOT__STATE_CONTACT,
    FOLIOT__STATE_VARIABLE,
    FOLIOT__STATE_JOINT, // that a command made
    FOLIOT__STATE_END,   // of a session that an `end` command ended
    FOLIOT__STATE_GROUP_COUNT
} foliot__state_group;

typedef enum foliot__state_type {
    FOLIOT__STATE_f64,
    FOLIOT__STATE_f32,
    FOLIOT__STATE_i64,
    FOLIOT__STATE_u32,
    FOLIOT__STATE_u64,
} foliot__state_type;

typedef struct foliot__state_entry {
    const char *name;
    foliot__state_type type;
    bool digested; // in this world; else it never changes
    uint64_t bits;
} foliot__state_entry;

uint32_t foliot__state_part_count(const foliot_world *world);
// The group of part `part`, and its index in it.
foliot__state_group foliot__state_part(const foliot_world *world, uint32_t part, uint32_t *index);
uint32_t foliot__state_field_count(const foliot_world *world, uint32_t part);
// All its fields; how many there are.
#define FOLIOT__STATE_FIELDS_MAX 64
uint32_t foliot__state_fields_of(const foliot_world *world, uint32_t part,
                                 foliot__state_entry fields[FOLIOT__STATE_FIELDS_MAX]);
// Sets a field of a body, dead ones too: the new value may bring it to life.
foliot_status foliot__slot_set_field(foliot_world *world, uint32_t slot, foliot_field field,
                                     uint64_t bits);
void foliot__state_field_put(foliot_world *world, uint32_t part, uint32_t field, uint64_t bits);

#endif
