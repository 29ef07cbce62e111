// SPDX-License-Identifier: MIT
// test_lua_events.c: goal: callbacks are called for what happened in a tick, in a defined order:
// players and what they say, contacts, hits, sensors. Method: small scripts run beside a world.
#include "lua_game.h"

#ifndef FOLIOT_NO_LUA

static void players_are_heard_in_order(void **state)
{
    (void)state;
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

static void chat_passes_where_no_handler_is(void **state)
{
    (void)state;
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

static void contacts_and_hits_are_told(void **state)
{
    (void)state;
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

static void an_ended_contact_names_the_body_that_is_gone(void **state)
{
    (void)state;
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

static void sensors_are_told(void **state)
{
    (void)state;
    lua_game g;
    game_make_scene(&g);
    g.y.bodies[2].is_sensor = true; // "second": the shell falls through it
    g.y.bodies[2].is_static = true;
    g.y.bodies[2].position[2] = 3;
    assert_int_equal(foliot_world_create(&g.scene, &g.world), FOLIOT_STATUS_OK);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(players_are_heard_in_order),
        cmocka_unit_test(chat_passes_where_no_handler_is),
        cmocka_unit_test(contacts_and_hits_are_told),
        cmocka_unit_test(an_ended_contact_names_the_body_that_is_gone),
        cmocka_unit_test(sensors_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 0;
}
#endif
