// SPDX-License-Identifier: MIT
// fuzz_lua.c: any bytes as a script. It is refused with a sentence, or runs within its budgets with
// a small world; what it saves is restored, and saved again as the same bytes. One tick is run as a
// recorded one, in which the host dropped a callback somewhere.
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define LUA_FUZZ_STATE (FOLIOT_RULES_STATE_BYTES_MAX + FOLIOT_COMMAND_TICK_BYTES_MAX + 1024)

// A floor and a ball on it; made once.
static foliot_world *lua_fuzz_world(foliot_scene *scene)
{
    static foliot_body_definition bodies[2];
    static const double start[1][3] = {{0, 0, 5}};
    static foliot_world *world;
    bodies[0] = bodies[1] = foliot_body_definition_default();
    bodies[0].shape = (foliot_shape){.kind = FOLIOT_SHAPE_PLANE, .normal = {0, 0, 1}};
    bodies[0].is_static = true;
    bodies[1].name = "ball";
    bodies[1].shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    bodies[1].position[2] = 0.49;
    *scene = foliot_scene_default();
    scene->name = "fuzz";
    scene->dt = 0.02;
    scene->gravity[2] = -10;
    scene->bodies = bodies;
    scene->body_count = 2;
    scene->bodies_max = 8;
    scene->commands_max = 16;
    scene->prototypes = &bodies[1];
    scene->prototype_count = 1;
    scene->players.limit = 4;
    scene->players.positions = start;
    scene->players.position_count = 1;
    if (!world) {
        foliot_status status = foliot_world_create(scene, &world, NULL);
        for (int i = 0; i < 3 && status == FOLIOT_STATUS_OK; i++)
            status = foliot_world_step(world, NULL, 0, NULL);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    }
    return world;
}

static foliot_status lua_fuzz_create(const char *script, size_t length, const foliot_scene *scene,
                                     foliot_rules **rules)
{
    const foliot_lua_limits limits = {20000, 60000, 2u << 20, 0};
    char problem[256];
    foliot_status status = foliot_rules_create_lua(script, length, "fuzz.lua", &limits, scene,
                                                   rules, problem, sizeof problem);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_INVALID);
    if (status != FOLIOT_STATUS_OK) {
        FOLIOT_ASSERT(strncmp(problem, "fuzz.lua:", 9) == 0);
        for (const char *at = problem; *at; at++)
            FOLIOT_ASSERT((unsigned char)*at >= 0x20 && *at != 0x7f);
    }
    return status;
}

static void lua_fuzz_tick(foliot_rules *rules, const foliot_scene *scene, const foliot_world *world,
                          uint64_t tick, uint8_t check)
{
    foliot_order orders[4] = {
        {.kind = FOLIOT_ORDER_JOINED, .length = 1, .bytes = {'A'}},
        {.kind = FOLIOT_ORDER_GAME, .length = 4, .bytes = "a\0b"},
        {.kind = FOLIOT_ORDER_CHAT, .length = 2, .bytes = "hi"},
        {.player = FOLIOT_PLAYERS_MAX,
         .kind = FOLIOT_ORDER_DROPPED,
         .length = FOLIOT_ORDER_DROPPED_BYTES,
         .bytes = {check, [7] = check & 1 ? 0x80 : 0}}}; // alone, for an order
    const foliot_input join = {.player = 1, .kind = FOLIOT_INPUT_JOIN};
    const foliot_rules_view view = {.scene = scene,
                                    .world = world,
                                    .tick = tick,
                                    .inputs = &join,
                                    .input_count = 1,
                                    .orders = orders,
                                    .order_count = 4,
                                    .recorded = tick == 2};
    foliot_status status = foliot_rules_tick(rules, &view);
    const foliot_rules_drops *drops = foliot_rules_get_drops(rules);
    if (view.recorded && drops->order_count > 0)
        FOLIOT_ASSERT(memcmp(drops->orders[0].bytes, orders[3].bytes, 7) == 0);
    bool stopped = foliot_rules_get_problem(rules)[0] != 0;
    FOLIOT_ASSERT(stopped || status == FOLIOT_STATUS_OK);
    if (!stopped)
        return;
    foliot_rules_message_out message;
    FOLIOT_ASSERT(foliot_rules_get_commands(rules)->count == 0);
    FOLIOT_ASSERT(!foliot_rules_get_message(rules, 0, &message));
}

static size_t lua_fuzz_save(foliot_rules *rules, uint8_t *bytes)
{
    size_t length = 0;
    // Attempts may have too little memory, and the last one stops the rules; stopped ones are saved
    // as such.
    foliot_status status = FOLIOT_STATUS_AGAIN;
    for (int i = 0; i < 10 && status != FOLIOT_STATUS_OK; i++)
        status = foliot_rules_save(rules, bytes, LUA_FUZZ_STATE, &length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    return length;
}

static void lua_fuzz_compare(foliot_rules *rules, foliot_rules *other)
{
    static uint8_t bytes[2][LUA_FUZZ_STATE];
    size_t length = lua_fuzz_save(rules, bytes[0]);
    FOLIOT_ASSERT(foliot_rules_restore(other, bytes[0], length) == FOLIOT_STATUS_OK);
    size_t again = lua_fuzz_save(other, bytes[1]);
    FOLIOT_ASSERT(again == length && memcmp(bytes[0], bytes[1], length) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    foliot_scene scene;
    foliot_rules *rules, *other;
    foliot_world *world = lua_fuzz_world(&scene);
    if (lua_fuzz_create((const char *)data, size, &scene, &rules) != FOLIOT_STATUS_OK)
        return 0;
    for (uint64_t tick = 1; tick < 4; tick++)
        lua_fuzz_tick(rules, &scene, world, tick, size ? data[size / 2] : 0);
    if (lua_fuzz_create((const char *)data, size, &scene, &other) == FOLIOT_STATUS_OK) {
        lua_fuzz_compare(rules, other);
        foliot_rules_destroy(other);
    }
    foliot_rules_destroy(rules);
    return 0;
}
