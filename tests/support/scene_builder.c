// SPDX-License-Identifier: MIT
#include "scene_builder.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"

scene_builder builder_new(foliot_integrator integrator)
{
    scene_builder y = {.scene = foliot_scene_default()};
    y.scene.name = "yard";
    y.scene.dt = 1.0 / 60;
    y.scene.integrator = integrator;
    return y;
}

void builder_free(scene_builder *y)
{
    free(y->bodies);
    free(y->constraints);
}

static uint32_t add(scene_builder *y)
{
    if (y->scene.body_count == y->body_capacity) {
        y->body_capacity = 2 * y->body_capacity + 16;
        y->bodies = realloc(y->bodies, y->body_capacity * sizeof *y->bodies);
        if (!y->bodies)
            abort();
    }
    y->bodies[y->scene.body_count] = foliot_body_definition_default();
    return y->scene.body_count++;
}

uint32_t builder_add_point(scene_builder *y, double mass, double px, double py, double pz)
{
    uint32_t i = add(y);
    foliot_body_definition *body = &y->bodies[i];
    body->is_static = mass == 0;
    if (mass > 0)
        body->mass = mass;
    body->position[0] = px;
    body->position[1] = py;
    body->position[2] = pz;
    return i;
}

uint32_t builder_add_ball(scene_builder *y, double mass, double radius, double px, double py,
                          double pz)
{
    uint32_t i = builder_add_point(y, mass, px, py, pz);
    y->bodies[i].shape.kind = FOLIOT_SHAPE_SPHERE;
    y->bodies[i].shape.radius = radius;
    return i;
}

uint32_t builder_add_box(scene_builder *y, double mass, double hx, double hy, double hz, double px,
                         double py, double pz)
{
    uint32_t i = builder_add_point(y, mass, px, py, pz);
    y->bodies[i].shape.kind = FOLIOT_SHAPE_BOX;
    y->bodies[i].shape.half[0] = hx;
    y->bodies[i].shape.half[1] = hy;
    y->bodies[i].shape.half[2] = hz;
    return i;
}

uint32_t builder_add_capsule(scene_builder *y, double mass, double radius, double half_length,
                             double px, double py, double pz)
{
    uint32_t i = builder_add_point(y, mass, px, py, pz);
    y->bodies[i].shape.kind = FOLIOT_SHAPE_CAPSULE;
    y->bodies[i].shape.radius = radius;
    y->bodies[i].shape.half[2] = half_length;
    return i;
}

uint32_t builder_add_plane(scene_builder *y, double nx, double ny, double nz, double offset)
{
    uint32_t i = add(y);
    double length = sqrt(nx * nx + ny * ny + nz * nz);
    foliot_body_definition *body = &y->bodies[i];
    body->is_static = true;
    body->shape.kind = FOLIOT_SHAPE_PLANE;
    body->shape.normal[0] = nx / length;
    body->shape.normal[1] = ny / length;
    body->shape.normal[2] = nz / length;
    body->shape.offset = offset;
    return i;
}

uint32_t builder_add_link(scene_builder *y, foliot_constraint_kind kind, uint32_t a, uint32_t b,
                          const double at[3])
{
    if (y->scene.constraint_count == y->constraint_capacity) {
        y->constraint_capacity = 2 * y->constraint_capacity + 16;
        y->constraints = realloc(y->constraints, y->constraint_capacity * sizeof *y->constraints);
        if (!y->constraints)
            abort();
    }
    const double *pa = y->bodies[a].position;
    const double *pb = b == FOLIOT_NO_BODY ? at : y->bodies[b].position;
    foliot_constraint_definition *c = &y->constraints[y->scene.constraint_count];
    *c = foliot_constraint_definition_default(kind);
    c->a = a;
    c->b = b;
    double sum = 0;
    for (int k = 0; k < 3; k++) {
        sum += (pb[k] - pa[k]) * (pb[k] - pa[k]);
        if (b == FOLIOT_NO_BODY)
            c->anchor_b[k] = at[k];
    }
    c->length = sqrt(sum);
    return y->scene.constraint_count++;
}

void builder_set_velocity(scene_builder *y, double vx, double vy, double vz)
{
    double *v = y->bodies[y->scene.body_count - 1].velocity;
    v[0] = vx;
    v[1] = vy;
    v[2] = vz;
}

void builder_set_spin(scene_builder *y, double wx, double wy, double wz)
{
    double *w = y->bodies[y->scene.body_count - 1].angular_velocity;
    w[0] = wx;
    w[1] = wy;
    w[2] = wz;
}

void builder_turn(scene_builder *y, double ax, double ay, double az, double angle)
{
    double *q = y->bodies[y->scene.body_count - 1].orientation;
    const double turn[4] = {cos(angle / 2), ax * sin(angle / 2), ay * sin(angle / 2),
                            az * sin(angle / 2)};
    const double before[4] = {q[0], q[1], q[2], q[3]};
    q[0] = turn[0] * before[0] - turn[1] * before[1] - turn[2] * before[2] - turn[3] * before[3];
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        q[1 + k] = turn[0] * before[1 + k] + before[0] * turn[1 + k] +
                   (turn[1 + i] * before[1 + j] - turn[1 + j] * before[1 + i]);
    }
}

void builder_set_material(scene_builder *y, double friction, double restitution)
{
    for (uint32_t i = 0; i < y->scene.body_count; i++) {
        y->bodies[i].friction = friction;
        y->bodies[i].restitution = restitution;
    }
}

foliot_world *builder_create_world(scene_builder *y)
{
    y->scene.bodies = y->bodies;
    y->scene.constraints = y->constraints;
    foliot_error problem = {.path = ""};
    foliot_world *world = NULL;
    if (foliot_scene_check(&y->scene, &problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "scene_builder: %s\n", problem.text);
        abort();
    }
    if (foliot_world_create(&y->scene, &world, NULL) != FOLIOT_STATUS_OK)
        abort();
    return world;
}

void run_ticks(foliot_world *world, uint32_t ticks)
{
    for (uint32_t t = 0; t < ticks; t++)
        if (foliot_world_step(world, NULL, 0, NULL) != FOLIOT_STATUS_OK)
            abort();
}

foliot_command_reason step_command(foliot_world *world, const foliot_command *command)
{
    const foliot_tick_inputs tick = {.commands = command, .command_count = 1};
    uint32_t count;
    FOLIOT_ASSERT(foliot_world_step_tick(world, &tick, NULL) == FOLIOT_STATUS_OK);
    const foliot_event *events = foliot_world_get_events(world, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == FOLIOT_EVENT_COMMAND_REFUSED) {
            FOLIOT_ASSERT(events[i].sequence == command->sequence);
            return (foliot_command_reason)events[i].reason;
        }
    return FOLIOT_COMMAND_REASON_none;
}

void builder_with_every_scheme(void (*test)(foliot_integrator id))
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (!info->contacts || info->lab_only)
            continue;
        printf("%s\n", info->name);
        test((foliot_integrator)id);
    }
}
