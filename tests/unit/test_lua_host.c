// SPDX-License-Identifier: MIT
// test_lua_host.c: goal: what the host's clock or memory drops is dropped in the same place where
// the tick is run again, whatever memory and time that takes, and the rules go on. Method: a script
// that changes its state in the middle of everything runs twice, the second time from saved bytes
// and with the orders that the first run gave; all bytes are compared.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "foliot/rules.h"
#include "lua_game.h"

#ifndef FOLIOT_NO_LUA
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
static void a_drop_at_any_check_is_the_same_in_every_run(void **state)
{
    (void)state;
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
                                  .order_count = 4,
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
static void what_the_clock_drops_is_dropped_where_it_is_run_again(void **state)
{
    (void)state;
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
        check_ge(dropped_of(g.rules, &why), count);
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

static void too_much_memory_drops_a_callback_and_not_the_game(void **state)
{
    (void)state;
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

static void rules_that_are_late_in_every_tick_end(void **state)
{
    (void)state;
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

static void a_save_that_is_late_is_not_the_end(void **state)
{
    (void)state;
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
    for (int i = 1; i < 8; i++) {
        assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_AGAIN);
        assert_string_equal(foliot_rules_get_problem(g.rules), "");
    }
    foliot_rules_view view = {.scene = &g.scene, .world = g.world, .tick = 1, .recorded = true};
    assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
    assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_OK); // where no clock looks
    view.tick = 2;
    view.recorded = false;
    assert_int_equal(foliot_rules_tick(g.rules, &view), FOLIOT_STATUS_OK);
    for (int i = 1; i < 8; i++)
        assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_AGAIN);
    assert_int_equal(save(g.rules, &s), FOLIOT_STATUS_INVALID); // the eighth in a row
    check_gt(strlen(foliot_rules_get_problem(g.rules)), 0);
    game_end(&g);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
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

static void a_host_without_memory_drops_a_callback(void **state)
{
    (void)state;
    int result = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(run_without_memory());
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    check_eq(WEXITSTATUS(result), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_drop_at_any_check_is_the_same_in_every_run),
        cmocka_unit_test(what_the_clock_drops_is_dropped_where_it_is_run_again),
        cmocka_unit_test(too_much_memory_drops_a_callback_and_not_the_game),
        cmocka_unit_test(rules_that_are_late_in_every_tick_end),
        cmocka_unit_test(a_save_that_is_late_is_not_the_end),
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
        cmocka_unit_test(a_host_without_memory_drops_a_callback),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
