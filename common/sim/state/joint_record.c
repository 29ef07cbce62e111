// SPDX-License-Identifier: MIT
// joint_record.c: joints of commands as little-endian bytes. docs/reference/state.md has the
// layout.
#include "sim/state/joint_record.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "sim/math/vec3.h"
#include "sim/state/range.h"

#define PI 0x1.921fb54442d18p+1

// The doubles of a definition, in the order of the bytes.
#define JOINT_NUMBERS(X)                                                                           \
    X(length, 1)                                                                                   \
    X(length_min, 1)                                                                               \
    X(stiffness, 1)                                                                                \
    X(break_force, 1)                                                                              \
    X(break_torque, 1)                                                                             \
    X(angle_min, 1)                                                                                \
    X(angle_max, 1)                                                                                \
    X(motor_speed, 1)                                                                              \
    X(motor_torque, 1)                                                                             \
    X(anchor_a, 3)                                                                                 \
    X(anchor_b, 3)                                                                                 \
    X(axis, 3)

bool foliot__joint_numbers_valid(const foliot_constraint_definition *d)
{
    const double m = FOLIOT_POSITION_MAX;
    bool limited = d->angle_min <= d->angle_max;
    bool angles = limited ? foliot__within(d->angle_min, -FOLIOT_HALF_TURNS_MAX * PI, 0) &&
                                foliot__within(d->angle_max, 0, FOLIOT_HALF_TURNS_MAX * PI)
                          : d->angle_min - d->angle_min == 0 && d->angle_max - d->angle_max == 0;
    bool anchors = foliot__vec3_length(d->anchor_a) <= m && foliot__vec3_length(d->anchor_b) <= m;
    bool spans = foliot__within(d->length, 0, m) && foliot__within(d->length_min, 0, d->length);
    bool drives = foliot__is_coordinate(d->motor_speed) && foliot__within(d->motor_torque, 0, m);
    return angles && anchors && spans && drives && d->break_force > 0 && d->break_torque > 0;
}

static void write_doubles(foliot__writer *w, const void *values, unsigned count)
{
    double number;
    for (unsigned k = 0; k < count; k++) {
        memcpy(&number, (const char *)values + k * sizeof number, sizeof number);
        foliot__write_f64(w, number);
    }
}

static void read_doubles(foliot__reader *r, void *values, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        double number = foliot__read_f64(r);
        memcpy((char *)values + k * sizeof number, &number, sizeof number);
    }
}

void foliot__joint_record_write(foliot_world *world, uint32_t row,
                                const foliot__joint_record *record)
{
    const foliot_constraint_definition *d = &record->definition;
    foliot__writer w =
        foliot__writer_of(foliot__joint_bytes_at(world, row), FOLIOT__JOINT_RECORD_BYTES);
    foliot__write_u32(&w, record->generation);
    foliot__write_u32(&w, d->kind);
    foliot__write_u32(&w, d->a);
    foliot__write_u32(&w, d->b);
    foliot__write_u32(&w, d->collides);
    foliot__write_u32(&w, 0);
#define WRITE(member, count) write_doubles(&w, &d->member, count);
    JOINT_NUMBERS(WRITE)
#undef WRITE
    write_doubles(&w, record->start, 4);
    FOLIOT_ASSERT(w.status == FOLIOT_STATUS_OK && w.at == FOLIOT__JOINT_RECORD_BYTES);
}

foliot__joint_record foliot__joint_record_read(const uint8_t *bytes)
{
    foliot__joint_record record = {0, {0}, {0}};
    foliot_constraint_definition *d = &record.definition;
    foliot__reader r = foliot__reader_of(bytes, FOLIOT__JOINT_RECORD_BYTES);
    record.generation = foliot__read_u32(&r);
    d->kind = foliot__read_u32(&r);
    d->a = foliot__read_u32(&r);
    d->b = foliot__read_u32(&r);
    d->collides = foliot__read_u32(&r) != 0;
    foliot__read_u32(&r);
#define READ(member, count) read_doubles(&r, &d->member, count);
    JOINT_NUMBERS(READ)
#undef READ
    read_doubles(&r, record.start, 4);
    return record;
}

uint32_t foliot__joint_record_generation(const foliot_world *world, uint32_t row)
{
    return foliot__joint_record_read(foliot__joint_bytes_at(world, row)).generation;
}

void foliot__joint_record_load(foliot_world *world, uint32_t row)
{
    uint32_t index = world->scene.constraint_count + row;
    foliot__joint_record record = foliot__joint_record_read(foliot__joint_bytes_at(world, row));
    foliot__constraint(world)[index] = record.definition;
    memcpy(foliot__joint_start(world) + 4 * (size_t)index, record.start, sizeof record.start);
}
