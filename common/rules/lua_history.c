// SPDX-License-Identifier: MIT
// lua_history.c: the library `history`: the world as a player was shown it when it last pressed
// something or gave an order. Every function takes the player first, and is then like the one of
// `world` that has its name.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include "foliot/history.h"

// The player at 1; an error where the scene keeps no past.
static double aimed_tick(lua_State *L)
{
    const foliot__lua *lua = foliot__lua_of(L);
    uint32_t player = foliot__lua_check_player(L, 1);
    if (!lua->view)
        luaL_error(L, "there is no world before the first tick");
    if (!lua->view->history)
        luaL_error(L, "the scene keeps no history: `script: {lua: ..., history: 60}`");
    return foliot_rules_get_aimed_tick(lua->rules, player);
}

// A tick that is shown anew costs as much as a query.
static const foliot_world *past_of(lua_State *L)
{
    double tick = aimed_tick(L);
    const foliot__lua *lua = foliot__lua_of(L);
    foliot__lua_charge(foliot__lua_of(L), foliot_world_get_body_count(lua->view->world));
    return foliot_history_view(lua->view->history, tick); // this tick is in it
}

static bool find_slot(lua_State *L, const foliot_world **past, uint32_t *slot)
{
    *past = past_of(L);
    *slot = foliot_world_find_body(*past, foliot__lua_check_body(L, 2));
    return *slot != FOLIOT_NO_BODY;
}

static int history_tick(lua_State *L)
{
    lua_pushnumber(L, aimed_tick(L));
    return 1;
}

static int history_alive(lua_State *L)
{
    const foliot_world *past;
    uint32_t slot;
    lua_pushboolean(L, find_slot(L, &past, &slot));
    return 1;
}

static int history_position(lua_State *L)
{
    const foliot_world *past;
    uint32_t slot;
    if (!find_slot(L, &past, &slot))
        return 0;
    foliot_body_state state = foliot_world_get_body_state(past, slot);
    for (int k = 0; k < 3; k++)
        lua_pushnumber(L, state.position[k]);
    return 3;
}

static int history_orientation(lua_State *L)
{
    const foliot_world *past;
    uint32_t slot;
    if (!find_slot(L, &past, &slot))
        return 0;
    foliot_body_state state = foliot_world_get_body_state(past, slot);
    for (int k = 0; k < 4; k++)
        lua_pushnumber(L, state.orientation[k]);
    return 4;
}

static int history_raycast(lua_State *L)
{
    return foliot__lua_raycast(L, past_of(L), 2);
}

static int history_nearest(lua_State *L)
{
    return foliot__lua_nearest(L, past_of(L), 2);
}

static int history_overlap_sphere(lua_State *L)
{
    return foliot__lua_overlap_sphere(L, past_of(L), 2);
}

void foliot__lua_push_history_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"alive", history_alive},
        {"nearest", history_nearest},
        {"orientation", history_orientation},
        {"overlap_sphere", history_overlap_sphere},
        {"position", history_position},
        {"raycast", history_raycast},
        {"tick", history_tick},
        {NULL, NULL},
    };
    luaL_newlib(L, functions);
}
#endif
