// SPDX-License-Identifier: MIT
// state_restore.c: reads the bytes that foliot_world_capture writes. It refuses bytes that no world
// of this scene can have. Invariant: everything is checked before anything is written, so that an
// error leaves the world as it was.
#include <float.h>
#include <string.h>

#include "sim/island/sleep.h"
#include "sim/math/hash.h"
#include "sim/state/body.h"
#include "sim/state/state.h"
#include "sim/world/stage.h"
#include "sim/world/state_format.h"
#include "sim/world/state_io.h"

// Where each array of captured bytes begins, for a world of the same scene.
typedef struct layout {
    const uint8_t *bytes;
    uint32_t count, contacts; // bodies, contacts
    size_t state[FOLIOT_FIELD_COUNT];
    size_t definition[FOLIOT__STATE_DEFINITION_COUNT];
    size_t players, contact, impulses, broken;
    uint32_t constraints; // the scene's and those that commands made
    foliot__session_layout session;
    size_t length; // 0: the bytes end before it is known
    bool misfit;   // their counts exceed this world's capacities
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

// Lays out the sections after the definitions of bodies, from `at` on.
static void lay_out_end(const foliot_world *world, layout *p, size_t length, size_t at)
{
    p->broken = at + 4;
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
    p->misfit |= p->constraints != world->scene.constraint_count + p->session.joint_count;
    p->misfit |= world->scene.fast_joints &&
                 foliot__load_little(p->bytes + p->impulses - 4, 4) != p->constraints;
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
    at = p.players + FOLIOT__STATE_PLAYER_BYTES * (size_t)world->player.limit;
    if (length < at + 4)
        return p;
    p.contacts = (uint32_t)foliot__load_little(bytes + at, 4);
    p.contact = at + 4;
    p.misfit = p.contacts > world->capacity.contacts;
    if (p.misfit)
        return p;
    at = p.contact + FOLIOT__STATE_CONTACT_BYTES * (size_t)p.contacts;
    if (world->scene.fast_joints) {
        if (length < at + 4)
            return p;
        uint32_t rows = (uint32_t)foliot__load_little(bytes + at, 4);
        p.misfit = rows > world->capacity.constraints;
        if (p.misfit)
            return p;
        p.impulses = at + 4;
        at = p.impulses + sizeof(foliot__joint_warm) * (size_t)rows;
    }
    unsigned table = 0;
#define PLACE(type, name)                                                                          \
    p.definition[table++] = at;                                                                    \
    at += sizeof(foliot__##type) * (size_t)count;
    FOLIOT__BODY_DEFINITION(PLACE)
#undef PLACE
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

// The clock of a world with steps of any dt; 0 in other worlds. The sum of steps has no explicit
// bound but stays finite: a step is at most FOLIOT_POSITION_MAX, less than half an ulp of DBL_MAX.
static bool lab_valid(const foliot_world *world, uint64_t time_bits, uint64_t dt_bits)
{
    double time = foliot__f64_of(time_bits), dt = foliot__f64_of(dt_bits);
    if (!world->scheme.sums_time)
        return time_bits == 0 && dt_bits == 0;
    return time >= 0 && time <= DBL_MAX && dt >= 0 && dt <= FOLIOT_POSITION_MAX;
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

// Whether the definition of `slot` is `row`.
static bool row_equal(const layout *p, uint32_t slot, const foliot__body_row *row)
{
    unsigned table = 0;
#define EQUAL(type, name)                                                                          \
    {                                                                                              \
        uint64_t bits = read_entry(p, p->definition[table], slot, sizeof(foliot__##type));         \
        if (bits != foliot__bits_##type(row->name))                                                \
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

static foliot__body_row captured_row(const layout *p, uint32_t slot)
{
    unsigned table = 0;
    foliot__body_row row;
    memset(&row, 0, sizeof row);
#define ENTRY(type, name)                                                                          \
    row.name =                                                                                     \
        foliot__value_##type(read_entry(p, p->definition[table++], slot, sizeof(foliot__##type)));
    FOLIOT__BODY_DEFINITION(ENTRY)
#undef ENTRY
    return row;
}

// Without commands a slot holds what the scene defines: its own body permanently, or a player's.
static bool fixed_slot_valid(const foliot_world *world, const layout *p, uint32_t slot)
{
    const uint32_t kind = FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_SENSOR;
    const foliot_body_definition *body = &world->player.spawn;
    uint32_t flags = entry_flags(p, slot), as = (body->is_static ? FOLIOT_BODY_STATIC : 0u) |
                                                (body->is_kinematic ? FOLIOT_BODY_KINEMATIC : 0u) |
                                                (body->is_sensor ? FOLIOT_BODY_SENSOR : 0u);
    foliot__body_row row = foliot__body_row_of(&world->player.spawn);
    row.generation = captured_row(p, slot).generation;
    bool scene = slot < world->scene.body_count;
    if (scene) {
        row = present_row(world, slot);
        as = foliot__flags(world)[slot] & kind;
    }
    return (flags & kind) == as && !(flags & FOLIOT_BODY_PLAYER) == scene &&
           row_equal(p, slot, &row) &&
           foliot__session_tag(&p->session, slot) ==
               (scene ? foliot__tag(world)[slot] : world->player.spawn.tag);
}

// Commands remove, spawn and change bodies.
static bool changed_slot_valid(const foliot_world *world, const layout *p, uint32_t slot)
{
    uint32_t flags = entry_flags(p, slot);
    foliot__body_row row = captured_row(p, slot);
    bool scene = slot < world->scene.body_count;
    return !(scene && flags & FOLIOT_BODY_PLAYER) && foliot__row_valid(world, slot, flags, &row);
}

static bool empty_slot_valid(const foliot_world *world, const layout *p, uint32_t slot)
{
    foliot__body_row empty = {.generation = captured_row(p, slot).generation};
    bool fixed = world->scene.commands_max == 0 && slot < world->scene.body_count;
    return !fixed && row_equal(p, slot, &empty) && empty_row(world, p, slot);
}

static bool slots_valid(const foliot_world *world, const layout *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        bool alive = entry_flags(p, i) & FOLIOT_BODY_ALIVE;
        bool valid = !alive                           ? empty_slot_valid(world, p, i)
                     : world->scene.commands_max == 0 ? fixed_slot_valid(world, p, i)
                                                      : changed_slot_valid(world, p, i);
        if (!valid)
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
    bool bodiless =
        (world->player.bodiless || world->scene.commands_max > 0) && player.body == FOLIOT_NO_BODY;
    if (player.joined != 1)
        return false;
    if (!bodiless && (player.body < world->scene.body_count || player.body >= p->count ||
                      !(entry_flags(p, player.body) & FOLIOT_BODY_PLAYER)))
        return false;
    for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
        if (player.axes[i] == -128)
            return false;
    return true;
}

// Every player's body has one player. A player drives its own body, or another one after a command,
// and none before it joins.
static bool players_valid(const foliot_world *world, const layout *p)
{
    uint32_t joined = 0, bodies = 0;
    for (uint32_t i = 0; i < world->player.limit; i++) {
        if (!player_valid(world, p, i))
            return false;
        foliot__player player = read_player(p, i);
        bool embodied = player.body != FOLIOT_NO_BODY;
        if (foliot__session_driven(&p->session, i) != player.body &&
            (!player.joined || world->scene.commands_max == 0))
            return false;
        joined += player.joined && embodied;
        for (uint32_t k = 0; k < i; k++)
            if (player.joined && embodied && read_player(p, k).body == player.body)
                return false;
    }
    for (uint32_t i = world->scene.body_count; i < p->count; i++)
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
        if (!world->scene.collides || row.a >= row.b || row.b >= p->count ||
            !(entry_flags(p, row.a) & FOLIOT_BODY_ALIVE) ||
            !(entry_flags(p, row.b) & FOLIOT_BODY_ALIVE) || (i && before >= key) ||
            !contact_valid(&row))
            return false;
        before = key;
    }
    return true;
}

static foliot__joint_warm read_impulse(const layout *p, uint32_t index)
{
    float row[FOLIOT__JOINT_IMPULSES];
    for (uint32_t k = 0; k < FOLIOT__JOINT_IMPULSES; k++) {
        uint32_t word = (uint32_t)read_entry(p, p->impulses, index * FOLIOT__JOINT_IMPULSES + k, 4);
        memcpy(&row[k], &word, sizeof word);
    }
    foliot__joint_warm impulse;
    memcpy(&impulse, row, sizeof impulse);
    return impulse;
}

static bool impulses_valid(const foliot_world *world, const layout *p)
{
    for (uint32_t i = 0; world->scene.fast_joints && i < p->constraints; i++) {
        foliot__joint_warm row = read_impulse(p, i);
        const float *at = &row.force_x;
        bool broken = p->bytes[p->broken + i] & FOLIOT__CONSTRAINT_BROKEN;
        for (uint32_t k = 0; k < FOLIOT__JOINT_IMPULSES; k++)
            if (!(at[k] >= -FOLIOT__IMPULSE_MAX && at[k] <= FOLIOT__IMPULSE_MAX) ||
                (broken && at[k] != 0))
                return false;
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

// If no body turns, orientations are not part of the state: bodies of the scene keep theirs,
// players have that of their definition, others are upright.
static void erase_body(foliot_world *world, uint32_t slot, uint32_t flags)
{
    static const double upright[4] = {1, 0, 0, 0};
    double *const at[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                           foliot__orientation_y(world), foliot__orientation_z(world)};
    double q[4];
    foliot__orientation_of(world, slot, q);
    bool known = slot < world->scene.body_count && foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE;
    foliot__body_erase(world, slot);
    if (!(flags & FOLIOT_BODY_ALIVE) || world->scene.rotates)
        return;
    if (!known)
        foliot__body_set_orientation(
            world, slot, flags & FOLIOT_BODY_PLAYER ? world->player.spawn.orientation : upright);
    for (int k = 0; k < 4 && known; k++)
        at[k][slot] = q[k];
}

// Finds the layout. Refuses a head that is not of this scene and a length that the head does not
// give.
static foliot_status check_layout(const foliot_world *world, const uint8_t *bytes, size_t length,
                                  layout *p)
{
    if (length < FOLIOT__STATE_HEAD_BYTES)
        return FOLIOT_STATUS_TRUNCATED;
    uint64_t generator = 0;
    for (int i = 0; i < 4; i++)
        generator |= foliot__load_little(bytes + 8 + 8 * i, 8);
    uint64_t count = foliot__load_little(bytes + 56, 4),
             fields = foliot__load_little(bytes + 60, 4);
    if (!(generator != 0 &&
          lab_valid(world, foliot__load_little(bytes + 40, 8),
                    foliot__load_little(bytes + 48, 8)) &&
          count >= world->scene.body_count && count <= world->bodies_max &&
          fields == world->scene.state_fields))
        return FOLIOT_STATUS_CORRUPT;
    *p = layout_of(world, bytes, length);
    if (p->misfit)
        return FOLIOT_STATUS_CORRUPT;
    if (p->length == 0 || length != p->length)
        return p->length == 0 || length < p->length ? FOLIOT_STATUS_TRUNCATED
                                                    : FOLIOT_STATUS_CORRUPT;
    return FOLIOT_STATUS_OK;
}

// Captured bytes are the sections in digest order, so that the digest needs no restore.
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
    foliot_digest definition = foliot__hash(&rest, 1), session = foliot__hash(&last, 1);
    const uint64_t halves[4] = {definition.low, definition.high, session.low, session.high};
    const foliot__span spans[] = {{bytes, motion, 1}, {halves, 4, 8}};
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
    if (foliot__load_little(bytes + p.players - 4, 4) != world->player.limit ||
        foliot__load_little(bytes + p.broken - 4, 4) != p.constraints || !motion_valid(world, &p) ||
        !slots_valid(world, &p) || !players_valid(world, &p) || !contacts_valid(world, &p) ||
        !impulses_valid(world, &p) || !constraint_states_valid(&p) ||
        !foliot__session_valid(world, &p.session, flags_of, bytes + p.broken, &p))
        return FOLIOT_STATUS_CORRUPT;
    uint32_t end = p.count > world->body_count ? p.count : world->body_count;
    world->contact_count = 0;
    for (uint32_t i = 0; i < end; i++) {
        erase_body(world, i, i < p.count ? entry_flags(&p, i) : 0);
        if (i >= p.count) {
            foliot__generation(world)[i] = 0;
            continue;
        }
        foliot__body_row row = captured_row(&p, i);
#define PUT(type, name) foliot__##name(world)[i] = row.name;
        FOLIOT__BODY_DEFINITION(PUT)
#undef PUT
    }
#define RESTORE(type, name, text)                                                                  \
    for (uint32_t i = 0; foliot__is_state_field(world, FOLIOT_FIELD_##name) && i < p.count; i++)   \
        foliot__##name(world)[i] = foliot__value_##type(                                           \
            read_entry(&p, p.state[FOLIOT_FIELD_##name], i, sizeof(foliot__##type)));
    FOLIOT_BODY_STATE(RESTORE)
#undef RESTORE
    for (uint32_t i = 0; i < world->player.limit; i++)
        foliot__players(world)[i] = read_player(&p, i);
    world->contact_count = p.contacts;
    for (uint32_t i = 0; i < p.contacts; i++)
        foliot__contact(world)[i] = read_contact(&p, i);
    for (uint32_t i = 0; world->scene.fast_joints && i < p.constraints; i++)
        foliot__joint_impulse(world)[i] = read_impulse(&p, i);
    if (p.constraints)
        memcpy(foliot__constraint_state(world), p.bytes + p.broken, p.constraints);
    world->tick = foliot__load_little(bytes, 8);
    for (int i = 0; i < 4; i++)
        world->rng.state[i] = foliot__load_little(bytes + 8 + 8 * i, 8);
    world->lab.time = foliot__f64_of(foliot__load_little(bytes + 40, 8));
    world->lab.dt = foliot__f64_of(foliot__load_little(bytes + 48, 8));
    world->body_count = (uint32_t)foliot__load_little(bytes + 56, 4);
    foliot__session_restore(world, &p.session);
    foliot__world_prepare(world);
    world->digests.definition_dirty = world->digests.session_dirty = 1;
    foliot__definition_refresh(world);
    return FOLIOT_STATUS_OK;
}
