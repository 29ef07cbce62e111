// SPDX-License-Identifier: MIT
// test_kinematic_targets.c: kinematic bodies that are sent to poses, as commands send them between
// two steps; bodies that change how they move; what snapshots, restored worlds and threads make of
// them.
#include "text_world.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "sim/force/force.h"
#include "sim/state/body.h"
#include "sim/world/stage.h"
#include "task_pool.h"

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\ngravity: [0, 0, -9.81]\n"
#define PLATFORM "shape: {kind: box, half: [4, 4, 0.1]}"
#define CRATE "shape: {kind: box, half: [0.2, 0.2, 0.2]}"

static const char sleepers[] = HEAD "sleep: true\nlimits: {commands_max: 1}\nbodies:\n"
                                    "  - {kinematic: true, " PLATFORM "}\n"
                                    "  - {position: [0, 0, 0.3], " CRATE "}\n"
                                    "  - {kinematic: true, position: [-20, 0, 0.3], " CRATE "}\n";

static void set_speed(foliot_world *world, uint32_t slot, double speed)
{
    uint64_t bits;
    memcpy(&bits, &speed, sizeof bits);
    (void)!foliot_world_set_field(world, slot, FOLIOT_FIELD_velocity_x, bits);
}

// -- targets

TEST(they_arrive_at_their_target_to_the_bit_and_stop)
{
    foliot_world *world = text_world(sleepers);
    const double place[3] = {0.1, 1.0 / 3, -0.7};
    const double half_turn[4] = {0.9, 0.1, -0.3, 0.2};
    assert_false(foliot__target_set(world, 1, place, NULL)); // dynamic
    assert_true(foliot__target_set(world, 0, place, half_turn));
    step_ticks(world, 1);
    foliot_body_state lift = state_of(world, 0);
    double length = sqrt(0.81 + 0.01 + 0.09 + 0.04);
    for (int k = 0; k < 3; k++) {
        check_bits(lift.position[k], place[k]);
        check_near(lift.velocity[k], place[k] * 60, 1e-12);
    }
    for (int k = 0; k < 4; k++)
        check_near(lift.orientation[k], half_turn[k] / length, 1e-15);
    assert_true(lift.flags & FOLIOT_BODY_TARGETED);
    assert_false(lift.flags & FOLIOT__TARGET_NEW);
    double spin = sqrt(lift.angular_velocity[0] * lift.angular_velocity[0] +
                       lift.angular_velocity[1] * lift.angular_velocity[1] +
                       lift.angular_velocity[2] * lift.angular_velocity[2]);
    check_near(spin, 60 * 2 * acos(0.9 / length), 1e-9);
    step_ticks(world, 1);
    lift = state_of(world, 0);
    for (int k = 0; k < 3; k++) {
        check_bits(lift.position[k], place[k]);
        check_bits(lift.velocity[k], 0);
        check_bits(lift.angular_velocity[k], 0);
    }
    assert_false(lift.flags & FOLIOT_BODY_TARGETED);
    foliot_world_destroy(world);
}

// Whatever the rounding on the way.
TEST(every_target_is_met_to_the_bit)
{
    foliot_world *world = text_world(sleepers);
    foliot__rng rng = foliot__rng_seeded(5);
    for (int t = 0; t < 200; t++) {
        double place[3], turned[4];
        for (int k = 0; k < 3; k++)
            place[k] = (t % 2 ? -3000 : -30) + foliot__rng_unit(&rng); // away from others
        for (int k = 0; k < 4; k++)
            turned[k] = foliot__rng_unit(&rng) - 0.5;
        assert_true(foliot__target_set(world, 0, place, turned));
        step_ticks(world, 1);
        foliot_body_state lift = state_of(world, 0);
        double same = 0, length = 0;
        for (int k = 0; k < 4; k++) {
            same += lift.orientation[k] * turned[k];
            length += turned[k] * turned[k];
        }
        for (int k = 0; k < 3; k++)
            check_bits(lift.position[k], place[k]);
        check_near(fabs(same) / sqrt(length), 1, 1e-14);
    }
    foliot_world_destroy(world);
}

// The two parts may come apart; what is too far for a tick is refused; a dropped target is none.
TEST(targets_add_up_and_are_checked)
{
    foliot_world *world = text_world(sleepers);
    const double place[3] = {0.5, 0, 0}, origin[3] = {0, 0, 0}, turned[4] = {0, 0, 0, -2},
                 far[3] = {0x1p40, 0, 0};
    assert_true(foliot__target_set(world, 0, place, NULL));
    assert_true(foliot__target_set(world, 0, NULL, turned));
    assert_false(foliot__target_set(world, 0, far, NULL));
    step_ticks(world, 1);
    check_bits(state_of(world, 0).position[0], 0.5);
    check_near(fabs(state_of(world, 0).orientation[3]), 1, 1e-15);
    assert_true(foliot__target_set(world, 0, NULL, NULL)); // stays
    step_ticks(world, 1);
    check_bits(state_of(world, 0).position[0], 0.5);
    assert_true(foliot__target_set(world, 0, origin, NULL));
    foliot__target_drop(world, 0);
    set_speed(world, 0, 6);
    step_ticks(world, 2);
    check_near(state_of(world, 0).position[0], 0.7, 1e-12);
    foliot_world_destroy(world);
}

// A chain of targets is a path: what lies on the platform goes along.
TEST(targets_carry_what_lies_on_the_body)
{
    foliot_world *world = text_world(sleepers);
    step_ticks(world, 60);
    for (int t = 1; t <= 240; t++) {
        double phase = t / 120.0; // up by 1 m, gently
        const double place[3] = {0, 0, (1 - cos(phase * 3.14159265358979)) / 2};
        assert_true(foliot__target_set(world, 0, place, NULL));
        step_ticks(world, 1);
        check_near(state_of(world, 1).position[2], place[2] + 0.3, 0.01);
    }
    foliot_world_destroy(world);
}

TEST(worlds_restored_on_the_way_have_the_same_future)
{
    foliot_world *world = text_world(sleepers), *other = text_world(sleepers);
    for (int t = 0; t < 90; t++) {
        if (t % 7 == 3) {
            foliot_world_destroy(other);
            other = restored(world, sleepers);
        }
        const double place[3] = {t * 0.01, 0, 0};
        for (int k = 0; k < 2 && t % 3 != 2; k++)
            assert_true(foliot__target_set(k ? other : world, 0, place, NULL));
        step_ticks(world, 1);
        step_ticks(other, 1);
        check_same_digest(world, other);
    }
    foliot_world_destroy(world);
    foliot_world_destroy(other);
}

// -- kinds that change

TEST(a_body_may_change_how_it_moves)
{
    foliot_world *world = text_world(
        HEAD "limits: {commands_max: 1}\nbodies:\n"
             "  - {static: true, shape: {kind: plane, offset: -50}}\n"
             "  - {static: true, " CRATE "}\n"
             "  - {kinematic: true, mass: 0, position: [5, 0, 0], " CRATE "}\n"
             "  - {position: [9, 0, 0], velocity: [1, 0, 0], angular_velocity: [1, 0, 0], " CRATE
             "}\n");
    assert_false(foliot__body_set_motion(world, 0, FOLIOT_MOTION_KINEMATIC)); // a plane
    assert_false(foliot__body_set_motion(world, 1, FOLIOT_MOTION_DYNAMIC));   // without mass
    assert_false(foliot__body_set_motion(world, 2, FOLIOT_MOTION_DYNAMIC));
    assert_true(foliot__body_set_motion(world, 1, FOLIOT_MOTION_KINEMATIC));
    set_speed(world, 1, 6);
    assert_true(foliot__body_set_motion(world, 3, FOLIOT_MOTION_STATIC));
    foliot__forces_body_gone(world);
    check_bits(foliot_world_get_body_mass(world, 3), 0);
    step_ticks(world, 60);
    check_near(state_of(world, 1).position[0], 6, 1e-12);
    check_bits(state_of(world, 3).position[0], 9);
    check_bits(state_of(world, 3).angular_velocity[0], 0);
    assert_true(foliot__body_set_motion(world, 3, FOLIOT_MOTION_DYNAMIC));
    foliot__forces_body_gone(world);
    check_bits(foliot_world_get_body_mass(world, 3), 1);
    step_ticks(world, 60);
    check_near(state_of(world, 3).position[2], -9.81 / 2, 0.1);
    foliot_world_destroy(world);
}

// -- snapshots

TEST(snapshots_say_what_a_body_is)
{
    foliot_world *world = text_world(HEAD "bodies:\n"
                                          "  - {kinematic: true, " CRATE "}\n"
                                          "  - {kinematic: true, sensor: true, " CRATE "}\n"
                                          "  - {position: [9, 0, 0], " CRATE "}\n");
    foliot_scene *scene = text_scene(HEAD "bodies: [{}]\n");
    foliot_snapshot_format format = foliot_snapshot_format_default(scene);
    foliot_snapshot_body bodies[3];
    foliot_snapshot snapshot = {.bodies = bodies, .capacity = 3};
    assert_int_equal(foliot_snapshot_quantise(&format, world, &snapshot), FOLIOT_STATUS_OK);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(foliot_snapshot_dequantise(&format, &bodies[i], 1.0 / 60).flags,
                         state_of(world, i).flags);
    foliot_scene_destroy(scene);
    foliot_world_destroy(world);
}

// -- threads and restores

static void check_mixed(const char *integrator)
{
    char text[1024];
    snprintf(text, sizeof text,
             HEAD "integrator: %s\nsleep: true\nbodies:\n"
                  "  - {static: true, shape: {kind: plane, offset: -2}}\n"
                  "  - {kinematic: true, velocity: [1, 0, 0.25], " PLATFORM "}\n"
                  "  - {kinematic: true, position: [0, 0, -1], angular_velocity: [0.2, 0.1, 2],\n"
                  "     shape: {kind: capsule, radius: 0.3, half_length: 2}}\n"
                  "  - {position: [-2, -2, 1], " CRATE
                  ", grid: {rows: 5, columns: 6, right: [0.8, 0, 0], down: [0, 0.8, 0]}}\n"
                  "  - {position: [-3, -3, -1], shape: {kind: sphere, radius: 0.2},\n"
                  "     grid: {rows: 4, columns: 5, right: [1.2, 0, 0], down: [0, 1.2, 0]}}\n",
             integrator);
    check_restores(text, 150, 20);
}

// Accelerations are kept from one step to the next where nothing moved: here something did.
static void check_driven(const char *integrator)
{
    char text[512];
    snprintf(text, sizeof text,
             "foliot: 1\nname: t\ntick_hz: 60\nsubsteps: 3\nintegrator: %s\nbodies:\n"
             "  - {name: cart, kinematic: true, velocity: [0.3, 0.1, 0.7]}\n"
             "  - {name: tail, position: [1, 0, 0]}\n"
             "forces: [{kind: spring, a: cart, b: tail, stiffness: 4000, length: 0.5}]\n",
             integrator);
    check_restores(text, 60, 3);
}

// Where nothing turns, orientations are no state, and yet stay those of the scene.
TEST(a_restore_leaves_orientations_alone)
{
    static const char text[] = "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
                               "  - {static: true, orientation: [0.6, 0.8, 0, 0], " CRATE "}\n"
                               "  - {kinematic: true, velocity: [1, 0, 0]}\n";
    foliot_world *world = text_world(text), *other;
    step_ticks(world, 5);
    other = restored(world, text);
    check_near(state_of(other, 0).orientation[1], 0.8, 1e-15);
    check_bits(state_of(other, 1).orientation[0], 1);
    foliot_world_destroy(world);
    foliot_world_destroy(other);
}

TEST(restored_worlds_have_the_same_future)
{
    check_driven("velocity-verlet");
    check_driven("verlet");
    check_driven("blanes-moan6");
    check_driven("rk4");
    check_mixed("semi-implicit-euler");
    check_mixed("verlet");
    check_mixed("kinematic-strang");
}

// 240 bodies on platforms that turn and travel, with no threads and with some of any speed.
TEST(any_number_of_threads_gives_the_same_bits)
{
    static const char text[] =
        HEAD "bodies:\n"
             "  - {kinematic: true, velocity: [0.5, 0, 0.5], " PLATFORM "}\n"
             "  - {kinematic: true, position: [0, 0, 1], angular_velocity: [0, 0, 3],\n"
             "     shape: {kind: box, half: [3, 0.1, 0.1]}}\n"
             "  - {position: [-3, -3, 0.5], " CRATE ",\n"
             "     grid: {rows: 15, columns: 16, right: [0.41, 0, 0], down: [0, 0.41, 0.05]}}\n";
    foliot_world *alone = text_world(text), *shared = text_world(text);
    task_pool *pool = task_pool_create(3);
    foliot_host host = {
        .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = 3};
    for (int t = 0; t < 60; t++) {
        step_ticks(alone, 1);
        assert_int_equal(foliot_world_step(shared, NULL, 0, &host), FOLIOT_STATUS_OK);
        check_same_digest(alone, shared);
    }
    task_pool_destroy(pool);
    foliot_world_destroy(alone);
    foliot_world_destroy(shared);
}
