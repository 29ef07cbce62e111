// SPDX-License-Identifier: MIT
// test_joint_kinds.c: what each kind of joint adds, without contacts: limits and motors of hinges,
// welds, ropes off the centre, and at which force or torque they break.
#include "check.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "joint_world.h"
#include "scene_builder.h"
#include "sim/state/state.h"
#include "status.h"

// -- hinges

static joint_world door(double gravity, const char *more)
{
    begin("semi-implicit-euler", 1.0 / 60, 4, gravity);
    add("  - {name: door, mass: 2, position: [1, 0, 0], inertia: [0.5, 0.5, 0.5]}\n"
        "constraints:\n  - {kind: hinge, a: door, anchor: [0, 0, 0], axis: [0, 1, 0]%s}\n",
        more);
    return make();
}

// b is the world: it turns by minus what the door does.
static double hinge_angle(const joint_world *y)
{
    return -angle_y(y, "door");
}

TEST(a_limit_holds)
{
    joint_world y = door(G, ", limits: [-0.5, 0.3]");
    double least = 0, greatest = 0;
    for (int t = 0; t < 600; t++) {
        step(&y);
        least = fmin(least, hinge_angle(&y));
        greatest = fmax(greatest, hinge_angle(&y));
    }
    check_near(least, -0.5, 1e-6);
    check_below(greatest, 1e-9);
    check_near(hinge_angle(&y), -0.5, 1e-6);
    check_near(state_of(&y, "door").angular_velocity[1], 0, 1e-9);
    end(&y);
}

TEST(a_motor_reaches_its_speed_with_its_torque)
{
    joint_world y = door(0, ", motor: {speed: 3, torque: 5}");
    double moment = 0.5 + 2 * 1; // about the hinge
    for (int t = 1; t <= 240; t++) {
        step(&y);
        double speed = -state_of(&y, "door").angular_velocity[1];
        check_near(speed, fmin(3, 5 / moment * t / 60), 1e-6);
    }
    end(&y);
    // Too weak to lift the door: it sinks, slower.
    y = door(G, ", motor: {speed: 1, torque: 10}");
    joint_world free = door(G, "");
    for (int t = 0; t < 30; t++) {
        step(&y);
        step(&free);
    }
    double weight = 2 * G * 1;
    check_near(hinge_angle(&y) / hinge_angle(&free), (weight - 10) / weight, 0.03);
    end(&y);
    end(&free);
}

TEST(a_motor_stops_at_a_limit)
{
    joint_world y = door(0, ", motor: {speed: 2, torque: 50}, limits: [-1, 1.2]");
    for (int t = 0; t < 300; t++)
        step(&y);
    check_near(hinge_angle(&y), 1.2, 1e-6);
    check_near(state_of(&y, "door").angular_velocity[1], 0, 1e-6);
    end(&y);
}

// Limits that a wrapped angle would jump over.
TEST(limits_reach_far)
{
    joint_world y = door(0, ", motor: {speed: -4, torque: 50}, limits: [-3.1, 0.5]");
    for (int t = 0; t < 300; t++)
        step(&y);
    double angle = hinge_angle(&y);
    check_near(angle > 0 ? angle - 2 * PI : angle, -3.1, 1e-5);
    end(&y);
}

// Follows the angle, which turns less than half a turn in a tick.
static double follow(const joint_world *y, double angle)
{
    return angle + remainder(hinge_angle(y) - angle, 2 * PI);
}

// The motor passes pi as any other angle, with shapes that may touch and without.
TEST(a_motor_turns_past_half_turns)
{
    static const char *const shapes[] = {"inertia: [0.01, 0.08, 0.08]",
                                         "shape: {kind: box, half: [0.5, 0.1, 0.1]}"};
    for (int k = 0; k < 2; k++) {
        begin("semi-implicit-euler", 1.0 / 60, 4, 0);
        add("  - {name: door, mass: 1, position: [0.5, 0.3, 0], %s}\n"
            "constraints:\n  - {kind: hinge, a: door, anchor: [0, 0.3, 0], axis: [0, 1, 0],"
            " motor: {speed: 10, torque: 1e6}}\n",
            shapes[k]);
        joint_world y = make();
        double angle = 0;
        for (int t = 1; t <= 200; t++) {
            step(&y);
            double now = follow(&y, angle);
            check_near(now - angle, 10.0 / 60, 1e-3);
            check_below(gap(&y, 0), 1e-4);
            angle = now;
        }
        check_near(angle, 2000.0 / 60, 1e-2);
        end(&y);
    }
}

// Limits beyond one turn: three turns one way, two the other. A copy and a restored world know how
// often the door has turned.
TEST(limits_count_turns)
{
    joint_world y = door(0, ", motor: {speed: 6, torque: 500}, limits: [-12, 20]");
    joint_world back = door(0, ", motor: {speed: -6, torque: 500}, limits: [-12, 20]");
    joint_world beside = door(0, ", motor: {speed: 6, torque: 500}, limits: [-12, 20]");
    size_t room = 1 << 16, bytes = 0;
    uint8_t *captured = malloc(room);
    double angle = 0, angle_back = 0;
    for (int t = 0; t < 400; t++) {
        step(&y);
        step(&back);
        angle = follow(&y, angle);
        angle_back = remainder(hinge_angle(&back) - angle_back, 2 * PI) + angle_back;
        if (t < 150)
            continue;
        if (t == 150) {
            assert_int_equal(foliot_world_capture(y.world, captured, room, &bytes),
                             FOLIOT_STATUS_OK);
            assert_int_equal(foliot_world_restore(beside.world, captured, bytes), FOLIOT_STATUS_OK);
        } else {
            step(&beside);
        }
        foliot_digest one = foliot_world_get_digest(y.world),
                      two = foliot_world_get_digest(beside.world);
        assert_memory_equal(&one, &two, sizeof one);
    }
    check_near(angle, 20, 1e-4);
    check_near(angle_back, -12, 1e-4);
    free(captured);
    end(&y);
    end(&back);
    end(&beside);
}

// A body that leaves the numbers is frozen at the end of the tick. Its hinge keeps the count: no
// conversion of NaN to an integer, which machines do differently, decides it.
TEST(a_frozen_body_keeps_the_count)
{
    joint_world y = door(0, ", motor: {speed: 6, torque: 500}, limits: [-12, 20]");
    while (foliot__constraint_state(y.world)[0] < 2 * 4)
        step(&y);
    assert_int_equal(slot_set_field(y.world, 0, FOLIOT_FIELD_velocity_x, 0x7ff8000000000000),
                     FOLIOT_STATUS_OK);
    step(&y);
    assert_int_equal(foliot_world_get_counters(y.world)->frozen_bodies, 1);
    assert_int_equal(foliot__constraint_state(y.world)[0], 2 * 4);
    end(&y);
}

// -- welds and breaking

static joint_world shelf(const char *integrator)
{
    begin(integrator, 1.0 / 60, 4, G);
    add("  - {name: board, mass: 1, position: [0.5, 0, 0], inertia: [0.1, 0.1, 0.1],"
        " grid: {columns: 5, right: [1, 0, 0]}}\n"
        "  - {name: load, mass: 200, position: [5.5, 0, 0], inertia: [9, 9, 9]}\n"
        "constraints:\n  - {kind: weld, a: board.0.0, anchor: [0, 0, 0]}\n"
        "  - {kind: weld, grid: board}\n  - {kind: weld, a: board.0.4, b: load, anchor: [5, 0, "
        "0]}\n");
    return make();
}

TEST(welds_hold_a_load)
{
    joint_world y = shelf("semi-implicit-euler");
    for (int t = 0; t < 600; t++) {
        step(&y);
        check_near(state_of(&y, "load").position[2], 0, 1e-7);
    }
    end(&y);
}

static bool breaks(const char *constraint)
{
    begin("semi-implicit-euler", 1.0 / 60, 4, G);
    add("  - {name: load, mass: 3, position: [2, 0, -1], inertia: [1, 1, 1]}\n"
        "constraints:\n  - {%s, a: load}\n",
        constraint);
    joint_world y = make();
    for (int t = 0; t < 120; t++)
        step(&y);
    bool broken = index_joint(y.world, 0).broken;
    check_eq(broken, (state_of(&y, "load").position[2] < -2));
    end(&y);
    return broken;
}

TEST(joints_break_at_their_force)
{
    // 3 kg weigh 29.43 N; two metres out, 58.86 N m.
    assert_false(breaks("kind: ball, anchor: [2, 0, 0], break_force: 29.6"));
    assert_true(breaks("kind: ball, anchor: [2, 0, 0], break_force: 29.3"));
    assert_false(
        breaks("kind: distance, anchor_a: [0, 0, 0.5], anchor: [2, 0, 0], break_force: 29.6"));
    assert_true(
        breaks("kind: distance, anchor_a: [0, 0, 0.5], anchor: [2, 0, 0], break_force: 29.3"));
    assert_false(breaks("kind: weld, anchor: [0, 0, -1], break_force: 29.6, break_torque: 59"));
    assert_true(breaks("kind: weld, anchor: [0, 0, -1], break_torque: 58.7"));
    assert_true(breaks("kind: hinge, axis: [1, 0, 0], anchor: [0, 0, -1], break_torque: 58.7"));
    assert_false(breaks("kind: hinge, axis: [1, 0, 0], anchor: [0, 0, -1], break_torque: 59"));
}

TEST(a_break_is_an_event)
{
    begin("velocity-verlet", 1.0 / 60, 4, G);
    add("  - {name: load, mass: 3, inertia: [1, 1, 1]}\n"
        "constraints:\n  - {kind: ball, a: load, anchor: [0, 0, 0], break_force: 20}\n");
    joint_world y = make();
    step(&y);
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(y.world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(events[0].kind, FOLIOT_EVENT_JOINT_BROKEN);
    assert_int_equal(foliot_joint_id_get_index(events[0].joint), 0);
    assert_int_equal(events[0].reason, FOLIOT_BREAK_FORCE);
    check_near(index_joint(y.world, 0).force, 3 * G, 1e-3);
    step(&y);
    foliot_world_get_events(y.world, &count);
    assert_int_equal(count, 0);
    check_near(index_joint(y.world, 0).force, 3 * G, 1e-3);
    end(&y);
}

// Two metres out, 3 kg twist with 58.86 N m; the force alone would not break it.
TEST(a_break_tells_force_from_torque)
{
    begin("semi-implicit-euler", 1.0 / 60, 4, G);
    add("  - {name: load, mass: 3, position: [2, 0, 0], inertia: [1, 1, 1]}\n"
        "  - {name: still, mass: 3, position: [0, 5, 0], inertia: [1, 1, 1]}\n"
        "constraints:\n  - {kind: weld, a: load, anchor: [0, 0, 0], break_force: 1000, "
        "break_torque: 50}\n"
        "  - {kind: weld, a: still, anchor: [0, 5, 0], break_force: 1000, break_torque: 50}\n");
    joint_world y = make();
    step(&y);
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(y.world, &count);
    assert_int_equal(count, 1);
    assert_int_equal(foliot_joint_id_get_index(events[0].joint), 0);
    assert_int_equal(events[0].reason, FOLIOT_BREAK_TORQUE);
    check_near(index_joint(y.world, 0).force, 6 * G, 1e-2);
    assert_false(index_joint(y.world, 1).broken);
    check_near(index_joint(y.world, 1).force, 3 * G, 1e-3);
    end(&y);
}

// -- distances off the centre

TEST(a_rope_off_the_centre_is_slack_or_taut)
{
    begin("semi-implicit-euler", 1.0 / 60, 4, G);
    add("  - {name: crate, mass: 3, position: [0, 0, 0], inertia: [1, 1, 1]}\n"
        "constraints:\n  - {kind: distance, a: crate, anchor_a: [0.4, 0, 0.5], anchor: [0.4, 0, "
        "1], length: 2}\n");
    joint_world y = make();
    const double arm[3] = {0.4, 0, 0.5};
    double longest = 0;
    for (int t = 0; t < 600; t++) {
        step(&y);
        foliot_body_state s = state_of(&y, "crate");
        double p[3], fallen = 0.5 * G * ((t + 1) / 60.0) * ((t + 2) / 60.0);
        point_of(&s, arm, p);
        longest = fmax(longest, hypot(p[0] - 0.4, p[2] - 1));
        if (t < 25) // slack: it falls without turning
            check_near(s.position[2], -fallen, 0.1);
        if (t < 25)
            check_near(s.angular_velocity[1], 0, 1e-12);
    }
    check_near(longest, 2, 1e-5);
    end(&y);
}

// -- joint bodies: goal: joints that their bodies cannot take, as one that holds the direction
// of a point, which does not turn, do no harm: a command that makes one is refused, and worlds that
// have come to one otherwise are stepped. Method: a body that is freed after it was joined, and
// captured bytes with every kind of joint between every two bodies.

#define HAS(kind, field) FOLIOT_COMMAND_HAS(kind, field)
// In a joint's record: kind and both bodies, 4 bytes each; both anchors, before axis and start.
#define AT_KIND 4
#define AT_ANCHORS (FOLIOT__JOINT_RECORD_BYTES - (4 + 9) * 8)

enum { BOX, PILLAR, POINT }; // a box of 1 m, a static point, a point that moves

typedef struct stage {
    scene_builder builder;
    foliot_world *world;
    uint32_t sequence;
} stage;

static stage *stage_new(void)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->builder = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_box(&s->builder, 2, 0.5, 0.5, 0.5, 0, 0, 5);
    builder_set_spin(&s->builder, 1, 2, 3);
    uint32_t pillar = builder_add_point(&s->builder, 1, 2, 0, 5);
    builder_add_point(&s->builder, 1, -2, 0, 5);
    s->builder.bodies[pillar].is_static = true;
    s->builder.scene.gravity[2] = -9.81;
    s->builder.scene.commands_max = 8;
    s->builder.scene.joints_max = 4;
    s->builder.scene.bodies_max = 4;
    s->world = builder_create_world(&s->builder);
    return s;
}

static void stage_free(stage *s)
{
    foliot_world_destroy(s->world);
    builder_free(&s->builder);
    free(s);
}

static foliot_command_reason issue(stage *s, foliot_command command)
{
    command.sequence = ++s->sequence;
    return step_command(s->world, &command);
}

// A box and another, held where the other is.
static foliot_command join(const stage *s, foliot_constraint_kind kind, uint32_t other)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = HAS(joint, kind) | HAS(joint, a) | HAS(joint, b) | HAS(joint, anchor_a);
    c.as.joint.kind = kind;
    c.as.joint.a = foliot_world_get_body_id(s->world, BOX);
    c.as.joint.b = foliot_world_get_body_id(s->world, other);
    c.as.joint.anchor_a[0] = other == PILLAR ? 2 : -2;
    return c;
}

static foliot_command set_motion(const stage *s, uint32_t body, foliot_body_motion motion)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.fields = HAS(set_body, body) | HAS(set_body, motion);
    c.as.set_body.body = foliot_world_get_body_id(s->world, body);
    c.as.set_body.motion = motion;
    return c;
}

// Whatever was restored is stepped, and stays among the numbers.
static void run_second(const stage *s)
{
    for (int i = 0; i < 60; i++)
        demand(foliot_world_step(s->world, NULL, 0, NULL));
    for (uint32_t i = BOX; i <= POINT; i++) {
        foliot_body_state body = slot_state(s->world, i);
        for (int k = 0; k < 3; k++)
            assert_true(body.position[k] > -1000 && body.position[k] < 1000);
    }
}

TEST(a_point_that_holds_a_weld_may_be_freed)
{
    stage *s = stage_new();
    foliot_command weld = join(s, FOLIOT_CONSTRAINT_WELD, POINT);
    assert_int_equal(issue(s, weld), FOLIOT_COMMAND_REASON_motion);
    assert_int_equal(issue(s, set_motion(s, POINT, FOLIOT_MOTION_STATIC)),
                     FOLIOT_COMMAND_REASON_none);
    assert_int_equal(issue(s, weld), FOLIOT_COMMAND_REASON_none);
    assert_int_equal(issue(s, set_motion(s, POINT, FOLIOT_MOTION_DYNAMIC)),
                     FOLIOT_COMMAND_REASON_none);
    run_second(s);
    stage_free(s);
}

// Puts another joint into the bytes of a world with one. False: it is not restored.
static bool forge(stage *s, const uint32_t kind_and_bodies[3], const double anchors[6])
{
    size_t length;
    demand(foliot_world_capture(s->world, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_non_null(bytes);
    demand(foliot_world_capture(s->world, bytes, length, &length));
    uint8_t *record = bytes + length - FOLIOT__JOINT_RECORD_BYTES; // the last thing there
    memcpy(record + AT_KIND, kind_and_bodies, 12);
    memcpy(record + AT_ANCHORS, anchors, 6 * sizeof *anchors);
    foliot_status status = foliot_world_restore(s->world, bytes, length);
    free(bytes);
    return status == FOLIOT_STATUS_OK;
}

TEST(forged_joints_are_refused_or_stepped)
{
    unsigned restored = 0, refused = 0;
    for (uint32_t draw = 0; draw < 5 * 3 * 4 * 4; draw++) {
        uint32_t b = draw / 15 % 4;
        const uint32_t joint[3] = {draw % 5, draw / 5 % 3, b == 3 ? FOLIOT_NO_BODY : b};
        const double anchors[6] = {draw / 60 & 1 ? 1.5 : 0, 0, 0, draw / 120 & 1 ? 1.5 : 0, 0, 0};
        stage *s = stage_new();
        assert_int_equal(issue(s, join(s, FOLIOT_CONSTRAINT_BALL, PILLAR)),
                         FOLIOT_COMMAND_REASON_none);
        if (forge(s, joint, anchors)) {
            restored++;
            run_second(s);
        } else {
            refused++;
        }
        stage_free(s);
    }
    assert_true(restored > 100 && refused > 50); // rods, and bodies that hold themselves
}
