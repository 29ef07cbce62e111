// SPDX-License-Identifier: MIT
// collision_impulse.c: the impulses of an impact, at the point that strikes and with the whole
// inertia of both bodies. They change velocities and the rest of the paths. The step reports them
// as a hit event.
#include "sim/ccd/impact.h"
#include "sim/collide/contact_event.h"

// out := inverse inertia * turn, at the orientation q: the change of spin by an angular impulse.
static void spin_change(const foliot_world *world, uint32_t i, const double q[4],
                        const double turn[3], double out[3])
{
    foliot__v3 inverse = foliot__inverse_inertia(world);
    const double inverse_mass[3] = {inverse.x[i], inverse.y[i], inverse.z[i]};
    if (inverse_mass[0] == inverse_mass[1] && inverse_mass[1] == inverse_mass[2]) {
        for (int k = 0; k < 3; k++)
            out[k] = inverse_mass[0] * turn[k];
        return;
    }
    double axis[3][3];
    foliot__quat_axes(q, axis);
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < 3; k++) {
        double own = foliot__vec3_dot(axis[k], turn) * inverse_mass[k];
        for (int i2 = 0; i2 < 3; i2++)
            out[i2] += own * axis[k][i2];
    }
}

// One of the two bodies of an impact.
typedef struct struck_body {
    uint32_t body;
    double share; // -1 / mass, or 1 / mass for the second
    double sign;
    double x[3], q[4], v[3], w[3];
    double given[3]; // velocity
    const double *arm;
} struck_body;

static void begin_struck_body(const foliot__collider *c, uint32_t i, double sign, const double *arm,
                              double time, struck_body *p)
{
    p->body = i;
    p->sign = sign;
    p->share = sign * foliot__inverse_mass(c->world)[i];
    p->arm = arm;
    p->given[0] = p->given[1] = p->given[2] = 0;
    foliot__path_at(c, i, time, p->x, p->v);
    foliot__orientation_at(c, i, time, p->q);
    foliot__spin_at(foliot__sweep_of(c, i), p->q, p->w);
}

static void point_velocity(const struck_body *p, double v[3])
{
    foliot__vec3_cross(p->w, p->arm, v);
    for (int k = 0; k < 3; k++)
        v[k] += p->v[k];
}

// The speed of the point along n that a unit of impulse along n gives: the inverse of its effective
// mass.
static double inverse_mass_along(const foliot__collider *c, const struck_body *p, const double n[3])
{
    double turn[3], change[3];
    foliot__vec3_cross(p->arm, n, turn);
    spin_change(c->world, p->body, p->q, turn, change);
    return foliot__absolute(p->share) + foliot__vec3_dot(turn, change);
}

static void apply_impulse(const foliot__collider *c, struck_body *p, const double n[3], double size)
{
    double impulse[3], turn[3], change[3];
    for (int k = 0; k < 3; k++)
        impulse[k] = size * n[k];
    foliot__vec3_cross(p->arm, impulse, turn);
    spin_change(c->world, p->body, p->q, turn, change);
    for (int k = 0; k < 3; k++) {
        p->v[k] += p->share * impulse[k];
        p->given[k] += p->share * impulse[k];
        p->w[k] += p->sign * change[k];
    }
}

static void slide_of(const struck_body *a, const struck_body *b, const double n[3], double slide[3])
{
    double va[3], vb[3];
    point_velocity(a, va);
    point_velocity(b, vb);
    for (int k = 0; k < 3; k++)
        slide[k] = vb[k] - va[k];
    double along = foliot__vec3_dot(slide, n);
    for (int k = 0; k < 3; k++)
        slide[k] -= along * n[k];
}

// As clamp_spin in solver_bodies.h: the factor that keeps the spin within what a substep can
// follow.
static double spin_scale(const foliot__collider *c, const struck_body *p)
{
    foliot__v3 moment = foliot__inertia(c->world);
    uint32_t i = p->body;
    double most = FOLIOT__FAR_TURN / c->step->dt, is2 = foliot__vec3_dot(p->w, p->w);
    bool even = moment.x[i] == moment.y[i] && moment.y[i] == moment.z[i];
    return even || !(is2 > most * most) ? 1 : most / foliot__sqrt(is2);
}

// Stores the new velocities, and moves the end of the path.
static void store_result(foliot__collider *c, const struck_body *p, double left)
{
    uint32_t i = p->body;
    if (foliot__inverse_mass(c->world)[i] == 0)
        return;
    foliot_world *world = c->world;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world),
               path = c->paths.end_velocity;
    foliot__v3 w = foliot__angular_velocity(world);
    const double *dv = p->given;
    v.x[i] += dv[0];
    v.y[i] += dv[1];
    v.z[i] += dv[2];
    path.x[i] += dv[0];
    path.y[i] += dv[1];
    path.z[i] += dv[2];
    x.x[i] += dv[0] * left;
    x.y[i] += dv[1] * left;
    x.z[i] += dv[2] * left;
    double scale = spin_scale(c, p);
    w.x[i] = p->w[0] * scale;
    w.y[i] = p->w[1] * scale;
    w.z[i] = p->w[2] * scale;
    foliot__velocity_changed(world, i);
}

static void report_hit(const foliot__collider *c, const struck_body *a, const struck_body *b,
                       const foliot__toi *m, double impulse)
{
    foliot_hit_event impact = {.a = a->body, .b = b->body, .speed = m->speed, .impulse = impulse};
    bool plane =
        foliot__shape_kind(c->world)[a->body] == FOLIOT_SHAPE_PLANE; // its arm has no meaning
    const struck_body *where = plane ? b : a;
    impact.time = c->step->index * c->step->dt + m->time;
    for (int k = 0; k < 3; k++) {
        impact.point[k] = where->x[k] + where->arm[k];
        impact.normal[k] = m->normal[k];
    }
    foliot__hit_event(c->world, &impact);
}

static double friction_of(const foliot_world *world, uint32_t a, uint32_t b)
{
    const double *friction = foliot__friction(world);
    return foliot__sqrt(friction[a] * friction[b]);
}

// Newton's restitution along the normal at the point that strikes. Then Coulomb's friction across
// it, at most what stops the remaining sliding. Neither of the two adds energy.
void foliot__collision_impulse(foliot__collider *c, uint32_t a, uint32_t b, const foliot__toi *m)
{
    foliot_world *world = c->world;
    struck_body of_a, of_b;
    begin_struck_body(c, a, -1, m->arm_a, m->time, &of_a);
    begin_struck_body(c, b, 1, m->arm_b, m->time, &of_b);
    double e = foliot__larger(foliot__restitution(world)[a], foliot__restitution(world)[b]);
    double inverse_mass =
        inverse_mass_along(c, &of_a, m->normal) + inverse_mass_along(c, &of_b, m->normal);
    double along = (1 + e) * m->speed / inverse_mass;
    report_hit(c, &of_a, &of_b, m, along);
    apply_impulse(c, &of_a, m->normal, along);
    apply_impulse(c, &of_b, m->normal, along);
    double slide[3], limit = friction_of(world, a, b) * along;
    slide_of(&of_a, &of_b, m->normal, slide);
    double sliding = foliot__vec3_length(slide);
    if (limit > 0 && sliding > 0) {
        for (int k = 0; k < 3; k++)
            slide[k] /= -sliding;
        inverse_mass = inverse_mass_along(c, &of_a, slide) + inverse_mass_along(c, &of_b, slide);
        double across = foliot__smaller(limit, sliding / inverse_mass);
        apply_impulse(c, &of_a, slide, across);
        apply_impulse(c, &of_b, slide, across);
    }
    store_result(c, &of_a, c->step->dt - m->time);
    store_result(c, &of_b, c->step->dt - m->time);
}
