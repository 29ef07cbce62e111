// SPDX-License-Identifier: MIT
// test_kinematic_bodies.c: bodies that move as their velocity says: exactly, under every scheme,
// and what they do to others by contact, friction, joints and springs, against motion computed by
// hand. Where they are sent is test_kinematic_targets.c's.
#include "text_world.h"

#include <math.h>
#include <stdio.h>

#define HEAD "foliot: 1\nname: t\ntick_hz: 60\ngravity: [0, 0, -9.81]\n"
#define PLATFORM "shape: {kind: box, half: [4, 4, 0.1]}"
#define CRATE "shape: {kind: box, half: [0.2, 0.2, 0.2]}"

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

static const char sleepers[] = HEAD "sleep: true\nlimits: {commands_max: 1}\nbodies:\n"
                                    "  - {kinematic: true, " PLATFORM "}\n"
                                    "  - {position: [0, 0, 0.3], " CRATE "}\n"
                                    "  - {kinematic: true, position: [-20, 0, 0.3], " CRATE "}\n";

static bool asleep(const foliot_world *world, uint32_t slot)
{
    return state_of(world, slot).flags & FOLIOT_BODY_ASLEEP;
}

static void set_speed(foliot_world *world, uint32_t slot, double speed)
{
    uint64_t bits;
    memcpy(&bits, &speed, sizeof bits);
    (void)!foliot_world_set_field(world, slot, FOLIOT_FIELD_velocity_x, bits);
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
