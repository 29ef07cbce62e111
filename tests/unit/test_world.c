// SPDX-License-Identifier: MIT
// test_world.c: worlds from scenes: sizes, copies, bodies, players, faults. Worlds are built in C
// and looked at from outside, as an embedder would.
#include "check.h"
#include "slots.h"

#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"

static const double spawn_positions[2][3] = {{0, 0, 2}, {3, 0, 2}};

typedef struct fixture {
    foliot_body_definition bodies[3];
    foliot_force_definition forces[1];
    foliot_scene scene;
} fixture;

// Two balls with ugly numbers on a spring, one still body, and two players who push.
static fixture made(void)
{
    fixture f;
    f.bodies[0] = foliot_body_definition_default();
    f.bodies[0].name = "a";
    f.bodies[0].mass = 1.3;
    f.bodies[0].position[0] = 0.1;
    f.bodies[0].velocity[1] = -0.7;
    f.bodies[1] = foliot_body_definition_default();
    f.bodies[1].name = "b";
    f.bodies[1].mass = 0.37;
    f.bodies[1].position[2] = 1.9;
    f.bodies[2] = foliot_body_definition_default();
    f.bodies[2].is_static = true;
    f.bodies[2].position[0] = 100;
    f.forces[0] = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    f.forces[0].a = 0;
    f.forces[0].b = 1;
    f.forces[0].as.spring.stiffness = 3.3;
    f.scene = foliot_scene_default();
    f.scene.name = "fixture";
    f.scene.dt = 1.0 / 60;
    f.scene.gravity[2] = -9.81;
    f.scene.players.limit = 2;
    f.scene.players.body = foliot_body_definition_default();
    f.scene.players.positions = spawn_positions;
    f.scene.players.position_count = 2;
    f.scene.players.control = FOLIOT_CONTROL_THRUST;
    f.scene.players.force = 20;
    return f;
}

static foliot_world *world_of(fixture *f)
{
    f->scene.bodies = f->bodies;
    f->scene.body_count = 3;
    f->scene.forces = f->forces;
    f->scene.force_count = 1;
    foliot_world *world = NULL;
    assert_int_equal(foliot_world_create(&f->scene, &world, NULL), FOLIOT_STATUS_OK);
    return world;
}

static foliot_input control(uint32_t player, uint32_t sequence, int8_t x)
{
    return (foliot_input){.player = player, .sequence = sequence, .axes = {x}};
}

static foliot_input joining(uint32_t player, foliot_input_kind kind)
{
    return (foliot_input){.player = player, .sequence = 1, .kind = (uint8_t)kind};
}

TEST(a_world_holds_what_its_scene_says)
{
    fixture f = made();
    foliot_world *world = world_of(&f);
    assert_int_equal(foliot_world_get_body_count(world), 3);
    assert_int_equal(foliot_world_get_tick(world), 0);
    foliot_body_state a = slot_state(world, 0), c = slot_state(world, 2);
    check_bits(a.position[0], 0.1);
    check_bits(a.velocity[1], -0.7);
    assert_int_equal(a.flags, FOLIOT_BODY_ALIVE);
    assert_int_equal(c.flags, FOLIOT_BODY_ALIVE | FOLIOT_BODY_STATIC);
    check_bits(slot_body(world, 1).mass, 0.37);
    assert_int_equal(player_slot(world, 0), FOLIOT_NO_BODY);
    foliot_world_destroy(world);
}

TEST(a_block_that_is_too_small_or_misaligned_is_refused)
{
    fixture f = made();
    foliot_world *world = world_of(&f);
    foliot_world_config config = foliot_world_config_default(&f.scene);
    size_t bytes = foliot_world_config_get_bytes(&config);
    assert_int_equal(bytes, foliot_world_get_bytes(world));
    char *block = aligned_alloc(64, bytes + 64);
    foliot_world *other = NULL;
    assert_int_equal(foliot_world_init(block, bytes - 1, &config, &f.scene, &other),
                     FOLIOT_STATUS_FULL);
    assert_int_equal(foliot_world_init(block + 8, bytes, &config, &f.scene, &other),
                     FOLIOT_STATUS_INVALID);
    assert_null(other);
    assert_int_equal(foliot_world_init(block, bytes, &config, &f.scene, &other), FOLIOT_STATUS_OK);
    free(block);
    foliot_world_destroy(world);
}

static void step(foliot_world *world, const foliot_input *inputs, uint32_t count)
{
    assert_int_equal(foliot_world_step(world, inputs, count, NULL), FOLIOT_STATUS_OK);
}

TEST(copies_agree_until_inputs_differ)
{
    fixture f = made();
    foliot_world *one = world_of(&f), *two = aligned_alloc(64, foliot_world_get_bytes(one));
    foliot_input join = joining(0, FOLIOT_INPUT_JOIN);
    step(one, &join, 1);
    foliot_world_copy(two, one);
    for (int t = 0; t < 100; t++) {
        foliot_input push = control(0, (uint32_t)t + 2, (int8_t)(t % 100));
        step(one, &push, 1);
        step(two, &push, 1);
        assert_true(
            foliot_digest_equal(foliot_world_get_digest(one), foliot_world_get_digest(two)));
    }
    foliot_input left = control(0, 200, -1), right = control(0, 200, 1);
    step(one, &left, 1);
    step(two, &right, 1);
    assert_false(foliot_digest_equal(foliot_world_get_digest(one), foliot_world_get_digest(two)));
    free(two);
    foliot_world_destroy(one);
}

TEST(disordered_inputs_are_refused_and_change_nothing)
{
    fixture f = made();
    foliot_world *world = world_of(&f);
    foliot_digest before = foliot_world_get_digest(world);
    const foliot_input cases[][2] = {{control(1, 1, 0), control(0, 1, 0)},
                                     {control(0, 2, 0), control(0, 1, 0)},
                                     {control(0, 1, 0), control(0, 1, 0)},
                                     {control(0, 1, 0), control(2, 1, 0)}};
    for (int i = 0; i < 4; i++)
        assert_int_equal(foliot_world_step(world, cases[i], 2, NULL), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_world_get_tick(world), 0);
    assert_true(foliot_digest_equal(before, foliot_world_get_digest(world)));
    foliot_world_destroy(world);
}

TEST(players_join_push_and_leave)
{
    fixture f = made();
    f.scene.gravity[2] = 0;
    foliot_world *world = world_of(&f);
    foliot_input joins[2] = {joining(0, FOLIOT_INPUT_JOIN), joining(1, FOLIOT_INPUT_JOIN)};
    step(world, joins, 2);
    uint32_t slot = player_slot(world, 1), count;
    assert_int_equal(slot, 4);
    uint32_t generation = slot_generation(world, slot);
    foliot_world_get_events(world, &count);
    assert_int_equal(count, 2);
    check_bits(slot_state(world, slot).position[0], 3);
    foliot_input push = control(1, 2, 127);
    step(world, &push, 1);
    check_near(slot_state(world, slot).velocity[0], 20.0 / 60, 1e-15);
    step(world, NULL, 0); // controls are held
    check_near(slot_state(world, slot).velocity[0], 40.0 / 60, 1e-15);
    foliot_input leave = joining(1, FOLIOT_INPUT_LEAVE);
    leave.sequence = 3;
    step(world, &leave, 1);
    assert_false(slot_alive(world, slot));
    foliot_input again = joining(1, FOLIOT_INPUT_JOIN);
    step(world, &again, 1);
    assert_int_equal(player_slot(world, 1),
                     4); // the same slot, another generation
    assert_int_not_equal(slot_generation(world, slot), generation);
    foliot_world_destroy(world);
}

TEST(what_cannot_be_applied_is_counted_and_told)
{
    fixture f = made();
    foliot_world *world = world_of(&f);
    foliot_input inputs[2] = {control(0, 1, 5), joining(1, FOLIOT_INPUT_LEAVE)};
    step(world, inputs, 2);
    assert_int_equal(foliot_world_get_counters(world)->inputs_refused, 2);
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(world, &count);
    assert_int_equal(count, 2);
    assert_int_equal(events[1].kind, FOLIOT_EVENT_INPUT_REFUSED);
    assert_int_equal(events[1].player, 1);
    foliot_world_destroy(world);
}

TEST(a_body_that_leaves_the_numbers_is_frozen_where_it_was)
{
    fixture f = made();
    f.scene.integrator = FOLIOT_INTEGRATOR_EXPLICIT_EULER;
    f.scene.dt = 10; // k dt^2 / m = 1000: grows by that factor a step
    foliot_world *world = world_of(&f);
    for (int t = 0; t < 100; t++)
        step(world, NULL, 0);
    const foliot_world_counters *counted = foliot_world_get_counters(world);
    assert_int_equal(counted->frozen_bodies, 2);
    check_gt(counted->first_frozen_tick, 3);
    check_lt(counted->first_frozen_tick, 20);
    foliot_body_state b = slot_state(world, 1);
    assert_true(b.flags & FOLIOT_BODY_FROZEN);
    check_bits(b.velocity[2], 0);
    check_below(b.position[2] * b.position[2], 0x1p80);
    foliot_world_destroy(world);
}

TEST(speed_is_clamped_where_the_scene_says_so)
{
    fixture f = made();
    f.scene.speed_max = 3;
    foliot_world *world = world_of(&f);
    for (int t = 0; t < 120; t++)
        step(world, NULL, 0);
    const double *v = slot_state(world, 0).velocity;
    check_near(v[0] * v[0] + v[1] * v[1] + v[2] * v[2], 9, 1e-14);
    foliot_world_destroy(world);
}
