// SPDX-License-Identifier: MIT
// Goal: no command leaves a body asleep that it concerns. Method: a crate that is held in every way
// (it stands on its support, hangs from it, or touches its side) by a support of every kind falls
// asleep; then each command acts on the support. The same scene without sleep is the right answer:
// all bodies must stay near to theirs. Further tests spawn bodies into sleepers, and let go of what
// a player held.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "foliot/foliot.h"
#include "scene_builder.h"
#include "status.h"

#define HAS FOLIOT_COMMAND_HAS
#define SUPPORT 1
#define CRATE 2
#define NEAR 0.02 // m, after TICKS; what should fall and sleeps is off by 0.2
#define TICKS 12

typedef enum tie { TIE_CONTACT, TIE_BALL, TIE_HINGE, TIE_WELD, TIE_DISTANCE, TIE_SPRING, TIES } tie;
static const char *const tie_names[] = {"contact", "ball", "hinge", "weld", "distance", "spring"};

// What is done to the support.
typedef enum deed {
    DEED_DESPAWN,
    DEED_IMPULSE,
    DEED_IMPULSE_SPIN,
    DEED_LIFT,
    DEED_SHIFT,
    DEED_VELOCITY,
    DEED_TURN,
    DEED_TARGET,
    DEED_FALL,
    DEED_HOLD,
    DEED_CARRY,
    DEED_MASK,
    DEED_GROUP,
    DEED_WEIGHTLESS,
    DEED_JOINT,
    DEED_BREAK,
    DEED_LONGER,
    DEED_CONTROL,
    DEED_GRAVITY,
    DEED_VAR,
    DEEDS
} deed;

typedef struct stage {
    scene_builder builder;
    foliot_force_definition spring;
    foliot_body_definition prototype;
    foliot_world *world;
    uint32_t joint; // that a command made; FOLIOT_NO_BODY: none
    uint32_t sequence;
    bool acted;
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
    return foliot_world_get_body_state(world, slot).flags & FOLIOT_BODY_ASLEEP;
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
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(s->world, &count);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].kind == FOLIOT_EVENT_JOINT)
            s->joint = events[i].a;
}

// Slot 0: a floor. The support stands on it if it can move, else it is 3 m up. The crate stands on
// it or hangs 1.5 m below it.
static stage *stage_new(tie t, foliot_body_motion motion, bool hangs, bool sleep)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->builder = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    s->joint = FOLIOT_NO_BODY;
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
    if (t != TIE_CONTACT && t != TIE_SPRING)
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

static foliot_command deed_command(const stage *s, deed d)
{
    foliot_command c;
    foliot_body_id support = id_of(s, SUPPORT);
    foliot_body_state at = foliot_world_get_body_state(s->world, SUPPORT);
#define BEGIN(kind)                                                                                \
    c = foliot_command_default(FOLIOT_COMMAND_##kind);                                             \
    c.fields = HAS(kind, body);                                                                    \
    c.as.kind.body = support;
#define SET(kind, name, value)                                                                     \
    c.fields |= HAS(kind, name);                                                                   \
    c.as.kind.name = value;
#define SET_AT(kind, name, k, value)                                                               \
    c.fields |= HAS(kind, name);                                                                   \
    c.as.kind.name[k] = value;
    switch (d) {
    case DEED_DESPAWN:
        BEGIN(despawn)
        break;
    case DEED_IMPULSE:
        BEGIN(impulse)
        SET_AT(impulse, linear, 0, 8)
        break;
    case DEED_IMPULSE_SPIN:
        BEGIN(impulse)
        SET_AT(impulse, angular, 2, 3)
        break;
    case DEED_LIFT: // away from what stands on it
    case DEED_SHIFT:
        BEGIN(set_motion)
        c.fields |= HAS(set_motion, position);
        for (int k = 0; k < 3; k++)
            c.as.set_motion.position[k] = (float)at.position[k];
        c.as.set_motion.position[d == DEED_LIFT ? 2 : 0] += d == DEED_LIFT ? -0.25f : 1.25f;
        break;
    case DEED_VELOCITY:
        BEGIN(set_motion)
        SET_AT(set_motion, velocity, 0, 2)
        break;
    case DEED_TURN:
        BEGIN(set_motion)
        SET_AT(set_motion, orientation, 0, 0.9987503f)
        SET_AT(set_motion, orientation, 1, 0.0499792f)
        break;
    case DEED_TARGET:
        BEGIN(target)
        for (int k = 0; k < 3; k++)
            c.as.target.position[k] = (float)at.position[k];
        SET_AT(target, position, 2, (float)at.position[2] - 0.02f)
        break;
    case DEED_FALL:
    case DEED_HOLD:
    case DEED_CARRY:
        BEGIN(set_body)
        SET(set_body, motion,
            d == DEED_FALL   ? FOLIOT_MOTION_DYNAMIC
            : d == DEED_HOLD ? FOLIOT_MOTION_STATIC
                             : FOLIOT_MOTION_KINEMATIC)
        break;
    case DEED_MASK:
        BEGIN(set_body)
        SET(set_body, mask, 0)
        break;
    case DEED_GROUP:
        BEGIN(set_body)
        SET(set_body, category, 2)
        SET(set_body, mask, 2)
        break;
    case DEED_WEIGHTLESS:
        BEGIN(set_body)
        SET(set_body, gravity_scale, -2)
        break;
    case DEED_JOINT: // the world holds the crate, too
        c = foliot_command_default(FOLIOT_COMMAND_joint);
        c.fields = HAS(joint, kind) | HAS(joint, a) | HAS(joint, anchor_b);
        c.as.joint.kind = FOLIOT_CONSTRAINT_DISTANCE;
        c.as.joint.a = id_of(s, CRATE);
        SET_AT(joint, anchor_b, 0, 3)
        SET_AT(joint, anchor_b, 2, 1)
        SET(joint, length, 3)
        break;
    case DEED_BREAK:
    case DEED_LONGER:
        c = foliot_command_default(d == DEED_BREAK ? FOLIOT_COMMAND_break_joint
                                                   : FOLIOT_COMMAND_set_joint);
        if (s->joint == FOLIOT_NO_BODY)
            break;
        if (d == DEED_BREAK) {
            c.fields = HAS(break_joint, joint);
            c.as.break_joint.joint = foliot_world_get_joint_id(s->world, s->joint);
            break;
        }
        c.fields = HAS(set_joint, joint);
        c.as.set_joint.joint = foliot_world_get_joint_id(s->world, s->joint);
        SET(set_joint, length, 2)
        SET(set_joint, motor_speed, 2)
        SET(set_joint, motor_torque, 100)
        break;
    case DEED_CONTROL:
        c = foliot_command_default(FOLIOT_COMMAND_control);
        c.fields = HAS(control, player) | HAS(control, body);
        c.as.control.body = support;
        break;
    case DEED_GRAVITY:
        c = foliot_command_default(FOLIOT_COMMAND_gravity);
        c.fields = HAS(gravity, acceleration);
        c.as.gravity.acceleration[0] = 8;
        c.as.gravity.acceleration[2] = -2;
        break;
    default:
        c = foliot_command_default(FOLIOT_COMMAND_var);
        c.fields = HAS(var, key) | HAS(var, integer);
        c.as.var.key = "score";
        c.as.var.integer = 1;
        break;
    }
#undef BEGIN
#undef SET
#undef SET_AT
    return c;
}

// Returns whether the deed was accepted.
static bool acts(stage *s, deed d)
{
    if (issue(s, deed_command(s, d)) != FOLIOT_COMMAND_REASON_none)
        return false;
    if (d == DEED_CONTROL) { // whoever is driven is pushed
        const foliot_input push = {
            .player = 0, .sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .axes = {127, 0, 0}};
        demand(foliot_world_step(s->world, &push, 1, NULL));
    }
    return true;
}

static double apart(const stage *s, const stage *right, uint32_t slot)
{
    foliot_body_state a = foliot_world_get_body_state(s->world, slot);
    foliot_body_state b = foliot_world_get_body_state(right->world, slot);
    double d2 = 0;
    for (int k = 0; k < 3; k++)
        d2 += (a.position[k] - b.position[k]) * (a.position[k] - b.position[k]);
    return sqrt(d2);
}

static unsigned compare(tie t, foliot_body_motion motion, bool hangs, deed d)
{
    stage *s = stage_new(t, motion, hangs, true), *right = stage_new(t, motion, hangs, false);
    assert_true(asleep(s->world, CRATE));
    check_below(apart(s, right, CRATE), NEAR / 4);
    bool did = acts(s, d);
    assert_int_equal(acts(right, d), did);
    double worst = 0;
    if (d == DEED_JOINT) { // a hinge jammed by two supports amplifies every difference
        assert_false(asleep(s->world, CRATE));
        did = false;
    }
    for (int n = 0; did && n < TICKS; n++) {
        run_ticks(s->world, 1);
        run_ticks(right->world, 1);
        for (uint32_t slot = SUPPORT; slot <= CRATE; slot++)
            worst = fmax(worst, apart(s, right, slot));
    }
    if (!(worst < NEAR))
        printf("%s, support of kind %d%s, deed %d: %g m\n", tie_names[t], (int)motion,
               hangs ? ", hanging" : "", (int)d, worst);
    stage_free(s);
    stage_free(right);
    return !(worst < NEAR);
}

static void every_command_wakes_over_every_tie(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (tie t = 0; t < TIES; t++)
        for (foliot_body_motion m = 0; m <= FOLIOT_MOTION_KINEMATIC; m++)
            for (int hangs = 0; hangs < 2; hangs++)
                for (deed d = 0; d < DEEDS; d++)
                    if (!hangs || (m != FOLIOT_MOTION_DYNAMIC && t != TIE_CONTACT))
                        wrong += compare(t, m, hangs, d);
    assert_int_equal(wrong, 0);
}

// -- bodies that come

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

// A crate on a box rests; a block or a fast box is spawned beside it, 15 mm inside or 5 cm away.
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
    run_ticks(world, 60);
    double x = foliot_world_get_body_state(world, 1).position[0];
    foliot_world_destroy(world);
    builder_free(&y);
    return x;
}

static void what_is_spawned_into_a_sleeper_wakes_it(void **state)
{
    (void)state;
    check_near(crate_after_spawn(true, true), crate_after_spawn(true, false), 1e-4);
    check_near(crate_after_spawn(true, true), -0.015, 2e-3);
    check_near(crate_after_spawn(false, true), crate_after_spawn(false, false), 0.05);
}

// -- what a player held

// A player above draws a ball up against a ceiling for a second, where it falls asleep; then lets
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
        c.as.despawn.body = foliot_world_get_body_id(world, foliot_world_get_player_body(world, 0));
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
    run_ticks(world, 60);
    double z = foliot_world_get_body_state(world, 1).position[2];
    foliot_world_destroy(world);
    builder_free(&y);
    return z;
}

static void what_a_player_lets_go_falls(void **state)
{
    (void)state;
    for (int how = 0; how < 4; how++) {
        check_near(height_after_release(how, true), height_after_release(how, false), 1e-2);
        check_below(height_after_release(how, true), -2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_wakes_over_every_tie),
        cmocka_unit_test(what_is_spawned_into_a_sleeper_wakes_it),
        cmocka_unit_test(what_a_player_lets_go_falls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
