// SPDX-License-Identifier: MIT
// test_lua_events.c: goal: callbacks are called for what happened in a tick, in a defined order:
// players and what they say, contacts, hits, sensors. Method: small scripts run with a world.
#include "lua_game.h"

TEST(players_are_heard_in_order)
{
    lua_game g;
    game_start(&g,
               "state.log = {}\n"
               "local function log(...) state.log[#state.log + 1] = table.concat({...}, ' ') end\n"
               "function on_join(player, name) log('join', player, name)\n"
               "  if player == 2 then return false, 'full house' end end\n"
               "function on_leave(player, reason) log('leave', player, reason) end\n"
               "function on_order(player, text) log('order', player, text) end\n"
               "function on_chat(player, text)\n"
               "  if text == 'secret' then return false end\n"
               "  if text == 'rude' then return 'polite' end end\n"
               "function on_tick()\n"
               "  message(nil, table.concat(state.log, ', ')) state.log = {}\n"
               "  message(0, #world.players() .. ' ' .. (world.player_name(0) or '-'), true)\n"
               "end\n");
    foliot_order orders[] = {
        game_order(FOLIOT_ORDER_JOINED, 0, "Ann"),   game_order(FOLIOT_ORDER_CHAT, 0, "hello"),
        game_order(FOLIOT_ORDER_CHAT, 0, "secret"),  game_order(FOLIOT_ORDER_CHAT, 0, "rude"),
        game_order(FOLIOT_ORDER_GAME, 0, "fire 1"),  game_order(FOLIOT_ORDER_JOINED, 2, "Bob"),
        game_order(FOLIOT_ORDER_GAME, 900, "ghost"),
    };
    foliot_input joins[] = {{.player = 0, .kind = FOLIOT_INPUT_JOIN},
                            {.player = 1, .kind = FOLIOT_INPUT_JOIN}};
    assert_int_equal(game_tick(&g, joins, 2, orders, 7), FOLIOT_STATUS_OK);
    static const char *const expected[] = {
        "Ann: hello", "Ann: polite", "join 0 Ann, order 0 fire 1, join 2 Bob, join 1 ", "3 Ann"};
    foliot_rules_message_out m;
    for (uint32_t i = 0; i < 4; i++) {
        assert_true(foliot_rules_get_message(g.rules, i, &m));
        check_eq(m.length, strlen(expected[i]));
        assert_memory_equal(m.bytes, expected[i], m.length);
        check_eq(m.player, i == 3 ? 0 : FOLIOT_TO_ALL);
        check_eq(m.reliable, i != 3);
    }
    assert_false(foliot_rules_get_message(g.rules, 4, &m));
    uint32_t player;
    const char *reason;
    assert_true(foliot_rules_get_kick(g.rules, 0, &player, &reason));
    check_eq(player, 2);
    assert_string_equal(reason, "full house");
    foliot_order left[] = {game_order(FOLIOT_ORDER_LEFT, 2, "kicked")};
    foliot_input leaves[] = {{.player = 0, .sequence = 1, .kind = FOLIOT_INPUT_LEAVE}};
    assert_int_equal(game_tick(&g, leaves, 1, left, 1), FOLIOT_STATUS_OK);
    assert_true(foliot_rules_get_message(g.rules, 0, &m));
    static const char gone[] = "leave 2 kicked, leave 0 ";
    check_eq(m.length, strlen(gone));
    assert_memory_equal(m.bytes, gone, m.length);
    game_end(&g);
}

TEST(chat_passes_where_no_handler_is)
{
    lua_game g;
    game_start(&g, "");
    foliot_order order = game_order(FOLIOT_ORDER_CHAT, 3, "anybody here?");
    assert_int_equal(game_tick(&g, NULL, 0, &order, 1), FOLIOT_STATUS_OK);
    foliot_rules_message_out m;
    assert_true(foliot_rules_get_message(g.rules, 0, &m));
    check_eq(m.length, strlen("player 3: anybody here?"));
    assert_memory_equal(m.bytes, "player 3: anybody here?", m.length);
    game_end(&g);
}

// With and without a handler, chat leaves room for messages of the game.
TEST(chat_never_takes_the_messages_of_the_game)
{
    for (int handled = 0; handled < 2; handled++) {
        lua_game g;
        foliot_rules_message_out m;
        foliot_order orders[70];
        game_start(&g, handled ? "function on_chat() return 'hi' end\n"
                                 "function on_tick() message(nil, 'game over') end"
                               : "function on_tick() message(nil, 'game over') end");
        for (uint32_t i = 0; i < 70; i++)
            orders[i] = game_order(FOLIOT_ORDER_CHAT, i / 35, "spam");
        assert_int_equal(game_tick(&g, NULL, 0, orders, 70), FOLIOT_STATUS_OK);
        assert_true(foliot_rules_get_message(g.rules, 32, &m));
        check_eq(m.length, 9);
        assert_memory_equal(m.bytes, "game over", 9);
        assert_false(foliot_rules_get_message(g.rules, 33, &m));
        game_end(&g);
    }
}

TEST(contacts_and_hits_are_told)
{
    passes("state = {begin = 0, touch = 0, hits = 0, ends = 0}\n"
           "function on_contact(a, b, change, event)\n"
           "  if change == 'begin' then\n"
           "    state.begin = state.begin + 1\n"
           "    assert(world.name(a) == 'floor' and event.normal[3] == 1 and event.points >= 1)\n"
           "    assert(event.force >= 0 and #event.point == 3 and #event.friction == 3 and "
           "event.speed)\n"
           "  else assert(change == 'end') state.ends = state.ends + 1 end\n"
           "end\n"
           "function on_touch(a, b) state.touch = state.touch + 1 end\n"
           "function on_hit(a, b, impulse, x, y, z)\n"
           "  state.hits = state.hits + 1 assert(impulse > 0 and z < 0.6)\n"
           "end\n"
           "function on_tick()\n"
           "  local t = world.tick()\n"
           "  if t == 5 then assert(state.begin == 3 and state.touch >= 9)\n"
           "    for _, name in ipairs{'first', 'second'} do\n"
           "      command.impulse{body = world.find(name), linear = {0, 0, 3}} end\n"
           "    command.spawn{prototype = 'shell', position = {9, 9, 3}, velocity = {0, 0, -200}}\n"
           "  elseif t == 8 then assert(state.ends == 2, state.ends) assert(state.hits >= 1) end\n"
           "end\n",
           9);
}

TEST(an_ended_contact_names_the_body_that_is_gone)
{
    passes("function on_init() command.spawn{prototype = 'ball', position = {9, 9, 0.26}} end\n"
           "function on_spawn(body) state.before, state.now = state.now, body end\n"
           "function on_contact(a, b, change)\n"
           "  if change == 'end' then state.ended = b end end\n"
           "function on_tick()\n"
           "  if world.tick() == 20 then\n"
           "    command.despawn{body = state.now}\n"
           "    command.spawn{prototype = 'ball', position = {9, 9, 9}}\n"
           "  elseif world.tick() == 21 then\n"
           "    assert(state.now & 0xffffffff == state.before & 0xffffffff)\n"
           "    assert(state.now ~= state.before and state.ended == state.before)\n"
           "  end\n"
           "end\n",
           21);
}

TEST(sensors_are_told)
{
    lua_game g;
    game_make_scene(&g);
    g.y.bodies[2].is_sensor = true; // "second": the shell falls through it
    g.y.bodies[2].is_static = true;
    g.y.bodies[2].position[2] = 3;
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(
        game_load(
            &g,
            "state.log = ''\n"
            "function on_init() command.spawn{prototype = 'shell', position = {3, 0, 4.5}} end\n"
            "function on_spawn(body) state.shell = body end\n"
            "function on_sensor(sensor, body, entered)\n"
            "  assert(world.name(sensor) == 'second' and body == state.shell)\n"
            "  state.log = state.log .. tostring(entered) .. ' '\n"
            "end\n"
            "function on_tick() if world.tick() == 60 then assert(state.log == 'true false ', "
            "state.log) end end\n"),
        FOLIOT_STATUS_OK);
    game_run(&g, 61);
    game_end(&g);
}

// -- budgets

// Commands that set `key` in this tick; *value is the last one's.
static uint32_t vars_set(const lua_game *g, const char *key, int64_t *value)
{
    const foliot_command_list *list = foliot_rules_get_commands(g->rules);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->commands[i].kind == FOLIOT_COMMAND_var &&
            strcmp(list->commands[i].as.var.key, key) == 0) {
            *value = list->commands[i].as.var.integer;
            count++;
        }
    return count;
}

static uint32_t refused_of(const lua_game *g, uint32_t player)
{
    uint32_t at, count;
    for (uint32_t i = 0; foliot_rules_get_refused(g->rules, i, &at, &count); i++)
        if (at == player)
            return count;
    return 0;
}

// A pattern that takes the square of its text's length, as the one of a game in the examples did.
TEST(orders_cost_their_senders)
{
    lua_game g;
    int64_t value = 0;
    game_start(&g, "state.heard, state.n = 0, 0\n"
                   "function on_order(player, text)\n"
                   "  for i = 1, 50 do text:match('^.-.-x$') end\n"
                   "  state.heard = state.heard + 1 set_var('heard.' .. player, state.heard)\n"
                   "end\n"
                   "function on_tick() for i = 1, 30000 do state.n = state.n + 1 end\n"
                   "  set_var('n', state.n) end\n");
    char bomb[FOLIOT_ORDER_BYTES_MAX + 1];
    memset(bomb, '1', FOLIOT_ORDER_BYTES_MAX);
    bomb[FOLIOT_ORDER_BYTES_MAX] = 0;
    for (int tick = 1; tick <= 50; tick++) {
        foliot_order orders[3 * 32 + 1];
        uint32_t count = 0;
        for (uint32_t player = 0; player < 3; player++)
            for (int i = 0; i < 32; i++)
                orders[count++] = game_order(FOLIOT_ORDER_GAME, player, bomb);
        orders[count++] = game_order(FOLIOT_ORDER_GAME, 3, "go");
        assert_int_equal(game_tick(&g, NULL, 0, orders, count), FOLIOT_STATUS_OK);
        for (uint32_t player = 0; player < 3; player++)
            check_eq(refused_of(&g, player), 32);
        check_eq(refused_of(&g, 3), 0);
        check_eq(vars_set(&g, "heard.3", &value), 1); // the honest player
        check_eq(value, tick);
        check_eq(vars_set(&g, "n", &value), 1); // the game, which uses most of its budget
        check_eq(value, 30000 * tick);
    }
    game_end(&g);
}

// The allowance of an order does not depend on earlier orders: else whoever has used
// up most of a share would stop the game with the next order.
TEST(orders_behind_others_allocate_as_the_first_one)
{
    lua_game g;
    game_start(&g, "state.heard = 0\n"
                   "function on_order(player, text)\n"
                   "  local line = ''\n"
                   "  for i = 1, 60 do line = line .. '[' .. text .. '] ' end\n"
                   "  state.heard = state.heard + #line\n"
                   "end\n");
    char word[FOLIOT_ORDER_BYTES_MAX + 1];
    memset(word, '1', FOLIOT_ORDER_BYTES_MAX);
    word[FOLIOT_ORDER_BYTES_MAX] = 0;
    for (int tick = 1; tick <= 5; tick++) {
        foliot_order orders[2 * 32];
        for (uint32_t i = 0; i < 64; i++)
            orders[i] = game_order(FOLIOT_ORDER_GAME, i / 32, word);
        if (game_tick(&g, NULL, 0, orders, 64) != FOLIOT_STATUS_OK)
            fail_msg("%s", foliot_rules_get_problem(g.rules));
        check_ge(refused_of(&g, 0), 1); // the share was used up
        check_ge(refused_of(&g, 1), 1);
    }
    game_end(&g);
}

TEST(a_callback_over_its_budget_is_dropped_alone)
{
    lua_game g;
    int64_t value = 0;
    const char *why;
    game_start(&g,
               "state.n = 0\n"
               "function on_join(player) while true do pcall(function() while true do end end)\n"
               "  end end\n"
               "function on_leave(player) set_var('left', player) end\n"
               "function on_tick() state.n = state.n + 1 set_var('n', state.n) end\n");
    foliot_order orders[] = {game_order(FOLIOT_ORDER_JOINED, 0, "Ann"),
                             game_order(FOLIOT_ORDER_LEFT, 0, "gone")};
    for (int tick = 1; tick <= 3; tick++) {
        assert_int_equal(game_tick(&g, NULL, 0, orders, 2), FOLIOT_STATUS_OK);
        check_eq(dropped_of(g.rules, &why), 1); // on_leave has its reserve
        assert_string_equal(why, "game.lua:2: the script uses more instructions than a tick has");
        check_eq(vars_set(&g, "left", &value), 1);
        check_eq(vars_set(&g, "n", &value), 1);
        check_eq(value, tick);
    }
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_OK);
    check_eq(dropped_of(g.rules, &why), 0);
    assert_string_equal(why, "");
    game_end(&g);
}

// Callbacks of contacts that are described are dropped where there are too many, before the tables
// take all memory of a tick: that would stop the game.
TEST(many_described_contacts_stop_no_game)
{
    lua_game g = {.y = builder_new(foliot_integrator_find("semi-implicit-euler"))};
    const char *why;
    int64_t value = 0;
    builder_add_plane(&g.y, 0, 0, 1, 0);
    for (int i = 0; i < 6000; i++)
        builder_add_ball(&g.y, 1, 0.5, 1.5 * (i % 64), 1.5 * (i / 64), 0.49);
    g.scene = g.y.scene;
    g.scene.bodies = g.y.bodies;
    g.scene.name = "field";
    g.scene.gravity[2] = -10;
    g.scene.commands_max = 100;
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
    if (game_load(&g, "state.n = 0\n"
                      "function on_touch(a, b, about) state.n = state.n + about.points end\n"
                      "function on_tick() set_var('n', state.n) end\n") != FOLIOT_STATUS_OK)
        fail_msg("%s", g.problem);
    game_run(&g, 3); // in the first tick they begin to touch
    check_gt(dropped_of(g.rules, &why), 0);
    check_eq(vars_set(&g, "n", &value), 1);
    check_gt(value, 3000); // and not fewer than there is time for
    game_end(&g);
}

// Drops depend on counters alone: two instances agree on every byte.
TEST(what_is_dropped_is_the_same_in_every_run)
{
    uint8_t bytes[2][4096];
    size_t length[2];
    for (int run = 0; run < 2; run++) {
        lua_game g;
        game_start(&g, "state.n, state.m = 0, 0\n"
                       "function on_order(player, text) while true do state.n = state.n + 1 end "
                       "end\n"
                       "function on_tick() while true do state.m = state.m + 1 end end\n");
        for (int tick = 0; tick < 5; tick++) {
            foliot_order orders[] = {game_order(FOLIOT_ORDER_GAME, 0, "a"),
                                     game_order(FOLIOT_ORDER_GAME, 1, "b")};
            assert_int_equal(game_tick(&g, NULL, 0, orders, 2), FOLIOT_STATUS_OK);
        }
        assert_int_equal(foliot_rules_save(g.rules, bytes[run], sizeof bytes[run], &length[run]),
                         FOLIOT_STATUS_OK);
        game_end(&g);
    }
    check_eq(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], length[0]);
}
