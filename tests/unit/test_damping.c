// SPDX-License-Identifier: MIT
// test_damping.c: a body's own damping and gravity scale, against their formulas, under every
// scheme that admits them.
#include "text_world.h"

#include <math.h>
#include <stdio.h>

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\n"

// v_n = v_0 (1 + c h)^-n after n substeps; half of it is left after about ln 2 / c.
static void check_damping(const char *integrator)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "substeps: 2\nintegrator: %s\nbodies:\n"
                  "  - {velocity: [8, 0, -4], linear_damping: 0.6931471805599453,\n"
                  "     angular_velocity: [0, 0, 2], angular_damping: 1.3862943611198906,\n"
                  "     shape: {kind: sphere, radius: 0.1}}\n"
                  "  - {position: [0, 9, 0], velocity: [8, 0, 0]}\n",
             integrator);
    foliot_world *world = text_world(text);
    step_ticks(world, 60);
    foliot_body_state body = state_of(world, 0);
    double h = 1.0 / 120, slower = pow(1 + log(2) * h, -120), calmer = pow(1 + log(4) * h, -120);
    check_near(body.velocity[0], 8 * slower, 1e-10);
    check_near(body.velocity[0], 4, 0.02);
    check_near(body.velocity[2], -4 * slower, 1e-10);
    check_near(body.angular_velocity[2], 2 * calmer, 1e-10);
    check_near(body.angular_velocity[2], 0.5, 0.01);
    check_near(body.position[0], 4 / log(2), 0.05);
    check_near(state_of(world, 1).velocity[0], 8, 1e-12);
    foliot_world_destroy(world);
}

// s g, and none at all for 0: not even rounding.
static void check_gravity(const char *integrator)
{
    char text[640];
    snprintf(text, sizeof text,
             HEAD "integrator: %s\ngravity: [0.1, 0, -9.81]\n"
                  "forces: [{kind: uniform, acceleration: [0, 1, 0]}]\nbodies:\n"
                  "  - {mass: 3, gravity_scale: 0}\n"
                  "  - {mass: 3, gravity_scale: 0.5}\n"
                  "  - {mass: 3, gravity_scale: -1}\n"
                  "  - {mass: 3}\n",
             integrator);
    foliot_world *world = text_world(text);
    double before = foliot_world_get_invariants(world, NULL).potential;
    step_ticks(world, 60);
    check_bits(state_of(world, 0).velocity[2], 0);
    check_bits(state_of(world, 0).position[2], 0);
    static const double scales[] = {0, 0.5, -1, 1};
    double potential = 0;
    for (uint32_t i = 0; i < 4; i++) {
        foliot_body_state body = state_of(world, i);
        check_near(body.velocity[2], -9.81 * scales[i], 1e-9);
        check_near(body.velocity[0], 0.1 * scales[i], 1e-9);
        check_near(body.velocity[1], 1, 1e-9); // another uniform force has no scale
        potential -= 3 * scales[i] * (0.1 * body.position[0] - 9.81 * body.position[2]);
        potential -= 3 * body.position[1];
    }
    check_near(foliot_world_get_invariants(world, NULL).potential - before, potential, 1e-9);
    foliot_world_destroy(world);
}

TEST(every_scheme_damps_and_scales)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const char *name = foliot_integrator_get_info((foliot_integrator)id)->name;
        if (id == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
            continue;
        check_gravity(name);
        // Verlet's reported velocity is a central difference: half a step of damping away.
        if (id != FOLIOT_INTEGRATOR_VERLET && id != FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET)
            check_damping(name);
    }
}

TEST(verlet_is_damped_as_others_are)
{
    foliot_world *world = text_world(HEAD "integrator: verlet\nsubsteps: 8\nbodies:\n"
                                          "  - {velocity: [8, 0, 0], linear_damping: 0.6931}\n");
    step_ticks(world, 60);
    check_near(state_of(world, 0).velocity[0], 4, 0.02);
    check_near(state_of(world, 0).position[0], 4 / log(2), 0.05);
    foliot_world_destroy(world);
}

// Energy with a gravity scale is kept as without.
TEST(a_scaled_fall_keeps_its_energy)
{
    foliot_world *world = text_world(HEAD "integrator: velocity-verlet\ngravity: [0, 0, -9.81]\n"
                                          "bodies: [{mass: 2, gravity_scale: 0.25,\n"
                                          "  velocity: [3, 0, 5]}]\n");
    foliot_invariants before = foliot_world_get_invariants(world, NULL);
    step_ticks(world, 240);
    foliot_invariants after = foliot_world_get_invariants(world, NULL);
    check_near(after.kinetic + after.potential, before.kinetic + before.potential, 1e-9);
    foliot_world_destroy(world);
}

static const char heap[] = HEAD
    "gravity: [0, 0, -9.81]\nsleep: true\nbodies:\n"
    "  - {static: true, shape: {kind: plane}}\n"
    "  - {position: [0, 0, 1], shape: {kind: box, half: [0.2, 0.2, 0.2]}, linear_damping: 0.5,\n"
    "     angular_damping: 2, gravity_scale: 0.5,\n"
    "     grid: {rows: 4, columns: 5, right: [0.5, 0, 0], down: [0.1, 0.1, 0.45]}}\n";

TEST(restored_worlds_have_the_same_future)
{
    check_restores(heap, 120, 17);
}
