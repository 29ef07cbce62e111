// SPDX-License-Identifier: MIT
// lua_game.h: a world of a floor, three balls and two players, with rules in Lua, for the tests of
// scripts. Commands of the rules act in the next step, as in a session.
#ifndef FOLIOT_TESTS_LUA_GAME_H
#define FOLIOT_TESTS_LUA_GAME_H

#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "foliot/rules.h"
#include "scene_builder.h"

#define GAME_PLAYERS 4
#define GAME_BALLS 3

typedef struct lua_game {
    scene_builder y;
    foliot_body_definition prototypes[2];
    foliot_scene scene;
    foliot_world *world;
    foliot_rules *rules;
    char problem[512];
    uint32_t sequence;
} lua_game;

static const double game_starts[1][3] = {{0, 0, 9}};

static void game_make_scene(lua_game *g)
{
    *g = (lua_game){.y = builder_new(foliot_integrator_find("semi-implicit-euler"))};
    builder_add_plane(&g->y, 0, 0, 1, 0);
    for (int i = 0; i < GAME_BALLS; i++)
        builder_add_ball(&g->y, 1, 0.5, 3 * i, 0, 0.49);
    static const char *const names[] = {"floor", "first", "second", "third"};
    for (uint32_t i = 0; i < g->y.scene.body_count; i++)
        g->y.bodies[i].name = names[i];
    for (int i = 0; i < 2; i++) {
        g->prototypes[i] = foliot_body_definition_default();
        g->prototypes[i].name = i ? "shell" : "ball";
        g->prototypes[i].shape.kind = FOLIOT_SHAPE_SPHERE;
        g->prototypes[i].shape.radius = 0.25;
        g->prototypes[i].tag = 40 + (uint32_t)i;
    }
    g->scene = g->y.scene;
    g->scene.bodies = g->y.bodies;
    g->scene.name = "court";
    g->scene.seed = 11;
    g->scene.gravity[2] = -10;
    g->scene.commands_max = 100;
    g->scene.bodies_max = 64;
    g->scene.prototypes = g->prototypes;
    g->scene.prototype_count = 2;
    g->scene.players.limit = GAME_PLAYERS;
    g->scene.players.positions = game_starts;
    g->scene.players.position_count = 1;
    g->scene.players.bodiless = true;
}

static foliot_lua_limits game_limits(void)
{
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 0; // a sanitizer is slow
    return limits;
}

static foliot_status game_load(lua_game *g, const char *script)
{
    foliot_lua_limits limits = game_limits();
    return foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g->scene,
                                   &g->rules, g->problem, sizeof g->problem);
}

// A game that must start.
static inline void game_start(lua_game *g, const char *script)
{
    game_make_scene(g);
    foliot_error problem;
    foliot_status status = foliot_scene_check(&g->scene, &problem);
    if (status != FOLIOT_STATUS_OK)
        fail_msg("%s", problem.text);
    assert_int_equal(foliot_world_create(&g->scene, &g->world, NULL), FOLIOT_STATUS_OK);
    if (game_load(g, script) != FOLIOT_STATUS_OK)
        fail_msg("%s", g->problem);
}

static inline void game_end(lua_game *g)
{
    foliot_rules_destroy(g->rules);
    foliot_world_destroy(g->world);
    builder_free(&g->y);
}

// One step with the commands that wait, and then the rules.
static inline foliot_status game_tick(lua_game *g, const foliot_input *inputs, uint32_t input_count,
                                      const foliot_order *orders, uint32_t order_count)
{
    const foliot_command_list *list = foliot_rules_get_commands(g->rules);
    foliot_command commands[100];
    for (uint32_t i = 0; i < list->count; i++) {
        commands[i] = list->commands[i];
        commands[i].sequence = g->sequence++;
    }
    foliot_tick_inputs tick = {inputs, input_count, commands, list->count};
    assert_int_equal(foliot_world_step_tick(g->world, &tick, NULL), FOLIOT_STATUS_OK);
    foliot_rules_view view = {.scene = &g->scene,
                              .world = g->world,
                              .tick = foliot_world_get_tick(g->world),
                              .inputs = inputs,
                              .input_count = input_count,
                              .orders = orders,
                              .order_count = order_count};
    return foliot_rules_tick(g->rules, &view);
}

static inline uint32_t dropped_of(const foliot_rules *rules, const char **why)
{
    const foliot_rules_drops *drops = foliot_rules_get_drops(rules);
    *why = drops->why;
    return drops->count;
}

// Ticks that must go well.
static inline void game_run(lua_game *g, uint32_t ticks)
{
    for (uint32_t i = 0; i < ticks; i++)
        if (game_tick(g, NULL, 0, NULL, 0) != FOLIOT_STATUS_OK)
            fail_msg("%s", foliot_rules_get_problem(g->rules));
}

static inline foliot_order game_order(foliot_order_kind kind, uint32_t player, const char *text)
{
    foliot_order order = {.player = player, .kind = (uint8_t)kind};
    order.length = (uint8_t)strlen(text);
    memcpy(order.bytes, text, order.length);
    return order;
}

// Starts and runs a script for some ticks; asserts in it are the test.
static inline void passes(const char *script, uint32_t ticks)
{
    lua_game g;
    game_start(&g, script);
    game_run(&g, ticks);
    game_end(&g);
}

// The script is refused at its start with exactly this problem.
static inline void refused(const char *script, const char *problem)
{
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(game_load(&g, script), FOLIOT_STATUS_INVALID);
    assert_string_equal(g.problem, problem);
    game_end(&g);
}

// on_tick with this body stops the rules with exactly this problem.
static inline void stops(const char *body, const char *problem)
{
    lua_game g;
    char script[1024];
    snprintf(script, sizeof script, "function on_tick() %s end", body);
    game_start(&g, script);
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_INVALID);
    assert_string_equal(foliot_rules_get_problem(g.rules), problem);
    game_end(&g);
}

#endif
