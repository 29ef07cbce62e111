// SPDX-License-Identifier: MIT
// state.c: accessors of a world's tables that take more than one line: time, events, pairs that a
// joint keeps from colliding, the lattice of reversible-leapfrog.
#include "sim/state/state.h"

#include "base/assert.h"
#include "sim/state/joint_table.h"
#include "sim/state/lattice.h"

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

void foliot__event(foliot_world *world, foliot_event_kind kind, uint32_t a, uint32_t b)
{
    if (world->reported.event_count == world->capacity.events) {
        world->counters.events_dropped++;
        return;
    }
    foliot__events(world)[world->reported.event_count++] = (foliot_event){kind, a, b};
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
