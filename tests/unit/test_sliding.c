// SPDX-License-Identifier: MIT
// test_sliding.c: boxes and capsules that slide, roll, tip and push, against the formulas of the
// textbook.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pace.h"
#include "scene_builder.h"
#include "slots.h"

#define G 9.81

static scene_builder floor_scene(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    return y;
}

static foliot_body_state last_of(const foliot_world *world, const scene_builder *y)
{
    return slot_state(world, y->scene.body_count - 1);
}

// The body's axis k in the world.
static void axis_of(const foliot_body_state *s, int k, double axis[3])
{
    const double *q = s->orientation;
    int i = (k + 1) % 3, j = (k + 2) % 3;
    axis[k] = q[0] * q[0] + q[1 + k] * q[1 + k] - q[1 + i] * q[1 + i] - q[1 + j] * q[1 + j];
    axis[i] = 2 * (q[1 + k] * q[1 + i] + q[0] * q[1 + j]);
    axis[j] = 2 * (q[1 + k] * q[1 + j] - q[0] * q[1 + i]);
}

static double tilt_of(const foliot_body_state *s) // of the body's z, from upright
{
    double up[3];
    axis_of(s, 2, up);
    return acos(fmin(1, fmax(-1, up[2])));
}

// -- slopes

// How far a box slides down a slope of that angle from rest, in `ticks`.
static double slide(foliot_integrator id, double angle, double friction, int ticks)
{
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, sin(angle), 0, cos(angle), 0);
    builder_add_box(&y, 5, 0.3, 0.2, 0.1, 0.1 * sin(angle), 0, 0.1 * cos(angle));
    builder_turn(&y, 0, 1, 0, angle);
    builder_set_material(&y, friction, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, (uint32_t)ticks);
    foliot_body_state s = last_of(world, &y);
    double way = (s.position[0] - 0.1 * sin(angle)) * cos(angle) -
                 (s.position[2] - 0.1 * cos(angle)) * sin(angle);
    check_near(tilt_of(&s), angle, 2e-3); // it lies flat
    check_below(fabs(s.position[1]), 1e-3);
    foliot_world_destroy(world);
    builder_free(&y);
    return way;
}

// One part in a hundred flatter than its friction holds, and the box stays; steeper, and it slides
// as the formula says.
TEST(a_box_slides_at_the_angle_of_its_friction)
{
    const foliot_integrator schemes[] = {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                         FOLIOT_INTEGRATOR_VELOCITY_VERLET};
    const double frictions[] = {0.3, 0.5, 0.8};
    for (int k = 0; k < 2; k++)
        for (int n = 0; n < 3; n++) {
            double mu = frictions[n], flat = atan(0.99 * mu), steep = atan(1.01 * mu);
            check_below(fabs(slide(schemes[k], flat, mu, 300)), 2e-3);
            check_gt(slide(schemes[k], steep, mu, 300), 0.5 * 12.5 * G * cos(steep) * 0.01 * mu);
            double angle = atan(mu) + 0.2, expected = G * (sin(angle) - mu * cos(angle)) / 2;
            check_near(slide(schemes[k], angle, mu, 60), expected, 0.02 * expected);
        }
}

TEST(a_pushed_box_stops_where_friction_stops_it)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    builder_add_box(&y, 7, 0.3, 0.3, 0.05, 0, 0, 0.05);
    builder_set_velocity(&y, 3, 1, 0);
    builder_set_material(&y, 0.4, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    double way = 10 / (2 * 0.4 * G);
    foliot_body_state s = last_of(world, &y);
    check_near(s.position[0], way * 3 / sqrt(10), 0.02 * way);
    check_near(s.position[1], way * 1 / sqrt(10), 0.02 * way);
    check_below(hypot(s.velocity[0], s.velocity[1]), 1e-6);
    foliot_world_destroy(world);
    builder_free(&y);
}

// A disc-like box that spins flat on the floor is braked by the friction under its faces.
TEST(a_spinning_box_comes_to_rest)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_box(&y, 4, 0.3, 0.3, 0.05, 0, 0, 0.05);
    builder_set_spin(&y, 0, 0, 6);
    builder_set_material(&y, 0.5, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 6);
    double after = last_of(world, &y).angular_velocity[2];
    check_lt(after, 5.2);
    check_gt(after, 1);
    run_ticks(world, 114);
    check_below(fabs(last_of(world, &y).angular_velocity[2]), 1e-5);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- rolling

// A capsule that slides across its axis ends up rolling: m v + I w / r is kept.
TEST(a_sliding_capsule_ends_up_rolling)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    double r = 0.2, m = 3, inertia = 0.45 * m * r * r;
    builder_add_capsule(&y, m, r, 0.5, 0, 0, r);
    builder_turn(&y, 1, 0, 0, M_PI / 2); // its axis along y
    builder_set_velocity(&y, 2, 0, 0);
    y.bodies[1].inertia[0] = y.bodies[1].inertia[1] = 0.4;
    y.bodies[1].inertia[2] = inertia;
    builder_set_material(&y, 0.4, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 200);
    foliot_body_state s = last_of(world, &y);
    double expected = 2 / (1 + inertia / (m * r * r));
    check_near(s.velocity[0], expected, 0.01 * expected);
    check_near(s.angular_velocity[1] * r, s.velocity[0], 1e-3);
    check_below(fabs(s.velocity[1]), 1e-3);
    double before = s.position[0];
    run_ticks(world, 60); // and rolls on
    check_near(last_of(world, &y).position[0] - before, expected, 0.01 * expected);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- tipping

// A box that stands on its lower edge, tilted by `angle`, after two seconds.
static double tipped(double angle)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    double a = 0.2, h = 0.5; // half its width and height
    builder_add_box(&y, 20, a, 0.3, h, 0, 0, a * sin(angle) + h * cos(angle));
    builder_turn(&y, 0, 1, 0, angle);
    builder_set_material(&y, 0.9, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 240);
    foliot_body_state s = last_of(world, &y);
    check_near(s.position[2], tilt_of(&s) < 0.5 ? h : a, 3e-3); // flat, on one face or the other
    check_below(foliot_world_get_invariants(world, NULL).kinetic, 1e-3);
    double end = tilt_of(&s);
    foliot_world_destroy(world);
    builder_free(&y);
    return end;
}

TEST(a_box_tips_over_its_edge_at_the_right_angle)
{
    double critical = atan(0.2 / 0.5);
    check_below(tipped(critical - 0.02), 2e-3);
    check_near(tipped(critical + 0.02), M_PI / 2, 2e-3);
}

TEST(a_capsule_on_end_falls_on_its_side)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    builder_add_capsule(&y, 2, 0.1, 0.3, 0, 0, 0.1 + 0.3 * cos(0.05));
    builder_turn(&y, 0, 1, 0, 0.05);
    builder_set_material(&y, 0.7, 0);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 300);
    foliot_body_state s = last_of(world, &y);
    check_near(tilt_of(&s), M_PI / 2, 5e-3);
    check_near(s.position[2], 0.1, 1e-3);
    foliot_world_destroy(world);
    builder_free(&y);
}

// Each domino is struck after the one before it, and all fall. The ball slides the first three
// together before they tip, so the first may tip one tick later than the second.
TEST(dominoes_all_fall)
{
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    builder_add_ball(&y, 8, 0.1, -0.5, 0, 0.3);
    builder_set_velocity(&y, 3, 0, 0);
    for (int n = 0; n < 15; n++)
        builder_add_box(&y, 2, 0.03, 0.12, 0.3, 0.24 * n, 0, 0.3);
    builder_set_material(&y, 0.4, 0);
    foliot_world *world = builder_create_world(&y);
    int struck_at[15] = {0}, fallen_at[15] = {0};
    for (int t = 1; t < 480; t++) {
        run_ticks(world, 1);
        for (uint32_t n = 0; n < 15; n++) {
            foliot_body_state s = slot_state(world, 2 + n);
            if (!struck_at[n] && tilt_of(&s) > 0.005)
                struck_at[n] = t;
            if (!fallen_at[n] && tilt_of(&s) > 0.15)
                fallen_at[n] = t;
        }
    }
    for (int n = 0; n < 15; n++) {
        check_gt(fallen_at[n], 0);
        if (n == 0)
            continue;
        check_gt(struck_at[n], struck_at[n - 1]);
        check_ge(fallen_at[n] + (n == 1), fallen_at[n - 1]);
    }
    for (uint32_t n = 0; n < 15; n++) // the ball may roll on
        check_below(fabs(slot_state(world, 2 + n).velocity[0]), 0.02);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- pushing

// A player's cube shoves a row of others along: F = (M + m) a + friction.
TEST(a_player_pushes_a_row_of_cubes)
{
    static const double start[1][3] = {{0, 0, 0.5}};
    scene_builder y = floor_scene(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    for (int n = 0; n < 5; n++)
        builder_add_box(&y, 10, 0.2, 0.2, 0.2, 0.7 + 0.4 * n, 0, 0.2);
    builder_set_material(&y, 0.3, 0);
    foliot_players_definition *p = &y.scene.players;
    p->limit = 1;
    p->body.mass = 100;
    p->body.shape.kind = FOLIOT_SHAPE_BOX;
    p->body.shape.half[0] = p->body.shape.half[1] = p->body.shape.half[2] = 0.5;
    p->body.friction = 0.3;
    p->positions = start;
    p->position_count = 1;
    p->force = 1000;
    foliot_world *world = builder_create_world(&y);
    foliot_input input = {.kind = FOLIOT_INPUT_JOIN, .sequence = 1};
    assert_int_equal(foliot_world_step(world, &input, 1, NULL), FOLIOT_STATUS_OK);
    input = (foliot_input){.kind = FOLIOT_INPUT_CONTROL, .sequence = 2, .axes = {127, 0, 0, 0}};
    assert_int_equal(foliot_world_step(world, &input, 1, NULL), FOLIOT_STATUS_OK);
    run_ticks(world, 30);
    double before = slot_state(world, 6).velocity[0];
    run_ticks(world, 30);
    double gained = (slot_state(world, 6).velocity[0] - before) / 0.5;
    double expected = (1000 - 0.3 * 150 * G) / 150;
    check_near(gained, expected, 0.02 * expected);
    for (uint32_t n = 1; n <= 5; n++)
        check_near(slot_state(world, n).velocity[0], slot_state(world, 6).velocity[0], 0.05);
    foliot_world_destroy(world);
    builder_free(&y);
}
