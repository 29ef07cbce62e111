// SPDX-License-Identifier: MIT
// joint_energy.c: the energy that an island must have after a substep in which only joints and the
// scheme act, and velocities that have it. The scheme alone changes the kinetic energy by the work
// of its forces. Joints that move bodies add the work of the same forces along that way, and no
// other.
//
// A scheme that gives the share c of a lasting force to positions has velocities of a time that is
// (c - 1/2) h before that of its positions: semi-implicit Euler those of half a substep before. The
// energy at the time of the positions has (c - 1/2) v . f h more, and that energy does not
// oscillate as a body swings (Hairer, Lubich and Wanner, "Geometric Numerical Integration", IX).
//
// An island that hangs on a moving body is seen in the frame of that body, where the joint does no
// work.
#include "sim/joint/joint_internal.h"

#include <string.h>

#define ROUND 1e-9     // a moment of inertia below this share of the greatest counts as 0
#define FASTER_MAX 1.5 // of the motion within an island: a larger factor is an impact

double foliot__joint_body_energy(const foliot__island *island, const foliot__joint_body *body,
                                 const double velocity[6], double share)
{
    vec3 v = vec3_sub(vec3_of(velocity), vec3_of(island->carried)), w = vec3_of(velocity + 3);
    double work = vec3_dot(vec3_of(body->given), v) + vec3_dot(vec3_of(body->given + 3), w);
    return (body->mass * vec3_dot(v, v) + vec3_dot(w, mat3_apply(body->inertia, w))) +
           (2 * share - 1) * work;
}

void foliot__island_find_frame(const foliot__joints *j, const foliot_world *world,
                               foliot__island *island)
{
    static const double still[6];
    double room[6];
    island->hangs = false;
    island->follows = true;
    memset(island->carried, 0, sizeof island->carried);
    for (uint32_t i = 0; i < 2 * island->joints; i++) {
        const foliot__joint *joint = &j->joints[island->joint + i / 2];
        if ((i % 2 ? joint->b : joint->a) != FOLIOT__NONE)
            continue;
        const double *v =
            foliot__joint_outside_velocity(world, i % 2 ? joint->slot_b : joint->slot_a, room);
        v = v ? v : still;
        for (int k = 0; k < 6; k++) {
            island->follows &= v[k] == (k >= 3 ? 0 : island->hangs ? island->carried[k] : v[k]);
            if (k < 3 && !island->hangs)
                island->carried[k] = v[k];
        }
        island->hangs = true;
    }
}

bool foliot__island_outside_work(const foliot__joints *j, const foliot_world *world,
                                 const foliot__island *island, double *work2)
{
    *work2 = 0;
    if (island->follows || island->rough)
        return island->follows;
    for (uint32_t i = 0; i < 2 * island->joints; i++) {
        const foliot__joint *joint = &j->joints[island->joint + i / 2];
        double v[6] = {0};
        if ((i % 2 ? joint->b : joint->a) != FOLIOT__NONE)
            continue;
        foliot__joint_outside_velocity(world, i % 2 ? joint->slot_b : joint->slot_a, v);
        vec3_store(vec3_sub(vec3_of(v), vec3_of(island->carried)), v);
        for (uint32_t r = 0; r < joint->rows + joint->bound.present; r++)
            *work2 -=
                2 * joint->impulse_sum[r] * foliot__dot6(i % 2 ? joint->jb[r] : joint->ja[r], v);
    }
    return true;
}

// The motion of a rigid body.
typedef struct own_motion {
    vec3 at, v, w; // centre of mass, its velocity, angular velocity
} own_motion;

// The centre of mass, its velocity, and the rotation that has the angular momentum of the island.
// False if the island has no moment about some axis.
static bool find_own_motion(const foliot__joints *j, const foliot_world *world,
                            const foliot__island *island, own_motion *motion)
{
    double mass = 0;
    vec3 at = {0, 0, 0}, v = at, w = at;
    mat3 inertia = {0};
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        mass += body->mass;
        at = vec3_add(at, vec3_scale(foliot__pose_of(world, body->slot).x, body->mass));
        v = vec3_add(v, vec3_scale(vec3_of(body->smooth), body->mass));
    }
    at = vec3_divide(at, mass);
    v = vec3_divide(v, mass);
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        vec3 arm = vec3_sub(foliot__pose_of(world, body->slot).x, at);
        const double part[3] = {arm.x, arm.y, arm.z}, arm2 = vec3_dot(arm, arm);
        for (int r = 0; r < 3; r++) {
            vec3 along = {r == 0 ? arm2 : 0, r == 1 ? arm2 : 0, r == 2 ? arm2 : 0};
            vec3 moved = vec3_scale(vec3_sub(along, vec3_scale(arm, part[r])), body->mass);
            inertia.row[r] = vec3_add(inertia.row[r], vec3_add(body->inertia.row[r], moved));
        }
        vec3 turned = mat3_apply(body->inertia, vec3_of(body->smooth + 3));
        vec3 about = vec3_cross(arm, vec3_of(body->smooth));
        w = vec3_add(w, vec3_add(turned, vec3_scale(about, body->mass)));
    }
    w = mat3_solve_symmetric(inertia, w);
    *motion = (own_motion){at, v, w};
    double trace = (inertia.row[0].x + inertia.row[1].y) + inertia.row[2].z;
    return ROUND * trace * vec3_dot(w, w) <= vec3_dot(w, mat3_apply(inertia, w));
}

bool foliot__island_move_as_one(foliot__joints *j, const foliot_world *world,
                                const foliot__island *island)
{
    own_motion own = {.v = vec3_of(island->carried)};
    if (island->hangs ? !island->follows : !find_own_motion(j, world, island, &own))
        return false;
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        vec3 arm = vec3_sub(foliot__pose_of(world, body->slot).x, own.at);
        vec3_store(vec3_add(vec3_cross(own.w, arm), own.v), body->taken);
        vec3_store(own.w, body->taken + 3);
    }
    return true;
}

// The energy of taken + t (smooth - taken) is a parabola in t.
void foliot__island_blend(foliot__joints *j, const foliot__island *island, double share,
                          double goal2)
{
    double a = 0, b = 0, c = -goal2, change[6];
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        for (int k = 0; k < 6; k++)
            change[k] = body->smooth[k] - body->taken[k];
        vec3 v = vec3_of(change), w = vec3_of(change + 3), spin = mat3_apply(body->inertia, w);
        vec3 from = vec3_sub(vec3_of(body->taken), vec3_of(island->carried));
        a += body->mass * vec3_dot(v, v) + vec3_dot(w, spin);
        b += (body->mass * vec3_dot(from, v) + vec3_dot(vec3_of(body->taken + 3), spin)) +
             (share - 0.5) * foliot__dot6(body->given, change);
        c += foliot__joint_body_energy(island, body, body->taken, share);
    }
    double root2 = b * b - a * c;
    double t = a > 0 ? ((root2 > 0 ? foliot__sqrt(root2) : 0) - b) / a : 1;
    t = t > FASTER_MAX ? 1 : t > 0 ? t : 0;
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        for (int k = 0; k < 6; k++)
            body->change[k] = body->taken[k] + t * (body->smooth[k] - body->taken[k]);
    }
}
