// SPDX-License-Identifier: MIT
// target.c: kinematic bodies on their way to a pose. The state is the flag FOLIOT_BODY_TARGETED and
// the velocity; the table `target` is read only in the tick that writes it.
#include "sim/world/stage.h"

#include <string.h>

#include "foliot/digest.h"
#include "sim/math/vec3.h"
#include "sim/state/body.h"
#include "sim/state/state.h"

static double *target_of(const foliot_world *world, uint32_t slot)
{
    return foliot__target(world) + (size_t)FOLIOT__TARGET_DOUBLES * slot;
}

static void read_pose(const foliot_world *world, uint32_t slot, double pose[FOLIOT__TARGET_DOUBLES])
{
    foliot_body_state body = foliot_world_get_body_state(world, slot);
    memcpy(pose, body.position, sizeof body.position);
    memcpy(pose + 3, body.orientation, sizeof body.orientation);
}

// The constant angular velocity that turns `from` into `to` in dt, the shorter way.
static vec3 turn_between(quat from, quat to, double dt)
{
    quat turn = quat_multiply(to, quat_conjugate(from));
    double sine = vec3_length(quat_vector(turn));
    double angle = 2 * foliot_atan2(sine, turn.w < 0 ? -turn.w : turn.w);
    double scale = sine > 0 ? (turn.w < 0 ? -angle : angle) / (sine * dt) : 0;
    return vec3_scale(quat_vector(turn), scale);
}

static void velocity_towards(const foliot_world *world, uint32_t slot, const double *target,
                             double velocity[3], double angular_velocity[3])
{
    double pose[FOLIOT__TARGET_DOUBLES];
    read_pose(world, slot, pose);
    vec3 turn = {0, 0, 0};
    if (world->scene.rotates)
        turn = turn_between(quat_of(pose + 3), quat_of(target + 3), world->scene.dt);
    vec3_store(vec3_divide(vec3_sub(vec3_of(target), vec3_of(pose)), world->scene.dt), velocity);
    vec3_store(turn, angular_velocity);
}

bool foliot__target_set(foliot_world *world, uint32_t slot, const double position[3],
                        const double orientation[4])
{
    uint32_t *flags = &foliot__flags(world)[slot];
    if (world->capacity.targets == 0 || !(*flags & FOLIOT_BODY_ALIVE) ||
        !(*flags & FOLIOT_BODY_KINEMATIC) || (*flags & FOLIOT_BODY_FROZEN))
        return false;
    double target[FOLIOT__TARGET_DOUBLES], v[3], w[3];
    if (*flags & FOLIOT__TARGET_NEW)
        memcpy(target, target_of(world, slot), sizeof target);
    else
        read_pose(world, slot, target);
    if (position)
        memcpy(target, position, 3 * sizeof *position);
    if (orientation && world->scene.rotates)
        foliot__quat_normalise(orientation, target + 3);
    velocity_towards(world, slot, target, v, w);
    if (!foliot__are_coordinates(target, 3) || !foliot__are_coordinates(v, 3) ||
        !foliot__are_coordinates(w, 3))
        return false;
    memcpy(target_of(world, slot), target, sizeof target);
    *flags |= FOLIOT_BODY_TARGETED | FOLIOT__TARGET_NEW;
    return true;
}

void foliot__target_drop(foliot_world *world, uint32_t slot)
{
    foliot__flags(world)[slot] &= ~((uint32_t)FOLIOT_BODY_TARGETED | FOLIOT__TARGET_NEW);
}

void foliot__targets_begin(foliot_world *world)
{
    if (world->capacity.targets == 0)
        return;
    uint32_t *flags = foliot__flags(world);
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!(flags[i] & FOLIOT_BODY_TARGETED))
            continue;
        double v[3] = {0, 0, 0}, w[3] = {0, 0, 0};
        if (flags[i] & FOLIOT__TARGET_NEW)
            velocity_towards(world, i, target_of(world, i), v, w);
        else
            flags[i] &= ~(uint32_t)FOLIOT_BODY_TARGETED;
        flags[i] &= ~FOLIOT__TARGET_NEW;
        foliot__put_vector(foliot__velocity(world), i, v);
        foliot__put_vector(foliot__angular_velocity(world), i, w);
    }
}

void foliot__targets_end(foliot_world *world)
{
    if (world->capacity.targets == 0)
        return;
    double *const q[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                          foliot__orientation_y(world), foliot__orientation_z(world)};
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!(foliot__flags(world)[i] & FOLIOT_BODY_TARGETED))
            continue;
        const double *target = target_of(world, i);
        foliot__put_vector(foliot__position(world), i, target);
        for (int k = 0; k < 4 && world->scene.rotates; k++)
            q[k][i] = target[3 + k];
        world->acceleration_valid = 0;
    }
}
