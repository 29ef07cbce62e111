// SPDX-License-Identifier: MIT
// motion.h: predicts the motion of a quantised body in integers: the same on every machine.
#ifndef FOLIOT_WIRE_MOTION_H
#define FOLIOT_WIRE_MOTION_H

#include "foliot/snapshot.h"

// The motion of a free body over a number of ticks: it moves by velocity * reach + fallen, and ends
// with velocity * keep + gained. In units of 2^-16; `fallen` and `gained` are in velocity steps.
typedef struct foliot__course {
    const foliot_snapshot_format *format;
    int64_t ticks, reach, keep, fallen[3], gained[3];
    unsigned shift; // velocity steps in a position step, as a power of two
} foliot__course;
foliot__course foliot__course_of(const foliot_snapshot_format *format, uint32_t ticks);
// Divides by 2^bits, to the nearest, ties away from zero, with a shift.
static inline int64_t foliot__over_power(int64_t a, unsigned bits)
{
    uint64_t half = (uint64_t)1 << (bits - 1);
    return a < 0 ? -(int64_t)((half - (uint64_t)a) >> bits)
                 : (int64_t)(((uint64_t)a + half) >> bits);
}

// The distance that the body moves along an axis, in position steps; with gravity or without. A
// body at rest along an axis is taken to be supported: gravity applies only to one that moves.
static inline int32_t foliot__drift(const foliot__course *c, const foliot_snapshot_body *base,
                                    int k, bool falls)
{
    if (base->velocity[k] == 0)
        return 0;
    int64_t moved = base->velocity[k] * c->reach + (falls ? c->fallen[k] : 0);
    return (int32_t)(uint32_t)(uint64_t)foliot__over_power(moved, 16 + c->shift);
}

// The velocity along an axis after the ticks; with gravity or without.
static inline int32_t foliot__kept(const foliot__course *c, int32_t velocity, int k, bool falls)
{
    int64_t kept = velocity * c->keep + (falls ? c->gained[k] : 0);
    return (int32_t)(uint32_t)(uint64_t)foliot__over_power(kept, 16);
}

// Velocity and spin that took `base` to `body`.
void foliot__follow(const foliot__course *course, const foliot_snapshot_body *base,
                    foliot_snapshot_body *body);

// Orientations here are four integers in units of 1 / (511 sqrt 2): the three sent ones are the odd
// numbers 2 o - 511, and all four squares sum to 2 * 511^2.

// The baseline's orientation, turned by its spin. Returns the turn's largest component.
unsigned foliot__turned(const foliot__course *course, const foliot_snapshot_body *base,
                        int32_t q[4]);
unsigned foliot__largest(const int32_t q[4]);
// As three numbers 0..511 without component `largest`.
void foliot__smallest(const int32_t q[4], unsigned largest, uint16_t out[3]);

#endif
