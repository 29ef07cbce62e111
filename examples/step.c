// SPDX-License-Identifier: MIT
// step.c: a world made in C, without a file: a ball falls on a floor and comes to rest. Prints its
// position ten times a second, and at the end the digest, which is the same on every machine.
#include <stdio.h>

#include <foliot/foliot.h>

int main(void)
{
    foliot_body_definition bodies[2] = {foliot_body_definition_default(),
                                        foliot_body_definition_default()};
    bodies[0].name = "ball";
    bodies[0].position[2] = 3;
    bodies[0].restitution = 0.7;
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.2};
    bodies[1].name = "floor";
    bodies[1].is_static = true;
    bodies[1].restitution = 0.7;
    bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};

    foliot_scene scene = foliot_scene_default();
    scene.name = "falling";
    scene.dt = 1.0 / 60;
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.gravity[2] = -9.81;
    scene.bodies = bodies;
    scene.body_count = 2;

    foliot_error error;
    if (foliot_scene_check(&scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    foliot_world *world;
    if (foliot_world_create(&scene, &world, NULL) != FOLIOT_STATUS_OK)
        return 1;
    foliot_body_id ball = foliot_world_get_body_id(world, 0);
    for (int tick = 0; tick < 300; tick++) {
        if (foliot_world_step(world, NULL, 0, NULL) != FOLIOT_STATUS_OK)
            return 1;
        if (tick % 6 == 5)
            printf("%4.1f s  %.4f m\n", foliot_world_get_time(world),
                   foliot_world_get_body_state(world, ball).position[2]);
    }
    char text[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(foliot_world_get_digest(world), text);
    printf("digest %s\n", text);
    foliot_world_destroy(world);
    return 0;
}
