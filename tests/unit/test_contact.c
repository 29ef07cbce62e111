// SPDX-License-Identifier: MIT
// test_contact.c: what lies, rolls, slides, falls and flies against something. Heights, angles and
// speeds are compared with the formulas of the textbook; piles with what must not happen to them.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene_builder.h"
#include "slots.h"

#define G 9.81

static double height(const foliot_world *world, uint32_t ball)
{
    return slot_state(world, ball).position[2];
}

// -- bouncing

// Greatest height of the next flight: the vertex of the parabola through the three highest ticks.
static double next_peak(foliot_world *world, uint32_t ball)
{
    double before = height(world, ball), now = before, after = before;
    bool rising = false;
    for (int t = 0; t < 2000; t++) {
        run_ticks(world, 1);
        before = now;
        now = after;
        after = height(world, ball);
        rising |= after > now;
        if (rising && after <= now && now > before) {
            double bend = before - 2 * now + after, slope = (after - before) / 2;
            return now - slope * slope / (2 * bend);
        }
    }
    return 0;
}

static void bounces(foliot_integrator id)
{
    const double restitutions[] = {1, 0.9, 0.5, 0.3};
    for (int k = 0; k < 4; k++) {
        double e = restitutions[k];
        scene_builder y = builder_new(id);
        y.scene.gravity[2] = -G;
        builder_add_ball(&y, 1.7, 0.1, 0.3, 0, 1.1 + 0.0037);
        builder_set_velocity(&y, 0.7, 0, 0);
        builder_add_plane(&y, 0, 0, 1, 0);
        builder_set_material(&y, 0, e);
        foliot_world *world = builder_create_world(&y);
        double fall = 1.0037, first = next_peak(world, 0) - 0.1, second = next_peak(world, 0) - 0.1;
        check_near(first / fall, e * e, 0.003 * e * e);
        check_near(second / first, e * e, 0.004 * e * e);
        check_near(slot_state(world, 0).velocity[0], 0.7, 1e-12);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(a_sphere_bounces_to_e_squared)
{
    builder_with_every_scheme(bounces);
}

static void bounces_for_long(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    builder_add_ball(&y, 1, 0.1, 0, 0, 1.1);
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_set_material(&y, 0.5, 1);
    foliot_world *world = builder_create_world(&y);
    double peak = 0;
    for (int k = 0; k < 100; k++)
        peak = next_peak(world, 0);
    check_near(peak, 1.1, 0.004); // after 100 bounces
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(an_elastic_sphere_keeps_its_height)
{
    builder_with_every_scheme(bounces_for_long);
}

static void comes_to_rest(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    builder_add_ball(&y, 1, 0.1, 0, 0, 0.6);
    builder_add_ball(&y, 1, 0.1, 3, 0, 0.6);
    y.bodies[0].restitution = 0.5;
    y.bodies[1].restitution = 0;
    builder_add_plane(&y, 0, 0, 1, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 240);
    for (int t = 0; t < 600; t++) {
        run_ticks(world, 1);
        for (uint32_t i = 0; i < 2; i++) {
            check_near(height(world, i), 0.1, 3e-4);
            check_near(slot_state(world, i).velocity[2], 0,
                       1e-8); // impulses are binary32
        }
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_dropped_sphere_comes_to_rest_and_stays)
{
    builder_with_every_scheme(comes_to_rest);
}

// -- bullets

static void stops_bullet(foliot_integrator id)
{
    for (int k = 0; k < 50; k++) { // at many phases of the step
        scene_builder y = builder_new(id);
        y.scene.gravity[2] = -G;
        builder_add_ball(&y, 0.01, 0.025, -20 + 0.37 * k, 0, 0);
        builder_set_velocity(&y, 900, 0, 0);
        builder_add_plane(&y, -1, 0, 0, -10); // solid beyond x = 10
        y.bodies[0].restitution = k % 2 ? 0.5 : 0;
        y.bodies[1].restitution = 0;
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 10);
        foliot_body_state bullet = slot_state(world, 0);
        check_below(bullet.position[0], 9.976);
        check_near(bullet.velocity[0], k % 2 ? -450 : 0, 1e-9);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(a_bullet_does_not_pass_a_plane)
{
    builder_with_every_scheme(stops_bullet);
}

static void hits_sphere(foliot_integrator id)
{
    for (int k = 0; k < 50; k++) {
        scene_builder y = builder_new(id);
        bool still = k % 3 == 0;
        builder_add_ball(&y, 0.01, 0.025, -20 + 0.37 * k, 0.02, 0);
        builder_set_velocity(&y, 900, 0, 0);
        builder_add_ball(&y, still ? 0 : 2, 0.025, 3, 0, 0);
        builder_set_material(&y, 0, k % 2 ? 0.7 : 0);
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 6);
        foliot_body_state bullet = slot_state(world, 0);
        // Thrown off its line: hit at offset 0.02 of 0.05, so that the normal is (0.9165, -0.4).
        double e = k % 2 ? 0.7 : 0, mass = still ? 1 : 2 / 2.01;
        double normal = 900 * (1 + e) * mass * sqrt(1 - 0.16);
        check_near(bullet.velocity[1], 0.4 * normal, 1e-6);
        check_near(bullet.velocity[0], 900 - sqrt(1 - 0.16) * normal, 1e-6);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(a_bullet_does_not_pass_a_sphere)
{
    builder_with_every_scheme(hits_sphere);
}

TEST(two_bullets_meet_in_the_air)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    builder_add_ball(&y, 0.01, 0.025, -14.3, 0, 0);
    builder_set_velocity(&y, 900, 0, 0);
    builder_add_ball(&y, 0.01, 0.025, 14.1, 0, 0);
    builder_set_velocity(&y, -900, 0, 0);
    builder_set_material(&y, 0.2, 1);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 3);
    check_near(slot_state(world, 0).velocity[0], -900, 1e-9);
    check_near(slot_state(world, 1).velocity[0], 900, 1e-9);
    foliot_world_destroy(world);
    builder_free(&y);
}

// A bullet between two walls a hand apart: dozens of impacts in one step.
TEST(a_bullet_rattles_between_walls)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_ball(&y, 0.01, 0.025, 0.1, 0, 0);
    builder_set_velocity(&y, 900, 0, 0);
    builder_add_plane(&y, 1, 0, 0, 0);
    builder_add_plane(&y, -1, 0, 0, -0.2);
    builder_set_material(&y, 0, 1);
    foliot_world *world = builder_create_world(&y);
    for (int t = 0; t < 60; t++) {
        run_ticks(world, 1);
        foliot_body_state bullet = slot_state(world, 0);
        check_near(fabs(bullet.velocity[0]), 900, 1e-9);
        check_gt(bullet.position[0], 0.0249);
        check_lt(bullet.position[0], 0.1751);
    }
    // It went 900 m in all, so the place is known: 100 ticks a wall, folded.
    double way = 0.075 + 900.0, lap = 0.3, at = way - lap * floor(way / lap);
    double expected = 0.025 + (at < 0.15 ? at : 0.3 - at);
    check_near(slot_state(world, 0).position[0], expected, 1e-9);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- friction

// A sphere on a slope: below tan(angle) = 7/2 friction it rolls, a = 5/7 g sin; above it slides.
static void rolls(foliot_integrator id)
{
    const double angles[] = {0.2, 0.5, 1.1}, friction = 0.3; // rolls up to atan(1.05) = 0.81
    for (int k = 0; k < 3; k++) {
        double angle = angles[k], radius = 0.2;
        scene_builder y = builder_new(id);
        y.scene.gravity[2] = -G;
        builder_add_plane(&y, sin(angle), 0, cos(angle), 0);
        builder_add_ball(&y, 3, radius, radius * sin(angle), 0, radius * cos(angle));
        builder_set_material(&y, friction, 0);
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 120);
        foliot_body_state ball = slot_state(world, 1);
        double speed = hypot(ball.velocity[0], ball.velocity[2]);
        double rolling = 5.0 / 7 * G * sin(angle),
               sliding = G * (sin(angle) - friction * cos(angle));
        double expected = 2 * (k < 2 ? rolling : sliding);
        check_near(speed, expected, 0.01 * expected);
        if (k < 2)
            check_near(ball.angular_velocity[1] * radius, speed, 0.01 * speed);
        double off = ball.position[0] * sin(angle) + ball.position[2] * cos(angle) - radius;
        check_near(off, 0, 2e-3);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(a_sphere_rolls_or_slides_by_the_angle_of_the_slope)
{
    builder_with_every_scheme(rolls);
}

// Struck without spin, a ball slides, and rolls at 5/7 of its speed, whatever the friction.
TEST(a_sliding_ball_ends_up_rolling)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_add_ball(&y, 0.17, 0.03, 0, 0, 0.03);
    builder_set_velocity(&y, 2, 1, 0);
    builder_set_material(&y, 0.2, 0.5);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    foliot_body_state ball = slot_state(world, 1);
    check_near(ball.velocity[0], 2 * 5.0 / 7, 2e-6);
    check_near(ball.velocity[1], 1 * 5.0 / 7, 2e-6);
    check_near(ball.angular_velocity[1] * 0.03, ball.velocity[0], 1e-6);
    check_near(ball.angular_velocity[0] * 0.03, -ball.velocity[1], 1e-6);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(friction_and_restitution_combine_as_documented)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_add_ball(&y, 1, 0.1, 0, 0, 0.1);
    builder_set_velocity(&y, 30, 0, 0);
    y.bodies[0].friction = 0.9;
    y.bodies[1].friction = 0.4;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 60);
    check_near(slot_state(world, 1).velocity[0], 30 - G * 0.6,
               2e-5); // sqrt(0.9 * 0.4)
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- piles

static void boxed_pile(scene_builder *y, int side, int layers)
{
    double half = side * 0.22;
    y->scene.gravity[2] = -G;
    builder_add_plane(y, 0, 0, 1, 0);
    builder_add_plane(y, 1, 0, 0, -half);
    builder_add_plane(y, -1, 0, 0, -half);
    builder_add_plane(y, 0, 1, 0, -half);
    builder_add_plane(y, 0, -1, 0, -half);
    for (int i = 0; i < side * side * layers; i++) {
        int a = i % side, b = i / side % side, c = i / side / side;
        builder_add_ball(y, 1, 0.2, (a - (side - 1) * 0.5) * 0.44 + 0.015 * sin(1.7 * i),
                         (b - (side - 1) * 0.5) * 0.44 + 0.015 * cos(2.3 * i), 0.3 + 0.45 * c);
    }
    builder_set_material(y, 0.6, 0);
}

static double deepest_overlap(const foliot_world *world, double half)
{
    double deepest = 0;
    uint32_t count = foliot_world_get_body_count(world);
    for (uint32_t i = 5; i < count; i++) {
        foliot_body_state p = slot_state(world, i);
        double wall = fmax(fmax(fabs(p.position[0]), fabs(p.position[1])) - half, -p.position[2]);
        deepest = fmax(deepest, wall + 0.2);
        for (uint32_t j = i + 1; j < count; j++) {
            foliot_body_state q = slot_state(world, j);
            double dx = p.position[0] - q.position[0], dy = p.position[1] - q.position[1];
            double dz = p.position[2] - q.position[2];
            deepest = fmax(deepest, 0.4 - sqrt(dx * dx + dy * dy + dz * dz));
        }
    }
    return deepest;
}

static double energy(const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    return now.kinetic + now.potential;
}

static void settles(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    boxed_pile(&y, 5, 6);
    foliot_world *world = builder_create_world(&y);
    double start = energy(world);
    run_ticks(world, 600);
    double settled = energy(world);
    check_below(settled, start);
    run_ticks(world, 600);
    foliot_invariants rest = foliot_world_get_invariants(world, NULL);
    // 150 balls of 1 kg: under a centimetre and a half a second each.
    check_below(rest.kinetic, 150 * 0.5 * 0.015 * 0.015);
    check_below(deepest_overlap(world, 1.1), 0.005); // touches are springs: six layers' weight
    check_below(rest.kinetic + rest.potential, settled + 150 * G * 1e-5);
    assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 0);
    assert_int_equal(foliot_world_get_counters(world)->contacts_dropped, 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_pile_in_a_box_settles)
{
    builder_with_every_scheme(settles);
}

// Ten balls exactly above each other between walls that let them neither out nor roll away.
TEST(a_column_stands)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_add_plane(&y, 1, 0, 0, -0.5);
    builder_add_plane(&y, -1, 0, 0, -0.5);
    builder_add_plane(&y, 0, 1, 0, -0.5);
    builder_add_plane(&y, 0, -1, 0, -0.5);
    for (int k = 0; k < 10; k++)
        builder_add_ball(&y, 1, 0.5, 0, 0, 0.5 + k);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 300);
    double stood[10];
    for (uint32_t k = 0; k < 10; k++) {
        // Touches are springs, so a column sinks under its weight: a thousandth of its height.
        stood[k] = height(world, 5 + k);
        check_near(stood[k], 0.5 + k, 0.012);
    }
    run_ticks(world, 3300);
    for (uint32_t k = 0; k < 10; k++)
        check_near(height(world, 5 + k), stood[k], 1e-5);
    foliot_world_destroy(world);
    builder_free(&y);
}

// A restored world has the same future: mid-pile, with warm impulses, impacts and sliding under
// way.
TEST(a_restored_pile_has_the_same_future)
{
    const foliot_integrator ids[] = {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                     FOLIOT_INTEGRATOR_VERLET, FOLIOT_INTEGRATOR_VELOCITY_VERLET};
    for (int k = 0; k < 3; k++) {
        scene_builder y = builder_new(ids[k]);
        boxed_pile(&y, 4, 5);
        builder_set_material(&y, 0.6, 0.3);
        foliot_world *world = builder_create_world(&y), *other = builder_create_world(&y);
        for (int round = 0; round < 5; round++) {
            run_ticks(world, 25);
            size_t bytes = 0;
            assert_int_equal(foliot_world_capture(world, NULL, 0, &bytes), FOLIOT_STATUS_OK);
            uint8_t *image = malloc(bytes);
            assert_int_equal(foliot_world_capture(world, image, bytes, &bytes), FOLIOT_STATUS_OK);
            assert_int_equal(foliot_world_restore(other, image, bytes), FOLIOT_STATUS_OK);
            free(image);
            for (int t = 0; t < 25; t++) {
                run_ticks(world, 1);
                run_ticks(other, 1);
                assert_true(foliot_digest_equal(foliot_world_get_digest(world),
                                                foliot_world_get_digest(other)));
            }
        }
        foliot_world_destroy(other);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// More impacts than a step takes: nothing is lost, nothing passes, and it is counted.
TEST(a_flood_of_impacts_is_bounded_and_counted)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (int k = 0; k < 12; k++) {
        builder_add_ball(&y, 0.01, 0.025, 0.05 + 0.19 * k, 0, 0);
        builder_set_velocity(&y, k % 2 ? 9000 : -7000, 0, 0);
    }
    builder_add_plane(&y, 1, 0, 0, 0);
    builder_add_plane(&y, -1, 0, 0, -2.4);
    builder_set_material(&y, 0, 1);
    foliot_world *world = builder_create_world(&y);
    double start = foliot_world_get_invariants(world, NULL).kinetic;
    run_ticks(world, 20);
    check_gt(foliot_world_get_counters(world)->hits_deferred, 0);
    double before = 0;
    for (uint32_t i = 0; i < 12; i++) {
        double x = slot_state(world, i).position[0];
        check_below(before, x); // still in their order
        check_below(x, 2.4);
        before = x;
    }
    check_below(foliot_world_get_invariants(world, NULL).kinetic, start * (1 + 1e-8));
    foliot_world_destroy(world);
    builder_free(&y);
}
