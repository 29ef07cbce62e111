// SPDX-License-Identifier: MIT
// test_lua.c: goal: what a script sees and does is what docs/reference/rules.md says; equal states
// give equal bytes, whatever their history; tables have one order; a script goes on from saved
// bytes as if nothing had been. Method: scripts that assert, beside a small world (lua_game.h).
#include "lua_game.h"

#ifndef FOLIOT_NO_LUA
// Starts and runs a script for some ticks; asserts in it are the test.
static void passes(const char *script, uint32_t ticks)
{
    lua_game g;
    game_start(&g, script);
    game_run(&g, ticks);
    game_end(&g);
}

// The script is refused at its start with exactly this problem.
static void refused(const char *script, const char *problem)
{
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(game_load(&g, script), FOLIOT_STATUS_INVALID);
    assert_string_equal(g.problem, problem);
    game_end(&g);
}

// on_tick with this body stops the rules with exactly this problem.
static void stops(const char *body, const char *problem)
{
    lua_game g;
    char script[1024];
    snprintf(script, sizeof script, "function on_tick() %s end", body);
    game_start(&g, script);
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_INVALID);
    assert_string_equal(foliot_rules_get_problem(g.rules), problem);
    game_end(&g);
}

static void errors_name_line_and_column(void **state)
{
    (void)state;
    refused("local a = 1\nlocal b = = 2\n", "game.lua:2:11: unexpected symbol near '='");
    refused("local a = = 2 = 2", "game.lua:1:11: unexpected symbol near '='");
    refused("function on_tick()\n  if x then\nend\n",
            "game.lua:4: 'end' expected (to close 'function' at line 1) near <eof>");
    refused("x = (1\ny = 2", "game.lua:2:1: ')' expected (to close '(' at line 1) near 'y'");
    refused("local a = 'abc\n", "game.lua:1:11: unfinished string near ''abc'");
    refused("local a = {'a', 'b', 'c\n", "game.lua:1:22: unfinished string near ''c'");
    refused("x = 3 .. 4..5", "game.lua:1:10: malformed number near '4..5'");
    refused("local a = 2\n  local b = a ^ 2",
            "game.lua:2:15: `^` differs from machine to machine; use math.pow");
    refused("-- 2^2 and '^' are no powers\nlocal a = \"^\" .. '\\^'",
            "game.lua:2:18: invalid escape sequence near ''\\^'");
    refused("local a = [==[ ^ ]]\n]==] ^ 2",
            "game.lua:2:6: `^` differs from machine to machine; use math.pow");
    refused("local _ENV = {}", "game.lua:1:7: _ENV is not available");
    refused("x = 'a\\0b'", "game.lua:1:5: a text has no zero bytes");
    refused("x = 'a\\x00b'", "game.lua:1:5: a text has no zero bytes");
    refused("x = 'a\\u{000}b'", "game.lua:1:5: a text has no zero bytes");
    refused("\x1bLua", "game.lua:1:1: this is bytecode; a script is text");
    refused("error('no')", "game.lua:1: no");
    refused("\n\nlocal x = nil + 1", "game.lua:3: attempt to perform arithmetic on a nil value");
    refused("function on_tik() end", "game.lua: there is no callback 'on_tik'; is it on_tick?");
    refused("on_tick = 3", "game.lua: on_tick is a number, not a function");
    refused("function on_init() error('not here') end", "game.lua:1: not here");
    refused("command.gravity{acceleration = {0, 0, 0}}",
            "game.lua:1: command: not while the script is loaded; in on_init or later");
    refused("math.random()",
            "game.lua:1: math.random: not while the script is loaded; in on_init or later");
    refused("function on_init() world.tick() end",
            "game.lua:1: there is no world before the first tick");
    static char zero[] = "x = 1\n\0y";
    lua_game g;
    game_make_scene(&g);
    foliot_lua_limits limits = game_limits();
    assert_int_equal(foliot_rules_create_lua(zero, sizeof zero, "game.lua", &limits, &g.scene,
                                             &g.rules, g.problem, sizeof g.problem),
                     FOLIOT_STATUS_INVALID);
    assert_string_equal(g.problem, "game.lua:2:1: a script has no zero bytes");
    char *huge = calloc(1, FOLIOT_RULES_SCRIPT_BYTES_MAX + 1);
    memset(huge, ' ', FOLIOT_RULES_SCRIPT_BYTES_MAX + 1);
    assert_int_equal(foliot_rules_create_lua(huge, FOLIOT_RULES_SCRIPT_BYTES_MAX, "game.lua",
                                             &limits, &g.scene, &g.rules, g.problem,
                                             sizeof g.problem),
                     FOLIOT_STATUS_OK);
    foliot_rules_destroy(g.rules);
    assert_int_equal(foliot_rules_create_lua(huge, FOLIOT_RULES_SCRIPT_BYTES_MAX + 1, "game.lua",
                                             &limits, &g.scene, &g.rules, g.problem,
                                             sizeof g.problem),
                     FOLIOT_STATUS_INVALID);
    assert_string_equal(g.problem, "game.lua: the script has 1048577 bytes; at most 1048576");
    limits = (foliot_lua_limits){0};
    assert_int_equal(foliot_rules_create_lua("", 0, "game.lua", &limits, &g.scene, &g.rules,
                                             g.problem, sizeof g.problem),
                     FOLIOT_STATUS_INVALID);
    assert_string_equal(g.problem, "game.lua: a limit is 0");
    memset(huge, 'n', 64);
    huge[64] = 0;
    limits = game_limits();
    assert_int_equal(foliot_rules_create_lua("", 0, huge, &limits, &g.scene, &g.rules, g.problem,
                                             sizeof g.problem),
                     FOLIOT_STATUS_INVALID);
    assert_non_null(strstr(g.problem, "the name of a script has 1 to 63 bytes"));
    free(huge);
    g.rules = NULL;
    game_end(&g);
}

static void the_world_is_seen(void **state)
{
    (void)state;
    passes("function on_tick()\n"
           "  if world.tick() < 30 then return end\n"
           "  assert(world.dt() == 1 / 60 and math.abs(world.time() - world.tick() / 60) < 1e-9)\n"
           "  assert(world.body_count() == 4 and #world.bodies() == 4)\n"
           "  local first = world.find('first')\n"
           "  assert(world.bodies()[2] == first and world.name(first) == 'first')\n"
           "  assert(world.find('nobody') == nil and world.alive(first) and not world.alive(0))\n"
           "  local x, y, z = world.position(first)\n"
           "  assert(x == 0 and y == 0 and math.abs(z - 0.5) < 0.02)\n"
           "  assert(select('#', world.velocity(first)) == 3)\n"
           "  assert(select('#', world.angular_velocity(first)) == 3)\n"
           "  assert(world.orientation(first) == 1)\n"
           "  assert(world.mass(first) == 1 and world.mass(world.find('floor')) == 0)\n"
           "  local kind, radius = world.shape(first)\n"
           "  assert(kind == 'sphere' and radius == 0.5)\n"
           "  assert(world.shape(world.find('floor')) == 'plane')\n"
           "  assert(world.motion(first) == 'dynamic' and world.motion(world.find('floor')) == "
           "'static')\n"
           "  assert(world.asleep(first) == false and world.tag(first) == 0)\n"
           "  assert(select(3, world.gravity()) == -10)\n"
           "  local body, distance, px, py, pz, nx, ny, nz = world.raycast(0, 0, 5, 0, 0, -1, 10)\n"
           "  assert(body == first and math.abs(distance - 4) < 0.03 and nz == 1)\n"
           "  assert(world.raycast(0, 0, 5, 0, 0, -1, 10, first) == world.find('floor'))\n"
           "  assert(world.raycast(0, 0, 5, 0, 0, 1, 10) == nil)\n"
           "  assert(world.nearest(3, 0, 2, 5) == world.find('second'))\n"
           "  local found = world.overlap_sphere(3, 0, 0.6, 1)\n"
           "  assert(#found == 2 and found[2] == world.find('second'))\n"
           "  assert(world.prototype(first) == nil and world.var('score') == nil)\n"
           "  assert(world.position(123) == nil and world.tag(-1) == nil)\n"
           "  assert(world.joint(1) == nil and world.joint_broken(1) and world.joint_force(1) == "
           "nil)\n"
           "  assert(#world.players() == 0 and world.player_name(0) == nil and "
           "world.player_body(0) == nil)\n"
           "  assert(select('#', world.controls(0)) == 5)\n"
           "end\n",
           31);
}

static void commands_act_in_the_next_step(void **state)
{
    (void)state;
    passes("function on_init()\n"
           "  assert(command.spawn{prototype = 'shell', position = {0, 5, 3}, velocity = {1, 0, "
           "0}, ticket = 7})\n"
           "end\n"
           "function on_spawn(body, ticket)\n"
           "  state.body, state.ticket = body, ticket\n"
           "  assert(world.prototype(body) == 'shell' and world.tag(body) == 41)\n"
           "end\n"
           "function on_despawn(body) state.gone = body end\n"
           "function on_refused(sequence, reason) state.refused = sequence .. ': ' .. reason end\n"
           "function on_tick()\n"
           "  local t = world.tick()\n"
           "  if t == 1 then\n"
           "    assert(state.ticket == 7)\n"
           "    command.set_body{body = state.body, tag = 99, motion = 'kinematic'}\n"
           "    command.impulse{body = world.find('first'), linear = {0, 0, 5}}\n"
           "    command.gravity{acceleration = {0, 0, -20}}\n"
           "    set_var('score', 3) set_var('half', 0.5) set_var('phase', 'play')\n"
           "  elseif t == 2 then\n"
           "    assert(world.tag(state.body) == 99 and world.motion(state.body) == 'kinematic')\n"
           "    assert(select(3, world.velocity(world.find('first'))) > 4)\n"
           "    assert(select(3, world.gravity()) == -20)\n"
           "    assert(world.var('score') == 3 and math.type(world.var('score')) == 'integer')\n"
           "    assert(world.var('half') == 0.5 and world.var('phase') == 'play')\n"
           "    command.despawn{body = state.body}\n"
           "    command.joint{kind = 'distance', a = world.find('first'), b = "
           "world.find('second'), ticket = 5}\n"
           "    command.impulse{body = (1 << 32) | 63, linear = {0, 0, 1}}\n"
           "    set_var('score')\n"
           "  elseif t == 3 then\n"
           "    assert(state.gone == state.body and not world.alive(state.body))\n"
           "    assert(world.var('score') == nil)\n"
           "    assert(state.refused:find('the body is gone', 1, true), state.refused)\n"
           "    state.done = true\n"
           "  end\n"
           "end\n",
           4);
}

static void a_script_ends_the_session(void **state)
{
    (void)state;
    lua_game g;
    const char *next;
    game_start(&g,
               "function on_tick() if world.tick() == 2 then end_session('red wins', 'arena2') end "
               "if world.tick() == 5 then command['end']{reason = 'again'} end end");
    game_run(&g, 2);
    assert_null(foliot_world_get_end(g.world, &next));
    game_run(&g, 1);
    assert_string_equal(foliot_world_get_end(g.world, &next), "red wins");
    assert_string_equal(next, "arena2");
    game_end(&g);
}

static void joints_are_made_and_broken(void **state)
{
    (void)state;
    lua_game g;
    game_make_scene(&g);
    g.scene.joints_max = 4;
    assert_int_equal(foliot_world_create(&g.scene, &g.world), FOLIOT_STATUS_OK);
    assert_int_equal(
        game_load(&g,
                  "function on_joint(joint, ticket) state.joint, state.ticket = joint, ticket end\n"
                  "function on_break(joint) state.broken = joint end\n"
                  "function on_tick()\n"
                  "  local t = world.tick()\n"
                  "  if t == 1 then\n"
                  "    command.joint{kind = 'ball', a = world.find('first'), ticket = 5,\n"
                  "                  anchor_a = {0, 0, 0.1}}\n"
                  "  elseif t == 2 then\n"
                  "    assert(state.ticket == 5 and world.joint(1) == state.joint)\n"
                  "    assert(not world.joint_broken(state.joint))\n"
                  "    assert(world.joint_force(state.joint) >= 0)\n"
                  "    command.break_joint{joint = state.joint}\n"
                  "  elseif t == 3 then\n"
                  "    assert(state.broken == state.joint and world.joint_broken(state.joint))\n"
                  "  end\n"
                  "end\n"),
        FOLIOT_STATUS_OK);
    game_run(&g, 3);
    game_end(&g);
}

static void wrong_commands_say_what_is_wrong(void **state)
{
    (void)state;
    stops("command.spawn{prototype = 'ball', positon = {0, 0, 0}}",
          "game.lua:1: command.spawn has no field 'positon'");
    stops("command.spawn{prototype = 'cube', position = {0, 0, 0}}",
          "game.lua:1: command.spawn: the scene has no prototype 'cube'");
    stops("command.spawn{prototype = 'ball'}", "game.lua:1: command.spawn: position is missing");
    stops("command.spawn{prototype = 'ball', position = {0, 0}}",
          "game.lua:1: command.spawn: position is a list of 3 numbers");
    stops("command.spawn{prototype = 'ball', position = {0, 0, 'x'}}",
          "game.lua:1: command.spawn: position is a number, not a string");
    stops("command.spawn{prototype = 'ball', position = {0, 0, 1 / 0}}",
          "game.lua:1: command.spawn: position is not finite");
    stops("command.spawn{prototype = -1, position = {0, 0, 0}}",
          "game.lua:1: command.spawn: prototype is out of range");
    stops("command.despawn{body = 'first'}",
          "game.lua:1: command.despawn: body is an integer, not a string");
    stops("command.despawn{}", "game.lua:1: command.despawn: body is missing");
    stops("command.despawn(7)",
          "game.lua:1: bad argument #1 to 'despawn' (table expected, got number)");
    stops("command.set_body{body = 1, motion = 'flying'}",
          "game.lua:1: command.set_body: motion cannot be 'flying'");
    stops("command.var{key = 'k', text = string.rep('x', 256)}",
          "game.lua:1: command.var: text has 256 bytes; at most 255");
    stops("set_var(string.rep('k', 64), 1)",
          "game.lua:1: bad argument #1 to 'set_var' (a key has 1 to 63 bytes)");
    stops("set_var('k', 0 / 0)", "game.lua:1: command.var: a number is not finite or out of range");
    stops("message(7, 'x')", "game.lua:1: bad argument #1 to 'message' (no such player)");
    stops("kick(-1)", "game.lua:1: bad argument #1 to 'kick' (no such player)");
    stops("command.fly{}", "game.lua:1: attempt to call a nil value (field 'fly')");
}

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

static void the_order_of_a_table_is_that_of_its_keys(void **state)
{
    (void)state;
    passes("local function keys(t)\n"
           "  local out = {} for k in pairs(t) do out[#out + 1] = tostring(k) end\n"
           "  return table.concat(out, ' ')\n"
           "end\n"
           "function on_tick()\n"
           "  assert(keys{} == '' and keys{7, 8, 9} == '1 2 3')\n"
           "  assert(keys{b = 1, a = 2, [10] = 3, [2] = 4, [-1] = 5, ab = 6, [2.5] = 7, [true] = "
           "8, [false] = 9} ==\n"
           "         '-1 2 10 2.5 a ab b false true')\n"
           "  local t = {} for i = 20, 1, -1 do t['k' .. i] = i t[i] = i end\n"
           "  local u = {} for i = 1, 20 do u[i] = i u['k' .. i] = i end\n"
           "  assert(keys(t) == keys(u))\n"
           "  local n = 0 for k, v in pairs(t) do n = n + 1 t[k] = nil end\n"
           "  assert(n == 40 and next(t) == nil)\n"
           "  local s = {1, 2, 3, 4} for k in pairs(s) do s[k + 1] = nil end\n"
           "  local order, k = {}, nil\n"
           "  repeat k = next(u, k) order[#order + 1] = k until k == nil\n"
           "  assert(#order == 40 and order[1] == 1 and order[40] == 'k9')\n"
           "  assert(not pcall(pairs, {[{}] = 1}) and not pcall(next, {[print or type] = 1}))\n"
           "  assert(select(2, pcall(pairs, {[{}] = 1})) == 'pairs: a key that is a table has no "
           "order')\n"
           "end\n",
           1);
}

static void text_and_numbers_are_those_of_lua(void **state)
{
    (void)state;
    passes(
        "function on_tick()\n"
        "  assert(tostring({}) == 'table' and tostring(pairs) == 'function')\n"
        "  assert(string.format('%s %s', {}, print or pairs) == 'table function')\n"
        "  assert(string.format('%5.2f|%-4d|%04x|%s|%%|%10.3s|%g', 3.14159, 7, 255, 'a', 'abcdef', "
        "1e20) ==\n"
        "         ' 3.14|7   |00ff|a|%|       abc|1e+20')\n"
        "  assert(tostring(1e15) == '1e+15' and tostring(3) == '3' and tostring(3.0) == '3.0')\n"
        "  assert(tonumber('0x10') == 16 and tonumber(' 7 ') == 7 and tonumber('z', 36) == 35)\n"
        "  assert(tonumber('8', 8) == nil and tonumber('1e1') == 10.0 and tonumber('') == nil)\n"
        "  assert(('hello'):sub(2, -2) == 'ell' and ('x'):rep(3, ',') == 'x,x,x' and #('x'):rep(0) "
        "== 0)\n"
        "  assert(('hello'):sub(-100, 100) == 'hello' and ('hello'):sub(4, 2) == '')\n"
        "  assert(('aBc'):upper() == 'ABC' and ('aBc'):lower() == 'abc' and ('abc'):reverse() == "
        "'cba')\n"
        "  assert(('abc'):byte(2) == 98 and select('#', ('abc'):byte(1, -1)) == 3)\n"
        "  assert(string.char(97, 98) == 'ab')\n"
        "  assert(('key = value'):match('^(%w+)%s*=%s*(%w+)$') == 'key')\n"
        "  assert(('a.b.c'):find('.', 1, true) == 2 and ('a.b'):find('%.') == 2 and "
        "('abc'):find('d') == nil)\n"
        "  assert(select(2, ('hello world'):find('o w')) == 7 and ('abc'):find('', 4) == 4)\n"
        "  assert(('[[x]]'):match('%b[]') == '[[x]]' and ('THE (q)'):find('%f[%a]%a+%f[%A]') == "
        "1)\n"
        "  assert(('abc'):gsub('%w', '%0%0') == 'aabbcc' and ('abc'):gsub('', '-') == '-a-b-c-')\n"
        "  assert(('$a $b'):gsub('%$(%w)', {a = 1}) == '1 $b')\n"
        "  assert(('abc'):gsub('b', function(s) return s:upper() end) == 'aBc')\n"
        "  assert(('x y'):gsub('(%w) (%w)', '%2 %1') == 'y x' and select(2, ('aaa'):gsub('a', 'b', "
        "2)) == 2)\n"
        "  local words = {} for w in ('one two  three'):gmatch('%a+') do words[#words + 1] = w "
        "end\n"
        "  assert(#words == 3 and words[3] == 'three')\n"
        "  local places = {} for p in ('abc'):gmatch('()') do places[#places + 1] = p end\n"
        "  assert(#places == 4 and places[4] == 4)\n"
        "  assert(('a-b'):match('[%w-]+') == 'a-b' and ('x]'):match('[]]') == ']' and "
        "('b'):match('[^a]') == 'b')\n"
        "  assert(('aXb'):match('[A-Z]') == 'X' and ('aa'):match('(a)%1') == 'a')\n"
        "  assert(utf8.char(228, 8364) == 'ä€' and utf8.len('ä€') == 2 and utf8.codepoint('€') == "
        "8364)\n"
        "  assert(select(2, utf8.len('a\\xff')) == 2)\n"
        "  assert(not pcall(function() return '1' + 1 end))\n"
        "  assert(not pcall(string.rep, 'x', 70000) and not pcall(table.unpack, {}, 1, 300))\n"
        "end\n",
        1);
}

static void tables_and_math_are_those_of_lua(void **state)
{
    (void)state;
    passes(
        "function on_tick()\n"
        "  local t = {3, 1, 2} table.sort(t) assert(table.concat(t, ',') == '1,2,3')\n"
        "  table.sort(t, function(a, b) return a > b end) assert(table.concat(t, ',') == '3,2,1')\n"
        "  local p = {} for i = 1, 50 do p[i] = {key = i % 3, at = i} end\n"
        "  table.sort(p, function(a, b) return a.key < b.key end)\n"
        "  for i = 2, 50 do assert(p[i - 1].key < p[i].key or p[i - 1].at < p[i].at) end\n"
        "  table.insert(t, 4) table.insert(t, 1, 0) assert(table.concat(t, ',') == '0,3,2,1,4')\n"
        "  assert(table.remove(t) == 4 and table.remove(t, 1) == 0 and #t == 3)\n"
        "  assert(table.remove({}) == nil and table.concat({}, ',') == '')\n"
        "  assert(table.concat(table.move({1, 2, 3}, 1, 3, 2), ',') == '1,1,2,3')\n"
        "  assert(table.concat(table.move({1, 2, 3}, 2, 3, 1), ',') == '2,3,3')\n"
        "  assert(table.pack(1, nil, 3).n == 3 and select('#', table.unpack({1, nil, 3}, 1, 3)) == "
        "3)\n"
        "  assert(math.floor(-1.5) == -2 and math.ceil(-1.5) == -1 and math.floor(7) == 7)\n"
        "  assert(math.type(math.floor(2.0)) == 'integer' and math.abs(-3) == 3 and math.abs(-0.5) "
        "== 0.5)\n"
        "  assert(math.max(1, 5.5, 2) == 5.5 and math.min(3, 1) == 1 and math.clamp(7, 0, 5) == "
        "5)\n"
        "  assert(math.sqrt(2) == 1.4142135623730951 and math.pow(2, 10) == 1024 and math.pow(2, "
        "-1) == 0.5)\n"
        "  assert(math.abs(math.pow(2, 0.5) - math.sqrt(2)) < 1e-14 and math.pow(0, 0) == 1)\n"
        "  assert(math.sin(0) == 0 and math.cos(0) == 1 and math.tan(0) == 0 and math.atan(1) == "
        "math.pi / 4)\n"
        "  assert(math.atan(1, -1) == 3 * math.pi / 4 and math.exp(0) == 1 and math.log(8, 2) == "
        "3)\n"
        "  assert(math.abs(math.asin(1) - math.pi / 2) < 1e-15 and math.acos(1) == 0)\n"
        "  assert(math.modf(-2.5) == -2 and select(2, math.modf(-2.5)) == -0.5 and math.fmod(-5, "
        "3) == -2)\n"
        "  assert(math.tointeger(3.0) == 3 and math.tointeger(3.5) == nil and math.ult(1, -1))\n"
        "  assert(math.huge > math.maxinteger and math.mininteger < 0)\n"
        "  for i = 1, 100 do local r = math.random(3) assert(1 <= r and r <= 3) end\n"
        "  for i = 1, 100 do local r = math.random() assert(0 <= r and r < 1) end\n"
        "  assert(math.random(5, 5) == 5 and not pcall(math.random, 2, 1))\n"
        "  math.random(math.mininteger, math.maxinteger)\n"
        "  local V = {} V.__index = V V.__add = function(a, b) return setmetatable({x = a.x + "
        "b.x}, V) end\n"
        "  local v = setmetatable({x = 1}, V) + setmetatable({x = 2}, V)\n"
        "  assert(v.x == 3 and getmetatable(v) == V)\n"
        "  V.__add = nil assert((v + v).x == 6) -- a copy was made\n"
        "  assert(getmetatable(setmetatable({}, {__metatable = 'mine'})) == 'mine')\n"
        "end\n",
        1);
}

// -- saving

static uint8_t *save(foliot_rules *rules, size_t *length)
{
    if (foliot_rules_save(rules, NULL, 0, length) != FOLIOT_STATUS_OK)
        fail_msg("%s", foliot_rules_get_problem(rules));
    uint8_t *bytes = malloc(*length);
    assert_int_equal(foliot_rules_save(rules, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

static void equal_states_give_equal_bytes(void **state)
{
    (void)state;
    static const char *const scripts[] = {
        "state = {1, 2, 3, name = 'x', deep = {a = {b = {-5, 2.5, true}}}, [100] = false}\n",
        "local t = {} for i = 200, 1, -1 do t[i] = i t['k' .. i] = 0 end\n"
        "for i = 1, 200 do t[i] = nil t['k' .. i] = nil end\n"
        "t[100] = false t.deep = {a = {}} t.deep.a.b = {[3] = true} t.deep.a.b[2] = 2.5 "
        "t.deep.a.b[1] = -5\n"
        "t.name = 'x' t[3] = 3 t[2] = 2 t[1] = 1 state = t\n"};
    uint8_t *bytes[2];
    size_t length[2];
    for (int i = 0; i < 2; i++) {
        lua_game g;
        game_start(&g, scripts[i]);
        bytes[i] = save(g.rules, &length[i]);
        game_end(&g);
    }
    check_eq(length[0], length[1]);
    assert_memory_equal(bytes[0], bytes[1], length[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static const char counting[] =
    "state = {rounds = 0, scores = {}, [5] = 0.25, list = {}}\n"
    "local lost = 0\n"
    "function on_init() state.first = math.random(1000000) end\n"
    "function on_tick()\n"
    "  state.rounds = state.rounds + 1\n"
    "  state.list[#state.list + 1] = math.random(100)\n"
    "  if #state.list > 20 then table.remove(state.list, 1) end\n"
    "  for _, p in ipairs(world.players()) do\n"
    "    local name = world.player_name(p)\n"
    "    state.scores[name] = (state.scores[name] or 0) + math.random()\n"
    "  end\n"
    "  set_var('rounds', state.rounds)\n"
    "  if state.rounds % 7 == 0 then\n"
    "    command.spawn{prototype = 'ball', position = {math.random(-5, 5), 9, 2}} end\n"
    "end\n";

// Two runs of the same script, one of which is restored from its own bytes at every tick.
static void a_restored_script_goes_on(void **state)
{
    (void)state;
    lua_game a, b;
    size_t length_a, length_b;
    game_start(&a, counting);
    game_start(&b, counting);
    foliot_order join = game_order(FOLIOT_ORDER_JOINED, 1, "Eve");
    for (int i = 0; i < 60; i++) {
        uint8_t *bytes = save(b.rules, &length_b);
        foliot_rules_destroy(b.rules);
        assert_int_equal(game_load(&b, counting), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_rules_restore(b.rules, bytes, length_b), FOLIOT_STATUS_OK);
        free(bytes);
        assert_int_equal(game_tick(&a, NULL, 0, &join, i == 10), FOLIOT_STATUS_OK);
        assert_int_equal(game_tick(&b, NULL, 0, &join, i == 10), FOLIOT_STATUS_OK);
        bytes = save(a.rules, &length_a);
        uint8_t *other = save(b.rules, &length_b);
        check_eq(length_a, length_b);
        assert_memory_equal(bytes, other, length_a);
        free(bytes);
        free(other);
    }
    foliot_digest da = foliot_world_get_digest(a.world), db = foliot_world_get_digest(b.world);
    assert_true(foliot_digest_equal(da, db));
    game_end(&a);
    game_end(&b);
}

// What a script keeps beside `state` does not come along: a restored instance shows it.
static void what_is_not_saved_is_lost(void **state)
{
    (void)state;
    static const char script[] = "local n = 0\n"
                                 "function on_tick() n = n + 1 set_var('n', n) end\n";
    lua_game g;
    size_t length;
    game_start(&g, script);
    game_run(&g, 3);
    uint8_t *bytes = save(g.rules, &length);
    assert_int_equal(foliot_rules_restore(g.rules, bytes, length), FOLIOT_STATUS_OK);
    game_run(&g, 1);
    check_eq(foliot_rules_get_commands(g.rules)->commands[0].as.var.integer, 1);
    free(bytes);
    game_end(&g);
}

// on_init with this body leaves what cannot be saved.
static void unsaved(const char *body, const char *problem)
{
    lua_game g;
    char script[1024], said[512];
    snprintf(script, sizeof script, "%s", body);
    game_make_scene(&g);
    foliot_lua_limits limits = game_limits();
    assert_int_equal(foliot_rules_check_lua(script, strlen(script), "game.lua", &limits, &g.scene,
                                            said, sizeof said),
                     FOLIOT_STATUS_INVALID);
    assert_string_equal(said, problem);
    game_end(&g);
}

static void what_cannot_be_saved_is_named(void **state)
{
    (void)state;
    unsaved("state.players = {{}, {}, {target = pairs}}",
            "game.lua: state.players[3].target: a function cannot be saved");
    unsaved("state.x = 0 / 0", "game.lua: state.x: a NaN cannot be saved");
    unsaved("state.a = {} state.a.b = state.a",
            "game.lua: state.a.b: the table stands in `state` twice; a copy can be saved");
    unsaved("local t = {} state.a = t state.b = t",
            "game.lua: state.b: the table stands in `state` twice; a copy can be saved");
    unsaved("state.v = setmetatable({}, {})",
            "game.lua: state.v: a table with a metatable cannot be saved");
    unsaved("state[true] = 1", "game.lua: state: a key is a string or an integer");
    unsaved("state[1.5] = 1", "game.lua: state: a key is a string or an integer");
    unsaved("state[{}] = 1", "game.lua: state: a key is a string or an integer");
    unsaved("state = 5", "game.lua: state: it is a number, not a table");
    unsaved("local t = state for i = 1, 16 do t.x = {} t = t.x end",
            "game.lua: state.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x.x: the tables are nested too deeply (at "
            "most 16), or contain themselves");
    unsaved("for i = 1, 5 do state[i] = string.rep('x', 60000) end",
            "game.lua: state: it takes more than 262144 bytes");
    unsaved("scores = {} function on_init() scores[1] = 5 end",
            "game.lua: the table 'scores' was changed after the script was loaded: only `state` "
            "keeps data between ticks");
    unsaved("config = {teams = {red = {}}} function on_init() config.teams.red.size = 5 end",
            "game.lua: the table 'config.teams.red' was changed after the script was loaded: only "
            "`state` keeps data between ticks");
    unsaved("function on_init() math.x = 1 end",
            "game.lua: the table 'math' was changed after the script was loaded: only `state` "
            "keeps data between ticks");
    lua_game g;
    size_t length;
    game_start(&g, "config = {1, 2, {3}} local t = state for i = 1, 15 do t.x = {} t = t.x end\n"
                   "function on_tick() state = {fresh = true} end");
    game_run(&g, 2);
    free(save(g.rules, &length));
    game_end(&g);
}

static void hostile_bytes_are_refused(void **state)
{
    (void)state;
    lua_game g;
    size_t length, after;
    game_start(&g, "state = {1, 2.5, 'text', {a = -1, b = {true, false}}, [-7] = 'x', z = 1}\n");
    foliot_order join = game_order(FOLIOT_ORDER_JOINED, 1, "Eve");
    assert_int_equal(game_tick(&g, NULL, 0, &join, 1), FOLIOT_STATUS_OK);
    uint8_t *bytes = save(g.rules, &length);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_not_equal(foliot_rules_restore(g.rules, bytes, cut), FOLIOT_STATUS_OK);
    uint8_t *same = save(g.rules, &after);
    check_eq(length, after);
    assert_memory_equal(bytes, same, length);
    free(same);
    for (size_t bit = 0; bit < length * 8; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        if (foliot_rules_restore(g.rules, bytes, length) == FOLIOT_STATUS_OK) {
            same = save(g.rules, &after); // what was taken is in order
            free(same);
        }
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    assert_int_equal(foliot_rules_restore(g.rules, bytes, length), FOLIOT_STATUS_OK);
    free(bytes);
    game_end(&g);
}

// Keys in another order, or twice, are not what a script saved.
static void maps_out_of_order_are_refused(void **state)
{
    (void)state;
    lua_game g;
    size_t length;
    game_start(&g, "state = {aa = 1, ab = 2}\n");
    uint8_t *bytes = save(g.rules, &length);
    uint8_t *key = memmem(bytes, length,
                          "\xa2"
                          "ab",
                          3);
    assert_non_null(key);
    assert_int_equal(foliot_rules_restore(g.rules, bytes, length), FOLIOT_STATUS_OK);
    key[2] = 'a'; // aa twice
    assert_int_equal(foliot_rules_restore(g.rules, bytes, length), FOLIOT_STATUS_CORRUPT);
    key[1] = 'A'; // Aa behind aa
    assert_int_equal(foliot_rules_restore(g.rules, bytes, length), FOLIOT_STATUS_CORRUPT);
    free(bytes);
    game_end(&g);
}

static void memory_has_its_bounds(void **state)
{
    (void)state;
    refused("local t = {} while true do t[#t + 1] = string.rep('x', 60000) .. #t end",
            "game.lua:1: the script uses more memory than it has");
    stops("while true do local s = {{}, {}, {}, {}, {}, {}, {}, {}} end",
          "game.lua:1: the script allocates more memory than a tick has");
}

static void a_stopped_script_starts_again_from_saved_bytes(void **state)
{
    (void)state;
    lua_game g;
    size_t length;
    game_start(&g, "state.n = 0 function on_tick() state.n = state.n + 1\n"
                   "while state.n == 3 do end set_var('n', state.n) end");
    game_run(&g, 2);
    uint8_t *bytes = save(g.rules, &length);
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_INVALID);
    assert_string_equal(foliot_rules_get_problem(g.rules),
                        "game.lua:2: the script uses more instructions than a tick has");
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_OK);
    check_eq(foliot_rules_get_commands(g.rules)->count, 0);
    assert_int_equal(foliot_rules_restore(g.rules, bytes, length), FOLIOT_STATUS_OK);
    assert_string_equal(foliot_rules_get_problem(g.rules), "");
    check_eq(foliot_rules_get_commands(g.rules)->commands[0].as.var.integer, 2);
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_INVALID);
    size_t script_length;
    assert_non_null(foliot_rules_get_script(g.rules, &script_length));
    assert_string_equal(foliot_rules_get_name(g.rules), "game.lua");
    free(bytes);
    game_end(&g);
}

#endif

#ifdef FOLIOT_NO_LUA
static void a_build_without_lua_says_so(void **state)
{
    (void)state;
    lua_game g;
    game_make_scene(&g);
    assert_int_equal(game_load(&g, ""), FOLIOT_STATUS_UNSUPPORTED);
    assert_string_equal(g.problem, "game.lua: this build has no Lua");
    game_end(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_build_without_lua_says_so)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(the_world_is_seen),
        cmocka_unit_test(commands_act_in_the_next_step),
        cmocka_unit_test(a_script_ends_the_session),
        cmocka_unit_test(joints_are_made_and_broken),
        cmocka_unit_test(wrong_commands_say_what_is_wrong),
        cmocka_unit_test(players_are_heard_in_order),
        cmocka_unit_test(chat_passes_where_no_handler_is),
        cmocka_unit_test(contacts_and_hits_are_told),
        cmocka_unit_test(an_ended_contact_names_the_body_that_is_gone),
        cmocka_unit_test(sensors_are_told),
        cmocka_unit_test(the_order_of_a_table_is_that_of_its_keys),
        cmocka_unit_test(text_and_numbers_are_those_of_lua),
        cmocka_unit_test(tables_and_math_are_those_of_lua),
        cmocka_unit_test(equal_states_give_equal_bytes),
        cmocka_unit_test(a_restored_script_goes_on),
        cmocka_unit_test(what_is_not_saved_is_lost),
        cmocka_unit_test(what_cannot_be_saved_is_named),
        cmocka_unit_test(hostile_bytes_are_refused),
        cmocka_unit_test(maps_out_of_order_are_refused),
        cmocka_unit_test(memory_has_its_bounds),
        cmocka_unit_test(a_stopped_script_starts_again_from_saved_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
