// SPDX-License-Identifier: MIT
// read_scene.c: reads a scene from a text in memory, or from the named file, and runs it for ten
// seconds of its time. Prints every body at the end, and the change of the energy.
#include <stdio.h>
#include <string.h>

#include <foliot/foliot.h>

static const char text[] = "foliot: 1\n"
                           "name: net\n"
                           "tick_hz: 60\n"
                           "integrator: velocity-verlet\n"
                           "gravity: [0, 0, -9.81]\n"
                           "bodies:\n"
                           "  - {name: chain, mass: 0.5, position: [0, 0, 2],\n"
                           "     grid: {columns: 5, right: [0.5, 0, 0], pins: [[0, 0]]}}\n"
                           "constraints:\n"
                           "  - {kind: rod, grid: chain}\n";

static void print_bodies(const foliot_scene *scene, const foliot_world *world)
{
    for (uint32_t i = 0; i < scene->body_count; i++) {
        foliot_body_id id = foliot_world_get_body_id(world, i);
        foliot_body_state body = foliot_world_get_body_state(world, id);
        printf("%-16s %10.5f %10.5f %10.5f\n", scene->bodies[i].name, body.position[0],
               body.position[1], body.position[2]);
    }
}

int main(int argc, char **argv)
{
    foliot_scene *scene;
    foliot_error error;
    foliot_status status =
        argc > 1 ? foliot_scene_read(argv[1], &scene, &error)
                 : foliot_scene_parse(text, strlen(text), "text", NULL, &scene, &error);
    if (status != FOLIOT_STATUS_OK) {
        fprintf(stderr, "%s\n", error.text); // file, line, column, key and why
        return 78;
    }
    foliot_world *world;
    if (foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        return 1;
    foliot_invariants before = foliot_world_get_invariants(world, NULL);
    while (foliot_world_get_time(world) < 10)
        if (foliot_world_step(world, NULL, 0, NULL) != FOLIOT_STATUS_OK)
            return 1;
    foliot_invariants after = foliot_world_get_invariants(world, NULL);
    print_bodies(scene, world);
    printf("energy %.6g, at the start %.6g\n", after.kinetic + after.potential,
           before.kinetic + before.potential);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
    return 0;
}
