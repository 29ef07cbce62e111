// SPDX-License-Identifier: MIT
// callback.c: a custom force. The Henon-Heiles potential, (x^2 + y^2) / 2 + x^2 y - y^3 / 3 per
// unit of mass (Henon and Heiles 1964), as a callback. It prints the crossings of the plane x = 0,
// a Poincare section, and the change of the energy. A callback uses only + - * / sqrt and foliot_*
// functions, so that it gives the same bits everywhere.
#include <stdio.h>

#include <foliot/foliot.h>

static void acceleration(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                         double *az)
{
    (void)user, (void)az;
    for (uint32_t i = 0; i < at->count; i++) {
        if (at->inverse_mass[i] == 0)
            continue; // static, or no body at all
        double x = at->x[i], y = at->y[i];
        ax[i] += -x - 2 * x * y;
        ay[i] += -y - x * x + y * y;
    }
}

static double potential(void *user, const foliot_callback_arguments *at)
{
    (void)user;
    double sum = 0;
    for (uint32_t i = 0; i < at->count; i++) {
        double x = at->x[i], y = at->y[i];
        sum += at->mass[i] * ((x * x + y * y) / 2 + x * x * y - y * y * y / 3);
    }
    return sum;
}

int main(void)
{
    foliot_body_definition star = foliot_body_definition_default();
    star.name = "star";
    star.position[0] = 0.1;
    star.velocity[1] = 0.5;
    foliot_force_definition galaxy = foliot_force_definition_default(FOLIOT_FORCE_CALLBACK);
    galaxy.as.callback.callback = 0; // the number of the host's function
    foliot_scene scene = foliot_scene_default();
    scene.name = "henon-heiles";
    scene.dt = 0x1p-4;
    scene.integrator = FOLIOT_INTEGRATOR_YOSHIDA6;
    scene.bodies = &star;
    scene.body_count = 1;
    scene.forces = &galaxy;
    scene.force_count = 1;

    foliot_callback callback = {.acceleration = acceleration, .potential = potential};
    foliot_host host = {.callbacks = &callback, .callback_count = 1};
    foliot_world *world;
    if (foliot_world_create(&scene, &world, NULL) != FOLIOT_STATUS_OK)
        return 1;
    foliot_invariants start = foliot_world_get_invariants(world, &host);
    foliot_body_id id = foliot_world_get_body_id(world, 0);
    double before = foliot_world_get_body_state(world, id).position[0];
    for (int tick = 0; tick < 4000; tick++) {
        if (foliot_world_step(world, NULL, 0, &host) != FOLIOT_STATUS_OK)
            return 1;
        foliot_body_state body = foliot_world_get_body_state(world, id);
        if (before < 0 && body.position[0] >= 0)
            printf("%9.4f %9.6f %9.6f\n", foliot_world_get_time(world), body.position[1],
                   body.velocity[1]);
        before = body.position[0];
    }
    foliot_invariants end = foliot_world_get_invariants(world, &host);
    printf("energy %.12f, at the start %.12f\n", end.kinetic + end.potential,
           start.kinetic + start.potential);
    foliot_world_destroy(world);
    return 0;
}
