// SPDX-License-Identifier: MIT
// test_billiards.c: spheres that hit each other. Momentum is kept to rounding, energy never grows,
// impacts happen in the order of time. Every scheme that admits contacts is tried.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"
#include "scene_builder.h"
#include "slots.h"

static double kinetic(const foliot_world *world)
{
    return foliot_world_get_invariants(world, NULL).kinetic;
}

static void rack(scene_builder *y, double friction, double restitution)
{
    const double r = 0.028575, m = 0.163;
    builder_add_ball(y, m, r, -1, 0.003, 0);
    builder_set_velocity(y, 9, 0, 0);
    for (int row = 0; row < 5; row++)
        for (int k = 0; k <= row; k++)
            builder_add_ball(y, m, r, row * r * 1.7321, (2 * k - row) * r, 0);
    builder_set_material(y, friction, restitution);
}

static void break_on(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    rack(&y, 0.05, 0.95);
    foliot_world *world = builder_create_world(&y);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    double size = start.momentum[0], energy = start.kinetic;
    // Verlet tells velocities from differences of positions, whose rounding is dt times larger
    // there.
    double rounding = id == FOLIOT_INTEGRATOR_VERLET ? 1e-12 : 1e-14;
    for (int t = 0; t < 240; t++) {
        run_ticks(world, 1);
        foliot_invariants now = foliot_world_get_invariants(world, NULL);
        for (int k = 0; k < 3; k++) {
            check_near(now.momentum[k], start.momentum[k], rounding * size);
            check_near(now.angular_momentum[k], start.angular_momentum[k], 1e-9 * size);
        }
        check_below(now.kinetic, energy * (1 + rounding));
        energy = now.kinetic;
    }
    check_below(energy, 0.9 * start.kinetic);
    int moving = 0;
    for (uint32_t i = 0; i < 16; i++) {
        foliot_body_state ball = slot_state(world, i);
        moving += hypot(ball.velocity[0], ball.velocity[1]) > 0.001;
    }
    check_ge(moving, 15); // the rack did break
    assert_int_equal(foliot_world_get_counters(world)->hits_deferred, 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_break_keeps_momentum_and_never_gains_energy)
{
    builder_with_every_scheme(break_on);
}

static void elastic_table(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    rack(&y, 0, 1);
    builder_add_plane(&y, 1, 0, 0, -1.27);
    builder_add_plane(&y, -1, 0, 0, -1.27);
    builder_add_plane(&y, 0, 1, 0, -0.635);
    builder_add_plane(&y, 0, -1, 0, -0.635);
    builder_set_material(&y, 0, 1);
    foliot_world *world = builder_create_world(&y);
    double start = kinetic(world);
    for (int t = 0; t < 600; t++) {
        run_ticks(world, 1);
        check_near(kinetic(world), start, 1e-12 * start);
    }
    for (uint32_t i = 0; i < 16; i++) {
        foliot_body_state ball = slot_state(world, i);
        check_below(fabs(ball.position[0]), 1.27);
        check_below(fabs(ball.position[1]), 0.635);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(an_elastic_table_keeps_its_energy)
{
    builder_with_every_scheme(elastic_table);
}

TEST(two_balls_of_unlike_mass_part_as_the_textbook_says)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    builder_add_ball(&y, 2.5, 0.1, -1, 0, 0);
    builder_set_velocity(&y, 4, 0, 0);
    builder_add_ball(&y, 0.7, 0.3, 1, 0, 0);
    builder_set_velocity(&y, -1, 0, 0);
    builder_set_material(&y, 0, 0.6);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 60);
    double center = (2.5 * 4 - 0.7) / 3.2, relative = -0.6 * 5;
    check_near(slot_state(world, 0).velocity[0], center + relative * 0.7 / 3.2, 1e-14);
    check_near(slot_state(world, 1).velocity[0], center - relative * 2.5 / 3.2, 1e-14);
    // They met after 1.6 / 5 s and were 0.4 apart: where they are tells that the time was right.
    double met = -1 + 4 * 0.32, left = 1 - 0.32;
    check_near(slot_state(world, 0).position[0], met + left * (center + relative * 0.7 / 3.2),
               1e-12);
    foliot_world_destroy(world);
    builder_free(&y);
}

// Five touching balls, one swung in: the last one leaves with all of the momentum, within one step.
TEST(newtons_cradle_passes_the_blow_on)
{
    for (int apart = 0; apart < 2; apart++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        double gap = apart ? 1e-4 : 0;
        builder_add_ball(&y, 1, 0.1, -0.3, 0, 0);
        builder_set_velocity(&y, 3, 0, 0);
        for (int k = 0; k < 4; k++)
            builder_add_ball(&y, 1, 0.1, k * (0.2 + gap), 0, 0);
        builder_set_material(&y, 0.3, 1);
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 4);
        for (uint32_t i = 0; i < 4; i++)
            check_near(slot_state(world, i).velocity[0], 0, 1e-13);
        check_near(slot_state(world, 4).velocity[0], 3, 1e-13);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// An off-centre collision with friction throws and spins; a gas of such balls keeps momentum and
// loses energy.
TEST(a_gas_keeps_momentum)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(7));
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_LEAPFROG);
    for (int i = 0; i < 300; i++) {
        double mass = 0.5 + foliot__rng_unit(&rng), radius = 0.05 + 0.1 * foliot__rng_unit(&rng);
        builder_add_ball(&y, mass, radius, i % 7 * 0.35, i / 7 % 7 * 0.35, i / 49 * 0.35);
        double vx = 8 * foliot__rng_unit(&rng) - 4, vy = 8 * foliot__rng_unit(&rng) - 4;
        builder_set_velocity(&y, vx, vy, 8 * foliot__rng_unit(&rng) - 4);
    }
    builder_set_material(&y, 0.4, 0.9);
    foliot_world *world = builder_create_world(&y);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    double energy = start.kinetic, size = sqrt(2 * energy * 300);
    for (int t = 0; t < 120; t++) {
        run_ticks(world, 1);
        foliot_invariants now = foliot_world_get_invariants(world, NULL);
        for (int k = 0; k < 3; k++)
            check_near(now.momentum[k], start.momentum[k], 1e-14 * size);
        check_below(now.kinetic, energy * (1 + 1e-14));
        energy = now.kinetic;
    }
    check_below(energy, 0.98 * start.kinetic);
    foliot_world_destroy(world);
    builder_free(&y);
}
