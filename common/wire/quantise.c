// SPDX-License-Identifier: MIT
// quantise.c: the format of bodies as integers, and back from them. capture.c makes them.
#include "foliot/digest.h"
#include "foliot/snapshot.h"

#include "base/bytes.h"
#include "sim/math/hash.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define INVERSE_SQRT2 0.70710678118654752440
#define LEVELS ((1 << FOLIOT_ORIENTATION_BITS) - 1)

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
    if (format->rotates) {
        double rest = 1;
        for (int i = 0, k = 0; i < 4; i++) {
            if (i == body->largest)
                continue;
            state.orientation[i] =
                ((double)body->orientation[k++] / LEVELS * 2 - 1) * INVERSE_SQRT2;
            rest -= state.orientation[i] * state.orientation[i];
        }
        state.orientation[body->largest & 3] = foliot_sqrt(foliot_max(rest, 0));
        double norm = foliot_sqrt((state.orientation[0] * state.orientation[0] +
                                   state.orientation[1] * state.orientation[1]) +
                                  (state.orientation[2] * state.orientation[2] +
                                   state.orientation[3] * state.orientation[3]));
        for (int i = 0; i < 4; i++)
            state.orientation[i] /= norm;
    }
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
