// SPDX-License-Identifier: MIT
// force_kick.c: the kick of the kick/drift schemes: velocities moved by forces while positions
// stand. A palindrome of flows: dampers half a step in the scene's order, bodies (drag and
// acceleration), the host's velocity-dependent callbacks in the middle, and back again. Every flow
// is exact or the implicit midpoint rule, hence symmetric, and so the kick over -h undoes the kick
// over h.
#include "sim/force/force.h"

#include "foliot/digest.h"
#include "sim/force/force_workspace.h"

#define CALLBACK_ITERATIONS_MAX 24
#define CALLBACK_TOLERANCE 0x1p-46 // of the last update, relative to the body's velocities

typedef struct kick {
    const foliot__step *step;
    const foliot_world *world;
    const foliot__forces *forces;
    foliot__v3 x, v, a;
    double time;
    foliot__kick_rule rule;
} kick;

// Integral of exp(-rate s) over s from 0 to h, or what the implicit midpoint rule makes of it. A
// rate of 0 gives h.
static double relaxation(double rate, double h, foliot__kick_rule rule)
{
    if (rate == 0)
        return h;
    if (rule == FOLIOT__KICK_CAYLEY)
        return h / (1 + 0.5 * rate * h);
    return -foliot_expm1(-rate * h) / rate;
}

// -- each body by itself

// The flow of dv/dt = -(rate + q |v|) v over h, as a factor of v: 1/v obeys a linear equation
// (Bernoulli). Backwards in time it ends at a pole: the velocity becomes infinite there, and the
// body is a fault of the world.
static double drag_factor(double q, double rate, double phi, double speed)
{
    return (1 - rate * phi) / foliot_max(1 + q * speed * phi, 0);
}

typedef struct body_forces {
    double inverse, rate, q; // 1/m, linear drag / m, quadratic drag / m
    double ax, ay, az;       // all that does not depend on v
} body_forces;

static double speed_of(const kick *k, uint32_t i)
{
    foliot__v3 v = k->v;
    return foliot__sqrt((v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i]);
}

static void scale(const kick *k, uint32_t i, double s)
{
    k->v.x[i] *= s;
    k->v.y[i] *= s;
    k->v.z[i] *= s;
}

// Drag alone is exact; with an acceleration, quadratic drag is split off, half before and half
// after.
static void quadratic_flow(const kick *k, const body_forces *f, uint32_t i, double h, double phi)
{
    if (f->ax == 0 && f->ay == 0 && f->az == 0) {
        scale(k, i, drag_factor(f->q, f->rate, phi, speed_of(k, i)));
        return;
    }
    scale(k, i, drag_factor(f->q, 0, 0.5 * h, speed_of(k, i)));
    // dv/dt = A - rate v.
    k->v.x[i] += (f->ax - f->rate * k->v.x[i]) * phi;
    k->v.y[i] += (f->ay - f->rate * k->v.y[i]) * phi;
    k->v.z[i] += (f->az - f->rate * k->v.z[i]) * phi;
    scale(k, i, drag_factor(f->q, 0, 0.5 * h, speed_of(k, i)));
}

// The implicit midpoint rule for dv/dt = A - (rate + q |v|) v: the midpoint w has the direction of
// u = v + A h / 2, and its length solves a quadratic equation.
static void quadratic_midpoint(const kick *k, const body_forces *f, uint32_t i, double h)
{
    foliot__v3 v = k->v;
    double ux = v.x[i] + 0.5 * h * f->ax, uy = v.y[i] + 0.5 * h * f->ay,
           uz = v.z[i] + 0.5 * h * f->az;
    double length = foliot__sqrt((ux * ux + uy * uy) + uz * uz);
    double c = 1 + 0.5 * h * f->rate;
    double s = 2 / (c + foliot__sqrt(c * c + 2 * h * f->q * length));
    v.x[i] = 2 * (s * ux) - v.x[i];
    v.y[i] = 2 * (s * uy) - v.y[i];
    v.z[i] = 2 * (s * uz) - v.z[i];
}

static void kick_bodies(const kick *k, double h)
{
    if (k->forces->drag_quadratic > 0) {
        const double *inverse = foliot__inverse_mass(k->world);
        const double *isotropic =
            k->forces->has_isotropic ? foliot__forces_isotropic(k->forces) : NULL;
        const foliot__v3 applied = foliot__applied(k->world);
        const double share = k->forces->moved_constants ? 0 : 1; // of the applied part that is ours
        double last_rate = 0, phi = h;
        for (uint32_t i = 0; i < k->world->body_count; i++) {
            if (inverse[i] == 0)
                continue;
            double b = k->forces->drag_linear + (isotropic ? isotropic[i] : 0),
                   ours = share * inverse[i];
            body_forces f = {inverse[i],
                             b * inverse[i],
                             k->forces->drag_quadratic * inverse[i],
                             k->a.x[i] + applied.x[i] * ours,
                             k->a.y[i] + applied.y[i] * ours,
                             k->a.z[i] + applied.z[i] * ours};
            if (f.rate != last_rate) {
                phi = relaxation(f.rate, h, k->rule);
                last_rate = f.rate;
            }
            if (k->rule == FOLIOT__KICK_CAYLEY)
                quadratic_midpoint(k, &f, i, h);
            else
                quadratic_flow(k, &f, i, h, phi);
        }
    } else {
        // Linear drag alone, the common case.
        const double *inverse = foliot__inverse_mass(k->world);
        const double *isotropic =
            k->forces->has_isotropic ? foliot__forces_isotropic(k->forces) : NULL;
        const foliot__v3 f = foliot__applied(k->world), a = k->a, v = k->v;
        const double drag = k->forces->drag_linear, share = k->forces->moved_constants ? 0 : 1;
        double last_rate = 0, phi = h; // equal bodies share their exponential
        for (uint32_t i = 0, count = k->world->body_count; i < count; i++) {
            double b = drag + (isotropic ? isotropic[i] : 0), rate = b * inverse[i],
                   ours = share * inverse[i];
            if (inverse[i] == 0)
                continue;
            if (rate != last_rate) {
                phi = relaxation(rate, h, k->rule);
                last_rate = rate;
            }
            v.x[i] += ((a.x[i] + f.x[i] * ours) - rate * v.x[i]) * phi;
            v.y[i] += ((a.y[i] + f.y[i] * ours) - rate * v.y[i]) * phi;
            v.z[i] += ((a.z[i] + f.z[i] * ours) - rate * v.z[i]) * phi;
        }
    }
}

// Without any velocity part: the common case, in lanes.
static void kick_axis(double *restrict v, const double *restrict a, const double *restrict f,
                      const double *restrict inverse, double share, double h, uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        v[i] += (a[i] + f[i] * (share * inverse[i])) * h;
}

// -- dampers

// In the scene's order, or against it.
static void kick_dampers(const kick *k, double h, bool backwards)
{
    const foliot__damper *damper = foliot__forces_dampers(k->forces);
    const double *inverse = foliot__inverse_mass(k->world);
    const foliot__v3 x = k->x, v = k->v;
    uint32_t count = k->forces->damper_count;
    double damping = 0, mobility = 0,
           impulse = 0; // of the last one: equal springs share an exponential
    for (uint32_t n = 0; n < count; n++) {
        const foliot__damper *f = &damper[backwards ? count - 1 - n : n];
        bool fixed = f->b == FOLIOT_NO_BODY;
        double inverse_a = inverse[f->a], inverse_b = fixed ? 0 : inverse[f->b];
        if (f->damping != damping || inverse_a + inverse_b != mobility) {
            damping = f->damping;
            mobility = inverse_a + inverse_b;
            impulse = damping * relaxation(damping * mobility, h, k->rule);
        }
        if (fixed) {
            // The exact flow of one damper: the relative velocity w (its part along d) decays at c
            // (1/m_a + 1/m_b), and the impulse that takes it away is shared, so that momentum is
            // kept.
            uint32_t a = f->a;
            double jx = impulse * (0 - v.x[a]), jy = impulse * (0 - v.y[a]),
                   jz = impulse * (0 - v.z[a]);
            if (f->along) {
                const double *p = f->point;
                double dx = p[0] - x.x[a], dy = p[1] - x.y[a], dz = p[2] - x.z[a];
                double r2 = (dx * dx + dy * dy) + dz * dz;
                double s = r2 > 0 ? ((jx * dx + jy * dy) + jz * dz) / r2 : 0;
                jx = s * dx;
                jy = s * dy;
                jz = s * dz;
            }
            v.x[a] += jx * inverse_a;
            v.y[a] += jy * inverse_a;
            v.z[a] += jz * inverse_a;
        } else {
            uint32_t a = f->a, b = f->b;
            double ax = v.x[a], ay = v.y[a], az = v.z[a], bx = v.x[b], by = v.y[b], bz = v.z[b];
            double jx = impulse * (bx - ax), jy = impulse * (by - ay), jz = impulse * (bz - az);
            if (f->along) {
                double dx = x.x[b] - x.x[a], dy = x.y[b] - x.y[a], dz = x.z[b] - x.z[a];
                double r2 = (dx * dx + dy * dy) + dz * dz;
                double s = r2 > 0 ? ((jx * dx + jy * dy) + jz * dz) / r2 : 0;
                jx = s * dx;
                jy = s * dy;
                jz = s * dz;
            }
            v.x[a] = ax + jx * inverse_a;
            v.y[a] = ay + jy * inverse_a;
            v.z[a] = az + jz * inverse_a;
            v.x[b] = bx - jx * inverse_b;
            v.y[b] = by - jy * inverse_b;
            v.z[b] = bz - jz * inverse_b;
        }
    }
}

// -- callbacks
//
// The implicit midpoint rule w = v + (h/2) f(w), v' = 2 w - v, by Newton's method with each body's
// own 3 x 3 block of df/dv, taken once by differences. A callback whose force on a body depends on
// that body's velocity alone (a magnetic field, any drag) converges in a few iterations however
// strong it is.

enum {
    ZERO,
    HERE,
    MIDDLE,
    FORCE,
    BLOCK
}; // callback vectors; BLOCK + c is the derivative by component c

static void difference_blocks(const kick *k, foliot__v3 w)
{
    double largest = 0;
    foliot__v3 v = k->v;
    for (uint32_t i = 0; i < k->world->body_count; i++)
        largest = foliot_max(
            largest, foliot_max(foliot_max(v.x[i] * v.x[i], v.y[i] * v.y[i]), v.z[i] * v.z[i]));
    double difference = 0x1p-26 * (largest > 0 ? foliot__sqrt(largest) : 1);
    uint32_t count = k->world->body_count;
    foliot__v3 here = foliot__callback_vector(k->world, HERE);
    foliot__callbacks_sum(k->step, k->x, w, k->time, true, here);
    double *component[] = {w.x, w.y, w.z};
    for (uint32_t c = 0; c < 3; c++) {
        foliot__v3 block = foliot__callback_vector(k->world, BLOCK + c);
        foliot__v3 old = foliot__callback_vector(k->world, FORCE);
        for (uint32_t i = 0; i < count; i++) {
            old.x[i] = component[c][i];
            component[c][i] += difference;
        }
        // FORCE's x holds the component meanwhile; the sum goes to the block itself.
        foliot__callbacks_sum(k->step, k->x, w, k->time, true, block);
        for (uint32_t i = 0; i < count; i++) {
            component[c][i] = old.x[i];
            block.x[i] = (block.x[i] - here.x[i]) / difference;
            block.y[i] = (block.y[i] - here.y[i]) / difference;
            block.z[i] = (block.z[i] - here.z[i]) / difference;
        }
    }
}

// Column c of 1 - s J, J the body's block.
static vec3 block_column(const foliot_world *world, uint32_t i, double s, uint32_t c)
{
    vec3 unit = {c == 0, c == 1, c == 2};
    return vec3_sub(unit,
                    vec3_scale(foliot__v3_get(foliot__callback_vector(world, BLOCK + c), i), s));
}

// Solves (1 - s J) d = r by Cramer's rule; false where it is singular.
static bool solve_block(const foliot_world *world, uint32_t i, double s, vec3 r, vec3 *d)
{
    vec3 x = block_column(world, i, s, 0), y = block_column(world, i, s, 1),
         z = block_column(world, i, s, 2);
    vec3 yz = vec3_cross(y, z), zx = vec3_cross(z, x), xy = vec3_cross(x, y);
    double determinant = (x.x * yz.x + y.x * zx.x) + z.x * xy.x;
    *d = vec3_divide((vec3){vec3_dot(yz, r), vec3_dot(zx, r), vec3_dot(xy, r)}, determinant);
    return determinant != 0;
}

// One Newton update of w; true where no body moved by more than the tolerance.
static bool improve_middle(const kick *k, foliot__v3 w, double h)
{
    const double *inverse = foliot__inverse_mass(k->world);
    foliot__v3 f = foliot__callback_vector(k->world, FORCE), v = k->v;
    foliot__callbacks_sum(k->step, k->x, w, k->time, true, f);
    bool converged = true;
    for (uint32_t i = 0; i < k->world->body_count; i++) {
        if (inverse[i] == 0)
            continue;
        vec3 from = foliot__v3_get(v, i), middle = foliot__v3_get(w, i), d;
        vec3 r = vec3_add(vec3_sub(from, middle), vec3_scale(foliot__v3_get(f, i), 0.5 * h));
        if (!solve_block(k->world, i, 0.5 * h, r, &d))
            d = r;
        middle = vec3_add(middle, d);
        foliot__v3_put(w, i, middle);
        converged &= vec3_dot(d, d) <= (vec3_dot(middle, middle) + vec3_dot(from, from)) *
                                           (CALLBACK_TOLERANCE * CALLBACK_TOLERANCE);
    }
    return converged;
}

static void kick_callbacks(const kick *k, double h)
{
    foliot__v3 w = foliot__callback_vector(k->world, MIDDLE), v = k->v;
    uint32_t count = k->world->body_count;
    for (uint32_t i = 0; i < count; i++) {
        w.x[i] = v.x[i];
        w.y[i] = v.y[i];
        w.z[i] = v.z[i];
    }
    difference_blocks(k, w);
    bool converged = false;
    for (int n = 0; n < CALLBACK_ITERATIONS_MAX && !converged; n++)
        converged = improve_middle(k, w, h);
    if (!converged)
        k->step->world->counters.solver_failures++;
    for (uint32_t i = 0; i < count; i++) {
        v.x[i] = 2 * w.x[i] - v.x[i];
        v.y[i] = 2 * w.y[i] - v.y[i];
        v.z[i] = 2 * w.z[i] - v.z[i];
    }
}

// -- all of it

void foliot__force_kick(const foliot__step *step, foliot__v3 x, foliot__v3 v, foliot__v3 a,
                        double time, double duration, foliot__kick_rule rule)
{
    const kick k = {step, step->world, foliot__forces_of(step->world), x, v, a, time, rule};
    if (!foliot__force_has_velocity_part(step)) {
        const double *inverse = foliot__inverse_mass(k.world);
        foliot__v3 f = foliot__applied(k.world);
        double share = k.forces->moved_constants ? 0 : 1;
        uint32_t rows = foliot__lanes(k.world);
        kick_axis(k.v.x, k.a.x, f.x, inverse, share, duration, rows);
        kick_axis(k.v.y, k.a.y, f.y, inverse, share, duration, rows);
        kick_axis(k.v.z, k.a.z, f.z, inverse, share, duration, rows);
        return;
    }
    kick_dampers(&k, 0.5 * duration, false);
    if (foliot__callbacks_any(step, true)) {
        kick_bodies(&k, 0.5 * duration);
        kick_callbacks(&k, duration);
        kick_bodies(&k, 0.5 * duration);
    } else {
        kick_bodies(&k, duration);
    }
    kick_dampers(&k, 0.5 * duration, true);
}
