// SPDX-License-Identifier: MIT
// lua_compile.h (internal): compiles a script within a bounded time.
#ifndef FOLIOT_RULES_LUA_COMPILE_H
#define FOLIOT_RULES_LUA_COMPILE_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Of the processor. A script of 1 MiB that people write takes a fiftieth of it.
#define FOLIOT__LUA_COMPILE_NS_MAX 2000000000u

typedef struct foliot__lua_text {
    const char *at;
    size_t left;
    uint64_t end_ns; // of the thread's own clock
    bool late;       // the time was over before the text was
} foliot__lua_text;

foliot__lua_text foliot__lua_text_of(const char *script, size_t length, uint64_t allowed_ns);
// As luaL_loadbufferx of text. Where the text is late, the result means nothing.
int foliot__lua_compile(lua_State *L, foliot__lua_text *text, const char *chunk);

// lua_column.h (internal): the column of a syntax error, of which Lua tells the line alone.

// Puts the column into a problem of a script that does not compile ("game.lua:12: ... near 'x'"
// becomes "game.lua:12:5: ..."). Any other problem stays.
void foliot__lua_add_column(const char *script, size_t length, const char *name, char *problem,
                            size_t problem_bytes);

#endif
