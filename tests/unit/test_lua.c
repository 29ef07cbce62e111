// SPDX-License-Identifier: MIT
// test_lua.c: goal: what a script sees of the world and does to it is what docs/reference/rules.md
// says, and what is wrong with it has a sentence with its place. Method: scripts that assert, with
// a small world (lua_game.h).
#include "lua_game.h"

TEST(errors_name_line_and_column)
{
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

TEST(the_world_is_seen)
{
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

TEST(commands_act_in_the_next_step)
{
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

TEST(a_script_ends_the_session)
{
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

TEST(joints_are_made_and_broken)
{
    lua_game g;
    game_make_scene(&g);
    g.scene.joints_max = 4;
    assert_int_equal(foliot_world_create(&g.scene, &g.world, NULL), FOLIOT_STATUS_OK);
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

TEST(wrong_commands_say_what_is_wrong)
{
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

TEST(memory_has_its_bounds)
{
    refused("local t = {} while true do t[#t + 1] = string.rep('x', 60000) .. #t end",
            "game.lua:1: the script uses more memory than it has");
    stops("local s = 'x' while true do s = s .. s end",
          "game.lua:1: a string has more than 65536 bytes");
    lua_game g;
    const char *why;
    game_start(&g, "function on_tick() while true do local s = {{}, {}, {}, {}, {}, {}} end end");
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_OK);
    check_eq(dropped_of(g.rules, &why), 1);
    assert_string_equal(why, "game.lua:1: the script allocates more memory than a tick has");
    game_end(&g);
}
