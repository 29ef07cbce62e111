// SPDX-License-Identifier: MIT
// joint_fallback.c: solves a substep in which a body rotates too far for SHAKE, such as the end of
// a whip or a chain that becomes taut. The rows of the substep's start then do not lead to
// positions where the joints hold. Velocities are first projected onto the joints at the start and
// limited to what a substep can follow. Bodies move by these velocities, and then along their
// present rows (Gauss-Newton). Each step removes energy and none adds any. If that does not
// converge, the island moves as one rigid body for this substep, which keeps every joint as it is.
#include "sim/joint/joint_internal.h"

#include <string.h>

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

static void apply_step(foliot__joints *j, const foliot__island *island, double h)
{
    double turn2 = 0;
    for (uint32_t i = 0; i < island->bodies; i++) {
        double one = turn2_of(j->bodies[island->body + i].change);
        turn2 = one > turn2 ? one : turn2;
    }
    double turn = foliot__sqrt(turn2) * h, share = turn > STEP_MAX ? STEP_MAX / turn : 1;
    for (uint32_t i = 0; i < island->bodies; i++)
        for (int k = 0; k < 6; k++)
            j->bodies[island->body + i].moved[k] += share * j->bodies[island->body + i].change[k];
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
        bool turns =
            joint->kind == FOLIOT_CONSTRAINT_BALL || joint->kind == FOLIOT_CONSTRAINT_HINGE;
        bool both = joint->a != FOLIOT__NONE && joint->b != FOLIOT__NONE;
        joint->friction.moment = stiff && turns && both ? STIFFNESS * mass * reach * reach : 0;
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
        apply_step(j, island, h);
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
