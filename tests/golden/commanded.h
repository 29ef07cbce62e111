// SPDX-License-Identifier: MIT
// commanded.h: a separate scene for the golden digests: kinematic bodies, damping, gravity
// scales, filters, and commands of every kind that computes, in ticks that depend on the tick
// alone.
#ifndef FOLIOT_TESTS_COMMANDED_H
#define FOLIOT_TESTS_COMMANDED_H

#include "foliot/foliot.h"

#define COMMANDED_BODIES 6 // the last one is the prototype
#define COMMANDED_MAX 8    // commands of a tick

#define HAS FOLIOT_COMMAND_HAS

static foliot_body_definition box(const char *name, double x, double z, double half)
{
    foliot_body_definition b = foliot_body_definition_default();
    b.name = name;
    b.position[0] = x;
    b.position[2] = z;
    b.shape.kind = FOLIOT_SHAPE_BOX;
    b.shape.half[0] = b.shape.half[1] = b.shape.half[2] = half;
    b.orientation[1] = 0.03;
    return b;
}

// `bodies` are the scene's and outlive it.
static void commanded_make(foliot_scene *scene, foliot_body_definition bodies[COMMANDED_BODIES])
{
    bodies[0] = foliot_body_definition_default();
    bodies[0].name = "floor";
    bodies[0].is_static = true;
    bodies[0].shape.kind = FOLIOT_SHAPE_PLANE;
    bodies[1] = box("turntable", 0.1, 0.3, 0.3);
    bodies[1].is_kinematic = true;
    bodies[1].velocity[0] = 0.13;
    bodies[1].angular_velocity[2] = 0.7;
    bodies[2] = box("rider", 0.17, 0.87, 0.21);
    bodies[3] = box("paddle", 2.3, 0.41, 0.37);
    bodies[3].is_kinematic = true;
    bodies[4] = box("damped", 4.1, 0.9, 0.29);
    bodies[4].linear_damping = 0.37;
    bodies[4].angular_damping = 0.71;
    bodies[4].gravity_scale = 0.83;
    bodies[4].angular_velocity[1] = 1.3;
    bodies[5] = box("crate", 0, 0, 0.23); // the prototype
    bodies[5].mass = 1.7;
    *scene = foliot_scene_default();
    scene->name = "commanded";
    scene->dt = 1.0 / 60;
    scene->gravity[2] = -9.81;
    scene->bodies = bodies;
    scene->body_count = COMMANDED_BODIES - 1;
    scene->prototypes = &bodies[COMMANDED_BODIES - 1];
    scene->prototype_count = 1;
    scene->bodies_max = 24;
    scene->commands_max = 8;
    scene->joints_max = 4;
}

static foliot_command spawn(uint64_t tick)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    const float step = (float)tick;
    c.fields = HAS(spawn, prototype) | HAS(spawn, position) | HAS(spawn, orientation) |
               HAS(spawn, velocity) | HAS(spawn, angular_velocity) | HAS(spawn, mass_scale);
    c.as.spawn.position[0] = 0.61f * step;
    c.as.spawn.position[1] = 1.3f;
    c.as.spawn.position[2] = 0.57f;
    c.as.spawn.orientation[0] = 1;
    c.as.spawn.orientation[2] = 0.21f;
    c.as.spawn.orientation[3] = -0.33f;
    c.as.spawn.velocity[0] = -0.7f;
    c.as.spawn.angular_velocity[1] = 2.1f;
    c.as.spawn.mass_scale = 1.37f;
    return c;
}

static foliot_command impulse(foliot_body_id body)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    c.fields =
        HAS(impulse, body) | HAS(impulse, linear) | HAS(impulse, angular) | HAS(impulse, point);
    c.as.impulse.body = body;
    c.as.impulse.linear[0] = 0.37f;
    c.as.impulse.linear[1] = -0.41f;
    c.as.impulse.linear[2] = 0.53f;
    c.as.impulse.angular[2] = 0.011f;
    c.as.impulse.point[0] = 0.3f;
    c.as.impulse.point[1] = 0.2f;
    c.as.impulse.point[2] = 0.7f;
    return c;
}

static foliot_command joint(foliot_constraint_kind kind, foliot_body_id a, foliot_body_id b)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields =
        HAS(joint, kind) | HAS(joint, a) | HAS(joint, b) | HAS(joint, anchor_a) | HAS(joint, axis);
    c.as.joint.kind = kind;
    c.as.joint.a = a;
    c.as.joint.b = b;
    c.as.joint.anchor_a[0] = 0.31f;
    c.as.joint.anchor_a[1] = 0.17f;
    c.as.joint.anchor_a[2] = 0.13f;
    c.as.joint.axis[0] = 0.3f;
    c.as.joint.axis[1] = 0.9f;
    c.as.joint.axis[2] = 0.2f;
    return c;
}

static foliot_command target(foliot_body_id body, uint64_t tick)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_target);
    c.fields = HAS(target, body) | HAS(target, position) | HAS(target, orientation);
    c.as.target.body = body;
    c.as.target.position[0] = 2.3f + 0.017f * (float)tick;
    c.as.target.position[1] = 0.013f * (float)tick;
    c.as.target.position[2] = 0.41f;
    c.as.target.orientation[0] = 1;
    c.as.target.orientation[1] = 0.011f * (float)tick;
    c.as.target.orientation[3] = 0.019f * (float)tick;
    return c;
}

// The commands of the world's next tick; how many.
static uint32_t commanded_commands(const foliot_world *world,
                                   foliot_command commands[COMMANDED_MAX])
{
    uint64_t tick = foliot_world_get_tick(world);
    uint32_t count = 0;
    foliot_body_id rider = foliot_world_get_body_id(world, 2);
    foliot_body_id damped = foliot_world_get_body_id(world, 4);
    commands[count++] = target(foliot_world_get_body_id(world, 3), tick);
    if (tick % 3 == 0)
        commands[count++] = spawn(tick);
    if (tick % 4 == 1)
        commands[count++] = impulse(tick % 8 == 1 ? rider : damped);
    if (tick == 2)
        commands[count++] =
            joint(FOLIOT_CONSTRAINT_HINGE, damped, foliot_world_get_body_id(world, 5));
    if (tick == 5)
        commands[count++] = joint(FOLIOT_CONSTRAINT_DISTANCE, rider, damped);
    for (uint32_t i = 0; i < count; i++)
        commands[i].sequence = (uint32_t)tick * COMMANDED_MAX + i + 1;
    return count;
}

#endif
