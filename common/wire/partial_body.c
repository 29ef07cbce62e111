// SPDX-License-Identifier: MIT
// partial_body.c: three differences are the bit length of the greatest, then that of each, then
// signs and the bits below the leading ones, raw (partial_body.h).
#include "wire/partial_body.h"

#include <string.h>

#include "sim/math/simd.h"
#include "wire/partial_priors.h"

#define COARSE_HALF (1 << (FOLIOT__COARSE_BITS - 1))
#define COARSE_MASK ((1 << FOLIOT__COARSE_BITS) - 1)
#define RAW_MOST 16 // bits at once
#define LENGTH_BITS 6
#define LENGTH_MAX 32
#define SLOW_TICKS 8 // ticks of gravity, below which a velocity counts as that of a resting body

// Compiled once for each direction: a body has about 20 symbols, and the cost of each matters.
#define IN static inline __attribute__((always_inline))

enum { FLAGS_SAME, FLAGS_SLEEP, FLAGS_OTHER };

static inline uint32_t magnitude_of(int32_t x)
{
    return x < 0 ? 0u - (uint32_t)x : (uint32_t)x;
}

static inline int32_t plus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

static inline int32_t minus(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a - (uint32_t)b);
}

static inline unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

// -- coarse bodies: multiples of 4; of an orientation, the middle of four

static int32_t coarsened(int32_t x)
{
    return (int32_t)(((uint32_t)x + COARSE_HALF) & ~(uint32_t)COARSE_MASK);
}

void foliot__body_coarsen(const foliot_snapshot_format *format, foliot_snapshot_body *body)
{
    if (!(body->flags & FOLIOT_SNAPSHOT_ALIVE))
        return;
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++) {
        body->position[k] = coarsened(body->position[k]);
        body->velocity[k] = coarsened(body->velocity[k]);
    }
    if (format->rotates) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            body->orientation[k] = (uint16_t)((body->orientation[k] & ~COARSE_MASK) | COARSE_HALF);
    }
}

// Converts a number to its coded value, and back.
static inline int32_t scaled(int32_t x, bool coarse)
{
    return coarse ? plus(x, COARSE_HALF) >> FOLIOT__COARSE_BITS : x;
}

static inline int32_t unscaled(int32_t x, bool coarse)
{
    return coarse ? (int32_t)((uint32_t)x << FOLIOT__COARSE_BITS) : x;
}

// -- differences

// Sign and mantissa of a number whose bit length is known, in as many bits.
static inline uint32_t mantissa_of(int32_t value, unsigned length)
{
    return length > 0 ? (magnitude_of(value) ^ 1u << (length - 1)) << 1 | (value < 0) : 0;
}

static inline int32_t value_of(uint32_t mantissa, unsigned length)
{
    uint32_t magnitude = length > 0 ? mantissa >> 1 | 1u << (length - 1) : 0;
    return (int32_t)(mantissa & 1 ? 0u - magnitude : magnitude);
}

IN uint32_t code_wide(const foliot__range_pass *pass, uint32_t value, unsigned bits)
{
    uint32_t high = 0;
    if (bits == 0)
        return 0;
    if (bits > RAW_MOST)
        high = foliot__range_bits(pass, value >> RAW_MOST, bits - RAW_MOST);
    value &= (1u << RAW_MOST) - 1;
    return high << RAW_MOST | foliot__range_bits(pass, value, lesser(bits, RAW_MOST));
}

// All at once if that is few enough bits.
IN void code_mantissas(const foliot__range_pass *pass, const unsigned lengths[3], int32_t values[3])
{
    uint32_t raw[3];
    unsigned sum = lengths[0] + lengths[1] + lengths[2], low = lengths[1] + lengths[2];
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++)
        raw[k] = mantissa_of(values[k], lengths[k]);
    if (sum <= RAW_MOST) {
        uint32_t all = foliot__range_bits(pass, raw[0] << low | raw[1] << lengths[2] | raw[2], sum);
        if (pass->out)
            return;
        raw[0] = all >> low;
        raw[1] = all >> lengths[2] & ((1u << lengths[1]) - 1);
        raw[2] = all & ((1u << lengths[2]) - 1);
    } else {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            raw[k] = code_wide(pass, raw[k], lengths[k]);
    }
    if (pass->in) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            values[k] = value_of(raw[k], lengths[k]);
    }
}

IN unsigned code_long(const foliot__range_pass *pass, unsigned length)
{
    return lesser(foliot__range_bits(pass, length, LENGTH_BITS), LENGTH_MAX);
}

// The row of an axis, by which earlier axis is as long as the longest.
IN unsigned axis_row(int k, const unsigned lengths[3], unsigned most)
{
    if (k < 2)
        return k == 0 ? 0 : 1 + (lengths[0] == most);
    return lengths[0] < most ? 3 : 4 + (lengths[1] == most);
}

// Returns the bit length of the greatest, at most PARTIAL_LONG.
IN unsigned code_vector(const foliot__range_pass *pass, const uint16_t *greatest,
                        const uint16_t (*axes)[PARTIAL_LONG][PARTIAL_LONG + 2],
                        int32_t differences[3])
{
    unsigned lengths[3] = {0}, most = 0;
    uint32_t any = 0;
    if (pass->out) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            any |= magnitude_of(differences[k]);
    }
    most = foliot__range_symbol(pass, greatest, lesser(foliot__bit_length(any), PARTIAL_LONG));
    if (most == 0) {
        if (pass->in)
            memset(differences, 0, 3 * sizeof *differences);
        return 0;
    }
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++) {
        if (pass->out)
            lengths[k] = foliot__bit_length(magnitude_of(differences[k]));
        if (most == PARTIAL_LONG)
            lengths[k] = code_long(pass, lengths[k]);
        else if (k == 2 && lengths[0] < most && lengths[1] < most)
            lengths[k] = most;
        else
            lengths[k] =
                foliot__range_symbol(pass, axes[axis_row(k, lengths, most)][most], lengths[k]);
    }
    code_mantissas(pass, lengths, differences);
    return most;
}

// -- the parts of a body

IN unsigned age_class(uint32_t age)
{
    unsigned length = foliot__bit_length(age);
    return length <= 2 ? length > 0 : lesser(length - 1, PARTIAL_AGES - 1);
}

// The prediction for a body.
typedef struct expectation {
    unsigned speed, ages;
    int32_t position[3], velocity[3];
} expectation;

// A free body's motion. Gravity applies only to a body that is too fast to rest on something.
IN void expect_motion(const foliot__course *course, const foliot_snapshot_body *base,
                      expectation *e)
{
    const int32_t *fall = course->format->acceleration;
    uint32_t far = 0;
    if (!(base->velocity[0] | base->velocity[1] | base->velocity[2]))
        return;
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++) {
        bool falls = (uint64_t)magnitude_of(base->velocity[k]) * 64 >
                     (uint64_t)SLOW_TICKS * magnitude_of(fall[k]);
        int32_t drift = foliot__drift(course, base, k, falls);
        far |= magnitude_of(drift);
        e->position[k] = plus(e->position[k], drift);
        e->velocity[k] = foliot__kept(course, base->velocity[k], k, falls);
    }
    e->speed = 1 + lesser(foliot__bit_length(far), PARTIAL_SPEEDS - 2);
}

IN void code_flags(foliot__body_walk *w, const foliot_snapshot_body *base,
                   foliot_snapshot_body *body)
{
    uint8_t flags = base ? base->flags : FOLIOT_SNAPSHOT_ALIVE,
            generation = base ? base->generation : 0;
    unsigned how = body->generation != generation                    ? FLAGS_OTHER
                   : body->flags == flags                            ? FLAGS_SAME
                   : (body->flags ^ flags) == FOLIOT_SNAPSHOT_ASLEEP ? FLAGS_SLEEP
                                                                     : FLAGS_OTHER;
    bool sleeps = flags & FOLIOT_SNAPSHOT_ASLEEP;
    how = foliot__range_symbol(&w->pass, partial_flags[base ? 1 + sleeps : 0], how);
    if (how == FLAGS_OTHER) {
        body->flags = (uint8_t)foliot__range_bits(&w->pass, body->flags, 8);
        body->generation = (uint8_t)foliot__range_bits(&w->pass, body->generation, 8);
        return;
    }
    if (w->pass.out)
        return;
    body->flags = how == FLAGS_SLEEP ? flags ^ FOLIOT_SNAPSHOT_ASLEEP : flags;
    body->generation = generation;
}

IN void code_orientation(foliot__body_walk *w, const foliot__course *course, bool coarse,
                         unsigned hit, unsigned ages, const foliot_snapshot_body *base,
                         foliot_snapshot_body *body)
{
    const unsigned bits = FOLIOT_ORIENTATION_BITS - (coarse ? FOLIOT__COARSE_BITS : 0),
                   shift = FOLIOT_ORIENTATION_BITS - bits;
    uint16_t from[3];
    int32_t q[4], differences[3] = {0};
    unsigned likely = base->largest & 3;
    bool spins = base->spin[0] | base->spin[1] | base->spin[2],
         turns = spins && foliot__turned(course, base, q) > 0;
    likely = turns ? foliot__largest(q) : likely;
    unsigned other = foliot__range_symbol(&w->pass, partial_largest[lesser(hit, 1)],
                                          (body->largest - likely) & 3);
    body->largest = (uint8_t)((likely + other) & 3);
    if (other > 0 && !turns)
        foliot__turned(course, base, q);
    if (turns || other > 0)
        foliot__smallest(q, body->largest, from);
    else
        memcpy(from, base->orientation, sizeof from);
    if (w->pass.out) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            differences[k] = (body->orientation[k] >> shift) - (from[k] >> shift);
    }
    code_vector(&w->pass, partial_turn[coarse][hit][ages], partial_axis[PARTIAL_TURN], differences);
    if (w->pass.in) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            body->orientation[k] =
                (uint16_t)((plus(from[k] >> shift, differences[k]) & ((1 << bits) - 1)) << shift |
                           (coarse ? COARSE_HALF : 0));
    }
}

IN void code_motion(foliot__body_walk *w, const expectation *e, bool coarse, unsigned hit,
                    const foliot_snapshot_body *base, foliot_snapshot_body *body)
{
    int32_t differences[3], from[3];
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++) {
        from[k] = scaled(e->velocity[k], coarse);
        differences[k] = minus(scaled(body->velocity[k], coarse), from[k]);
    }
    code_vector(&w->pass, partial_motion[coarse][hit][e->ages], partial_axis[PARTIAL_MOTION],
                differences);
    if (w->pass.in) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            body->velocity[k] = unscaled(plus(from[k], differences[k]), coarse);
    }
    if (!w->format->spins)
        return;
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++)
        differences[k] = body->spin[k] - base->spin[k];
    code_vector(&w->pass, partial_motion[coarse][hit][e->ages], partial_axis[PARTIAL_MOTION],
                differences);
    if (w->pass.in) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            body->spin[k] = (int16_t)(uint16_t)plus(base->spin[k], differences[k]);
    }
}

IN void code_body(foliot__body_walk *w, const foliot__course *course, uint32_t age, bool coarse,
                  const foliot_snapshot_body *base, foliot_snapshot_body *body)
{
    static const foliot_snapshot_body empty;
    expectation e = {.ages = age_class(base ? age : 0)};
    int32_t differences[3];
    code_flags(w, base, body);
    if (!(body->flags & FOLIOT_SNAPSHOT_ALIVE)) {
        if (w->pass.in)
            *body = (foliot_snapshot_body){.generation = body->generation};
        return;
    }
    memcpy(e.position, base ? base->position : w->last, sizeof e.position);
    if (base)
        expect_motion(course, base, &e);
    FOLIOT__UNROLL(3)
    for (int k = 0; k < 3; k++) {
        e.position[k] = scaled(e.position[k], coarse);
        differences[k] = minus(scaled(body->position[k], coarse), e.position[k]);
    }
    unsigned hit = code_vector(&w->pass, partial_place[coarse][e.speed][e.ages],
                               partial_axis[PARTIAL_PLACE], differences);
    if (w->pass.in) {
        FOLIOT__UNROLL(3)
        for (int k = 0; k < 3; k++)
            body->position[k] = unscaled(plus(e.position[k], differences[k]), coarse);
    }
    memcpy(w->last, body->position, sizeof w->last);
    base = base ? base : &empty;
    if (w->format->rotates)
        code_orientation(w, course, coarse, hit, e.ages, base, body);
    code_motion(w, &e, coarse, hit, base, body);
}

void foliot__partial_body_code(foliot__body_walk *walk, const foliot__course *course, uint32_t age,
                               bool coarse, const foliot_snapshot_body *base,
                               foliot_snapshot_body *body)
{
    foliot__body_walk w = *walk;
    if (walk->pass.out) {
        w.pass.in = NULL; // known here
        if (coarse)
            code_body(&w, course, age, true, base, body);
        else
            code_body(&w, course, age, false, base, body);
    } else {
        w.pass.out = NULL;
        code_body(&w, course, age, coarse, base, body);
    }
    memcpy(walk->last, w.last, sizeof w.last);
}
