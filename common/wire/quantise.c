// SPDX-License-Identifier: MIT
// quantise.c: bodies as integers. Rounding is to the nearest, ties away from zero, on every
// machine.
#include "foliot/math.h"
#include "foliot/snapshot.h"

#include "base/bytes.h"
#include "sim/math/hash.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define INVERSE_SQRT2 0.70710678118654752440
#define LEVELS ((1 << FOLIOT_ORIENTATION_BITS) - 1)

static int32_t quantise(double value, double step)
{
    double scaled = foliot_clamp(value / step, -2147483647.0, 2147483647.0);
    return (int32_t)(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// The largest power of two that is at most x, x > 0.
static double power_below(double x)
{
    double p = 1;
    while (p > x)
        p *= 0.5;
    while (p * 2 <= x)
        p *= 2;
    return p;
}

foliot_snapshot_format foliot_snapshot_format_default(const foliot_scene *scene)
{
    double extent = 0;
    for (uint32_t i = 0; i < scene->body_count; i++)
        for (int k = 0; k < 3; k++) {
            double x = scene->bodies[i].position[k];
            extent = foliot_max(extent, x < 0 ? -x : x);
        }
    for (uint32_t i = 0; i < scene->players.position_count; i++)
        for (int k = 0; k < 3; k++) {
            double x = scene->players.positions[i][k];
            extent = foliot_max(extent, x < 0 ? -x : x);
        }
    bool rotates = scene->players.limit && scene->players.body.shape.kind != FOLIOT_SHAPE_POINT;
    for (uint32_t i = 0; i < scene->body_count; i++)
        rotates |= !scene->bodies[i].is_static && scene->bodies[i].shape.kind != FOLIOT_SHAPE_POINT;
    double step = foliot_clamp(power_below(foliot_max(extent, 1)) * 0x1p-14, 0x1p-16, 0x1p-9);
    uint32_t needed = scene->body_count + scene->players.limit;
    foliot_snapshot_format format = {
        .position_step = step,
        .velocity_step = step / 4,
        .rotates = rotates,
        .bodies_max = scene->bodies_max > needed ? scene->bodies_max : needed,
        .damping = 1 << 16,
    };
    for (int k = 0; k < 3; k++) {
        double fall = scene->gravity[k] * scene->dt * scene->dt / format.velocity_step * 64;
        format.acceleration[k] = (int32_t)foliot_clamp(fall, -FOLIOT_SNAPSHOT_ACCELERATION_MAX,
                                                       FOLIOT_SNAPSHOT_ACCELERATION_MAX);
    }
    return format;
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

static void restore_orientation(const foliot_snapshot_body *body, double q[4])
{
    double rest = 1;
    for (int i = 0, k = 0; i < 4; i++) {
        if (i == body->largest)
            continue;
        q[i] = ((double)body->orientation[k++] / LEVELS * 2 - 1) * INVERSE_SQRT2;
        rest -= q[i] * q[i];
    }
    q[body->largest & 3] = foliot_sqrt(foliot_max(rest, 0));
    double norm = foliot_sqrt((q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]));
    for (int i = 0; i < 4; i++)
        q[i] /= norm;
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

foliot_body_state foliot_snapshot_dequantise(const foliot_snapshot_format *format,
                                             const foliot_snapshot_body *body, double dt)
{
    foliot_body_state state = {.orientation = {1, 0, 0, 0}};
    if (!(body->flags & FOLIOT_SNAPSHOT_ALIVE))
        return state;
    double speed_step = format->velocity_step / dt;
    for (int k = 0; k < 3; k++) {
        state.position[k] = body->position[k] * format->position_step;
        state.velocity[k] = body->velocity[k] * speed_step;
    }
    if (format->rotates)
        restore_orientation(body, state.orientation);
    state.flags = FOLIOT_BODY_ALIVE |
                  (body->flags & FOLIOT_SNAPSHOT_PLAYER ? FOLIOT_BODY_PLAYER : 0) |
                  (body->flags & FOLIOT_SNAPSHOT_STATIC ? FOLIOT_BODY_STATIC : 0) |
                  (body->flags & FOLIOT_SNAPSHOT_FROZEN ? FOLIOT_BODY_FROZEN : 0) |
                  (body->flags & FOLIOT_SNAPSHOT_ASLEEP ? FOLIOT_BODY_ASLEEP : 0) |
                  (body->flags & FOLIOT_SNAPSHOT_KINEMATIC ? FOLIOT_BODY_KINEMATIC : 0) |
                  (body->flags & FOLIOT_SNAPSHOT_SENSOR ? FOLIOT_BODY_SENSOR : 0);
    return state;
}

static bool same_body(const foliot_snapshot_body *a, const foliot_snapshot_body *b)
{
    return memcmp(a, b, offsetof(foliot_snapshot_body, generation) + 1) == 0; // no gaps before it
}

bool foliot_snapshot_equal(const foliot_snapshot *a, const foliot_snapshot *b)
{
    if (a->tick != b->tick || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!same_body(&a->bodies[i], &b->bodies[i]))
            return false;
    return true;
}

foliot_digest foliot_snapshot_get_digest(const foliot_snapshot *s)
{
    size_t capacity = (size_t)s->count * 36 + 8;
    uint8_t *bytes = malloc(capacity);
    foliot_digest digest = {0, 0};
    if (!bytes)
        return digest;
    foliot__writer w = foliot__writer_of(bytes, capacity);
    foliot__write_u64(&w, s->tick);
    for (uint32_t i = 0; i < s->count; i++) {
        const foliot_snapshot_body *b = &s->bodies[i];
        for (int k = 0; k < 3; k++) {
            foliot__write_u32(&w, (uint32_t)b->position[k]);
            foliot__write_u32(&w, (uint32_t)b->velocity[k]);
            foliot__write_u16(&w, b->orientation[k]);
        }
        foliot__write_u8(&w, b->largest);
        foliot__write_u8(&w, b->flags);
        foliot__write_u8(&w, b->generation);
    }
    foliot__span span = {bytes, w.at, 1};
    digest = foliot__hash(&span, 1);
    free(bytes);
    return digest;
}
