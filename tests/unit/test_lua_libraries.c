// SPDX-License-Identifier: MIT
// test_lua_libraries.c: goal: the libraries of a script are those of Lua but for what
// docs/reference/rules.md says. Method: small scripts that assert.
#include "lua_game.h"

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
