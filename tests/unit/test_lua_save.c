// SPDX-License-Identifier: MIT
// test_lua_save.c: goal: a script is saved as bytes that alone decide its future; what cannot be
// saved is named, and hostile bytes are refused. Method: states are saved, changed and restored.

#include "lua_game.h"

static uint8_t *save(foliot_rules *rules, size_t *length)
{
    if (foliot_rules_save(rules, NULL, 0, length) != FOLIOT_STATUS_OK)
        fail_msg("%s", foliot_rules_get_problem(rules));
    uint8_t *bytes = malloc(*length);
    assert_int_equal(foliot_rules_save(rules, bytes, *length, length), FOLIOT_STATUS_OK);
    return bytes;
}

TEST(equal_states_give_equal_bytes)
{
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
TEST(a_restored_script_goes_on)
{
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

// Data that a script keeps outside of `state` is not saved: a restored instance shows it.
TEST(what_is_not_saved_is_lost)
{
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

TEST(what_cannot_be_saved_is_named)
{
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

TEST(hostile_bytes_are_refused)
{
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
TEST(maps_out_of_order_are_refused)
{
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

TEST(a_stopped_script_starts_again_from_saved_bytes)
{
    lua_game g;
    size_t length;
    game_start(&g, "state.n = 0 function on_tick() state.n = state.n + 1\n"
                   "if state.n == 3 then error('three') end set_var('n', state.n) end");
    game_run(&g, 2);
    uint8_t *bytes = save(g.rules, &length);
    assert_int_equal(game_tick(&g, NULL, 0, NULL, 0), FOLIOT_STATUS_INVALID);
    assert_string_equal(foliot_rules_get_problem(g.rules), "game.lua:2: three");
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

// -- lua past: goal: a script sees the world as it was shown to a player that aimed, and that
// past is part of the saved state. Method: a ball falls, so that where it was says when.

// As game_start, with a scene whose rules look back.
static void start_looking_back(lua_game *g, const char *script)
{
    game_make_scene(g);
    g->scene.script.history_ticks = 20;
    assert_int_equal(foliot_world_create(&g->scene, &g->world, NULL), FOLIOT_STATUS_OK);
    if (game_load(g, script) != FOLIOT_STATUS_OK)
        fail_msg("%s", g->problem);
}

static foliot_order aimed(uint32_t player, uint32_t parts)
{
    foliot_order order = {.player = player, .kind = FOLIOT_ORDER_AIMED, .length = 2};
    order.bytes[0] = (uint8_t)parts;
    order.bytes[1] = (uint8_t)(parts >> 8);
    return order;
}

// A ball falls from 20 m, so that where it was says when that was.
#define FALLING                                                                                    \
    "function on_tick()\n"                                                                         \
    "  local first = world.find('first')\n"                                                        \
    "  if world.tick() == 1 then\n"                                                                \
    "    command.set_motion {body = first, position = {0, 0, 20}, velocity = {0, 0, 0}}\n"         \
    "    state.z = {}\n"                                                                           \
    "    return\n"                                                                                 \
    "  end\n"                                                                                      \
    "  local _, _, z = world.position(first)\n"                                                    \
    "  state.z[world.tick()] = z\n"                                                                \
    "  look(first)\n"                                                                              \
    "end\n"

// Ticks of every kind: whole, between two, of the present, beyond what is kept.
TEST(the_past_is_where_it_was_aimed_at)
{
    lua_game g;
    start_looking_back(&g, FALLING
                       "function look(first)\n"
                       "  local at = history.tick(1)\n"
                       "  local below, above = math.floor(at), math.ceil(at)\n"
                       "  assert(at >= world.tick() - 19 and at <= world.tick())\n"
                       "  if below < 2 then return end\n"
                       "  local _, _, z = history.position(1, first)\n"
                       "  assert(z < state.z[below] + 0.001 and z > state.z[above] - 0.001, z)\n"
                       "  local hit, distance = history.raycast(1, 0, 0, 50, 0, 0, -1, 100)\n"
                       "  assert(hit == first and math.abs(50 - distance - z - 0.5) < 1e-6)\n"
                       "  assert(#history.overlap_sphere(1, 0, 0, z, 0.01) == 1)\n"
                       "  assert(history.nearest(1, 0, 0, z + 1, 2) == first)\n"
                       "  assert(history.alive(1, first) and history.orientation(1, first) == 1)\n"
                       "  state.seen = (state.seen or 0) + 1\n"
                       "end\n");
    for (uint32_t t = 0; t < 60; t++) {
        foliot_order order = aimed(1, t * 977 % 9000);
        if (game_tick(&g, NULL, 0, &order, t % 3 == 0) != FOLIOT_STATUS_OK)
            fail_msg("%s", foliot_rules_get_problem(g.rules));
    }
    game_end(&g);
}

// Each order is judged where it was aimed; what was pressed, where that was.
TEST(orders_of_one_tick_have_pasts_of_their_own)
{
    lua_game g;
    start_looking_back(&g, "function on_init() state.said = {} end\n"
                           "function on_order(player, text)\n"
                           "  state.said[text] = history.tick(player)\n"
                           "end\n"
                           "function on_tick()\n"
                           "  if world.tick() == 30 then\n"
                           "    assert(state.said.a == 29 and state.said.b == 28.5)\n"
                           "    assert(history.tick(0) == 28.5 and history.tick(2) == 30)\n"
                           "  end\n"
                           "  if world.tick() == 31 then assert(history.tick(0) == 29.5) end\n"
                           "  if world.tick() == 32 then assert(history.tick(0) == 32) end\n"
                           "end\n");
    game_run(&g, 29);
    foliot_order orders[] = {aimed(0, 256), game_order(FOLIOT_ORDER_GAME, 0, "a"), aimed(0, 384),
                             game_order(FOLIOT_ORDER_GAME, 0, "b")};
    if (game_tick(&g, NULL, 0, orders, 4) != FOLIOT_STATUS_OK)
        fail_msg("%s", foliot_rules_get_problem(g.rules));
    game_run(&g, 1);
    foliot_order left = game_order(FOLIOT_ORDER_LEFT, 0, ""); // the next one starts again
    if (game_tick(&g, NULL, 0, &left, 1) != FOLIOT_STATUS_OK)
        fail_msg("%s", foliot_rules_get_problem(g.rules));
    game_end(&g);
}

// Restored at any tick, rules see the same past, and save the same bytes.
TEST(the_past_is_saved)
{
    static uint8_t bytes[2][1 << 18];
    static const char script[] = FALLING "function look(first)\n"
                                         "  local _, _, z = history.position(3, first)\n"
                                         "  state.sum = (state.sum or 0) + (z or 0)\n"
                                         "end\n";
    for (uint32_t at = 0; at < 40; at += 7) {
        lua_game g;
        foliot_rules *other = NULL;
        char problem[512];
        size_t length[2];
        foliot_lua_limits limits = game_limits();
        start_looking_back(&g, script);
        assert_int_equal(foliot_rules_create_lua(script, strlen(script), "game.lua", &limits,
                                                 &g.scene, &other, problem, sizeof problem),
                         FOLIOT_STATUS_OK);
        for (uint32_t t = 0; t < 60; t++) {
            foliot_order order = aimed(3, t * 331 % 4000);
            foliot_rules_view view = {.scene = &g.scene,
                                      .world = g.world,
                                      .tick = t + 1,
                                      .orders = &order,
                                      .order_count = t % 4 == 0};
            assert_int_equal(game_tick(&g, NULL, 0, &order, view.order_count), FOLIOT_STATUS_OK);
            if (t > at)
                assert_int_equal(foliot_rules_tick(other, &view), FOLIOT_STATUS_OK);
            assert_int_equal(foliot_rules_save(g.rules, bytes[0], sizeof bytes[0], &length[0]),
                             FOLIOT_STATUS_OK);
            if (t == at)
                assert_int_equal(foliot_rules_restore(other, bytes[0], length[0]),
                                 FOLIOT_STATUS_OK);
            assert_int_equal(foliot_rules_save(other, bytes[1], sizeof bytes[1], &length[1]),
                             FOLIOT_STATUS_OK);
            if (t >= at) {
                assert_int_equal(length[0], length[1]);
                assert_memory_equal(bytes[0], bytes[1], length[0]);
            }
        }
        for (size_t cut = 0; cut < length[0]; cut += 1 + cut / 32) // as it was
            assert_int_not_equal(foliot_rules_restore(other, bytes[0], cut), FOLIOT_STATUS_OK);
        foliot_rules_destroy(other);
        game_end(&g);
    }
}

TEST(without_a_past_there_is_none)
{
    stops("history.tick(0)",
          "game.lua:1: the scene keeps no history: `script: {lua: ..., history: 60}`");
    stops("history.raycast(99, 0, 0, 0, 1, 0, 0, 1)",
          "game.lua:1: bad argument #1 to 'raycast' (no such player)");
    refused("function on_init() history.tick(0) end",
            "game.lua:1: there is no world before the first tick");
    // Rules that do not look back save what they always did.
    lua_game g;
    uint8_t bytes[4096];
    size_t length;
    game_start(&g, "function on_tick() state.a = 1 end");
    game_run(&g, 3);
    assert_int_equal(foliot_rules_save(g.rules, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    assert_int_equal(bytes[0], 1);
    check_lt(length, 200);
    game_end(&g);
}
