// SPDX-License-Identifier: MIT
// sweep.c: where a body is on its path through the substep, and how it turns. The data that every
// pair needs (the pose where the path begins, the speed of turning) is computed once a path, on
// first use.
#include "sim/collide/sweep.h"

#include "foliot/digest.h"

#include <string.h>

#define NOWHERE 0x1p100 // farther than anything

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
    const vec3 half = {foliot__half_x(world)[i], foliot__half_y(world)[i],
                       foliot__half_z(world)[i]};
    uint32_t kind = foliot__shape_kind(world)[i];
    if (kind == FOLIOT_SHAPE_BOX)
        return vec3_length(half);
    return kind == FOLIOT_SHAPE_CAPSULE ? half.z : 0;
}

foliot__motion foliot__path_at(const foliot__collider *c, uint32_t i, double time)
{
    vec3 end = foliot__v3_get(foliot__position(c->world), i);
    vec3 v = foliot__v3_get(c->paths.end_velocity, i), a = foliot__v3_get(c->paths.acceleration, i);
    double s = c->step->dt - time, half = s * s / 2;
    return (foliot__motion){
        .x = vec3_add(vec3_sub(end, vec3_scale(v, s)), vec3_scale(a, half)),
        .v = vec3_sub(v, vec3_scale(a, s)),
    };
}

// -- orientations along the path

quat foliot__turn_on(quat q, vec3 w, double duration)
{
    double speed = vec3_length(w), half = speed * duration / 2;
    if (!(speed > 0))
        return q;
    double c = foliot_cos(half);
    vec3 s = vec3_scale(w, foliot_sin(half) / speed), u = quat_vector(q);
    vec3 v = vec3_add(vec3_scale(u, c), vec3_add(vec3_scale(s, q.w), vec3_cross(s, u)));
    return quat_normalise((quat){c * q.w - vec3_dot(s, u), v.x, v.y, v.z});
}

quat foliot__orientation_at(const foliot__collider *c, const foliot__sweep *r, double time)
{
    double since = c->paths.since[r->body];
    if (r->turning == FOLIOT__TURNING_FREE)
        return foliot__turn_on(r->from, r->spin, time - since);
    if (r->turning == FOLIOT__TURNING_FAST)
        return foliot__turn_on(r->to, r->spin, time - c->step->dt);
    if (r->turning == FOLIOT__TURNING_NONE)
        return r->to;
    double share = (time - since) / (c->step->dt - since), rest = 1 - share;
    quat p = r->from, q = r->to;
    return quat_normalise((quat){rest * p.w + share * q.w, rest * p.x + share * q.x,
                                 rest * p.y + share * q.y, rest * p.z + share * q.z});
}

vec3 foliot__spin_along(const foliot__sweep *r, const mat3 *axis)
{
    return r->precesses ? mat3_apply_transposed(*axis, r->own) : r->spin;
}

bool foliot__clamp_spin(const foliot_world *world, uint32_t slot, double most)
{
    foliot__v3 moment = foliot__inertia(world), w = foliot__angular_velocity(world);
    if ((moment.x[slot] == moment.y[slot] && moment.y[slot] == moment.z[slot]) ||
        foliot__is_kinematic(world, slot))
        return false;
    double spin2 = (w.x[slot] * w.x[slot] + w.y[slot] * w.y[slot]) + w.z[slot] * w.z[slot];
    double scale = most / foliot__sqrt(spin2);
    w.x[slot] *= scale;
    w.y[slot] *= scale;
    w.z[slot] *= scale;
    return true;
}

// -- sweeps

void foliot__sweep_move(const foliot__collider *c, foliot__sweep *r, double time)
{
    foliot__motion at = foliot__path_at(c, r->body, time);
    r->solid.x = at.x;
    r->v = at.v;
    uint32_t kind = r->solid.kind;
    if (kind == FOLIOT_SHAPE_BOX || kind == FOLIOT_SHAPE_CAPSULE) {
        r->q = foliot__orientation_at(c, r, time);
        r->solid.axis = quat_axes(r->q);
    }
}

// Sets how the body turns. Returns its highest angular speed: for a blend, 4 tan(angle / 4) over
// the duration, in its middle.
static double set_turning(const foliot__collider *c, foliot__sweep *r)
{
    uint32_t i = r->body;
    double *const *start = c->paths.start_orientation;
    quat p = {start[0][i], start[1][i], start[2][i], start[3][i]};
    quat q = foliot__quat_get(c->world, i);
    double dt = c->step->dt, cosine = ((p.w * q.w + p.x * q.x) + p.y * q.y) + p.z * q.z;
    if (!(cosine >= 0)) { // the other sign is the same orientation
        p = (quat){-p.w, -p.x, -p.y, -p.z};
        cosine = -cosine;
    }
    r->from = p;
    r->to = q;
    r->spin = foliot__v3_get(foliot__angular_velocity(c->world), i);
    double speed = vec3_length(r->spin);
    r->turning = FOLIOT__TURNING_NONE;
    if (!(dt > c->paths.since[i]) || memcmp(&r->from, &r->to, sizeof r->from) == 0)
        return 0;
    r->turning = c->paths.struck[i]              ? FOLIOT__TURNING_FREE
                 : speed * dt > FOLIOT__FAR_TURN ? FOLIOT__TURNING_FAST
                                                 : FOLIOT__TURNING_BLENDED;
    if (r->turning != FOLIOT__TURNING_BLENDED)
        return speed;
    cosine = foliot__smaller(cosine, 1);
    double tangent2 = (1 - cosine) / (1 + cosine);
    return 4 * foliot__sqrt(foliot__larger(tangent2, 0)) / (dt - c->paths.since[i]);
}

const foliot__sweep *foliot__sweep_of(const foliot__collider *c, uint32_t i)
{
    static const quat upright = {1, 0, 0, 0};
    foliot__sweep *r = &c->paths.sweeps[i];
    if (c->paths.sweep_valid[i])
        return r;
    c->paths.sweep_valid[i] = true;
    r->body = i;
    foliot__solid_shape(c->world, i, &r->solid);
    r->q = (quat){0, 0, 0, 0};
    r->solid.axis = quat_axes(upright);
    r->inradius = foliot__inradius(c->world, i);
    double swing = foliot__turning_radius(c->world, i), fastest = set_turning(c, r);
    r->surface_speed = swing > 0 ? swing * fastest : 0;
    // The spin of a body with unequal moments precesses. Expressed in the body's own axes and taken
    // to another pose, it keeps the kinetic energy that the scheme left it with. Kept constant in
    // space it would not: a thin rod that bounces between its ends would gain some energy each
    // time, without end. A kinematic body's spin is constant in space.
    vec3 moment = foliot__v3_get(foliot__inertia(c->world), i);
    bool even = (moment.x == moment.y && moment.y == moment.z) || foliot__is_kinematic(c->world, i);
    r->precesses = !even && r->turning == FOLIOT__TURNING_BLENDED;
    if (r->precesses)
        r->own = mat3_apply(quat_axes(r->to), r->spin);
    foliot__sweep_move(c, r, c->paths.since[i]);
    return r;
}
