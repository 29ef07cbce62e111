// SPDX-License-Identifier: MIT
// lua_pairs.c: the order in which a script sees the keys of a table: integers and then other
// numbers, ascending, texts bytewise, false, true. Lua's own order depends on where its memory
// lies. Keys of another type have no order, and are an error. The error names the type that comes
// first in the alphabet, not the key that Lua returns first.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <stdlib.h>
#include <string.h>

typedef enum key_kind {
    KEY_INTEGER,
    KEY_REAL,
    KEY_TEXT,
    KEY_BOOLEAN,
    KEY_NONE, // no order
} key_kind;

typedef struct key {
    key_kind kind;
    uint32_t index; // in the list that keeps the keys alive
    union {
        lua_Integer integer;
        lua_Number real;
        const char *text;
    } as;
} key;

static key key_at(lua_State *L, int index)
{
    key k = {.kind = KEY_NONE};
    switch (lua_type(L, index)) {
    case LUA_TNUMBER:
        k.kind = lua_isinteger(L, index) ? KEY_INTEGER : KEY_REAL;
        if (k.kind == KEY_INTEGER)
            k.as.integer = lua_tointeger(L, index);
        else
            k.as.real = lua_tonumber(L, index);
        break;
    case LUA_TSTRING:
        k.kind = KEY_TEXT;
        k.as.text = lua_tostring(L, index);
        break;
    case LUA_TBOOLEAN:
        k.kind = KEY_BOOLEAN;
        k.as.integer = lua_toboolean(L, index);
        break;
    default:
        break;
    }
    return k;
}

static int compare_keys(const void *left, const void *right)
{
    const key *a = left, *b = right;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    if (a->kind == KEY_TEXT)
        return strcmp(a->as.text, b->as.text);
    if (a->kind == KEY_REAL)
        return (a->as.real > b->as.real) - (a->as.real < b->as.real);
    return (a->as.integer > b->as.integer) - (a->as.integer < b->as.integer);
}

static uint32_t log2_of(uint32_t n)
{
    uint32_t bits = 0;
    while (n >>= 1)
        bits++;
    return bits;
}

// How many keys there are, and how many of them are 1, 2, 3, ... as Lua gives them.
static uint32_t count_keys(lua_State *L, int index, uint32_t *in_sequence)
{
    foliot__lua *lua = foliot__lua_of(L);
    uint32_t count = 0;
    *in_sequence = 0;
    foliot__lua_charge(lua, 8);
    for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
        if (*in_sequence == count && lua_isinteger(L, -2) &&
            lua_tointeger(L, -2) == (lua_Integer)count + 1)
            ++*in_sequence;
        count++;
        foliot__lua_charge(lua, 2);
    }
    foliot__lua_look(lua); // a table may have room for many and hold few
    return count;
}

// The first in the alphabet of a type and of that of the key on the top of the stack.
static const char *first_type(lua_State *L, const char *type)
{
    const char *other = luaL_typename(L, -1);
    return !type || strcmp(other, type) < 0 ? other : type;
}

// The ordered keys of the table into `keys` and, one by one, into the list at `list`. Returns how
// many there are.
static uint32_t collect_keys(lua_State *L, int index, key *keys, int list, uint64_t *text_bytes,
                             const char **bad)
{
    uint32_t n = 0;
    for (lua_pushnil(L); lua_next(L, index);) {
        lua_pop(L, 1);
        keys[n] = key_at(L, -1);
        keys[n].index = n + 1;
        if (keys[n].kind == KEY_NONE) {
            *bad = first_type(L, *bad);
            continue;
        }
        if (keys[n].kind == KEY_TEXT)
            *text_bytes += lua_rawlen(L, -1);
        lua_pushvalue(L, -1);
        lua_rawseti(L, list, ++n);
    }
    return n;
}

bool foliot__lua_is_sequence(lua_State *L, int index, uint32_t *count)
{
    uint32_t in_sequence;
    *count = count_keys(L, lua_absindex(L, index), &in_sequence);
    return in_sequence == *count;
}

uint32_t foliot__lua_push_sorted_keys(lua_State *L, int index, const char **bad)
{
    const char *without_order = NULL;
    foliot__lua *lua = foliot__lua_of(L);
    uint32_t in_sequence;
    uint64_t text_bytes = 0;
    index = lua_absindex(L, index);
    uint32_t count = count_keys(L, index, &in_sequence);
    lua_createtable(L, (int)count, 0);
    lua_createtable(L, (int)count, 0);
    key *keys = lua_newuserdatauv(L, (count + 1) * sizeof *keys, 0);
    int buffer = lua_gettop(L), list = buffer - 1, sorted = buffer - 2;
    count = collect_keys(L, index, keys, list, &text_bytes, &without_order);
    if (bad)
        *bad = without_order;
    if (bad && without_order) {
        lua_settop(L, sorted - 1);
        return 0;
    }
    uint32_t depth = 1 + log2_of(count + 1);
    foliot__lua_charge(lua, depth * (count + text_bytes / 32));
    qsort(keys, count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < count; i++) {
        lua_rawgeti(L, list, keys[i].index);
        lua_rawseti(L, sorted, i + 1);
    }
    lua_settop(L, sorted);
    return count;
}

// -- pairs

// Upvalue 1: the last index. A value that became nil is left out.
static int next_in_sequence(lua_State *L)
{
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(1));
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer i = lua_tointeger(L, 2);
    for (i = i < 0 ? 1 : i + 1; i <= last; i++) {
        lua_settop(L, 1);
        lua_pushinteger(L, i);
        if (lua_rawgeti(L, 1, i) != LUA_TNIL)
            return 2;
        foliot__lua_charge(foliot__lua_of(L), 1);
    }
    lua_pushnil(L);
    return 1;
}

// Upvalues: the sorted keys, and how many of them were given.
static int next_in_list(lua_State *L)
{
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_Integer at = lua_tointeger(L, lua_upvalueindex(2));
    for (;;) {
        lua_settop(L, 1);
        lua_pushinteger(L, ++at);
        lua_replace(L, lua_upvalueindex(2));
        if (lua_rawgeti(L, lua_upvalueindex(1), at) == LUA_TNIL)
            return 1;
        lua_pushvalue(L, -1);
        if (lua_rawget(L, 1) != LUA_TNIL)
            return 2;
        foliot__lua_charge(foliot__lua_of(L), 1);
    }
}

int foliot__lua_pairs(lua_State *L)
{
    uint32_t in_sequence;
    const char *bad;
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    uint32_t count = count_keys(L, 1, &in_sequence);
    if (in_sequence == count) {
        lua_pushinteger(L, count);
        lua_pushcclosure(L, next_in_sequence, 1);
    } else {
        foliot__lua_push_sorted_keys(L, 1, &bad);
        if (bad)
            return luaL_error(L, "pairs: a key that is a %s has no order", bad);
        lua_pushinteger(L, 0);
        lua_pushcclosure(L, next_in_list, 2);
    }
    lua_pushvalue(L, 1);
    lua_pushnil(L);
    return 3;
}

// -- next

// The smallest key beyond `after`, or of all; it looks at every key.
int foliot__lua_next(lua_State *L)
{
    foliot__lua *lua = foliot__lua_of(L);
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 2);
    bool first = lua_isnil(L, 2), found = false;
    key after = first ? (key){.kind = KEY_NONE} : key_at(L, 2), best = after;
    if (!first && after.kind == KEY_NONE)
        return luaL_error(L, "next: a key that is a %s has no order", luaL_typename(L, 2));
    const char *bad = NULL;
    lua_pushnil(L); // the best key
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pop(L, 1);
        key k = key_at(L, -1);
        foliot__lua_charge(lua, k.kind == KEY_TEXT ? 4 + lua_rawlen(L, -1) / 32 : 4);
        if (k.kind == KEY_NONE)
            bad = first_type(L, bad);
        else if ((first || compare_keys(&k, &after) > 0) &&
                 (!found || compare_keys(&k, &best) < 0)) {
            found = true;
            best = k;
            lua_pushvalue(L, -1);
            lua_replace(L, 3);
        }
    }
    foliot__lua_look(lua);
    if (bad)
        return luaL_error(L, "next: a key that is a %s has no order", bad);
    if (!found)
        return 1;
    lua_pushvalue(L, 3);
    lua_rawget(L, 1);
    return 2;
}
#endif
