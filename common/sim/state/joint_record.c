// SPDX-License-Identifier: MIT
// joint_record.c: joints of commands as little-endian bytes. docs/reference/state.md has the
// layout.
#include "sim/state/joint_record.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

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

static uint8_t *bytes_of(const foliot_world *world, uint32_t row)
{
    return foliot__joint_bytes(world) + (size_t)row * FOLIOT__JOINT_RECORD_BYTES;
}

void foliot__joint_record_write(foliot_world *world, uint32_t row,
                                const foliot__joint_record *record)
{
    const foliot_constraint_definition *d = &record->definition;
    foliot__writer w = foliot__writer_of(bytes_of(world, row), FOLIOT__JOINT_RECORD_BYTES);
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
    return foliot__joint_record_read(bytes_of(world, row)).generation;
}

void foliot__joint_record_load(foliot_world *world, uint32_t row)
{
    uint32_t index = world->scene_constraints + row;
    foliot__joint_record record = foliot__joint_record_read(bytes_of(world, row));
    foliot__constraint(world)[index] = record.definition;
    memcpy(foliot__joint_start(world) + 4 * (size_t)index, record.start, sizeof record.start);
}
