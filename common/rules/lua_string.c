// SPDX-License-Identifier: MIT
// lua_string.c: the string library: Lua's own, without functions that show memory (%p, dump) or
// pack zero bytes (pack, unpack, char(0), %c). Letters are those of ASCII. Each function charges
// for the bytes that it reads and writes before it does.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *check_text(lua_State *L, int index, size_t *length)
{
    const char *text = foliot__lua_check_text(L, index, length);
    foliot__lua_charge(foliot__lua_of(L), 4 + *length / 16);
    return text;
}

// A position of Lua as an offset from 0 up to `length`: from 1, or from the end if negative.
static size_t start_offset(lua_Integer position, size_t length)
{
    if (position > 0)
        return (size_t)position - 1;
    if (position == 0 || position < -(lua_Integer)length)
        return 0;
    return length - (size_t)-position;
}

static size_t end_offset(lua_Integer position, size_t length)
{
    if (position > (lua_Integer)length)
        return length;
    if (position >= 0)
        return (size_t)position;
    return position < -(lua_Integer)length ? 0 : length - (size_t)-position + 1;
}

static int string_len(lua_State *L)
{
    size_t length;
    foliot__lua_check_text(L, 1, &length);
    lua_pushinteger(L, (lua_Integer)length);
    return 1;
}

static int string_sub(lua_State *L)
{
    size_t length;
    const char *s = check_text(L, 1, &length);
    size_t start = start_offset(luaL_checkinteger(L, 2), length);
    size_t end = end_offset(luaL_optinteger(L, 3, -1), length);
    lua_pushlstring(L, s + (start < end ? start : 0), start < end ? end - start : 0);
    return 1;
}

static int string_byte(lua_State *L)
{
    size_t length;
    const char *s = check_text(L, 1, &length);
    lua_Integer first = luaL_optinteger(L, 2, 1);
    size_t start = start_offset(first, length);
    size_t end = end_offset(luaL_optinteger(L, 3, (lua_Integer)start + 1), length);
    if (start >= end)
        return 0;
    luaL_argcheck(L, end - start <= FOLIOT__LUA_VALUES_MAX, 3, "more than 250 values");
    luaL_checkstack(L, (int)(end - start), "too many values");
    for (size_t i = start; i < end; i++)
        lua_pushinteger(L, (unsigned char)s[i]);
    return (int)(end - start);
}

static int string_char(lua_State *L)
{
    int count = lua_gettop(L);
    luaL_Buffer b;
    char *bytes = luaL_buffinitsize(L, &b, (size_t)count);
    for (int i = 1; i <= count; i++) {
        lua_Integer c = luaL_checkinteger(L, i);
        luaL_argcheck(L, 1 <= c && c <= 255, i, "a byte is 1 to 255");
        bytes[i - 1] = (char)c;
    }
    luaL_pushresultsize(&b, (size_t)count);
    return 1;
}

static int map_bytes(lua_State *L, char from, char to)
{
    size_t length;
    const char *s = check_text(L, 1, &length);
    luaL_Buffer b;
    char *bytes = luaL_buffinitsize(L, &b, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = (char)(s[i] >= from && s[i] <= to ? s[i] ^ 0x20 : s[i]);
    luaL_pushresultsize(&b, length);
    return 1;
}

static int string_lower(lua_State *L)
{
    return map_bytes(L, 'A', 'Z');
}

static int string_upper(lua_State *L)
{
    return map_bytes(L, 'a', 'z');
}

static int string_reverse(lua_State *L)
{
    size_t length;
    const char *s = check_text(L, 1, &length);
    luaL_Buffer b;
    char *bytes = luaL_buffinitsize(L, &b, length);
    for (size_t i = 0; i < length; i++)
        bytes[i] = s[length - 1 - i];
    luaL_pushresultsize(&b, length);
    return 1;
}

static int string_rep(lua_State *L)
{
    size_t length, gap;
    const char *s = check_text(L, 1, &length);
    lua_Integer count = luaL_checkinteger(L, 2);
    foliot__lua_name_nan(L, 3);
    const char *between = luaL_optlstring(L, 3, "", &gap);
    if (count <= 0 || length + gap == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    // No product overflows: both factors are bounded first.
    foliot__lua_check_length(L, count > FOLIOT__LUA_STRING_MAX && length + gap > 0
                                    ? (uint64_t)count
                                    : (uint64_t)count * (length + gap) - gap);
    size_t total = (size_t)count * (length + gap) - gap;
    foliot__lua_charge(foliot__lua_of(L), total / 16 + (uint64_t)count);
    luaL_Buffer b;
    char *bytes = luaL_buffinitsize(L, &b, total);
    for (lua_Integer i = 0; i < count; i++) {
        memcpy(bytes, s, length);
        bytes += length;
        if (i + 1 < count) {
            memcpy(bytes, between, gap);
            bytes += gap;
        }
    }
    luaL_pushresultsize(&b, total);
    return 1;
}

// -- find, match, gmatch, gsub

static foliot__lua_matcher matcher_of(lua_State *L, const char *text, size_t length,
                                      const char *pattern, size_t pattern_length)
{
    return (foliot__lua_matcher){.L = L,
                                 .lua = foliot__lua_of(L),
                                 .text = text,
                                 .text_end = text + length,
                                 .pattern_end = pattern + pattern_length};
}

static bool is_plain(const char *pattern)
{
    return strpbrk(pattern, "^$*+?.([%-") == NULL;
}

static int find_plain(lua_State *L, const char *s, const char *pattern, size_t start)
{
    const char *found = strstr(s + start, pattern);
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    lua_pushinteger(L, found - s + 1);
    lua_pushinteger(L, found - s + (lua_Integer)strlen(pattern));
    return 2;
}

// The first match at or behind `s`: its start, NULL if there is none.
static const char *search(foliot__lua_matcher *m, const char *s, const char *pattern,
                          const char **end)
{
    bool anchored = *pattern == '^';
    do {
        m->level = 0;
        m->depth = 0;
        *end = foliot__lua_match(m, s, pattern + anchored);
        if (*end)
            return s;
    } while (!anchored && s++ < m->text_end);
    return NULL;
}

static int find_or_match(lua_State *L, bool find)
{
    size_t length, pattern_length;
    const char *s = check_text(L, 1, &length), *pattern = check_text(L, 2, &pattern_length), *end;
    size_t start = start_offset(luaL_optinteger(L, 3, 1), length);
    if (start > length) {
        lua_pushnil(L);
        return 1;
    }
    if (find && (lua_toboolean(L, 4) || is_plain(pattern)))
        return find_plain(L, s, pattern, start);
    foliot__lua_matcher m = matcher_of(L, s, length, pattern, pattern_length);
    const char *found = search(&m, s + start, pattern, &end);
    if (!found) {
        lua_pushnil(L);
        return 1;
    }
    if (!find)
        return foliot__lua_push_captures(&m, found, end);
    lua_pushinteger(L, found - s + 1);
    lua_pushinteger(L, end - s);
    return 2 + foliot__lua_push_captures(&m, NULL, NULL);
}

static int string_find(lua_State *L)
{
    return find_or_match(L, true);
}

static int string_match(lua_State *L)
{
    return find_or_match(L, false);
}

// Upvalues: text, pattern, where to continue, and where the last match ended (-1: none yet).
static int next_match(lua_State *L)
{
    size_t length, pattern_length;
    const char *s = lua_tolstring(L, lua_upvalueindex(1), &length), *end;
    const char *pattern = lua_tolstring(L, lua_upvalueindex(2), &pattern_length);
    size_t start = (size_t)lua_tointeger(L, lua_upvalueindex(3));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    foliot__lua_matcher m = matcher_of(L, s, length, pattern, pattern_length);
    foliot__lua_charge(m.lua, 8);
    for (const char *at = s + start; at <= m.text_end; at++) {
        m.level = 0;
        m.depth = 0;
        end = foliot__lua_match(&m, at, pattern);
        if (end && end - s != last) {
            lua_pushinteger(L, end - s);
            lua_copy(L, -1, lua_upvalueindex(3));
            lua_replace(L, lua_upvalueindex(4));
            return foliot__lua_push_captures(&m, at, end);
        }
    }
    lua_pushinteger(L, (lua_Integer)length + 1);
    lua_replace(L, lua_upvalueindex(3));
    return 0;
}

static int string_gmatch(lua_State *L)
{
    size_t length, pattern_length;
    check_text(L, 1, &length);
    check_text(L, 2, &pattern_length);
    size_t start = start_offset(luaL_optinteger(L, 3, 1), length);
    lua_settop(L, 2);
    lua_pushinteger(L, (lua_Integer)(start > length ? length + 1 : start));
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

// The replacement text at index 3, with its %0 .. %9.
static void add_replacement_text(foliot__lua_matcher *m, luaL_Buffer *b, const char *start,
                                 const char *end)
{
    size_t length;
    const char *text = lua_tolstring(m->L, 3, &length);
    foliot__lua_charge(m->lua, length / 4);
    for (size_t i = 0; i < length; i++) {
        if (text[i] != '%') {
            luaL_addchar(b, text[i]);
            continue;
        }
        char c = text[++i];
        if (c == '%') {
            luaL_addchar(b, c);
        } else if (c == '0') {
            luaL_addlstring(b, start, (size_t)(end - start));
        } else if (c >= '1' && c <= '9') {
            foliot__lua_push_capture(m, c - '1', start, end);
            luaL_addvalue(b);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
        foliot__lua_check_length(m->L, luaL_bufflen(b));
    }
}

// Adds the replacement of the match from `start` to `end`.
static void add_replacement(foliot__lua_matcher *m, luaL_Buffer *b, const char *start,
                            const char *end)
{
    lua_State *L = m->L;
    int type = lua_type(L, 3);
    if (type == LUA_TSTRING || type == LUA_TNUMBER) {
        add_replacement_text(m, b, start, end);
        return;
    }
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(L, 3);
        int count = foliot__lua_push_captures(m, start, end);
        lua_call(L, count, 1);
    } else {
        foliot__lua_push_capture(m, 0, start, end);
        lua_gettable(L, 3);
    }
    if (!lua_toboolean(L, -1)) {
        lua_pop(L, 1);
        luaL_addlstring(b, start, (size_t)(end - start));
    } else if (lua_isstring(L, -1)) {
        foliot__lua_name_nan(L, -1);
        luaL_addvalue(b);
    } else {
        luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
    }
}

static int string_gsub(lua_State *L)
{
    size_t length, pattern_length;
    const char *s = check_text(L, 1, &length), *pattern = check_text(L, 2, &pattern_length);
    const char *last = NULL, *at = s;
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
                         type == LUA_TTABLE,
                     3, "string/function/table");
    foliot__lua_name_nan(L, 3);
    lua_Integer limit = luaL_optinteger(L, 4, (lua_Integer)length + 1), count = 0;
    bool anchored = *pattern == '^';
    foliot__lua_matcher m = matcher_of(L, s, length, pattern, pattern_length);
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    while (count < limit) {
        m.level = 0;
        m.depth = 0;
        const char *end = foliot__lua_match(&m, at, pattern + anchored);
        if (end && end != last) {
            count++;
            add_replacement(&m, &b, at, end);
            at = last = end;
        } else if (at < m.text_end) {
            luaL_addchar(&b, *at++);
        } else {
            break;
        }
        foliot__lua_check_length(L, luaL_bufflen(&b));
        if (anchored)
            break;
    }
    foliot__lua_check_length(L, luaL_bufflen(&b) + (size_t)(m.text_end - at));
    luaL_addlstring(&b, at, (size_t)(m.text_end - at));
    luaL_pushresult(&b);
    lua_pushinteger(L, count);
    return 2;
}

// -- format

#define ITEM_BYTES_MAX 512 // of a number: 1e308 with 99 digits behind its point

// An item of a format, from its '%' to before its letter: flags, two digits of width, two of
// precision.
static const char *check_item(lua_State *L, const char *format, char item[16])
{
    const char *p = format + 1;
    p += strspn(p, "-+ #0");
    for (int i = 0; i < 2 && *p >= '0' && *p <= '9'; i++)
        p++;
    if (*p == '.') {
        p++;
        for (int i = 0; i < 2 && *p >= '0' && *p <= '9'; i++)
            p++;
    }
    if (p - format > 11)
        luaL_error(L, "invalid format (too many flags)");
    memcpy(item, format, (size_t)(p - format));
    item[p - format] = 0;
    return p;
}

// The formats are made of checked parts.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void add_integer(luaL_Buffer *b, char item[16], char letter, lua_Integer value)
{
    char text[ITEM_BYTES_MAX];
    size_t at = strlen(item);
    snprintf(item + at, 16 - at, "ll%c", letter);
    snprintf(text, sizeof text, item, (long long)value);
    luaL_addstring(b, text);
}

static void add_real(luaL_Buffer *b, char item[16], char letter, lua_Number value)
{
    char text[ITEM_BYTES_MAX];
    size_t at = strlen(item);
    snprintf(item + at, 16 - at, "%c", letter);
    snprintf(text, sizeof text, item, isnan(value) ? (double)NAN : value); // without a sign
    luaL_addstring(b, text);
}

static void add_text(lua_State *L, luaL_Buffer *b, char item[16], int argument)
{
    char text[ITEM_BYTES_MAX];
    size_t length, at = strlen(item);
    const char *s = foliot__lua_push_text(L, argument, &length);
    foliot__lua_charge(foliot__lua_of(L), length / 16);
    if (at == 1 || (!strchr(item, '.') && length >= 100)) {
        foliot__lua_check_length(L, luaL_bufflen(b) + length);
        luaL_addvalue(b);
        return;
    }
    snprintf(item + at, 16 - at, "s");
    snprintf(text, sizeof text, item, s); // two digits of width and precision
    lua_pop(L, 1);
    luaL_addstring(b, text);
}
#pragma GCC diagnostic pop

static const char *add_item(lua_State *L, luaL_Buffer *b, const char *format, int argument)
{
    char item[16];
    const char *p = check_item(L, format, item);
    switch (*p) {
    case 'd':
    case 'i':
    case 'x':
    case 'X':
    case 'o':
        add_integer(b, item, *p, luaL_checkinteger(L, argument));
        break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
        add_real(b, item, *p, luaL_checknumber(L, argument));
        break;
    case 's':
        add_text(L, b, item, argument);
        break;
    default:
        luaL_error(L, "invalid conversion '%s%c' to 'format'", item, *p ? *p : ' ');
    }
    return p + 1;
}

static int string_format(lua_State *L)
{
    size_t length;
    int argument = 1, count = lua_gettop(L);
    const char *format = check_text(L, 1, &length), *end = format + length;
    luaL_Buffer b;
    luaL_buffinit(L, &b);
    while (format < end) {
        foliot__lua_check_length(L, luaL_bufflen(&b));
        if (*format != '%') {
            luaL_addchar(&b, *format++);
        } else if (format[1] == '%') {
            luaL_addchar(&b, '%');
            format += 2;
        } else {
            foliot__lua_charge(foliot__lua_of(L), 30);
            argument++;
            luaL_argcheck(L, argument <= count, argument, "no value");
            format = add_item(L, &b, format, argument);
        }
    }
    foliot__lua_check_length(L, luaL_bufflen(&b));
    luaL_pushresult(&b);
    return 1;
}

void foliot__lua_push_string_library(lua_State *L)
{
    static const luaL_Reg functions[] = {
        {"byte", string_byte},       {"char", string_char},
        {"find", string_find},       {"format", string_format},
        {"gmatch", string_gmatch},   {"gsub", string_gsub},
        {"len", string_len},         {"lower", string_lower},
        {"match", string_match},     {"rep", string_rep},
        {"reverse", string_reverse}, {"sub", string_sub},
        {"upper", string_upper},     {NULL, NULL},
    };
    luaL_newlib(L, functions);
    lua_pushliteral(L, ""); // all strings have one metatable
    lua_createtable(L, 0, 1);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_pop(L, 1);
}
#endif
