// SPDX-License-Identifier: MIT
// capture.c: a world's bodies as the integers of a snapshot. Rounding is to the nearest, ties away
// from zero, on every machine. Apart from quantise.c, so that what only reads snapshots links no
// world.
#include "foliot/math.h"
#include "foliot/snapshot.h"

#include <string.h>

#define INVERSE_SQRT2 0.70710678118654752440
#define LEVELS ((1 << FOLIOT_ORIENTATION_BITS) - 1)

static int32_t quantise(double value, double step)
{
    double scaled = foliot_clamp(value / step, -2147483647.0, 2147483647.0);
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// The largest component is left out: its size follows from the others, its sign is made positive.
static void quantise_orientation(const double q[4], foliot_snapshot_body *body)
{
    int largest = 0;
    for (int i = 1; i < 4; i++)
        if (q[i] * q[i] > q[largest] * q[largest])
            largest = i;
    double sign = q[largest] < 0 ? -1 : 1;
    body->largest = (uint8_t)largest;
    for (int i = 0, k = 0; i < 4; i++) {
        if (i == largest)
            continue;
        double share = foliot_clamp((sign * q[i] / INVERSE_SQRT2 + 1) / 2, 0, 1);
        body->orientation[k++] = (uint16_t)(share * LEVELS + 0.5);
    }
}

static uint8_t flags_of(uint32_t flags)
{
    return (uint8_t)(FOLIOT_SNAPSHOT_ALIVE |
                     (flags & FOLIOT_BODY_PLAYER ? FOLIOT_SNAPSHOT_PLAYER : 0) |
                     (flags & FOLIOT_BODY_STATIC ? FOLIOT_SNAPSHOT_STATIC : 0) |
                     (flags & FOLIOT_BODY_FROZEN ? FOLIOT_SNAPSHOT_FROZEN : 0) |
                     (flags & FOLIOT_BODY_ASLEEP ? FOLIOT_SNAPSHOT_ASLEEP : 0) |
                     (flags & FOLIOT_BODY_KINEMATIC ? FOLIOT_SNAPSHOT_KINEMATIC : 0) |
                     (flags & FOLIOT_BODY_SENSOR ? FOLIOT_SNAPSHOT_SENSOR : 0));
}

foliot_status foliot_snapshot_quantise(const foliot_snapshot_format *format,
                                       const foliot_world *world, foliot_snapshot *snapshot)
{
    uint32_t count = foliot_world_get_body_count(world);
    double dt = foliot_world_get_dt(world);
    if (snapshot->capacity < count)
        return FOLIOT_STATUS_FULL;
    snapshot->tick = foliot_world_get_tick(world);
    snapshot->count = count;
    memset(snapshot->bodies, 0, sizeof *snapshot->bodies * count);
    for (uint32_t i = 0; i < count; i++) {
        foliot_snapshot_body *body = &snapshot->bodies[i];
        if (!foliot_world_get_body_alive(world, i))
            continue;
        foliot_body_state state = foliot_world_get_body_state(world, i);
        body->flags = flags_of(state.flags);
        body->generation = (uint8_t)foliot_world_get_body_generation(world, i);
        for (int k = 0; k < 3; k++) {
            body->position[k] = quantise(state.position[k], format->position_step);
            body->velocity[k] = quantise(state.velocity[k] * dt, format->velocity_step);
        }
        if (format->rotates)
            quantise_orientation(state.orientation, body);
    }
    return FOLIOT_STATUS_OK;
}
