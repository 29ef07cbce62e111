// SPDX-License-Identifier: MIT
// lua_table.c: the table library. It reads and writes tables as they are, without metamethods. sort
// is stable, so that its result depends on the comparison alone, and terminates for any comparison.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

static lua_Integer check_table(lua_State *L, int index)
{
    luaL_checktype(L, index, LUA_TTABLE);
    return (lua_Integer)lua_rawlen(L, index);
}

static void charge(lua_State *L, lua_Integer count)
{
    foliot__lua_charge(foliot__lua_of(L), count > 0 ? 2 + (uint64_t)count : 2);
}

static int table_insert(lua_State *L)
{
    lua_Integer end = check_table(L, 1) + 1, at = end;
    int count = lua_gettop(L);
    if (count != 2 && count != 3)
        return luaL_error(L, "wrong number of arguments to 'insert'");
    if (count == 3) {
        at = luaL_checkinteger(L, 2);
        luaL_argcheck(L, 1 <= at && at <= end, 2, "position out of bounds");
        charge(L, end - at);
        for (lua_Integer i = end; i > at; i--) {
            lua_rawgeti(L, 1, i - 1);
            lua_rawseti(L, 1, i);
        }
    }
    lua_settop(L, count);
    lua_rawseti(L, 1, at);
    return 0;
}

static int table_remove(lua_State *L)
{
    lua_Integer size = check_table(L, 1), at = luaL_optinteger(L, 2, size);
    if (lua_gettop(L) >= 2)
        luaL_argcheck(L, (size == 0 && at == 0) || (1 <= at && at <= size + 1), 2,
                      "position out of bounds");
    lua_rawgeti(L, 1, at);
    charge(L, size - at);
    for (; at < size; at++) {
        lua_rawgeti(L, 1, at + 1);
        lua_rawseti(L, 1, at);
    }
    if (at >= 1 && at <= size) {
        lua_pushnil(L);
        lua_rawseti(L, 1, at);
    }
    return 1;
}

static int table_concat(lua_State *L)
{
    size_t gap;
    lua_Integer size = check_table(L, 1);
    foliot__lua_name_nan(L, 2);
    const char *between = luaL_optlstring(L, 2, "", &gap);
    lua_Integer i = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, size);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    for (; i <= last; i++) {
        charge(L, 10);
        lua_rawgeti(L, 1, i);
        if (!lua_isstring(L, -1))
            return luaL_error(L, "invalid value (at index %I) in table for 'concat'",
                              (LUAI_UACINT)i);
        foliot__lua_name_nan(L, -1);
        foliot__lua_check_length(L, luaL_bufflen(&b) + lua_rawlen(L, -1) + gap);
        luaL_addvalue(&b);
        if (i == last)
            break; // `last` may be the greatest integer
        luaL_addlstring(&b, between, gap);
    }
    foliot__lua_check_length(L, luaL_bufflen(&b));
    foliot__lua_charge(foliot__lua_of(L), luaL_bufflen(&b) / 16);
    luaL_pushresult(&b);
    return 1;
}

static int table_pack(lua_State *L)
{
    int count = lua_gettop(L);
    charge(L, count);
    lua_createtable(L, count, 1);
    lua_insert(L, 1);
    for (int i = count; i >= 1; i--)
        lua_rawseti(L, 1, i);
    lua_pushinteger(L, count);
    lua_setfield(L, 1, "n");
    return 1;
}

static int table_unpack(lua_State *L)
{
    lua_Integer size = check_table(L, 1);
    lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, size);
    if (first > last)
        return 0;
    lua_Unsigned count = (lua_Unsigned)last - (lua_Unsigned)first;
    if (count >= FOLIOT__LUA_VALUES_MAX)
        return luaL_error(L, "too many results to unpack");
    luaL_checkstack(L, (int)count + 1, "too many results to unpack");
    charge(L, (lua_Integer)count);
    for (lua_Unsigned i = 0; i <= count; i++)
        lua_rawgeti(L, 1, (lua_Integer)((lua_Unsigned)first + i));
    return (int)count + 1;
}

static int table_move(lua_State *L)
{
    lua_Integer from = luaL_checkinteger(L, 2), end = luaL_checkinteger(L, 3);
    lua_Integer to = luaL_checkinteger(L, 4);
    int target = lua_isnoneornil(L, 5) ? 1 : 5;
    check_table(L, 1);
    check_table(L, target);
    if (end >= from) {
        luaL_argcheck(L, from > 0 || end < LUA_MAXINTEGER + from, 3, "too many elements to move");
        lua_Integer count = end - from + 1;
        luaL_argcheck(L, to <= LUA_MAXINTEGER - count + 1, 4, "destination wrap around");
        charge(L, count);
        // Backwards where the places overlap.
        bool up = to > end || to <= from || (target != 1 && !lua_rawequal(L, 1, target));
        for (lua_Integer n = 0; n < count; n++) {
            lua_Integer i = up ? n : count - 1 - n;
            lua_rawgeti(L, 1, from + i);
            lua_rawseti(L, target, to + i);
        }
    }
    lua_pushvalue(L, target);
    return 1;
}

// -- sort: by merging. The stack: 1 the table, 2 the comparison or nil, 3 a table to merge into.

// Whether the value on the top of the stack goes before the one below it.
static bool top_goes_first(lua_State *L)
{
    if (lua_isnil(L, 2))
        return lua_compare(L, -1, -2, LUA_OPLT);
    lua_pushvalue(L, 2);
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -4);
    lua_call(L, 2, 1);
    bool first = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return first;
}

// The sorted parts [low, middle) and [middle, high) become one.
static void merge(lua_State *L, lua_Integer low, lua_Integer middle, lua_Integer high)
{
    lua_Integer left = low, right = middle;
    for (lua_Integer i = low; i < high; i++) {
        bool take_right = left == middle;
        if (left < middle && right < high) {
            lua_rawgeti(L, 1, left);
            lua_rawgeti(L, 1, right);
            take_right = top_goes_first(L);
            lua_pop(L, 2);
        }
        lua_rawgeti(L, 1, take_right ? right++ : left++);
        lua_rawseti(L, 3, i);
    }
    for (lua_Integer i = low; i < high; i++) {
        lua_rawgeti(L, 3, i);
        lua_rawseti(L, 1, i);
    }
}

static int table_sort(lua_State *L)
{
    lua_Integer size = check_table(L, 1);
    if (!lua_isnoneornil(L, 2))
        luaL_checktype(L, 2, LUA_TFUNCTION);
    lua_settop(L, 2);
    lua_createtable(L, size < 1000 ? (int)size : 0, 0);
    for (lua_Integer width = 1; width < size; width *= 2)
        for (lua_Integer low = 1; low + width <= size; low += 2 * width) {
            lua_Integer high = low + 2 * width;
            high = high > size + 1 ? size + 1 : high;
            charge(L, 8 * (high - low));
            merge(L, low, low + width, high);
        }
    return 0;
}

void foliot__lua_push_table_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"concat", table_concat}, {"insert", table_insert},
        {"move", table_move},     {"pack", table_pack},
        {"remove", table_remove}, {"sort", table_sort},
        {"unpack", table_unpack}, {NULL, NULL},
    };
    luaL_newlib(L, functions);
}
#endif
