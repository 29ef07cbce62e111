// SPDX-License-Identifier: MIT
// clock.c: simulated time from the count of ticks. No clock of the machine is read.
#include "sim/state/clock.h"

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
