// SPDX-License-Identifier: MIT
// rotation.c: free rotation of rigid bodies by splitting (Dullweber, Leimkuhler and McLachlan 1997,
// J. Chem. Phys. 107, 5840) with Cayley maps for the elementary rotations. Knows nothing of
// contacts.
//
// The energy of rotation is a sum over the body's axes, m1^2/2I1 + m2^2/2I2 + m3^2/2I3 (m: the
// angular momentum in the body's axes). Under one summand alone the body turns about that axis at
// the constant rate m1/I1, and m turns back by as much. The angle of such a turn is taken by its
// half's tangent, s = m1/I1 t/2: that is the exact flow of a slightly different function of m1, so
// the map stays symplectic, symmetric and of order 2, and needs neither sine nor cosine. The order
// x/2 y/2 z y/2 x/2 is a palindrome: whole steps compose to higher orders as those of translation
// do (composition.h).
//
// A torque is constant over the step in world axes and kicks m between. Where all three moments are
// equal m does not turn, and one turn about it does for all five.
//
// Invariant: every lane is one body's, computed alone; orientations are unit quaternions after
// every turn.

#include "sim/integrator/rotation.h"

#include "base/assert.h"
#include "sim/crew.h"
#include "sim/integrator/composition.h"

#define LANES FOLIOT__LANES
#define FOR_LANES(i) for (uint32_t i = 0; i < LANES; i++)

// One lane of bodies on the stack: quaternion (w, x, y, z; body to world), momentum in body axes.
typedef struct spin {
    double q[4][LANES];
    double m[3][LANES];
    double inverse[3][LANES]; // 1 / I
    double torque[3][LANES];
    bool any_torque;  // in this lane of the world
    bool uneven;      // some body of the lane has unequal moments
    bool even[LANES]; // this body's moments are equal
} spin;

// v turned from world axes into the body's: R^t v.
static void to_body(double q[4][LANES], double v[3][LANES])
{
    FOR_LANES (i) {
        double w = q[0][i], x = q[1][i], y = q[2][i], z = q[3][i];
        double cx = 2 * (z * v[1][i] - y * v[2][i]), cy = 2 * (x * v[2][i] - z * v[0][i]);
        double cz = 2 * (y * v[0][i] - x * v[1][i]);
        double vx = v[0][i] + (w * cx + (z * cy - y * cz));
        double vy = v[1][i] + (w * cy + (x * cz - z * cx));
        double vz = v[2][i] + (w * cz + (y * cx - x * cy));
        v[0][i] = vx;
        v[1][i] = vy;
        v[2][i] = vz;
    }
}

// v turned from the body's axes into the world's: R v.
static void to_world(double q[4][LANES], double v[3][LANES])
{
    FOR_LANES (i) {
        double w = q[0][i], x = q[1][i], y = q[2][i], z = q[3][i];
        double cx = 2 * (y * v[2][i] - z * v[1][i]), cy = 2 * (z * v[0][i] - x * v[2][i]);
        double cz = 2 * (x * v[1][i] - y * v[0][i]);
        double vx = v[0][i] + (w * cx + (y * cz - z * cy));
        double vy = v[1][i] + (w * cy + (z * cx - x * cz));
        double vz = v[2][i] + (w * cz + (x * cy - y * cx));
        v[0][i] = vx;
        v[1][i] = vy;
        v[2][i] = vz;
    }
}

static void normalise(double q[4][LANES])
{
    FOR_LANES (i) {
        double n =
            (q[0][i] * q[0][i] + q[1][i] * q[1][i]) + (q[2][i] * q[2][i] + q[3][i] * q[3][i]);
        double scale = 1 / foliot__sqrt(n);
        q[0][i] *= scale;
        q[1][i] *= scale;
        q[2][i] *= scale;
        q[3][i] *= scale;
    }
}

// The turn about axis a (b and c follow it in the cycle x, y, z) over `half` = t/2. The quaternion
// is left longer by sqrt(1 + s^2). m is turned by (m_b, m_c) += sin (m_c - s m_b, -(m_b + s m_c)),
// in which the rounding of sin changes the length only in proportion to s^2.
static inline void turn(double q[4][LANES], double m[3][LANES], double inverse[3][LANES],
                        double half, int a, int b, int c)
{
    FOR_LANES (i) {
        double s = m[a][i] * inverse[a][i] * half;
        double sine = 2 * s / (1 + s * s);
        double mb = m[b][i], mc = m[c][i];
        m[b][i] = mb + sine * (mc - s * mb);
        m[c][i] = mc - sine * (mb + s * mc);
        double w = q[0][i], qa = q[1 + a][i], qb = q[1 + b][i], qc = q[1 + c][i];
        q[0][i] = w - s * qa;
        q[1 + a][i] = qa + s * w;
        q[1 + b][i] = qb + s * qc;
        q[1 + c][i] = qc - s * qb;
    }
}

// Five turns: x/2 y/2 z y/2 x/2.
static void turn_by_axes(double q[4][LANES], double m[3][LANES], double inverse[3][LANES],
                         double duration)
{
    turn(q, m, inverse, duration / 4, 0, 1, 2);
    turn(q, m, inverse, duration / 4, 1, 2, 0);
    turn(q, m, inverse, duration / 2, 2, 0, 1);
    turn(q, m, inverse, duration / 4, 1, 2, 0);
    turn(q, m, inverse, duration / 4, 0, 1, 2);
}

// One turn about m, for equal moments: q (1, m / I t/2).
static void turn_at_once(double q[4][LANES], double m[3][LANES], double inverse[3][LANES],
                         double duration)
{
    double half = duration / 2;
    FOR_LANES (i) {
        double a = m[0][i] * inverse[0][i] * half, b = m[1][i] * inverse[1][i] * half;
        double c = m[2][i] * inverse[2][i] * half;
        double w = q[0][i], x = q[1][i], y = q[2][i], z = q[3][i];
        q[0][i] = w - ((x * a + y * b) + z * c);
        q[1][i] = x + ((w * a + y * c) - z * b);
        q[2][i] = y + ((w * b + z * a) - x * c);
        q[3][i] = z + ((w * c + x * b) - y * a);
    }
}

static void rotate_free(spin *s, double duration)
{
    if (!s->uneven) {
        turn_at_once(s->q, s->m, s->inverse, duration);
        normalise(s->q);
        return;
    }
    // A lane of both kinds: each body takes its own kind's way, whatever its neighbours are.
    double q[4][LANES];
    for (int k = 0; k < 4; k++)
        FOR_LANES (i)
            q[k][i] = s->q[k][i];
    double m[3][LANES];
    for (int k = 0; k < 3; k++)
        FOR_LANES (i)
            m[k][i] = s->m[k][i];
    turn_by_axes(s->q, s->m, s->inverse, duration);
    bool any_even = false;
    FOR_LANES (i)
        any_even |= s->even[i];
    if (any_even) {
        turn_at_once(q, m, s->inverse, duration);
        FOR_LANES (i) {
            if (!s->even[i])
                continue;
            for (int k = 0; k < 4; k++)
                s->q[k][i] = q[k][i];
            for (int k = 0; k < 3; k++)
                s->m[k][i] = m[k][i];
        }
    }
    normalise(s->q);
}

// The angular momentum gains torque times duration, in world axes.
static void rotate_kick(spin *s, double duration)
{
    double gain[3][LANES];
    for (int k = 0; k < 3; k++)
        FOR_LANES (i)
            gain[k][i] = s->torque[k][i] * duration;
    to_body(s->q, gain);
    for (int k = 0; k < 3; k++)
        FOR_LANES (i)
            s->m[k][i] += gain[k][i];
}

static void load(const foliot_world *world, uint32_t first, spin *s)
{
    const double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                                foliot__orientation_y(world), foliot__orientation_z(world)};
    foliot__v3 w = foliot__angular_velocity(world), t = foliot__torque(world);
    foliot__v3 inertia = foliot__inertia(world), inverse = foliot__inverse_inertia(world);
    const double *const wk[3] = {w.x, w.y, w.z}, *const tk[3] = {t.x, t.y, t.z};
    const double *const ik[3] = {inertia.x, inertia.y, inertia.z};
    const double *const nk[3] = {inverse.x, inverse.y, inverse.z};
    double sum = 0;
    for (int k = 0; k < 4; k++)
        FOR_LANES (i)
            s->q[k][i] = q[k][first + i];
    for (int k = 0; k < 3; k++)
        FOR_LANES (i) {
            s->m[k][i] = wk[k][first + i];
            s->torque[k][i] = tk[k][first + i];
            s->inverse[k][i] = nk[k][first + i];
            sum += s->torque[k][i] * s->torque[k][i]; // is it zero, that is all
        }
    s->any_torque = sum != 0;
    s->uneven = false;
    FOR_LANES (i) {
        s->even[i] = ik[0][first + i] == ik[1][first + i] && ik[1][first + i] == ik[2][first + i];
        s->uneven |= !s->even[i];
    }
    to_body(s->q, s->m);
    for (int k = 0; k < 3; k++)
        FOR_LANES (i)
            s->m[k][i] *= ik[k][first + i];
}

// Bodies that do not rotate (points, static, frozen, empty rows) are left as they are.
static void store(foliot_world *world, uint32_t first, spin *s)
{
    double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                          foliot__orientation_y(world), foliot__orientation_z(world)};
    foliot__v3 w = foliot__angular_velocity(world);
    double *const wk[3] = {w.x, w.y, w.z};
    foliot__v3 inertia = foliot__inertia(world);
    const double *const ik[3] = {inertia.x, inertia.y, inertia.z};
    // Divided, though 1 / I is at hand: I (1 / I) is not 1, and what it is off by adds up step by
    // step.
    for (int k = 0; k < 3; k++)
        FOR_LANES (i)
            s->m[k][i] /= ik[k][first + i];
    to_world(s->q, s->m);
    for (int k = 0; k < 4; k++)
        FOR_LANES (i)
            q[k][first + i] = s->inverse[0][i] > 0 ? s->q[k][i] : q[k][first + i];
    for (int k = 0; k < 3; k++)
        FOR_LANES (i)
            wk[k][first + i] = s->inverse[0][i] > 0 ? s->m[k][i] : wk[k][first + i];
}

typedef struct weights {
    const double *w;
    uint32_t count;
} weights;

#define WEIGHT(w) w,
static weights weights_of(unsigned order)
{
    static const double strang[] = {1};
    static const double yoshida4[] = {FOLIOT__YOSHIDA4(WEIGHT)};
    static const double yoshida6[] = {FOLIOT__YOSHIDA6(WEIGHT)};
    static const double kahan_li8[] = {FOLIOT__KAHAN_LI8(WEIGHT)};
    switch (order) {
    case 2:
        return (weights){strang, 1};
    case 4:
        return (weights){yoshida4, 3};
    case 6:
        return (weights){yoshida6, 7};
    default:
        FOLIOT_ASSERT(order == 8);
        return (weights){kahan_li8, 17};
    }
}
#undef WEIGHT

typedef struct turning {
    foliot_world *world;
    weights composed;
    double dt;
} turning;

static void rotate_part(void *context, uint32_t begin, uint32_t end)
{
    const turning *t = context;
    for (uint32_t first = begin * LANES; first < end * LANES; first += LANES) {
        spin s;
        load(t->world, first, &s);
        for (uint32_t k = 0; k < t->composed.count; k++) {
            double duration = t->composed.w[k] * t->dt;
            if (s.any_torque)
                rotate_kick(&s, duration / 2);
            rotate_free(&s, duration);
            if (s.any_torque)
                rotate_kick(&s, duration / 2);
        }
        store(t->world, first, &s);
    }
}

void foliot__rotate(const foliot__step *step, unsigned order)
{
    if (!step->world->rotates || order == 0)
        return;
    turning t = {step->world, weights_of(order), step->dt};
    foliot__crew_share(step->crew, 0, foliot__lanes(step->world) / LANES, 64 / LANES, rotate_part, &t);
}
