// SPDX-License-Identifier: MIT
// test_constraint.c: ropes, sticks, cloth and ragdolls by position correction, and their breaking.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scene_builder.h"
#include "slots.h"

#define G 9.81

static double distance(const foliot_world *world, uint32_t a, uint32_t b)
{
    foliot_body_state p = slot_state(world, a), q = slot_state(world, b);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (p.position[k] - q.position[k]) * (p.position[k] - q.position[k]);
    return sqrt(sum);
}

// A ball on a stick: swings with the period of a pendulum and never higher.
static void swings(foliot_integrator id)
{
    const double top[3] = {0, 0, 2}, angle = 0.5, length = 1.5;
    scene_builder y = builder_new(id);
    y.scene.dt = 1.0 / 240;
    y.scene.gravity[2] = -G;
    builder_add_point(&y, 1.3, length * sin(angle), 0, 2 - length * cos(angle));
    uint32_t stick = builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, 0, FOLIOT_NO_BODY, top);
    y.constraints[stick].length_min = y.constraints[stick].length;
    foliot_world *world = builder_create_world(&y);
    double crossings[32], before = 1, farthest = 0;
    int count = 0;
    for (int t = 0; t < 240 * 20; t++) {
        run_ticks(world, 1);
        foliot_body_state ball = slot_state(world, 0);
        double x = ball.position[0], z = ball.position[2] - 2;
        check_near(sqrt(x * x + z * z), length, 1e-9);
        if (before < 0 && x >= 0 && count < 32)
            crossings[count++] = (t + before / (before - x)) / 240;
        before = x;
        if (t > 240 * 17)
            farthest = fmax(farthest, fabs(x));
    }
    // Complete elliptic integral: 2 pi sqrt(l / g) (1 + a^2/16 + 11 a^4/3072).
    double small = 2 * 3.14159265358979 * sqrt(length / G);
    double period = small * (1 + angle * angle / 16 + 11 * pow(angle, 4) / 3072);
    check_near((crossings[count - 1] - crossings[0]) / (count - 1), period, 0.01 * period);
    // Moving positions along the stick as it is now, not as it was, takes a little energy: never
    // gives any.
    check_below(farthest, length * sin(angle));
    check_below(0.6 * length * sin(angle), farthest);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_stick_makes_a_pendulum)
{
    builder_with_every_scheme(swings);
}

TEST(a_rope_is_slack_until_it_is_tight)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    const double top[3] = {0, 0, 0};
    builder_add_point(&y, 2, 1, 0, 0);
    uint32_t rope = builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, 0, FOLIOT_NO_BODY, top);
    y.bodies[0].position[0] = 0.2;
    builder_set_velocity(&y, 0.5, 0, 0);
    y.constraints[rope].length_min = 0;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 60); // at 0.7
    check_near(slot_state(world, 0).velocity[0], 0.5, 1e-14);
    run_ticks(world, 60); // stopped at 1
    check_near(slot_state(world, 0).position[0], 1, 1e-12);
    check_near(slot_state(world, 0).velocity[0], 0, 1e-12);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(momentum_is_kept_by_links)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    for (int k = 0; k < 10; k++) {
        builder_add_point(&y, 1 + 0.3 * k, k * 0.5, 0.1 * (k % 3), 0);
        builder_set_velocity(&y, sin(k), cos(2 * k), 0.3 * k);
    }
    for (uint32_t k = 0; k < 9; k++)
        builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, k, k + 1, NULL);
    foliot_world *world = builder_create_world(&y);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    run_ticks(world, 600);
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    for (int k = 0; k < 3; k++)
        check_near(end.momentum[k], start.momentum[k], 1e-10);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- loads far heavier than what carries them

#define ROPE 20
#define ROPE_LENGTH 2.0

// Links of one kilogram under a load, hung up at the origin, at an angle to the vertical.
static foliot_world *rope_world(foliot_integrator id, double load, double angle)
{
    static const double top[3] = {0, 0, 0};
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    for (uint32_t k = 0; k < ROPE; k++) {
        double r = ROPE_LENGTH * (k + 1) / ROPE;
        builder_add_point(&y, k + 1 < ROPE ? 1 : load, r * sin(angle), 0, -r * cos(angle));
        uint32_t link =
            k ? builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, k, k - 1, NULL)
              : builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, 0, FOLIOT_NO_BODY, top);
        y.constraints[link].length_min = 0;
    }
    foliot_world *world = builder_create_world(&y);
    builder_free(&y);
    return world;
}

static void hangs_a_load(foliot_integrator id)
{
    for (double load = 1000; load <= 1e5; load *= 100) {
        foliot_world *world = rope_world(id, load, 0);
        for (int t = 0; t < 300; t++) {
            run_ticks(world, 1);
            double z = slot_state(world, ROPE - 1).position[2];
            check_near(z, -ROPE_LENGTH, 1e-9);
        }
        double weight = G * (load + ROPE - 1);
        check_near(index_joint(world, 0).force, weight, 1e-6 * weight);
        foliot_world_destroy(world);
    }
}

TEST(a_light_rope_carries_any_load)
{
    builder_with_every_scheme(hangs_a_load);
}

// Also from above, where it is slack for a second and then jerked tight.
TEST(a_light_rope_with_a_load_swings_and_gains_no_energy)
{
    static const double angles[3] = {0.5, 1.5, 3};
    for (int k = 0; k < 6; k++) {
        foliot_world *world =
            rope_world(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, k % 2 ? 1e5 : 1000, angles[k / 2]);
        foliot_invariants start = foliot_world_get_invariants(world, NULL);
        double energy = start.kinetic + start.potential;
        for (int t = 0; t < 600; t++) {
            run_ticks(world, 1);
            foliot_invariants now = foliot_world_get_invariants(world, NULL);
            check_le(now.kinetic + now.potential, energy + 1e-3);
            for (uint32_t i = 1; i < ROPE; i++)
                check_below(distance(world, i, i - 1), ROPE_LENGTH / ROPE + 1e-4);
        }
        foliot_world_destroy(world);
    }
}

// A weight in the middle of a light rope that is tied at both ends hangs at the tip of a triangle,
// and one on a straight rope sinks by less than a centimetre.
TEST(a_light_rope_between_two_posts_carries_a_load)
{
    for (int straight = 0; straight < 2; straight++) {
        double span = straight ? ROPE_LENGTH : 0.6 * ROPE_LENGTH;
        const double left[3] = {0, 0, 0}, right[3] = {span, 0, 0};
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        y.scene.gravity[2] = -G;
        foliot_force_definition drag = foliot_force_definition_default(FOLIOT_FORCE_DRAG);
        drag.as.drag.linear = 0.5;
        y.scene.forces = &drag;
        y.scene.force_count = 1;
        for (uint32_t k = 0; k + 1 < ROPE; k++) {
            builder_add_point(&y, k == ROPE / 2 - 1 ? 1000 : 1, span * (k + 1) / ROPE, 0, 0);
            builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, k, k ? k - 1 : FOLIOT_NO_BODY,
                             k ? NULL : left);
        }
        builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, ROPE - 2, FOLIOT_NO_BODY, right);
        for (uint32_t c = 0; c < ROPE; c++) {
            y.constraints[c].length = ROPE_LENGTH / ROPE;
            y.constraints[c].length_min = 0;
        }
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 600);
        double depth = straight ? 0 : sqrt(ROPE_LENGTH * ROPE_LENGTH - span * span) / 2;
        check_near(slot_state(world, ROPE / 2 - 1).position[2], -depth, straight ? 0.01 : 1e-4);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// A star: three arms of light links, a load at each end, thrown.
TEST(trees_keep_momentum)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
    builder_add_point(&y, 0.01, 0, 0, 0);
    for (uint32_t k = 0; k < 15; k++) {
        double angle = 2 * 3.14159265358979 / 3 * (k % 3), r = k / 3 + 1;
        builder_add_point(&y, k < 12 ? 0.01 : 10, r * cos(angle), r * sin(angle), 0.1 * k);
        if (k >= 12)
            builder_set_velocity(&y, sin(k), 3 * cos(2 * k), 0.3 * k);
        uint32_t link =
            builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, k + 1, k < 3 ? 0 : k - 2, NULL);
        y.constraints[link].length_min = k % 2 ? y.constraints[link].length : 0;
    }
    foliot_world *world = builder_create_world(&y);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    run_ticks(world, 600);
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    for (int k = 0; k < 3; k++)
        check_near(end.momentum[k], start.momentum[k], 1e-8);
    check_le(end.kinetic, start.kinetic);
    for (uint32_t c = 0; c < 15; c++) {
        double d = distance(world, y.constraints[c].a, y.constraints[c].b);
        check_le(d, y.constraints[c].length + 1e-9);
        check_ge(d, y.constraints[c].length_min - 1e-9);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

// A copy searches for the trees again, and a restored world does.
TEST(trees_are_no_state)
{
    foliot_world *world = rope_world(FOLIOT_INTEGRATOR_VERLET, 1000, 2),
                 *other = rope_world(FOLIOT_INTEGRATOR_VERLET, 1000, 2);
    run_ticks(world, 60);
    run_ticks(other, 7);
    size_t bytes = foliot_world_get_bytes(world);
    void *block = NULL;
    assert_int_equal(posix_memalign(&block, FOLIOT_WORLD_ALIGNMENT, bytes), 0);
    memset(block, 0xa5, bytes);
    foliot_world_copy(block, world);
    size_t length = 0;
    assert_int_equal(foliot_world_capture(world, NULL, 0, &length), FOLIOT_STATUS_OK);
    uint8_t *image = malloc(length);
    assert_int_equal(foliot_world_capture(world, image, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(other, image, length), FOLIOT_STATUS_OK);
    for (int t = 0; t < 120; t++) {
        run_ticks(world, 1);
        run_ticks(block, 1);
        run_ticks(other, 1);
        foliot_digest digest = foliot_world_get_digest(world);
        assert_true(foliot_digest_equal(digest, foliot_world_get_digest(block)));
        assert_true(foliot_digest_equal(digest, foliot_world_get_digest(other)));
    }
    free(image);
    free(block);
    foliot_world_destroy(world);
    foliot_world_destroy(other);
}

// -- cloth

#define SIDE 20

static uint32_t cloth(scene_builder *y, bool whole_edge, double break_force)
{
    y->scene.gravity[2] = -G;
    for (int r = 0; r < SIDE; r++)
        for (int k = 0; k < SIDE; k++)
            builder_add_point(y, r == 0 && (whole_edge || k == 0 || k == SIDE - 1) ? 0 : 0.02,
                              0.1 * k, 0.1 * r, 2);
    for (uint32_t r = 0; r < SIDE; r++)
        for (uint32_t k = 0; k < SIDE; k++) {
            uint32_t i = r * SIDE + k;
            if (k + 1 < SIDE && !(whole_edge && r == 0))
                builder_add_link(y, FOLIOT_CONSTRAINT_DISTANCE, i, i + 1, NULL);
            if (r + 1 < SIDE)
                builder_add_link(y, FOLIOT_CONSTRAINT_DISTANCE, i, i + SIDE, NULL);
        }
    for (uint32_t c = 0; c < y->scene.constraint_count; c++) {
        y->constraints[c].length_min = 0;
        y->constraints[c].break_force = break_force;
    }
    return y->scene.constraint_count;
}

static uint32_t broken_count(const foliot_world *world, uint32_t constraints)
{
    uint32_t broken = 0;
    for (uint32_t c = 0; c < constraints; c++)
        broken += index_joint(world, c).broken;
    return broken;
}

static void hangs(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    uint32_t constraints = cloth(&y, false, INFINITY);
    y.scene.constraint_iterations = 30;
    // Air, so that it comes to rest.
    foliot_force_definition drag = foliot_force_definition_default(FOLIOT_FORCE_DRAG);
    drag.as.drag.linear = 0.02;
    y.scene.forces = &drag;
    y.scene.force_count = 1;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 900);
    assert_int_equal(broken_count(world, constraints), 0);
    assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 0);
    double longest = 0, lowest = 2;
    for (uint32_t c = 0; c < constraints; c++)
        longest = fmax(longest, distance(world, y.constraints[c].a, y.constraints[c].b));
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        lowest = fmin(lowest, slot_state(world, i).position[2]);
    check_below(longest, 0.1 * 1.25); // the two pinned corners carry all of it
    check_lt(lowest, 1);
    check_gt(lowest, -0.8);
    double before[SIDE * SIDE];
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        before[i] = slot_state(world, i).position[2];
    run_ticks(world, 60);
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        check_near(slot_state(world, i).position[2], before[i], 0.01);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_cloth_hangs)
{
    builder_with_every_scheme(hangs);
}

TEST(a_cloth_tears_where_a_ball_is_thrown_at_it)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_VERLET);
    uint32_t constraints = cloth(&y, true, 60);
    // A heavy weight tied to the middle of the cloth and thrown down.
    uint32_t weight = builder_add_point(&y, 10, 0.95, 0.95, 1.9);
    builder_set_velocity(&y, 0, 0, -20);
    uint32_t rope =
        builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, weight, SIDE * SIDE / 2 + SIDE / 2, NULL);
    y.constraints[rope].break_force = INFINITY;
    foliot_world *world = builder_create_world(&y);
    uint32_t events = 0;
    for (int t = 0; t < 600; t++) {
        run_ticks(world, 1);
        uint32_t count;
        const foliot_event *event = foliot_world_get_events(world, &count);
        for (uint32_t k = 0; k < count; k++) {
            assert_int_equal(event[k].kind, FOLIOT_EVENT_JOINT_BROKEN);
            assert_true(index_joint(world, foliot_joint_id_get_index(event[k].joint)).broken);
            events++;
        }
    }
    uint32_t broken = broken_count(world, constraints + 1);
    assert_int_equal(broken, events + foliot_world_get_counters(world)->events_dropped);
    check_ge(broken, 4);
    check_lt(broken, constraints / 2); // a hole, not dust
    assert_false(index_joint(world, rope).broken);
    // The weight falls, and the rest of the cloth still hangs.
    check_below(slot_state(world, weight).position[2], -100);
    uint32_t hanging = 0;
    for (uint32_t i = 0; i < SIDE * SIDE; i++)
        hanging += slot_state(world, i).position[2] > -2;
    check_gt(hanging, SIDE * SIDE / 2);
    foliot_world_destroy(world);
    builder_free(&y);
}

// A broken constraint stays broken in a restored world, and the digest shows it.
TEST(breaking_is_state)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    uint32_t constraints = cloth(&y, false, 3);
    foliot_world *world = builder_create_world(&y), *other = builder_create_world(&y);
    run_ticks(world, 120);
    check_gt(broken_count(world, constraints), 0);
    size_t bytes = 0;
    assert_int_equal(foliot_world_capture(world, NULL, 0, &bytes), FOLIOT_STATUS_OK);
    uint8_t *image = malloc(bytes);
    assert_int_equal(foliot_world_capture(world, image, bytes, &bytes), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(other, image, bytes), FOLIOT_STATUS_OK);
    free(image);
    for (int t = 0; t < 120; t++) {
        assert_true(
            foliot_digest_equal(foliot_world_get_digest(world), foliot_world_get_digest(other)));
        run_ticks(world, 1);
        run_ticks(other, 1);
    }
    assert_int_equal(broken_count(world, constraints), broken_count(other, constraints));
    foliot_world_destroy(other);
    foliot_world_destroy(world);
    builder_free(&y);
}

// The reported force of a hanging weight is its weight, so a rope breaks where it says.
TEST(a_rope_breaks_at_its_force)
{
    for (int k = 0; k < 2; k++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
        const double top[3] = {0, 0, 1};
        y.scene.gravity[2] = -G;
        builder_add_point(&y, 3, 0, 0, 0);
        builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, 0, FOLIOT_NO_BODY, top);
        y.constraints[0].break_force = 3 * G * (k ? 0.99 : 1.01);
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 300);
        assert_int_equal(index_joint(world, 0).broken, k);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

// -- ragdoll

// Balls for the joints, sticks for the bones, thrown onto a floor: nothing comes apart or blows up.
static void falls(foliot_integrator id)
{
    static const double joints[11][3] = {{0, 0, 1.7},     {0, 0, 1.4},     {0.2, 0, 1.4},
                                         {0.45, 0, 1.4},  {-0.2, 0, 1.4},  {-0.45, 0, 1.4},
                                         {0, 0, 0.9},     {0.12, 0, 0.5},  {0.12, 0, 0.05},
                                         {-0.12, 0, 0.5}, {-0.12, 0, 0.05}};
    static const uint32_t bones[15][2] = {{0, 1}, {1, 2}, {2, 3}, {1, 4}, {4, 5},
                                          {1, 6}, {6, 7}, {7, 8}, {6, 9}, {9, 10},
                                          {2, 6}, {4, 6}, {2, 4}, {0, 2}, {0, 4}};
    scene_builder y = builder_new(id);
    y.scene.gravity[2] = -G;
    for (int k = 0; k < 11; k++) {
        builder_add_ball(&y, 1, 0.05, joints[k][0], joints[k][1], joints[k][2] + 2);
        builder_set_velocity(&y, 1.5, 0.3 * k, 0);
    }
    for (int k = 0; k < 15; k++) {
        uint32_t c =
            builder_add_link(&y, FOLIOT_CONSTRAINT_DISTANCE, bones[k][0], bones[k][1], NULL);
        y.constraints[c].length_min = y.constraints[c].length;
    }
    builder_add_plane(&y, 0, 0, 1, 0);
    builder_set_material(&y, 0.5, 0.2);
    foliot_world *world = builder_create_world(&y);
    for (int t = 0; t < 900; t++) {
        run_ticks(world, 1);
        for (int k = 0; k < 15; k++) {
            double length = y.constraints[k].length;
            check_near(distance(world, bones[k][0], bones[k][1]), length, 0.12 * length);
        }
        for (uint32_t i = 0; i < 11; i++)
            check_gt(slot_state(world, i).position[2], 0);
    }
    // It lies: low, and nothing jumps (its balls are wheels: along the floor it may roll on).
    for (uint32_t i = 0; i < 11; i++) {
        foliot_body_state joint = slot_state(world, i);
        check_below(joint.position[2], 0.8);
        check_near(joint.velocity[2], 0, 0.25);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_ragdoll_falls_and_stays_together)
{
    builder_with_every_scheme(falls);
}
