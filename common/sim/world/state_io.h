// SPDX-License-Identifier: MIT
// state_io.h: which part of a world is truth, as digests and keyframes see it.
#ifndef FOLIOT_SIM_TRUTH_H
#define FOLIOT_SIM_TRUTH_H

#include "sim/state/state.h"

// Bit f: field f of FOLIOT_BODY_STATE is truth in this world. Rotation is where something rotates,
// `previous` in the Verlet schemes, the lattice in reversible-leapfrog; elsewhere they stay
// constant.
uint32_t foliot__truth_fields(const foliot_world *world);

// Brings world->definition_digest up to date if definition_dirty is set.
void foliot__definition_refresh(foliot_world *world);

// The digest of the state that captured bytes hold, without restoring them. Of `world` only what
// its scene fixes counts. FOLIOT_STATUS_TRUNCATED or FOLIOT_STATUS_CORRUPT, as foliot_world_restore, for bytes
// that cannot be of this scene.
foliot_status foliot__captured_digest(const foliot_world *world, const uint8_t *bytes,
                                      size_t length, foliot_digest *digest);

// -- the truth in parts, for reports
// ----------------------------------------------------------------- How many slots there are, the
// bodies by slot, then the world itself, its players, constraints and contacts: what differs in
// number comes after what tells the number. A body's fields are those of FOLIOT_BODY_STATE in their
// order (so that a field's number is its foliot_field) and then its definition. Parts may be asked
// for between the stages of a step.
typedef enum foliot__truth_group {
    FOLIOT__TRUTH_SLOTS,
    FOLIOT__TRUTH_BODY,
    FOLIOT__TRUTH_WORLD,
    FOLIOT__TRUTH_PLAYER,
    FOLIOT__TRUTH_CONSTRAINT,
    FOLIOT__TRUTH_CONTACT,
    FOLIOT__TRUTH_GROUP_COUNT
} foliot__truth_group;

typedef enum foliot__truth_type {
    FOLIOT__TRUTH_f64,
    FOLIOT__TRUTH_f32,
    FOLIOT__TRUTH_i64,
    FOLIOT__TRUTH_u32,
    FOLIOT__TRUTH_u64,
} foliot__truth_type;

typedef struct foliot__truth_entry {
    const char *name;
    foliot__truth_type type;
    bool digested; // in this world; else it never changes
    uint64_t bits;
} foliot__truth_entry;

uint32_t foliot__truth_part_count(const foliot_world *world);
// The group of part `part`, and its index in it.
foliot__truth_group foliot__truth_part(const foliot_world *world, uint32_t part, uint32_t *index);
uint32_t foliot__truth_field_count(const foliot_world *world, uint32_t part);
// All its fields; how many there are.
#define FOLIOT__TRUTH_FIELDS_MAX 64
uint32_t foliot__truth_fields_of(const foliot_world *world, uint32_t part,
                                 foliot__truth_entry fields[FOLIOT__TRUTH_FIELDS_MAX]);
void foliot__truth_field_put(foliot_world *world, uint32_t part, uint32_t field, uint64_t bits);

#endif
