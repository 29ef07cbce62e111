// SPDX-License-Identifier: MIT
// lua_column.c: finds the token at which a script stops being Lua: the first one of its line up to
// which, and no further, the script compiles with the same error. One before it ends in an error
// near the end of the text.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_column.h"

#include <lauxlib.h>
#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/lua_scan.h"

#define TRIES_MAX 64 // tokens of one line that are looked at

// The message of a script cut after `length` bytes; false if it compiles.
static bool compile(const char *script, size_t length, const char *chunk, char *text,
                    size_t text_bytes)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return false;
    bool fails = luaL_loadbufferx(L, script, length, chunk, "t") != LUA_OK;
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

// The column of the error of `line`, 0 if it is not found.
static unsigned find_column(const char *script, size_t length, const char *chunk, unsigned line,
                            const char *problem)
{
    foliot__lua_scanner s = foliot__lua_scanner_of(script, length);
    foliot__lua_token token, last = {0};
    char text[512];
    int tries = 0;
    while (foliot__lua_scan_token(&s, &token) && token.line <= line) {
        last = token;
        size_t end = (size_t)(token.start - script) + token.length;
        if (token.line == line && tries++ < TRIES_MAX &&
            compile(script, end, chunk, text, sizeof text) && strcmp(text, problem) == 0)
            return token.column;
        if (token.line == line && token.length > 1 && is_near(problem, &token))
            return token.column; // half a token, which a cut changes
    }
    // Behind the last token: something is missing there.
    return last.line == line ? last.column + (unsigned)last.length : 0;
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
