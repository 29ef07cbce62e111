// SPDX-License-Identifier: MIT
// capture.c: a world's bodies as the integers of a snapshot. Rounding is to the nearest, ties away
// from zero, on every machine. It is separate from quantise.c, so that code that only reads
// snapshots links no world.
#include "foliot/digest.h"
#include "foliot/snapshot.h"

#include <string.h>

#define INVERSE_SQRT2 0.70710678118654752440
#define LEVELS ((1 << FOLIOT_ORIENTATION_BITS) - 1)

static int32_t quantise(double value, double step)
{
    double scaled = foliot_clamp(value / step, -2147483647.0, 2147483647.0);
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
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
        foliot_body_id id = foliot_world_get_body_id(world, i);
        if (id.value == 0)
            continue;
        foliot_body_state state = foliot_world_get_body_state(world, id);
        body->flags =
            (uint8_t)(FOLIOT_SNAPSHOT_ALIVE |
                      (state.flags & FOLIOT_BODY_PLAYER ? FOLIOT_SNAPSHOT_PLAYER : 0) |
                      (state.flags & FOLIOT_BODY_STATIC ? FOLIOT_SNAPSHOT_STATIC : 0) |
                      (state.flags & FOLIOT_BODY_FROZEN ? FOLIOT_SNAPSHOT_FROZEN : 0) |
                      (state.flags & FOLIOT_BODY_ASLEEP ? FOLIOT_SNAPSHOT_ASLEEP : 0) |
                      (state.flags & FOLIOT_BODY_KINEMATIC ? FOLIOT_SNAPSHOT_KINEMATIC : 0) |
                      (state.flags & FOLIOT_BODY_SENSOR ? FOLIOT_SNAPSHOT_SENSOR : 0));
        body->generation = (uint8_t)((id.value >> 32) - 1);
        for (int k = 0; k < 3; k++) {
            body->position[k] = quantise(state.position[k], format->position_step);
            body->velocity[k] = quantise(state.velocity[k] * dt, format->velocity_step);
        }
        if (format->rotates) {
            // The largest component is left out: its size follows from the others, its sign is made
            // positive.
            int largest = 0;
            for (int c = 1; c < 4; c++)
                if (state.orientation[c] * state.orientation[c] >
                    state.orientation[largest] * state.orientation[largest])
                    largest = c;
            double sign = state.orientation[largest] < 0 ? -1 : 1;
            body->largest = (uint8_t)largest;
            for (int c = 0, k = 0; c < 4; c++) {
                if (c == largest)
                    continue;
                double share =
                    foliot_clamp((sign * state.orientation[c] / INVERSE_SQRT2 + 1) / 2, 0, 1);
                body->orientation[k++] = (uint16_t)(share * LEVELS + 0.5);
            }
        }
    }
    return FOLIOT_STATUS_OK;
}
