// SPDX-License-Identifier: MIT
// test_stacks.c: what stands must stand: stacks, piles and pyramids of boxes and capsules are
// followed for long, and neither creep, sink, tremble nor gain energy or momentum.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "pace.h"
#include "scene_builder.h"
#include "status.h"
#include "slots.h"

#define G 9.81

static scene_builder floor_scene(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    return y;
}

// The farthest that a body has moved across from where the scene puts it.
static double drift_of(const foliot_world *world, const scene_builder *y)
{
    double farthest = 0;
    for (uint32_t i = 0; i < y->scene.body_count; i++) {
        const double *now = slot_state(world, i).position, *then = y->bodies[i].position;
        farthest = fmax(farthest, hypot(now[0] - then[0], now[1] - then[1]));
    }
    return farthest;
}

static double energy_of(const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    return now.kinetic + now.potential;
}

static void tower(scene_builder *y, int count, double half, double x)
{
    for (int i = 0; i < count; i++)
        builder_add_box(y, 1000 * 8 * half * half * half, half, half, half, x, 0,
                        half + 2 * half * i);
}

// -- standing

static void stands_for_ten_minutes(foliot_integrator id)
{
    scene_builder y = floor_scene(id);
    tower(&y, 10, 0.5, 0);
    builder_set_material(&y, 0.6, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 60);
    double top = slot_state(world, 10).position[2], drift = 0, sunk = 0;
    for (int second = 1; second < PACE(600); second++) {
        run_ticks(world, 60);
        drift = fmax(drift, drift_of(world, &y));
        sunk = fmax(sunk, fabs(slot_state(world, 10).position[2] - top));
    }
    print_message("%s: %d s, drift %.2g mm, the top moves by %.2g mm\n",
                  foliot_integrator_get_info(id)->name, PACE(600), drift * 1e3, sunk * 1e3);
    check_below(drift, 1e-3);
    check_below(sunk, 1e-3);
    check_near(top, 9.5, 0.012); // touches are springs: a thousandth of its height
    check_below(foliot_world_get_invariants(world, NULL).kinetic, 1e-5);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(ten_boxes_stand_for_ten_minutes)
{
    stands_for_ten_minutes(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    stands_for_ten_minutes(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
}

static void stands_a_while(foliot_integrator id)
{
    scene_builder y = floor_scene(id);
    tower(&y, 5, 0.1, 0.37);
    builder_set_material(&y, 0.6, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 300);
    check_below(drift_of(world, &y), 5e-4);
    check_near(slot_state(world, 5).position[2], 0.9, 4e-3);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(boxes_stand_under_every_scheme)
{
    builder_with_every_scheme(stands_a_while);
}

// A hundred times the weight of what bears it.
TEST(a_heavy_box_stands_on_light_ones)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_box(&y, 1, 0.1, 0.1, 0.1, 0, 0, 0.1);
    builder_add_box(&y, 1, 0.1, 0.1, 0.1, 0.6, 0, 0.1);
    builder_add_box(&y, 1, 0.1, 0.1, 0.1, 0.3, 0.5, 0.1);
    builder_add_box(&y, 100, 0.6, 0.6, 0.2, 0.3, 0.2, 0.4);
    builder_set_material(&y, 0.6, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 240 + PACE(960));
    check_below(drift_of(world, &y), 1e-3);
    check_near(slot_state(world, 4).position[2], 0.4, 0.01);
    foliot_world_destroy(world);
    builder_free(&y);
}

// Two planks lean on each other; friction alone holds them.
TEST(a_house_of_cards_stands)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    double tilt = 0.35, half = 0.5, thick = 0.02;
    // Their lower edges on the floor, their upper ones touching at x = 0.
    double z = half * cos(tilt) + thick * sin(tilt), x = half * sin(tilt) + thick * cos(tilt);
    builder_add_box(&y, 2, thick, 0.3, half, -x, 0, z);
    builder_turn(&y, 0, 1, 0, tilt);
    builder_add_box(&y, 2, thick, 0.3, half, x, 0, z);
    builder_turn(&y, 0, 1, 0, -tilt);
    builder_set_material(&y, 0.8, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, PACE(1200));
    check_below(drift_of(world, &y), 5e-3);
    check_near(slot_state(world, 1).position[2], z, 5e-3);
    foliot_world_destroy(world);
    builder_free(&y);
}

// Boxes side by side without a gap, five levels: nothing pushes them apart.
TEST(a_pyramid_does_not_creep)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (int level = 0; level < 5; level++)
        for (int i = 0; i < 5 - level; i++)
            for (int j = 0; j < 5 - level; j++)
                builder_add_box(&y, 1000, 0.5, 0.5, 0.5, i + 0.5 * level, j + 0.5 * level,
                                level + 0.5);
    builder_set_material(&y, 0.6, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, PACE(600));
    check_below(drift_of(world, &y), 1e-3);
    check_below(foliot_world_get_invariants(world, NULL).kinetic, 1e-3);
    foliot_world_destroy(world);
    builder_free(&y);
}

static void capsules_lie_still(foliot_integrator id)
{
    scene_builder y = floor_scene(id);
    builder_add_capsule(&y, 3, 0.1, 0.4, 0, 0, 0.1);
    builder_turn(&y, 0.6, 0.8, 0, M_PI / 2);
    builder_add_capsule(&y, 3, 0.1, 0.4, 3, 0,
                        0.5); // on end: the least push topples it, and there is none
    builder_set_material(&y, 0.6, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 60);
    check_below(drift_of(world, &y), 1e-5);
    check_near(slot_state(world, 1).position[2], 0.1, 5e-4);
    check_near(slot_state(world, 2).position[2], 0.5, 5e-4);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(capsules_lie_on_their_side_and_stand_on_end)
{
    builder_with_every_scheme(capsules_lie_still);
}

// -- piles

static void tumble(scene_builder *y, foliot__rng *rng, double x, double yy, double z)
{
    double size = 0.1 + 0.1 * foliot__rng_unit(rng);
    uint32_t kind = foliot__rng_below(rng, 3);
    if (kind == 0)
        builder_add_box(y, 900 * size * size * size, size, 0.8 * size, 0.7 * size, x, yy, z);
    else if (kind == 1)
        builder_add_capsule(y, 700 * size * size * size, 0.6 * size, 0.7 * size, x, yy, z);
    else
        builder_add_ball(y, 500 * size * size * size, size, x, yy, z);
    double ax = foliot__rng_unit(rng) - 0.5, ay = foliot__rng_unit(rng) - 0.5;
    double az = foliot__rng_unit(rng) - 0.5, norm = sqrt(ax * ax + ay * ay + az * az);
    builder_turn(y, ax / norm, ay / norm, az / norm, 3 * foliot__rng_unit(rng));
}

static scene_builder pile_scene(foliot__rng *rng, int layers)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_plane(&y, 1, 0, 0, -0.95);
    builder_add_plane(&y, -1, 0, 0, -0.95);
    builder_add_plane(&y, 0, 1, 0, -0.95);
    builder_add_plane(&y, 0, -1, 0, -0.95);
    for (int n = 0; n < 9 * layers; n++)
        tumble(&y, rng, 0.6 * (n % 3) - 0.6, 0.6 * (n / 3 % 3) - 0.6, 0.35 + 0.6 * (n / 9));
    builder_set_material(&y, 0.6, 0);
    return y;
}

// Falling bodies gain no energy, and resting ones do not sink, tremble or gain any, but for what
// taking back an overlap lifts: less than a hundredth while they fall, and than 3e-4 when they lie.
TEST(a_pile_comes_to_rest_and_gains_nothing)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(3));
    scene_builder y = pile_scene(&rng, 5);
    foliot_world *world = builder_create_world(&y);
    double start = energy_of(world), least = start, gained = 0;
    for (int t = 0; t < PACE(900); t++) {
        run_ticks(world, 1);
        double now = energy_of(world);
        gained = fmax(gained, now - least);
        least = fmin(least, now);
    }
    print_message("falling: energy above its least by %.2g of what it began with at most\n",
                  gained / start);
    check_below(gained, 1e-2 * start);
    if (!PACE_SLOW)
        check_below(foliot_world_get_invariants(world, NULL).kinetic, 1e-4 * start);
    gained = 0;
    for (int t = 0; t < PACE(300); t++) {
        run_ticks(world, 1);
        gained = fmax(gained, energy_of(world) - least);
        least = fmin(least, energy_of(world));
    }
    print_message(
        "at rest: energy above its least by %.2g of what it began with at most, kinetic %.2g\n",
        gained / start, foliot_world_get_invariants(world, NULL).kinetic / start);
    check_below(gained, 3e-4 * start);
    assert_int_equal(foliot_world_get_counters(world)->contacts_dropped, 0);
    assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

// No floor and no gravity: bodies fly together, collide, and their total momentum is what it was.
TEST(an_isolated_pile_keeps_its_momentum)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(3));
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (int n = 0; n < 60; n++) {
        double x = 0.6 * (n % 4) - 0.9, yy = 0.6 * (n / 4 % 4) - 0.9, z = 0.6 * (n / 16) - 0.9;
        tumble(&y, &rng, x, yy, z);
        builder_set_velocity(&y, 0.3 - 2 * x, 0.1 - 2 * yy, -0.2 - 2 * z);
    }
    builder_set_material(&y, 0.5, 0);
    foliot_world *world = builder_create_world(&y);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    double scale = sqrt(2 * start.kinetic * 60); // about the sum of all momenta
    run_ticks(world, 200);
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    check_lt(end.kinetic, 0.7 * start.kinetic); // they did collide
    for (int k = 0; k < 3; k++) {
        print_message("axis %d: momentum off by %.1e, angular momentum by %.1e\n", k,
                      (end.momentum[k] - start.momentum[k]) / scale,
                      (end.angular_momentum[k] - start.angular_momentum[k]) / scale);
        check_near(end.momentum[k], start.momentum[k], 1e-6 * scale);
        check_near(end.angular_momentum[k], start.angular_momentum[k], 1e-3 * scale);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- the same future

TEST(a_restored_pile_has_the_same_future)
{
    foliot__rng rng = foliot__rng_seeded(check_seed(3));
    scene_builder y = pile_scene(&rng, 3);
    foliot_world *world = builder_create_world(&y), *other = builder_create_world(&y);
    run_ticks(world, 150);
    size_t length;
    demand(foliot_world_capture(world, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_world_capture(world, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(other, bytes, length), FOLIOT_STATUS_OK);
    for (int t = 0; t < 60; t++) {
        run_ticks(world, 1);
        run_ticks(other, 1);
        foliot_digest a = foliot_world_get_digest(world), b = foliot_world_get_digest(other);
        assert_memory_equal(&a, &b, sizeof a);
    }
    free(bytes);
    foliot_world_destroy(world);
    foliot_world_destroy(other);
    builder_free(&y);
}
