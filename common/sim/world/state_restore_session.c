// SPDX-License-Identifier: MIT
// state_restore_session.c: checks and reads the session's section of captured bytes, and the rows
// of bodies that commands may have changed. Hostile bytes are refused whole; nothing is written
// before everything was checked.
#include "sim/world/state_restore_session.h"

#include <string.h>

#include "base/bytes.h"
#include "sim/math/floating_point.h"
#include "sim/math/vec3.h"
#include "sim/scene/scene.h"
#include "sim/state/joint_record.h"
#include "sim/world/command.h"
#include "sim/world/state_format.h"

#define END_BYTES (2 * FOLIOT_VAR_TEXT_BYTES) // reason and next
#define MASS_MAX 0x1p1000
#define PI 0x1.921fb54442d18p+1

static uint32_t u32_at(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
           (uint32_t)bytes[3] << 24;
}

static uint64_t u64_at(const uint8_t *bytes)
{
    return (uint64_t)u32_at(bytes + 4) << 32 | u32_at(bytes);
}

static bool in_range(double x)
{
    return x >= -FOLIOT_POSITION_MAX && x <= FOLIOT_POSITION_MAX;
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
    PLACE(driven, 4 * (size_t)world->player_limit)
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

// -- texts and variables

// Ends within its bytes, and is zero from there on.
static bool text_valid(const uint8_t *text, size_t bytes)
{
    size_t length = 0;
    while (length < bytes && text[length])
        length++;
    for (size_t k = length; k < bytes; k++)
        if (text[k])
            return false;
    return length < bytes;
}

static const char *key_at(const foliot__session_layout *l, uint32_t i)
{
    return (const char *)l->bytes + l->key + (size_t)i * FOLIOT_VAR_KEY_BYTES;
}

static bool value_valid(const foliot__session_layout *l, uint32_t i)
{
    const uint8_t *text = l->bytes + l->text + (size_t)i * FOLIOT_VAR_TEXT_BYTES;
    uint64_t bits = u64_at(l->bytes + l->value + 8 * (size_t)i);
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

static bool number_in(double x, double low, double high)
{
    return x >= low && x <= high;
}

static bool joint_numbers_valid(const foliot__joint_record *record)
{
    const foliot_constraint_definition *d = &record->definition;
    const double m = FOLIOT_POSITION_MAX;
    for (unsigned k = 0; k < 3; k++)
        if (!in_range(d->anchor_a[k]) || !in_range(d->anchor_b[k]))
            return false;
    double start2 = foliot__norm2(record->start, 4), axis2 = foliot__norm2(d->axis, 3);
    bool limited = d->angle_min <= d->angle_max;
    bool angles = d->angle_min - d->angle_min == 0 && d->angle_max - d->angle_max == 0 &&
                  (!limited || (number_in(d->angle_min, -PI, 0) && number_in(d->angle_max, 0, PI)));
    return angles && number_in(axis2, 1 - 1e-9, 1 + 1e-9) && number_in(start2, 0.5, 2) &&
           number_in(d->length, 0, m) && number_in(d->length_min, 0, d->length) &&
           d->stiffness == 1 && d->break_force > 0 && d->break_torque > 0 &&
           number_in(d->motor_speed, -m, m) && number_in(d->motor_torque, 0, m);
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

// A broken one may name bodies that are gone.
static bool joint_valid(const bodies *b, const uint8_t *bytes, bool broken)
{
    foliot__joint_record record = foliot__joint_record_read(bytes);
    const foliot_constraint_definition *d = &record.definition;
    bool known = d->kind <= FOLIOT_CONSTRAINT_WELD && d->kind != FOLIOT_CONSTRAINT_ROD &&
                 u32_at(bytes + 16) <= 1 && u32_at(bytes + 20) == 0;
    bool held = body_alive(b, d->a) && (d->b == FOLIOT_NO_BODY || body_alive(b, d->b));
    return known && d->a != d->b && (held || broken) && joint_numbers_valid(&record);
}

// -- the whole section

static bool driven_valid(const foliot_world *world, const foliot__session_layout *l,
                         const bodies *b)
{
    for (uint32_t p = 0; p < world->player_limit; p++) {
        uint32_t slot = u32_at(l->bytes + l->driven + 4 * (size_t)p);
        if (slot != FOLIOT_NO_BODY && !body_alive(b, slot))
            return false;
    }
    for (uint32_t i = 0; i < l->body_count; i++)
        if (!body_alive(b, i) && u32_at(l->bytes + l->tags + 4 * (size_t)i) != 0)
            return false;
    return true;
}

bool foliot__session_valid(const foliot_world *world, const foliot__session_layout *l,
                           uint32_t (*flags)(const void *context, uint32_t slot),
                           const uint8_t *broken, const void *context)
{
    const bodies b = {flags, context, l->body_count};
    const uint8_t *gravity = l->bytes + FOLIOT__SESSION_HEAD_BYTES, *end = gravity + 24;
    uint32_t ended = u32_at(l->bytes + 4);
    for (unsigned k = 0; k < 3; k++)
        if (!in_range(foliot__f64_of(u64_at(gravity + 8 * (size_t)k))))
            return false;
    if (ended > 1 || u32_at(l->bytes + 12) != 0 || !text_valid(end, FOLIOT_VAR_TEXT_BYTES) ||
        !text_valid(end + FOLIOT_VAR_TEXT_BYTES, FOLIOT_VAR_TEXT_BYTES) ||
        (!ended && (end[0] || end[FOLIOT_VAR_TEXT_BYTES])))
        return false;
    for (uint32_t i = 0; i < l->joint_count; i++)
        if (!joint_valid(&b, l->bytes + l->joints + (size_t)i * FOLIOT__JOINT_RECORD_BYTES,
                         broken[world->scene_constraints + i] != 0))
            return false;
    return driven_valid(world, l, &b) && vars_valid(l);
}

void foliot__session_restore(foliot_world *world, const foliot__session_layout *l)
{
    foliot__session_section *session = &world->session;
    const uint8_t *gravity = l->bytes + FOLIOT__SESSION_HEAD_BYTES, *end = gravity + 24;
    double g[3];
    for (unsigned k = 0; k < 3; k++)
        g[k] = foliot__f64_of(u64_at(gravity + 8 * (size_t)k));
    session->var_count = l->var_count;
    session->ended = u32_at(l->bytes + 4);
    session->joint_count = l->joint_count;
    world->constraint_count = world->scene_constraints + l->joint_count;
    memcpy(session->end_reason, end, sizeof session->end_reason);
    memcpy(session->end_next, end + FOLIOT_VAR_TEXT_BYTES, sizeof session->end_next);
    for (uint32_t i = 0; i < l->body_count; i++)
        foliot__tag(world)[i] = u32_at(l->bytes + l->tags + 4 * (size_t)i);
    for (uint32_t p = 0; p < world->player_limit; p++)
        foliot__driven(world)[p] = u32_at(l->bytes + l->driven + 4 * (size_t)p);
    for (uint32_t i = 0; i < l->var_count; i++) {
        foliot__var_type(world)[i] = u32_at(l->bytes + l->type + 4 * (size_t)i);
        foliot__var_changed(world)[i] = u32_at(l->bytes + l->changed + 4 * (size_t)i);
        foliot__var_value(world)[i] = u64_at(l->bytes + l->value + 8 * (size_t)i);
    }
    // A table of no entries is not there: nothing is copied into it.
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
    for (unsigned k = 0; k < 3; k++)
        if (!in_range(extent[k]))
            return false;
    if (row->shape_kind > FOLIOT_SHAPE_CAPSULE || !number_in(row->radius, 0, FOLIOT_POSITION_MAX) ||
        !in_range(row->plane_offset))
        return false;
    switch (row->shape_kind) {
    case FOLIOT_SHAPE_SPHERE:
        return row->radius > 0;
    case FOLIOT_SHAPE_PLANE:
        return number_in(foliot__norm2(extent, 3), 1 - 1e-9, 1 + 1e-9);
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
    bool moments = turns ? number_in(row->inertia_y, 0x1p-1000, MASS_MAX) &&
                               number_in(row->inertia_z, 0x1p-1000, MASS_MAX) &&
                               number_in(row->inertia_x, 0x1p-1000, MASS_MAX)
                         : row->inertia_x == 0 && row->inertia_y == 0 && row->inertia_z == 0;
    bool dynamic = !(flags & (FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC));
    return moments && (!turns || world->rotates) && number_in(row->mass, 0, MASS_MAX) &&
           (!dynamic || row->mass > 0x1p-1000);
}

bool foliot__extended_row_valid(const foliot_world *world, uint32_t slot, uint32_t flags,
                                const foliot__body_row *row)
{
    const uint32_t fixed = FOLIOT_BODY_STATIC | FOLIOT_BODY_KINEMATIC;
    bool plane = row->shape_kind == FOLIOT_SHAPE_PLANE;
    bool scene = slot < world->scene_bodies, player = flags & FOLIOT_BODY_PLAYER;
    if ((flags & fixed) == fixed || (plane && !(flags & FOLIOT_BODY_STATIC)))
        return false;
    if (flags & FOLIOT_BODY_TARGETED && !(flags & FOLIOT_BODY_KINEMATIC))
        return false;
    if (row->prototype > world->prototype_count ||
        (row->prototype != 0) == (scene || player)) // what else is in a slot was spawned from one
        return false;
    return shape_valid(row) && mass_valid(world, flags, row) && row->category != 0 &&
           number_in(row->friction, 0, MASS_MAX) && number_in(row->restitution, 0, 1) &&
           in_range(row->gravity_scale) && number_in(row->linear_damping, 0, FOLIOT_POSITION_MAX) &&
           number_in(row->angular_damping, 0, FOLIOT_POSITION_MAX) &&
           row->constant_x - row->constant_x == 0 && row->constant_y - row->constant_y == 0 &&
           row->constant_z - row->constant_z == 0;
}
