// SPDX-License-Identifier: MIT
// test_games.c: goal: no player stops the rules of the games in games/, or takes a callback from
// them, by what it may send; the honest player next to them can play on. Method: each game on its
// own scene; four players send as many of the longest orders as a server takes in, of texts that
// the patterns of the games take the longest for, and one plays on. Further: the clocks of the
// games run while players are there, and the next round begins by itself.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/rules.h"
#include "foliot/scene.h"

#define PLAYERS 5
#define HOSTILE 4
#define ORDERS_A_TICK 32 // that a server gives to rules at most, of one player
#define TICKS 300
#define COMMANDS 4096

typedef struct game {
    foliot_scene *scene;
    foliot_world *world;
    foliot_rules *rules;
    uint32_t sequence;
    uint32_t dropped, refused[PLAYERS];
    uint32_t commands;
} game;

static void begin(game *g, const char *file)
{
    foliot_error error;
    char problem[400] = "";
    *g = (game){0};
    if (foliot_scene_read(file, &g->scene, &error) != FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    assert_int_equal(foliot_world_create(g->scene, &g->world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 0; // a sanitizer is slow
    foliot_status status = foliot_rules_create_lua(g->scene->script.text, g->scene->script.bytes,
                                                   g->scene->script.name, &limits, g->scene,
                                                   &g->rules, problem, sizeof problem);
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        skip();
    if (status != FOLIOT_STATUS_OK)
        fail_msg("%s", problem);
}

static void end(game *g)
{
    foliot_rules_destroy(g->rules);
    foliot_world_destroy(g->world);
    foliot_scene_destroy(g->scene);
}

static void step(game *g, const foliot_input *inputs, uint32_t input_count,
                 const foliot_order *orders, uint32_t order_count)
{
    static foliot_command commands[COMMANDS];
    const foliot_command_list *list = foliot_rules_get_commands(g->rules);
    assert_true(list->count <= COMMANDS);
    for (uint32_t i = 0; i < list->count; i++) {
        commands[i] = list->commands[i];
        commands[i].sequence = ++g->sequence;
    }
    foliot_tick_inputs tick = {inputs, input_count, commands, list->count};
    assert_int_equal(foliot_world_step_tick(g->world, &tick, NULL), FOLIOT_STATUS_OK);
    foliot_rules_view view = {.scene = g->scene,
                              .world = g->world,
                              .tick = foliot_world_get_tick(g->world),
                              .inputs = inputs,
                              .input_count = input_count,
                              .orders = orders,
                              .order_count = order_count};
    if (foliot_rules_tick(g->rules, &view) != FOLIOT_STATUS_OK)
        fail_msg("%s", foliot_rules_get_problem(g->rules));
    uint32_t player, count;
    g->dropped += foliot_rules_get_drops(g->rules)->count;
    for (uint32_t i = 0; foliot_rules_get_refused(g->rules, i, &player, &count); i++)
        g->refused[player] += count;
    g->commands += foliot_rules_get_commands(g->rules)->count;
}

static foliot_order order_of(uint32_t player, foliot_order_kind kind, const char *text)
{
    foliot_order order = {.player = player, .kind = (uint8_t)kind, .length = (uint8_t)strlen(text)};
    memcpy(order.bytes, text, order.length);
    return order;
}

static void join_all(game *g)
{
    foliot_order orders[PLAYERS];
    foliot_input inputs[PLAYERS] = {0};
    for (uint32_t p = 0; p < PLAYERS; p++) {
        orders[p] = order_of(p, FOLIOT_ORDER_JOINED, "somebody");
        orders[p].bytes[0] = (uint8_t)('a' + p);
        inputs[p] = (foliot_input){.player = p, .sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    }
    step(g, inputs, PLAYERS, orders, PLAYERS);
}

// `start`, and then words of one character up to the length of the longest order, and `last`.
static void fill(char text[FOLIOT_ORDER_BYTES_MAX + 1], const char *start, char c, char last)
{
    memset(text, c, FOLIOT_ORDER_BYTES_MAX);
    text[FOLIOT_ORDER_BYTES_MAX / 2] = ' ';
    memcpy(text, start, strlen(start));
    text[FOLIOT_ORDER_BYTES_MAX - 1] = last;
    text[FOLIOT_ORDER_BYTES_MAX] = 0;
}

static void play(const char *file, const char *start, char c, char last, const char *honest)
{
    game g;
    char text[FOLIOT_ORDER_BYTES_MAX + 1];
    static foliot_order orders[HOSTILE * ORDERS_A_TICK + 1];
    begin(&g, file);
    join_all(&g);
    fill(text, start, c, last);
    uint32_t played = 0;
    for (uint32_t tick = 0; tick < TICKS; tick++) {
        uint32_t count = 0;
        for (uint32_t p = 0; p < HOSTILE; p++)
            for (uint32_t i = 0; i < ORDERS_A_TICK; i++)
                orders[count++] = order_of(p, FOLIOT_ORDER_GAME, text);
        if (honest)
            orders[count++] = order_of(HOSTILE, FOLIOT_ORDER_GAME, honest);
        uint32_t before = g.commands;
        step(&g, NULL, 0, orders, count);
        played += g.commands > before;
    }
    check_eq(g.dropped, 0);
    check_eq(g.refused[HOSTILE], 0);
    if (honest)
        check_ge(played, 3); // it shot, or threw, whenever it could
    end(&g);
}

TEST(players_cannot_stop_a_game)
{
    play("games/duel/duel.yaml", "shoot ", '1', 'x', "shoot 1 0");
    play("games/duel/duel.yaml", "shoot ", '.', ' ', "shoot 1 0");
    play("games/siege/siege.yaml", "throw ", '1', 'x', "throw 1 0 1");
    play("games/siege/siege.yaml", "throw ", '-', '-', "throw 1 0 1");
    play("games/katamari/katamari.yaml", "", 'x', 'x', NULL);
    play("games/sumo/sumo.yaml", "", 'x', 'x', NULL);
}

// -- clocks

typedef struct watch {
    int64_t clock; // -1: not set since it was looked at last
    char phase[16], next[32];
    bool ended;
} watch;

// Some ticks of the rules, on a world that stands still.
static void wait_ticks(game *g, uint32_t ticks, const foliot_order *order, watch *w)
{
    for (uint32_t i = 0; i < ticks; i++) {
        foliot_rules_view view = {.scene = g->scene,
                                  .world = g->world,
                                  .tick = foliot_world_get_tick(g->world),
                                  .orders = order,
                                  .order_count = order && i == 0};
        if (foliot_rules_tick(g->rules, &view) != FOLIOT_STATUS_OK)
            fail_msg("%s", foliot_rules_get_problem(g->rules));
        const foliot_command_list *list = foliot_rules_get_commands(g->rules);
        for (uint32_t k = 0; k < list->count; k++) {
            const foliot_command *c = &list->commands[k];
            if (c->kind == FOLIOT_COMMAND_end) {
                assert_false(w->ended);
                w->ended = true;
                snprintf(w->next, sizeof w->next, "%s", c->as.end.next ? c->as.end.next : "");
            } else if (c->kind == FOLIOT_COMMAND_var && strcmp(c->as.var.key, "clock") == 0) {
                w->clock = c->as.var.integer;
            } else if (c->kind == FOLIOT_COMMAND_var && strcmp(c->as.var.key, "phase") == 0) {
                snprintf(w->phase, sizeof w->phase, "%s", c->as.var.text);
            }
        }
    }
}

TEST(a_round_lasts_from_the_first_player_on)
{
    static const struct {
        const char *file, *next;
        int64_t seconds;
    } games[] = {{"games/katamari/katamari.yaml", "katamari.yaml", 120},
                 {"games/sumo/sumo.yaml", "sumo.yaml", 300},
                 {"games/duel/duel.yaml", "duel.yaml", 300}};
    for (size_t i = 0; i < sizeof games / sizeof *games; i++) {
        game g;
        watch w = {.clock = -1};
        const uint32_t ticks = 60 * (uint32_t)games[i].seconds;
        const foliot_order join = order_of(0, FOLIOT_ORDER_JOINED, "ann");
        const foliot_order leave = order_of(0, FOLIOT_ORDER_LEFT, "");
        begin(&g, games[i].file);
        wait_ticks(&g, 2 * ticks, NULL, &w); // nobody is there
        check_eq(w.clock, -1);
        wait_ticks(&g, 60, &join, &w);
        check_eq(w.clock, games[i].seconds - 1);
        assert_string_equal(w.phase, "play");
        wait_ticks(&g, 1, &leave, &w);
        check_eq(w.clock, games[i].seconds);
        assert_string_equal(w.phase, "waiting");
        wait_ticks(&g, 2 * ticks, NULL, &w);
        check_eq(w.clock, games[i].seconds);
        wait_ticks(&g, ticks - 1, &join, &w);
        assert_string_equal(w.phase, "play");
        check_eq(w.clock, 1);
        wait_ticks(&g, 1, NULL, &w);
        assert_string_equal(w.phase, "over");
        check_eq(w.clock, 10);
        wait_ticks(&g, 599, NULL, &w);
        check_eq(w.clock, 1);
        assert_false(w.ended);
        wait_ticks(&g, 1, NULL, &w);
        check_eq(w.clock, 0);
        assert_true(w.ended);
        assert_string_equal(w.next, games[i].next);
        end(&g);
    }
}
