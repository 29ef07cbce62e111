// SPDX-License-Identifier: MIT
// rotation_simd.c: the splitting of rotation.c for WIDE bodies at once, for one instruction set
// (base/cpu.h).
//
// Invariant: every lane is one body's, computed alone, so the bits do not depend on WIDE;
// orientations are unit quaternions after every turn. Bodies that do not rotate (points, static,
// frozen, empty rows) are left as they are.
#include "sim/integrator/rotation.h"

#include "base/cpu.h"
#include "sim/math/simd.h"

#define ROTATION_KERNEL FOLIOT__KERNEL(foliot__rotate)
#define WIDE FOLIOT__SIMD_DOUBLES
typedef double lanes FOLIOT__SIMD(double, WIDE);
typedef int64_t marks FOLIOT__SIMD(int64_t, WIDE);

#define TIMES(k, n) FOLIOT__UNROLL(8) for (int k = 0; k < (n); k++)
#define AT(table, slot) FOLIOT__SIMD_AT(lanes, table, slot)
#define CHOOSE(mask, yes, no) FOLIOT__SELECT(lanes, mask, yes, no)
#define IN static inline __attribute__((always_inline)) void

// Quaternion (w, x, y, z; body to world), and angular velocity in world axes or momentum in the
// body's.
typedef struct spin {
    lanes q[4], m[3];
} spin;

typedef struct tops {
    lanes inertia[3], inverse[3], torque[3];
    marks torqued;
} tops;

static inline bool any(const marks *which)
{
    int64_t all = 0;
    TIMES(l, WIDE)
    all |= (*which)[l];
    return all != 0;
}

// v turned from world axes into the body's: R^t v.
IN to_body(const lanes q[4], lanes v[3])
{
    lanes w = q[0], x = q[1], y = q[2], z = q[3];
    lanes cx = 2 * (z * v[1] - y * v[2]), cy = 2 * (x * v[2] - z * v[0]),
          cz = 2 * (y * v[0] - x * v[1]);
    v[0] += w * cx + (z * cy - y * cz);
    v[1] += w * cy + (x * cz - z * cx);
    v[2] += w * cz + (y * cx - x * cy);
}

// v turned from the body's axes into the world's: R v.
IN to_world(const lanes q[4], lanes v[3])
{
    lanes w = q[0], x = q[1], y = q[2], z = q[3];
    lanes cx = 2 * (y * v[2] - z * v[1]), cy = 2 * (z * v[0] - x * v[2]),
          cz = 2 * (x * v[1] - y * v[0]);
    v[0] += w * cx + (y * cz - z * cy);
    v[1] += w * cy + (z * cx - x * cz);
    v[2] += w * cz + (x * cy - y * cx);
}

IN normalise(lanes q[4])
{
    lanes length = (q[0] * q[0] + q[1] * q[1]) + (q[2] * q[2] + q[3] * q[3]);
    FOLIOT__SIMD_SQRT_F64(length);
    lanes scale = 1 / length;
    TIMES(k, 4)
    q[k] *= scale;
}

// -- three different moments

// The turn about axis a (b and c follow it in the cycle x, y, z) over `half` = t/2. The quaternion
// is left longer by sqrt(1 + s^2). m is turned by (m_b, m_c) += sin (m_c - s m_b, -(m_b + s m_c)),
// in which the rounding of sin changes the length only in proportion to s^2.
IN turn(spin *t, const tops *bodies, double half, int a, int b, int c)
{
    lanes s = t->m[a] * bodies->inverse[a] * half, sine = 2 * s / (1 + s * s);
    lanes mb = t->m[b], mc = t->m[c];
    t->m[b] = mb + sine * (mc - s * mb);
    t->m[c] = mc - sine * (mb + s * mc);
    lanes w = t->q[0], qa = t->q[1 + a], qb = t->q[1 + b], qc = t->q[1 + c];
    t->q[0] = w - s * qa;
    t->q[1 + a] = qa + s * w;
    t->q[1 + b] = qb + s * qc;
    t->q[1 + c] = qc - s * qb;
}

// Five turns: x/2 y/2 z y/2 x/2.
IN turn_by_axes(spin *s, const tops *bodies, double duration)
{
    turn(s, bodies, duration / 4, 0, 1, 2);
    turn(s, bodies, duration / 4, 1, 2, 0);
    turn(s, bodies, duration / 2, 2, 0, 1);
    turn(s, bodies, duration / 4, 1, 2, 0);
    turn(s, bodies, duration / 4, 0, 1, 2);
    normalise(s->q);
}

// The angular momentum gains torque times duration, in world axes.
IN kick_momentum(spin *s, const tops *bodies, double duration)
{
    lanes gain[3];
    TIMES(k, 3)
    gain[k] = bodies->torque[k] * duration;
    to_body(s->q, gain);
    TIMES(k, 3)
    s->m[k] = CHOOSE(bodies->torqued, s->m[k] + gain[k], s->m[k]);
}

IN twice_energy(const spin *s, const tops *bodies, lanes *out)
{
    *out = (s->m[0] * s->m[0] * bodies->inverse[0] + s->m[1] * s->m[1] * bodies->inverse[1]) +
           s->m[2] * s->m[2] * bodies->inverse[2];
}

// The energy that the splitting keeps differs from that of rotation by a part of (w dt)^2, which
// depends on the direction of m. Impacts change that direction and keep the true energy, so the sum
// would walk with every impact. Where bodies can collide, the turns therefore keep the true energy,
// by the length of m.
IN turn_by_energy(spin *s, const tops *bodies, double duration)
{
    lanes before, after;
    twice_energy(s, bodies, &before);
    turn_by_axes(s, bodies, duration);
    twice_energy(s, bodies, &after);
    marks spins = after > 0;
    lanes scale = before / CHOOSE(spins, after, (lanes){0} + 1);
    FOLIOT__SIMD_SQRT_F64(scale);
    TIMES(k, 3)
    s->m[k] = CHOOSE(spins, s->m[k] * scale, s->m[k]);
}

static void rotate_uneven(spin *s, const tops *bodies, const foliot__rotation_weights *composed,
                          double dt, bool collides)
{
    bool torque = any(&bodies->torqued);
    to_body(s->q, s->m);
    TIMES(k, 3)
    s->m[k] *= bodies->inertia[k];
    for (uint32_t k = 0; k < composed->count; k++) {
        double duration = composed->w[k] * dt;
        if (torque)
            kick_momentum(s, bodies, duration / 2);
        if (collides)
            turn_by_energy(s, bodies, duration);
        else
            turn_by_axes(s, bodies, duration);
        if (torque)
            kick_momentum(s, bodies, duration / 2);
    }
    // Divided, though 1 / I is at hand: I (1 / I) is not 1, and what it is off by adds up step by
    // step.
    TIMES(k, 3)
    s->m[k] /= bodies->inertia[k];
    to_world(s->q, s->m);
}

// -- three equal moments

IN kick_velocity(spin *s, const tops *bodies, double duration)
{
    TIMES(k, 3)
    {
        lanes gain = bodies->torque[k] * bodies->inverse[k] * duration;
        s->m[k] = CHOOSE(bodies->torqued, s->m[k] + gain, s->m[k]);
    }
}

// (1, w t/2) q
IN turn_at_once(spin *s, double half)
{
    lanes a = s->m[0] * half, b = s->m[1] * half, c = s->m[2] * half;
    lanes w = s->q[0], x = s->q[1], y = s->q[2], z = s->q[3];
    s->q[0] = w - ((a * x + b * y) + c * z);
    s->q[1] = x + ((a * w + b * z) - c * y);
    s->q[2] = y + ((b * w + c * x) - a * z);
    s->q[3] = z + ((c * w + a * y) - b * x);
    normalise(s->q);
}

static void rotate_even(spin *s, const tops *bodies, const foliot__rotation_weights *composed,
                        double dt)
{
    bool torque = any(&bodies->torqued);
    for (uint32_t k = 0; k < composed->count; k++) {
        double duration = composed->w[k] * dt;
        if (torque)
            kick_velocity(s, bodies, duration / 2);
        turn_at_once(s, duration / 2);
        if (torque)
            kick_velocity(s, bodies, duration / 2);
    }
}

// -- all of them

// WIDE bodies of which some may be of either kind: each takes its own kind's way.
IN rotate_wide(foliot_world *world, uint32_t first, const foliot__rotation_weights *composed,
               double dt)
{
    double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                          foliot__orientation_y(world), foliot__orientation_z(world)};
    foliot__v3 spins = foliot__angular_velocity(world), torques = foliot__torque(world);
    foliot__v3 inertia = foliot__inertia(world), inverse = foliot__inverse_inertia(world);
    double *const w[3] = {spins.x, spins.y, spins.z}, *const torque[3] = {torques.x, torques.y,
                                                                          torques.z};
    double *const i[3] = {inertia.x, inertia.y, inertia.z}, *const n[3] = {inverse.x, inverse.y,
                                                                           inverse.z};
    spin was, uneven, even;
    tops bodies;
    TIMES(k, 4)
    was.q[k] = AT(q[k], first);
    TIMES(k, 3)
    {
        was.m[k] = AT(w[k], first);
        bodies.inertia[k] = AT(i[k], first);
        bodies.inverse[k] = AT(n[k], first);
        bodies.torque[k] = AT(torque[k], first);
    }
    bodies.torqued = (bodies.torque[0] != 0) | (bodies.torque[1] != 0) | (bodies.torque[2] != 0);
    marks equal =
        (bodies.inertia[0] == bodies.inertia[1]) & (bodies.inertia[1] == bodies.inertia[2]);
    marks turns = bodies.inverse[0] > 0, by_axes = turns & ~equal, at_once = turns & equal;
    uneven = even = was;
    if (any(&by_axes))
        rotate_uneven(&uneven, &bodies, composed, dt, world->scene.collides);
    if (any(&at_once))
        rotate_even(&even, &bodies, composed, dt);
    TIMES(k, 4)
    AT(q[k], first) = CHOOSE(at_once, even.q[k], CHOOSE(by_axes, uneven.q[k], was.q[k]));
    TIMES(k, 3)
    AT(w[k], first) = CHOOSE(at_once, even.m[k], CHOOSE(by_axes, uneven.m[k], was.m[k]));
}

void ROTATION_KERNEL(foliot_world *world, const foliot__rotation_weights *composed, double dt,
                     uint32_t begin, uint32_t end)
{
    for (uint32_t first = begin; first < end; first += WIDE)
        rotate_wide(world, first, composed, dt);
}
