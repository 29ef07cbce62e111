// SPDX-License-Identifier: MIT
// test_sleep.c: bodies at rest fall asleep, island by island, and wake for every reason that
// docs/explanation/contacts.md names, in time to give way to what wakes them; with all of it a
// restored world has the same future.
#include "check.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/query.h"
#include "foliot/snapshot.h"
#include "sim/selftest/probe.h"
#include "task_pool.h"
#include "scene_builder.h"
#include "status.h"
#include "slots.h"

#define G 9.81

static bool asleep(const foliot_world *world, uint32_t slot)
{
    return slot_state(world, slot).flags & FOLIOT_BODY_ASLEEP;
}

static uint32_t sleepers(const foliot_world *world)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < foliot_world_get_body_count(world); i++)
        count += asleep(world, i);
    return count;
}

static double energy_of(const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    return now.kinetic + now.potential;
}

static scene_builder floor_scene(void)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.sleep = true;
    y.scene.gravity[2] = -G;
    builder_add_plane(&y, 0, 0, 1, 0);
    return y;
}

// Two columns of three boxes, two islands.
static scene_builder two_columns(void)
{
    scene_builder y = floor_scene();
    for (int i = 0; i < 2; i++)
        for (int n = 0; n < 3; n++)
            builder_add_box(&y, 8, 0.1, 0.1, 0.1, 2.0 * i, 0, 0.1 + 0.2 * n);
    builder_set_material(&y, 0.6, 0);
    return y;
}

static void until_asleep(foliot_world *world, uint32_t count)
{
    for (int t = 0; t < 300 && sleepers(world) < count; t++)
        run_ticks(world, 1);
    assert_int_equal(sleepers(world), count);
}

TEST(what_rests_falls_asleep_and_costs_no_energy)
{
    scene_builder y = two_columns();
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 25);
    assert_int_equal(sleepers(world), 0); // not before half a second
    double least = energy_of(world), scale = 8 * G * 0.1;
    for (int t = 0; t < 120; t++) {
        run_ticks(world, 1);
        check_below(energy_of(world), least + 1e-4 * scale);
        least = fmin(least, energy_of(world));
    }
    assert_int_equal(sleepers(world), 6);
    foliot_body_state before = slot_state(world, 3);
    run_ticks(world, 600);
    foliot_body_state after = slot_state(world, 3);
    assert_memory_equal(&before, &after, offsetof(foliot_body_state, flags));
    check_bits(after.velocity[2], 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(scenes_that_do_not_say_so_stay_awake)
{
    scene_builder y = two_columns();
    y.scene.sleep = false;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    assert_int_equal(sleepers(world), 0);
    assert_int_equal(slot_state(world, 1).flags, FOLIOT_BODY_ALIVE);
    foliot_world_destroy(world);
    builder_free(&y);
}

// In free flight, however slow, nobody sleeps: only what rests on something.
TEST(what_hangs_in_the_air_does_not_sleep)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.sleep = true;
    builder_add_ball(&y, 1, 0.2, 0, 0, 0);
    builder_set_velocity(&y, 1e-6, 0, 0);
    builder_add_ball(&y, 1, 0.2, 0, 0, 0.4);
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 120);
    assert_int_equal(sleepers(world), 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

// A ball hits the lowest of one column: that whole column wakes, before the collision, and gives
// way; the other sleeps on.
TEST(a_blow_wakes_its_island_in_time)
{
    scene_builder y = two_columns(), same = two_columns();
    same.scene.sleep = false;
    scene_builder *both[] = {&y, &same};
    foliot_world *worlds[2];
    for (int k = 0; k < 2; k++) {
        builder_add_ball(both[k], 8, 0.1, -9, 0, 0.1);
        builder_set_velocity(both[k], 4, 0, 0);
        both[k]->bodies[both[k]->scene.body_count - 1].friction = 0;
        worlds[k] = builder_create_world(both[k]);
        run_ticks(worlds[k], 100);
    }
    assert_int_equal(sleepers(worlds[0]), 6);
    assert_int_equal(sleepers(worlds[1]), 0);
    int t = 0;
    while (sleepers(worlds[0]) == 6 && t++ < 100)
        run_ticks(worlds[0], 1);
    run_ticks(worlds[1], (uint32_t)t);
    assert_int_equal(sleepers(worlds[0]), 3); // at once, and not the other island
    for (uint32_t n = 1; n <= 3; n++)
        assert_false(asleep(worlds[0], n));
    check_lt(slot_state(worlds[0], 7).position[0], 0); // it was not touched before
    // The collision is what it would be without sleep.
    run_ticks(worlds[0], 10);
    run_ticks(worlds[1], 10);
    double moved = slot_state(worlds[0], 1).position[0];
    check_gt(moved, 0.05);
    check_near(moved, slot_state(worlds[1], 1).position[0], 0.02 * moved);
    foliot_world_destroy(worlds[0]);
    foliot_world_destroy(worlds[1]);
    builder_free(&y);
    builder_free(&same);
}

// -- players

static const double beside[1][3] = {{0, 0, 0.75}};

static scene_builder player_scene(void)
{
    scene_builder y = two_columns();
    foliot_players_definition *p = &y.scene.players;
    p->limit = 1;
    p->body.mass = 5;
    p->body.shape.kind = FOLIOT_SHAPE_SPHERE;
    p->body.shape.radius = 0.12;
    p->body.friction = 0.6;
    p->positions = beside;
    p->position_count = 1;
    p->force = 100;
    p->reach = 1.5;
    p->pull = 200;
    p->jump = 3;
    return y;
}

static void act(foliot_world *world, foliot_input_kind kind, int8_t push, uint16_t buttons)
{
    foliot_input input = {.sequence = (uint32_t)foliot_world_get_tick(world) + 1,
                          .kind = (uint8_t)kind,
                          .axes = {0, push, 0, 0},
                          .buttons = buttons};
    assert_int_equal(foliot_world_step(world, &input, 1, NULL), FOLIOT_STATUS_OK);
}

// A player who stands on a column with hands off.
static foliot_world *player_asleep(scene_builder *y)
{
    foliot_world *world = builder_create_world(y);
    act(world, FOLIOT_INPUT_JOIN, 0, 0);
    until_asleep(world, 7);
    act(world, FOLIOT_INPUT_CONTROL, 0, 0); // says nothing
    assert_int_equal(sleepers(world), 7);
    return world;
}

TEST(a_players_input_wakes_its_island)
{
    const struct {
        int8_t push;
        uint16_t buttons;
        uint32_t asleep;
    } cases[] = {{40, 0, 3}, {0, 8, 3}, {0, FOLIOT_BUTTON_JUMP, 3}, {0, FOLIOT_BUTTON_PULL, 3}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        scene_builder y = player_scene();
        foliot_world *world = player_asleep(&y);
        act(world, FOLIOT_INPUT_CONTROL, cases[k].push, cases[k].buttons);
        assert_int_equal(sleepers(world), cases[k].asleep);
        if (cases[k].buttons == FOLIOT_BUTTON_JUMP)
            check_gt(slot_state(world, 7).velocity[2], 2.5);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}

TEST(who_is_pulled_wakes)
{
    scene_builder y = player_scene();
    y.scene.players.reach = 5; // the other column too
    foliot_world *world = player_asleep(&y);
    act(world, FOLIOT_INPUT_CONTROL, 0, FOLIOT_BUTTON_PULL);
    assert_int_equal(sleepers(world), 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

// The player lies under a plank; when he leaves, it must fall.
TEST(a_broken_support_wakes_what_it_bore)
{
    static const double under[1][3] = {{0, 0, 0.12}};
    scene_builder y = player_scene();
    y.scene.body_count = 1; // the floor alone
    y.scene.players.positions = under;
    builder_add_ball(&y, 5, 0.12, 0.8, 0, 0.12);
    builder_add_box(&y, 10, 0.6, 0.3, 0.05, 0.4, 0, 0.29);
    y.bodies[2].friction = 0.6;
    foliot_world *world = builder_create_world(&y);
    act(world, FOLIOT_INPUT_JOIN, 0, 0);
    until_asleep(world, 3);
    act(world, FOLIOT_INPUT_LEAVE, 0, 0);
    assert_int_equal(sleepers(world), 0);
    run_ticks(world, 60);
    check_below(slot_state(world, 2).position[2], 0.25);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- links and pushes

// Joined by a spring, two columns are one island.
TEST(a_spring_ties_islands)
{
    scene_builder y = two_columns();
    foliot_force_definition spring = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    spring.a = 1;
    spring.b = 4;
    spring.as.spring.stiffness = 1;
    spring.as.spring.damping = 1;
    spring.as.spring.length = 2;
    y.scene.forces = &spring;
    y.scene.force_count = 1;
    builder_add_ball(&y, 8, 0.1, -9, 0, 0.1);
    builder_set_velocity(&y, 4, 0, 0);
    y.bodies[7].friction = 0;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 100);
    assert_int_equal(sleepers(world), 6);
    for (int t = 0; t < 100 && sleepers(world) == 6; t++)
        run_ticks(world, 1);
    assert_int_equal(sleepers(world), 0);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_push_wakes_when_it_begins_and_ends)
{
    scene_builder y = two_columns();
    foliot_force_definition push = foliot_force_definition_default(FOLIOT_FORCE_CONSTANT);
    push.a = 4;
    push.as.constant.force[1] = 5; // friction holds it
    push.as.constant.start = 3.01;
    push.as.constant.end = 6.01;
    y.scene.forces = &push;
    y.scene.force_count = 1;
    foliot_world *world = builder_create_world(&y);
    run_ticks(world, 180);
    assert_int_equal(sleepers(world), 6);
    run_ticks(world, 1);
    assert_int_equal(sleepers(world), 3);
    run_ticks(world, 100);
    assert_int_equal(sleepers(world), 6);
    run_ticks(world, 79);
    assert_int_equal(sleepers(world), 6);
    run_ticks(world, 1);
    assert_int_equal(sleepers(world), 3);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- the same future

static void same(const foliot_world *a, const foliot_world *b)
{
    foliot_digest x = foliot_world_get_digest(a), z = foliot_world_get_digest(b);
    assert_memory_equal(&x, &z, sizeof x);
}

// Copies taken at every stage of falling asleep and waking go on alike, on any number of threads.
TEST(restored_sleepers_have_the_same_future)
{
    scene_builder y = player_scene();
    task_pool *pool = task_pool_create(3);
    foliot_host host = {
        .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = 3};
    foliot_world *world = builder_create_world(&y), *other = builder_create_world(&y);
    act(world, FOLIOT_INPUT_JOIN, 0, 0);
    for (int round = 0; round < 12; round++) {
        size_t length;
        demand(foliot_world_capture(world, NULL, 0, &length));
        uint8_t *bytes = malloc(length);
        assert_int_equal(foliot_world_capture(world, bytes, length, &length), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_restore(other, bytes, length), FOLIOT_STATUS_OK);
        free(bytes);
        for (int t = 0; t < 17; t++) {
            foliot_input input = {.sequence = (uint32_t)foliot_world_get_tick(world) + 1,
                                  .axes = {0, round % 6 == 5 ? 90 : 0, 0, 0},
                                  .buttons = round == 8 ? 1 : 0};
            assert_int_equal(foliot_world_step(world, &input, 1, NULL), FOLIOT_STATUS_OK);
            assert_int_equal(foliot_world_step(other, &input, 1, &host), FOLIOT_STATUS_OK);
            same(world, other);
        }
    }
    foliot_world_destroy(world);
    foliot_world_destroy(other);
    task_pool_destroy(pool);
    builder_free(&y);
}

// Sleepers are found by questions, and sleep on.
TEST(questions_wake_nobody)
{
    scene_builder y = two_columns();
    foliot_world *world = builder_create_world(&y);
    foliot_query_hit hit;
    until_asleep(world, 6);
    foliot_digest before = foliot_world_get_digest(world);
    const double from[3] = {-5, 0, 0.3}, east[3] = {1, 0, 0};
    assert_true(foliot_world_cast_ray(world, from, east, 20, NULL, &hit));
    check_near(hit.distance, 4.9, 1e-3);
    foliot_digest after = foliot_world_get_digest(world);
    assert_memory_equal(&before, &after, sizeof before);
    run_ticks(world, 1);
    assert_int_equal(sleepers(world), 6);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- the wire

typedef struct sent {
    foliot_snapshot_format format;
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces;
    foliot_snapshot base, now, got;
} sent;

static void begin_sending(sent *s, const scene_builder *y)
{
    *s = (sent){.format = foliot_snapshot_format_default(&y->scene)};
    assert_int_equal(foliot_snapshot_coder_create(&s->format, &s->coder), FOLIOT_STATUS_OK);
    foliot_snapshot *all[] = {&s->base, &s->now, &s->got};
    for (int k = 0; k < 3; k++) {
        all[k]->capacity = 64;
        all[k]->bodies = calloc(64, sizeof *all[k]->bodies);
    }
}

// The snapshot of now, sent against the base; what comes out is in `got`. Bytes.
static uint32_t send_now(sent *s, const foliot_world *world)
{
    foliot_snapshot_head head;
    assert_int_equal(foliot_snapshot_quantise(&s->format, world, &s->now), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_snapshot_encode(s->coder, &s->now, &s->base, &s->pieces),
                     FOLIOT_STATUS_OK);
    assert_int_equal(s->pieces.count, 1);
    assert_int_equal(foliot_snapshot_decode(s->coder, s->pieces.bytes, s->pieces.offsets[1],
                                            s->base.tick, &s->base, &s->got, &head),
                     FOLIOT_STATUS_OK);
    return s->pieces.offsets[1];
}

static void end_sending(sent *s)
{
    foliot_snapshot_coder_destroy(s->coder);
    foliot_snapshot_pieces_destroy(&s->pieces);
    free(s->base.bodies);
    free(s->now.bodies);
    free(s->got.bodies);
}

// A client is sent once which bodies sleep; then sleepers cost nothing, for they do not change.
TEST(snapshots_tell_who_sleeps)
{
    scene_builder y = two_columns();
    foliot_world *world = builder_create_world(&y);
    sent s;
    begin_sending(&s, &y);
    run_ticks(world, 20);
    assert_int_equal(foliot_snapshot_quantise(&s.format, world, &s.base), FOLIOT_STATUS_OK);
    until_asleep(world, 6);
    send_now(&s, world);
    for (uint32_t i = 0; i < 7; i++) {
        foliot_body_state seen = foliot_snapshot_dequantise(&s.format, &s.got.bodies[i], 1.0 / 60);
        assert_int_equal(seen.flags & FOLIOT_BODY_ASLEEP, i > 0 ? FOLIOT_BODY_ASLEEP : 0);
        check_bits(seen.velocity[2], 0);
    }
    assert_int_equal(foliot_snapshot_quantise(&s.format, world, &s.base), FOLIOT_STATUS_OK);
    run_ticks(world, 6);
    check_below(send_now(&s, world), 12);
    assert_memory_equal(s.got.bodies, s.base.bodies, 7 * sizeof *s.got.bodies);
    end_sending(&s);
    foliot_world_destroy(world);
    builder_free(&y);
}

// -- the scene

// The golden digests of the matrix see bodies fall asleep and wake within the ticks that they run.
TEST(the_probe_naps_and_wakes)
{
    foliot__probe probe;
    foliot_world *world;
    uint32_t most = 0, counts[50];
    foliot__probe_make(&probe, FOLIOT__PROBE_nap);
    assert_int_equal(foliot_world_create(&probe.scene, &world, NULL), FOLIOT_STATUS_OK);
    for (int t = 0; t < 50; t++) {
        run_ticks(world, 1);
        counts[t] = sleepers(world);
        most = counts[t] > most ? counts[t] : most;
    }
    assert_in_range(most, 4, 8);
    check_lt(counts[49], most);
    assert_int_equal(counts[20], 0);
    foliot_world_destroy(world);
}

TEST(forces_from_afar_and_sleep_do_not_go_together)
{
    const foliot_force_kind kinds[] = {FOLIOT_FORCE_NEWTON, FOLIOT_FORCE_CALLBACK};
    for (int k = 0; k < 2; k++) {
        scene_builder y = two_columns();
        foliot_force_definition force = foliot_force_definition_default(kinds[k]);
        foliot_error problem = {.path = ""};
        y.scene.bodies = y.bodies;
        y.scene.forces = &force;
        y.scene.force_count = 1;
        assert_int_equal(foliot_scene_check(&y.scene, &problem), FOLIOT_STATUS_REFUSED);
        assert_string_equal(problem.path, "sleep");
        builder_free(&y);
    }
}

TEST(bytes_say_whether_bodies_sleep)
{
    scene_builder y = two_columns();
    y.scene.bodies = y.bodies;
    uint8_t bytes[2][2048];
    size_t length[2];
    for (int k = 0; k < 2; k++) {
        y.scene.sleep = k;
        foliot_scene *back;
        assert_int_equal(foliot_scene_encode(&y.scene, bytes[k], sizeof bytes[k], &length[k]),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_scene_decode(bytes[k], length[k], &back), FOLIOT_STATUS_OK);
        assert_int_equal(back->sleep, k);
        foliot_scene_destroy(back);
    }
    assert_int_equal(length[0], length[1]); // a bit of the mask
    builder_free(&y);
}
