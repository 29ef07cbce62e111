// SPDX-License-Identifier: MIT
// state.c: accessors of a world's tables that take more than one line: time, events, pairs that a
// joint keeps from colliding, the lattice of reversible-leapfrog, joints that commands made.
#include "sim/state/state.h"

#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"
#include "sim/state/workspace.h"

// -- simulated time from the count of ticks; no clock of the machine is read

// One rounding of the count, so that the end of one step and the start of the next have the same
// bits. A world with steps of any dt keeps the sum of them instead.
double foliot__substep_time(const foliot_world *world, uint32_t s)
{
    if (world->scheme.sums_time)
        return world->lab.time;
    return ((double)world->tick * world->scene.substeps + s) *
           (world->scene.dt / world->scene.substeps);
}

double foliot_world_get_time(const foliot_world *world)
{
    return foliot__substep_time(world, 0);
}

// -- the events of a step, in the order in which they occur; no stage reads them

void foliot__event(foliot_world *world, const foliot_event *event)
{
    if (world->reported.event_count == world->capacity.events) {
        world->counters.events_dropped++;
        return;
    }
    foliot__events(world)[world->reported.event_count++] = *event;
}

const foliot_event *foliot_world_get_events(const foliot_world *world, uint32_t *count)
{
    *count = world->reported.event_count;
    return foliot__events(world);
}

// -- pairs of bodies; joint/ fills the list, and while it is out of date, no pair is in it

bool foliot__joints_separate(const foliot_world *world, uint32_t a, uint32_t b)
{
    if (!foliot__has_joints(world) || !world->joints_ready)
        return false;
    foliot__carver from = {(char *)foliot__joint_workspace(world), 0};
    foliot__joint_table table = foliot__joint_table_carve(&from, world->capacity.joints);
    uint64_t key = foliot__joint_pair_key(a, b);
    uint32_t count = table.counts[FOLIOT__JOINTS_SEPARATE], low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (table.separate[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && table.separate[low] == key;
}

// -- the lattice of reversible-leapfrog

void foliot__lattice_enter(foliot_world *world, uint32_t slot)
{
    if (world->scheme.integrator != FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        return;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    double *const from[6] = {x.x, x.y, x.z, v.x, v.y, v.z};
    int64_t *const to[6] = {foliot__lattice_position_x(world), foliot__lattice_position_y(world),
                            foliot__lattice_position_z(world), foliot__lattice_velocity_x(world),
                            foliot__lattice_velocity_y(world), foliot__lattice_velocity_z(world)};
    for (int k = 0; k < 6; k++) {
        to[k][slot] = 0;
        bool inside =
            foliot__lattice_add(&to[k][slot], from[k][slot] * FOLIOT__LATTICE_PER_UNIT, false);
        FOLIOT_ASSERT(inside); // the scene check and the freezing of bodies ensure it
        from[k][slot] = foliot__lattice_nearest(to[k][slot]);
    }
}

// -- joints that commands made, as little-endian bytes; docs/reference/state.md has the layout

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

foliot_joint_id foliot_world_get_joint_id(const foliot_world *world, uint32_t index)
{
    if (index >= world->constraint_count)
        return (foliot_joint_id){0};
    bool scene = index < world->scene.constraint_count;
    uint64_t generation =
        scene ? 0 : foliot__joint_record_generation(world, index - world->scene.constraint_count);
    return (foliot_joint_id){(generation + 1) << 32 | index};
}

void foliot__joint_record_load(foliot_world *world, uint32_t row)
{
    uint32_t index = world->scene.constraint_count + row;
    foliot__joint_record record = foliot__joint_record_read(foliot__joint_bytes_at(world, row));
    foliot__constraint(world)[index] = record.definition;
    memcpy(foliot__joint_start(world) + 4 * (size_t)index, record.start, sizeof record.start);
}
