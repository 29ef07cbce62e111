// SPDX-License-Identifier: MIT
// test_ready_scenes.c: the ready scenes do what docs/reference/scenes.md says of them: every one
// runs with all its players, nothing freezes or is dropped, energy is kept where it should be,
// things break where they should.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "foliot/foliot.h"
#include "pace.h"
#include "slots.h"

typedef struct outcome {
    double energy_start, energy, error_max; // error: |E - E0|, over |E0|
    uint32_t breaks;
    foliot_body_state body; // the one asked for
    foliot_world_counters counters;
} outcome;

static foliot_scene *scene_named(const char *name)
{
    char file[128];
    foliot_scene *scene = NULL;
    foliot_error error;
    snprintf(file, sizeof file, "scenes/%s.yaml", name);
    int status = foliot_scene_read(file, &scene, &error);
    if (status != FOLIOT_STATUS_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    return scene;
}

static double energy_of(const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    return now.kinetic + now.potential;
}

static uint32_t breaks_of(const foliot_world *world)
{
    uint32_t count, breaks = 0;
    const foliot_event *events = foliot_world_get_events(world, &count);
    for (uint32_t i = 0; i < count; i++)
        breaks += events[i].kind == FOLIOT_EVENT_JOINT_BROKEN;
    return breaks;
}

// Runs a scene; its players, if they join, push about for all they are worth.
static outcome run(const foliot_scene *scene, unsigned ticks, uint32_t players, const char *body)
{
    foliot_world *world;
    foliot_input inputs[64];
    outcome o = {0};
    assert_int_equal(foliot_world_create(scene, &world, NULL), FOLIOT_STATUS_OK);
    o.energy_start = energy_of(world);
    check_le(players, 64);
    for (unsigned tick = 0; tick < ticks; tick++) {
        bool acts = tick % 20 == 0;
        for (uint32_t p = 0; acts && p < players; p++) {
            int8_t push = (int8_t)((tick / 20 * 37 + p * 101) % 255 - 127);
            inputs[p] = (foliot_input){
                .player = p, .sequence = tick + 1, .axes = {push, (int8_t)-push, 127, push}};
            inputs[p].kind = tick == 0 ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_CONTROL;
        }
        assert_int_equal(foliot_world_step(world, inputs, acts ? players : 0, NULL),
                         FOLIOT_STATUS_OK);
        o.breaks += breaks_of(world);
        double error = fabs(energy_of(world) - o.energy_start) / fabs(o.energy_start);
        o.error_max = error > o.error_max ? error : o.error_max;
    }
    o.energy = energy_of(world);
    o.counters = *foliot_world_get_counters(world);
    uint32_t index = foliot_scene_find_body(scene, body);
    if (index != FOLIOT_NO_BODY)
        o.body = slot_state(world, index);
    foliot_world_destroy(world);
    return o;
}

static outcome run_named(const char *name, unsigned ticks, const char *body)
{
    foliot_scene *scene = scene_named(name);
    outcome o = run(scene, ticks, 0, body);
    foliot_scene_destroy(scene);
    return o;
}

static const char *const all[] = {
    "billiards",     "bullet",       "chain-bridge", "cloth",        "double-pendulum",
    "figure-eight",  "jelly",        "kepler",       "lunar-lander", "marbles",
    "pendulum",      "ragdoll",      "solar-system", "spacewar",     "star-cluster",
    "spring-damper", "stiff-spring", "tumbling",     "two-springs",  "cubes",
    "dominoes",      "pile",         "pyramid",      "ragdolls",     "wrecking-ball",
    "platforms",
};

TEST(every_scene_runs_with_all_its_players)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        foliot_scene *scene = scene_named(all[i]);
        outcome o = run(scene, 60, scene->players.limit, NULL);
        assert_int_equal(o.counters.frozen_bodies, 0);
        assert_int_equal(o.counters.contacts_dropped, 0);
        assert_int_equal(o.counters.inputs_refused, 0);
        assert_int_equal(o.counters.solver_failures, 0);
        foliot_scene_destroy(scene);
    }
}

// All but the one that is there to show what explicit schemes cannot do.
TEST(every_scene_can_be_played_with_velocity_verlet)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        foliot_scene *scene = scene_named(all[i]);
        scene->integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
        assert_int_equal(foliot_scene_check(scene, NULL), FOLIOT_STATUS_OK);
        if (scene->players.limit)
            check_bits(scene->pace_hz, 60);
        foliot_scene_destroy(scene);
    }
}

// In 20 s the ferry has gone 8 m and the lift has risen 5 m, with all that was put on them.
TEST(platforms_take_along_what_lies_on_them)
{
    static const struct {
        const char *body;
        int axis;
        double begin, end;
    } carried[] = {{"cargo.0.0", 0, -10.8, -2.8}, {"upper.0.2", 0, -9.2, -1.2},
                   {"captain", 0, -10, -2.4},     {"crate.0.0", 2, 0.55, 5.55},
                   {"crate.1.1", 2, 0.55, 5.55},  {"rider", 2, 0.5, 5.5}};
    foliot_scene *scene = scene_named("platforms");
    foliot_world *world;
    assert_int_equal(foliot_world_create(scene, &world, NULL), FOLIOT_STATUS_OK);
    uint32_t entered = 0;
    for (int t = 0; t < 1200; t++) {
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        entered += foliot_world_get_sensor_events(world, NULL, 0);
    }
    for (size_t i = 0; i < sizeof carried / sizeof *carried; i++) {
        uint32_t slot = foliot_scene_find_body(scene, carried[i].body);
        check_near(scene->bodies[slot].position[carried[i].axis], carried[i].begin, 1e-9);
        double at = slot_state(world, slot).position[carried[i].axis];
        check_near(at, carried[i].end, 0.2);
    }
    check_gt(entered, 10);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
}

TEST(energy_is_kept_where_nothing_takes_it)
{
    static const struct {
        const char *name;
        double error;
    } kept[] = {{"kepler", 3e-3},       {"solar-system", 1e-9}, {"figure-eight", 1e-6},
                {"star-cluster", 2e-3}, {"pendulum", 2e-3},     {"double-pendulum", 1e-2},
                {"tumbling", 1e-3},     {"two-springs", 1e-12}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        outcome o = run_named(kept[i].name, 600, NULL);
        check_below(o.error_max, kept[i].error);
    }
}

TEST(the_figure_eight_closes)
{
    foliot_scene *scene = scene_named("figure-eight");
    scene->dt = 6.3259139829262117 / 400;
    outcome o = run(scene, 400, 0, "left");
    check_near(o.body.position[0], -1, 1e-5);
    check_near(o.body.position[1], 0, 1e-5);
    foliot_scene_destroy(scene);
}

TEST(the_damped_spring_loses_what_its_damper_takes)
{
    outcome o = run_named("spring-damper", 1200, "free");
    // Two oscillators of the same energy, of which one falls by exp(-b t / m), b = 0.1, t = 20.
    check_near(o.energy / o.energy_start, (1 + exp(-2)) / 2, 0.01);
}

TEST(cloth_and_bridge_tear)
{
    assert_int_equal(run_named("cloth", 110, NULL).breaks, 0); // not before the hand pulls
    outcome cloth = run_named("cloth", 180, NULL), bridge = run_named("chain-bridge", 400, NULL);
    assert_in_range(cloth.breaks, 10, 1000);
    assert_in_range(bridge.breaks, 1, 100);
}

TEST(bullets_do_not_pass_through)
{
    foliot_scene *scene = scene_named("bullet");
    outcome wall = run(scene, 12, 0, "shot-a"), target = run(scene, 12, 0, "target");
    check_below(wall.body.position[0], 40);
    check_near(wall.body.velocity[0], -0.6 * 900, 1);
    check_gt(target.body.velocity[0], 10);
    foliot_scene_destroy(scene);
}

TEST(what_falls_comes_to_rest)
{
    static const char *const falling[] = {"jelly", "billiards", "ragdoll", "ragdolls"};
    for (size_t i = 0; i < sizeof falling / sizeof *falling; i++) {
        outcome o = run_named(falling[i], 600, NULL);
        check_below(o.energy, 0.3 * o.energy_start);
        check_gt(o.energy, -0.01 * o.energy_start); // nothing fell through the floor
    }
}

static foliot_world *world_named(const char *name, foliot_scene **scene)
{
    foliot_world *world;
    *scene = scene_named(name);
    assert_int_equal(foliot_world_create(*scene, &world, NULL), FOLIOT_STATUS_OK);
    return world;
}

static void step(foliot_world *world, unsigned ticks)
{
    for (unsigned t = 0; t < ticks; t++)
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
}

// Cosine of the angle between the body's z and upright.
static double upright(const foliot_world *world, uint32_t slot)
{
    foliot_body_state s = slot_state(world, slot);
    const double *q = s.orientation;
    return 1 - 2 * (q[1] * q[1] + q[2] * q[2]);
}

// All stand until the ball comes; the last falls, and so did all before.
TEST(all_dominoes_fall)
{
    foliot_scene *scene;
    foliot_world *world = world_named("dominoes", &scene);
    uint32_t first = foliot_scene_find_body(scene, "domino-0"), last = scene->body_count - 1;
    step(world, 15);
    for (uint32_t i = first; i <= last; i++)
        check_gt(upright(world, i), 0.9999);
    if (PACE_SLOW)
        last = first + 5;
    int ticks = 0;
    while (fabs(upright(world, last)) > 0.8 && ticks++ < 1800)
        step(world, 1);
    assert_in_range(ticks, PACE_SLOW ? 20 : 300, 1700);
    step(world, PACE_SLOW ? 10 : 60);
    for (uint32_t i = first; i <= last; i++)
        check_below(fabs(upright(world, i)), 0.8);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
}

TEST(the_pyramid_stands)
{
    foliot_scene *scene;
    foliot_world *world = world_named("pyramid", &scene);
    step(world, PACE(240));
    for (uint32_t i = 1; i < scene->body_count; i++) {
        foliot_body_state s = slot_state(world, i);
        const double *at = scene->bodies[i].position;
        check_below(hypot(s.position[0] - at[0], s.position[1] - at[1]), 0.01);
        check_near(s.position[2], at[2], 0.02);
    }
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
}

TEST(the_pile_lies_on_the_floor)
{
    foliot_scene *scene;
    foliot_world *world = world_named("pile", &scene);
    double start = foliot_world_get_invariants(world, NULL).potential;
    step(world, PACE(600));
    for (uint32_t i = 1; i < scene->body_count; i++)
        assert_true(scene->bodies[i].is_static || slot_state(world, i).position[2] > 0.05);
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    if (!PACE_SLOW) {
        check_below(end.potential, 0.5 * start);
        check_below(end.kinetic, 1e-3 * start);
    }
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
}

// A player among the cubes draws them near, and drives them off.
TEST(a_player_draws_cubes_and_drives_them_off)
{
    foliot_scene *scene;
    foliot_world *world = world_named("cubes", &scene);
    foliot_input input = {.kind = FOLIOT_INPUT_JOIN, .sequence = 1};
    uint32_t near[3] = {0};
    for (int phase = 0; phase < 3; phase++) {
        assert_int_equal(foliot_world_step(world, &input, 1, NULL), FOLIOT_STATUS_OK);
        step(world, 120);
        const double *me = slot_state(world, scene->body_count).position;
        const double at[2] = {me[0], me[1]};
        for (uint32_t i = 1; i < scene->body_count; i++) {
            const double *x = slot_state(world, i).position;
            near[phase] += !scene->bodies[i].is_static && hypot(x[0] - at[0], x[1] - at[1]) < 1.6;
        }
        input = (foliot_input){.kind = FOLIOT_INPUT_CONTROL,
                               .sequence = 2 + (uint32_t)phase,
                               .buttons = phase == 0 ? FOLIOT_BUTTON_PULL : FOLIOT_BUTTON_PUSH};
    }
    printf("cubes near: %u, drawn %u, driven off %u\n", near[0], near[1], near[2]);
    check_ge(near[1], 2 * near[0]);
    check_lt(3 * near[2], 2 * near[1]);
    assert_int_equal(foliot_world_get_counters(world)->contacts_dropped, 0);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
}
