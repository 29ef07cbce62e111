// SPDX-License-Identifier: MIT
// lua_save.c: the saved state of a script, as msgpack: [1, {player: name}, state]. Equal states
// give equal bytes: a table with keys 1 .. n is an array, any other one a map with its integer keys
// ascending and then its text keys bytewise; numbers take the shortest form, floats are always
// binary64.
//
// Saving also detects changes of tables outside `state`: the tables reachable from globals when the
// script was loaded are remembered, and compared.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pack.h"
#include "base/text.h"
#include "rules/rules.h"

#define SAVE_VERSION 1
#define PATH_BYTES 200
// Work of one save: 4 units a value of `state`, and 4 an entry of tables reachable from globals.
#define SAVE_UNITS 262144u
#define SAVE_BYTES (16u << 20) // that it may allocate
#define SAVE_PART 4            // 1 / this of a tick's time is for a save at least
#define RESTORE_TIMES 250u     // as long as a tick, once

static const char remembered_key; // of the registry

// -- tables reachable from globals

// Remembers the table on the top of the stack under the path below it; pops both. The list has
// four entries a table: itself, a copy, how many entries it had, its path.
static void remember_table(lua_State *L, int list, int seen)
{
    lua_pushvalue(L, -1);
    if (lua_rawget(L, seen) != LUA_TNIL) {
        lua_pop(L, 3);
        return;
    }
    lua_pop(L, 1);
    lua_pushvalue(L, -1);
    lua_pushboolean(L, true);
    lua_rawset(L, seen);
    lua_Integer at = (lua_Integer)lua_rawlen(L, list), count = 0;
    int table = lua_gettop(L);
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, table); count++) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, table + 1); // the key stays, to continue from
        foliot__lua_charge(foliot__lua_of(L), 8);
    }
    lua_rawseti(L, list, at + 2);
    lua_rawseti(L, list, at + 1);
    lua_pushinteger(L, count);
    lua_rawseti(L, list, at + 3);
    lua_rawseti(L, list, at + 4);
}

// Pushes the path of a key of the table with the path at `parent`. Below a key without an order all
// have one path: which of them is found first differs from run to run.
static void push_path(lua_State *L, int parent, int key)
{
    static const char unordered[] = "[...]";
    size_t length, end = sizeof unordered - 1;
    const char *before = lua_tolstring(L, parent, &length);
    int type = lua_type(L, key);
    if (length > PATH_BYTES || (length >= end && strcmp(before + length - end, unordered) == 0)) {
        lua_pushvalue(L, parent);
    } else if (type == LUA_TSTRING) {
        lua_pushfstring(L, length ? "%s.%s" : "%s%s", before, lua_tostring(L, key));
    } else if (type == LUA_TNUMBER || type == LUA_TBOOLEAN) {
        foliot__lua_push_text(L, key, NULL);
        lua_pushfstring(L, "%s[%s]", before, lua_tostring(L, -1));
        lua_remove(L, -2);
    } else {
        lua_pushfstring(L, "%s%s", before, unordered);
    }
}

// Remembers the value on the top of the stack, whose key is below it, if it is a table.
static void remember_entry(lua_State *L, int list, int seen, int path, bool globals)
{
    bool is_state =
        globals && lua_type(L, -2) == LUA_TSTRING && strcmp(lua_tostring(L, -2), "state") == 0;
    if (!lua_istable(L, -1) || is_state)
        return;
    push_path(L, path, lua_gettop(L) - 1);
    lua_pushvalue(L, -2);
    remember_table(L, list, seen);
}

void foliot__lua_remember_globals(lua_State *L)
{
    lua_newtable(L);
    lua_newtable(L);
    int seen = lua_gettop(L), list = seen - 1;
    lua_pushliteral(L, "");
    lua_pushvalue(L, list - 1);
    remember_table(L, list, seen);
    for (lua_Integer n = 0; 4 * n < (lua_Integer)lua_rawlen(L, list); n++) {
        // The tables in table number `n`, in an order that is always the same.
        lua_rawgeti(L, list, 4 * n + 4);
        lua_rawgeti(L, list, 4 * n + 2);
        int path = lua_gettop(L) - 1, copy = path + 1;
        uint32_t count = foliot__lua_push_sorted_keys(L, copy, NULL);
        for (uint32_t i = 1; i <= count; i++) {
            lua_rawgeti(L, copy + 1, i);
            lua_pushvalue(L, -1);
            lua_rawget(L, copy);
            remember_entry(L, list, seen, path, n == 0);
            lua_settop(L, copy + 1);
        }
        for (lua_pushnil(L); lua_next(L, copy); lua_pop(L, 1)) {
            int type = lua_type(L, -2);
            if (type != LUA_TSTRING && type != LUA_TNUMBER && type != LUA_TBOOLEAN)
                remember_entry(L, list, seen, path, n == 0);
        }
        lua_settop(L, path - 1);
    }
    lua_settop(L, list);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &remembered_key);
}

// Compares the tables that globals lead to with their remembered contents.
static void check_globals(lua_State *L)
{
    lua_rawgetp(L, LUA_REGISTRYINDEX, &remembered_key);
    int list = lua_gettop(L), table = list + 3, copy = list + 4;
    for (lua_Integer at = 0; at < (lua_Integer)lua_rawlen(L, list); at += 4) {
        lua_settop(L, list);
        lua_rawgeti(L, list, at + 3);
        lua_rawgeti(L, list, at + 4);
        lua_rawgeti(L, list, at + 1);
        lua_rawgeti(L, list, at + 2);
        lua_Integer count = lua_tointeger(L, list + 1);
        for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
            foliot__lua_charge(foliot__lua_of(L), 4);
            lua_pushvalue(L, -2);
            lua_rawget(L, copy);
            bool is_state = at == 0 && lua_type(L, -3) == LUA_TSTRING &&
                            strcmp(lua_tostring(L, -3), "state") == 0;
            if (!is_state && !lua_rawequal(L, -1, -2))
                break;
            lua_pop(L, 1);
            count--;
        }
        if (lua_gettop(L) != copy || count != 0)
            luaL_error(L,
                       "the table '%s' was changed after the script was loaded: only `state` "
                       "keeps data between ticks",
                       lua_tostring(L, list + 2));
    }
    lua_settop(L, list - 1);
}

// -- state to bytes

typedef struct saver {
    foliot__buffer buffer;
    int seen; // index of the table of tables that were saved
    // Indices of the keys that lead to the value: the path is put together where it is shown.
    int keys[FOLIOT__LUA_STATE_DEPTH_MAX + 2];
    int key_count;
} saver;

static int refuse(lua_State *L, const saver *s, const char *why)
{
    char path[PATH_BYTES] = "state";
    size_t length = strlen(path);
    for (int i = 0; i < s->key_count && length < sizeof path - 1; i++) {
        char *end = path + length;
        size_t room = sizeof path - length;
        int more = lua_type(L, s->keys[i]) == LUA_TSTRING
                       ? snprintf(end, room, ".%s", lua_tostring(L, s->keys[i]))
                       : snprintf(end, room, "[%lld]", (long long)lua_tointeger(L, s->keys[i]));
        length = (size_t)more < room ? length + (size_t)more : sizeof path - 1;
    }
    return luaL_error(L, "%s: %s", path, why);
}

static void save_value(lua_State *L, saver *s, int depth);

// Saves the value on the top of the stack under the key below it, and pops it.
static void save_entry(lua_State *L, saver *s, int depth)
{
    s->keys[s->key_count++] = lua_gettop(L) - 1;
    save_value(L, s, depth);
    s->key_count--;
    lua_pop(L, 1);
}

static void save_array(lua_State *L, saver *s, int table, uint32_t count, int depth)
{
    foliot__pack_array(&s->buffer, count);
    for (uint32_t i = 1; i <= count; i++) {
        lua_pushinteger(L, i);
        lua_rawgeti(L, table, i);
        save_entry(L, s, depth);
        lua_pop(L, 1);
    }
}

static void save_table(lua_State *L, saver *s, int depth)
{
    int table = lua_gettop(L);
    const char *bad;
    if (depth > FOLIOT__LUA_STATE_DEPTH_MAX)
        refuse(L, s, "the tables are nested too deeply (at most 16), or contain themselves");
    luaL_checkstack(L, 10, "state");
    if (foliot__lua_has_metatable(L, table))
        refuse(L, s, "a table with a metatable cannot be saved");
    lua_pushvalue(L, table);
    if (lua_rawget(L, s->seen) != LUA_TNIL)
        refuse(L, s, "the table stands in `state` twice; a copy can be saved");
    lua_settop(L, table);
    lua_pushvalue(L, table);
    lua_pushboolean(L, true);
    lua_rawset(L, s->seen);
    uint32_t count;
    if (foliot__lua_is_sequence(L, table, &count)) {
        save_array(L, s, table, count, depth + 1);
        return;
    }
    count = foliot__lua_push_sorted_keys(L, table, &bad);
    if (bad)
        refuse(L, s, "a key is a string or an integer");
    // Sorted integers without two equal ones, from 1 to count, are a sequence, too.
    const int keys = table + 1;
    bool is_sequence = true;
    if (count > 0) {
        lua_rawgeti(L, keys, 1);
        lua_rawgeti(L, keys, count);
        is_sequence = lua_isinteger(L, -2) && lua_tointeger(L, -2) == 1 && lua_isinteger(L, -1) &&
                      lua_tointeger(L, -1) == (lua_Integer)count;
        lua_pop(L, 2);
    }
    if (is_sequence) {
        save_array(L, s, table, count, depth + 1);
        lua_settop(L, table);
        return;
    }
    foliot__pack_map(&s->buffer, count);
    for (uint32_t i = 1; i <= count; i++) {
        lua_rawgeti(L, keys, i);
        if (lua_isinteger(L, -1))
            foliot__pack_int(&s->buffer, lua_tointeger(L, -1));
        else if (lua_type(L, -1) == LUA_TSTRING)
            foliot__pack_str(&s->buffer, lua_tostring(L, -1));
        else
            refuse(L, s, "a key is a string or an integer");
        lua_pushvalue(L, -1);
        lua_rawget(L, table);
        save_entry(L, s, depth + 1);
        lua_pop(L, 1);
    }
    lua_settop(L, table);
}

static void save_value(lua_State *L, saver *s, int depth)
{
    char why[64];
    foliot__lua_charge(foliot__lua_of(L), 4);
    switch (lua_type(L, -1)) {
    case LUA_TBOOLEAN:
        foliot__pack_raw(&s->buffer, lua_toboolean(L, -1) ? "\xc3" : "\xc2", 1);
        break;
    case LUA_TNUMBER:
        if (lua_isinteger(L, -1))
            foliot__pack_int(&s->buffer, lua_tointeger(L, -1));
        else if (isnan(lua_tonumber(L, -1)))
            refuse(L, s, "a NaN cannot be saved");
        else
            foliot__pack_f64(&s->buffer, lua_tonumber(L, -1));
        break;
    case LUA_TSTRING:
        foliot__pack_str(&s->buffer, lua_tostring(L, -1));
        break;
    case LUA_TTABLE:
        save_table(L, s, depth);
        break;
    default:
        snprintf(why, sizeof why, "a %s cannot be saved", luaL_typename(L, -1));
        refuse(L, s, why);
    }
    if (s->buffer.failed || s->buffer.length > FOLIOT_RULES_STATE_BYTES_MAX)
        luaL_error(L, "state: it takes more than %d bytes", FOLIOT_RULES_STATE_BYTES_MAX);
}

static int save_body(lua_State *L)
{
    saver *s = lua_touserdata(L, 1);
    foliot__lua *lua = foliot__lua_of(L);
    const foliot__lua_players *players = &lua->players;
    foliot__lua_recover_memory(lua);
    lua->budget.bytes = SAVE_BYTES;
    foliot__lua_push_globals(L);
    if (lua_getfield(L, -1, "state") != LUA_TTABLE)
        return luaL_error(L, "state: it is a %s, not a table", luaL_typename(L, -1));
    check_globals(L);
    foliot__pack_array(&s->buffer, 3);
    foliot__pack_uint(&s->buffer, SAVE_VERSION);
    uint32_t count = 0;
    for (uint32_t p = 0; p < players->max; p++)
        count += players->joined[p];
    foliot__pack_map(&s->buffer, count);
    for (uint32_t p = 0; p < players->max; p++)
        if (players->joined[p]) {
            foliot__pack_uint(&s->buffer, p);
            foliot__pack_str(&s->buffer, players->names[p]);
        }
    lua_newtable(L);
    s->seen = lua_gettop(L);
    lua_pushvalue(L, s->seen - 1);
    save_value(L, s, 1);
    return 0;
}

size_t foliot__lua_save(foliot__lua *lua, void *bytes, size_t capacity, char *problem,
                        size_t problem_bytes)
{
    saver s = {0};
    const uint64_t tick_us = lua->budget.tick_ns / 1000,
                   most_us = tick_us + lua->limits.time_us / SAVE_PART;
    uint64_t time_us = most_us > lua->limits.time_us ? most_us : lua->limits.time_us;
    if (lua->host.reruns || foliot__rules_saves_whole(lua->rules))
        time_us = 0;
    // On the saver's heap only, so that abandoning the state leaks nothing.
    foliot__lua_begin_part(lua, UINT64_MAX);
    bool fine = foliot__lua_run_timed(lua, FOLIOT__LUA_SAVING, SAVE_UNITS, time_us,
                                      lua->budget.tick_ns, save_body, &s);
    if (!fine && lua->host.why && lua->stage != FOLIOT__LUA_ABANDONED)
        foliot__rules_save_late(lua->rules, lua->host.why);
    lua->budget.tick_ns = 0;
    size_t length = s.buffer.length;
    if (fine && length <= capacity && bytes)
        memcpy(bytes, s.buffer.bytes, length);
    foliot__buffer_free(&s.buffer);
    if (fine)
        return length;
    snprintf(problem, problem_bytes, "%s", lua->problem);
    return SIZE_MAX;
}

// -- bytes to state

static void restore_value(lua_State *L, foliot__reader *r, int depth);

static void restore_array(lua_State *L, foliot__reader *r, int depth)
{
    uint32_t count = foliot__unpack_array(r);
    lua_createtable(L, count < 256 ? (int)count : 256, 0);
    for (uint32_t i = 1; i <= count && r->status == FOLIOT_STATUS_OK; i++) {
        restore_value(L, r, depth + 1);
        lua_rawseti(L, -2, i);
    }
}

// Integers come before texts, each kind ascending.
static bool is_ordered(lua_State *L, int before, int key)
{
    if (lua_isnil(L, before))
        return true;
    if (lua_isinteger(L, before) != lua_isinteger(L, key))
        return lua_isinteger(L, before);
    if (lua_isinteger(L, key))
        return lua_tointeger(L, before) < lua_tointeger(L, key);
    return strcmp(lua_tostring(L, before), lua_tostring(L, key)) < 0;
}

static void restore_map(lua_State *L, foliot__reader *r, int depth)
{
    uint32_t count = foliot__unpack_map(r);
    lua_newtable(L);
    lua_pushnil(L); // the key before
    int table = lua_gettop(L) - 1;
    for (uint32_t i = 0; i < count && r->status == FOLIOT_STATUS_OK; i++) {
        restore_value(L, r, FOLIOT__LUA_STATE_DEPTH_MAX + 1); // no tables
        bool is_key = lua_isinteger(L, -1) || lua_type(L, -1) == LUA_TSTRING;
        if (!is_key || !is_ordered(L, -2, -1)) {
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            break;
        }
        lua_copy(L, -1, table + 1);
        restore_value(L, r, depth + 1);
        lua_rawset(L, table);
    }
    lua_settop(L, table);
}

// Pushes one value for any bytes; the reader has the status.
static void restore_value(lua_State *L, foliot__reader *r, int depth)
{
    uint8_t first = foliot__reader_left(r) ? r->bytes[r->at] : 0xc1; // 0xc1 is not a value
    bool is_map = (first & 0xf0) == 0x80 || first == 0xde || first == 0xdf;
    bool is_array = (first & 0xf0) == 0x90 || first == 0xdc || first == 0xdd;
    luaL_checkstack(L, 10, "state");
    foliot__lua_charge(foliot__lua_of(L), 4);
    if (foliot__reader_left(r) == 0)
        foliot__reader_fail(r, FOLIOT_STATUS_TRUNCATED);
    if ((is_map || is_array) && depth > FOLIOT__LUA_STATE_DEPTH_MAX)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (r->status != FOLIOT_STATUS_OK) {
        lua_pushboolean(L, false);
    } else if (is_map) {
        restore_map(L, r, depth);
    } else if (is_array) {
        restore_array(L, r, depth);
    } else if (first == 0xc2 || first == 0xc3) {
        foliot__read_u8(r);
        lua_pushboolean(L, first == 0xc3);
    } else if ((first & 0xe0) == 0xa0 || (first >= 0xd9 && first <= 0xdb)) {
        uint32_t length;
        const char *text = foliot__unpack_str(r, &length);
        bool valid = r->status == FOLIOT_STATUS_OK && length <= FOLIOT__LUA_STRING_MAX &&
                     (length == 0 || !memchr(text, 0, length));
        if (!valid)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        lua_pushlstring(L, valid ? text : "", valid ? length : 0);
    } else if (first == 0xcb) {
        double x = foliot__unpack_f64(r);
        if (isnan(x))
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        lua_pushnumber(L, x);
    } else {
        lua_pushinteger(L, foliot__unpack_int(r));
    }
}

static void restore_players(foliot__lua *lua, foliot__reader *r)
{
    uint32_t count = foliot__unpack_map(r);
    for (uint32_t i = 0; i < count && r->status == FOLIOT_STATUS_OK; i++) {
        char name[FOLIOT_NAME_BYTES] = "";
        uint32_t length;
        uint64_t player = foliot__unpack_uint(r);
        const char *text = foliot__unpack_str(r, &length);
        if (r->status != FOLIOT_STATUS_OK)
            return;
        if (player >= lua->players.max || lua->players.joined[player] || length >= sizeof name) {
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
            return;
        }
        memcpy(name, text, length);
        foliot__text_clean(lua->players.names[player], sizeof name, name);
        lua->players.joined[player] = true;
    }
}

static int restore_body(lua_State *L)
{
    foliot__reader *r = lua_touserdata(L, 1);
    foliot__lua_of(L)->budget.bytes = SAVE_BYTES;
    if (foliot__unpack_array(r) != 3 || foliot__unpack_uint(r) != SAVE_VERSION)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    restore_players(foliot__lua_of(L), r);
    foliot__lua_push_globals(L);
    restore_value(L, r, 1);
    if (!lua_istable(L, -1) || foliot__reader_left(r) != 0)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    lua_setfield(L, -2, "state");
    return 0;
}

foliot_status foliot__lua_restore(foliot__lua *lua, const void *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    bool fine = foliot__lua_run_timed(lua, FOLIOT__LUA_STARTING, SAVE_UNITS,
                                      RESTORE_TIMES * lua->limits.time_us, 0, restore_body, &r);
    if (r.status != FOLIOT_STATUS_OK)
        return r.status;
    return fine ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}
#endif
