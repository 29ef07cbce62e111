// SPDX-License-Identifier: MIT
// force_jacobian.c: how the acceleration changes with positions and velocities, as a product with a
// direction. Exact for the forces of the table; the host's callbacks by one-sided differences.
#include "sim/force/force.h"

#include "foliot/math.h"
#include "sim/force/force_workspace.h"
#include "sim/math/vec3.h"

typedef struct direction {
    const foliot_world *world;
    foliot__v3 x, v, dx, dv, da;
} direction;

// A vector of a body or a pair, by value.
typedef struct d3 {
    double v[3];
} d3;

static inline double dot(d3 a, d3 b)
{
    return foliot__vec3_dot(a.v, b.v);
}

static inline d3 scaled(double s, d3 a)
{
    return (d3){{s * a.v[0], s * a.v[1], s * a.v[2]}};
}

static inline d3 sum(d3 a, d3 b)
{
    return (d3){{a.v[0] + b.v[0], a.v[1] + b.v[1], a.v[2] + b.v[2]}};
}

// Row b less row a; a row of FOLIOT_NO_BODY is `point` (which is 0 for all but positions).
static inline __attribute__((always_inline)) d3 between(foliot__v3 field, uint32_t a, uint32_t b,
                                                        const double point[3])
{
    bool fixed = b == FOLIOT_NO_BODY;
    return (d3){{(fixed ? point[0] : field.x[b]) - field.x[a],
                 (fixed ? point[1] : field.y[b]) - field.y[a],
                 (fixed ? point[2] : field.z[b]) - field.z[a]}};
}

static inline __attribute__((always_inline)) void add_pair(const direction *d, uint32_t a,
                                                           uint32_t b, d3 force)
{
    const double *inverse = foliot__inverse_mass(d->world);
    d->da.x[a] += force.v[0] * inverse[a];
    d->da.y[a] += force.v[1] * inverse[a];
    d->da.z[a] += force.v[2] * inverse[a];
    if (b == FOLIOT_NO_BODY)
        return;
    d->da.x[b] -= force.v[0] * inverse[b];
    d->da.y[b] -= force.v[1] * inverse[b];
    d->da.z[b] -= force.v[2] * inverse[b];
}

static const double origin[3];

// F = (k - k L / r) d, dF = (k - k L / r) dd + k L (d . dd) / r^3 d. Where d has no direction,
// neither has the change of the force, unless the spring is linear.
static inline __attribute__((always_inline)) void
spring(const direction *to, uint32_t a, uint32_t b, const double point[3], double k, double length)
{
    d3 d = between(to->x, a, b, point), dd = between(to->dx, a, b, origin);
    if (length == 0) {
        add_pair(to, a, b, scaled(k, dd));
        return;
    }
    double r = foliot__sqrt(dot(d, d));
    if (!(r > 0))
        return;
    double inverse = 1 / r, relaxed = k * length * inverse;
    double along =
        dot(d, dd) * inverse * inverse; // this and the next are nearly all of a cloth's solve
    add_pair(to, a, b, sum(scaled(k - relaxed, dd), scaled(relaxed * along, d)));
}

// Along the line: F = c (w . d) d / r^2, which depends on position as well.
static void damper(const direction *to, const foliot__damper *f)
{
    d3 dw = between(to->dv, f->a, f->b, origin);
    if (!f->along) {
        add_pair(to, f->a, f->b, scaled(f->damping, dw));
        return;
    }
    d3 w = between(to->v, f->a, f->b, origin), d = between(to->x, f->a, f->b, f->point);
    d3 dd = between(to->dx, f->a, f->b, origin);
    double r2 = dot(d, d);
    if (!(r2 > 0))
        return;
    double inverse = 1 / r2, closing = dot(w, d) * inverse; // times d is w's part along the line
    double change = (dot(dw, d) + dot(w, dd) - 2 * closing * dot(d, dd)) * inverse;
    add_pair(to, f->a, f->b, scaled(f->damping, sum(scaled(change, d), scaled(closing, dd))));
}

// The change of d / (r^2 + softening^2)^(3/2).
static d3 central(d3 d, d3 dd, double softening2)
{
    double r2 = dot(d, d) + softening2, r3 = r2 * foliot__sqrt(r2);
    if (!(r3 > 0))
        return (d3){{0, 0, 0}};
    return sum(scaled(1 / r3, dd), scaled(-3 * (dot(d, dd) / r2) / r3, d));
}

static void newton(const direction *to, const foliot_force_definition *f)
{
    const double *inverse = foliot__inverse_mass(to->world), *mass = foliot__mass(to->world);
    double softening2 = f->as.newton.softening * f->as.newton.softening;
    for (uint32_t a = 0; a < to->world->body_count; a++)
        for (uint32_t b = a + 1; inverse[a] > 0 && b < to->world->body_count; b++) {
            if (inverse[b] == 0)
                continue;
            d3 change =
                central(between(to->x, a, b, origin), between(to->dx, a, b, origin), softening2);
            add_pair(to, a, b, scaled(f->as.newton.constant * mass[a] * mass[b], change));
        }
}

static void attractor(const direction *to, const foliot_force_definition *f)
{
    const double *inverse = foliot__inverse_mass(to->world), *p = f->as.attractor.point;
    for (uint32_t i = 0; i < to->world->body_count; i++) {
        if (inverse[i] == 0)
            continue;
        d3 change = scaled(f->as.attractor.strength,
                           central(between(to->x, i, FOLIOT_NO_BODY, p),
                                   between(to->dx, i, FOLIOT_NO_BODY, origin), 0));
        to->da.x[i] += change.v[0];
        to->da.y[i] += change.v[1];
        to->da.z[i] += change.v[2];
    }
}

// F = -(b + q |v|) v.
static void drag(const direction *to, const foliot__forces *forces)
{
    const double *inverse = foliot__inverse_mass(to->world);
    const double *isotropic = forces->has_isotropic ? foliot__forces_isotropic(forces) : NULL;
    for (uint32_t i = 0; i < to->world->body_count; i++) {
        d3 v = {{to->v.x[i], to->v.y[i], to->v.z[i]}};
        d3 dv = {{to->dv.x[i], to->dv.y[i], to->dv.z[i]}};
        double speed = foliot__sqrt(dot(v, v)), q = forces->drag_quadratic;
        double b = forces->drag_linear + (isotropic ? isotropic[i] : 0);
        double turn = speed > 0 ? q * (dot(v, dv) / speed) : 0;
        d3 change = sum(scaled(b + q * speed, dv), scaled(turn, v));
        to->da.x[i] -= change.v[0] * inverse[i];
        to->da.y[i] -= change.v[1] * inverse[i];
        to->da.z[i] -= change.v[2] * inverse[i];
    }
}

static void table_forces(const direction *to)
{
    const foliot__forces *forces = foliot__forces_of(to->world);
    for (uint32_t k = 0; k < forces->run_count; k++) {
        const foliot__run *run = &foliot__forces_runs(forces)[k];
        for (uint32_t i = run->first; i < run->first + run->count; i++)
            if (run->kind == FOLIOT__RUN_SPRING) {
                const foliot__spring *s = &foliot__forces_springs(forces)[i];
                spring(to, s->a, s->b, origin, s->stiffness, s->length);
            } else if (run->kind == FOLIOT__RUN_TETHER) {
                const foliot__tether *s = &foliot__forces_tethers(forces)[i];
                spring(to, s->a, FOLIOT_NO_BODY, s->point, s->stiffness, s->length);
            } else if (run->kind == FOLIOT__RUN_NEWTON) {
                newton(to, &foliot__force(to->world)[i]);
            } else if (run->kind == FOLIOT__RUN_ATTRACTOR) {
                attractor(to, &foliot__force(to->world)[i]);
            }
    }
    if (forces->drag_linear > 0 || forces->drag_quadratic > 0 || forces->has_isotropic)
        drag(to, forces);
    for (uint32_t k = 0; k < forces->damper_count; k++)
        damper(to, &foliot__forces_dampers(forces)[k]);
}

// -- callbacks

static double largest_of(foliot__v3 a, uint32_t count)
{
    double largest2 = 0;
    for (uint32_t i = 0; i < count; i++)
        largest2 = foliot_max(largest2, (a.x[i] * a.x[i] + a.y[i] * a.y[i]) + a.z[i] * a.z[i]);
    return foliot__sqrt(largest2);
}

// da += (f(at + e along) - f(at)) / e with e such that the largest change is 2^-26 of the largest
// value.
static void difference(const foliot__step *step, const direction *to, double time, bool by_velocity,
                       bool velocity_dependent)
{
    const foliot_world *world = to->world;
    uint32_t count = world->body_count;
    foliot__v3 at = by_velocity ? to->v : to->x, along = by_velocity ? to->dv : to->dx;
    foliot__v3 here = foliot__callback_vector(world, 1), there = foliot__callback_vector(world, 2);
    foliot__v3 moved = foliot__callback_vector(world, 3);
    double change = largest_of(along, count), value = largest_of(at, count);
    if (!(change > 0))
        return;
    double e = 0x1p-26 * (value > 0 ? value : 1) / change;
    for (uint32_t i = 0; i < count; i++) {
        moved.x[i] = at.x[i] + e * along.x[i];
        moved.y[i] = at.y[i] + e * along.y[i];
        moved.z[i] = at.z[i] + e * along.z[i];
    }
    foliot__callbacks_sum(step, to->x, to->v, time, velocity_dependent, here);
    foliot__callbacks_sum(step, by_velocity ? to->x : moved, by_velocity ? moved : to->v, time,
                          velocity_dependent, there);
    for (uint32_t i = 0; i < count; i++) {
        to->da.x[i] += (there.x[i] - here.x[i]) / e;
        to->da.y[i] += (there.y[i] - here.y[i]) / e;
        to->da.z[i] += (there.z[i] - here.z[i]) / e;
    }
}

void foliot__force_jacobian_apply(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                                  foliot__v3 dx, foliot__v3 dv, foliot__v3 da)
{
    const direction to = {step->world, x, v, dx, dv, da};
    foliot__v3_clear(da, foliot__lanes(step->world));
    table_forces(&to);
    if (foliot__callbacks_any(step, false))
        difference(step, &to, time, false, false);
    if (foliot__callbacks_any(step, true)) {
        difference(step, &to, time, false, true);
        difference(step, &to, time, true, true);
    }
    foliot__v3_mask(step->world, da);
}
