// SPDX-License-Identifier: MIT
// sweep.c: where a body is on its path through the substep, and how it turns. What every pair needs
// (the pose where the path begins, the speed of turning) is computed once a path, on first use.
#include "sim/collide/sweep.h"

#include "foliot/math.h"
#include "sim/state/contact_cache.h"

#include <string.h>

#define NOWHERE 0x1p100 // farther than anything
#define CALM_TICKS 4
#define BOUNCES 6 // of two bodies together

double foliot__inradius(const foliot_world *world, uint32_t i)
{
    switch (foliot__shape_kind(world)[i]) {
    case FOLIOT_SHAPE_PLANE:
        return NOWHERE;
    case FOLIOT_SHAPE_BOX:
        return foliot__smaller(foliot__smaller(foliot__half_x(world)[i], foliot__half_y(world)[i]),
                               foliot__half_z(world)[i]);
    default:
        return foliot__radius(world)[i];
    }
}

double foliot__turning_radius(const foliot_world *world, uint32_t i)
{
    const double half[3] = {foliot__half_x(world)[i], foliot__half_y(world)[i],
                            foliot__half_z(world)[i]};
    uint32_t kind = foliot__shape_kind(world)[i];
    if (kind == FOLIOT_SHAPE_BOX)
        return foliot__vec3_length(half);
    return kind == FOLIOT_SHAPE_CAPSULE ? half[2] : 0;
}

void foliot__path_at(const foliot__collider *c, uint32_t i, double time, double x[3], double w[3])
{
    foliot__v3 end = foliot__position(c->world), path = c->paths.end_velocity,
               a = c->paths.acceleration;
    double s = c->step->dt - time, half = s * s / 2;
    x[0] = end.x[i] - path.x[i] * s + a.x[i] * half;
    x[1] = end.y[i] - path.y[i] * s + a.y[i] * half;
    x[2] = end.z[i] - path.z[i] * s + a.z[i] * half;
    w[0] = path.x[i] - a.x[i] * s;
    w[1] = path.y[i] - a.y[i] * s;
    w[2] = path.z[i] - a.z[i] * s;
}

// -- orientations along the path

void foliot__turn_on(double q[4], const double w[3], double duration)
{
    double speed = foliot__vec3_length(w), half = speed * duration / 2;
    if (!(speed > 0))
        return;
    double c = foliot_cos(half), scale = foliot_sin(half) / speed;
    const double s[3] = {w[0] * scale, w[1] * scale, w[2] * scale};
    double a = q[0], x = q[1], y = q[2], z = q[3];
    q[0] = c * a - ((s[0] * x + s[1] * y) + s[2] * z);
    q[1] = c * x + (a * s[0] + (s[1] * z - s[2] * y));
    q[2] = c * y + (a * s[1] + (s[2] * x - s[0] * z));
    q[3] = c * z + (a * s[2] + (s[0] * y - s[1] * x));
    foliot__quat_normalise(q, q);
}

// The orientations where the path begins and ends, with like signs. Returns their product: the
// cosine of half the angle between them.
static double ends_of(const foliot__collider *c, foliot__sweep *r)
{
    double product = 0;
    foliot__orientation_of(c->world, r->body, r->to);
    for (int k = 0; k < 4; k++) {
        r->from[k] = c->paths.start_orientation[k][r->body];
        product += r->from[k] * r->to[k];
    }
    if (product >= 0)
        return foliot__smaller(product, 1);
    for (int k = 0; k < 4; k++)
        r->from[k] = -r->from[k];
    return foliot__smaller(-product, 1);
}

// Sets how the body turns. Returns its highest angular speed: for a blend, 4 tan(angle / 4) over
// the duration, in its middle.
static double set_turning(const foliot__collider *c, foliot__sweep *r)
{
    uint32_t i = r->body;
    double cosine = ends_of(c, r), dt = c->step->dt;
    foliot__v3 spin = foliot__angular_velocity(c->world);
    r->spin[0] = spin.x[i];
    r->spin[1] = spin.y[i];
    r->spin[2] = spin.z[i];
    double speed = foliot__vec3_length(r->spin);
    r->turning = FOLIOT__TURNING_NONE;
    if (!(dt > c->paths.since[i]) || memcmp(r->from, r->to, sizeof r->from) == 0)
        return 0;
    r->turning = c->paths.struck[i]              ? FOLIOT__TURNING_FREE
                 : speed * dt > FOLIOT__FAR_TURN ? FOLIOT__TURNING_FAST
                                                 : FOLIOT__TURNING_BLENDED;
    if (r->turning != FOLIOT__TURNING_BLENDED)
        return speed;
    double tangent2 = (1 - cosine) / (1 + cosine);
    return 4 * foliot__sqrt(foliot__larger(tangent2, 0)) / (dt - c->paths.since[i]);
}

static void orientation_at(const foliot__collider *c, const foliot__sweep *r, double time,
                           double q[4])
{
    memcpy(q, r->turning == FOLIOT__TURNING_FREE ? r->from : r->to, sizeof r->to);
    double since = c->paths.since[r->body];
    if (r->turning == FOLIOT__TURNING_FREE)
        foliot__turn_on(q, r->spin, time - since);
    if (r->turning == FOLIOT__TURNING_FAST)
        foliot__turn_on(q, r->spin, time - c->step->dt);
    if (r->turning != FOLIOT__TURNING_BLENDED)
        return;
    double share = (time - since) / (c->step->dt - since);
    for (int k = 0; k < 4; k++)
        q[k] = (1 - share) * r->from[k] + share * r->to[k];
    foliot__quat_normalise(q, q);
}

void foliot__orientation_at(const foliot__collider *c, uint32_t i, double time, double q[4])
{
    orientation_at(c, foliot__sweep_of(c, i), time, q);
}

// The spin of a body with unequal moments precesses. Expressed in the body's own axes and taken to
// another pose, it keeps the kinetic energy that the scheme left it with. Kept constant in space it
// would not: a thin rod that bounces between its ends would gain some energy each time, without
// end.
static void set_own_spin(const foliot__collider *c, foliot__sweep *r)
{
    foliot__v3 moment = foliot__inertia(c->world);
    uint32_t i = r->body;
    // A kinematic body's spin is constant in space.
    bool even = (moment.x[i] == moment.y[i] && moment.y[i] == moment.z[i]) ||
                foliot__is_kinematic(c->world, i);
    r->precesses = !even && r->turning == FOLIOT__TURNING_BLENDED;
    if (!r->precesses)
        return;
    double axis[3][3];
    foliot__quat_axes(r->to, axis);
    for (int k = 0; k < 3; k++)
        r->own[k] = foliot__vec3_dot(axis[k], r->spin);
}

void foliot__spin_along(const foliot__sweep *r, const double axis[3][3], double w[3])
{
    for (int k = 0; k < 3; k++)
        w[k] = r->precesses
                   ? (r->own[0] * axis[0][k] + r->own[1] * axis[1][k]) + r->own[2] * axis[2][k]
                   : r->spin[k];
}

void foliot__spin_at(const foliot__sweep *r, const double q[4], double w[3])
{
    double axis[3][3];
    foliot__quat_axes(q, axis);
    foliot__spin_along(r, (const double(*)[3])axis, w);
}

// -- sweeps

void foliot__sweep_move(const foliot__collider *c, foliot__sweep *r, double time)
{
    foliot__path_at(c, r->body, time, r->solid.x, r->v);
    uint32_t kind = r->solid.kind;
    if (kind == FOLIOT_SHAPE_BOX || kind == FOLIOT_SHAPE_CAPSULE) {
        orientation_at(c, r, time, r->q);
        foliot__quat_axes(r->q, r->solid.axis);
    }
}

static void begin_sweep(const foliot__collider *c, uint32_t i, foliot__sweep *r)
{
    static const double upright[4] = {1, 0, 0, 0};
    r->body = i;
    foliot__solid_shape(c->world, i, &r->solid);
    memset(r->q, 0, sizeof r->q);
    foliot__quat_axes(upright, r->solid.axis);
    r->inradius = foliot__inradius(c->world, i);
    double swing = foliot__turning_radius(c->world, i), fastest = set_turning(c, r);
    r->surface_speed = swing > 0 ? swing * fastest : 0;
    set_own_spin(c, r);
    foliot__sweep_move(c, r, c->paths.since[i]);
}

const foliot__sweep *foliot__sweep_of(const foliot__collider *c, uint32_t i)
{
    if (!c->paths.sweep_valid[i]) {
        begin_sweep(c, i, &c->paths.sweeps[i]);
        c->paths.sweep_valid[i] = true;
    }
    return &c->paths.sweeps[i];
}

// -- what counts as an impact

// A body that bounces needs no displacement.
double foliot__impact_displacement_min(const foliot__collider *c, uint32_t a, uint32_t b)
{
    const double *e = foliot__restitution(c->world);
    if (foliot__larger(e[a], e[b]) > 0)
        return 0;
    return foliot__smaller(foliot__inradius(c->world, a), foliot__inradius(c->world, b)) / 2;
}

double foliot__calm_threshold(const foliot_world *world, double threshold)
{
    return threshold * (CALM_TICKS * world->scene.substeps);
}

// For pairs that pushed each other in the last substep, and for bodies that have bounced often in
// this one, the threshold is the speed that several ticks of acceleration give. Otherwise bodies in
// a pile would bounce between their neighbours without end.
double foliot__impact_speed_min(const foliot__collider *c, uint32_t a, uint32_t b)
{
    double threshold =
        foliot__larger(c->paths.restitution_threshold[a], c->paths.restitution_threshold[b]);
    bool calms = c->paths.revision[a] + c->paths.revision[b] >= BOUNCES ||
                 foliot__contact_was_active(c->world, a, b);
    return calms ? foliot__calm_threshold(c->world, threshold) : threshold;
}
