// SPDX-License-Identifier: MIT
// Goal: no command leaves a body asleep that it concerns. Method: a crate that is held in every way
// (it stands on its support, hangs from it, or touches its side) by a support of every kind falls
// asleep; then each command acts on the support. The same scene whose bodies the test woke just
// before must have the same bits in every tick, and in the same scene without sleep all bodies
// must be near to theirs. Further tests spawn bodies into sleepers, and release what a player held.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "scene_builder.h"
#include "sim/island/sleep.h"
#include "status.h"
#include "slots.h"

#define HAS FOLIOT_COMMAND_HAS
#define SUPPORT 1
#define CRATE 2
#define START_NEAR 2e-4 // m, before a command
#define TICKS 12
#define NEAR 0.02 // m, after TICKS; what should fall and sleeps is off by 0.2
#define EARLY_TICKS 5
#define EARLY_NEAR 1e-3 // m, after EARLY_TICKS; a fall is 0.03

typedef enum tie { TIE_CONTACT, TIE_BALL, TIE_HINGE, TIE_WELD, TIE_DISTANCE, TIE_SPRING, TIES } tie;
static const char *const tie_names[] = {"contact", "ball", "hinge", "weld", "distance", "spring"};

// A command that acts on the support, or on what holds the crate.
typedef struct deed {
    const char *json; // a position is relative to the support
    unsigned takes;   // motions of a support that takes it
    unsigned idle;    // motions of a support that it leaves at rest: nothing wakes
    bool needs_joint; // between support and crate
    bool jams;        // a second support jams a hinge, which amplifies every difference
} deed;

#define DYNAMIC (1u << FOLIOT_MOTION_DYNAMIC)
#define STATIC (1u << FOLIOT_MOTION_STATIC)
#define KINEMATIC (1u << FOLIOT_MOTION_KINEMATIC)
#define ANY (DYNAMIC | STATIC | KINEMATIC)
#define ON_SUPPORT(kind, fields) "{\"command\": \"" kind "\", \"body\": [1, 0]" fields "}"
#define ON_JOINT(kind, fields) "{\"command\": \"" kind "\", \"joint\": [0, 0]" fields "}"
#define WORLD_HOLDS_CRATE                                                                          \
    "{\"command\": \"joint\", \"kind\": \"distance\", \"a\": [2, 0], \"anchor_b\": [3, 0, 1], "    \
    "\"length\": 3}"

static const deed deeds[] = {
    {ON_SUPPORT("despawn", ""), .takes = ANY},
    {ON_SUPPORT("impulse", ", \"linear\": [8, 0, 0]"), .takes = DYNAMIC},
    {ON_SUPPORT("impulse", ", \"angular\": [0, 0, 3]"), .takes = DYNAMIC},
    {ON_SUPPORT("set_motion", ", \"position\": [0, 0, -0.25]"), .takes = ANY},
    {ON_SUPPORT("set_motion", ", \"position\": [1.25, 0, 0]"), .takes = ANY},
    {ON_SUPPORT("set_motion", ", \"velocity\": [2, 0, 0]"), .takes = DYNAMIC | KINEMATIC},
    {ON_SUPPORT("set_motion", ", \"orientation\": [0.9987503, 0.0499792, 0, 0]"), .takes = ANY},
    {ON_SUPPORT("target", ", \"position\": [0, 0, -0.02]"), .takes = KINEMATIC},
    {ON_SUPPORT("set_body", ", \"motion\": \"dynamic\""), .takes = DYNAMIC | KINEMATIC},
    {ON_SUPPORT("set_body", ", \"motion\": \"static\""), .takes = ANY},
    {ON_SUPPORT("set_body", ", \"motion\": \"kinematic\""), .takes = ANY},
    {ON_SUPPORT("set_body", ", \"mask\": 0"), .takes = ANY},
    {ON_SUPPORT("set_body", ", \"category\": 2, \"mask\": 2"), .takes = ANY},
    {ON_SUPPORT("set_body", ", \"gravity_scale\": -2"), .takes = ANY},
    {WORLD_HOLDS_CRATE, .takes = ANY, .jams = true},
    {ON_JOINT("break_joint", ""), .takes = ANY, .needs_joint = true},
    {ON_JOINT("set_joint", ", \"length\": 2, \"motor_speed\": 2, \"motor_torque\": 100"),
     .takes = ANY, .needs_joint = true},
    {ON_SUPPORT("control", ", \"player\": 0"), .takes = ANY, .idle = STATIC | KINEMATIC},
    {"{\"command\": \"gravity\", \"acceleration\": [8, 0, -2]}", .takes = ANY},
    {"{\"command\": \"var\", \"key\": \"score\", \"integer\": 1}", .takes = ANY, .idle = ANY},
};

typedef struct stage {
    scene_builder builder;
    foliot_force_definition spring;
    foliot_body_definition prototype;
    foliot_world *world;
    uint32_t sequence;
} stage;

static foliot_command_reason issue(stage *s, foliot_command c)
{
    c.sequence = ++s->sequence;
    return step_command(s->world, &c);
}

static foliot_body_id id_of(const stage *s, uint32_t slot)
{
    return foliot_world_get_body_id(s->world, slot);
}

static bool asleep(const foliot_world *world, uint32_t slot)
{
    return slot_state(world, slot).flags & FOLIOT_BODY_ASLEEP;
}

static bool is_joint(tie t)
{
    return t != TIE_CONTACT && t != TIE_SPRING;
}

// The anchor lies in the middle of the face where the two touch, or would.
static void tie_by_joint(stage *s, tie t, bool hangs)
{
    static const foliot_constraint_kind kinds[] = {[TIE_BALL] = FOLIOT_CONSTRAINT_BALL,
                                                   [TIE_HINGE] = FOLIOT_CONSTRAINT_HINGE,
                                                   [TIE_WELD] = FOLIOT_CONSTRAINT_WELD,
                                                   [TIE_DISTANCE] = FOLIOT_CONSTRAINT_DISTANCE};
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_joint);
    c.fields = HAS(joint, kind) | HAS(joint, a) | HAS(joint, b) | HAS(joint, anchor_a) |
               HAS(joint, collides);
    c.as.joint.kind = kinds[t];
    c.as.joint.a = id_of(s, SUPPORT);
    c.as.joint.b = id_of(s, CRATE);
    c.as.joint.anchor_a[2] = hangs ? -0.75f : 0.5f;
    c.as.joint.collides = 1;
    if (t == TIE_DISTANCE) {
        c.fields |= HAS(joint, anchor_b);
        c.as.joint.anchor_a[2] = 0;
    }
    assert_int_equal(issue(s, c), FOLIOT_COMMAND_REASON_none);
}

// Slot 0: a floor. The support stands on it if it can move, else it is 3 m up. The crate stands on
// it or hangs 1.5 m below it.
static stage *stage_new(tie t, foliot_body_motion motion, bool hangs, bool sleep)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->builder = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    scene_builder *y = &s->builder;
    double up = motion == FOLIOT_MOTION_DYNAMIC ? 0.5 : 3, mass = 1, weight = mass * 9.81;
    builder_add_plane(y, 0, 0, 1, 0);
    builder_add_box(y, 4, 0.5, 0.5, 0.5, 0, 0, up);
    y->bodies[SUPPORT].is_static = motion == FOLIOT_MOTION_STATIC;
    y->bodies[SUPPORT].is_kinematic = motion == FOLIOT_MOTION_KINEMATIC;
    builder_add_box(y, mass, 0.5, 0.5, 0.5, 0, 0, hangs ? up - 1.5 : up + 1);
    builder_set_material(y, 0.6, 0);
    y->scene.gravity[2] = -9.81;
    y->scene.sleep = sleep;
    y->scene.bodies_max = 8;
    y->scene.commands_max = 8;
    y->scene.joints_max = 4;
    y->scene.players.limit = 1;
    y->scene.players.force = 200;
    y->scene.players.bodiless = true;
    s->prototype = foliot_body_definition_default();
    s->prototype.shape.kind = FOLIOT_SHAPE_SPHERE;
    s->prototype.shape.radius = 0.1;
    s->prototype.name = "ball";
    y->scene.prototypes = &s->prototype;
    y->scene.prototype_count = 1;
    if (t == TIE_SPRING) {
        s->spring = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
        s->spring.a = SUPPORT;
        s->spring.b = CRATE;
        s->spring.as.spring.stiffness = 200;
        s->spring.as.spring.damping = 20;
        s->spring.as.spring.damping_kind = FOLIOT_DAMPING_ISOTROPIC;
        s->spring.as.spring.length = hangs ? 1.5 - weight / 200 : 1;
        y->scene.forces = &s->spring;
        y->scene.force_count = 1;
    }
    s->world = builder_create_world(y);
    const foliot_input join = {.player = 0, .sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    demand(foliot_world_step(s->world, &join, 1, NULL));
    if (is_joint(t))
        tie_by_joint(s, t, hangs);
    run_ticks(s->world, 200);
    return s;
}

static void stage_free(stage *s)
{
    foliot_world_destroy(s->world);
    builder_free(&s->builder);
    free(s);
}

// Returns whether the command was accepted. A player who is given the support pushes it.
static bool act(stage *s, const deed *d)
{
    foliot_command_list list = {0};
    foliot_error error;
    if (foliot_command_list_parse_json(&list, d->json, strlen(d->json), &error))
        fail_msg("%s: %s", d->json, error.text);
    foliot_command *c = list.commands;
    foliot_body_state support = slot_state(s->world, SUPPORT);
    double *place = NULL;
    if (c->kind == FOLIOT_COMMAND_set_motion && (c->fields & HAS(set_motion, position)))
        place = c->as.set_motion.position;
    if (c->kind == FOLIOT_COMMAND_target)
        place = c->as.target.position;
    for (int k = 0; place && k < 3; k++)
        place[k] += support.position[k];
    bool accepted = issue(s, *c) == FOLIOT_COMMAND_REASON_none;
    if (accepted && c->kind == FOLIOT_COMMAND_control) {
        const foliot_input push = {
            .player = 0, .sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .axes = {127, 0, 0}};
        demand(foliot_world_step(s->world, &push, 1, NULL));
    }
    foliot_command_list_destroy(&list);
    return accepted;
}

// As the product wakes a body: it counts as still for one tick.
static void wake_by_hand(stage *s)
{
    for (uint32_t slot = SUPPORT; slot <= CRATE; slot++) {
        uint64_t flags = slot_field(s->world, slot, FOLIOT_FIELD_flags);
        if (!(flags & FOLIOT_BODY_ASLEEP))
            continue;
        flags &= ~(uint64_t)(FOLIOT_BODY_ASLEEP | FOLIOT__STILL_BITS);
        flags |= 1u << FOLIOT__STILL_SHIFT;
        demand(slot_set_field(s->world, slot, FOLIOT_FIELD_flags, flags));
    }
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static double apart(const stage *s, const stage *other)
{
    double worst = 0;
    for (uint32_t slot = SUPPORT; slot <= CRATE; slot++)
        worst = fmax(worst, distance(slot_state(s->world, slot).position,
                                     slot_state(other->world, slot).position));
    return worst;
}

// All bits of the bodies, but for the count of still ticks: it restarts with a body's motion.
static bool same_state(const stage *s, const stage *other)
{
    for (uint32_t slot = 0; slot <= CRATE; slot++)
        for (int f = 0; f < FOLIOT_FIELD_COUNT; f++) {
            uint64_t counts = f == FOLIOT_FIELD_flags ? FOLIOT__STILL_BITS : 0;
            uint64_t differing = slot_field(s->world, slot, (foliot_field)f) ^
                                 slot_field(other->world, slot, (foliot_field)f);
            if (differing & ~counts)
                return false;
        }
    return true;
}

// In every tick `woken` has the bits of `s`, and the scene without sleep is near.
static bool agree(stage *s, stage *woken, stage *sleepless, bool jams)
{
    double worst = 0;
    for (int n = 0; n <= TICKS; n++) {
        double near = n <= EARLY_TICKS ? EARLY_NEAR : jams ? HUGE_VAL : NEAR;
        worst = fmax(worst, apart(s, sleepless));
        if (!same_state(s, woken) || !(worst < near)) {
            printf("tick %d: %s bits, %g m apart\n", n, same_state(s, woken) ? "same" : "other",
                   worst);
            return false;
        }
        run_ticks(s->world, 1);
        run_ticks(woken->world, 1);
        run_ticks(sleepless->world, 1);
    }
    return true;
}

static bool stays_asleep(stage *s, const double before[3])
{
    run_ticks(s->world, TICKS);
    foliot_body_state crate = slot_state(s->world, CRATE);
    return (crate.flags & FOLIOT_BODY_ASLEEP) && distance(crate.position, before) == 0;
}

static unsigned compare(tie t, foliot_body_motion motion, bool hangs, const deed *d)
{
    stage *s = stage_new(t, motion, hangs, true), *woken = stage_new(t, motion, hangs, true);
    stage *sleepless = stage_new(t, motion, hangs, false);
    bool takes = (d->takes & 1u << motion) && (!d->needs_joint || is_joint(t)), good = true;
    foliot_body_state before = slot_state(s->world, CRATE);
    assert_true(asleep(s->world, CRATE));
    check_below(apart(s, sleepless), START_NEAR);
    wake_by_hand(woken);
    assert_int_equal(act(s, d), takes);
    assert_int_equal(act(woken, d), takes);
    assert_int_equal(act(sleepless, d), takes);
    if (takes && (d->idle & 1u << motion))
        good = stays_asleep(s, before.position);
    else if (takes)
        good = agree(s, woken, sleepless, d->jams);
    if (!good)
        printf("%s, support of kind %d%s: %s\n", tie_names[t], (int)motion,
               hangs ? ", hanging" : "", d->json);
    stage_free(s);
    stage_free(woken);
    stage_free(sleepless);
    return !good;
}

TEST(every_command_wakes_over_every_tie)
{
    unsigned wrong = 0;
    for (tie t = 0; t < TIES; t++)
        for (foliot_body_motion m = 0; m <= FOLIOT_MOTION_KINEMATIC; m++)
            for (int hangs = 0; hangs < 2; hangs++)
                for (size_t d = 0; d < sizeof deeds / sizeof deeds[0]; d++)
                    if (!hangs || (m != FOLIOT_MOTION_DYNAMIC && t != TIE_CONTACT))
                        wrong += compare(t, m, hangs, &deeds[d]);
    assert_int_equal(wrong, 0);
}

// -- spawned bodies

static foliot_body_definition prototype(bool still, double half)
{
    foliot_body_definition body = foliot_body_definition_default();
    body.shape.kind = FOLIOT_SHAPE_BOX;
    for (int k = 0; k < 3; k++)
        body.shape.half[k] = half;
    body.is_static = still;
    body.name = still ? "block" : "cannon";
    return body;
}

// Runs the world for a second and frees it. Returns a coordinate of body 1.
static double place_after_a_second(scene_builder *y, foliot_world *world, int axis)
{
    run_ticks(world, 60);
    double place = slot_state(world, 1).position[axis];
    foliot_world_destroy(world);
    builder_free(y);
    return place;
}

// A crate on a box rests; a block or a fast box is spawned next to it, 15 mm inside or 5 cm away.
static double crate_after_spawn(bool still, bool sleep)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_box(&y, 1, 5, 5, 0.5, 0, 0, -0.5);
    y.bodies[0].is_static = true;
    builder_add_box(&y, 1, 0.5, 0.5, 0.5, 0, 0, 0.5);
    y.scene.gravity[2] = -9.81;
    y.scene.sleep = sleep;
    y.scene.bodies_max = y.scene.commands_max = 8;
    const foliot_body_definition prototypes[2] = {prototype(true, 0.5), prototype(false, 0.25)};
    y.scene.prototypes = prototypes;
    y.scene.prototype_count = 2;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    assert_int_equal(asleep(world, 1), sleep);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_spawn);
    c.fields = HAS(spawn, prototype) | HAS(spawn, position);
    c.sequence = 1;
    c.as.spawn.prototype = !still;
    c.as.spawn.position[0] = still ? 0.985f : 0.8f;
    c.as.spawn.position[2] = 0.5f;
    if (!still) {
        c.fields |= HAS(spawn, velocity);
        c.as.spawn.velocity[0] = -20;
    }
    assert_int_equal(step_command(world, &c), FOLIOT_COMMAND_REASON_none);
    return place_after_a_second(&y, world, 0);
}

TEST(a_spawned_body_wakes_the_sleeper_that_it_overlaps)
{
    check_near(crate_after_spawn(true, true), crate_after_spawn(true, false), 1e-4);
    check_near(crate_after_spawn(true, true), -0.015, 2e-3);
    check_near(crate_after_spawn(false, true), crate_after_spawn(false, false), 0.05);
}

// -- bodies that a player holds

// A player above pulls a box against a ceiling for a second, where it falls asleep, and then lets
// go, leaves, dies, or is given another body.
static double height_after_release(int how, bool sleep)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    builder_add_plane(&y, 0, 0, -1, -2); // a ceiling at 2 m
    builder_add_box(&y, 1, 0.2, 0.2, 0.2, 0, 0, 1.79);
    builder_add_box(&y, 1, 1, 1, 0.1, 40, 0, 0);
    y.bodies[2].is_static = true;
    y.scene.gravity[2] = -9.81;
    y.scene.sleep = sleep;
    y.scene.bodies_max = y.scene.commands_max = 8;
    static const double place[1][3] = {{0, 0, 3}};
    foliot_players_definition *players = &y.scene.players;
    players->limit = 1;
    players->positions = place;
    players->position_count = 1;
    players->body.gravity_scale = 0;
    players->body.mass = 1e6;
    players->control = FOLIOT_CONTROL_THRUST;
    players->reach = 5;
    players->pull = 60;
    foliot_world *world = builder_create_world(&y);
    const foliot_input start[2] = {
        {.player = 0, .sequence = 1, .kind = FOLIOT_INPUT_JOIN},
        {.player = 0, .sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .buttons = FOLIOT_BUTTON_PULL}};
    demand(foliot_world_step(world, start, 2, NULL));
    for (int t = 0; t < 300 && (t < 120 || (sleep && !asleep(world, 1))); t++)
        run_ticks(world, 1);
    assert_int_equal(asleep(world, 1), sleep);
    foliot_command c = foliot_command_default(FOLIOT_COMMAND_despawn);
    c.sequence = 1;
    if (how == 2) {
        c.fields = HAS(despawn, body);
        c.as.despawn.body = foliot_world_get_body_id(world, player_slot(world, 0));
    } else if (how == 3) {
        c.kind = FOLIOT_COMMAND_control;
        c.fields = HAS(control, player) | HAS(control, body);
        c.as.control.player = 0;
        c.as.control.body = foliot_world_get_body_id(world, 2);
    }
    const foliot_input end = {
        .player = 0, .sequence = 3, .kind = how == 1 ? FOLIOT_INPUT_LEAVE : FOLIOT_INPUT_CONTROL};
    if (how < 2)
        demand(foliot_world_step(world, &end, 1, NULL));
    else
        assert_int_equal(step_command(world, &c), FOLIOT_COMMAND_REASON_none);
    return place_after_a_second(&y, world, 2);
}

TEST(a_body_that_a_player_releases_falls)
{
    for (int how = 0; how < 4; how++) {
        check_near(height_after_release(how, true), height_after_release(how, false), 1e-2);
        check_below(height_after_release(how, true), -2);
    }
}
