// SPDX-License-Identifier: MIT
// state_restore.c: reads the bytes that foliot_world_capture writes. It refuses bytes that no world
// of this scene can have. Invariant: everything is checked before anything is written, so that an
// error leaves the world as it was.
#include <float.h>
#include <string.h>

#include "sim/island/sleep.h"
#include "sim/math/hash.h"
#include "sim/state/body.h"
#include "sim/state/range.h"
#include "sim/world/prepare.h"
#include "sim/world/state_format.h"
#include "sim/world/state_io.h"
#include "sim/world/state_restore_session.h"

// Where each array of captured bytes begins, for a world of the same scene.
typedef struct layout {
    const uint8_t *bytes;
    uint32_t count, contacts; // bodies, contacts
    size_t state[FOLIOT_FIELD_COUNT];
    size_t definition[FOLIOT__STATE_DEFINITION_COUNT];
    size_t extension[FOLIOT__STATE_EXTENSION_COUNT];
    size_t players, contact, broken;
    uint32_t constraints;           // the scene's and those that commands made
    foliot__session_layout session; // of an extended world
    size_t length;                  // 0: the bytes end before it is known
    bool misfit;                    // they count more than this world has room for
} layout;

// Bits of entry `slot` of the array at `at`.
static uint64_t read_entry(const layout *p, size_t at, uint32_t slot, uint32_t width)
{
    return foliot__load_little(p->bytes + at + (size_t)slot * width, width);
}

static uint32_t entry_flags(const layout *p, uint32_t slot)
{
    return (uint32_t)read_entry(p, p->state[FOLIOT_FIELD_flags], slot, 4);
}

// What follows the definitions of bodies, from `at` on.
static void lay_out_end(const foliot_world *world, layout *p, size_t length, size_t at)
{
    p->broken = at + 4;
    p->constraints = world->scene_constraints;
    if (!world->extended) {
        p->length = p->broken + p->constraints;
        return;
    }
    if (length < p->broken)
        return;
    p->constraints = (uint32_t)foliot__load_little(p->bytes + at, 4);
    if (p->constraints > world->capacity.constraints) {
        p->misfit = true;
        return;
    }
    at = p->broken + p->constraints;
    if (length < at + FOLIOT__SESSION_HEAD_BYTES)
        return;
    p->misfit = !foliot__session_lay_out(world, p->bytes + at, p->count, &p->session);
    p->misfit |= p->constraints != world->scene_constraints + p->session.joint_count;
    p->length = at + p->session.length;
}

static layout layout_of(const foliot_world *world, const uint8_t *bytes, size_t length)
{
    uint32_t count = (uint32_t)foliot__load_little(bytes + 56, 4);
    layout p = {.bytes = bytes, .count = count};
    size_t at = FOLIOT__STATE_HEAD_BYTES;
#define PLACE(type, name, text)                                                                    \
    p.state[FOLIOT_FIELD_##name] = at;                                                             \
    at += foliot__is_state_field(world, FOLIOT_FIELD_##name)                                       \
              ? sizeof(foliot__##type) * (size_t)count                                             \
              : 0;
    FOLIOT_BODY_STATE(PLACE)
#undef PLACE
    p.players = at + 4;
    at = p.players + FOLIOT__STATE_PLAYER_BYTES * (size_t)world->player_limit;
    if (length < at + 4)
        return p;
    p.contacts = (uint32_t)foliot__load_little(bytes + at, 4);
    p.contact = at + 4;
    p.misfit = p.contacts > world->capacity.contacts;
    if (p.misfit)
        return p;
    at = p.contact + FOLIOT__STATE_CONTACT_BYTES * (size_t)p.contacts;
    unsigned table = 0;
#define PLACE(type, name)                                                                          \
    p.definition[table++] = at;                                                                    \
    at += sizeof(foliot__##type) * (size_t)count;
    FOLIOT__BODY_DEFINITION(PLACE)
#undef PLACE
    table = 0;
#define PLACE_EXTENSION(type, name)                                                                \
    p.extension[table++] = at;                                                                     \
    at += sizeof(foliot__##type) * (size_t)count;
    if (world->extended) {
        FOLIOT__BODY_EXTENSION(PLACE_EXTENSION)
    }
#undef PLACE_EXTENSION
    lay_out_end(world, &p, length, at);
    return p;
}

static bool valid_f64(uint64_t bits)
{
    return foliot__is_coordinate(foliot__f64_of(bits));
}
static bool valid_i64(uint64_t bits)
{
    return foliot__value_i64(bits) > -(INT64_C(1) << 62) && foliot__value_i64(bits) < INT64_C(1)
                                                                                          << 62;
}
static bool valid_u32(uint64_t bits)
{
    const uint32_t known = FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC | FOLIOT_BODY_FROZEN |
                           FOLIOT_BODY_ASLEEP | FOLIOT_BODY_PLAYER | FOLIOT_BODY_STARTED |
                           FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_SENSOR | FOLIOT_BODY_TARGETED |
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
        generator |= foliot__load_little(bytes + 8 + 8 * i, 8);
    uint64_t count = foliot__load_little(bytes + 56, 4),
             fields = foliot__load_little(bytes + 60, 4);
    return generator != 0 &&
           lab_valid(world, foliot__load_little(bytes + 40, 8),
                     foliot__load_little(bytes + 48, 8)) &&
           count >= world->scene_bodies && count <= world->bodies_max &&
           fields == world->state_fields;
}

static bool motion_valid(const foliot_world *world, const layout *p)
{
#define VALID(type, name, text)                                                                    \
    for (uint32_t i = 0; foliot__is_state_field(world, FOLIOT_FIELD_##name) && i < p->count; i++)  \
        if (!valid_##type(                                                                         \
                read_entry(p, p->state[FOLIOT_FIELD_##name], i, sizeof(foliot__##type))))          \
            return false;
    FOLIOT_BODY_STATE(VALID)
#undef VALID
    return true;
}

// An empty row is zero throughout, so that a digest does not depend on the row's earlier content.
static bool empty_row(const foliot_world *world, const layout *p, uint32_t slot)
{
    uint64_t any = 0;
#define ANY(type, name, text)                                                                      \
    if (foliot__is_state_field(world, FOLIOT_FIELD_##name))                                        \
        any |= read_entry(p, p->state[FOLIOT_FIELD_##name], slot, sizeof(foliot__##type));
    FOLIOT_BODY_STATE(ANY)
#undef ANY
    return any == 0;
}

// Whether the definition of `slot` is `row`, the generation apart.
static bool row_equal(const layout *p, uint32_t slot, const foliot__body_row *row)
{
    unsigned table = 0;
#define EQUAL(type, name)                                                                          \
    {                                                                                              \
        uint64_t bits = read_entry(p, p->definition[table], slot, sizeof(foliot__##type));         \
        if (bits != foliot__bits_##type(row->name) && table != FOLIOT__STATE_DEFINITION_COUNT - 1) \
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

static foliot__body_row captured_row(const foliot_world *world, const layout *p, uint32_t slot)
{
    unsigned table = 0;
    foliot__body_row row;
    memset(&row, 0, sizeof row);
#define ENTRY(type, name)                                                                          \
    row.name =                                                                                     \
        foliot__value_##type(read_entry(p, p->definition[table++], slot, sizeof(foliot__##type)));
    FOLIOT__BODY_DEFINITION(ENTRY)
#undef ENTRY
    table = 0;
#define ENTRY(type, name)                                                                          \
    row.name =                                                                                     \
        foliot__value_##type(read_entry(p, p->extension[table++], slot, sizeof(foliot__##type)));
    if (world->extended) {
        FOLIOT__BODY_EXTENSION(ENTRY)
    }
#undef ENTRY
    return row;
}

// Commands remove, spawn and change bodies: what a row may be is not fixed by the scene.
static bool extended_slots_valid(const foliot_world *world, const layout *p)
{
    static const foliot__body_row nothing;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t flags = entry_flags(p, i);
        foliot__body_row row = captured_row(world, p, i);
        if (flags & FOLIOT_BODY_ALIVE) {
            if (i < world->scene_bodies && flags & FOLIOT_BODY_PLAYER)
                return false;
            if (!foliot__extended_row_valid(world, i, flags, &row))
                return false;
            continue;
        }
        foliot__body_row empty = nothing;
        empty.generation = row.generation;
        if (memcmp(&row, &empty, sizeof row) != 0 || !empty_row(world, p, i))
            return false;
    }
    return true;
}

// Bodies of the scene are always there and never change their definition; other slots are empty or
// hold a player, whose definition is that of the scene's players.
static bool slots_valid(const foliot_world *world, const layout *p)
{
    if (world->extended)
        return extended_slots_valid(world, p);
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
        if (scene && read_entry(p, p->definition[FOLIOT__STATE_DEFINITION_COUNT - 1], i, 4) !=
                         row.generation)
            return false;
    }
    return true;
}

static foliot__player read_player(const layout *p, uint32_t index)
{
    const uint8_t *at = p->bytes + p->players + FOLIOT__STATE_PLAYER_BYTES * (size_t)index;
    foliot__player player = {.body = (uint32_t)foliot__load_little(at, 4),
                             .buttons = (uint16_t)foliot__load_little(at + 8, 2),
                             .joined = (uint16_t)foliot__load_little(at + 10, 2)};
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        player.axes[i] = (int8_t)(at[4 + i] < 128 ? at[4 + i] : at[4 + i] - 256);
    return player;
}

static bool player_valid(const foliot_world *world, const layout *p, uint32_t index)
{
    foliot__player player = read_player(p, index);
    if (player.joined == 0)
        return player.body == FOLIOT_NO_BODY && player.buttons == 0 &&
               foliot__load_little(p->bytes + p->players +
                                       FOLIOT__STATE_PLAYER_BYTES * (size_t)index + 4,
                                   FOLIOT_AXIS_COUNT) == 0;
    // Its body may have been removed by a command, or never spawned.
    bool bodiless = world->extended && player.body == FOLIOT_NO_BODY;
    if (player.joined != 1)
        return false;
    if (!bodiless && (player.body < world->scene_bodies || player.body >= p->count ||
                      !(entry_flags(p, player.body) & FOLIOT_BODY_PLAYER)))
        return false;
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        if (player.axes[i] == -128)
            return false;
    return true;
}

// Whether the controls of a player drive any body. Of an extended world.
static bool drives(const layout *p, uint32_t player)
{
    const uint8_t *driven = p->session.bytes + p->session.driven;
    return foliot__load_little(driven + 4 * (size_t)player, 4) != FOLIOT_NO_BODY;
}

// Every player's body has one player. Who has not joined drives nothing.
static bool players_valid(const foliot_world *world, const layout *p)
{
    uint32_t joined = 0, bodies = 0;
    for (uint32_t i = 0; i < world->player_limit; i++) {
        if (!player_valid(world, p, i))
            return false;
        foliot__player player = read_player(p, i);
        bool embodied = player.body != FOLIOT_NO_BODY;
        if (!player.joined && world->extended && drives(p, i))
            return false;
        joined += player.joined && embodied;
        for (uint32_t k = 0; k < i; k++)
            if (player.joined && embodied && read_player(p, k).body == player.body)
                return false;
    }
    for (uint32_t i = world->scene_bodies; i < p->count; i++)
        bodies += (entry_flags(p, i) & FOLIOT_BODY_PLAYER) != 0;
    return joined == bodies;
}

static foliot__contact_row read_contact(const layout *p, uint32_t index)
{
    const uint8_t *at = p->bytes + p->contact + FOLIOT__STATE_CONTACT_BYTES * (size_t)index;
    uint32_t words[FOLIOT__CONTACT_WORDS];
    for (unsigned k = 0; k < FOLIOT__CONTACT_WORDS; k++)
        words[k] = (uint32_t)foliot__load_little(at + 4 * k, 4);
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
static bool contacts_valid(const foliot_world *world, const layout *p)
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

// A constraint is broken, or its byte is even: twice the half turns of its hinge.
static bool constraint_states_valid(const layout *p)
{
    for (uint32_t i = 0; i < p->constraints; i++) {
        uint8_t state = p->bytes[p->broken + i];
        if (state & FOLIOT__CONSTRAINT_BROKEN && state != FOLIOT__CONSTRAINT_BROKEN)
            return false;
    }
    return true;
}

// Where no body turns, orientations are no state: those of the scene stay, others are upright.
static void erase_body(foliot_world *world, uint32_t slot, bool alive)
{
    double *const at[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                           foliot__orientation_y(world), foliot__orientation_z(world)};
    double q[4];
    foliot__orientation_of(world, slot, q);
    bool known = slot < world->scene_bodies && foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE;
    foliot__body_erase(world, slot);
    for (int k = 0; k < 4 && alive && !world->rotates; k++)
        at[k][slot] = known ? q[k] : k == 0;
}

// All rows of an extended world.
static void restore_rows(foliot_world *world, const layout *p)
{
    uint32_t end = p->count > world->body_count ? p->count : world->body_count;
    world->contact_count = 0;
    for (uint32_t i = 0; i < end; i++) {
        erase_body(world, i, i < p->count && entry_flags(p, i) & FOLIOT_BODY_ALIVE);
        if (i >= p->count) {
            foliot__generation(world)[i] = 0;
            continue;
        }
        foliot__body_row row = captured_row(world, p, i);
#define PUT(type, name) foliot__##name(world)[i] = row.name;
        FOLIOT__BODY_DEFINITION(PUT)
        FOLIOT__BODY_EXTENSION(PUT)
#undef PUT
    }
}

// Rows that the scene does not fix: written anew or emptied, beyond the last one in use too.
static void restore_slots(foliot_world *world, const layout *p)
{
    static const double nowhere[3];
    uint32_t end = p->count > world->body_count ? p->count : world->body_count;
    for (uint32_t i = world->scene_bodies; i < end; i++) {
        foliot__body_erase(world, i);
        if (i < p->count && entry_flags(p, i) & FOLIOT_BODY_ALIVE)
            foliot__body_write(world, i, &world->spawn, nowhere, FOLIOT_BODY_PLAYER);
        foliot__generation(world)[i] =
            i < p->count
                ? (uint32_t)read_entry(p, p->definition[FOLIOT__STATE_DEFINITION_COUNT - 1], i, 4)
                : 0;
    }
}

static void restore_motion(foliot_world *world, const layout *p)
{
#define RESTORE(type, name, text)                                                                  \
    for (uint32_t i = 0; foliot__is_state_field(world, FOLIOT_FIELD_##name) && i < p->count; i++)  \
        foliot__##name(world)[i] = foliot__value_##type(                                           \
            read_entry(p, p->state[FOLIOT_FIELD_##name], i, sizeof(foliot__##type)));
    FOLIOT_BODY_STATE(RESTORE)
#undef RESTORE
    for (uint32_t i = 0; i < world->player_limit; i++)
        foliot__players(world)[i] = read_player(p, i);
    world->contact_count = p->contacts;
    for (uint32_t i = 0; i < p->contacts; i++)
        foliot__contact(world)[i] = read_contact(p, i);
    if (p->constraints)
        memcpy(foliot__constraint_state(world), p->bytes + p->broken, p->constraints);
}

static void restore_head(foliot_world *world, const uint8_t *bytes)
{
    world->tick = foliot__load_little(bytes, 8);
    for (int i = 0; i < 4; i++)
        world->rng.state[i] = foliot__load_little(bytes + 8 + 8 * i, 8);
    world->lab_time = foliot__f64_of(foliot__load_little(bytes + 40, 8));
    world->lab_dt = foliot__f64_of(foliot__load_little(bytes + 48, 8));
    world->body_count = (uint32_t)foliot__load_little(bytes + 56, 4);
}

// Finds the layout. Refuses a head that is not of this scene and a length that the head does not
// give.
static foliot_status check_layout(const foliot_world *world, const uint8_t *bytes, size_t length,
                                  layout *p)
{
    if (length < FOLIOT__STATE_HEAD_BYTES)
        return FOLIOT_STATUS_TRUNCATED;
    if (!head_valid(world, bytes))
        return FOLIOT_STATUS_CORRUPT;
    *p = layout_of(world, bytes, length);
    if (p->misfit)
        return FOLIOT_STATUS_CORRUPT;
    if (p->length == 0 || length != p->length)
        return p->length == 0 || length < p->length ? FOLIOT_STATUS_TRUNCATED
                                                    : FOLIOT_STATUS_CORRUPT;
    return FOLIOT_STATUS_OK;
}

// Captured bytes are the sections in their order, so that nothing has to be restored for it.
foliot_status foliot__captured_digest(const foliot_world *world, const uint8_t *bytes,
                                      size_t length, foliot_digest *digest)
{
    layout p;
    foliot_status status = check_layout(world, bytes, length, &p);
    if (status != FOLIOT_STATUS_OK)
        return status;
    size_t motion = p.definition[0], end = p.broken + p.constraints;
    const foliot__span rest = {bytes + motion, end - motion, 1};
    const foliot__span last = {bytes + end, length - end, 1};
    foliot_digest definition = foliot__hash(&rest, 1), session = {0, 0};
    if (world->extended)
        session = foliot__hash(&last, 1);
    const uint64_t halves[4] = {definition.low, definition.high, session.low, session.high};
    const foliot__span spans[] = {{bytes, motion, 1}, {halves, world->extended ? 4 : 2, 8}};
    *digest = foliot__hash(spans, 2);
    return FOLIOT_STATUS_OK;
}

static uint32_t flags_of(const void *context, uint32_t slot)
{
    return entry_flags(context, slot);
}

foliot_status foliot_world_restore(foliot_world *world, const uint8_t *bytes, size_t length)
{
    layout p;
    foliot_status status = check_layout(world, bytes, length, &p);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (foliot__load_little(bytes + p.players - 4, 4) != world->player_limit ||
        foliot__load_little(bytes + p.broken - 4, 4) != p.constraints || !motion_valid(world, &p) ||
        !slots_valid(world, &p) || !players_valid(world, &p) || !contacts_valid(world, &p) ||
        !constraint_states_valid(&p) ||
        (world->extended &&
         !foliot__session_valid(world, &p.session, flags_of, bytes + p.broken, &p)))
        return FOLIOT_STATUS_CORRUPT;
    if (world->extended)
        restore_rows(world, &p);
    else
        restore_slots(world, &p);
    restore_motion(world, &p);
    restore_head(world, bytes);
    if (world->extended)
        foliot__session_restore(world, &p.session);
    foliot__world_prepare(world);
    world->definition_dirty = world->session_dirty = 1;
    foliot__definition_refresh(world);
    return FOLIOT_STATUS_OK;
}
