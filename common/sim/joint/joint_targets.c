// SPDX-License-Identifier: MIT
// joint_targets.c: the speeds that the rows of an island must gain, for positions and for
// velocities.
#include "sim/joint/joint_internal.h"

#include "sim/state/filter.h"

#include <string.h>

static foliot__pose pose_now(const foliot__joints *j, const foliot_world *world, uint32_t slot,
                             uint32_t body, double h)
{
    foliot__pose pose = foliot__pose_of(world, slot);
    if (body == FOLIOT__NONE || !(h > 0))
        return pose;
    foliot__pose_move(&pose, j->bodies[body].moved, h);
    if (j->bodies[body].free)
        pose.q = foliot__joint_body_rotate(world, &j->bodies[body], h);
    return pose;
}

void foliot__island_linearise(foliot__joints *j, const foliot_world *world, foliot__island *island,
                              double h)
{
    for (uint32_t i = 0; i < island->bodies; i++) {
        foliot__joint_body *body = &j->bodies[island->body + i];
        foliot__pose pose = pose_now(j, world, body->slot, island->body + i, h);
        foliot__joint_body_set_mass(world, body, &pose);
    }
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        foliot__pose a = pose_now(j, world, joint->slot_a, joint->a, h);
        foliot__pose b = pose_now(j, world, joint->slot_b, joint->b, h);
        foliot__joint_linearise(joint, &a, &b);
        foliot__joint_measure(joint, &a, &b);
    }
    island->unfactored = true;
}

const double *foliot__joint_outside_velocity(const foliot_world *world, uint32_t slot,
                                             double out[6])
{
    if (world->counts.kinematic == 0 || slot == FOLIOT_NO_BODY ||
        !foliot__is_kinematic(world, slot))
        return NULL;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    const double all[6] = {v.x[slot], v.y[slot], v.z[slot], w.x[slot], w.y[slot], w.z[slot]};
    memcpy(out, all, sizeof all);
    return out;
}

static double speed_of(const foliot__joint *joint, uint32_t row, const double *a, const double *b)
{
    return (a ? foliot__dot6(joint->ja[row], a) : 0) + (b ? foliot__dot6(joint->jb[row], b) : 0);
}

// The rotation speed of b against a along a row: the scheme's, and what was moved since.
static double turning_of(const foliot__joints *j, const foliot_world *world,
                         const foliot__joint *joint, uint32_t row)
{
    foliot__v3 w = foliot__angular_velocity(world);
    double sum = 0;
    for (int side = 0; side < 2; side++) {
        uint32_t body = side ? joint->b : joint->a, slot = side ? joint->slot_b : joint->slot_a;
        const double *direction = (side ? joint->jb[row] : joint->ja[row]) + 3;
        double outside[6];
        const double *carried =
            body == FOLIOT__NONE ? foliot__joint_outside_velocity(world, slot, outside) : NULL;
        if (carried)
            sum += vec3_dot(vec3_of(direction), vec3_of(carried + 3));
        if (body == FOLIOT__NONE)
            continue;
        vec3 spin = vec3_add(foliot__v3_get(w, slot), vec3_of(j->bodies[body].moved + 3));
        sum += vec3_dot(vec3_of(direction), spin);
    }
    return sum;
}

double foliot__island_target_positions(foliot__joints *j, const foliot_world *world,
                                       const foliot__island *island, double h)
{
    const double infinite = __builtin_inf();
    double worst = 0;
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        foliot__pose a = pose_now(j, world, joint->slot_a, joint->a, h);
        foliot__pose b = pose_now(j, world, joint->slot_b, joint->b, h);
        foliot__joint_measure(joint, &a, &b);
        double error = foliot__joint_error_max(joint);
        worst = error > worst ? error : worst;
        for (uint32_t r = 0; r < joint->rows; r++)
            joint->goal[r] = -joint->error[r] / h;
        joint->bound.low = (joint->bound.least - joint->bound.value) / h;
        joint->bound.high = (joint->bound.greatest - joint->bound.value) / h;
        joint->bound.drive =
            joint->bound.strength > 0
                ? joint->bound.speed - (joint->bound.value - joint->bound.value_before) / h
                : infinite;
        for (uint32_t r = joint->rows;
             r < FOLIOT__ROWS && joint->kind != FOLIOT_CONSTRAINT_DISTANCE; r++)
            joint->friction.goal[r] = -turning_of(j, world, joint, r);
    }
    return worst;
}

void foliot__island_target_velocities(foliot__joints *j, const foliot_world *world,
                                      const foliot__island *island, double h)
{
    const double infinite = __builtin_inf();
    for (uint32_t i = 0; i < island->joints; i++) {
        foliot__joint *joint = &j->joints[island->joint + i];
        double outside_a[6], outside_b[6];
        const double *a = joint->a == FOLIOT__NONE
                              ? foliot__joint_outside_velocity(world, joint->slot_a, outside_a)
                              : j->bodies[joint->a].change;
        const double *b = joint->b == FOLIOT__NONE
                              ? foliot__joint_outside_velocity(world, joint->slot_b, outside_b)
                              : j->bodies[joint->b].change;
        for (uint32_t r = 0; r < joint->rows; r++)
            joint->goal[r] = -speed_of(joint, r, a, b);
        if (!joint->bound.present)
            continue;
        double speed = speed_of(joint, joint->rows, a, b);
        double below = (joint->bound.least - joint->bound.value) / h,
               above = (joint->bound.greatest - joint->bound.value) / h;
        joint->bound.low = (below < 0 ? below : 0) - speed;
        joint->bound.high = (above > 0 ? above : 0) - speed;
        joint->bound.drive = joint->bound.strength > 0 ? joint->bound.speed - speed : infinite;
    }
}
