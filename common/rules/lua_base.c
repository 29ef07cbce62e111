// SPDX-License-Identifier: MIT
// lua_base.c: the functions of Lua's base library that a script has, and metatables.
//
// setmetatable gives a table a copy of the metatable, made once for each metatable and checked: no
// __gc and no __mode, so that a collection is never seen; short chains of tables in __index; __call
// a function. Later changes of the script to its metatable have no effect. getmetatable gives the
// script's own table back.
//
// Facts about a table (its copy, whether it is part of a chain) are kept in its record, a metatable
// of this table alone. A list of tables would need weak keys, and a collection then takes time
// quadratic in their number, in one piece.
//
// pcall and xpcall are our own, because they must not catch an exceeded budget.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define INDEX_DEPTH_MAX 16 // tables in a chain of __index
#define CAUGHT_UNITS 50    // cost of an error, in instructions
// Keys of a copy and of a record, which no script sees.
#define COPY_DEPTH 1    // of the chain that the metatable starts
#define COPY_ORIGINAL 2 // the script's own metatable; nil: the table has none
#define RECORD_COPY 3   // the copy that was made of this table; any value: this is a record
#define RECORD_SEALED 4 // the table is part of a chain, and its metatable stays

static const char *const metamethods[] = {
    "__index", "__newindex", "__call", "__tostring", "__eq",  "__lt",  "__le",    "__len",
    "__unm",   "__concat",   "__add",  "__sub",      "__mul", "__div", "__idiv",  "__mod",
    "__band",  "__bor",      "__bxor", "__bnot",     "__shl", "__shr", "__close", "__metatable",
};
static const char *const refused[] = {"__gc", "__mode", "__pairs", "__name", "__pow"};

// -- metatables

// The depth of the chain that starts at the table at `index`.
static int chain_depth(lua_State *L, int index)
{
    int depth = 0;
    if (lua_getmetatable(L, index)) {
        lua_rawgeti(L, -1, COPY_DEPTH);
        depth = (int)lua_tointeger(L, -1);
        lua_pop(L, 2);
    }
    return depth;
}

// Pushes the record of the table at `index`, which is made of its metatable where there is none.
static void push_record(lua_State *L, int index)
{
    index = lua_absindex(L, index);
    bool had = lua_getmetatable(L, index) != 0;
    if (had && lua_rawgeti(L, -1, RECORD_COPY) != LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    lua_settop(L, lua_gettop(L) - (had ? 1 : 0));
    lua_createtable(L, 4, 0);
    if (had) {
        for (lua_pushnil(L); lua_next(L, -3);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -4);
        }
        lua_remove(L, -2);
    } else {
        lua_pushinteger(L, 0);
        lua_rawseti(L, -2, COPY_DEPTH);
    }
    lua_pushboolean(L, false);
    lua_rawseti(L, -2, RECORD_COPY);
    lua_pushvalue(L, -1);
    lua_setmetatable(L, index);
}

static bool is_sealed(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return false;
    bool sealed = lua_rawgeti(L, -1, RECORD_SEALED) != LUA_TNIL;
    lua_pop(L, 2);
    return sealed;
}

bool foliot__lua_has_metatable(lua_State *L, int index)
{
    if (!lua_getmetatable(L, index))
        return false;
    bool has = lua_rawgeti(L, -1, COPY_ORIGINAL) != LUA_TNIL;
    lua_pop(L, 2);
    return has;
}

// The metamethod on the top of the stack goes into the copy. A table in a chain gets no other
// metatable from now on.
static void check_chain(lua_State *L, const char *name, int copy)
{
    int depth = 1 + chain_depth(L, -1);
    if (depth > INDEX_DEPTH_MAX)
        luaL_error(L, "setmetatable: a chain of more than %d tables in %s", INDEX_DEPTH_MAX, name);
    lua_rawgeti(L, copy, COPY_DEPTH);
    if (depth > lua_tointeger(L, -1)) {
        lua_pushinteger(L, depth);
        lua_rawseti(L, copy, COPY_DEPTH);
    }
    lua_pop(L, 1);
    push_record(L, -1);
    lua_pushboolean(L, true);
    lua_rawseti(L, -2, RECORD_SEALED);
    lua_pop(L, 1);
}

static void copy_metamethod(lua_State *L, const char *name, int from, int copy)
{
    bool index = strcmp(name, "__index") == 0 || strcmp(name, "__newindex") == 0;
    lua_pushstring(L, name);
    int type = lua_rawget(L, from);
    if (type == LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    if (index && type == LUA_TTABLE)
        check_chain(L, name, copy);
    else if ((index || strcmp(name, "__call") == 0) && type != LUA_TFUNCTION)
        luaL_error(L, "setmetatable: %s is a %s", name, luaL_typename(L, -1));
    lua_setfield(L, copy, name);
}

// Pushes the copy of the metatable at `index`.
static void push_copy(lua_State *L, int index)
{
    if (lua_getmetatable(L, index)) {
        if (lua_rawgeti(L, -1, RECORD_COPY) == LUA_TTABLE) {
            lua_remove(L, -2);
            return;
        }
        lua_pop(L, 2);
    }
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        lua_pushstring(L, refused[i]);
        if (lua_rawget(L, index) != LUA_TNIL)
            luaL_error(L, "setmetatable: %s is not available", refused[i]);
        lua_pop(L, 1);
    }
    lua_createtable(L, 2, 4);
    int copy = lua_gettop(L);
    lua_pushinteger(L, 0);
    lua_rawseti(L, copy, COPY_DEPTH);
    for (size_t i = 0; i < sizeof metamethods / sizeof *metamethods; i++)
        copy_metamethod(L, metamethods[i], index, copy);
    lua_pushvalue(L, index);
    lua_rawseti(L, copy, COPY_ORIGINAL);
    push_record(L, index);
    lua_pushvalue(L, copy);
    lua_rawseti(L, -2, RECORD_COPY);
    lua_settop(L, copy);
}

// Whether __index or __newindex of the copy on the top of the stack is the table at `index`.
static bool leads_back(lua_State *L, int index)
{
    bool back = false;
    for (int i = 0; i < 2; i++) {
        lua_getfield(L, -1, i == 0 ? "__index" : "__newindex");
        back = back || lua_rawequal(L, -1, index);
        lua_pop(L, 1);
    }
    return back;
}

// Sets the copy, or nil, on the top of the stack for the table at 1; pops it. A table that has a
// record keeps what stands in it of the table itself.
static void replace_metatable(lua_State *L)
{
    bool kept = lua_getmetatable(L, 1) && lua_rawgeti(L, -1, RECORD_COPY) == LUA_TTABLE;
    int made = lua_gettop(L);
    lua_settop(L, kept ? made : 3);
    lua_pushvalue(L, 3);
    lua_setmetatable(L, 1);
    if (kept) {
        push_record(L, 1);
        lua_pushvalue(L, made);
        lua_rawseti(L, -2, RECORD_COPY);
    }
    lua_settop(L, 2);
}

static int set_metatable(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    int type = lua_type(L, 2);
    luaL_argexpected(L, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table");
    foliot__lua_charge(foliot__lua_of(L), 30); // the same, whether a copy exists or not
    lua_settop(L, 2);
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
        return luaL_error(L, "setmetatable: the metatable is protected");
    if (is_sealed(L, 1))
        return luaL_error(L, "setmetatable: the table is in use as an __index; give it its "
                             "metatable before that");
    if (type == LUA_TTABLE) {
        push_copy(L, 2);
        if (leads_back(L, 1))
            return luaL_error(L, "setmetatable: the table would be its own __index");
    } else {
        lua_pushnil(L);
    }
    replace_metatable(L);
    lua_settop(L, 1);
    return 1;
}

static int get_metatable(lua_State *L)
{
    luaL_checkany(L, 1);
    if (lua_type(L, 1) != LUA_TTABLE || !lua_getmetatable(L, 1)) {
        lua_pushnil(L);
        return 1;
    }
    if (luaL_getmetafield(L, 1, "__metatable") == LUA_TNIL)
        lua_rawgeti(L, -1, COPY_ORIGINAL);
    return 1;
}

// -- calls that catch errors

// The results of pcall and xpcall for a call that ended with `status`. The stack holds `below`
// values, true, and the results of the call.
static int end_protected(lua_State *L, int status, int below)
{
    if (status == LUA_OK)
        return lua_gettop(L) - below;
    if (foliot__lua_of(L)->stage == FOLIOT__LUA_DROPPING)
        return lua_error(L); // the budget, which nothing catches
    foliot__lua_charge(foliot__lua_of(L), CAUGHT_UNITS);
    lua_pushboolean(L, false);
    lua_pushvalue(L, -2);
    return 2;
}

static int protected_call(lua_State *L)
{
    luaL_checkany(L, 1);
    lua_pushboolean(L, true);
    lua_insert(L, 1);
    return end_protected(L, lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 0), 0);
}

// Upvalue 1: the script's handler, which an exceeded budget does not reach.
static int handle_error(lua_State *L)
{
    lua_settop(L, 1);
    if (foliot__lua_of(L)->stage == FOLIOT__LUA_DROPPING)
        return 1;
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

static int protected_call_with_handler(lua_State *L)
{
    luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_pushvalue(L, 2);
    lua_pushcclosure(L, handle_error, 1);
    lua_replace(L, 2);
    lua_pushboolean(L, true);
    lua_pushvalue(L, 1);
    lua_rotate(L, 3, 2); // function, handler, true, function, arguments
    return end_protected(L, lua_pcall(L, lua_gettop(L) - 4, LUA_MULTRET, 2), 2);
}

// -- text and numbers

// The sign of a NaN depends on the processor, and the C library prints it.
void foliot__lua_name_nan(lua_State *L, int index)
{
    if (lua_type(L, index) != LUA_TNUMBER || !isnan(lua_tonumber(L, index)))
        return;
    index = lua_absindex(L, index);
    lua_pushliteral(L, "nan");
    lua_replace(L, index);
}

const char *foliot__lua_check_text(lua_State *L, int index, size_t *length)
{
    foliot__lua_name_nan(L, index);
    return luaL_checklstring(L, index, length);
}

const char *foliot__lua_push_text(lua_State *L, int index, size_t *length)
{
    index = lua_absindex(L, index);
    if (luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
        lua_pushvalue(L, index);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TSTRING)
            luaL_error(L, "__tostring must return a string");
        return lua_tolstring(L, -1, length);
    }
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
    case LUA_TSTRING:
        lua_pushvalue(L, index);
        foliot__lua_name_nan(L, -1);
        break;
    case LUA_TBOOLEAN:
        lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
        break;
    default: // no address: it differs from run to run
        lua_pushstring(L, luaL_typename(L, index));
        break;
    }
    return lua_tolstring(L, -1, length);
}

static int to_string(lua_State *L)
{
    luaL_checkany(L, 1);
    foliot__lua_charge(foliot__lua_of(L), 20);
    foliot__lua_push_text(L, 1, NULL);
    return 1;
}

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

// An integer in the base, between blanks; wraps around as Lua's own.
static bool parse_base(const char *s, int base, lua_Integer *value)
{
    lua_Unsigned n = 0;
    s += strspn(s, " \f\n\r\t\v");
    bool negative = *s == '-';
    s += *s == '-' || *s == '+';
    if (digit_of(*s) >= base)
        return false;
    for (; digit_of(*s) < base; s++)
        n = n * (lua_Unsigned)base + (lua_Unsigned)digit_of(*s);
    s += strspn(s, " \f\n\r\t\v");
    *value = (lua_Integer)(negative ? 0u - n : n);
    return *s == 0;
}

static int to_number(lua_State *L)
{
    size_t length;
    lua_Integer value;
    luaL_checkany(L, 1);
    if (lua_type(L, 1) == LUA_TNUMBER && lua_isnoneornil(L, 2)) {
        lua_settop(L, 1);
        return 1;
    }
    if (lua_type(L, 1) != LUA_TSTRING) {
        luaL_argcheck(L, lua_isnoneornil(L, 2), 1, "string expected");
        lua_pushnil(L);
        return 1;
    }
    const char *s = lua_tolstring(L, 1, &length);
    foliot__lua_charge(foliot__lua_of(L), 20 + length / 8);
    if (lua_isnoneornil(L, 2)) {
        if (length > 200 || lua_stringtonumber(L, s) == 0)
            lua_pushnil(L);
        return 1;
    }
    lua_Integer base = luaL_checkinteger(L, 2);
    luaL_argcheck(L, 2 <= base && base <= 36, 2, "base out of range");
    if (parse_base(s, (int)base, &value))
        lua_pushinteger(L, value);
    else
        lua_pushnil(L);
    return 1;
}

void foliot__lua_check_length(lua_State *L, uint64_t bytes)
{
    if (bytes > FOLIOT__LUA_STRING_MAX)
        luaL_error(L, "the string would have %I bytes; at most %d", (LUAI_UACINT)bytes,
                   FOLIOT__LUA_STRING_MAX);
}

// -- the functions

// Lua's own, unchanged: each call does little work.
static const char *const taken_over[] = {"assert", "error",  "ipairs", "rawequal", "rawget",
                                         "rawlen", "rawset", "select", "type"};

void foliot__lua_set_base_functions(lua_State *L)
{
    static const luaL_Reg own[] = {{"getmetatable", get_metatable},
                                   {"next", foliot__lua_next},
                                   {"pairs", foliot__lua_pairs},
                                   {"pcall", protected_call},
                                   {"setmetatable", set_metatable},
                                   {"tonumber", to_number},
                                   {"tostring", to_string},
                                   {"xpcall", protected_call_with_handler},
                                   {NULL, NULL}};
    lua_pushcfunction(L, luaopen_base); // into a table of globals that no script is given
    lua_call(L, 0, 1);
    for (size_t i = 0; i < sizeof taken_over / sizeof *taken_over; i++) {
        lua_getfield(L, -1, taken_over[i]);
        lua_setfield(L, -3, taken_over[i]);
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, own, 0);
}
#endif
