// SPDX-License-Identifier: MIT
// test_world_commands.c: what each command does to a world, and what it is refused for.
// Method: a floor with boxes; one command a tick; results by hand. A world that is captured and
// restored in the middle of drawn commands goes on with the same digests.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "command/command.h"
#include "commands.h"
#include "foliot/foliot.h"
#include "scene_builder.h"
#include "sim/state/state.h"
#include "status.h"
#include "slots.h"

#define HAS FOLIOT_COMMAND_HAS
#define CRATE 0 // prototypes
#define LIFT 1

typedef struct stage {
    scene_builder builder;
    foliot_body_definition prototypes[2];
    foliot_world *world;
    uint32_t sequence;
} stage;

// Slot 0 is the floor, 1 and 2 are boxes of 1 m and 2 kg that rest on it, 3 m apart.
static stage *stage_new(void)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->builder = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    foliot_scene *scene = &s->builder.scene;
    builder_add_plane(&s->builder, 0, 0, 1, 0);
    builder_add_box(&s->builder, 2, 0.5, 0.5, 0.5, 0, 0, 0.5);
    builder_add_box(&s->builder, 2, 0.5, 0.5, 0.5, 3, 0, 0.5);
    scene->gravity[2] = -9.81;
    scene->commands_max = 32;
    scene->joints_max = 4;
    scene->bodies_max = 12;
    scene->players.limit = 2;
    scene->players.force = 40;
    scene->players.body.shape.kind = FOLIOT_SHAPE_SPHERE;
    scene->players.body.shape.radius = 0.5;
    static const double places[2][3] = {{0, 10, 1}, {3, 10, 1}};
    scene->players.positions = places;
    scene->players.position_count = 2;
    for (unsigned k = 0; k < 2; k++) {
        s->prototypes[k] = foliot_body_definition_default();
        s->prototypes[k].shape.kind = FOLIOT_SHAPE_BOX;
        s->prototypes[k].shape.half[0] = s->prototypes[k].shape.half[1] = 0.5;
        s->prototypes[k].shape.half[2] = 0.5;
        s->prototypes[k].mass = 3;
    }
    s->prototypes[CRATE].name = "crate";
    s->prototypes[LIFT].name = "lift";
    s->prototypes[LIFT].is_kinematic = true;
    scene->prototypes = s->prototypes;
    scene->prototype_count = 2;
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

#define assert_refused(stage, command, why)                                                        \
    assert_int_equal(issue(stage, command), FOLIOT_COMMAND_REASON_##why)
#define assert_acts(stage, command) assert_refused(stage, command, none)

// The slot of the body, or the index of the joint, in the event of that ticket or reason.
static uint32_t event_slot(const stage *s, foliot_event_kind kind, uint32_t about)
{
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++) {
        bool broken = kind == FOLIOT_EVENT_JOINT_BROKEN;
        if (events[i].kind == kind && (broken ? events[i].reason : events[i].ticket) == about)
            return events[i].body.value ? foliot_body_id_get_slot(events[i].body)
                                        : foliot_joint_id_get_index(events[i].joint);
    }
    return FOLIOT_NO_BODY;
}

static foliot_body_id id_of(const stage *s, uint32_t slot)
{
    return foliot_world_get_body_id(s->world, slot);
}

static foliot_body_state state_of(const stage *s, uint32_t slot)
{
    return slot_state(s->world, slot);
}

// -- the commands

static foliot_command spawn(uint32_t prototype, double x, double y, double z)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = HAS(spawn, prototype) | HAS(spawn, position) | HAS(spawn, ticket);
    c.as.spawn.prototype = prototype;
    c.as.spawn.position[0] = (float)x;
    c.as.spawn.position[1] = (float)y;
    c.as.spawn.position[2] = (float)z;
    c.as.spawn.ticket = 77;
    return c;
}

static foliot_command despawn(foliot_body_id body)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_despawn);
    c.fields = HAS(despawn, body);
    c.as.despawn.body = body;
    return c;
}

static foliot_command impulse(foliot_body_id body, double x, double y, double z)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_impulse);
    c.fields = HAS(impulse, body) | HAS(impulse, linear);
    c.as.impulse.body = body;
    c.as.impulse.linear[0] = (float)x;
    c.as.impulse.linear[1] = (float)y;
    c.as.impulse.linear[2] = (float)z;
    return c;
}

static foliot_command set_integer(const char *key, int64_t value)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = HAS(var, key) | HAS(var, integer);
    c.as.var.key = key;
    c.as.var.integer = value;
    return c;
}

static foliot_command join(foliot_constraint_kind kind, foliot_body_id a, foliot_body_id b)
{
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = HAS(joint, kind) | HAS(joint, a) | HAS(joint, b) | HAS(joint, ticket);
    c.as.joint.kind = kind;
    c.as.joint.a = a;
    c.as.joint.b = b;
    c.as.joint.ticket = 5;
    return c;
}

// -- spawn and despawn

TEST(a_body_is_spawned_from_its_prototype)
{
    stage *s = stage_new();
    foliot_command c = spawn(CRATE, 6, 0, 5);
    c.fields |= HAS(spawn, velocity) | HAS(spawn, tag) | HAS(spawn, mass_scale);
    c.as.spawn.velocity[0] = 2;
    c.as.spawn.tag = 9;
    c.as.spawn.mass_scale = 2;
    assert_acts(s, c);
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    assert_int_equal(slot, 3); // the lowest free one
    assert_int_equal(slot_body(s->world, slot).prototype, CRATE);
    assert_int_equal(slot_body(s->world, slot).tag, 9);
    check_bits(slot_body(s->world, slot).mass, 6);
    check_near(state_of(s, slot).position[0], 6 + 2.0 / 60, 1e-9);
    check_near(state_of(s, slot).velocity[2], -9.81 / 60, 1e-9);
    foliot_body_id first = id_of(s, slot);
    assert_int_equal(foliot_body_id_get_slot(first), slot);
    assert_acts(s, despawn(first));
    assert_int_equal(foliot_world_get_body_state(s->world, first).flags, 0);
    assert_acts(s, spawn(LIFT, 6, 0, 5));
    assert_int_equal(event_slot(s, FOLIOT_EVENT_SPAWNED, 77), slot); // used again
    assert_true(id_of(s, slot).value != first.value);
    assert_refused(s, despawn(first), body); // the slot's earlier body
    assert_true(slot_alive(s->world, slot));
    stage_free(s);
}

TEST(a_spawn_is_refused_with_its_reason)
{
    stage *s = stage_new();
    assert_refused(s, spawn(2, 6, 0, 5), prototype);
    assert_refused(s, spawn(CRATE, 0.2, 0, 0.5), overlap);
    assert_refused(s, spawn(CRATE, 9, 0, 0.2), overlap); // in the floor
    foliot_command c = spawn(CRATE, 6, 0, 5);
    c.as.spawn.position[1] = NAN;
    assert_refused(s, c, range);
    c = spawn(CRATE, 6, 0, 5);
    c.as.spawn.position[1] = 0x1p41f;
    assert_refused(s, c, range);
    c = spawn(CRATE, 6, 0, 5);
    c.fields &= ~HAS(spawn, position);
    assert_refused(s, c, field);
    c = spawn(CRATE, 6, 0, 5);
    c.fields |= HAS(spawn, mass_scale);
    c.as.spawn.mass_scale = 0;
    assert_refused(s, c, range);
    // 12 slots, 3 in use, 2 kept for players.
    for (int k = 0; k < 7; k++)
        assert_acts(s, spawn(CRATE, 10 + 2 * k, 0, 0.5)); // they touch the floor
    assert_refused(s, spawn(CRATE, 40, 0, 5), full);
    assert_int_equal(foliot_world_get_counters(s->world)->commands_refused, 8);
    const foliot_input in = {.player = 1, .sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    demand(foliot_world_step(s->world, &in, 1, NULL));
    assert_int_not_equal(player_slot(s->world, 1), FOLIOT_NO_BODY);
    stage_free(s);
}

TEST(what_holds_a_removed_body_goes_with_it)
{
    stage *s = stage_new();
    run_ticks(s->world, 30); // contacts with the floor
    assert_acts(s, join(FOLIOT_CONSTRAINT_WELD, id_of(s, 1), id_of(s, 2)));
    uint32_t joint = event_slot(s, FOLIOT_EVENT_JOINT_MADE, 5);
    assert_int_equal(joint, 0);
    assert_acts(s, despawn(id_of(s, 1)));
    assert_int_equal(event_slot(s, FOLIOT_EVENT_JOINT_BROKEN, FOLIOT_BREAK_COMMAND), joint);
    assert_true(index_joint(s->world, joint).broken);
    uint32_t count = foliot_world_get_contact_events(s->world, NULL, 0);
    foliot_contact_event contacts[8];
    foliot_world_get_contact_events(s->world, contacts, 8);
    for (uint32_t i = 0; i < count && i < 8; i++)
        assert_true(contacts[i].change == FOLIOT_CONTACT_END ||
                    (foliot_body_id_get_slot(contacts[i].a) != 1 &&
                     foliot_body_id_get_slot(contacts[i].b) != 1));
    assert_refused(s, impulse(id_of(s, 1), 1, 0, 0), body); // no id: a free slot
    stage_free(s);
}

// A crate on the floor goes, and another one comes to the same place in the same tick.
TEST(contacts_of_two_bodies_in_one_slot_are_two)
{
    stage *s = stage_new();
    assert_acts(s, spawn(CRATE, 6, 0, 0.5));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    run_ticks(s->world, 60);
    foliot_body_id first = id_of(s, slot);
    foliot_command both[2] = {despawn(first), spawn(CRATE, 6, 0, 0.5)};
    both[0].sequence = ++s->sequence;
    both[1].sequence = ++s->sequence;
    const foliot_tick_inputs tick = {.commands = both, .command_count = 2};
    assert_int_equal(foliot_world_step_tick(s->world, &tick, NULL), FOLIOT_STATUS_OK);
    foliot_body_id second = id_of(s, event_slot(s, FOLIOT_EVENT_SPAWNED, 77));
    assert_int_equal(foliot_body_id_get_slot(second), slot);
    assert_int_not_equal(second.value, first.value);
    foliot_contact_event contacts[8];
    uint32_t count = foliot_world_get_contact_events(s->world, contacts, 8), ended = 0, begun = 0;
    for (uint32_t i = 0; i < count && i < 8; i++) {
        const foliot_contact_event *c = &contacts[i];
        if (c->a.value == first.value || c->b.value == first.value) {
            assert_int_equal(c->change, FOLIOT_CONTACT_END);
            ended++;
        } else if (c->a.value == second.value || c->b.value == second.value) {
            assert_int_equal(c->change, FOLIOT_CONTACT_BEGIN);
            begun++;
        }
    }
    assert_int_equal(ended, 1);
    assert_int_equal(begun, 1);
    stage_free(s);
}

// A stale id reads as nothing, whatever has its slot now.
TEST(a_stale_id_names_no_other_body)
{
    stage *s = stage_new();
    assert_acts(s, spawn(CRATE, 6, 0, 50));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    foliot_body_id first = id_of(s, slot);
    assert_acts(s, despawn(first));
    assert_acts(s, spawn(CRATE, 6, 0, 50));
    foliot_body_id second = id_of(s, slot);
    foliot_body about;
    assert_int_equal(second.value >> 32, (first.value >> 32) + 1);
    assert_int_equal(foliot_world_get_body(s->world, first, &about), FOLIOT_STATUS_NOT_FOUND);
    assert_int_equal(foliot_world_get_body_state(s->world, first).flags, 0);
    assert_true(foliot_world_get_field(s->world, first, FOLIOT_FIELD_flags) == 0);
    assert_int_equal(foliot_world_set_field(s->world, first, FOLIOT_FIELD_velocity_x, 0),
                     FOLIOT_STATUS_NOT_FOUND);
    assert_int_equal(foliot_world_get_body(s->world, second, &about), FOLIOT_STATUS_OK);
    assert_int_equal(about.prototype, CRATE);
    stage_free(s);
}

// -- motion

TEST(an_impulse_changes_velocity_by_its_share_of_the_mass)
{
    stage *s = stage_new();
    assert_acts(s, spawn(CRATE, 6, 0, 50));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    double falling = state_of(s, slot).velocity[2];
    foliot_command c = impulse(id_of(s, slot), 6, 0, 0);
    c.fields |= HAS(impulse, point);
    c.as.impulse.point[0] = 6;
    c.as.impulse.point[1] = 0.25f;
    c.as.impulse.point[2] = (float)state_of(s, slot).position[2];
    assert_acts(s, c);
    check_near(state_of(s, slot).velocity[0], 2, 1e-9);
    check_near(state_of(s, slot).velocity[2], falling - 9.81 / 60, 1e-9);
    // r x J = -0.25 * 6 about z; a cube of 3 kg and 1 m has the moment 0.5.
    check_near(state_of(s, slot).angular_velocity[2], -0.25 * 6 / 0.5, 1e-5);
    assert_refused(s, impulse(id_of(s, 0), 1, 0, 0), motion); // the floor
    stage_free(s);
}

TEST(motion_is_set_and_sleepers_wake)
{
    stage *s = stage_new();
    foliot_world_destroy(s->world);
    s->builder.scene.sleep = true;
    s->world = builder_create_world(&s->builder);
    run_ticks(s->world, 120);
    assert_true(state_of(s, 1).flags & FOLIOT_BODY_ASLEEP);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_motion);
    c.fields = HAS(set_motion, body) | HAS(set_motion, position) | HAS(set_motion, velocity);
    c.as.set_motion.body = id_of(s, 1);
    c.as.set_motion.position[2] = 20;
    c.as.set_motion.velocity[0] = 3;
    assert_acts(s, c);
    assert_false(state_of(s, 1).flags & FOLIOT_BODY_ASLEEP);
    check_near(state_of(s, 1).position[2], 20 - 9.81 / 3600 / 4 * 2.5, 1e-6); // four substeps
    check_near(state_of(s, 1).position[0], 3.0 / 60, 1e-9);
    c.as.set_motion.body = id_of(s, 0);
    assert_refused(s, c, motion);
    assert_true(state_of(s, 2).flags & FOLIOT_BODY_ASLEEP);
    assert_acts(s, impulse(id_of(s, 2), 0, 0, 8));
    assert_false(state_of(s, 2).flags & FOLIOT_BODY_ASLEEP);
    assert_true(state_of(s, 2).velocity[2] > 3);
    stage_free(s);
}

// A lift 5,000 km away rises by 2 m/s, by targets that travel as bytes: binary32 knows places there
// to half a metre alone.
TEST(far_places_are_exact)
{
    const double far = 5e6;
    stage *s = stage_new();
    assert_acts(s, spawn(LIFT, 30, 0, 10));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    foliot_command there = foliot_command_default(FOLIOT_COMMAND_set_motion);
    there.fields = HAS(set_motion, body) | HAS(set_motion, position);
    there.as.set_motion.body = id_of(s, slot);
    there.as.set_motion.position[0] = far + 0.1;
    assert_acts(s, there);
    check_bits(state_of(s, slot).position[0], far + 0.1);
    foliot_command go = foliot_command_default(FOLIOT_COMMAND_target);
    go.fields = HAS(target, body) | HAS(target, position);
    go.as.target.body = id_of(s, slot);
    for (int t = 1; t <= 60; t++) {
        uint8_t bytes[64];
        foliot_command read;
        foliot__command_texts texts;
        go.as.target.position[0] = far + 0.1 + 2.0 * t / 60;
        size_t length = foliot_command_encode(&go, bytes, sizeof bytes);
        foliot__reader r = foliot__reader_of(bytes, length);
        foliot__command_decode(&r, &read, &texts);
        assert_int_equal(r.status, FOLIOT_STATUS_OK);
        assert_acts(s, read);
        check_bits(state_of(s, slot).position[0], go.as.target.position[0]);
        check_near(state_of(s, slot).velocity[0], 2, 1e-6);
    }
    // A value that fits binary32 has one form: a wide one is refused.
    uint8_t bytes[64];
    foliot_command read;
    foliot__command_texts texts;
    go.as.target.position[0] = far;
    size_t narrow = foliot_command_encode(&go, bytes, sizeof bytes);
    go.as.target.position[0] = far + 0.1;
    size_t wide = foliot_command_encode(&go, bytes, sizeof bytes);
    check_eq(wide, narrow + 12);
    const double exact = far;
    memcpy(bytes + wide - 24, &exact, sizeof exact);
    foliot__reader r = foliot__reader_of(bytes, wide);
    foliot__command_decode(&r, &read, &texts);
    assert_int_equal(r.status, FOLIOT_STATUS_CORRUPT);
    stage_free(s);
}

TEST(a_body_changes_its_kind)
{
    stage *s = stage_new();
    assert_acts(s, spawn(CRATE, 6, 0, 50));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_set_body);
    c.fields = HAS(set_body, body) | HAS(set_body, motion);
    c.as.set_body.body = id_of(s, slot);
    c.as.set_body.motion = FOLIOT_MOTION_STATIC;
    assert_acts(s, c);
    double height = state_of(s, slot).position[2];
    run_ticks(s->world, 10);
    check_bits(state_of(s, slot).position[2], height);
    assert_refused(s, impulse(id_of(s, slot), 1, 0, 0), motion);
    c.as.set_body.motion = FOLIOT_MOTION_DYNAMIC;
    assert_acts(s, c);
    run_ticks(s->world, 10);
    assert_true(state_of(s, slot).position[2] < height);
    c.as.set_body.body = id_of(s, 0); // a plane has no mass, and is static
    assert_refused(s, c, motion);
    stage_free(s);
}

// -- joints

TEST(joints_hold_until_they_are_broken)
{
    stage *s = stage_new();
    assert_acts(s, spawn(CRATE, 20, 0, 10));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    foliot_command c = join(FOLIOT_CONSTRAINT_BALL, id_of(s, slot), (foliot_body_id){0});
    c.fields &= ~HAS(joint, b); // held by the world where it is
    assert_acts(s, c);
    uint32_t joint = event_slot(s, FOLIOT_EVENT_JOINT_MADE, 5);
    double height = state_of(s, slot).position[2];
    run_ticks(s->world, 60);
    check_near(state_of(s, slot).position[2], height, 1e-3);
    foliot_command cut = foliot_command_default(FOLIOT_COMMAND_break_joint);
    cut.fields = HAS(break_joint, joint);
    cut.as.break_joint.joint = foliot_world_get_joint_id(s->world, joint);
    assert_acts(s, cut);
    run_ticks(s->world, 30);
    assert_true(state_of(s, slot).position[2] < height - 0.5);
    assert_refused(s, cut, joint);
    // The row is used again under another id.
    assert_acts(s, join(FOLIOT_CONSTRAINT_WELD, id_of(s, 1), id_of(s, 2)));
    assert_int_equal(event_slot(s, FOLIOT_EVENT_JOINT_MADE, 5), joint);
    assert_refused(s, cut, joint);
    assert_refused(s, join(FOLIOT_CONSTRAINT_ROD, id_of(s, 1), id_of(s, 2)), range);
    assert_refused(s, join(FOLIOT_CONSTRAINT_BALL, id_of(s, 1), id_of(s, 1)), range);
    for (int k = 0; k < 3; k++)
        assert_acts(s, join(FOLIOT_CONSTRAINT_BALL, id_of(s, 1), id_of(s, 2)));
    assert_refused(s, join(FOLIOT_CONSTRAINT_BALL, id_of(s, 1), id_of(s, 2)), full);
    stage_free(s);
}

TEST(a_motor_follows_its_speed)
{
    stage *s = stage_new();
    assert_acts(s, spawn(CRATE, 20, 0, 10));
    uint32_t slot = event_slot(s, FOLIOT_EVENT_SPAWNED, 77);
    foliot_command c = join(FOLIOT_CONSTRAINT_HINGE, id_of(s, slot), (foliot_body_id){0});
    c.fields = (c.fields & ~HAS(joint, b)) | HAS(joint, motor_torque);
    c.as.joint.motor_torque = 100;
    assert_acts(s, c);
    uint32_t joint = event_slot(s, FOLIOT_EVENT_JOINT_MADE, 5);
    foliot_command faster = foliot_command_default(FOLIOT_COMMAND_set_joint);
    faster.fields = HAS(set_joint, joint) | HAS(set_joint, motor_speed);
    faster.as.set_joint.joint = foliot_world_get_joint_id(s->world, joint);
    faster.as.set_joint.motor_speed = 2;
    assert_acts(s, faster);
    run_ticks(s->world, 60);
    check_near(fabs(state_of(s, slot).angular_velocity[2]), 2, 0.02);
    stage_free(s);
}

// -- the session

TEST(a_player_drives_another_body)
{
    stage *s = stage_new();
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_control);
    c.fields = HAS(control, player) | HAS(control, body);
    c.as.control.player = 0;
    c.as.control.body = id_of(s, 1);
    assert_refused(s, c, player);
    const foliot_input in = {.player = 0, .sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    demand(foliot_world_step(s->world, &in, 1, NULL));
    uint32_t own = player_slot(s->world, 0);
    assert_acts(s, c);
    assert_int_equal(player_slot(s->world, 0), 1);
    const foliot_input push = {
        .player = 0, .sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .axes = {0, 0, 127}};
    demand(foliot_world_step(s->world, &push, 1, NULL));
    run_ticks(s->world, 30);
    check_near(state_of(s, 1).velocity[2], (40 / 2.0 - 9.81) * 31 / 60, 0.02);
    assert_true(state_of(s, own).position[2] < 1);
    assert_acts(s, despawn(id_of(s, 1))); // what it drives is gone
    assert_int_equal(player_slot(s->world, 0), FOLIOT_NO_BODY);
    assert_acts(s, despawn(id_of(s, own)));
    const foliot_input leave = {.player = 0, .sequence = 3, .kind = FOLIOT_INPUT_LEAVE};
    demand(foliot_world_step(s->world, &leave, 1, NULL));
    stage_free(s);
}

TEST(variables_are_kept_by_key)
{
    stage *s = stage_new();
    assert_acts(s, set_integer("b", 2));
    assert_acts(s, set_integer("a", 1));
    assert_acts(s, set_integer("c", INT64_MIN));
    assert_acts(s, set_integer("b", 22));
    foliot_var var;
    assert_true(foliot_world_get_var_at(s->world, 2, &var));
    assert_false(foliot_world_get_var_at(s->world, 3, &var));
    assert_true(foliot_world_get_var(s->world, "b", &var));
    assert_int_equal(var.integer, 22);
    assert_int_equal(var.changed, 3);
    assert_true(foliot_world_get_var_at(s->world, 0, &var));
    assert_string_equal(var.key, "a");
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
    c.fields = HAS(var, key);
    c.as.var.key = "a";
    assert_acts(s, c); // removes it
    assert_false(foliot_world_get_var(s->world, "a", &var));
    assert_refused(s, c, key);
    char name[16];
    for (int k = 0; k < FOLIOT_VARS_MAX - 2; k++) {
        snprintf(name, sizeof name, "k%03d", k);
        assert_acts(s, set_integer(name, k));
    }
    assert_refused(s, set_integer("more", 1), full);
    assert_true(foliot_world_get_var(s->world, "k100", &var));
    assert_int_equal(var.integer, 100);
    stage_free(s);
}

TEST(gravity_turns_and_the_session_ends)
{
    stage *s = stage_new();
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_gravity);
    c.fields = HAS(gravity, acceleration);
    c.as.gravity.acceleration[2] = 3;
    assert_acts(s, c);
    run_ticks(s->world, 59);
    check_near(state_of(s, 1).velocity[2], 3, 1e-6);
    c = foliot_command_default(FOLIOT_COMMAND_end);
    c.fields = HAS(end, reason);
    c.as.end.reason = "all is said";
    assert_acts(s, c);
    const char *next = NULL;
    assert_string_equal(foliot_world_get_end(s->world, &next), "all is said");
    assert_string_equal(next, "");
    assert_refused(s, set_integer("late", 1), ended);
    stage_free(s);
}

TEST(a_world_refuses_what_is_out_of_order)
{
    stage *s = stage_new();
    foliot_command two[2] = {set_integer("a", 1), set_integer("b", 1)};
    two[0].sequence = two[1].sequence = 4;
    const foliot_tick_inputs tick = {.commands = two, .command_count = 2};
    foliot_digest before = foliot_world_get_digest(s->world);
    assert_int_equal(foliot_world_step_tick(s->world, &tick, NULL), FOLIOT_STATUS_INVALID);
    assert_true(foliot_digest_equal(foliot_world_get_digest(s->world), before));
    foliot_command many[33];
    for (uint32_t i = 0; i < 33; i++) {
        many[i] = set_integer("a", 1);
        many[i].sequence = i + 1;
    }
    const foliot_tick_inputs full = {.commands = many, .command_count = 33};
    assert_int_equal(foliot_world_step_tick(s->world, &full, NULL), FOLIOT_STATUS_INVALID);
    stage_free(s);
}

// -- any of them, and restores in between

// A command of random kind whose ids are often those of bodies that live.
static foliot_command drawn_command(const stage *s, foliot__rng *rng)
{
    uint32_t kind = foliot__rng_below(rng, FOLIOT_COMMAND_end); // all but the end
    foliot_command c = draw_command(rng, kind);
    const foliot_command_kind_info *info = foliot_command_kind_get_info(kind);
    for (uint32_t f = 0; f < info->field_count; f++) {
        char *at = (char *)&c + info->fields[f].offset;
        uint32_t slot = foliot__rng_below(rng, foliot_world_get_body_count(s->world) + 1);
        uint64_t id = slot < foliot_world_get_body_count(s->world) ? id_of(s, slot).value : 0;
        if (info->fields[f].type == FOLIOT_COMMAND_TYPE_body && foliot__rng_below(rng, 8))
            memcpy(at, &id, sizeof id);
        for (uint32_t k = 0; k < info->fields[f].count; k++) {
            float modest = (float)foliot__rng_unit(rng) * 4 - 2;
            if (info->fields[f].type == FOLIOT_COMMAND_TYPE_f32 && foliot__rng_below(rng, 16))
                memcpy(at + k * sizeof modest, &modest, sizeof modest);
        }
        if (info->fields[f].type == FOLIOT_COMMAND_TYPE_joint && foliot__rng_below(rng, 8)) {
            id = foliot_world_get_joint_id(s->world, foliot__rng_below(rng, 5)).value;
            memcpy(at, &id, sizeof id);
        }
    }
    if (kind == FOLIOT_COMMAND_spawn) {
        c.as.spawn.prototype %= 3;
        for (unsigned k = 0; k < 3; k++)
            c.as.spawn.position[k] = (float)foliot__rng_below(rng, 40) - 5;
        c.as.spawn.mass_scale = 0.5f;
    }
    if (kind == FOLIOT_COMMAND_control)
        c.as.control.player %= 3;
    if (kind == FOLIOT_COMMAND_joint)
        c.as.joint.kind %= 6;
    if (kind == FOLIOT_COMMAND_set_body)
        c.as.set_body.motion %= 4;
    return c;
}

TEST(restored_worlds_go_on_alike)
{
    uint64_t seed = check_seed(1);
    stage *a = stage_new(), *b = stage_new();
    foliot__rng rng = foliot__rng_seeded(seed);
    uint64_t acted = 0;
    for (uint32_t t = 0; t < 600; t++) {
        foliot_command some[4];
        uint32_t count = foliot__rng_below(&rng, 5);
        for (uint32_t i = 0; i < count; i++) {
            some[i] = drawn_command(a, &rng);
            some[i].sequence = ++a->sequence;
        }
        foliot_tick_inputs tick = {.commands = some, .command_count = count};
        uint64_t refused = foliot_world_get_counters(a->world)->commands_refused;
        if (t == 5) {
            const foliot_input in = {.player = 1, .sequence = 1, .kind = FOLIOT_INPUT_JOIN};
            tick.inputs = &in;
            tick.input_count = 1;
            demand(foliot_world_step_tick(a->world, &tick, NULL));
            demand(foliot_world_step_tick(b->world, &tick, NULL));
            continue;
        }
        demand(foliot_world_step_tick(a->world, &tick, NULL));
        demand(foliot_world_step_tick(b->world, &tick, NULL));
        acted += count - (foliot_world_get_counters(a->world)->commands_refused - refused);
        assert_true(foliot_digest_equal(foliot_world_get_digest(b->world),
                                        foliot_world_get_digest(a->world)));
        if (t % 5 != 4)
            continue;
        size_t length, again;
        demand(foliot_world_capture(a->world, NULL, 0, &length));
        uint8_t *bytes = malloc(length), *copy = malloc(length);
        demand(foliot_world_capture(a->world, bytes, length, &length));
        foliot_world_destroy(b->world);
        b->world = builder_create_world(&b->builder);
        assert_int_equal(foliot_world_restore(b->world, bytes, length), FOLIOT_STATUS_OK);
        demand(foliot_world_capture(b->world, copy, length, &again));
        assert_int_equal(again, length);
        assert_memory_equal(copy, bytes, length);
        free(bytes);
        free(copy);
    }
    print_message("%llu commands acted\n", (unsigned long long)acted);
    assert_true(acted > 200); // most kinds acted, not only refusals
    stage_free(a);
    stage_free(b);
}

// Layers of balls that touch, and may sleep.
static stage *pile_new(void)
{
    stage *s = stage_new();
    foliot_world_destroy(s->world);
    for (int i = 0; i < 400; i++)
        builder_add_ball(&s->builder, 1, 0.5, 8 + 0.999 * (i % 10), 0.999 * (i / 10 % 10),
                         0.5 + 0.999 * (i / 100));
    s->builder.scene.sleep = true;
    s->builder.scene.bodies_max = 500;
    s->builder.scene.commands_max = 64;
    s->world = builder_create_world(&s->builder);
    return s;
}

// Bodies that are removed, that jump and whose filters change: all of them leave their contacts.
static foliot_command drawn_leave(const stage *s, foliot__rng *rng)
{
    uint32_t slot = 1 + foliot__rng_below(rng, foliot_world_get_body_count(s->world) - 1);
    foliot_command c = despawn(id_of(s, slot));
    uint32_t kind = foliot__rng_below(rng, 4);
    if (kind == 0)
        return spawn(CRATE, foliot__rng_below(rng, 40), foliot__rng_below(rng, 40), 12);
    if (kind == 1) {
        c = foliot_command_default(FOLIOT_COMMAND_set_motion);
        c.fields = HAS(set_motion, body) | HAS(set_motion, position);
        c.as.set_motion.body = id_of(s, slot);
        for (unsigned k = 0; k < 3; k++)
            c.as.set_motion.position[k] = (float)foliot__rng_below(rng, 20);
    } else if (kind == 2) {
        c = foliot_command_default(FOLIOT_COMMAND_set_body);
        c.fields = HAS(set_body, body) | HAS(set_body, mask);
        c.as.set_body.body = id_of(s, slot);
        c.as.set_body.mask = foliot__rng_below(rng, 2) ? UINT32_MAX : 0;
    }
    return c;
}

// The rows of many bodies are found by lists, those of few by looking through the table.
TEST(many_leave_as_few_do)
{
    stage *a = pile_new(), *b = pile_new();
    foliot__rng rng = foliot__rng_seeded(3);
    assert_true(a->world->capacity.listed_rows > 0);
    b->world->capacity.listed_rows = 0; // never lists
    run_ticks(a->world, 60);
    run_ticks(b->world, 60);
    for (uint32_t t = 0; t < 100; t++) {
        foliot_command some[40];
        uint32_t count = t % 4 ? 0 : 40;
        for (uint32_t i = 0; i < count; i++) {
            some[i] = drawn_leave(a, &rng);
            some[i].sequence = ++a->sequence;
        }
        const foliot_tick_inputs tick = {.commands = some, .command_count = count};
        demand(foliot_world_step_tick(a->world, &tick, NULL));
        demand(foliot_world_step_tick(b->world, &tick, NULL));
        assert_true(foliot_digest_equal(foliot_world_get_digest(b->world),
                                        foliot_world_get_digest(a->world)));
    }
    stage_free(a);
    stage_free(b);
}

// Captured bytes with a few of them changed: refused, or a state that captures as the same bytes
// and steps.
TEST(hostile_states_are_refused_or_sound)
{
    stage *s = stage_new(), *other = stage_new();
    foliot__rng rng = foliot__rng_seeded(7);
    assert_acts(s, set_integer("score", 3));
    assert_acts(s, spawn(CRATE, 6, 0, 0.6));
    assert_acts(s, spawn(LIFT, 9, 0, 0.6));
    assert_acts(s, join(FOLIOT_CONSTRAINT_HINGE, id_of(s, 1), id_of(s, 2)));
    assert_acts(s, join(FOLIOT_CONSTRAINT_WELD, id_of(s, 3), id_of(s, 2)));
    assert_acts(s, despawn(id_of(s, 1)));
    size_t length, again;
    demand(foliot_world_capture(s->world, NULL, 0, &length));
    uint8_t *bytes = malloc(length), *copy = malloc(length);
    uint32_t restored = 0;
    for (int run = 0; run < 20000; run++) {
        demand(foliot_world_capture(s->world, bytes, length, &length));
        for (uint32_t k = 0; k <= foliot__rng_below(&rng, 3); k++) {
            uint32_t at = foliot__rng_below(&rng, (uint32_t)length);
            bytes[at] = foliot__rng_below(&rng, 2) ? bytes[at] ^ 1u << foliot__rng_below(&rng, 8)
                                                   : (uint8_t)foliot__rng_u64(&rng);
        }
        foliot_status status = foliot_world_restore(other->world, bytes, length);
        if (status != FOLIOT_STATUS_OK)
            continue;
        restored++;
        demand(foliot_world_capture(other->world, copy, length, &again));
        assert_int_equal(again, length);
        assert_memory_equal(copy, bytes, length);
        demand(foliot_world_step(other->world, NULL, 0, NULL));
    }
    print_message("%u of 20000 restored\n", restored);
    assert_true(restored > 1000 && restored < 19000);
    free(bytes);
    free(copy);
    stage_free(s);
    stage_free(other);
}

// The third section of a captured state, with one thing in it that no command can have left.
TEST(a_session_that_no_command_left_is_refused)
{
    stage *s = stage_new(), *other = stage_new();
    assert_acts(s, set_integer("score", 3));
    assert_acts(s, join(FOLIOT_CONSTRAINT_HINGE, id_of(s, 1), id_of(s, 2)));
    assert_acts(s, despawn(id_of(s, 1))); // breaks it
    size_t length;
    demand(foliot_world_capture(s->world, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    demand(foliot_world_capture(s->world, bytes, length, &length));
    assert_int_equal(foliot_world_restore(other->world, bytes, length), FOLIOT_STATUS_OK);
    uint8_t *joint = bytes + length - FOLIOT__JOINT_RECORD_BYTES;
    uint8_t *text = joint - FOLIOT_VAR_TEXT_BYTES, *key = text - FOLIOT_VAR_KEY_BYTES;
    uint8_t *driven = key - 16 - 2 * 4; // type, changed and value; two players
    assert_string_equal((const char *)key, "score");
    const struct {
        uint8_t *at;
        uint8_t value;
    } forged[] = {{key + 4, 0xff},  // not UTF-8
                  {key + 4, 0xc3},  // a character that does not end
                  {joint + 11, 1},  // a broken joint of a slot that never was
                  {joint + 15, 1},  // ... as its second body
                  {driven + 4, 2}}; // whoever has not joined drives a body
    for (unsigned i = 0; i < sizeof forged / sizeof *forged; i++) {
        uint8_t kept[4];
        memcpy(kept, forged[i].at, 4);
        if (forged[i].at == driven + 4)
            memset(forged[i].at, 0, 4);
        *forged[i].at = forged[i].value;
        assert_int_equal(foliot_world_restore(other->world, bytes, length), FOLIOT_STATUS_CORRUPT);
        memcpy(forged[i].at, kept, 4);
    }
    assert_int_equal(foliot_world_restore(other->world, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
    stage_free(s);
    stage_free(other);
}
