// SPDX-License-Identifier: MIT
// interpolation.c: interpolates between two states (interpolation.h).
#include "interpolation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "sim/math/vec3.h"

#define TELEPORT_FACTOR 4.0 // a move beyond this multiple of what its speeds explain is a jump
#define TELEPORT_STEPS 256.0
#define NEAR_DOT 0.999 // cosine of half the angle between two rotations
#define NEAR_TANGENT 0.05

// The cubic with the given ends and end slopes (Hermite), and its slope. Slopes are per unit of u.
static vec3 hermite(vec3 x0, vec3 m0, vec3 x1, vec3 m1, double u)
{
    double u2 = u * u, u3 = u2 * u;
    vec3 from = vec3_add(vec3_scale(x0, 2 * u3 - 3 * u2 + 1), vec3_scale(m0, u3 - 2 * u2 + u));
    return vec3_add(vec3_add(from, vec3_scale(x1, 3 * u2 - 2 * u3)), vec3_scale(m1, u3 - u2));
}

static vec3 hermite_slope(vec3 x0, vec3 m0, vec3 x1, vec3 m1, double u)
{
    double u2 = u * u;
    vec3 ends = vec3_scale(vec3_sub(x0, x1), 6 * u2 - 6 * u);
    return vec3_add(vec3_add(ends, vec3_scale(m0, 3 * u2 - 4 * u + 1)),
                    vec3_scale(m1, 3 * u2 - 2 * u));
}

// The shorter arc between two rotations (Shoemake 1985). If they are near, the normalised chord
// goes the same way: at 5 degrees its error is a hundredth of a snapshot's rounding.
static void slerp(const double a[4], const double b[4], double u, double q[4])
{
    double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3], sign = dot < 0 ? -1 : 1,
           norm = 0;
    double wa = 1 - u, wb = u;
    if (fabs(dot) < NEAR_DOT) {
        double angle = acos(fabs(dot)), s = sin(angle);
        wa = sin((1 - u) * angle) / s;
        wb = sin(u * angle) / s;
    }
    for (int i = 0; i < 4; i++) {
        q[i] = wa * a[i] + sign * wb * b[i];
        norm += q[i] * q[i];
    }
    norm = 1 / sqrt(norm);
    for (int i = 0; i < 4; i++)
        q[i] *= norm;
}

static void spin_between(const double from[4], const double to[4], double time, double spin[3])
{
    double w = 0, v[3], length = 0;
    for (int i = 0; i < 4; i++)
        w += to[i] * from[i];
    for (int k = 0; k < 3; k++) { // of to * conjugate(from)
        int i = 1 + (k + 1) % 3, j = 1 + (k + 2) % 3;
        v[k] = from[0] * to[k + 1] - to[0] * from[k + 1] - (to[i] * from[j] - to[j] * from[i]);
        length += v[k] * v[k];
    }
    length = sqrt(length);
    // The angle over the sine of its half: for small ones by the series of the arc tangent,
    // accurate to 1e-9 here.
    double t = length / fabs(w), t2 = t * t, near = (2 - t2 * (2.0 / 3 - t2 * (2.0 / 5))) / fabs(w);
    double rate = t < NEAR_TANGENT ? near / time
                  : length > 0     ? 2 * atan2(length, fabs(w)) / (length * time)
                                   : 0;
    for (int k = 0; k < 3; k++)
        spin[k] = (w < 0 ? -v[k] : v[k]) * rate;
}

static void rotate_by_spin(double q[4], const double spin[3], double time)
{
    double rate = sqrt(spin[0] * spin[0] + spin[1] * spin[1] + spin[2] * spin[2]),
           half = 0.5 * rate * time;
    double share = rate > 0 ? sin(half) / rate : 0, w = cos(half), x = spin[0] * share,
           y = spin[1] * share, z = spin[2] * share;
    double turned[4] = {
        w * q[0] - x * q[1] - y * q[2] - z * q[3], w * q[1] + x * q[0] + y * q[3] - z * q[2],
        w * q[2] - x * q[3] + y * q[0] + z * q[1], w * q[3] + x * q[2] - y * q[1] + z * q[0]};
    memcpy(q, turned, sizeof turned);
}

static bool has_jumped(const foliot_snapshot_format *format, const foliot_snapshot_body *a,
                       const foliot_snapshot_body *b, double ticks)
{
    double moved = 0, speed = 0, ratio = format->velocity_step / format->position_step;
    for (int k = 0; k < 3; k++) {
        double d = (double)b->position[k] - a->position[k];
        moved += d * d;
        speed += fmax(fabs(a->velocity[k] * ratio), fabs(b->velocity[k] * ratio));
    }
    return sqrt(moved) > TELEPORT_FACTOR * speed * ticks + TELEPORT_STEPS;
}

bool foliot__is_continuous(const foliot_snapshot_format *format, const foliot_snapshot_body *a,
                           const foliot_snapshot_body *b, double ticks)
{
    return (a->flags & FOLIOT_SNAPSHOT_ALIVE) && (b->flags & FOLIOT_SNAPSHOT_ALIVE) &&
           a->generation == b->generation && !has_jumped(format, a, b, ticks);
}

foliot_body_state foliot__interpolate_body(const foliot_snapshot_format *format, double dt,
                                           const foliot_snapshot_body *a,
                                           const foliot_snapshot_body *b,
                                           const foliot_body_state *from,
                                           const foliot_body_state *to, double ticks, double u)
{
    if (!foliot__is_continuous(format, a, b, ticks))
        return *from;
    foliot_body_state state = *from;
    double gap = ticks * dt, rate = 1 / gap;
    vec3 x0 = vec3_of(from->position), m0 = vec3_scale(vec3_of(from->velocity), gap);
    vec3 x1 = vec3_of(to->position), m1 = vec3_scale(vec3_of(to->velocity), gap);
    vec3_store(hermite(x0, m0, x1, m1, u), state.position);
    vec3_store(vec3_scale(hermite_slope(x0, m0, x1, m1, u), rate), state.velocity);
    if (!format->rotates)
        return state;
    slerp(from->orientation, to->orientation, u, state.orientation);
    spin_between(from->orientation, to->orientation, gap, state.angular_velocity);
    return state;
}

foliot_body_state foliot__extrapolate_body(const foliot_snapshot_format *format, double dt,
                                           const foliot_snapshot_body *was,
                                           const foliot_snapshot_body *is, double apart,
                                           double ticks)
{
    foliot_body_state state = foliot_snapshot_dequantise(format, is, dt);
    vec3 way = vec3_scale(vec3_of(state.velocity), ticks * dt);
    vec3_store(vec3_add(vec3_of(state.position), way), state.position);
    if (!was || !format->rotates || !foliot__is_continuous(format, was, is, apart))
        return state;
    foliot_body_state before = foliot_snapshot_dequantise(format, was, dt);
    spin_between(before.orientation, state.orientation, apart * dt, state.angular_velocity);
    if (ticks > 0)
        rotate_by_spin(state.orientation, state.angular_velocity, ticks * dt);
    return state;
}

// -- corrections

#define WEIGHT_MIN 0.004 // a difference of 100 steps is then below half of one

static const foliot__smoothing_offset none = {.turn = {1, 0, 0, 0}};

foliot_status foliot__error_smoothing_grow(foliot__error_smoothing *smoothing, uint32_t from,
                                           uint32_t to)
{
    if (!foliot__array_resize(&smoothing->offsets, to, sizeof *smoothing->offsets))
        return FOLIOT_STATUS_MEMORY;
    for (uint32_t i = from; i < to; i++)
        smoothing->offsets[i] = none;
    return FOLIOT_STATUS_OK;
}

void foliot__error_smoothing_close(foliot__error_smoothing *smoothing)
{
    free(smoothing->offsets);
    *smoothing = (foliot__error_smoothing){0};
}

void foliot__error_smoothing_fade(foliot__error_smoothing *smoothing, double tick, double ticks)
{
    if (smoothing->weight > 0 && tick > smoothing->tick)
        smoothing->weight *= exp((smoothing->tick - tick) / ticks);
    if (smoothing->weight < WEIGHT_MIN)
        smoothing->weight = 0;
    smoothing->tick = tick;
}

static void quat_product(const double a[4], const double b[4], double q[4])
{
    const double result[4] = {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                              a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                              a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                              a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
    memcpy(q, result, sizeof result);
}

// A share of a turn: the chord, normalised, which goes the same way as the arc.
static void share_of_turn(const double turn[4], double share, double result[4])
{
    double sign = turn[0] < 0 ? -1 : 1, square = 0;
    for (int i = 0; i < 4; i++) {
        result[i] = (i == 0 ? 1 - share : 0) + share * sign * turn[i];
        square += result[i] * result[i];
    }
    for (int i = 0; i < 4; i++)
        result[i] /= sqrt(square); // at least 1/2: the two ends are less than half a turn apart
}

void foliot__error_smoothing_set(foliot__error_smoothing *smoothing, uint32_t body,
                                 const foliot_body_state *shown, const foliot_body_state *known)
{
    foliot__smoothing_offset *offset = &smoothing->offsets[body];
    if (!shown) {
        *offset = none;
        return;
    }
    vec3_store(vec3_sub(vec3_of(shown->position), vec3_of(known->position)), offset->position);
    const double back[4] = {known->orientation[0], -known->orientation[1], -known->orientation[2],
                            -known->orientation[3]};
    quat_product(shown->orientation, back, offset->turn);
}

void foliot__error_smoothing_apply(const foliot__error_smoothing *smoothing, uint32_t body,
                                   foliot_body_state *state)
{
    const foliot__smoothing_offset *offset = &smoothing->offsets[body];
    double turn[4];
    if (smoothing->weight == 0)
        return;
    vec3 moved = vec3_scale(vec3_of(offset->position), smoothing->weight);
    vec3_store(vec3_add(vec3_of(state->position), moved), state->position);
    share_of_turn(offset->turn, smoothing->weight, turn);
    quat_product(turn, state->orientation, state->orientation);
}
