// SPDX-License-Identifier: MIT
// test_player.c: what players' buttons do: bodies drawn near and driven off, and jumping.
// Accelerations are compared with the formula of docs/reference/scenes.md after one step, momentum
// over many.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "scene_builder.h"
#include "status.h"
#include "slots.h"

#define G 9.81
#define PULL 64.0
#define PUSH 90.0
#define REACH 3.0

static const double middle[1][3] = {{0, 0, 0}};

// A player of 10 kg in the middle of what the caller adds.
static scene_builder player_scene(void)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    foliot_players_definition *p = &y.scene.players;
    p->limit = 2;
    p->body.mass = 10;
    p->body.shape.kind = FOLIOT_SHAPE_SPHERE;
    p->body.shape.radius = 0.5;
    p->positions = middle;
    p->position_count = 1;
    p->reach = REACH;
    p->pull = PULL;
    p->push = PUSH;
    p->jump = 4;
    return y;
}

static void act(foliot_world *world, foliot_input_kind kind, uint16_t buttons)
{
    foliot_input input = {.player = 0,
                          .sequence = (uint32_t)foliot_world_get_tick(world) + 1,
                          .kind = (uint8_t)kind,
                          .buttons = buttons};
    assert_int_equal(foliot_world_step(world, &input, 1, NULL), FOLIOT_STATUS_OK);
}

static double speed_x(const foliot_world *world, uint32_t slot)
{
    return slot_state(world, slot).velocity[0];
}

TEST(near_bodies_are_drawn_and_driven_off)
{
    const struct {
        uint16_t buttons;
        double strength;
    } cases[] = {{FOLIOT_BUTTON_PULL, PULL},
                 {FOLIOT_BUTTON_PUSH, -PUSH},
                 {FOLIOT_BUTTON_PULL | FOLIOT_BUTTON_PUSH, PULL - PUSH},
                 {0x8000, 0}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        scene_builder y = player_scene();
        builder_add_ball(&y, 2, 0.1, 1.2, 0, 0);
        builder_add_ball(&y, 3, 0.1, -2.4, 0, 0);
        builder_add_ball(&y, 3, 0.1, 3.01, 0, 0); // beyond reach
        foliot_world *world = builder_create_world(&y);
        act(world, FOLIOT_INPUT_JOIN, 0);
        act(world, FOLIOT_INPUT_CONTROL, cases[k].buttons);
        double dt = 1.0 / 60, near = cases[k].strength * (1 - 1.2 / REACH) * dt;
        double far = cases[k].strength * (1 - 2.4 / REACH) * dt;
        check_near(speed_x(world, 0), -near / 2, 1e-12);
        check_near(speed_x(world, 1), far / 3, 1e-12);
        check_bits(speed_x(world, 2), 0);
        check_near(speed_x(world, 3), (near - far) / 10, 1e-12);
        // A released body moves on as it is.
        double before = speed_x(world, 0);
        act(world, FOLIOT_INPUT_CONTROL, 0);
        check_bits(speed_x(world, 0), before);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(gripping_keeps_momentum)
{
    scene_builder y = player_scene();
    for (int i = 0; i < 12; i++)
        builder_add_ball(&y, 1 + i % 3, 0.1, 0.9 * (i % 4) - 1.3, 0.8 * (i / 4) - 0.9,
                         0.3 * (i % 5));
    foliot_world *world = builder_create_world(&y);
    act(world, FOLIOT_INPUT_JOIN, 0);
    act(world, FOLIOT_INPUT_CONTROL, FOLIOT_BUTTON_PULL);
    run_ticks(world, 30);
    act(world, FOLIOT_INPUT_CONTROL, FOLIOT_BUTTON_PUSH);
    run_ticks(world, 30);
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    check_gt(end.kinetic, 1);
    for (int k = 0; k < 3; k++)
        check_near(end.momentum[k], 0,
                   1e-4); // of some 100: those that touch exchange binary32 impulses
    foliot_world_destroy(world);
    builder_free(&y);
}

// One jump a press, from the ground alone, against gravity whichever way that is.
TEST(a_jump_needs_ground_and_a_press)
{
    scene_builder y = player_scene();
    y.scene.gravity[1] = -G;
    builder_add_plane(&y, 0, 1, 0, -0.5);
    foliot_world *world = builder_create_world(&y);
    uint32_t me = 1;
    act(world, FOLIOT_INPUT_JOIN, 0);
    run_ticks(world, 30);
    act(world, FOLIOT_INPUT_CONTROL, FOLIOT_BUTTON_JUMP);
    check_near(slot_state(world, me).velocity[1], 4 - G / 60, 0.01);
    act(world, FOLIOT_INPUT_CONTROL, 0);
    act(world, FOLIOT_INPUT_CONTROL, FOLIOT_BUTTON_JUMP); // in the air
    check_near(slot_state(world, me).velocity[1], 4 - 3 * G / 60, 0.01);
    double highest = 0;
    for (int t = 0; t < 120; t++) { // held: it lands and stays
        run_ticks(world, 1);
        highest = fmax(highest, slot_state(world, me).position[1]);
    }
    check_near(highest, 16 / (2 * G), 0.05);
    check_near(slot_state(world, me).velocity[1], 0, 1e-3);
    act(world, FOLIOT_INPUT_CONTROL, 0);
    act(world, FOLIOT_INPUT_CONTROL, FOLIOT_BUTTON_JUMP);
    check_gt(slot_state(world, me).velocity[1], 3);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_restored_player_grips_on)
{
    scene_builder y = player_scene();
    builder_add_ball(&y, 2, 0.1, 1.2, 0.3, 0);
    foliot_world *world = builder_create_world(&y), *other = builder_create_world(&y);
    act(world, FOLIOT_INPUT_JOIN, 0);
    act(world, FOLIOT_INPUT_CONTROL, FOLIOT_BUTTON_PUSH);
    run_ticks(world, 5);
    size_t length;
    demand(foliot_world_capture(world, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_world_capture(world, bytes, length, &length), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_restore(other, bytes, length), FOLIOT_STATUS_OK);
    run_ticks(world, 20);
    run_ticks(other, 20);
    foliot_digest a = foliot_world_get_digest(world), b = foliot_world_get_digest(other);
    assert_memory_equal(&a, &b, sizeof a);
    free(bytes);
    foliot_world_destroy(world);
    foliot_world_destroy(other);
    builder_free(&y);
}

static void refused(scene_builder *y, const char *path, foliot_status status)
{
    foliot_error problem = {.path = ""};
    y->scene.bodies = y->bodies;
    assert_int_equal(foliot_scene_check(&y->scene, &problem), status);
    assert_string_equal(problem.path, path);
    builder_free(y);
}

TEST(controls_that_make_no_sense_are_refused)
{
    scene_builder y = player_scene();
    y.scene.players.reach = 0;
    refused(&y, "players.controls.reach", FOLIOT_STATUS_INVALID);
    y = player_scene();
    y.scene.players.pull = y.scene.players.push = 0;
    refused(&y, "players.controls.reach", FOLIOT_STATUS_INVALID);
    y = player_scene();
    y.scene.players.pull = -1;
    refused(&y, "players.controls.pull", FOLIOT_STATUS_INVALID);
    y = player_scene();
    y.scene.players.control = FOLIOT_CONTROL_NONE;
    refused(&y, "players.controls.kind", FOLIOT_STATUS_INVALID);
    y = player_scene();
    y.scene.players.body.shape.kind = FOLIOT_SHAPE_POINT;
    refused(&y, "players.controls.jump", FOLIOT_STATUS_INVALID);
    y = player_scene();
    y.scene.players.body.shape.kind = FOLIOT_SHAPE_POINT;
    y.scene.players.jump = 0;
    y.scene.integrator = FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG;
    refused(&y, "integrator", FOLIOT_STATUS_REFUSED);
}

// Bytes that say nothing of buttons are those of before there were any.
TEST(bytes_carry_the_buttons)
{
    scene_builder y = player_scene();
    uint8_t plain[512], bytes[512];
    size_t plain_length, length;
    assert_int_equal(foliot_scene_encode(&y.scene, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    foliot_scene *back;
    assert_int_equal(foliot_scene_decode(bytes, length, &back), FOLIOT_STATUS_OK);
    check_bits(back->players.reach, REACH);
    check_bits(back->players.pull, PULL);
    check_bits(back->players.push, PUSH);
    check_bits(back->players.jump, 4);
    foliot_scene_destroy(back);
    y.scene.players.reach = y.scene.players.pull = y.scene.players.push = y.scene.players.jump = 0;
    assert_int_equal(foliot_scene_encode(&y.scene, plain, sizeof plain, &plain_length),
                     FOLIOT_STATUS_OK);
    assert_int_equal(plain_length + 4 * 8, length);
    builder_free(&y);
}
