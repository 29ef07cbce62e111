// SPDX-License-Identifier: MIT
// lua_column.h (internal): the column of a syntax error, of which Lua tells the line alone.
#ifndef FOLIOT_RULES_LUA_COLUMN_H
#define FOLIOT_RULES_LUA_COLUMN_H

#include <stddef.h>

// Puts the column into a problem of a script that does not compile ("game.lua:12: ... near 'x'"
// becomes "game.lua:12:5: ..."). Any other problem stays.
void foliot__lua_add_column(const char *script, size_t length, const char *name, char *problem,
                            size_t problem_bytes);

#endif
