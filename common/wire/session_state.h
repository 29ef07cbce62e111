// SPDX-License-Identifier: MIT
// session_state.h: the state of a session that watchers know besides poses: session variables,
// tags, prototypes of spawned bodies, joints that commands made or broke, gravity, the end. The
// server writes changes as records (docs/reference/protocol.md, "Updates"); server and clients keep
// the same tables by reading them. Every part contains whole records, so that parts need not be
// reassembled.
#ifndef FOLIOT_WIRE_SESSION_STATE_H
#define FOLIOT_WIRE_SESSION_STATE_H

#include "base/bytes.h"
#include "base/pack.h"
#include "foliot/command.h"
#include "foliot/world.h"
#include "wire/message.h"

// -- tags

// Changed tags as bits (docs/reference/protocol.md, "Tags"). A record is self-contained: tags are
// coded against the number of slots and the earlier tags in the record.

#define FOLIOT__TAG_RECORD 0x80u // bit of a record's first byte: the rest of it are tags
#define FOLIOT__TAGS_MAX 512     // in one record
// The maximum size of a record of `count` tags.
#define FOLIOT__TAGS_BYTES_MAX(count) (8 * (size_t)(count) + 8)

typedef struct foliot__tag_change {
    uint32_t slot, tag;
} foliot__tag_change;

// Writes 1 to FOLIOT__TAGS_MAX changes of slots below `slots_max`, in ascending order and each
// once.
void foliot__tags_encode(foliot__writer *w, const foliot__tag_change *changes, uint32_t count,
                         uint32_t slots_max);
// Reads the record whose first byte has been read: `first`. Returns the number of changes. Hostile
// bytes fail the reader, and give 0.
uint32_t foliot__tags_decode(foliot__reader *r, uint8_t first, uint32_t slots_max,
                             foliot__tag_change changes[FOLIOT__TAGS_MAX]);

typedef enum foliot__record_kind {
    FOLIOT__RECORD_VAR = 1,
    FOLIOT__RECORD_TAGS = 2, // on the wire any byte with FOLIOT__TAG_RECORD
    FOLIOT__RECORD_SPAWNED = 3,
    FOLIOT__RECORD_DESPAWNED = 4,
    FOLIOT__RECORD_JOINT = 5,
    FOLIOT__RECORD_JOINT_BROKEN = 6,
    FOLIOT__RECORD_GRAVITY = 7,
    FOLIOT__RECORD_END = 8,
} foliot__record_kind;

// The data to draw a joint. For joints of the scene only whether they broke is known.
typedef enum foliot__joint_state {
    FOLIOT__JOINT_UNCHANGED, // the scene's, or there is none
    FOLIOT__JOINT_MADE,
    FOLIOT__JOINT_BROKEN,
} foliot__joint_state;
typedef struct foliot__known_joint {
    uint8_t state, kind;
    uint32_t a, b; // slots; b FOLIOT_NO_BODY: the world
    double anchor_a[3], anchor_b[3];
} foliot__known_joint;

// Joints are in pages, since few of many break: joints per page, and the maximum number of pages.
#define FOLIOT__JOINTS_A_PAGE 256u
#define FOLIOT__JOINT_PAGES_MAX 1024u

typedef struct foliot__session_state {
    uint32_t slots_max;                 // no record names a slot beyond
    uint32_t slot_count, slot_capacity; // of the tables below: they grow as slots are named
    uint32_t *tags;
    uint32_t *prototypes;              // FOLIOT_NO_BODY: none
    uint32_t *generations;             // of the body that was spawned from the prototype
    uint64_t *changed;                 // tick at which a body was spawned here or went, or 0
    uint64_t changed_newest;           // the latest of these
    foliot__known_joint **joint_pages; // by index / FOLIOT__JOINTS_A_PAGE; NULL before the first
    uint32_t joint_page_count;         // that are allocated
    uint32_t joint_end;                // no joint of this index or beyond is known
    foliot_var *vars;                  // FOLIOT_VARS_MAX, ordered by key; NULL before the first
    uint32_t var_count;
    double gravity[3]; // of the scene until a command has set it: gravity_known
    bool gravity_known, ended;
    char reason[FOLIOT_VAR_TEXT_BYTES], next[FOLIOT_VAR_TEXT_BYTES];
} foliot__session_state;

// The content of one record, for the code that makes events of it. Everything is lent for the call.
typedef struct foliot__record {
    foliot__record_kind kind;
    uint32_t slot, generation; // bodies; a joint: its index in `slot`
    uint32_t value;            // tag, prototype
    const foliot__known_joint *joint;
    const foliot_var *var; // the new one; removed: the old one
    bool removed;
    bool known; // spawned: the record contains nothing new
} foliot__record;
typedef void foliot__record_visit(void *user, const foliot__record *record);

void foliot__session_state_init(foliot__session_state *state, uint32_t slots_max);
void foliot__session_state_free(foliot__session_state *state);
void foliot__session_state_clear(foliot__session_state *state); // as just made
const foliot_var *foliot__session_state_var(const foliot__session_state *state, const char *key);
static inline uint32_t foliot__session_state_tag(const foliot__session_state *state, uint32_t slot)
{
    return slot < state->slot_count ? state->tags[slot] : 0;
}
static inline uint32_t foliot__session_state_prototype(const foliot__session_state *state,
                                                       uint32_t slot)
{
    return slot < state->slot_count ? state->prototypes[slot] : FOLIOT_NO_BODY;
}
// NULL: it is as in the scene.
const foliot__known_joint *foliot__session_state_joint(const foliot__session_state *state,
                                                       uint32_t index);
// Marks the state as initial: no body has been spawned or removed since.
void foliot__session_state_begun(foliot__session_state *state);

// Applies a part of the tick `tick`. Hostile bytes give FOLIOT_STATUS_TRUNCATED or
// FOLIOT_STATUS_CORRUPT; the records before the wrong one have then been applied.
// FOLIOT_STATUS_MEMORY. `visit` may be NULL.
foliot_status foliot__session_state_apply(foliot__session_state *state, uint64_t tick,
                                          const uint8_t *bytes, size_t length,
                                          foliot__record_visit *visit, void *user);

// -- writing: parts of at most FOLIOT__UPDATE_BYTES_MAX bytes, each handed to `emit` when full

typedef struct foliot__update_writer {
    void (*emit)(void *user, const uint8_t *bytes, size_t length);
    void *user;
    uint32_t slots_max, tag_count;
    size_t length;
    foliot__tag_change tags[FOLIOT__TAGS_MAX]; // that are not written yet
    uint8_t bytes[FOLIOT__UPDATE_BYTES_MAX];
} foliot__update_writer;

// `slots_max` is that of the states which take the records.
void foliot__update_begin(foliot__update_writer *w, uint32_t slots_max,
                          void (*emit)(void *user, const uint8_t *bytes, size_t length),
                          void *user);
void foliot__update_var(foliot__update_writer *w, const foliot_var *var);
void foliot__update_var_removed(foliot__update_writer *w, const char *key);
// Small in the order of slots. A slot beyond slots_max is left out.
void foliot__update_tag(foliot__update_writer *w, uint32_t slot, uint32_t tag);
void foliot__update_spawned(foliot__update_writer *w, uint32_t slot, uint32_t generation,
                            uint32_t prototype);
void foliot__update_despawned(foliot__update_writer *w, uint32_t slot);
void foliot__update_joint_made(foliot__update_writer *w, uint32_t index,
                               const foliot__known_joint *joint);
void foliot__update_joint_broken(foliot__update_writer *w, uint32_t index);
void foliot__update_gravity(foliot__update_writer *w, const double gravity[3]);
void foliot__update_end(foliot__update_writer *w, const char *reason, const char *next);
// Emits the remaining records; with `always`, even if there are none.
void foliot__update_finish(foliot__update_writer *w, bool always);
// Writes the whole state.
void foliot__update_state(foliot__update_writer *w, const foliot__session_state *state);
// Writes the part of the state that belongs to no body and no joint.
void foliot__update_common(foliot__update_writer *w, const foliot__session_state *state);

// -- the changes of a step

// The changes of a step other than poses, as records: for the peers of a session of snapshots, and
// for a client that steps and shows an earlier tick.

// Writes the changes of the last step. `known` is the state before it; the caller applies records
// to it as they are emitted. `commands` are those of the step. Finishes the writer.
void foliot__write_step(foliot__update_writer *w, const foliot__session_state *known,
                        const foliot_world *world, const foliot_command_list *commands,
                        foliot__buffer *scratch);
// Writes the complete state of a world of that scene. Finishes the writer.
void foliot__write_world(foliot__update_writer *w, const foliot_world *world,
                         const foliot_scene *scene);
// Writes the reason why the world has ended, and the next scene.
void foliot__write_end(foliot__update_writer *w, const foliot_world *world);

#endif
