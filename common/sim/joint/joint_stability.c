// SPDX-License-Identifier: MIT
// joint_stability.c: what keeps an island of joined bodies stable where a substep is too long for
// it. Fast swings of light bodies are damped, a substep that turns too far is solved by other
// means, and velocities are found that have the energy which the island must have.
#include "sim/joint/joint_internal.h"

#include <string.h>

// -- damping
//
// Damping of light bodies under large forces. A link of moment I between two
// forces F at arms r swings back with the stiffness K = F . r about the axes across the arm (the
// part along it of the geometric stiffness of Tournier et al., "Stable constrained dynamics",
// SIGGRAPH 2015). With the weight of a thousand links at a chain's end, its swing is faster than
// any substep, and an explicit step blows up where h^2 K > 4 I. Swings that a substep h cannot
// resolve are damped: two such neighbours get a friction in their joint, implicit in their relative
// rotation, that makes the step stable (with semi-implicit Euler and a moment W of friction where 2
// W > h^2 K - 4 I). It acts neither on the whole chain's swing nor on momentum. Slower swings have
// none.

// The arm, read from the rows: the rows of a point in world axes are unit vectors and arm x unit
// vector.
static vec3 arm_of(const double rows[FOLIOT__ROWS][6], double sign)
{
    return (vec3){sign * (rows[1][5] - rows[2][4]) / 2, sign * (rows[2][3] - rows[0][5]) / 2,
                  sign * (rows[0][4] - rows[1][3]) / 2};
}

static void add_stiffness(foliot__joint_body *body, vec3 force, vec3 arm)
{
    static const vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const double part[3] = {arm.x, arm.y, arm.z};
    double along = vec3_dot(force, arm), length2 = vec3_dot(arm, arm);
    if (!(along > 0 && length2 > 0)) // a force that pushes is unstable: there is no swing
        return;
    for (int i = 0; i < 3; i++) {
        vec3 across = vec3_sub(axes[i], vec3_divide(vec3_scale(arm, part[i]), length2));
        body->stiffness.row[i] = vec3_add(body->stiffness.row[i], vec3_scale(across, along));
    }
}

// Whether friction between the joint's bodies acts on rotations within the island alone.
static bool rubs_inside(const foliot__joint *joint)
{
    return joint->a != FOLIOT__NONE && joint->b != FOLIOT__NONE &&
           (joint->kind == FOLIOT_CONSTRAINT_BALL || joint->kind == FOLIOT_CONSTRAINT_HINGE);
}

bool foliot__island_damp(foliot__joints *j, const foliot__island *island, double h, double share)
{
    bool any = false;
    double scale = 1 / (h * (share > 0 ? share : 1));
    for (uint32_t i = 0; i < island->bodies; i++)
        j->bodies[island->body + i].stiffness = (mat3){0};
    for (uint32_t i = 0; i < island->joints; i++)
        if (j->joints[island->joint + i].kind != FOLIOT_CONSTRAINT_DISTANCE) {
            const foliot__joint *joint = &j->joints[island->joint + i];
            vec3 force = vec3_scale(vec3_of(joint->impulse_sum), scale);
            if (joint->b != FOLIOT__NONE)
                add_stiffness(&j->bodies[joint->b], force,
                              arm_of((const double(*)[6])joint->jb, 1));
            if (joint->a != FOLIOT__NONE)
                add_stiffness(&j->bodies[joint->a], vec3_negate(force),
                              arm_of((const double(*)[6])joint->ja, -1));
        }
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        const vec3 *k = body->stiffness.row;
        double trace = (k[0].x + k[1].y) + k[2].z, weighed = 0;
        for (int r = 0; r < 3; r++)
            weighed += vec3_dot(k[r], body->inertia.row[r]);
        // The moment about the axes of the stiffness, and the least that a substep can resolve.
        double moment = trace > 0 ? weighed / trace : 0, least = h * h * trace / 2;
        body->swing = least > moment ? least - moment : 0;
    }
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        joint->friction.moment = 0;
        if (!rubs_inside(joint))
            continue;
        double a = j->bodies[joint->a].swing, b = j->bodies[joint->b].swing;
        joint->friction.moment = (a < b ? a : b) / 2;
        any |= joint->friction.moment > 0;
    }
    return any;
}

// -- substeps that turn too far
//
// The fallback solves a substep in which a body rotates too far for SHAKE, such as the end of
// a whip or a chain that becomes taut. The rows of the substep's start then do not lead to
// positions where the joints hold. Velocities are first projected onto the joints at the start and
// limited to what a substep can follow. Bodies move by these velocities, and then along their
// present rows (Gauss-Newton). Each step removes energy and none adds any. If that does not
// converge, the island moves as one rigid body for this substep, which keeps every joint as it is.

#define TURN_MAX 0.5 // radians in a substep
#define STEP_MAX 0.3 // in a correction
#define CORRECTIONS 12
#define SHARP 1e-9
#define ROUGH 1e-3
#define STIFFNESS 1e3 // friction against the island's own greatest moment

static double turn2_of(const double velocity[6])
{
    return (velocity[3] * velocity[3] + velocity[4] * velocity[4]) + velocity[5] * velocity[5];
}

static void limit_turn(double velocity[6], double h)
{
    double turn = foliot__sqrt(turn2_of(velocity)) * h;
    for (int k = 3; k < 6 && turn > TURN_MAX; k++)
        velocity[k] *= TURN_MAX / turn;
}

// Sets friction in every joint that makes the island one body, or none.
static void set_stiffness(foliot__joints *j, foliot__island *island, bool stiff)
{
    double mass = 0, reach = 0;
    for (uint32_t i = 0; i < island->bodies; i++)
        mass += j->bodies[island->body + i].mass;
    for (uint32_t i = 0; i < island->joints; i++)
        reach += j->joints[island->joint + i].frame.arm_length;
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        joint->friction.moment = stiff && rubs_inside(joint) ? STIFFNESS * mass * reach * reach : 0;
        memset(joint->friction.sum, 0, sizeof joint->friction.sum);
        const double *a = joint->a == FOLIOT__NONE ? NULL : j->bodies[joint->a].taken;
        const double *b = joint->b == FOLIOT__NONE ? NULL : j->bodies[joint->b].taken;
        for (uint32_t r = joint->rows; r < FOLIOT__ROWS && joint->friction.moment > 0; r++)
            joint->friction.goal[r] =
                -(foliot__dot6(joint->ja[r], a) + foliot__dot6(joint->jb[r], b));
    }
    island->unfactored = true;
}

void foliot__island_clear_impulses(foliot__joints *j, const foliot__island *island)
{
    for (uint32_t k = 0; k < island->joints; k++)
        memset(j->joints[island->joint + k].impulse_sum, 0, sizeof j->joints->impulse_sum);
}

static double try_velocities(foliot__joints *j, const foliot_world *world, foliot__island *island,
                             double h, bool stiff)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        memcpy(body->change, body->taken, sizeof body->change);
    }
    foliot__island_target_velocities(j, world, island, h);
    set_stiffness(j, island, stiff);
    foliot__island_solve(j, island, h);
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        for (int k = 0; k < 6; k++)
            body->taken[k] += body->change[k];
        // Sets `moved`, which counts from where the scheme left the body, so that the body moves by
        // `taken`.
        foliot__pose smooth = foliot__pose_of(world, body->slot), end = body->start;
        if (!stiff)
            limit_turn(body->taken, h);
        foliot__pose_move(&end, body->taken, h);
        foliot__pose_velocity(&smooth, &end, h, body->moved);
    }
    set_stiffness(j, island, false);
    foliot__island_clear_impulses(j, island);
    for (int k = 0;; k++) {
        foliot__island_linearise(j, world, island, h);
        double worst = foliot__island_target_positions(j, world, island, h);
        if (worst < SHARP || k == CORRECTIONS)
            return worst;
        foliot__island_solve(j, island, h);
        double turn2 = 0;
        for (uint32_t i = 0; i < island->bodies; i++) {
            double one = turn2_of(j->bodies[island->body + i].change);
            turn2 = one > turn2 ? one : turn2;
        }
        double turn = foliot__sqrt(turn2) * h, share = turn > STEP_MAX ? STEP_MAX / turn : 1;
        for (uint32_t i = 0; i < island->bodies; i++)
            for (int c = 0; c < 6; c++)
                j->bodies[island->body + i].moved[c] +=
                    share * j->bodies[island->body + i].change[c];
    }
}

void foliot__island_solve_fallback(foliot__joints *j, const foliot_world *world,
                                   foliot__island *island, double h)
{
    // The rows are still those of the start.
    for (uint32_t i = 0; i < island->bodies; i++) {
        // `taken` := the motion of the substep so far, contacts included.
        foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose end = foliot__pose_of(world, body->slot);
        foliot__pose_move(&end, body->moved, h);
        foliot__pose_velocity(&body->start, &end, h, body->taken);
        limit_turn(body->taken, h);
    }
    if (try_velocities(j, world, island, h, false) <= ROUGH)
        return;
    // Linearises at the substep's start again.
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose smooth = foliot__pose_of(world, body->slot);
        foliot__pose_velocity(&smooth, &body->start, h, body->moved);
    }
    foliot__island_linearise(j, world, island, h);
    try_velocities(j, world, island, h, true);
}

// -- energy
//
// The energy that an island must have after a substep in which only joints and the
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
        for (uint32_t r = 0; r < joint->rows + joint->limit.present; r++)
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
