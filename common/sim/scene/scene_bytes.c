// SPDX-License-Identifier: MIT
// scene_bytes.c: a scene as canonical bytes and back. One scene has one encoding: encode(decode(b))
// is b, and bytes that could have been written shorter are refused as corrupt. Sound in form only:
// whether the values make sense is foliot_scene_check's to say. docs/reference/scenes.md,
// "Canonical bytes", gives the layout.
#include "sim/math/floating_point.h"

#include "sim/scene/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

#define MAGIC 0x4e435346u // "FSCN"
#define ALIGNMENT 16u
#define MASK_BYTES 8u

// -- records: lists of fields

typedef enum field_type { F64, U64, U32, FLAG } field_type;

// `count` values one after another. A record's fields in order have bits 0, 1, 2 ... of its mask, a
// bit a value. New fields go to the end of a list: bytes written before they existed keep their
// meaning.
typedef struct field {
    size_t offset;
    unsigned count; // 0 ends the list
    field_type type;
} field;

// clang-format off
#define FIELD(structure, member, count, type) {offsetof(structure, member), count, type}
#define FIELD_END {0, 0, F64}

#define SCENE(member, count, type) FIELD(foliot_scene, member, count, type)
static const field scene_fields[] = {
    SCENE(dt, 1, F64), SCENE(pace_hz, 1, F64), SCENE(substeps, 1, U32), SCENE(integrator, 1, U32),
    SCENE(start, 1, U32), SCENE(form, 1, U32), SCENE(tolerance, 1, F64),
    SCENE(iterations_max, 1, U32), SCENE(constraint_iterations, 1, U32), SCENE(seed, 1, U64),
    SCENE(gravity, 3, F64), SCENE(speed_max, 1, F64), SCENE(bodies_max, 1, U32),
    SCENE(sleep, 1, FLAG), SCENE(commands_max, 1, U32), SCENE(joints_max, 1, U32),
    SCENE(script.digest.low, 1, U64), SCENE(script.digest.high, 1, U64),
    SCENE(script.history_ticks, 1, U32), SCENE(prototype_count, 1, U32),
    SCENE(joint_solver, 1, U32), FIELD_END,
};

#define BODY(member, count, type) FIELD(foliot_body_definition, member, count, type)
static const field body_fields[] = {
    BODY(mass, 1, F64), BODY(inertia, 3, F64), BODY(position, 3, F64), BODY(velocity, 3, F64),
    BODY(orientation, 4, F64), BODY(angular_velocity, 3, F64), BODY(force, 3, F64),
    BODY(friction, 1, F64), BODY(restitution, 1, F64), BODY(is_static, 1, FLAG),
    BODY(shape.kind, 1, U32), BODY(shape.radius, 1, F64), BODY(shape.half, 3, F64),
    BODY(shape.normal, 3, F64), BODY(shape.offset, 1, F64), BODY(is_kinematic, 1, FLAG),
    BODY(is_sensor, 1, FLAG), BODY(gravity_scale, 1, F64), BODY(linear_damping, 1, F64),
    BODY(angular_damping, 1, F64), BODY(category, 1, U32), BODY(mask, 1, U32),
    BODY(group, 1, U32), BODY(tag, 1, U32), FIELD_END,
};

#define FORCE(member, count, type) FIELD(foliot_force_definition, member, count, type)
static const field uniform_fields[] = {FORCE(as.uniform.acceleration, 3, F64), FIELD_END};
static const field constant_fields[] = {
    FORCE(a, 1, U32), FORCE(as.constant.force, 3, F64), FORCE(as.constant.start, 1, F64),
    FORCE(as.constant.end, 1, F64), FIELD_END,
};
static const field spring_fields[] = {
    FORCE(a, 1, U32), FORCE(b, 1, U32), FORCE(as.spring.point, 3, F64),
    FORCE(as.spring.stiffness, 1, F64), FORCE(as.spring.damping, 1, F64),
    FORCE(as.spring.length, 1, F64), FORCE(as.spring.damping_kind, 1, U32), FIELD_END,
};
static const field drag_fields[] = {
    FORCE(as.drag.linear, 1, F64), FORCE(as.drag.quadratic, 1, F64), FIELD_END,
};
static const field newton_fields[] = {
    FORCE(as.newton.constant, 1, F64), FORCE(as.newton.softening, 1, F64), FIELD_END,
};
static const field attractor_fields[] = {
    FORCE(as.attractor.point, 3, F64), FORCE(as.attractor.strength, 1, F64), FIELD_END,
};
static const field callback_fields[] = {FORCE(as.callback.callback, 1, U32), FIELD_END};
static const field *const force_fields[] = {
    uniform_fields, constant_fields, spring_fields, drag_fields, newton_fields, attractor_fields,
    callback_fields,
};
#define FORCE_KINDS (sizeof force_fields / sizeof *force_fields)

#define CONSTRAINT(member, count, type) FIELD(foliot_constraint_definition, member, count, type)
static const field constraint_fields[] = {
    CONSTRAINT(kind, 1, U32), CONSTRAINT(a, 1, U32), CONSTRAINT(b, 1, U32),
    CONSTRAINT(length, 1, F64), CONSTRAINT(length_min, 1, F64), CONSTRAINT(stiffness, 1, F64),
    CONSTRAINT(break_force, 1, F64), CONSTRAINT(anchor_a, 3, F64), CONSTRAINT(anchor_b, 3, F64),
    CONSTRAINT(axis, 3, F64), CONSTRAINT(angle_min, 1, F64), CONSTRAINT(angle_max, 1, F64),
    CONSTRAINT(motor_speed, 1, F64), CONSTRAINT(motor_torque, 1, F64),
    CONSTRAINT(break_torque, 1, F64), CONSTRAINT(collides, 1, FLAG), FIELD_END,
};

#define PLAYERS(member, count, type) FIELD(foliot_players_definition, member, count, type)
static const field players_fields[] = {
    PLAYERS(control, 1, U32), PLAYERS(force, 1, F64), PLAYERS(torque, 1, F64),
    PLAYERS(reach, 1, F64), PLAYERS(pull, 1, F64), PLAYERS(push, 1, F64), PLAYERS(jump, 1, F64),
    PLAYERS(bodiless, 1, FLAG), FIELD_END,
};
// clang-format on

_Static_assert(sizeof(foliot_integrator) == sizeof(uint32_t), "encoded as 32 bits");

static uint64_t value_of(const void *record, const field *f, unsigned k)
{
    const char *at = (const char *)record + f->offset;
    uint64_t wide;
    uint32_t narrow;
    switch (f->type) {
    case F64:
    case U64:
        memcpy(&wide, at + k * sizeof wide, sizeof wide);
        return wide;
    case U32:
        memcpy(&narrow, at + k * sizeof narrow, sizeof narrow);
        return narrow;
    case FLAG:
        return ((const bool *)(const void *)at)[k];
    }
    return 0;
}

static void value_put(void *record, const field *f, unsigned k, uint64_t value)
{
    char *at = (char *)record + f->offset;
    uint32_t narrow = (uint32_t)value;
    switch (f->type) {
    case F64:
    case U64:
        memcpy(at + k * sizeof value, &value, sizeof value);
        break;
    case U32:
        memcpy(at + k * sizeof narrow, &narrow, sizeof narrow);
        break;
    case FLAG:
        ((bool *)(void *)at)[k] = value != 0;
        break;
    }
}

// A mask of the values that differ from `before`, then those values.
static void write_record(foliot__writer *w, const field *fields, const void *record,
                         const void *before)
{
    uint64_t mask = 0, bit = 1;
    for (const field *f = fields; f->count; f++)
        for (unsigned k = 0; k < f->count; k++, bit <<= 1)
            if (value_of(record, f, k) != value_of(before, f, k))
                mask |= bit;
    foliot__write_u64(w, mask);
    bit = 1;
    for (const field *f = fields; f->count; f++)
        for (unsigned k = 0; k < f->count; k++, bit <<= 1) {
            if (!(mask & bit))
                continue;
            uint64_t value = value_of(record, f, k);
            if (f->type == F64 || f->type == U64)
                foliot__write_u64(w, value);
            else if (f->type == U32)
                foliot__write_u32(w, (uint32_t)value);
            // A flag that differs has the other value, so its bit is enough.
        }
}

static bool is_nan(uint64_t bits)
{
    return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

static uint64_t read_value(foliot__reader *r, field_type type, uint64_t before)
{
    if (type == FLAG)
        return !before;
    uint64_t value = type == U32 ? foliot__read_u32(r) : foliot__read_u64(r);
    if (value == before || (type == F64 && is_nan(value)))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return value;
}

// `record` holds the record before on entry.
static void read_record(foliot__reader *r, const field *fields, void *record)
{
    uint64_t mask = foliot__read_u64(r), bit = 1;
    for (const field *f = fields; f->count; f++)
        for (unsigned k = 0; k < f->count; k++, bit <<= 1) {
            if (mask & bit)
                value_put(record, f, k, read_value(r, f->type, value_of(record, f, k)));
            mask &= ~bit;
        }
    if (mask)
        foliot__reader_fail(r, FOLIOT_STATUS_NEWER); // fields that this build does not know
}

// -- encode

static void write_text(foliot__writer *w, const char *text)
{
    size_t length = text ? strnlen(text, FOLIOT_NAME_BYTES - 1) : 0;
    foliot__write_u8(w, (uint8_t)length);
    foliot__write_bytes(w, text, length);
}

static void write_bodies(foliot__writer *w, const foliot_body_definition *bodies, uint32_t count)
{
    foliot_body_definition standard = foliot_body_definition_default();
    for (uint32_t i = 0; i < count; i++) {
        write_text(w, bodies[i].name);
        write_record(w, body_fields, &bodies[i], i ? &bodies[i - 1] : &standard);
    }
}

static void write_forces(foliot__writer *w, const foliot_scene *scene)
{
    foliot_force_definition before[FORCE_KINDS];
    for (unsigned kind = 0; kind < FORCE_KINDS; kind++)
        before[kind] = foliot_force_definition_default((foliot_force_kind)kind);
    foliot__write_u32(w, scene->force_count);
    for (uint32_t i = 0; i < scene->force_count; i++) {
        const foliot_force_definition *force = &scene->forces[i];
        foliot__write_u8(w, (uint8_t)force->kind);
        write_record(w, force_fields[force->kind], force, &before[force->kind]);
        before[force->kind] = *force;
    }
}

static void write_constraints(foliot__writer *w, const foliot_scene *scene)
{
    foliot_constraint_definition standard =
        foliot_constraint_definition_default(FOLIOT_CONSTRAINT_DISTANCE);
    foliot__write_u32(w, scene->constraint_count);
    for (uint32_t i = 0; i < scene->constraint_count; i++)
        write_record(w, constraint_fields, &scene->constraints[i],
                     i ? &scene->constraints[i - 1] : &standard);
}

static void write_players(foliot__writer *w, const foliot_players_definition *players)
{
    foliot_scene standard = foliot_scene_default();
    foliot__write_u32(w, players->limit);
    if (players->limit == 0)
        return;
    write_record(w, players_fields, players, &standard.players);
    write_record(w, body_fields, &players->body, &standard.players.body);
    foliot__write_u32(w, players->position_count);
    for (uint32_t i = 0; i < players->position_count; i++)
        for (unsigned k = 0; k < 3; k++)
            foliot__write_f64(w, players->positions[i][k]);
}

foliot_status foliot_scene_encode(const foliot_scene *scene, uint8_t *bytes, size_t capacity,
                                  size_t *length)
{
    foliot_scene standard = foliot_scene_default();
    for (uint32_t i = 0; i < scene->force_count; i++)
        if (scene->forces[i].kind >= FORCE_KINDS)
            return FOLIOT_STATUS_INVALID;
    foliot__writer w = foliot__writer_of(bytes, capacity);
    foliot__write_u32(&w, MAGIC);
    foliot__write_u16(&w, FOLIOT_SCENE_BYTES_FORMAT);
    write_text(&w, scene->name);
    write_text(&w, scene->units.length);
    write_text(&w, scene->units.time);
    write_text(&w, scene->units.mass);
    foliot_scene counted = *scene; // FOLIOT_SUBSTEPS_AUTO is written as a number
    counted.substeps = foliot__scene_substeps(scene);
    standard.substeps = 1;
    write_record(&w, scene_fields, &counted, &standard);
    foliot__write_u32(&w, scene->body_count);
    write_bodies(&w, scene->bodies, scene->body_count);
    write_forces(&w, scene);
    write_constraints(&w, scene);
    write_players(&w, &scene->players);
    write_bodies(&w, scene->prototypes, scene->prototype_count);
    if (w.status == FOLIOT_STATUS_OK)
        *length = w.at;
    return w.status;
}

// -- decode

// The block that a scene is decoded into. Without a base it only counts: the bytes are walked
// twice, first to be checked and measured, then to be kept.
typedef struct arena {
    char *base;
    size_t at;
} arena;

static void *arena_allocate(arena *a, size_t bytes)
{
    void *taken = a->base ? a->base + a->at : NULL;
    a->at += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return taken;
}

// Names lie one after another, each with its closing zero.
static const char *read_text(foliot__reader *r, arena *a)
{
    uint8_t length = foliot__read_u8(r);
    const uint8_t *text = foliot__read_bytes(r, length);
    if (length >= FOLIOT_NAME_BYTES || (text && memchr(text, 0, length)))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    char *kept = a->base ? a->base + a->at : NULL;
    a->at += (size_t)length + 1;
    if (kept && text) {
        memcpy(kept, text, length);
        kept[length] = 0;
    }
    return kept;
}

// A count of things of which each takes `least` bytes or more: more than can be present are refused
// before anything is allocated for them.
static uint32_t checked_count(foliot__reader *r, uint32_t count, uint32_t count_max, size_t least)
{
    if (count > count_max)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    else if (count > foliot__reader_left(r) / least)
        foliot__reader_fail(r, FOLIOT_STATUS_TRUNCATED);
    return r->status == FOLIOT_STATUS_OK ? count : 0;
}

static uint32_t read_count(foliot__reader *r, uint32_t count_max, size_t least)
{
    return checked_count(r, foliot__read_u32(r), count_max, least);
}

// *count of them, as the bytes say.
static const foliot_body_definition *read_bodies(foliot__reader *r, arena *a, arena *names,
                                                 uint32_t count_max, uint32_t *count)
{
    *count = checked_count(r, *count, count_max, 1 + MASK_BYTES);
    foliot_body_definition body = foliot_body_definition_default(), *kept;
    kept = arena_allocate(a, *count * sizeof body);
    for (uint32_t i = 0; i < *count && r->status == FOLIOT_STATUS_OK; i++) {
        body.name = read_text(r, names);
        read_record(r, body_fields, &body);
        if (kept)
            kept[i] = body;
    }
    return kept;
}

static void read_forces(foliot__reader *r, arena *a, foliot_scene *scene)
{
    foliot_force_definition before[FORCE_KINDS], *kept;
    for (unsigned kind = 0; kind < FORCE_KINDS; kind++)
        before[kind] = foliot_force_definition_default((foliot_force_kind)kind);
    scene->force_count = read_count(r, FOLIOT_FORCES_MAX, 1 + MASK_BYTES);
    kept = arena_allocate(a, scene->force_count * sizeof *kept);
    for (uint32_t i = 0; i < scene->force_count && r->status == FOLIOT_STATUS_OK; i++) {
        uint8_t kind = foliot__read_u8(r);
        if (kind >= FORCE_KINDS) {
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            break;
        }
        read_record(r, force_fields[kind], &before[kind]);
        if (kept)
            kept[i] = before[kind];
    }
    scene->forces = kept;
}

static void read_constraints(foliot__reader *r, arena *a, foliot_scene *scene)
{
    foliot_constraint_definition one = foliot_constraint_definition_default(
                                     FOLIOT_CONSTRAINT_DISTANCE),
                                 *kept;
    scene->constraint_count = read_count(r, FOLIOT_CONSTRAINTS_MAX, MASK_BYTES);
    kept = arena_allocate(a, scene->constraint_count * sizeof *kept);
    for (uint32_t i = 0; i < scene->constraint_count && r->status == FOLIOT_STATUS_OK; i++) {
        read_record(r, constraint_fields, &one);
        if (kept)
            kept[i] = one;
    }
    scene->constraints = kept;
}

static void read_players(foliot__reader *r, arena *a, foliot_players_definition *players)
{
    players->limit = foliot__read_u32(r);
    if (players->limit == 0)
        return;
    read_record(r, players_fields, players);
    read_record(r, body_fields, &players->body);
    players->position_count = read_count(r, FOLIOT_BODIES_MAX, 3 * sizeof(double));
    double(*kept)[3] = arena_allocate(a, players->position_count * sizeof *kept);
    for (uint32_t i = 0; i < players->position_count; i++)
        for (unsigned k = 0; k < 3; k++) {
            double value = foliot__read_f64(r);
            if (is_nan(foliot__f64_bits(value)))
                foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            if (kept)
                kept[i][k] = value;
        }
    players->positions = (const double(*)[3])kept;
}

static void read_scene(foliot__reader *r, arena *a, arena *names, foliot_scene *scene)
{
    *scene = foliot_scene_default();
    scene->substeps = 1;
    if (foliot__read_u32(r) != MAGIC)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    uint16_t version = foliot__read_u16(r);
    if (version == 0)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (version > FOLIOT_SCENE_BYTES_FORMAT)
        foliot__reader_fail(r, FOLIOT_STATUS_NEWER);
    scene->name = read_text(r, names);
    scene->units.length = read_text(r, names);
    scene->units.time = read_text(r, names);
    scene->units.mass = read_text(r, names);
    read_record(r, scene_fields, scene);
    if (scene->substeps == FOLIOT_SUBSTEPS_AUTO) // a wish, not a number
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    scene->body_count = foliot__read_u32(r);
    scene->bodies = read_bodies(r, a, names, FOLIOT_BODIES_MAX, &scene->body_count);
    read_forces(r, a, scene);
    read_constraints(r, a, scene);
    read_players(r, a, &scene->players);
    scene->prototypes = read_bodies(r, a, names, FOLIOT_PROTOTYPES_MAX, &scene->prototype_count);
    if (r->status == FOLIOT_STATUS_OK && foliot__reader_left(r) > 0)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

foliot_status foliot__scene_decode_into(const uint8_t *bytes, size_t length, size_t spare,
                                        foliot_scene **out, char **spare_block)
{
    arena measured = {NULL, 0}, names = {NULL, 0};
    foliot_scene scene;
    foliot__reader r = foliot__reader_of(bytes, length);
    arena_allocate(&measured, sizeof scene);
    read_scene(&r, &measured, &names, &scene);
    if (r.status != FOLIOT_STATUS_OK)
        return r.status;
    char *block = calloc(1, measured.at + names.at + spare);
    if (!block)
        return FOLIOT_STATUS_MEMORY;
    arena a = {block, 0}, kept_names = {block + measured.at, 0};
    foliot_scene *kept = arena_allocate(&a, sizeof *kept);
    r = foliot__reader_of(bytes, length);
    read_scene(&r, &a, &kept_names, kept);
    FOLIOT_ASSERT(r.status == FOLIOT_STATUS_OK && a.at == measured.at && kept_names.at == names.at);
    *out = kept;
    *spare_block = block + measured.at + names.at;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_scene_decode(const uint8_t *bytes, size_t length, foliot_scene **out)
{
    char *spare;
    return foliot__scene_decode_into(bytes, length, 0, out, &spare);
}

// A scene from foliot_scene_decode is one block of the heap. Programs decode and destroy scenes; a
// step, which has a world, does neither.
void foliot_scene_destroy(foliot_scene *scene)
{
    free(scene);
}
