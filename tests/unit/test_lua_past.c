// SPDX-License-Identifier: MIT
// test_lua_past.c: goal: a script sees the world as it was shown to a player that aimed, and that
// past is part of the saved state. Method: a ball falls, so that where it was says when.
#include "lua_game.h"

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
