// SPDX-License-Identifier: MIT
// motion.c: prediction of a snapshot's bodies. Integers only, but for a square root that is exact.
#include "wire/motion.h"

#include <string.h>

#define TOP ((1 << FOLIOT_ORIENTATION_BITS) - 1)
#define UNIT_SQUARE (2 * TOP * TOP)
#define UNIT_256 185002 // 256 * 511 sqrt 2, rounded
#define SPIN_MAX (16 * 400)
#define COURSE_TICKS 64 // beyond, a free body has met something
#define MOVE_MAX (1 << 24)

// Largest whole number whose square is at most x, x < 2^20. A square root is rounded to the nearest
// everywhere, and that of a whole number so small which is not a square is never rounded up to a
// whole one.
static int32_t root(int32_t x)
{
    return x > 0 ? (int32_t)__builtin_sqrt((double)x) : 0;
}

static int64_t over(int64_t a, int64_t b) // to the nearest, ties away from zero; b > 0
{
    return a < 0 ? -((b / 2 - a) / b) : (a + b / 2) / b;
}

static int32_t bounded(int64_t x, int32_t limit)
{
    return (int32_t)(x < -limit ? -limit : x > limit ? limit : x);
}

static void unpack(const foliot_snapshot_body *body, int32_t q[4])
{
    int32_t rest = UNIT_SQUARE;
    for (unsigned i = 0, k = 0; i < 4; i++) {
        if (i == body->largest)
            continue;
        q[i] = 2 * (int32_t)body->orientation[k++] - TOP;
        rest -= q[i] * q[i];
    }
    q[body->largest & 3] = root(rest);
}

static void multiply(const int32_t a[4], const int32_t b[4], int32_t out[4])
{
    int64_t product[4] = {
        (int64_t)a[0] * b[0] - (int64_t)a[1] * b[1] - (int64_t)a[2] * b[2] - (int64_t)a[3] * b[3],
        (int64_t)a[0] * b[1] + (int64_t)a[1] * b[0] + (int64_t)a[2] * b[3] - (int64_t)a[3] * b[2],
        (int64_t)a[0] * b[2] - (int64_t)a[1] * b[3] + (int64_t)a[2] * b[0] + (int64_t)a[3] * b[1],
        (int64_t)a[0] * b[3] + (int64_t)a[1] * b[2] - (int64_t)a[2] * b[1] + (int64_t)a[3] * b[0],
    };
    for (int i = 0; i < 4; i++)
        out[i] = (int32_t)over(product[i] * 256, UNIT_256);
}

unsigned foliot__turned(const foliot__course *course, const foliot_snapshot_body *base,
                        int32_t q[4])
{
    int32_t from[4], turn[4], rest = UNIT_SQUARE;
    unsigned far = 0;
    unpack(base, from);
    for (int k = 0; k < 3; k++) {
        turn[k + 1] = bounded(over(base->spin[k] * course->reach, 16 << 16), 400);
        rest -= turn[k + 1] * turn[k + 1];
        far |= (unsigned)(turn[k + 1] < 0 ? -turn[k + 1] : turn[k + 1]);
    }
    turn[0] = root(rest);
    if (far)
        multiply(turn, from, q);
    else
        memcpy(q, from, sizeof from);
    return far;
}

unsigned foliot__largest(const int32_t q[4])
{
    unsigned largest = 0;
    for (unsigned i = 1; i < 4; i++)
        if (q[i] * q[i] > q[largest] * q[largest])
            largest = i;
    return largest;
}

void foliot__smallest(const int32_t q[4], unsigned largest, uint16_t out[3])
{
    int32_t sign = q[largest & 3] < 0 ? -1 : 1;
    for (unsigned i = 0, k = 0; i < 4; i++)
        if (i != largest)
            out[k++] = (uint16_t)bounded(
                (sign * q[i] + TOP + 1) / 2 < 0 ? 0 : (sign * q[i] + TOP + 1) / 2, TOP);
}

foliot__course foliot__course_of(const foliot_snapshot_format *format, uint32_t ticks)
{
    foliot__course c = {.format = format, .ticks = ticks, .keep = 1 << 16};
    for (double ratio = format->position_step / format->velocity_step; ratio > 1 && c.shift < 16;
         ratio /= 2)
        c.shift++;
    uint32_t steps = ticks < COURSE_TICKS ? ticks : COURSE_TICKS;
    for (uint32_t i = 0; i < steps; i++) {
        c.keep = c.keep * format->damping >> 16;
        c.reach += c.keep;
        for (int k = 0; k < 3; k++) {
            c.gained[k] = over(
                (c.gained[k] + (int64_t)format->acceleration[k] * 1024) * format->damping, 1 << 16);
            c.fallen[k] += c.gained[k];
        }
    }
    c.reach += c.reach == 0;
    return c;
}

void foliot__follow(const foliot__course *c, const foliot_snapshot_body *base,
                    foliot_snapshot_body *body)
{
    memset(body->velocity, 0, sizeof body->velocity);
    memset(body->spin, 0, sizeof body->spin);
    if (c->ticks == 0)
        return;
    for (int k = 0; k < 3; k++) {
        int64_t moved = (int32_t)((uint32_t)body->position[k] - (uint32_t)base->position[k]);
        if (moved == 0)
            continue;
        moved = bounded(moved, MOVE_MAX) * ((int64_t)1 << (16 + c->shift)) - c->fallen[k];
        body->velocity[k] =
            bounded(over(over(moved, c->reach) * c->keep + c->gained[k], 1 << 16), INT32_MAX);
    }
    const foliot_snapshot_format *f = c->format;
    if (f->spins && f->rotates &&
        (body->largest != base->largest ||
         memcmp(body->orientation, base->orientation, sizeof body->orientation) != 0)) {
        uint32_t ticks = (uint32_t)c->ticks;
        int32_t from[4], to[4], turn[4];
        unpack(base, from);
        unpack(body, to);
        for (int i = 1; i < 4; i++)
            from[i] = -from[i];
        multiply(to, from, turn);
        for (int k = 0; k < 3; k++)
            body->spin[k] = (int16_t)bounded(
                over((turn[0] < 0 ? -16 : 16) * (int64_t)turn[k + 1], ticks), SPIN_MAX);
    }
}

void foliot_snapshot_derive_motion(const foliot_snapshot_format *format,
                                   const foliot_snapshot_body *base, uint32_t ticks,
                                   foliot_snapshot_body *body)
{
    foliot__course course = foliot__course_of(format, ticks);
    foliot__follow(&course, base, body);
}
