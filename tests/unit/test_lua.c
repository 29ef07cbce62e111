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

// -- lua libraries: goal: the libraries of a script are those of Lua but for what
// docs/reference/rules.md says. Method: small scripts that assert.

TEST(the_order_of_a_table_is_that_of_its_keys)
{
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

// Where Lua's memory lies differs from run to run, and so does what its own `next` gives first. The
// key is another one in each round; the text must not change.
TEST(errors_show_no_order_of_memory)
{
    passes("local function text(...) return select(2, pcall(...)) end\n"
           "function on_tick()\n"
           "  local pairs_text, next_text, command_text = {}, {}, {}\n"
           "  local keep = {}\n"
           "  for i = 1, 200 do\n"
           "    local t = {[function() return i end] = 1, [{}] = 2, [function() end] = 3}\n"
           "    keep[#keep + 1] = t keep[#keep + 1] = {i}\n"
           "    pairs_text[text(pairs, t)] = true\n"
           "    next_text[text(next, t)] = true\n"
           "    local c = {key = 'k', integer = 1, ['a' .. i % 3] = 1, b = 2, zz = 3, c = 4}\n"
           "    command_text[text(command.var, c):gsub('a%d', 'a')] = true\n"
           "  end\n"
           "  local function only(t, wanted)\n"
           "    local found = next(t)\n"
           "    assert(found == wanted and next(t, found) == nil, found)\n"
           "  end\n"
           "  only(pairs_text, 'pairs: a key that is a function has no order')\n"
           "  only(next_text, 'next: a key that is a function has no order')\n"
           "  only(command_text, \"command.var has no field 'a'\")\n"
           "end\n",
           3);
}

TEST(a_changed_table_has_one_name)
{
    for (int i = 0; i < 20; i++) {
        lua_game g;
        size_t length;
        game_start(&g, "local f, t = function() end, {}\n"
                       "zeta, alpha, mid = {1}, {1}, {x = {1}}\n"
                       "hidden = {[f] = {{1}}, [t] = {{2}}}\n"
                       "function on_tick() for _, t in ipairs{zeta, mid.x, alpha, hidden[f][1],\n"
                       "  hidden[t][1]} do t[1] = t[1] + 1 end end\n");
        game_run(&g, 1);
        assert_int_equal(foliot_rules_save(g.rules, NULL, 0, &length), FOLIOT_STATUS_INVALID);
        assert_string_equal(foliot_rules_get_problem(g.rules),
                            "game.lua: the table 'alpha' was changed after the script was loaded: "
                            "only `state` keeps data between ticks");
        game_end(&g);
    }
}

// A processor gives the NaN of 0 / 0 a sign or none.
TEST(what_is_no_number_is_nan_without_a_sign)
{
    passes("function on_tick()\n"
           "  local a = 0 / 0 local b = -a\n"
           "  for _, x in ipairs{a, b, math.huge - math.huge, math.sqrt(-1), math.fmod(1, 0)} do\n"
           "    assert(tostring(x) == 'nan' and string.format('%s %f %g %5.1f', x, x, x, x) ==\n"
           "           'nan nan nan   nan' and string.format('%F', x) == 'NAN')\n"
           "    assert(table.concat({x, 1, x}, '-') == 'nan-1-nan' and string.rep(x, 2) == "
           "'nannan')\n"
           "    assert(string.len(x) == 3 and ('a'):gsub('a', x) == 'nan' and string.upper(x) == "
           "'NAN')\n"
           "    assert(('a'):gsub('a', function() return x end) == 'nan')\n"
           "    message(nil, x)\n"
           "    assert(not pcall(set_var, 'x', x))\n"
           "    assert(math.type(x) == 'float' and x ~= x and not (x < 1) and not (x > 1))\n"
           "    assert(math.tointeger(x) == nil and tostring(math.floor(x)) == 'nan')\n"
           "    assert(not pcall(function() local t = {} t[x] = 1 end))\n"
           "  end\n"
           "end\n",
           1);
}

TEST(text_and_numbers_are_those_of_lua)
{
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

TEST(tables_and_math_are_those_of_lua)
{
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
        "  local set, clear = 0, -1\n"
        "  for i = 1, 200 do local r = math.random(0) set = set | r clear = clear & r end\n"
        "  assert(set == -1 and clear == 0) -- each of 64 bits was 1 and was 0\n"
        "  assert(not pcall(math.random, -1) and not pcall(math.random, 1, 2, 3))\n"
        "  local V = {} V.__index = V V.__add = function(a, b) return setmetatable({x = a.x + "
        "b.x}, V) end\n"
        "  local v = setmetatable({x = 1}, V) + setmetatable({x = 2}, V)\n"
        "  assert(v.x == 3 and getmetatable(v) == V)\n"
        "  V.__add = nil assert((v + v).x == 6) -- a copy was made\n"
        "  assert(getmetatable(setmetatable({}, {__metatable = 'mine'})) == 'mine')\n"
        "end\n",
        1);
}
