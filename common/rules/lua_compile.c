// SPDX-License-Identifier: MIT
// lua_compile.c: gives a script to Lua's compiler piece by piece, with a look at the clock before
// each. Nothing counts instructions there, and a few constructs take a time that grows with the
// square of the text: a chain of 200,000 `or` takes a minute. What comes too late is not read.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_compile.h"

#include <time.h>

#define PIECE_BYTES 64u

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *read_piece(lua_State *L, void *user, size_t *length)
{
    (void)L;
    foliot__lua_text *text = user;
    text->late |= text->left > 0 && cpu_ns() > text->end_ns;
    *length = text->late ? 0 : text->left < PIECE_BYTES ? text->left : PIECE_BYTES;
    const char *piece = text->at;
    text->at += *length;
    text->left -= *length;
    return *length ? piece : NULL;
}

foliot__lua_text foliot__lua_text_of(const char *script, size_t length, uint64_t allowed_ns)
{
    return (foliot__lua_text){.at = script, .left = length, .end_ns = cpu_ns() + allowed_ns};
}

int foliot__lua_compile(lua_State *L, foliot__lua_text *text, const char *chunk)
{
    return lua_load(L, read_piece, text, chunk, "t");
}
#endif
