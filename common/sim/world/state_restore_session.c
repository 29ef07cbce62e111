// SPDX-License-Identifier: MIT
// state_restore_session.c: checks and reads the session's section of captured bytes, and the rows
// of bodies that commands may have changed. Hostile bytes are refused whole; nothing is written
// before everything was checked.
#include <string.h>

#include "base/bytes.h"
#include "base/text.h"
#include "sim/math/floating_point.h"
#include "sim/scene/scene.h"
#include "sim/state/state.h"
#include "sim/world/stage.h"
#include "sim/world/state_format.h"

#define END_BYTES (2 * FOLIOT_VAR_TEXT_BYTES) // reason and next
#define MASS_MAX 0x1p1000

static uint32_t u32_at(const uint8_t *bytes)
{
    return (uint32_t)foliot__load_little(bytes, 4);
}

// Returns what follows gravity: the texts of the end.
static const uint8_t *read_gravity(const foliot__session_layout *l, double gravity[3])
{
    const uint8_t *at = l->bytes + FOLIOT__SESSION_HEAD_BYTES;
    for (unsigned k = 0; k < 3; k++, at += 8)
        gravity[k] = foliot__f64_of(foliot__load_little(at, 8));
    return at;
}

// -- the layout

bool foliot__session_lay_out(const foliot_world *world, const uint8_t *bytes, uint32_t body_count,
                             foliot__session_layout *layout)
{
    foliot__session_layout l = {.bytes = bytes,
                                .body_count = body_count,
                                .var_count = u32_at(bytes),
                                .joint_count = u32_at(bytes + 8)};
    if (l.var_count > world->capacity.vars || l.joint_count > world->capacity.joints_added)
        return false;
    size_t at = FOLIOT__SESSION_HEAD_BYTES + 3 * sizeof(double) + END_BYTES;
#define PLACE(member, size)                                                                        \
    l.member = at;                                                                                 \
    at += size;
    PLACE(tags, 4 * (size_t)body_count)
    PLACE(driven, 4 * (size_t)world->player.limit)
    PLACE(type, 4 * (size_t)l.var_count)
    PLACE(changed, 4 * (size_t)l.var_count)
    PLACE(value, 8 * (size_t)l.var_count)
    PLACE(key, FOLIOT_VAR_KEY_BYTES * (size_t)l.var_count)
    PLACE(text, FOLIOT_VAR_TEXT_BYTES * (size_t)l.var_count)
    PLACE(joints, FOLIOT__JOINT_RECORD_BYTES * (size_t)l.joint_count)
#undef PLACE
    l.length = at;
    *layout = l;
    return true;
}

uint32_t foliot__session_tag(const foliot__session_layout *l, uint32_t slot)
{
    return u32_at(l->bytes + l->tags + 4 * (size_t)slot);
}

uint32_t foliot__session_driven(const foliot__session_layout *l, uint32_t player)
{
    return u32_at(l->bytes + l->driven + 4 * (size_t)player);
}

// -- texts and variables

// As a command's, and zero from its end on.
static bool text_valid(const uint8_t *text, size_t bytes)
{
    size_t length;
    if (!foliot__utf8_text((const char *)text, bytes, &length))
        return false;
    while (length < bytes && text[length] == 0)
        length++;
    return length == bytes;
}

static const char *key_at(const foliot__session_layout *l, uint32_t i)
{
    return (const char *)l->bytes + l->key + (size_t)i * FOLIOT_VAR_KEY_BYTES;
}

static bool value_valid(const foliot__session_layout *l, uint32_t i)
{
    const uint8_t *text = l->bytes + l->text + (size_t)i * FOLIOT_VAR_TEXT_BYTES;
    uint64_t bits = foliot__load_little(l->bytes + l->value + 8 * (size_t)i, 8);
    double number = foliot__f64_of(bits);
    switch (u32_at(l->bytes + l->type + 4 * (size_t)i)) {
    case FOLIOT_VAR_INTEGER:
        return text[0] == 0;
    case FOLIOT_VAR_NUMBER:
        return number - number == 0 && text[0] == 0;
    case FOLIOT_VAR_TEXT:
        return bits == 0;
    default:
        return false;
    }
}

// Ascending keys, each with a value of a known type.
static bool vars_valid(const foliot__session_layout *l)
{
    for (uint32_t i = 0; i < l->var_count; i++) {
        const uint8_t *text = l->bytes + l->text + (size_t)i * FOLIOT_VAR_TEXT_BYTES;
        if (!text_valid((const uint8_t *)key_at(l, i), FOLIOT_VAR_KEY_BYTES) ||
            !text_valid(text, FOLIOT_VAR_TEXT_BYTES) || key_at(l, i)[0] == 0 || !value_valid(l, i))
            return false;
        if (i && strcmp(key_at(l, i - 1), key_at(l, i)) >= 0)
            return false;
    }
    return true;
}

// -- joints

// In addition to what a command checks, the numbers that it computes.
static bool joint_numbers_valid(const foliot__joint_record *record)
{
    const foliot_constraint_definition *d = &record->definition;
    double start2 = foliot__norm2(record->start, 4), axis2 = foliot__norm2(d->axis, 3);
    return foliot__joint_numbers_valid(d) && d->stiffness == 1 &&
           foliot__within(axis2, 1 - 1e-9, 1 + 1e-9) && foliot__within(start2, 0.5, 2);
}

typedef struct bodies {
    uint32_t (*flags)(const void *context, uint32_t slot);
    const void *context;
    uint32_t count;
} bodies;

static bool body_alive(const bodies *b, uint32_t slot)
{
    return slot < b->count && b->flags(b->context, slot) & FOLIOT_BODY_ALIVE;
}

static bool body_known(const bodies *b, uint32_t slot, bool broken)
{
    return slot < b->count && (broken || body_alive(b, slot));
}

// A broken one may name slots that are empty.
static bool joint_valid(const bodies *b, const uint8_t *bytes, bool broken)
{
    foliot__joint_record record = foliot__joint_record_read(bytes);
    const foliot_constraint_definition *d = &record.definition;
    bool known = d->kind <= FOLIOT_CONSTRAINT_WELD && d->kind != FOLIOT_CONSTRAINT_ROD &&
                 u32_at(bytes + 16) <= 1 && u32_at(bytes + 20) == 0;
    bool held =
        body_known(b, d->a, broken) && (d->b == FOLIOT_NO_BODY || body_known(b, d->b, broken));
    return known && d->a != d->b && held && joint_numbers_valid(&record);
}

// -- the whole section

static bool driven_valid(const foliot_world *world, const foliot__session_layout *l,
                         const bodies *b)
{
    for (uint32_t p = 0; p < world->player.limit; p++) {
        uint32_t slot = foliot__session_driven(l, p);
        if (slot != FOLIOT_NO_BODY && !body_alive(b, slot))
            return false;
    }
    for (uint32_t i = 0; i < l->body_count; i++)
        if (!body_alive(b, i) && foliot__session_tag(l, i) != 0)
            return false;
    return true;
}

bool foliot__session_valid(const foliot_world *world, const foliot__session_layout *l,
                           uint32_t (*flags)(const void *context, uint32_t slot),
                           const uint8_t *broken, const void *context)
{
    const bodies b = {flags, context, l->body_count};
    uint32_t ended = u32_at(l->bytes + 4);
    double g[3];
    const uint8_t *end = read_gravity(l, g);
    if (!foliot__are_coordinates(g, 3))
        return false;
    if (world->scene.commands_max == 0 &&
        (ended || memcmp(g, world->session.gravity, sizeof g) != 0))
        return false;
    if (ended > 1 || u32_at(l->bytes + 12) != 0 || !text_valid(end, FOLIOT_VAR_TEXT_BYTES) ||
        !text_valid(end + FOLIOT_VAR_TEXT_BYTES, FOLIOT_VAR_TEXT_BYTES) ||
        (!ended && (end[0] || end[FOLIOT_VAR_TEXT_BYTES])))
        return false;
    for (uint32_t i = 0; i < l->joint_count; i++)
        if (!joint_valid(&b, l->bytes + l->joints + (size_t)i * FOLIOT__JOINT_RECORD_BYTES,
                         broken[world->scene.constraint_count + i] == FOLIOT__CONSTRAINT_BROKEN))
            return false;
    return driven_valid(world, l, &b) && vars_valid(l);
}

void foliot__session_restore(foliot_world *world, const foliot__session_layout *l)
{
    foliot__session_section *session = &world->session;
    double g[3];
    const uint8_t *end = read_gravity(l, g);
    session->var_count = l->var_count;
    session->ended = u32_at(l->bytes + 4);
    session->joint_count = l->joint_count;
    world->constraint_count = world->scene.constraint_count + l->joint_count;
    memcpy(session->end_reason, end, sizeof session->end_reason);
    memcpy(session->end_next, end + FOLIOT_VAR_TEXT_BYTES, sizeof session->end_next);
    for (uint32_t i = 0; i < l->body_count; i++)
        foliot__tag(world)[i] = foliot__session_tag(l, i);
    for (uint32_t p = 0; p < world->player.limit; p++)
        foliot__driven(world)[p] = foliot__session_driven(l, p);
    for (uint32_t i = 0; i < l->var_count; i++) {
        foliot__var_type(world)[i] = u32_at(l->bytes + l->type + 4 * (size_t)i);
        foliot__var_changed(world)[i] = u32_at(l->bytes + l->changed + 4 * (size_t)i);
        foliot__var_value(world)[i] = foliot__load_little(l->bytes + l->value + 8 * (size_t)i, 8);
    }
    // A table without entries does not exist: nothing is copied into it.
    if (l->var_count) {
        memcpy(foliot__var_key(world), l->bytes + l->key, l->text - l->key);
        memcpy(foliot__var_text(world), l->bytes + l->text, l->joints - l->text);
    }
    if (l->joint_count)
        memcpy(foliot__joint_bytes(world), l->bytes + l->joints, l->length - l->joints);
    for (uint32_t row = 0; row < l->joint_count; row++)
        foliot__joint_record_load(world, row);
    foliot__gravity_set(world, g);
}

// -- rows of bodies

static bool shape_valid(const foliot__body_row *row)
{
    const double extent[3] = {row->half_x, row->half_y, row->half_z};
    if (!foliot__are_coordinates(extent, 3) || row->shape_kind > FOLIOT_SHAPE_CAPSULE ||
        !foliot__within(row->radius, 0, FOLIOT_POSITION_MAX) ||
        !foliot__is_coordinate(row->plane_offset))
        return false;
    switch (row->shape_kind) {
    case FOLIOT_SHAPE_SPHERE:
        return row->radius > 0;
    case FOLIOT_SHAPE_PLANE:
        return foliot__within(foliot__norm2(extent, 3), 1 - 1e-9, 1 + 1e-9);
    case FOLIOT_SHAPE_BOX:
        return extent[0] > 0 && extent[1] > 0 && extent[2] > 0;
    case FOLIOT_SHAPE_CAPSULE:
        return row->radius > 0 && extent[2] >= 0;
    default:
        return true;
    }
}

static bool mass_valid(const foliot_world *world, uint32_t flags, const foliot__body_row *row)
{
    bool turns = row->inertia_x > 0;
    bool moments = turns ? foliot__within(row->inertia_y, 0x1p-1000, MASS_MAX) &&
                               foliot__within(row->inertia_z, 0x1p-1000, MASS_MAX) &&
                               foliot__within(row->inertia_x, 0x1p-1000, MASS_MAX)
                         : row->inertia_x == 0 && row->inertia_y == 0 && row->inertia_z == 0;
    bool dynamic = !(flags & (FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC));
    return moments && (!turns || world->scene.rotates) && foliot__within(row->mass, 0, MASS_MAX) &&
           (!dynamic || row->mass > 0x1p-1000);
}

bool foliot__row_valid(const foliot_world *world, uint32_t slot, uint32_t flags,
                       const foliot__body_row *row)
{
    const uint32_t fixed = FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC;
    bool plane = row->shape_kind == FOLIOT_SHAPE_PLANE;
    bool scene = slot < world->scene.body_count, player = flags & FOLIOT_BODY_PLAYER;
    if ((flags & fixed) == fixed || (plane && !(flags & FOLIOT_BODY_STATIC)))
        return false;
    if (flags & FOLIOT_BODY_TARGETED && !(flags & FOLIOT_BODY_KINEMATIC))
        return false;
    if (row->prototype > world->scene.prototype_count ||
        (row->prototype != 0) == (scene || player)) // any other body was spawned from one
        return false;
    return shape_valid(row) && mass_valid(world, flags, row) && row->category != 0 &&
           foliot__within(row->friction, 0, MASS_MAX) && foliot__within(row->restitution, 0, 1) &&
           foliot__is_coordinate(row->gravity_scale) &&
           foliot__within(row->linear_damping, 0, FOLIOT_POSITION_MAX) &&
           foliot__within(row->angular_damping, 0, FOLIOT_POSITION_MAX) &&
           row->constant_x - row->constant_x == 0 && row->constant_y - row->constant_y == 0 &&
           row->constant_z - row->constant_z == 0;
}
