// SPDX-License-Identifier: MIT
// force_jacobian.c: how the acceleration changes with positions and velocities, as a product with a
// direction. Exact for the forces of the table; the host's callbacks by one-sided differences.
#include "sim/force/force.h"

#include "foliot/digest.h"
#include "sim/force/force_workspace.h"

typedef struct direction {
    const foliot_world *world;
    foliot__v3 x, v, dx, dv, da;
} direction;

// Row b less row a; a row of FOLIOT_NO_BODY is `point` (which is 0 for all but positions).
static inline __attribute__((always_inline)) vec3 between(foliot__v3 field, uint32_t a, uint32_t b,
                                                          const double point[3])
{
    return vec3_sub(b == FOLIOT_NO_BODY ? vec3_of(point) : foliot__v3_get(field, b),
                    foliot__v3_get(field, a));
}

static inline __attribute__((always_inline)) void add_pair(const direction *d, uint32_t a,
                                                           uint32_t b, vec3 force)
{
    const double *inverse = foliot__inverse_mass(d->world);
    foliot__v3_add(d->da, a, vec3_scale(force, inverse[a]));
    if (b == FOLIOT_NO_BODY)
        return;
    foliot__v3_put(d->da, b, vec3_sub(foliot__v3_get(d->da, b), vec3_scale(force, inverse[b])));
}

static const double origin[3];

// F = (k - k L / r) d, dF = (k - k L / r) dd + k L (d . dd) / r^3 d. Where d has no direction,
// neither has the change of the force, unless the spring is linear.
static inline __attribute__((always_inline)) void
spring(const direction *to, uint32_t a, uint32_t b, const double point[3], double k, double length)
{
    vec3 d = between(to->x, a, b, point), dd = between(to->dx, a, b, origin);
    if (length == 0) {
        add_pair(to, a, b, vec3_scale(dd, k));
        return;
    }
    double r = foliot__sqrt(vec3_dot(d, d));
    if (!(r > 0))
        return;
    double inverse = 1 / r, relaxed = k * length * inverse;
    double along =
        vec3_dot(d, dd) * inverse * inverse; // this and the next are nearly all of a cloth's solve
    add_pair(to, a, b, vec3_add(vec3_scale(dd, k - relaxed), vec3_scale(d, relaxed * along)));
}

// The change of d / (r^2 + softening^2)^(3/2).
static vec3 central(vec3 d, vec3 dd, double softening2)
{
    double r2 = vec3_dot(d, d) + softening2, r3 = r2 * foliot__sqrt(r2);
    if (!(r3 > 0))
        return (vec3){0, 0, 0};
    return vec3_add(vec3_scale(dd, 1 / r3), vec3_scale(d, -3 * (vec3_dot(d, dd) / r2) / r3));
}

static void newton(const direction *to, const foliot_force_definition *f)
{
    const double *inverse = foliot__inverse_mass(to->world), *mass = foliot__mass(to->world);
    double softening2 = f->as.newton.softening * f->as.newton.softening;
    for (uint32_t a = 0; a < to->world->body_count; a++)
        for (uint32_t b = a + 1; inverse[a] > 0 && b < to->world->body_count; b++) {
            if (inverse[b] == 0)
                continue;
            vec3 change =
                central(between(to->x, a, b, origin), between(to->dx, a, b, origin), softening2);
            add_pair(to, a, b, vec3_scale(change, f->as.newton.constant * mass[a] * mass[b]));
        }
}

static void attractor(const direction *to, const foliot_force_definition *f)
{
    const double *inverse = foliot__inverse_mass(to->world), *p = f->as.attractor.point;
    for (uint32_t i = 0; i < to->world->body_count; i++) {
        if (inverse[i] == 0)
            continue;
        vec3 change = vec3_scale(central(between(to->x, i, FOLIOT_NO_BODY, p),
                                         between(to->dx, i, FOLIOT_NO_BODY, origin), 0),
                                 f->as.attractor.strength);
        foliot__v3_add(to->da, i, change);
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
    if (forces->drag_linear > 0 || forces->drag_quadratic > 0 || forces->has_isotropic) {
        // F = -(b + q |v|) v.
        const double *inverse = foliot__inverse_mass(to->world);
        const double *isotropic = forces->has_isotropic ? foliot__forces_isotropic(forces) : NULL;
        for (uint32_t i = 0; i < to->world->body_count; i++) {
            vec3 v = foliot__v3_get(to->v, i), dv = foliot__v3_get(to->dv, i);
            double speed = foliot__sqrt(vec3_dot(v, v)), q = forces->drag_quadratic;
            double b = forces->drag_linear + (isotropic ? isotropic[i] : 0);
            double turn = speed > 0 ? q * (vec3_dot(v, dv) / speed) : 0;
            vec3 change = vec3_add(vec3_scale(dv, b + q * speed), vec3_scale(v, turn));
            foliot__v3_put(to->da, i,
                           vec3_sub(foliot__v3_get(to->da, i), vec3_scale(change, inverse[i])));
        }
    }
    // Along the line: F = c (w . d) d / r^2, which depends on position as well.
    for (uint32_t k = 0; k < forces->damper_count; k++) {
        const foliot__damper *f = &foliot__forces_dampers(forces)[k];
        vec3 dw = between(to->dv, f->a, f->b, origin);
        if (!f->along) {
            add_pair(to, f->a, f->b, vec3_scale(dw, f->damping));
            continue;
        }
        vec3 w = between(to->v, f->a, f->b, origin), d = between(to->x, f->a, f->b, f->point);
        vec3 dd = between(to->dx, f->a, f->b, origin);
        double r2 = vec3_dot(d, d);
        if (!(r2 > 0))
            continue;
        double inverse = 1 / r2,
               closing = vec3_dot(w, d) * inverse; // times d is w's part along the line
        double change =
            (vec3_dot(dw, d) + vec3_dot(w, dd) - 2 * closing * vec3_dot(d, dd)) * inverse;
        add_pair(to, f->a, f->b,
                 vec3_scale(vec3_add(vec3_scale(d, change), vec3_scale(dd, closing)), f->damping));
    }
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
