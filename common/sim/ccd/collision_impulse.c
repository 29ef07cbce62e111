// SPDX-License-Identifier: MIT
// collision_impulse.c: what an impact does to the two bodies, at the point that strikes and with
// the whole inertia: impulses on their velocities and on what is left of their paths, and what the
// step tells of it.
#include "sim/ccd/impact.h"
#include "sim/collide/contact_event.h"

// angular velocity += inverse inertia * turn, at the orientation q.
static void ease_at(const foliot_world *world, uint32_t i, const double q[4], const double turn[3],
                    double out[3])
{
    foliot__v3 inverse = foliot__inverse_inertia(world);
    const double ease[3] = {inverse.x[i], inverse.y[i], inverse.z[i]};
    if (ease[0] == ease[1] && ease[1] == ease[2]) {
        for (int k = 0; k < 3; k++)
            out[k] = ease[0] * turn[k];
        return;
    }
    double axis[3][3];
    foliot__quat_axes(q, axis);
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < 3; k++) {
        double own = foliot__vec3_dot(axis[k], turn) * ease[k];
        for (int i2 = 0; i2 < 3; i2++)
            out[i2] += own * axis[k][i2];
    }
}

// One of the two bodies of a bounce.
typedef struct party {
    uint32_t body;
    double share; // -1 / mass, or 1 / mass for the second
    double sign;
    double x[3], q[4], v[3], w[3];
    double given[3]; // velocity
    const double *arm;
} party;

static void set_party(const foliot__collider *c, uint32_t i, double sign, const double *arm,
                      double time, party *p)
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

static void point_velocity(const party *p, double v[3])
{
    foliot__vec3_cross(p->w, p->arm, v);
    for (int k = 0; k < 3; k++)
        v[k] += p->v[k];
}

// How fast the point moves along n after a unit of impulse along n.
static double ease_along(const foliot__collider *c, const party *p, const double n[3])
{
    double turn[3], change[3];
    foliot__vec3_cross(p->arm, n, turn);
    ease_at(c->world, p->body, p->q, turn, change);
    return foliot__absolute(p->share) + foliot__vec3_dot(turn, change);
}

static void push_party(const foliot__collider *c, party *p, const double n[3], double size)
{
    double impulse[3], turn[3], change[3];
    for (int k = 0; k < 3; k++)
        impulse[k] = size * n[k];
    foliot__vec3_cross(p->arm, impulse, turn);
    ease_at(c->world, p->body, p->q, turn, change);
    for (int k = 0; k < 3; k++) {
        p->v[k] += p->share * impulse[k];
        p->given[k] += p->share * impulse[k];
        p->w[k] += p->sign * change[k];
    }
}

static void slide_of(const party *a, const party *b, const double n[3], double slide[3])
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

// As `tame` in solver_bodies.h: by what its spin is to be multiplied.
static double tamed(const foliot__collider *c, const party *p)
{
    foliot__v3 moment = foliot__inertia(c->world);
    uint32_t i = p->body;
    double most = FOLIOT__FAR_TURN / c->step->dt, is2 = foliot__vec3_dot(p->w, p->w);
    bool even = moment.x[i] == moment.y[i] && moment.y[i] == moment.z[i];
    return even || !(is2 > most * most) ? 1 : most / foliot__sqrt(is2);
}

// What the bounce gave, to the body and to its path from now on.
static void settle(foliot__collider *c, const party *p, double left)
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
    double scale = tamed(c, p);
    w.x[i] = p->w[0] * scale;
    w.y[i] = p->w[1] * scale;
    w.z[i] = p->w[2] * scale;
    foliot__velocity_changed(world, i);
}

static void tell(const foliot__collider *c, const party *a, const party *b, const foliot__toi *m,
                 double impulse)
{
    foliot_hit_event impact = {.a = a->body, .b = b->body, .speed = m->speed, .impulse = impulse};
    bool plane =
        foliot__shape_kind(c->world)[a->body] == FOLIOT_SHAPE_PLANE; // its arm tells nothing
    const party *where = plane ? b : a;
    impact.time = c->step->index * c->step->dt + m->time;
    for (int k = 0; k < 3; k++) {
        impact.point[k] = where->x[k] + where->arm[k];
        impact.normal[k] = m->normal[k];
    }
    foliot__impact_happened(c->world, &impact);
}

static double friction_of(const foliot_world *world, uint32_t a, uint32_t b)
{
    const double *friction = foliot__friction(world);
    return foliot__sqrt(friction[a] * friction[b]);
}

// Newton's restitution along the normal at the point that strikes; then, across it, Coulomb's
// friction, at most what stops the sliding that is left. Each alone takes energy or none.
void foliot__collision_impulse(foliot__collider *c, uint32_t a, uint32_t b, const foliot__toi *m)
{
    foliot_world *world = c->world;
    party pa, pb;
    set_party(c, a, -1, m->arm_a, m->time, &pa);
    set_party(c, b, 1, m->arm_b, m->time, &pb);
    double e = foliot__larger(foliot__restitution(world)[a], foliot__restitution(world)[b]);
    double ease = ease_along(c, &pa, m->normal) + ease_along(c, &pb, m->normal);
    double along = (1 + e) * m->speed / ease;
    tell(c, &pa, &pb, m, along);
    push_party(c, &pa, m->normal, along);
    push_party(c, &pb, m->normal, along);
    double slide[3], limit = friction_of(world, a, b) * along;
    slide_of(&pa, &pb, m->normal, slide);
    double sliding = foliot__sqrt(foliot__vec3_dot(slide, slide));
    if (limit > 0 && sliding > 0) {
        for (int k = 0; k < 3; k++)
            slide[k] /= -sliding;
        ease = ease_along(c, &pa, slide) + ease_along(c, &pb, slide);
        double across = foliot__smaller(limit, sliding / ease);
        push_party(c, &pa, slide, across);
        push_party(c, &pb, slide, across);
    }
    settle(c, &pa, c->step->dt - m->time);
    settle(c, &pb, c->step->dt - m->time);
}
