// SPDX-License-Identifier: MIT
// test_kinematic_targets.c: kinematic bodies that are sent to poses, as commands send them between
// two steps; bodies that change how they move; what snapshots, restored worlds and threads make of
// them.

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "sim/force/force.h"
#include "sim/state/body.h"
#include "sim/world/stage.h"
#include "task_pool.h"
#include "text_world.h"
#include "slots.h"

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
    (void)!slot_set_field(world, slot, FOLIOT_FIELD_velocity_x, bits);
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
    check_bits(slot_body(world, 3).mass, 0);
    step_ticks(world, 60);
    check_near(state_of(world, 1).position[0], 6, 1e-12);
    check_bits(state_of(world, 3).position[0], 9);
    check_bits(state_of(world, 3).angular_velocity[0], 0);
    assert_true(foliot__body_set_motion(world, 3, FOLIOT_MOTION_DYNAMIC));
    foliot__forces_body_gone(world);
    check_bits(slot_body(world, 3).mass, 1);
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

// -- kinematic bodies: bodies that move as their velocity says: exactly, under every scheme,
// and what they do to others by contact, friction, joints and springs, against motion computed by
// hand. Where they are sent is test_kinematic_targets.c's.

// -- their own motion

static void check_own_motion(const char *integrator)
{
    char text[512];
    snprintf(text, sizeof text,
             HEAD "integrator: %s\nforces: [{kind: drag, linear: 3}]\nlimits: {speed_max: 1}\n"
                  "bodies:\n"
                  "  - {name: lift, kinematic: true, mass: 0, velocity: [1, -2, 3],\n"
                  "     angular_velocity: [0, 0, 1.5], shape: {kind: box, half: [1, 2, 3]}}\n"
                  "  - {name: free, position: [50, 0, 0]}\n",
             integrator);
    foliot_world *world = text_world(text);
    step_ticks(world, 60);
    foliot_body_state lift = state_of(world, 0);
    check_near(lift.position[0], 1, 1e-14);
    check_near(lift.position[1], -2, 1e-14);
    check_near(lift.position[2], 3, 1e-14);
    check_bits(lift.velocity[0], 1);
    check_bits(lift.velocity[2], 3);
    check_bits(lift.angular_velocity[2], 1.5);
    check_near(lift.orientation[0], cos(0.75), 1e-13);
    check_near(lift.orientation[3], sin(0.75), 1e-13);
    check_below(state_of(world, 1).position[2], -0.1); // the force is there
    foliot_invariants sums = foliot_world_get_invariants(world, NULL);
    check_near(sums.momentum[0], 0, 1e-12); // a kinematic body has none
    foliot_world_destroy(world);
}

TEST(they_move_by_their_velocity_under_every_scheme)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++)
        if (id != FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
            check_own_motion(foliot_integrator_get_info((foliot_integrator)id)->name);
}

// Static and other kinematic bodies are passed through.
TEST(nothing_stands_in_their_way)
{
    foliot_world *world = text_world(
        HEAD "bodies:\n"
             "  - {static: true, position: [2, 0, 0], " CRATE "}\n"
             "  - {kinematic: true, velocity: [4, 0, 0], " CRATE "}\n"
             "  - {kinematic: true, position: [4, 0, 0], velocity: [-4, 0, 0], " CRATE "}\n"
             "  - {name: idle, position: [0, 90, 0], " CRATE "}\n");
    uint32_t hits = 0, contacts = 0, count;
    for (int t = 0; t < 60; t++) {
        step_ticks(world, 1);
        foliot_world_get_hit_events(world, &count);
        hits += count;
        contacts += foliot_world_get_contact_events(world, NULL, 0);
    }
    assert_int_equal(hits, 0);
    assert_int_equal(contacts, 0);
    check_near(state_of(world, 1).position[0], 4, 1e-14);
    check_near(state_of(world, 2).position[0], 0, 1e-14);
    foliot_world_destroy(world);
}

// -- what lies on them

static void check_riding(const char *integrator)
{
    char text[640];
    snprintf(text, sizeof text,
             HEAD "integrator: %s\nbodies:\n"
                  "  - {kinematic: true, velocity: [1, 0, 0], " PLATFORM "}\n"
                  "  - {position: [0, 0, 0.3], velocity: [1, 0, 0], " CRATE "}\n"
                  "  - {kinematic: true, position: [0, 20, 0], velocity: [0, 0, 2], " PLATFORM "}\n"
                  "  - {position: [0, 20, 0.3], " CRATE "}\n"
                  "  - {position: [1, 20, 0.3], shape: {kind: sphere, radius: 0.2}}\n",
             integrator);
    foliot_world *world = text_world(text);
    step_ticks(world, 120);
    foliot_body_state box = state_of(world, 1), raised = state_of(world, 3);
    check_near(box.position[0], 2, 0.02);
    check_near(box.velocity[0], 1, 0.01);
    check_near(box.position[2], 0.3, 0.005);
    check_near(raised.position[2], 4.3, 0.02);
    check_near(raised.velocity[2], 2, 0.02);
    check_near(state_of(world, 4).position[2], 4.3, 0.02);
    foliot_world_destroy(world);
}

TEST(they_carry_and_lift_what_lies_on_them)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (info->contacts && info->reversible != FOLIOT_REVERSIBILITY_EXACT)
            check_riding(info->name);
    }
}

// A crate that starts at rest slides by v^2 / 2 mu g before it rides along.
TEST(friction_brings_a_crate_to_the_speed_of_its_platform)
{
    foliot_world *world =
        text_world(HEAD "bodies:\n"
                        "  - {kinematic: true, velocity: [1, 0, 0], " PLATFORM "}\n"
                        "  - {position: [0, 0, 0.3], " CRATE "}\n");
    step_ticks(world, 120);
    double slid = 1 / (2 * 0.5 * 9.81);
    check_near(state_of(world, 1).position[0], 2 - slid, 0.01);
    check_near(state_of(world, 1).velocity[0], 1, 0.01);
    foliot_world_destroy(world);
}

TEST(a_turning_platform_takes_what_lies_on_it_round)
{
    foliot_world *world = text_world(
        HEAD "bodies:\n"
             "  - {kinematic: true, angular_velocity: [0, 0, 1], " PLATFORM "}\n"
             "  - {position: [2, 0, 0.3], velocity: [0, 2, 0], angular_velocity: [0, 0, 1],\n"
             "     friction: 2, " CRATE "}\n");
    step_ticks(world, 120);
    foliot_body_state box = state_of(world, 1);
    check_near(box.position[0], 2 * cos(2), 0.04);
    check_near(box.position[1], 2 * sin(2), 0.04);
    check_near(box.angular_velocity[2], 1, 0.02);
    foliot_world_destroy(world);
}

// -- what they strike

// A wall of infinite mass gives a ball twice its speed, or its own where nothing bounces.
static void check_paddle(double restitution, double expected)
{
    char text[512];
    snprintf(text, sizeof text,
             "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
             "  - {kinematic: true, position: [-3, 0, 0], velocity: [240, 0, 0],\n"
             "     shape: {kind: box, half: [0.01, 1, 1]}}\n"
             "  - {position: [0, 0, 0], restitution: %g, shape: {kind: sphere, radius: 0.1}}\n",
             restitution);
    foliot_world *world = text_world(text);
    step_ticks(world, 4);
    check_near(state_of(world, 1).velocity[0], expected, 0.001 * expected);
    check_gt(state_of(world, 1).position[0], state_of(world, 0).position[0]);
    check_bits(state_of(world, 0).velocity[0], 240);
    foliot_world_destroy(world);
}

TEST(a_fast_paddle_hits_and_does_not_pass)
{
    check_paddle(1, 480);
    check_paddle(0.5, 360);
    check_paddle(0, 240);
}

// The tip of a bar of half length 2 that turns at 30 rad / s moves 1 m a tick.
TEST(a_turning_bar_strikes_with_the_speed_of_its_surface)
{
    foliot_world *world = text_world("foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
                                     "  - {kinematic: true, angular_velocity: [0, 0, 30],\n"
                                     "     shape: {kind: box, half: [2, 0.02, 0.5]}}\n"
                                     "  - {position: [1.5, 0.4, 0], restitution: 1, friction: 0,\n"
                                     "     shape: {kind: sphere, radius: 0.05}}\n");
    step_ticks(world, 3);
    foliot_body_state ball = state_of(world, 1);
    double speed = hypot(ball.velocity[0], ball.velocity[1]);
    check_near(speed, 2 * 30 * 1.55, 3);
    check_bits(state_of(world, 0).angular_velocity[2], 30);
    foliot_world_destroy(world);
}

// A pusher of a third of a crate's size a tick, which no impact is: contacts see it come.
TEST(a_pusher_does_not_sink_in)
{
    foliot_world *world = text_world("foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
                                     "  - {kinematic: true, position: [-1.03, 0, 0],\n"
                                     "     velocity: [4, 0, 0], " CRATE "}\n"
                                     "  - {position: [0, 0, 0], " CRATE "}\n");
    double least = 1;
    for (int t = 0; t < 60; t++) {
        step_ticks(world, 1);
        double gap = state_of(world, 1).position[0] - state_of(world, 0).position[0] - 0.4;
        least = gap < least ? gap : least;
    }
    check_gt(least, -0.01);
    check_near(state_of(world, 1).velocity[0], 4, 0.1); // as against a wall
    foliot_world_destroy(world);
}

// Faster than contacts can follow, and about no principal axis.
TEST(a_fast_spin_is_kept)
{
    foliot_world *world = text_world("foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
                                     "  - {kinematic: true, angular_velocity: [300, 500, 400],\n"
                                     "     shape: {kind: box, half: [0.3, 0.2, 0.1]}}\n"
                                     "  - {position: [3, 0, 0], " CRATE "}\n");
    step_ticks(world, 30);
    check_bits(state_of(world, 0).angular_velocity[0], 300);
    check_bits(state_of(world, 0).angular_velocity[1], 500);
    check_bits(state_of(world, 0).angular_velocity[2], 400);
    foliot_world_destroy(world);
}

// -- what hangs on them

// A damper sees its kinematic end move: nothing is damped where both have one velocity.
TEST(dampers_follow_them_under_every_scheme)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        char text[512];
        if (id == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
            continue;
        snprintf(text, sizeof text,
                 "foliot: 1\nname: t\ntick_hz: 60\nintegrator: %s\nbodies:\n"
                 "  - {name: cart, kinematic: true, velocity: [2, 0, 0]}\n"
                 "  - {name: tail, velocity: [2, 0, 0]}\n"
                 "forces: [{kind: spring, a: cart, b: tail, stiffness: 1, damping: 30,\n"
                 "          damping_kind: isotropic}]\n",
                 foliot_integrator_get_info((foliot_integrator)id)->name);
        foliot_world *world = text_world(text);
        step_ticks(world, 120);
        check_near(state_of(world, 1).position[0], 4, 0.05);
        check_near(state_of(world, 1).velocity[0], 2, 0.05);
        foliot_world_destroy(world);
    }
}

TEST(joints_and_springs_follow_them)
{
    foliot_world *world = text_world(
        "foliot: 1\nname: t\ntick_hz: 60\nbodies:\n"
        "  - {name: cart, kinematic: true, velocity: [1, 0, 0], " CRATE "}\n"
        "  - {name: trailer, position: [0, 1, 0], velocity: [1, 0, 0], " CRATE "}\n"
        "  - {name: tower, kinematic: true, position: [0, 9, 0], velocity: [0, 0, 1], " CRATE "}\n"
        "  - {name: lamp, position: [1, 9, 0], velocity: [0, 0, 1]}\n"
        "  - {name: rope, kinematic: true, position: [0, 20, 0], velocity: [0, 0, 3]}\n"
        "  - {name: load, position: [0, 20, -1]}\n"
        "forces: [{kind: spring, a: tower, b: lamp, stiffness: 50, length: 1, damping: 5}]\n"
        "constraints:\n"
        "  - {kind: weld, a: cart, b: trailer}\n"
        "  - {kind: distance, a: rope, b: load, length: 1}\n");
    step_ticks(world, 120);
    check_near(state_of(world, 1).position[0], 2, 1e-3);
    check_near(state_of(world, 1).velocity[0], 1, 1e-3);
    check_near(state_of(world, 3).position[2], 2, 0.01);
    check_near(state_of(world, 3).position[0], 1, 0.01);
    check_near(state_of(world, 5).position[2], 5, 0.05);
    foliot_world_destroy(world);
}

// -- sleep

static bool asleep(const foliot_world *world, uint32_t slot)
{
    return state_of(world, slot).flags & FOLIOT_BODY_ASLEEP;
}

TEST(what_lies_on_them_sleeps_while_they_stand_and_wakes_when_they_move)
{
    foliot_world *world = text_world(sleepers);
    step_ticks(world, 120);
    assert_true(asleep(world, 1));
    assert_false(asleep(world, 0));
    set_speed(world, 0, 0.01); // slower than what counts as still
    for (int t = 0; t < 600; t++) {
        step_ticks(world, 1);
        assert_false(asleep(world, 1));
    }
    check_near(state_of(world, 1).position[0], 0.1, 0.001);
    set_speed(world, 0, 0);
    step_ticks(world, 120);
    assert_true(asleep(world, 1));
    set_speed(world, 2, 30); // one that comes from afar
    step_ticks(world, 60);
    check_gt(state_of(world, 1).position[0], 4.0);
    foliot_world_destroy(world);
}

// A slack rope holds a sleeper to a winch that stands far off and then drives away.
TEST(what_hangs_on_them_wakes_when_they_move)
{
    foliot_world *world =
        text_world(HEAD "sleep: true\nbodies:\n"
                        "  - {static: true, shape: {kind: plane}}\n"
                        "  - {name: winch, kinematic: true, position: [3, 0, 0.2], " CRATE "}\n"
                        "  - {name: load, position: [0, 0, 0.2], " CRATE "}\n"
                        "constraints: [{kind: distance, a: winch, b: load, length: 4}]\n");
    step_ticks(world, 120);
    assert_true(asleep(world, 2));
    set_speed(world, 1, 2);
    step_ticks(world, 1);
    assert_false(asleep(world, 2));
    step_ticks(world, 119);
    check_near(state_of(world, 2).position[0], 3, 0.1);
    foliot_world_destroy(world);
}

// The world steps for a kinematic body even where all others sleep, and their contacts stay.
TEST(they_move_while_all_others_sleep)
{
    foliot_world *world = text_world(sleepers);
    step_ticks(world, 120);
    assert_true(asleep(world, 1));
    uint32_t contacts = foliot_world_get_contact_events(world, NULL, 0);
    check_gt(contacts, 0);
    set_speed(world, 2, -1);
    step_ticks(world, 60);
    assert_true(asleep(world, 1));
    check_near(state_of(world, 2).position[0], -21, 1e-9);
    assert_int_equal(foliot_world_get_contact_events(world, NULL, 0), contacts);
    foliot_world_destroy(world);
}
