// SPDX-License-Identifier: MIT
// state_io.c: a world's state as a list of arrays, and from that list its digest and its bytes. The
// order and the widths are a format (docs/reference/state.md): changing one changes every digest.
#include "sim/world/state_io.h"

#include <float.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "sim/state/body.h"
#include "sim/math/hash.h"
#include "sim/island/sleep.h"
#include "sim/world/prepare.h"

// -- what is state

// State that is neither a body's nor a player's: one line a field.
#define WORLD_STATE(X)                                                                             \
    X(uint64_t, tick)                                                                              \
    X(foliot__rng, rng)                                                                            \
    X(double, lab_time)                                                                            \
    X(double, lab_dt)                                                                              \
    X(uint32_t, body_count)                                                                        \
    X(uint32_t, contact_count)

#define HEAD_WORDS 7    // tick, four of the generator, lab_time, lab_dt
#define HEAD_BYTES 64   // and body_count, and state_fields, which tells a reader what arrays follow
#define PLAYER_BYTES 12 // body, axes, buttons, joined

// A field that is added to the world, to a player or to the tables must be declared state or cache
// here.
struct world_state {
#define MEMBER(type, name) type name;
    WORLD_STATE(MEMBER)
#undef MEMBER
};
_Static_assert(sizeof(struct world_state) == 64, "a field of WORLD_STATE is not written");
_Static_assert(offsetof(foliot_world, definition_digest) - offsetof(foliot_world, tick) ==
                   sizeof(struct world_state),
               "a field of the world is state and not listed in WORLD_STATE");
_Static_assert(sizeof(foliot__player) == PLAYER_BYTES, "a field of foliot__player is not written");
enum {
#define COUNT_BODY(type, name) +1
    DEFINITION_COUNT = 0 FOLIOT__BODY_DEFINITION(COUNT_BODY),
    CACHE_COUNT = 0 FOLIOT__BODY_CACHE(COUNT_BODY),
#undef COUNT_BODY
    // State: constraint_broken, players, contact. Fixed by the scene: force, constraint,
    // spawn_position, joint_start. Cache: scratch, constraint_force, events, impacts,
    // contacts_before and the five workspaces.
    OTHER_COUNT = 3 + 4 + 10,
    SPANS_MAX = 2 + FOLIOT_FIELD_COUNT + 1 + 6 + 1,
};
_Static_assert(FOLIOT__TABLE_COUNT ==
                   FOLIOT_FIELD_COUNT + DEFINITION_COUNT + CACHE_COUNT + OTHER_COUNT,
               "a table is not listed as state or cache");
_Static_assert(FOLIOT_FIELD_COUNT <= 32, "state_fields has a bit for every field");

static bool is_state(const foliot_world *world, unsigned field)
{
    return world->state_fields >> field & 1;
}

uint32_t foliot__state_fields(const foliot_world *world)
{
    const uint32_t lattice = (1u << FOLIOT_FIELD_flags) - (1u << FOLIOT_FIELD_lattice_position_x);
    const uint32_t previous =
        (1u << FOLIOT_FIELD_lattice_position_x) - (1u << FOLIOT_FIELD_previous_x);
    const uint32_t rotation = (1u << FOLIOT_FIELD_previous_x) - (1u << FOLIOT_FIELD_orientation_w);
    uint32_t fields = (1u << FOLIOT_FIELD_COUNT) - 1;
    if (world->integrator != FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        fields &= ~lattice;
    if (world->integrator != FOLIOT_INTEGRATOR_VERLET &&
        world->integrator != FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET)
        fields &= ~previous;
    if (!world->rotates)
        fields &= ~rotation;
    return fields;
}

#define CONTACT_BYTES (4 * FOLIOT__CONTACT_WORDS)

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

static uint64_t bits_f64(double value)
{
    return foliot__f64_bits(value);
}
static uint64_t bits_i64(int64_t value)
{
    return (uint64_t)value;
}
static uint64_t bits_u32(uint32_t value)
{
    return value;
}
static double value_f64(uint64_t bits)
{
    return foliot__f64_of(bits);
}
static int64_t value_i64(uint64_t bits)
{
    int64_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static uint32_t value_u32(uint64_t bits)
{
    return (uint32_t)bits;
}

uint64_t foliot_world_get_field(const foliot_world *world, uint32_t slot, foliot_field field)
{
    FOLIOT_ASSERT(slot < world->body_count);
    switch (field) {
#define BITS(type, name, text)                                                                     \
    case FOLIOT_FIELD_##name:                                                                      \
        return bits_##type(foliot__##name(world)[slot]);
        FOLIOT_BODY_STATE(BITS)
#undef BITS
    default:
        return 0;
    }
}

void foliot_world_set_field(foliot_world *world, uint32_t slot, foliot_field field, uint64_t bits)
{
    FOLIOT_ASSERT(slot < world->body_count);
    switch (field) {
#define PUT(type, name, text)                                                                      \
    case FOLIOT_FIELD_##name:                                                                      \
        foliot__##name(world)[slot] = value_##type(bits);                                          \
        break;
        FOLIOT_BODY_STATE(PUT)
#undef PUT
    default:
        return;
    }
    world->acceleration_valid = 0;
    if (field == FOLIOT_FIELD_flags)
        foliot__body_refresh(world, slot);
}

// -- the two sections as lists of arrays

typedef struct section {
    uint64_t words[HEAD_WORDS];
    uint32_t counts[2];
    uint8_t players[4 + PLAYER_BYTES * FOLIOT_PLAYERS_MAX];
    uint32_t contact_count, constraint_count;
    foliot__span spans[SPANS_MAX];
    uint32_t span_count;
} section;

static void add_span(section *s, const void *values, size_t count, uint32_t width)
{
    s->spans[s->span_count++] = (foliot__span){values, count, width};
}

static size_t write_players(const foliot_world *world, uint8_t *bytes, size_t capacity)
{
    foliot__writer w = foliot__writer_of(bytes, capacity);
    foliot__write_u32(&w, world->player_limit);
    for (uint32_t p = 0; p < world->player_limit; p++) {
        const foliot__player *player = &foliot__players(world)[p];
        foliot__write_u32(&w, player->body);
        for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
            foliot__write_u8(&w, (uint8_t)player->axes[i]);
        foliot__write_u16(&w, player->buttons);
        foliot__write_u16(&w, player->joined);
    }
    FOLIOT_ASSERT(w.status == FOLIOT_STATUS_OK);
    return w.at;
}

// Head, body arrays, players, contacts. The head has 64 bytes and comes first, so that the arrays
// stay aligned to the hash's stripes.
static void motion_section(const foliot_world *world, section *s)
{
    s->span_count = 0;
    s->words[0] = world->tick;
    memcpy(&s->words[1], world->rng.state, sizeof world->rng.state);
    s->words[5] = foliot__f64_bits(world->lab_time);
    s->words[6] = foliot__f64_bits(world->lab_dt);
    s->counts[0] = world->body_count;
    s->counts[1] = world->state_fields;
    add_span(s, s->words, HEAD_WORDS, 8);
    add_span(s, s->counts, 2, 4);
#define SPAN(type, name, text)                                                                     \
    if (is_state(world, FOLIOT_FIELD_##name))                                                      \
        add_span(s, foliot__##name(world), world->body_count, sizeof(foliot__##type));
    FOLIOT_BODY_STATE(SPAN)
#undef SPAN
    add_span(s, s->players, write_players(world, s->players, sizeof s->players), 1);
    s->contact_count = world->contact_count;
    add_span(s, &s->contact_count, 1, 4);
    add_span(s, foliot__contact(world), (size_t)FOLIOT__CONTACT_WORDS * world->contact_count, 4);
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
    add_span(s, foliot__constraint_broken(world), world->constraint_count, 1);
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

void foliot__definition_refresh(foliot_world *world)
{
    if (!world->definition_dirty)
        return;
    world->definition_digest = definition_digest(world);
    world->definition_dirty = 0;
}

foliot_digest foliot_world_get_digest(const foliot_world *world)
{
    // Between a step's stages the kept one may be out of date.
    foliot_digest definition =
        world->definition_dirty ? definition_digest(world) : world->definition_digest;
    section s;
    motion_section(world, &s);
    const uint64_t halves[2] = {definition.low, definition.high};
    add_span(&s, halves, 2, 8);
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
    section motion, definition;
    motion_section(world, &motion);
    definition_section(world, &definition);
    *length = section_bytes(&motion) + section_bytes(&definition);
    if (!bytes)
        return FOLIOT_STATUS_OK;
    if (capacity < *length)
        return FOLIOT_STATUS_FULL;
    foliot__writer w = foliot__writer_of(bytes, capacity);
    write_section(&w, &motion);
    write_section(&w, &definition);
    return w.status;
}

// -- restore
// ------------------------------------------------------------------------------------------- First
// everything is read and checked, then the world is written: an error leaves it as it was.

// Where the parts of captured bytes begin, for a world of the same scene.
typedef struct parts {
    const uint8_t *bytes;
    uint32_t count, contacts; // bodies, contacts
    size_t state[FOLIOT_FIELD_COUNT];
    size_t definition[DEFINITION_COUNT];
    size_t players, contact, broken;
    size_t length; // 0: the bytes end before it can be told
} parts;

static uint64_t little(const uint8_t *bytes, uint32_t width)
{
    uint64_t value = 0;
    for (uint32_t k = 0; k < width; k++)
        value |= (uint64_t)bytes[k] << (8 * k);
    return value;
}

// Bits of entry `slot` of the array at `at`.
static uint64_t entry(const parts *p, size_t at, uint32_t slot, uint32_t width)
{
    return little(p->bytes + at + (size_t)slot * width, width);
}

static uint32_t entry_flags(const parts *p, uint32_t slot)
{
    return (uint32_t)entry(p, p->state[FOLIOT_FIELD_flags], slot, 4);
}

static parts parts_of(const foliot_world *world, const uint8_t *bytes, size_t length)
{
    uint32_t count = (uint32_t)little(bytes + 56, 4);
    parts p = {.bytes = bytes, .count = count};
    size_t at = HEAD_BYTES;
#define PLACE(type, name, text)                                                                    \
    p.state[FOLIOT_FIELD_##name] = at;                                                             \
    at += is_state(world, FOLIOT_FIELD_##name) ? sizeof(foliot__##type) * (size_t)count : 0;
    FOLIOT_BODY_STATE(PLACE)
#undef PLACE
    p.players = at + 4;
    at = p.players + PLAYER_BYTES * (size_t)world->player_limit;
    if (length < at + 4)
        return p;
    p.contacts = (uint32_t)little(bytes + at, 4);
    p.contact = at + 4;
    if (p.contacts > world->capacity.contacts)
        return p;
    at = p.contact + CONTACT_BYTES * (size_t)p.contacts;
    unsigned table = 0;
#define PLACE(type, name)                                                                          \
    p.definition[table++] = at;                                                                    \
    at += sizeof(foliot__##type) * (size_t)count;
    FOLIOT__BODY_DEFINITION(PLACE)
#undef PLACE
    p.broken = at + 4;
    p.length = p.broken + world->constraint_count;
    return p;
}

static bool valid_f64(uint64_t bits)
{
    double value = foliot__f64_of(bits);
    return value >= -FOLIOT_POSITION_MAX && value <= FOLIOT_POSITION_MAX;
}
static bool valid_i64(uint64_t bits)
{
    return value_i64(bits) > -(INT64_C(1) << 62) && value_i64(bits) < INT64_C(1) << 62;
}
static bool valid_u32(uint64_t bits)
{
    const uint32_t known = FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC | FOLIOT_BODY_FROZEN |
                           FOLIOT_BODY_ASLEEP | FOLIOT_BODY_PLAYER | FOLIOT_BODY_STARTED |
                           FOLIOT__STILL_BITS;
    return (bits & ~(uint64_t)known) == 0;
}

// The clock of a world with steps of any dt; 0 in other worlds. The sum of steps has no bound of
// its own but stays finite: a step is at most FOLIOT_POSITION_MAX, less than half an ulp of
// DBL_MAX.
static bool lab_valid(const foliot_world *world, uint64_t time_bits, uint64_t dt_bits)
{
    double time = foliot__f64_of(time_bits), dt = foliot__f64_of(dt_bits);
    if (!world->sums_time)
        return time_bits == 0 && dt_bits == 0;
    return time >= 0 && time <= DBL_MAX && dt >= 0 && dt <= FOLIOT_POSITION_MAX;
}

static bool head_valid(const foliot_world *world, const uint8_t *bytes)
{
    uint64_t generator = 0;
    for (int i = 0; i < 4; i++)
        generator |= little(bytes + 8 + 8 * i, 8);
    uint64_t count = little(bytes + 56, 4), fields = little(bytes + 60, 4);
    return generator != 0 && lab_valid(world, little(bytes + 40, 8), little(bytes + 48, 8)) &&
           count >= world->scene_bodies && count <= world->bodies_max &&
           fields == world->state_fields;
}

static bool motion_valid(const foliot_world *world, const parts *p)
{
#define VALID(type, name, text)                                                                    \
    for (uint32_t i = 0; is_state(world, FOLIOT_FIELD_##name) && i < p->count; i++)                \
        if (!valid_##type(entry(p, p->state[FOLIOT_FIELD_##name], i, sizeof(foliot__##type))))     \
            return false;
    FOLIOT_BODY_STATE(VALID)
#undef VALID
    return true;
}

// An empty row is zero throughout, so that a digest does not depend on who was there before.
static bool empty_row(const foliot_world *world, const parts *p, uint32_t slot)
{
    uint64_t any = 0;
#define ANY(type, name, text)                                                                      \
    if (is_state(world, FOLIOT_FIELD_##name))                                                      \
        any |= entry(p, p->state[FOLIOT_FIELD_##name], slot, sizeof(foliot__##type));
    FOLIOT_BODY_STATE(ANY)
#undef ANY
    return any == 0;
}

// Whether the definition of `slot` is `row`, the generation apart.
static bool row_equal(const parts *p, uint32_t slot, const foliot__body_row *row)
{
    unsigned table = 0;
#define EQUAL(type, name)                                                                          \
    {                                                                                              \
        uint64_t bits = entry(p, p->definition[table], slot, sizeof(foliot__##type));              \
        if (bits != bits_##type(row->name) && table != DEFINITION_COUNT - 1)                       \
            return false;                                                                          \
        table++;                                                                                   \
    }
    FOLIOT__BODY_DEFINITION(EQUAL)
#undef EQUAL
    return true;
}

static foliot__body_row present_row(const foliot_world *world, uint32_t slot)
{
    return (foliot__body_row){
#define ENTRY(type, name) .name = foliot__##name(world)[slot],
        FOLIOT__BODY_DEFINITION(ENTRY)
#undef ENTRY
    };
}

// Bodies of the scene are always there and never change their definition; other slots are empty or
// a player's, who is what the scene says of players.
static bool slots_valid(const foliot_world *world, const parts *p)
{
    static const foliot__body_row nothing;
    const foliot__body_row player = foliot__body_row_of(&world->spawn);
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t flags = entry_flags(p, i);
        bool scene = i < world->scene_bodies, alive = flags & FOLIOT_BODY_ALIVE;
        foliot__body_row row = scene ? present_row(world, i) : alive ? player : nothing;
        bool still = scene ? foliot__flags(world)[i] & FOLIOT_BODY_STATIC : world->spawn.is_static;
        if (!row_equal(p, i, &row) || (scene && !alive) || (!alive && !empty_row(world, p, i)))
            return false;
        if (alive &&
            (!(flags & FOLIOT_BODY_PLAYER) != scene || !(flags & FOLIOT_BODY_STATIC) == still))
            return false;
        if (scene && entry(p, p->definition[DEFINITION_COUNT - 1], i, 4) != row.generation)
            return false;
    }
    return true;
}

static foliot__player read_player(const parts *p, uint32_t index)
{
    const uint8_t *at = p->bytes + p->players + PLAYER_BYTES * (size_t)index;
    foliot__player player = {.body = (uint32_t)little(at, 4),
                             .buttons = (uint16_t)little(at + 8, 2),
                             .joined = (uint16_t)little(at + 10, 2)};
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        player.axes[i] = (int8_t)(at[4 + i] < 128 ? at[4 + i] : at[4 + i] - 256);
    return player;
}

static bool player_valid(const foliot_world *world, const parts *p, uint32_t index)
{
    foliot__player player = read_player(p, index);
    if (player.joined == 0)
        return player.body == FOLIOT_NO_BODY && player.buttons == 0 &&
               little(p->bytes + p->players + PLAYER_BYTES * (size_t)index + 4,
                      FOLIOT_AXIS_COUNT) == 0;
    if (player.joined != 1 || player.body < world->scene_bodies || player.body >= p->count ||
        !(entry_flags(p, player.body) & FOLIOT_BODY_PLAYER))
        return false;
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        if (player.axes[i] == -128)
            return false;
    return true;
}

// Every player's body has one player.
static bool players_valid(const foliot_world *world, const parts *p)
{
    uint32_t joined = 0, bodies = 0;
    for (uint32_t i = 0; i < world->player_limit; i++) {
        if (!player_valid(world, p, i))
            return false;
        foliot__player player = read_player(p, i);
        joined += player.joined;
        for (uint32_t k = 0; k < i; k++)
            if (player.joined && read_player(p, k).body == player.body)
                return false;
    }
    for (uint32_t i = world->scene_bodies; i < p->count; i++)
        bodies += (entry_flags(p, i) & FOLIOT_BODY_PLAYER) != 0;
    return joined == bodies;
}

static foliot__contact_row read_contact(const parts *p, uint32_t index)
{
    const uint8_t *at = p->bytes + p->contact + CONTACT_BYTES * (size_t)index;
    uint32_t words[FOLIOT__CONTACT_WORDS];
    for (unsigned k = 0; k < FOLIOT__CONTACT_WORDS; k++)
        words[k] = (uint32_t)little(at + 4 * k, 4);
    foliot__contact_row row;
    memcpy(&row, words, sizeof row);
    return row;
}

static bool contact_valid(const foliot__contact_row *row)
{
    const uint32_t *feature = &row->feature_0;
    const float *impulse = &row->normal_impulse_0;
    for (unsigned k = 0; k < 8; k++)
        if (!(impulse[k] >= (k < 4 ? 0 : -FOLIOT__IMPULSE_MAX) &&
              impulse[k] <= FOLIOT__IMPULSE_MAX))
            return false;
    for (unsigned k = 0; k < 4; k++) {
        bool there = feature[k] != FOLIOT__NO_FEATURE;
        if (k && there && feature[k] <= feature[k - 1])
            return false;
        if (!there && impulse[k] != 0)
            return false;
    }
    return true;
}

// Ascending (a, b), between two bodies that are there.
static bool contacts_valid(const foliot_world *world, const parts *p)
{
    uint64_t before = 0;
    for (uint32_t i = 0; i < p->contacts; i++) {
        foliot__contact_row row = read_contact(p, i);
        uint64_t key = (uint64_t)row.a << 32 | row.b;
        if (!world->collides || row.a >= row.b || row.b >= p->count ||
            !(entry_flags(p, row.a) & FOLIOT_BODY_ALIVE) ||
            !(entry_flags(p, row.b) & FOLIOT_BODY_ALIVE) || (i && before >= key) ||
            !contact_valid(&row))
            return false;
        before = key;
    }
    return true;
}

static bool broken_valid(const foliot_world *world, const parts *p)
{
    for (uint32_t i = 0; i < world->constraint_count; i++)
        if (p->bytes[p->broken + i] > 1)
            return false;
    return true;
}

// Rows that the scene does not fix: written anew or emptied, beyond the last one in use too.
static void restore_slots(foliot_world *world, const parts *p)
{
    static const double nowhere[3];
    uint32_t end = p->count > world->body_count ? p->count : world->body_count;
    for (uint32_t i = world->scene_bodies; i < end; i++) {
        foliot__body_erase(world, i);
        if (i < p->count && entry_flags(p, i) & FOLIOT_BODY_ALIVE)
            foliot__body_write(world, i, &world->spawn, nowhere, FOLIOT_BODY_PLAYER);
        foliot__generation(world)[i] =
            i < p->count ? (uint32_t)entry(p, p->definition[DEFINITION_COUNT - 1], i, 4) : 0;
    }
}

static void restore_motion(foliot_world *world, const parts *p)
{
#define RESTORE(type, name, text)                                                                  \
    for (uint32_t i = 0; is_state(world, FOLIOT_FIELD_##name) && i < p->count; i++)                \
        foliot__##name(world)[i] =                                                                 \
            value_##type(entry(p, p->state[FOLIOT_FIELD_##name], i, sizeof(foliot__##type)));
    FOLIOT_BODY_STATE(RESTORE)
#undef RESTORE
    for (uint32_t i = 0; i < world->player_limit; i++)
        foliot__players(world)[i] = read_player(p, i);
    world->contact_count = p->contacts;
    for (uint32_t i = 0; i < p->contacts; i++)
        foliot__contact(world)[i] = read_contact(p, i);
    if (world->constraint_count)
        memcpy(foliot__constraint_broken(world), p->bytes + p->broken, world->constraint_count);
}

static void restore_head(foliot_world *world, const uint8_t *bytes)
{
    world->tick = little(bytes, 8);
    for (int i = 0; i < 4; i++)
        world->rng.state[i] = little(bytes + 8 + 8 * i, 8);
    world->lab_time = foliot__f64_of(little(bytes + 40, 8));
    world->lab_dt = foliot__f64_of(little(bytes + 48, 8));
    world->body_count = (uint32_t)little(bytes + 56, 4);
}

// The parts, if the bytes are as many as they must be.
static foliot_status take_parts(const foliot_world *world, const uint8_t *bytes, size_t length,
                                parts *p)
{
    if (length < HEAD_BYTES)
        return FOLIOT_STATUS_TRUNCATED;
    if (!head_valid(world, bytes))
        return FOLIOT_STATUS_CORRUPT;
    *p = parts_of(world, bytes, length);
    if (p->contacts > world->capacity.contacts)
        return FOLIOT_STATUS_CORRUPT;
    if (p->length == 0 || length != p->length)
        return p->length == 0 || length < p->length ? FOLIOT_STATUS_TRUNCATED
                                                    : FOLIOT_STATUS_CORRUPT;
    return FOLIOT_STATUS_OK;
}

// Captured bytes are the two sections in their order, so that nothing has to be restored for it.
foliot_status foliot__captured_digest(const foliot_world *world, const uint8_t *bytes,
                                      size_t length, foliot_digest *digest)
{
    parts p;
    foliot_status status = take_parts(world, bytes, length, &p);
    if (status != FOLIOT_STATUS_OK)
        return status;
    size_t motion = p.definition[0];
    const foliot__span rest = {bytes + motion, length - motion, 1};
    foliot_digest definition = foliot__hash(&rest, 1);
    const uint64_t halves[2] = {definition.low, definition.high};
    const foliot__span spans[] = {{bytes, motion, 1}, {halves, 2, 8}};
    *digest = foliot__hash(spans, 2);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_world_restore(foliot_world *world, const uint8_t *bytes, size_t length)
{
    parts p;
    foliot_status status = take_parts(world, bytes, length, &p);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (little(bytes + p.players - 4, 4) != world->player_limit ||
        little(bytes + p.broken - 4, 4) != world->constraint_count || !motion_valid(world, &p) ||
        !slots_valid(world, &p) || !players_valid(world, &p) || !contacts_valid(world, &p) ||
        !broken_valid(world, &p))
        return FOLIOT_STATUS_CORRUPT;
    restore_slots(world, &p);
    restore_motion(world, &p);
    restore_head(world, bytes);
    foliot__world_prepare(world);
    world->definition_dirty = 1;
    foliot__definition_refresh(world);
    return FOLIOT_STATUS_OK;
}
