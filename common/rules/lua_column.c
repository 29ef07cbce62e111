// SPDX-License-Identifier: MIT
// lua_column.c: finds the token at which a script stops being Lua: the first one of its line with
// which a cut script has the same error. Cut before it, the error is one near the end of the text.
#ifndef FOLIOT_NO_LUA

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/lua_compile.h"
#include "rules/lua_scan.h"

// Of each compilation: a script that takes longer has no columns.
#define COMPILE_NS_MAX 50000000u

// The message of a script cut after `length` bytes; false if it compiles, or takes too long.
static bool compile(const char *script, size_t length, const char *chunk, char *text,
                    size_t text_bytes)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return false;
    foliot__lua_text cut = foliot__lua_text_of(script, length, COMPILE_NS_MAX);
    bool fails = foliot__lua_compile(L, &cut, chunk) != LUA_OK && !cut.late;
    const char *message = fails ? lua_tostring(L, -1) : NULL;
    snprintf(text, text_bytes, "%s", message ? message : "");
    lua_close(L);
    return fails && message;
}

// Whether the problem ends in "near 'TEXT'" with the text of the token.
static bool is_near(const char *problem, const foliot__lua_token *token)
{
    const char *near = strstr(problem, " near '");
    size_t length = near ? strlen(near) : 0;
    return length == token->length + 8 && memcmp(near + 7, token->start, token->length) == 0;
}

// Token number `n` of the line, or its last one if there are fewer; returns how many there are up
// to it.
static uint32_t token_of_line(const char *script, size_t length, unsigned line, uint32_t n,
                              foliot__lua_token *token)
{
    foliot__lua_scanner s = foliot__lua_scanner_of(script, length);
    foliot__lua_token at;
    uint32_t count = 0;
    while (count <= n && foliot__lua_scan_token(&s, &at) && at.line <= line)
        if (at.line == line) {
            *token = at;
            count++;
        }
    return count;
}

static bool fails_here(const char *script, const char *chunk, const foliot__lua_token *token,
                       const char *problem)
{
    char text[512];
    size_t end = (size_t)(token->start - script) + token->length;
    return compile(script, end, chunk, text, sizeof text) && strcmp(text, problem) == 0;
}

// The column of the error of `line`, 0 if it is not found. By bisection: a cut before the token has
// another error, a cut behind it has this one.
static unsigned find_column(const char *script, size_t length, const char *chunk, unsigned line,
                            const char *problem)
{
    foliot__lua_token token;
    uint32_t count = token_of_line(script, length, line, UINT32_MAX - 1, &token);
    uint32_t low = 0, high = count;
    if (count == 0)
        return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        token_of_line(script, length, line, middle, &token);
        if (fails_here(script, chunk, &token, problem))
            high = middle;
        else
            low = middle + 1;
    }
    token_of_line(script, length, line, low, &token);
    // A cut changes the text of half a token; behind the last token something is missing.
    return low < count || is_near(problem, &token) ? token.column
                                                   : token.column + (unsigned)token.length;
}

void foliot__lua_add_column(const char *script, size_t length, const char *name, char *problem,
                            size_t problem_bytes)
{
    char chunk[128], text[512], start[128], *rest;
    snprintf(chunk, sizeof chunk, "=%s", name);
    if (!compile(script, length, chunk, text, sizeof text) || strcmp(text, problem) != 0)
        return;
    int head = snprintf(start, sizeof start, "%s:", name);
    if (strncmp(text, start, (size_t)head) != 0)
        return;
    unsigned long line = strtoul(text + head, &rest, 10);
    unsigned column = find_column(script, length, chunk, (unsigned)line, problem);
    if (column > 0)
        snprintf(problem, problem_bytes, "%s:%lu:%u%s", name, line, column, rest);
}
#endif
