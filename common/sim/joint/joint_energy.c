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

#include "sim/math/vec3.h"

#include <string.h>

#define ROUND 1e-9     // a moment of inertia below this share of the greatest is none
#define FASTER_MAX 1.5 // of the motion within an island: what takes more is an impact

double foliot__joint_body_energy(const foliot__island *island, const foliot__joint_body *body,
                                 const double velocity[6], double share)
{
    double v[6], spin[3];
    for (int k = 0; k < 6; k++)
        v[k] = k < 3 ? velocity[k] - island->carried[k] : velocity[k];
    foliot__mat3_apply((const double(*)[3])body->inertia, v + 3, spin);
    return (body->mass * foliot__vec3_dot(v, v) + foliot__vec3_dot(v + 3, spin)) +
           (2 * share - 1) * foliot__dot6(body->given, v);
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
        for (int k = 0; k < 3; k++)
            v[k] -= island->carried[k];
        for (uint32_t r = 0; r < joint->rows + joint->bounded; r++)
            *work2 -=
                2 * joint->impulse_sum[r] * foliot__dot6(i % 2 ? joint->jb[r] : joint->ja[r], v);
    }
    return true;
}

// The centre of mass, its velocity, and the rotation that has the angular momentum of the island.
// False if the island has no moment about some axis.
static bool find_own_motion(const foliot__joints *j, const foliot_world *world,
                            const foliot__island *island, double at[3], double v[3], double w[3])
{
    double mass = 0, inertia[3][3] = {{0}}, arm[3], turned[3];
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose pose = foliot__pose_of(world, body->slot);
        mass += body->mass;
        for (int k = 0; k < 3; k++) {
            at[k] += body->mass * pose.x[k];
            v[k] += body->mass * body->smooth[k];
        }
    }
    for (int k = 0; k < 3; k++) {
        at[k] /= mass;
        v[k] /= mass;
    }
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose pose = foliot__pose_of(world, body->slot);
        for (int k = 0; k < 3; k++)
            arm[k] = pose.x[k] - at[k];
        double arm2 = foliot__vec3_dot(arm, arm);
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                inertia[r][k] +=
                    body->inertia[r][k] + body->mass * ((r == k ? arm2 : 0) - arm[r] * arm[k]);
        foliot__mat3_apply((const double(*)[3])body->inertia, body->smooth + 3, turned);
        foliot__vec3_cross(arm, body->smooth, arm);
        for (int k = 0; k < 3; k++)
            w[k] += turned[k] + body->mass * arm[k];
    }
    foliot__mat3_solve_symmetric((const double(*)[3])inertia, w);
    double trace = (inertia[0][0] + inertia[1][1]) + inertia[2][2];
    foliot__mat3_apply((const double(*)[3])inertia, w, turned);
    return ROUND * trace * foliot__vec3_dot(w, w) <= foliot__vec3_dot(w, turned);
}

bool foliot__island_move_as_one(foliot__joints *j, const foliot_world *world,
                                const foliot__island *island)
{
    double at[3] = {0}, v[3] = {0}, w[3] = {0}, arm[3];
    if (island->hangs ? !island->follows : !find_own_motion(j, world, island, at, v, w))
        return false;
    if (island->hangs)
        memcpy(v, island->carried, sizeof v);
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose pose = foliot__pose_of(world, body->slot);
        for (int k = 0; k < 3; k++)
            arm[k] = pose.x[k] - at[k];
        foliot__vec3_cross(w, arm, body->taken);
        for (int k = 0; k < 3; k++) {
            body->taken[k] += v[k];
            body->taken[3 + k] = w[k];
        }
    }
    return true;
}

// The energy of taken + t (smooth - taken) is a parabola in t.
void foliot__island_blend(foliot__joints *j, const foliot__island *island, double share,
                          double goal2)
{
    double a = 0, b = 0, c = -goal2, change[6], taken[6], spin[3];
    for (uint32_t i = 0; i < island->bodies; i++) {
        const foliot__joint_body *body = &j->bodies[island->body + i];
        for (int k = 0; k < 6; k++) {
            change[k] = body->smooth[k] - body->taken[k];
            taken[k] = body->taken[k] - (k < 3 ? island->carried[k] : 0);
        }
        foliot__mat3_apply((const double(*)[3])body->inertia, change + 3, spin);
        a += body->mass * foliot__vec3_dot(change, change) + foliot__vec3_dot(change + 3, spin);
        b += (body->mass * foliot__vec3_dot(taken, change) + foliot__vec3_dot(taken + 3, spin)) +
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
