// SPDX-License-Identifier: MIT
// test_lua_host.c: goal: what the host's clock or memory drops is dropped in the same place where
// the tick is run again, whatever memory and time that takes, and the rules go on. Method: a script
// that changes its state in the middle of everything runs twice, the second time from saved bytes
// and with the orders that the first run gave; all bytes are compared.
#include "check.h"
#include "pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foliot/rules.h"
#include "lua_game.h"
#include "rules/rules.h"

#define STATE_BYTES 65536

// Every way in which Lua comes back to us: the hook, library functions with and without callbacks,
// pcall, iterators, commands. on_order is a player's, on_join the game's.
static const char busy[] =
    "state.n, state.list, state.text, state.last = 0, {}, '', 0\n"
    "local function work(from)\n"
    "  for i = 1, 20 do\n"
    "    state.n = state.n + i\n"
    "    state.list[#state.list % 40 + 1] = {state.n, from}\n"
    "    pcall(function() state.n = state.n + 1 error('x') end)\n"
    "    state.text = string.gsub('abc' .. state.n, '%w', function(c) state.n = state.n + 3 return "
    "c .. from end)\n"
    "    table.sort(state.list, function(a, b) state.n = state.n + 1 return a[1] < b[1] end)\n"
    "    for k, v in pairs({a = 1, b = 2}) do state.n = state.n + v end\n"
    "    command.gravity{acceleration = {0, 0, state.n % 7}}\n"
    "  end\n"
    "end\n"
    "function on_join(player) work('j') end\n"
    "function on_order(player, text) work(text) end\n"
    "function on_chat(player, text) state.n = state.n + 5 return text .. state.n end\n"
    "function on_tick() state.last = state.last + 1 work('t') set_var('n', state.n) end\n";

typedef struct saved {
    uint8_t bytes[STATE_BYTES];
    size_t length;
} saved;

static foliot_status save(foliot_rules *rules, saved *s)
{
    return foliot_rules_save(rules, s->bytes, sizeof s->bytes, &s->length);
}

// The same script in an instance that has nothing of the other but its saved bytes.
static foliot_rules *restored(const lua_game *g, const char *script, const saved *s)
{
    foliot_rules *rules;
    char problem[512];
    foliot_lua_limits limits = game_limits();
    if (foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g->scene, &rules,
                                problem, sizeof problem) != FOLIOT_STATUS_OK)
        fail_msg("%s", problem);
    assert_int_equal(foliot_rules_restore(rules, s->bytes, s->length), FOLIOT_STATUS_OK);
    return rules;
}

static void check_same(foliot_rules *a, foliot_rules *b)
{
    static saved one, other;
    assert_int_equal(save(a, &one), FOLIOT_STATUS_OK);
    assert_int_equal(save(b, &other), FOLIOT_STATUS_OK);
    check_eq(one.length, other.length);
    assert_memory_equal(one.bytes, other.bytes, one.length);
}

// The orders of what the host dropped.
static uint32_t copy_drops(const foliot_rules *rules, foliot_order orders[])
{
    const foliot_rules_drops *drops = foliot_rules_get_drops(rules);
    memcpy(orders, drops->orders, drops->order_count * sizeof *orders);
    return drops->order_count;
}

static uint32_t refused_of(const foliot_rules *rules, uint32_t player)
{
    uint32_t at, count;
    for (uint32_t i = 0; foliot_rules_get_refused(rules, i, &at, &count); i++)
        if (at == player)
            return count;
    return 0;
}

static foliot_order drop_at(uint64_t check)
{
    foliot_order order = {.player = FOLIOT_PLAYERS_MAX,
                          .kind = FOLIOT_ORDER_DROPPED,
                          .length = FOLIOT_ORDER_DROPPED_BYTES};
    for (int i = 0; i < 8; i++)
        order.bytes[i] = (uint8_t)(check >> 8 * i);
    return order;
}

// Each tick is run by rules that have lived long, and by some that were restored right before it.
TEST(a_drop_at_any_check_is_the_same_in_every_run)
{
    static saved before;
    lua_game g;
    uint32_t drops = 0;
    game_start(&g, busy);
    for (uint64_t tick = 1; tick <= 900; tick++) {
        assert_int_equal(save(g.rules, &before), FOLIOT_STATUS_OK);
        foliot_rules *again = restored(&g, busy, &before);
        foliot_order orders[] = {game_order(FOLIOT_ORDER_JOINED, 0, "Ann"),
                                 game_order(FOLIOT_ORDER_GAME, 0, "go"),
                                 game_order(FOLIOT_ORDER_CHAT, 1, "hi"), drop_at(tick)};
        if (tick > 1)
            orders[0] = game_order(FOLIOT_ORDER_LEFT, 0, "");
        if (tick % 2)
            orders[0] = game_order(FOLIOT_ORDER_JOINED, 0, "Ann");
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = tick,
                                  .orders = orders,
                                  .order_count = tick % 50 ? 4 : 3, // 100 in a row end them
                                  .recorded = true};
        foliot_order first[FOLIOT_ORDERS_DROPPED_MAX], second[FOLIOT_ORDERS_DROPPED_MAX];
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_rules_tick(again, &view), FOLIOT_STATUS_OK);
        uint32_t count = copy_drops(g.rules, first);
        drops += count;
        check_eq(count, copy_drops(again, second));
        if (count) {
            assert_memory_equal(first[0].bytes, orders[3].bytes, 8);
            assert_memory_equal(second[0].bytes, orders[3].bytes, 8);
        }
        check_same(g.rules, again);
        foliot_rules_destroy(again);
    }
    check_gt(drops, 800); // and not a script that has fewer checks
    game_end(&g);
}

// One run with a clock, and one that knows what it dropped.
TEST(what_the_clock_drops_is_dropped_where_it_is_run_again)
{
    static const char script[] =
        "state.n, state.last = 0, 0\n"
        "function on_order(player, text)\n"
        "  for i = 1, 1000 do state.n = state.n + 1 string.rep('x', 2000) end\n"
        "end\n"
        "function on_join(player) for i = 1, 20000 do state.n = state.n + 1 end end\n"
        "function on_leave(player) state.n = state.n + 1 end\n"
        "function on_tick() state.last = state.last + 1 set_var('n', state.n)\n"
        "  if state.last % 7 == 3 then for i = 1, 20000 do state.n = state.n + 1 end end end\n";
    lua_game g;
    foliot_rules *again;
    char problem[512];
    uint32_t drops = 0, compared = 0;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.time_us = 60;
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    limits.time_us = 0;
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &again, problem, sizeof problem),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 1; tick <= 400 && !*foliot_rules_get_problem(g.rules); tick++) {
        foliot_order orders[2 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(tick % 2 ? FOLIOT_ORDER_JOINED : FOLIOT_ORDER_LEFT, 0, "Ann"),
            game_order(FOLIOT_ORDER_GAME, 0, "go")};
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = tick,
                                  .orders = orders,
                                  .order_count = tick % 10 < 6 ? 2 : 0};
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        uint32_t count = copy_drops(g.rules, orders + view.order_count);
        const char *why;
        check_ge(dropped_of(g.rules, &why) + refused_of(g.rules, 0), count);
        view.order_count += count;
        drops += count;
        view.recorded = true;
        assert_int_equal(foliot_rules_tick(again, &view), FOLIOT_STATUS_OK);
        const foliot_command_list *a = foliot_rules_get_commands(g.rules),
                                  *b = foliot_rules_get_commands(again);
        check_eq(a->count, b->count);
        check_eq(a->encoded_bytes, b->encoded_bytes);
        saved one, other; // of a tick that left time for it
        if (save(g.rules, &one) != FOLIOT_STATUS_OK)
            continue;
        assert_int_equal(save(again, &other), FOLIOT_STATUS_OK);
        check_eq(one.length, other.length);
        assert_memory_equal(one.bytes, other.bytes, one.length);
        compared++;
    }
    check_gt(drops, 20);
    check_gt(compared, 20);
    foliot_rules_destroy(again);
    game_end(&g);
}

TEST(too_much_memory_drops_a_callback_and_not_the_game)
{
    static const char script[] =
        "state.n = 0\n"
        "function on_join(player) local t = {} for i = 1, 5000 do t[i] = {i} state.n = i end end\n"
        "function on_tick() set_var('n', state.n) end\n";
    static saved before;
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = game_limits();
    limits.memory_bytes = 300000;
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 1; tick <= 20; tick++) {
        assert_int_equal(save(g.rules, &before), FOLIOT_STATUS_OK);
        foliot_rules *again = restored(&g, script, &before);
        foliot_order orders[1 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(tick % 2 ? FOLIOT_ORDER_JOINED : FOLIOT_ORDER_LEFT, 0, "Ann")};
        foliot_rules_view view = {
            .scene = &g.scene, .world = g.world, .tick = tick, .orders = orders, .order_count = 1};
        const char *why;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why) > 0, tick % 2);
        if (tick % 2)
            assert_non_null(strstr(why, "game.lua:2: the script uses more memory than it has"));
        uint32_t count = copy_drops(g.rules, orders + 1);
        check_eq(count > 0, tick % 2);
        view.order_count += count;
        view.recorded = true;
        assert_int_equal(foliot_rules_tick(again, &view), FOLIOT_STATUS_OK);
        check_same(g.rules, again);
        foliot_rules_destroy(again);
    }
    game_end(&g);
}

TEST(rules_that_are_late_in_every_tick_end)
{
    lua_game g;
    uint32_t ticks = 0;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    static const char script[] =
        "function on_tick() local t = {} for i = 1, 9000 do t[i] = {i} end end";
    foliot_lua_limits limits = game_limits();
    limits.memory_bytes = 300000;
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    while (ticks < 200 && game_tick(&g, NULL, 0, NULL, 0) == FOLIOT_STATUS_OK)
        ticks++;
    check_eq(ticks, 99);
    assert_non_null(strstr(foliot_rules_get_problem(g.rules), "100 ticks in a row"));
    game_end(&g);
}

// So they do where their ticks are run again, also from saved bytes: no recording has more.
TEST(late_ticks_in_a_row_are_counted_in_a_rerun)
{
    static saved s;
    lua_game g;
    game_start(&g, busy);
    foliot_order order = drop_at(3);
    foliot_rules_view view = {
        .scene = &g.scene, .world = g.world, .orders = &order, .order_count = 1, .recorded = true};
    foliot_rules *rules = g.rules;
    while (view.tick < 200) {
        view.tick++;
        if (foliot_rules_tick(rules, &view) != FOLIOT_STATUS_OK)
            break;
        check_eq(foliot_rules_get_drops(rules)->order_count, 1);
        if (view.tick != 60)
            continue;
        assert_int_equal(save(rules, &s), FOLIOT_STATUS_OK);
        rules = restored(&g, busy, &s);
    }
    check_eq(view.tick, 100);
    check_eq(foliot_rules_get_drops(rules)->order_count, 1); // what was dropped is recorded
    assert_non_null(strstr(foliot_rules_get_problem(rules), "100 ticks in a row"));
    view.tick++;
    assert_int_equal(foliot_rules_tick(rules, &view), FOLIOT_STATUS_OK);
    check_eq(foliot_rules_get_drops(rules)->order_count, 0);
    foliot_rules_destroy(rules);
    game_end(&g);
}

TEST(a_save_that_is_late_is_not_the_end)
{
    static saved s;
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    static const char script[] = "state.t = {} for i = 1, 10000 do state.t[i] = true end";
    foliot_lua_limits limits = game_limits();
    limits.time_us = 100; // half a millisecond is needed
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    foliot_rules_view view = {.scene = &g.scene, .world = g.world, .tick = 0};
    for (int i = 1; i < 8; i++) {
        assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_AGAIN);
        assert_string_equal(foliot_rules_get_problem(g.rules), "");
        view.tick++;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
    }
    view.tick++;
    view.recorded = true;
    assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
    assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_OK); // where no clock looks
    view.recorded = false;
    view.tick++;
    assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
    assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_AGAIN);
    assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_OK); // of the same tick: all that it needs
    for (int i = 1; i < 8; i++) {
        view.tick++;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_AGAIN);
    }
    view.tick++;
    assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
    assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_INVALID); // the eighth in a row
    check_gt(strlen(foliot_rules_get_problem(g.rules)), 0);
    game_end(&g);
}

TEST(a_check_says_that_a_save_takes_too_long)
{
    lua_game g;
    char problem[512] = "";
    game_make_scene(&g);
    static const char script[] = "state.t = {} for i = 1, 10000 do state.t[i] = true end";
    foliot_lua_limits limits = game_limits();
    limits.time_us = 100;
    assert_int_equal(foliot_rules_check_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                            problem, sizeof problem),
                     FOLIOT_STATUS_AGAIN);
    assert_true(strncmp(problem, "game.lua: ", 10) == 0);
    assert_non_null(strstr(problem, "100")); // the time that it had
    builder_free(&g.y);
}

// -- what an order costs

#define ALONE (1ull << 63) // of a check at which an order was dropped alone

#define ORDERS (1ull << 62) // and with it all orders of the tick

static bool is_var_set(const lua_game *g, const char *key)
{
    const foliot_command_list *list = foliot_rules_get_commands(g->rules);
    for (uint32_t i = 0; i < list->count; i++)
        if (list->commands[i].kind == FOLIOT_COMMAND_var &&
            strcmp(list->commands[i].as.var.key, key) == 0)
            return true;
    return false;
}

static uint64_t check_of(const foliot_order *order)
{
    uint64_t check = 0;
    for (int i = 0; i < 8; i++)
        check |= (uint64_t)order->bytes[i] << 8 * i;
    return check;
}

static const char *kick_of(const foliot_rules *rules, uint32_t player)
{
    uint32_t at;
    const char *reason;
    for (uint32_t i = 0; foliot_rules_get_kick(rules, i, &at, &reason); i++)
        if (at == player)
            return reason;
    return NULL;
}

// One player allocates far more than its share in more ticks than would stop the rules.
TEST(an_order_over_its_bytes_ends_alone)
{
    static const char script[] =
        "state.n = 0\n"
        "function on_order(player, text)\n"
        "  local s = 'x' for i = 1, 14 do s = s .. s end\n"
        "  for i = 1, text == 'bomb' and 200 or 20 do state.n = state.n + 1 local y = s .. i end\n"
        "  set_var('n', state.n)\n"
        "end\n"
        "function on_join(player, name) if name == 'Eve' then return false, 'banned' end end\n"
        "function on_tick() set_var('tick', state.n) end\n";
    static saved before;
    lua_game g;
    game_start(&g, script);
    for (uint64_t tick = 1; tick <= 150; tick++) {
        assert_int_equal(save(g.rules, &before), FOLIOT_STATUS_OK);
        foliot_rules *again = restored(&g, script, &before);
        foliot_order orders[6 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(FOLIOT_ORDER_GAME, 0, "bomb"),
            game_order(FOLIOT_ORDER_GAME, 0, "bomb"),
            game_order(FOLIOT_ORDER_GAME, 0, "small"),
            game_order(FOLIOT_ORDER_GAME, 1, "small"),
            game_order(tick % 2 ? FOLIOT_ORDER_JOINED : FOLIOT_ORDER_LEFT, 2, "Eve"),
            game_order(FOLIOT_ORDER_GAME, 3, "bomb")};
        foliot_rules_view view = {
            .scene = &g.scene, .world = g.world, .tick = tick, .orders = orders, .order_count = 6};
        if (foliot_rules_tick(g.rules, &view) != FOLIOT_STATUS_OK)
            fail_msg("tick %d: %s", (int)tick, foliot_rules_get_problem(g.rules));
        const char *why;
        check_eq(dropped_of(g.rules, &why), 0);
        check_eq(refused_of(g.rules, 0), 3);
        check_eq(refused_of(g.rules, 1), 0);
        check_eq(refused_of(g.rules, 3), 1);
        check_eq(foliot_rules_get_commands(g.rules)->count, 2); // of player 1, and on_tick's
        if (tick % 2)
            assert_string_equal(kick_of(g.rules, 2), "banned");
        uint32_t count = copy_drops(g.rules, orders + 6);
        check_eq(count, 2);
        assert_true(check_of(&orders[6]) & ALONE);
        assert_true(check_of(&orders[7]) & ALONE);
        view.order_count += count;
        view.recorded = true;
        assert_int_equal(foliot_rules_tick(again, &view), FOLIOT_STATUS_OK);
        check_eq(refused_of(again, 0), 3);
        check_eq(refused_of(again, 3), 1);
        check_same(g.rules, again);
        foliot_rules_destroy(again);
    }
    game_end(&g);
}

// Fewer instructions than a check comes after: then the order's end is the place.
TEST(an_order_that_ends_over_its_bytes_costs_its_player)
{
    static const char script[] =
        "local s = string.rep('x', 60000)\n"
        "local function more() return s .. 1, s .. 2, s .. 3, s .. 4, s .. 5, s .. 6, s .. 7 end\n"
        "function on_chat(player) more() more() return 'hi' end\n"
        "function on_leave() set_var('left', 1) end\n";
    lua_game g;
    game_start(&g, script);
    foliot_rules_message_out message;
    for (int rerun = 0; rerun < 2; rerun++) {
        foliot_order orders[] = {game_order(FOLIOT_ORDER_CHAT, 0, "a"),
                                 game_order(FOLIOT_ORDER_CHAT, 0, "b"), drop_at(2 | ALONE)};
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = 1,
                                  .orders = orders,
                                  .order_count = 3,
                                  .recorded = rerun};
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(refused_of(g.rules, 0), 2);
        assert_false(foliot_rules_get_message(g.rules, 0, &message));
        check_eq(foliot_rules_get_drops(g.rules)->order_count, 1);
        assert_true(check_of(foliot_rules_get_drops(g.rules)->orders) == (2 | ALONE));
    }
    game_end(&g);
}

// More drops than a tick can record: those behind them are none, and cost nobody else.
TEST(many_orders_over_their_bytes_end_nothing_else)
{
    enum { PLAYERS = 100 };
    static const char script[] =
        "local s = string.rep('x', 60000)\n"
        "function on_order(player) for i = 1, 40 do local y = s .. i end set_var('n', player) end\n"
        "function on_tick() set_var('tick', 1) end\n";
    lua_game g;
    game_make_scene(&g);
    g.scene.players.limit = PLAYERS;
    g.scene.bodies_max = 2 * PLAYERS;
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(game_load(&g, script), FOLIOT_STATUS_OK);
    static foliot_order orders[PLAYERS + FOLIOT_ORDERS_DROPPED_MAX];
    for (uint32_t p = 0; p < PLAYERS; p++)
        orders[p] = game_order(FOLIOT_ORDER_GAME, p, "go");
    for (int rerun = 0; rerun < 2; rerun++) {
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = 1,
                                  .orders = orders,
                                  .order_count =
                                      PLAYERS + (rerun ? FOLIOT_ORDERS_DROPPED_MAX - 4 : 0),
                                  .recorded = rerun};
        const char *why;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why), 0);
        check_eq(copy_drops(g.rules, orders + PLAYERS), FOLIOT_ORDERS_DROPPED_MAX - 4);
        check_eq(foliot_rules_get_commands(g.rules)->count,
                 PLAYERS - FOLIOT_ORDERS_DROPPED_MAX + 5);
    }
    game_end(&g);
}

// An order that is about to be dropped for its bytes ends for its instructions instead. The next
// callback is a join of somebody else, and is not dropped for it. One of the lengths of the loop
// leaves exactly the instructions that the order's last part needs.
TEST(an_order_that_ends_for_its_units_costs_nobody_else)
{
    static const char script[] =
        "local s = string.rep('x', 60000)\n"
        "local function more() return s .. 1, s .. 2, s .. 3, s .. 4, s .. 5, s .. 6, s .. 7 end\n"
        "function on_order(player, text) local n = tonumber(text)\n"
        "  for i = 1, n do end more() more() string.rep('x', 60000) end\n"
        "function on_join(player) set_var('joined', 1) end\n";
    static saved before;
    lua_game g;
    uint32_t ended = 0;
    game_start(&g, script);
    for (uint32_t n = 11000; n < 12600; n += 8) {
        char text[16];
        snprintf(text, sizeof text, "%u", (unsigned)n);
        assert_int_equal(save(g.rules, &before), FOLIOT_STATUS_OK);
        foliot_rules *again = restored(&g, script, &before);
        foliot_order orders[3 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(FOLIOT_ORDER_GAME, 0, text), game_order(FOLIOT_ORDER_JOINED, 1, "Bob"),
            game_order(FOLIOT_ORDER_LEFT, 1, "")};
        foliot_rules_view view = {
            .scene = &g.scene, .world = g.world, .tick = n, .orders = orders, .order_count = 3};
        const char *why;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why), 0);
        assert_null(kick_of(g.rules, 1));
        assert_true(is_var_set(&g, "joined"));
        check_eq(refused_of(g.rules, 0), 1);
        uint32_t count = copy_drops(g.rules, orders + 3);
        ended += count == 0;
        view.order_count += count;
        view.recorded = true;
        assert_int_equal(foliot_rules_tick(again, &view), FOLIOT_STATUS_OK);
        check_eq(refused_of(again, 0), 1);
        check_same(g.rules, again);
        foliot_rules_destroy(again);
    }
    check_gt(ended, 0);
    game_end(&g);
}

// Players who send the most expensive orders that they may, in more ticks than would stop the
// rules: they have half of the time, and the game has the rest.
TEST(the_orders_of_all_players_never_cost_the_game_its_time)
{
    static const char script[] =
        "state.n, state.here = 0, 0\n"
        "function on_order(player, text) while true do state.n = state.n + 1 end end\n"
        "local function work() for i = 1, 2000 do end end\n"
        "function on_join(player) work() state.here = state.here + 1 end\n"
        "function on_leave(player) work() state.here = state.here - 1 end\n"
        "function on_tick() work() set_var('here', state.here) end\n";
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.instructions *= 1000; // as a slow machine
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 1; tick <= 150; tick++) {
        foliot_order orders[4 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(FOLIOT_ORDER_GAME, 0, "a"), game_order(FOLIOT_ORDER_GAME, 1, "b"),
            game_order(tick % 2 ? FOLIOT_ORDER_JOINED : FOLIOT_ORDER_LEFT, 2, "Ann"),
            game_order(FOLIOT_ORDER_GAME, 3, "d")};
        foliot_rules_view view = {
            .scene = &g.scene, .world = g.world, .tick = tick, .orders = orders, .order_count = 4};
        if (foliot_rules_tick(g.rules, &view) != FOLIOT_STATUS_OK)
            fail_msg("tick %d: %s", (int)tick, foliot_rules_get_problem(g.rules));
        const char *why;
        check_eq(dropped_of(g.rules, &why), 0);
        assert_null(kick_of(g.rules, 2));
        check_eq(foliot_rules_get_commands(g.rules)->count, 1);
        check_eq(foliot_rules_get_commands(g.rules)->commands[0].as.var.integer, (int)tick % 2);
        uint32_t count = copy_drops(g.rules, orders + 4);
        check_eq(count, 3);
        assert_true(check_of(&orders[4]) & ALONE);
        assert_true(check_of(&orders[5]) & ALONE);
        assert_true(check_of(&orders[6]) & ORDERS);
        check_eq(refused_of(g.rules, 0) + refused_of(g.rules, 1) + refused_of(g.rules, 3), 3);
    }
    game_end(&g);
}

// A player behind those who use up their time is served: each has a part of what is left.
TEST(the_orders_of_players_do_not_take_the_time_of_others)
{
    static const char script[] = "state.n = 0\n"
                                 "function on_order(player, text)\n"
                                 "  while text == 'loop' do state.n = state.n + 1 end\n"
                                 "  set_var('served.' .. player, 1)\n"
                                 "end\n";
    lua_game g;
    foliot_rules *again;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.instructions *= 1000; // as a slow machine
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &again, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 1; tick <= 20; tick++) {
        foliot_order orders[6 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(FOLIOT_ORDER_GAME, 0, "loop"), game_order(FOLIOT_ORDER_GAME, 0, "loop"),
            game_order(FOLIOT_ORDER_GAME, 1, "loop"), game_order(FOLIOT_ORDER_GAME, 2, "go"),
            game_order(FOLIOT_ORDER_GAME, 3, "loop"), game_order(FOLIOT_ORDER_GAME, 3, "go")};
        foliot_rules_view view = {
            .scene = &g.scene, .world = g.world, .tick = tick, .orders = orders, .order_count = 6};
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(refused_of(g.rules, 0), 2);
        check_eq(refused_of(g.rules, 1), 1);
        check_eq(refused_of(g.rules, 2), 0);
        check_eq(refused_of(g.rules, 3), 2);
        assert_true(is_var_set(&g, "served.2"));
        uint32_t count = copy_drops(g.rules, orders + 6);
        check_eq(count, 3);
        assert_true(check_of(&orders[6]) & check_of(&orders[7]) & ALONE);
        assert_true(check_of(&orders[8]) & ORDERS);
        view.order_count += count;
        view.recorded = true;
        assert_int_equal(foliot_rules_tick(again, &view), FOLIOT_STATUS_OK);
        check_eq(refused_of(again, 3), 2);
        check_same(g.rules, again);
    }
    foliot_rules_destroy(again);
    game_end(&g);
}

// Where orders take all the time that they have, the game may lack time for its part in every tick.
// The rules are not stopped for it, nor are they in a rerun.
TEST(the_orders_of_players_never_stop_the_rules)
{
    static const char script[] =
        "state.n = 0\n"
        "function on_order(player, text) while true do state.n = state.n + 1 end end\n"
        "function on_tick() while true do state.n = state.n + 1 end end\n";
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = foliot_lua_limits_default();
    limits.instructions *= 1000; // as a slow machine
    foliot_rules *again;
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                             &again, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 1; tick <= 250; tick++) {
        foliot_order orders[1 + FOLIOT_ORDERS_DROPPED_MAX] = {
            game_order(FOLIOT_ORDER_GAME, 0, "a")};
        const bool spoken = tick <= 150;
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = tick,
                                  .orders = orders,
                                  .order_count = spoken};
        const bool stops = foliot_rules_tick(g.rules, &view) != FOLIOT_STATUS_OK;
        check_eq(stops, tick == 250); // 100 ticks without orders
        view.order_count += copy_drops(g.rules, orders + spoken);
        check_eq(view.order_count, spoken ? 3 : 1);
        view.recorded = true;
        check_eq(foliot_rules_tick(again, &view) != FOLIOT_STATUS_OK, stops);
        if (!stops) // the reasons of a stop differ
            check_same(g.rules, again);
    }
    foliot_rules_destroy(again);
    game_end(&g);
}

// -- a join that the rules did not see

// Joins and leaves have a reserve: what was late or expensive before them costs them nothing.
TEST(joins_and_leaves_behind_a_drop_are_called)
{
    static const char script[] = "state.here = 2\n"
                                 "function on_join(p, name)\n"
                                 "  if p == 3 then for i = 1, 400000 do state.n = i end end\n"
                                 "  set_var('joined.' .. p, 1)\n"
                                 "  if name == 'Eve' then return false, 'banned' end\n"
                                 "end\n"
                                 "function on_leave(p) set_var('left.' .. p, 1) end\n"
                                 "function on_spawn() set_var('spawn', 1) end\n";
    for (int by_host = 0; by_host < 2; by_host++) {
        lua_game g;
        game_start(&g, script);
        foliot_order first = game_order(FOLIOT_ORDER_JOINED, 2, "Bob");
        assert_int_equal(game_tick(&g, NULL, 0, &first, 1), FOLIOT_STATUS_OK);
        foliot_order orders[] = {game_order(FOLIOT_ORDER_JOINED, 3, "Ann"),
                                 game_order(FOLIOT_ORDER_LEFT, 2, "Bob"),
                                 game_order(FOLIOT_ORDER_JOINED, 0, "Eve"),
                                 game_order(FOLIOT_ORDER_JOINED, 1, "Cid"), drop_at(5)};
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = 2,
                                  .orders = orders,
                                  .order_count = by_host ? 5 : 4,
                                  .recorded = by_host};
        const char *why;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why), 1);
        assert_true(foliot__rules_kick_passes(g.rules, 0)); // Ann's, who came first
        assert_non_null(kick_of(g.rules, 3));
        assert_string_equal(kick_of(g.rules, 0), "banned");
        assert_false(foliot__rules_kick_passes(g.rules, 1));
        assert_null(kick_of(g.rules, 1));
        assert_true(is_var_set(&g, "left.2"));
        assert_true(is_var_set(&g, "joined.0"));
        assert_true(is_var_set(&g, "joined.1"));
        game_end(&g);
    }
}

// Whether the host's clock ends on_join or the instructions do: who is banned stays out. The first
// one has the budget of the tick, the second one the reserve, and the third one nothing.
TEST(a_join_whose_callback_is_dropped_is_dismissed)
{
    static const char script[] =
        "function on_join(p) set_var('joined.' .. p, 1) for i = 1, 400000 do state.n = i end end\n"
        "function on_leave(p) set_var('left.' .. p, 1) end\n"
        "function on_order(p) set_var('order.' .. p, 1) end\n";
    for (int by_host = 0; by_host < 2; by_host++) {
        lua_game g;
        game_start(&g, script);
        foliot_order orders[] = {
            game_order(FOLIOT_ORDER_JOINED, 0, "Ann"), game_order(FOLIOT_ORDER_GAME, 0, "go"),
            game_order(FOLIOT_ORDER_JOINED, 2, "Bob"), game_order(FOLIOT_ORDER_JOINED, 1, "Cid"),
            game_order(FOLIOT_ORDER_GAME, 1, "go"),    drop_at(5)};
        foliot_input joins[] = {{.player = 0, .kind = FOLIOT_INPUT_JOIN},
                                {.player = 2, .kind = FOLIOT_INPUT_JOIN},
                                {.player = 1, .kind = FOLIOT_INPUT_JOIN}};
        foliot_rules_view view = {.scene = &g.scene,
                                  .world = g.world,
                                  .tick = 1,
                                  .inputs = joins,
                                  .input_count = 3,
                                  .orders = orders,
                                  .order_count = by_host ? 6 : 5,
                                  .recorded = by_host};
        const char *why;
        assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why), 3); // the three callbacks
        for (uint32_t p = 0; p < 3; p++) {
            assert_non_null(kick_of(g.rules, p));
            check_gt(strlen(kick_of(g.rules, p)), 0);
        }
        assert_true(is_var_set(&g, "joined.0"));
        assert_false(is_var_set(&g, "joined.1"));
        assert_false(is_var_set(&g, "order.0"));
        assert_false(is_var_set(&g, "order.1"));
        foliot_order left[] = {game_order(FOLIOT_ORDER_LEFT, 0, ""),
                               game_order(FOLIOT_ORDER_LEFT, 1, "")};
        assert_int_equal(game_tick(&g, NULL, 0, left, 2), FOLIOT_STATUS_OK);
        assert_true(is_var_set(&g, "left.0"));
        assert_false(is_var_set(&g, "left.1")); // the script has not seen it
        foliot_order back = game_order(FOLIOT_ORDER_JOINED, 1, "Bob");
        assert_int_equal(game_tick(&g, NULL, 0, &back, 1), FOLIOT_STATUS_OK);
        assert_true(is_var_set(&g, "joined.1"));
        game_end(&g);
    }
}

// -- limits

static void load_limited(lua_game *g, const char *script, size_t memory_bytes)
{
    game_make_scene(g);
    assert_int_equal(foliot_world_create(&g->scene, &g->world, NULL), FOLIOT_STATUS_OK);
    foliot_lua_limits limits = game_limits();
    limits.memory_bytes = memory_bytes;
    limits.instructions = 20000000;
    assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g->scene,
                                             &g->rules, g->problem, sizeof g->problem),
                     FOLIOT_STATUS_OK);
}

static foliot_status tick_of(lua_game *g, bool recorded)
{
    foliot_rules_view view = {
        .scene = &g->scene, .world = g->world, .tick = 1, .recorded = recorded};
    return foliot_rules_tick(g->rules, &view);
}

// A tick that is run again may hold four times the limit.
TEST(a_live_tick_behind_a_rerun_has_its_own_limit)
{
    lua_game g;
    const char *why;
    load_limited(&g,
                 "local kept = {}\n"
                 "function on_tick() for i = 1, 12 do\n"
                 "  kept[#kept + 1] = string.rep('x', 50000 + #kept) end end\n",
                 300000);
    assert_int_equal(tick_of(&g, true), FOLIOT_STATUS_OK);
    assert_int_equal(tick_of(&g, false), FOLIOT_STATUS_INVALID);
    check_gt(strlen(foliot_rules_get_problem(g.rules)), 0);
    game_end(&g);
    load_limited(&g,
                 "state.n = 0\n"
                 "function on_tick() state.n = state.n + 1 local lost = {}\n"
                 "  for i = 1, state.n % 2 == 1 and 12 or 1 do\n"
                 "    lost[i] = string.rep('x', 50000 + state.n + i) end end\n",
                 300000);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(tick_of(&g, true), FOLIOT_STATUS_OK);
        assert_int_equal(tick_of(&g, false), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why), 0);
    }
    game_end(&g);
}

TEST(a_large_limit_is_none)
{
    const size_t limits[] = {SIZE_MAX / 4 + 200001, SIZE_MAX / 3 * 2 + 400000, SIZE_MAX};
    for (int i = 0; i < 3; i++)
        for (int rerun = 0; rerun < 2; rerun++) {
            lua_game g;
            const char *why;
            load_limited(&g,
                         "local kept = {}\n"
                         "function on_tick() for i = 1, 40 do\n"
                         "  kept[#kept + 1] = string.rep('x', 50000 + #kept) end end\n",
                         limits[i]);
            assert_int_equal(tick_of(&g, rerun), FOLIOT_STATUS_OK);
            check_eq(dropped_of(g.rules, &why), 0);
            game_end(&g);
        }
}

#if !PACE_SLOW // sanitizers need more address space
// In a process that may have no more memory. Its exit code says how far it came.
static int run_without_memory(void)
{
    static const char script[] =
        "function on_join(player) local t = {} for i = 1, 100000 do t[i] = string.rep('x', 30000 + "
        "i) end end\n"
        "function on_tick() set_var('n', 1) end\n";
    lua_game g;
    const char *why;
    game_make_scene(&g);
    foliot_lua_limits limits = game_limits();
    limits.memory_bytes = 512u << 20;
    limits.instructions = 100000000;
    if (foliot_world_create(&g.scene, &g.world, NULL) != FOLIOT_STATUS_OK ||
        foliot_rules_create_lua(script, strlen(script), "game.lua", &limits, &g.scene, &g.rules,
                                g.problem, sizeof g.problem) != FOLIOT_STATUS_OK)
        return 1;
    long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%ld", &pages) != 1)
        return 2;
    fclose(statm);
    const rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (8u << 20);
    if (setrlimit(RLIMIT_AS, &(struct rlimit){most, most}) != 0)
        return 3;
    for (int tick = 1; tick <= 3; tick++) {
        foliot_order order =
            game_order(tick % 2 ? FOLIOT_ORDER_JOINED : FOLIOT_ORDER_LEFT, 0, "Ann");
        foliot_rules_view view = {
            .scene = &g.scene, .world = g.world, .tick = 1, .orders = &order, .order_count = 1};
        if (foliot_rules_tick(g.rules, &view) != FOLIOT_STATUS_OK)
            return 10 + tick;
        bool dropped = dropped_of(g.rules, &why) > 0;
        if (dropped != (tick % 2 == 1) || (dropped && !strstr(why, "there is no memory")))
            return 20 + tick;
    }
    return 0;
}

TEST(a_host_without_memory_drops_a_callback)
{
    int result = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(run_without_memory());
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    check_eq(WEXITSTATUS(result), 0);
}
#endif
