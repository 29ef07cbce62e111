// SPDX-License-Identifier: MIT
// lua_scan.h (internal): the tokens of a script, to refuse some and to name columns. No parser:
// what is not well-formed is left to Lua to report.
#ifndef FOLIOT_RULES_LUA_SCAN_H
#define FOLIOT_RULES_LUA_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum foliot__lua_token_kind {
    FOLIOT__LUA_TOKEN_NAME,
    FOLIOT__LUA_TOKEN_NUMBER,
    FOLIOT__LUA_TOKEN_STRING, // quoted, with its quotes
    FOLIOT__LUA_TOKEN_LONG_STRING,
    FOLIOT__LUA_TOKEN_OTHER, // one character
} foliot__lua_token_kind;

typedef struct foliot__lua_token {
    foliot__lua_token_kind kind;
    const char *start;
    size_t length;
    uint32_t line, column; // of its start, from 1; columns are bytes
} foliot__lua_token;

typedef struct foliot__lua_scanner {
    const char *at, *end, *line_start;
    uint32_t line;
} foliot__lua_scanner;

foliot__lua_scanner foliot__lua_scanner_of(const char *script, size_t length);
// False at the end.
bool foliot__lua_scan_token(foliot__lua_scanner *scanner, foliot__lua_token *token);

// Whether a script has nothing that rules may not use: bytecode, zero bytes, `^`, _ENV. Otherwise
// `problem` takes a sentence with file, line and column.
bool foliot__lua_scan(const char *script, size_t length, const char *name, char *problem,
                      size_t problem_bytes);

#endif
