// SPDX-License-Identifier: MIT
// state_io.c: a world's state as a list of arrays, and from that list its digest and its bytes. The
// order and the widths are a format (docs/reference/state.md): changing one changes every digest.
// Reading the bytes is state_restore.c's.
#include "sim/world/state_io.h"

#include <string.h>

#include "base/bytes.h"
#include "sim/state/body.h"
#include "sim/math/hash.h"
#include "sim/world/state_format.h"

// -- state and cache

// State that is neither a body's nor a player's: one line a field.
#define WORLD_STATE(X)                                                                             \
    X(uint64_t, tick)                                                                              \
    X(foliot__rng, rng)                                                                            \
    X(double, lab_time)                                                                            \
    X(double, lab_dt)                                                                              \
    X(uint32_t, body_count)                                                                        \
    X(uint32_t, contact_count)

#define HEAD_WORDS 7 // tick, four of the generator, lab_time, lab_dt

// A field that is added to the world, to a player or to the tables must be declared state or cache
// here.
struct world_state {
#define MEMBER(type, name) type name;
    WORLD_STATE(MEMBER)
#undef MEMBER
};
_Static_assert(sizeof(struct world_state) == 64, "a field of WORLD_STATE is not written");
_Static_assert(offsetof(foliot_world, digests) - offsetof(foliot_world, tick) ==
                   sizeof(struct world_state),
               "a field of the world is state and not listed in WORLD_STATE");
_Static_assert(sizeof(foliot__player) == FOLIOT__STATE_PLAYER_BYTES,
               "a field of foliot__player is not written");
enum {
#define COUNT_BODY(type, name) +1
    CACHE_COUNT = 0 FOLIOT__BODY_CACHE(COUNT_BODY),
#undef COUNT_BODY
    // State: constraint_state, joint_impulse, players, contact. Fixed by the scene: force,
    // constraint, spawn_position, joint_start, prototypes. Cache: scratch, constraint_force,
    // target, events, impacts, contacts_before, brief_contacts, four of sensors, two lists of
    // contacts and the five workspaces.
    OTHER_COUNT = 4 + 5 + 18,
    SESSION_COUNT = 8, // tag, driven, five of variables, joint_bytes
    SPANS_MAX = 4 + FOLIOT_FIELD_COUNT + 1 + 6 + 1 + 2 * 8,
};
_Static_assert(FOLIOT__TABLE_COUNT == FOLIOT_FIELD_COUNT + FOLIOT__STATE_DEFINITION_COUNT +
                                          CACHE_COUNT + OTHER_COUNT + SESSION_COUNT,
               "a table is not listed as state or cache");
_Static_assert(FOLIOT_FIELD_COUNT <= 32, "state_fields has a bit for every field");

uint32_t foliot__state_fields(const foliot_world *world)
{
    const uint32_t lattice = (1u << FOLIOT_FIELD_flags) - (1u << FOLIOT_FIELD_lattice_position_x);
    const uint32_t previous =
        (1u << FOLIOT_FIELD_lattice_position_x) - (1u << FOLIOT_FIELD_previous_x);
    const uint32_t rotation = (1u << FOLIOT_FIELD_previous_x) - (1u << FOLIOT_FIELD_orientation_w);
    uint32_t fields = (1u << FOLIOT_FIELD_COUNT) - 1;
    if (world->scheme.integrator != FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        fields &= ~lattice;
    if (world->scheme.integrator != FOLIOT_INTEGRATOR_VERLET &&
        world->scheme.integrator != FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET)
        fields &= ~previous;
    if (!world->scene.rotates)
        fields &= ~rotation;
    return fields;
}

// -- fields by name and bit

const char *foliot_field_get_name(foliot_field field)
{
    static const char *const names[] = {
#define NAME(type, name, text) text,
        FOLIOT_BODY_STATE(NAME)
#undef NAME
    };
    return (unsigned)field < FOLIOT_FIELD_COUNT ? names[field] : "none";
}

foliot_field foliot_field_find(const char *name)
{
    for (unsigned f = 0; f < FOLIOT_FIELD_COUNT; f++)
        if (strcmp(foliot_field_get_name((foliot_field)f), name) == 0)
            return (foliot_field)f;
    return FOLIOT_FIELD_COUNT;
}

uint64_t foliot_world_get_field(const foliot_world *world, foliot_body_id body, foliot_field field)
{
    uint32_t slot = foliot__body_slot(world, body);
    if (slot == FOLIOT_NO_BODY)
        return 0;
    switch (field) {
#define BITS(type, name, text)                                                                     \
    case FOLIOT_FIELD_##name:                                                                      \
        return foliot__bits_##type(foliot__##name(world)[slot]);
        FOLIOT_BODY_STATE(BITS)
#undef BITS
    default:
        return 0;
    }
}

foliot_status foliot_world_set_field(foliot_world *world, foliot_body_id body, foliot_field field,
                                     uint64_t bits)
{
    uint32_t slot = foliot__body_slot(world, body);
    return slot == FOLIOT_NO_BODY ? FOLIOT_STATUS_NOT_FOUND
                                  : foliot__slot_set_field(world, slot, field, bits);
}

foliot_status foliot__slot_set_field(foliot_world *world, uint32_t slot, foliot_field field,
                                     uint64_t bits)
{
    if (slot >= world->body_count)
        return FOLIOT_STATUS_NOT_FOUND;
    switch (field) {
#define PUT(type, name, text)                                                                      \
    case FOLIOT_FIELD_##name:                                                                      \
        foliot__##name(world)[slot] = foliot__value_##type(bits);                                  \
        break;
        FOLIOT_BODY_STATE(PUT)
#undef PUT
    default:
        return FOLIOT_STATUS_INVALID;
    }
    world->acceleration_valid = world->sensors.valid = 0;
    if (field == FOLIOT_FIELD_flags) {
        foliot__body_refresh(world, slot);
        foliot__bodies_count(world);
    }
    return FOLIOT_STATUS_OK;
}

// -- the three sections as lists of arrays

typedef struct section {
    uint64_t words[HEAD_WORDS];
    uint32_t counts[2];
    uint8_t players[4 + FOLIOT__STATE_PLAYER_BYTES * FOLIOT_PLAYERS_MAX];
    uint32_t contact_count, constraint_count;
    foliot__span spans[SPANS_MAX];
    uint32_t span_count;
} section;

static void add_span(section *s, const void *values, size_t count, uint32_t width)
{
    s->spans[s->span_count++] = (foliot__span){values, count, width};
}

static inline void store_little(uint8_t *at, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

// Every digest does this. Plain stores, which a compiler joins; a cursor would take a quarter of
// the digest's time.
static size_t write_players(const foliot_world *world, uint8_t *bytes)
{
    uint8_t *at = bytes + 4;
    store_little(bytes, world->player.limit, 4);
    for (uint32_t p = 0; p < world->player.limit; p++, at += FOLIOT__STATE_PLAYER_BYTES) {
        const foliot__player *player = &foliot__players(world)[p];
        store_little(at, player->body, 4);
        memcpy(at + 4, player->axes, FOLIOT_AXIS_COUNT);
        store_little(at + 8, player->buttons, 2);
        store_little(at + 10, player->joined, 2);
    }
    return (size_t)(at - bytes);
}
_Static_assert(FOLIOT__STATE_PLAYER_BYTES == 8 + FOLIOT_AXIS_COUNT, "all of a player is stored");

// Head, body arrays, players, contacts. The head has 64 bytes and comes first, so that the arrays
// stay aligned to the hash's stripes.
static void motion_section(const foliot_world *world, section *s)
{
    s->span_count = 0;
    s->words[0] = world->tick;
    memcpy(&s->words[1], world->rng.state, sizeof world->rng.state);
    s->words[5] = foliot__f64_bits(world->lab.time);
    s->words[6] = foliot__f64_bits(world->lab.dt);
    s->counts[0] = world->body_count;
    s->counts[1] = world->scene.state_fields;
    add_span(s, s->words, HEAD_WORDS, 8);
    add_span(s, s->counts, 2, 4);
#define SPAN(type, name, text)                                                                     \
    if (foliot__is_state_field(world, FOLIOT_FIELD_##name))                                        \
        add_span(s, foliot__##name(world), world->body_count, sizeof(foliot__##type));
    FOLIOT_BODY_STATE(SPAN)
#undef SPAN
    add_span(s, s->players, write_players(world, s->players), 1);
    s->contact_count = world->contact_count;
    add_span(s, &s->contact_count, 1, 4);
    add_span(s, foliot__contact(world), (size_t)FOLIOT__CONTACT_WORDS * world->contact_count, 4);
    if (!world->scene.fast_joints)
        return;
    s->constraint_count = world->constraint_count;
    add_span(s, &s->constraint_count, 1, 4);
    add_span(s, foliot__joint_impulse(world),
             (size_t)FOLIOT__JOINT_IMPULSES * world->constraint_count, 4);
}

static void definition_section(const foliot_world *world, section *s)
{
    s->span_count = 0;
#define SPAN(type, name)                                                                           \
    add_span(s, foliot__##name(world), world->body_count, sizeof(foliot__##type));
    FOLIOT__BODY_DEFINITION(SPAN)
#undef SPAN
    s->constraint_count = world->constraint_count;
    add_span(s, &s->constraint_count, 1, 4);
    add_span(s, foliot__constraint_state(world), world->constraint_count, 1);
}

// State that commands change and a step does not read every tick. Its sizes come first.
static void session_section(const foliot_world *world, section *s)
{
    const foliot__session_section *session = &world->session;
    uint32_t count = session->var_count;
    s->span_count = 0;
    add_span(s, &session->var_count, 4, 4); // and ended, joint_count, reserved
    add_span(s, session->gravity, 3, 8);
    add_span(s, session->end_reason, sizeof session->end_reason + sizeof session->end_next, 1);
    add_span(s, foliot__tag(world), world->body_count, 4);
    add_span(s, foliot__driven(world), world->player.limit, 4);
    add_span(s, foliot__var_type(world), count, 4);
    add_span(s, foliot__var_changed(world), count, 4);
    add_span(s, foliot__var_value(world), count, 8);
    add_span(s, foliot__var_key(world), (size_t)count * FOLIOT_VAR_KEY_BYTES, 1);
    add_span(s, foliot__var_text(world), (size_t)count * FOLIOT_VAR_TEXT_BYTES, 1);
    add_span(s, foliot__joint_bytes(world),
             (size_t)session->joint_count * FOLIOT__JOINT_RECORD_BYTES, 1);
}

static size_t section_bytes(const section *s)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < s->span_count; i++)
        bytes += s->spans[i].count * s->spans[i].width;
    return bytes;
}

// -- digest

static foliot_digest definition_digest(const foliot_world *world)
{
    section s;
    definition_section(world, &s);
    return foliot__hash(s.spans, s.span_count);
}

static foliot_digest session_digest(const foliot_world *world)
{
    section s;
    session_section(world, &s);
    return foliot__hash(s.spans, s.span_count);
}

void foliot__definition_refresh(foliot_world *world)
{
    if (world->digests.definition_dirty)
        world->digests.definition = definition_digest(world);
    if (world->digests.session_dirty)
        world->digests.session = session_digest(world);
    world->digests.definition_dirty = world->digests.session_dirty = 0;
}

foliot_digest foliot_world_get_digest(const foliot_world *world)
{
    // Between a step's stages the cached digests may be out of date.
    foliot_digest definition =
        world->digests.definition_dirty ? definition_digest(world) : world->digests.definition;
    foliot_digest session =
        world->digests.session_dirty ? session_digest(world) : world->digests.session;
    section s;
    motion_section(world, &s);
    const uint64_t halves[4] = {definition.low, definition.high, session.low, session.high};
    add_span(&s, halves, 4, 8);
    return foliot__hash(s.spans, s.span_count);
}

// -- capture

static void write_section(foliot__writer *w, const section *s)
{
    for (uint32_t i = 0; i < s->span_count; i++) {
        const foliot__span *span = &s->spans[i];
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        foliot__write_bytes(w, span->values, span->count * span->width);
#else
        const uint8_t *from = span->values;
        for (size_t n = 0; n < span->count; n++, from += span->width)
            for (uint32_t k = span->width; k-- > 0;)
                foliot__write_u8(w, from[k]);
#endif
    }
}

foliot_status foliot_world_capture(const foliot_world *world, uint8_t *bytes, size_t capacity,
                                   size_t *length)
{
    section motion, definition, session;
    motion_section(world, &motion);
    definition_section(world, &definition);
    session_section(world, &session);
    *length = section_bytes(&motion) + section_bytes(&definition) + section_bytes(&session);
    if (!bytes)
        return FOLIOT_STATUS_OK;
    if (capacity < *length)
        return FOLIOT_STATUS_FULL;
    foliot__writer w = foliot__writer_of(bytes, capacity);
    write_section(&w, &motion);
    write_section(&w, &definition);
    write_section(&w, &session);
    return w.status;
}
