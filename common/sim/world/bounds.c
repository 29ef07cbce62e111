// SPDX-License-Identifier: MIT
// bounds.c: after a step every number of a body is finite and within FOLIOT_POSITION_MAX. A body
// that breaks this is frozen where it last kept it, and no other body is touched.
#include "sim/world/stage.h"

#include <string.h>

#include "sim/state/body.h"
#include "sim/state/state.h"

// Whether a substep leaves its start in `previous`. With several substeps a body may have been out
// of range there and be back in range now.
static bool has_previous(const foliot_world *world)
{
    return world->scene.state_fields >> FOLIOT_FIELD_previous_x & 1;
}

static bool body_in_range(const foliot_world *world, uint32_t i)
{
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world),
               p = foliot__previous(world);
    if (!(foliot__is_coordinate(x.x[i]) && foliot__is_coordinate(x.y[i]) &&
          foliot__is_coordinate(x.z[i]) && foliot__is_coordinate(v.x[i]) &&
          foliot__is_coordinate(v.y[i]) && foliot__is_coordinate(v.z[i])))
        return false;
    if (has_previous(world) && !(foliot__is_coordinate(p.x[i]) && foliot__is_coordinate(p.y[i]) &&
                                 foliot__is_coordinate(p.z[i])))
        return false;
    if (!world->scene.rotates)
        return true;
    foliot__v3 w = foliot__angular_velocity(world);
    return foliot__is_coordinate(w.x[i]) && foliot__is_coordinate(w.y[i]) &&
           foliot__is_coordinate(w.z[i]) &&
           foliot__is_coordinate(foliot__orientation_w(world)[i]) &&
           foliot__is_coordinate(foliot__orientation_x(world)[i]) &&
           foliot__is_coordinate(foliot__orientation_y(world)[i]) &&
           foliot__is_coordinate(foliot__orientation_z(world)[i]);
}

typedef int64_t bit_lane __attribute__((vector_size(8 * FOLIOT__LANES), may_alias));

// Negative if some |value| is beyond FOLIOT_POSITION_MAX, infinite or NaN. As integers, the bits of
// all of these are greater than those of the bound, so one subtraction a value is enough.
static int64_t excess(const double *values, uint32_t rows)
{
    const double bound = FOLIOT_POSITION_MAX;
    const bit_lane *bits = (const bit_lane *)(const void *)values;
    int64_t bound_bits, any = 0;
    memcpy(&bound_bits, &bound, sizeof bound_bits);
    bit_lane signs = {0};
    for (uint32_t n = 0; n < rows / FOLIOT__LANES; n++)
        signs |= bound_bits - (bits[n] & INT64_MAX);
    for (int k = 0; k < FOLIOT__LANES; k++)
        any |= signs[k];
    return any;
}

static int64_t excess3(foliot__v3 v, uint32_t rows)
{
    return excess(v.x, rows) | excess(v.y, rows) | excess(v.z, rows);
}

// The same of every body, but faster. Nearly always all are in range.
static bool all_in_range(const foliot_world *world)
{
    uint32_t rows = foliot__lanes(world);
    int64_t signs = excess3(foliot__position(world), rows) | excess3(foliot__velocity(world), rows);
    if (has_previous(world))
        signs |= excess3(foliot__previous(world), rows);
    if (world->scene.rotates)
        signs |= excess3(foliot__angular_velocity(world), rows) |
                 excess(foliot__orientation_w(world), rows) |
                 excess(foliot__orientation_x(world), rows) |
                 excess(foliot__orientation_y(world), rows) |
                 excess(foliot__orientation_z(world), rows);
    return signs >= 0;
}

void foliot__keep_start(foliot_world *world)
{
    size_t bytes = sizeof(double) * world->body_count;
    foliot__v3 x = foliot__position(world), x0 = foliot__before_position(world);
    foliot__v3 v = foliot__velocity(world), v0 = foliot__before_velocity(world);
    memcpy(x0.x, x.x, bytes);
    memcpy(x0.y, x.y, bytes);
    memcpy(x0.z, x.z, bytes);
    memcpy(v0.x, v.x, bytes);
    memcpy(v0.y, v.y, bytes);
    memcpy(v0.z, v.z, bytes);
}

void foliot__freeze_out_of_range(foliot_world *world)
{
    if (all_in_range(world))
        return;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (!body_in_range(world, i))
            foliot__body_freeze(world, i);
}

void foliot__clamp_speeds(foliot_world *world)
{
    if (world->scene.speed_max < FOLIOT_POSITION_MAX)
        for (uint32_t i = 0; i < world->body_count; i++) {
            foliot__v3 v = foliot__velocity(world);
            double speed2 = (v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i];
            if (!(speed2 > world->scene.speed_max * world->scene.speed_max) ||
                foliot__flags(world)[i] & FOLIOT_BODY_KINEMATIC)
                continue;
            double scale = world->scene.speed_max / foliot__sqrt(speed2);
            v.x[i] *= scale;
            v.y[i] *= scale;
            v.z[i] *= scale;
            foliot__velocity_changed(world, i);
        }
}
