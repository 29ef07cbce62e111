// SPDX-License-Identifier: MIT
// crowd.c: the worlds of crowd.h. Positions are drawn from a fixed seed: every run has the same
// bits.
#include "crowd.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

static foliot_world *world_of(foliot_scene *scene, foliot_body_definition *bodies, uint32_t count)
{
    scene->name = "crowd";
    scene->dt = 1.0 / 60;
    scene->bodies = bodies;
    scene->body_count = count;
    foliot_error problem;
    foliot_world *world = NULL;
    if (foliot_scene_check(scene, &problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "crowd: %s\n", problem.text);
        exit(1);
    }
    if (foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    free(bodies);
    return world;
}

static foliot_body_definition *bodies_of(uint32_t count)
{
    foliot_body_definition *bodies = calloc(count, sizeof *bodies);
    if (!bodies)
        exit(1);
    for (uint32_t i = 0; i < count; i++)
        bodies[i] = foliot_body_definition_default();
    return bodies;
}

foliot_world *crowd_spheres(uint32_t count)
{
    foliot__rng rng = foliot__rng_seeded(901);
    foliot_body_definition *bodies = bodies_of(count + 1);
    bodies[0].is_static = true;
    bodies[0].shape.kind = FOLIOT_SHAPE_PLANE;
    uint32_t side = 1;
    while (side * side * 4 < count)
        side++;
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_definition *ball = &bodies[i + 1];
        ball->shape.kind = FOLIOT_SHAPE_SPHERE;
        ball->shape.radius = 0.2;
        ball->position[0] = 0.41 * (i % side) + between(&rng, -0.004, 0.004);
        ball->position[1] = 0.41 * (i / side % side) + between(&rng, -0.004, 0.004);
        ball->position[2] = 0.21 + 0.41 * (i / (side * side));
    }
    foliot_scene scene = foliot_scene_default();
    scene.gravity[2] = -9.80665;
    return world_of(&scene, bodies, count + 1);
}

foliot_world *crowd_cluster(uint32_t count)
{
    foliot__rng rng = foliot__rng_seeded(902);
    foliot_body_definition *bodies = bodies_of(count);
    foliot_force_definition newton = foliot_force_definition_default(FOLIOT_FORCE_NEWTON);
    newton.as.newton.constant = 0.001;
    newton.as.newton.softening = 0.05;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            bodies[i].position[k] = between(&rng, -1, 1);
    foliot_scene scene = foliot_scene_default();
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.forces = &newton;
    scene.force_count = 1;
    return world_of(&scene, bodies, count);
}

foliot_world *crowd_tumbling(uint32_t count)
{
    foliot__rng rng = foliot__rng_seeded(903);
    foliot_body_definition *bodies = bodies_of(count);
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            bodies[i].position[k] = between(&rng, -9, 9);
            bodies[i].inertia[k] = 0.5 + 0.1 * k;
            bodies[i].angular_velocity[k] = between(&rng, -3, 3);
        }
    foliot_scene scene = foliot_scene_default();
    return world_of(&scene, bodies, count);
}
