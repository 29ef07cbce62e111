// SPDX-License-Identifier: MIT
// lua_load.c: compiles a script and runs its main part. What that defines is fixed from then on:
// `state` alone keeps data between ticks.
//
// The script's environment is an empty table; its metatable reads the table of globals, and lets
// writes through while the script is loaded.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "rules/lua_compile.h"
#include "rules/lua_scan.h"

static const char *const callback_names[] = {
#define NAME(name, arguments, text) #name,
    FOLIOT__LUA_CALLBACKS(NAME)
#undef NAME
};

typedef struct source {
    const char *script;
    size_t length;
} source;

// -- the environment

static int set_global(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    if (foliot__lua_of(L)->loaded && strcmp(name, "state") != 0)
        return luaL_error(L,
                          "the global '%s' is fixed once the script is loaded: keep it in "
                          "`state`, or make it local",
                          name);
    foliot__lua_push_globals(L);
    lua_insert(L, 2);
    lua_rawset(L, 2);
    return 0;
}

static void push_environment(lua_State *L)
{
    lua_newtable(L);
    lua_createtable(L, 0, 3);
    foliot__lua_push_globals(L);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, set_global);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
}

static void push_libraries(lua_State *L)
{
    static const struct {
        const char *name;
        void (*push)(lua_State *L);
    } libraries[] = {
        {"command", foliot__lua_push_command_library},
        {"history", foliot__lua_push_history_library},
        {"math", foliot__lua_push_math_library},
        {"string", foliot__lua_push_string_library},
        {"table", foliot__lua_push_table_library},
        {"utf8", foliot__lua_push_utf8_library},
        {"world", foliot__lua_push_world_library},
    };
    lua_newtable(L);
    foliot__lua_set_base_functions(L);
    foliot__lua_set_game_functions(L);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        libraries[i].push(L);
        lua_setfield(L, -2, libraries[i].name);
    }
    lua_newtable(L);
    lua_setfield(L, -2, "state");
    foliot__lua_set_globals(L);
}

// -- callbacks

static void keep_callback(lua_State *L, int i)
{
    foliot__lua *lua = foliot__lua_of(L);
    lua_Debug about;
    lua_getfield(L, -1, callback_names[i]);
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        return;
    }
    if (!lua_isfunction(L, -1))
        luaL_error(L, "%s is a %s, not a function", callback_names[i], luaL_typename(L, -1));
    lua_pushvalue(L, -1);
    lua_getinfo(L, ">u", &about);
    lua->parameters[i] = about.isvararg ? UINT8_MAX : about.nparams;
    lua->callbacks[i] = luaL_ref(L, LUA_REGISTRYINDEX);
}

// A function that is named like a callback and is none would never be called.
static void check_name(lua_State *L, const char *name)
{
    uint32_t best = UINT32_MAX;
    const char *near = NULL;
    for (int i = 0; i < FOLIOT__LUA_CALLBACK_COUNT; i++) {
        uint32_t distance = foliot__word_distance(name, callback_names[i]);
        if (distance == 0)
            return;
        if (distance < best) {
            best = distance;
            near = callback_names[i];
        }
    }
    if (foliot__word_close(name, best))
        luaL_error(L, "there is no callback '%s'; is it %s?", name, near);
    luaL_error(L, "there is no callback '%s'", name);
}

static void check_names(lua_State *L)
{
    int globals = lua_gettop(L);
    uint32_t count = foliot__lua_push_sorted_keys(L, globals, NULL);
    for (uint32_t i = 1; i <= count; i++) {
        lua_rawgeti(L, globals + 1, i);
        lua_pushvalue(L, -1);
        lua_rawget(L, globals);
        if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1) &&
            strncmp(lua_tostring(L, -2), "on_", 3) == 0)
            check_name(L, lua_tostring(L, -2));
        lua_pop(L, 2);
    }
    lua_settop(L, globals);
}

// -- loading

static int load_body(lua_State *L)
{
    const source *from = lua_touserdata(L, 1);
    foliot__lua *lua = foliot__lua_of(L);
    char chunk[FOLIOT_NAME_BYTES + 1];
    push_libraries(L);
    snprintf(chunk, sizeof chunk, "=%s", lua->name);
    foliot__lua_text text =
        foliot__lua_text_of(from->script, from->length, FOLIOT__LUA_COMPILE_NS_MAX);
    int status = foliot__lua_compile(L, &text, chunk);
    if (text.late)
        foliot__lua_abandon(lua, "the script takes more than 2 seconds to compile");
    if (status != LUA_OK)
        return lua_error(L);
    push_environment(L);
    lua_setupvalue(L, -2, 1);
    lua_call(L, 0, 0);
    foliot__lua_push_globals(L);
    check_names(L);
    for (int i = 0; i < FOLIOT__LUA_CALLBACK_COUNT; i++)
        keep_callback(L, i);
    foliot__lua_remember_globals(L);
    lua->loaded = true;
    return 0;
}

bool foliot__lua_load(foliot__lua *lua, const char *script, size_t length)
{
    source from = {script, length};
    if (length > FOLIOT_RULES_SCRIPT_BYTES_MAX) {
        snprintf(lua->problem, sizeof lua->problem, "%s: the script has %zu bytes; at most %u",
                 lua->name, length, (unsigned)FOLIOT_RULES_SCRIPT_BYTES_MAX);
        return false;
    }
    return foliot__lua_scan(script, length, lua->name, lua->problem, sizeof lua->problem) &&
           foliot__lua_run(lua, lua->limits.init_instructions, load_body, &from);
}
#endif
