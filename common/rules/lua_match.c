// SPDX-License-Identifier: MIT
// lua_match.c: patterns as Lua 5.4's manual, section 6.4.1, has them, by backtracking. Every step
// is charged, so that a pattern that backtracks for ever ends with the budget.
//
// After lstrlib.c of Lua 5.4 (Copyright 1994-2022 Lua.org, PUC-Rio, MIT licence).
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <string.h>

#define CAPTURE_OPEN (-1)
#define CAPTURE_POSITION (-2)
#define DEPTH_MAX 200 // of calls
#define ESCAPE '%'

typedef foliot__lua_matcher matcher;

static void step(matcher *m)
{
    foliot__lua_charge(m->lua, 2);
}

// -- one character

static bool in_range(int c, char low, char high)
{
    return c >= low && c <= high;
}

static bool is_letter(int c)
{
    return in_range(c | 0x20, 'a', 'z');
}

static bool is_printed(int c)
{
    return in_range(c, '!', '~');
}

// The classes of ASCII, whatever the locale.
static bool in_class(int c, int class)
{
    bool result;
    switch (class | 0x20) {
    case 'a':
        result = is_letter(c);
        break;
    case 'c':
        result = c < 0x20 || c == 0x7f;
        break;
    case 'd':
        result = in_range(c, '0', '9');
        break;
    case 'g':
        result = is_printed(c);
        break;
    case 'l':
        result = in_range(c, 'a', 'z');
        break;
    case 'p':
        result = is_printed(c) && !is_letter(c) && !in_range(c, '0', '9');
        break;
    case 's':
        result = c == ' ' || in_range(c, '\t', '\r');
        break;
    case 'u':
        result = in_range(c, 'A', 'Z');
        break;
    case 'w':
        result = is_letter(c) || in_range(c, '0', '9');
        break;
    case 'x':
        result = in_range(c, '0', '9') || in_range(c | 0x20, 'a', 'f');
        break;
    default:
        return class == c;
    }
    return in_range(class, 'A', 'Z') ? !result : result;
}

// The end of the one-character item that starts at `p`.
static const char *item_end(matcher *m, const char *p)
{
    if (p == m->pattern_end)
        luaL_error(m->L, "malformed pattern (ends too early)");
    char c = *p++;
    if (c == ESCAPE) {
        if (p == m->pattern_end)
            luaL_error(m->L, "malformed pattern (ends with '%%')");
        return p + 1;
    }
    if (c != '[')
        return p;
    if (p < m->pattern_end && *p == '^')
        p++;
    do { // a ']' that comes first is a character
        if (p == m->pattern_end)
            luaL_error(m->L, "malformed pattern (missing ']')");
        if (*p++ == ESCAPE) {
            if (p == m->pattern_end)
                luaL_error(m->L, "malformed pattern (missing ']')");
            p++;
        }
    } while (p == m->pattern_end || *p != ']');
    return p + 1;
}

// `p` at '[', `end` at its ']'.
static bool in_set(matcher *m, int c, const char *p, const char *end)
{
    bool negated = p[1] == '^';
    p += negated;
    foliot__lua_charge(m->lua, (uint64_t)(end - p) / 4);
    while (++p < end) {
        if (*p == ESCAPE) {
            p++;
            if (in_class(c, (unsigned char)*p))
                return !negated;
        } else if (p[1] == '-' && p + 2 < end) {
            p += 2;
            if ((unsigned char)p[-2] <= c && c <= (unsigned char)*p)
                return !negated;
        } else if ((unsigned char)*p == c) {
            return !negated;
        }
    }
    return negated;
}

// `end`: of the item at `p`.
static bool matches_one(matcher *m, const char *s, const char *p, const char *end)
{
    if (s >= m->text_end)
        return false;
    int c = (unsigned char)*s;
    switch (*p) {
    case '.':
        return true;
    case ESCAPE:
        return in_class(c, (unsigned char)p[1]);
    case '[':
        return in_set(m, c, p, end - 1);
    default:
        return (unsigned char)*p == c;
    }
}

// -- repetitions and captures

static const char *match_most(matcher *m, const char *s, const char *p, const char *end)
{
    ptrdiff_t n = 0;
    while (matches_one(m, s + n, p, end)) {
        step(m);
        n++;
    }
    for (; n >= 0; n--) {
        const char *result = foliot__lua_match(m, s + n, end + 1);
        if (result)
            return result;
    }
    return NULL;
}

static const char *match_least(matcher *m, const char *s, const char *p, const char *end)
{
    for (;;) {
        const char *result = foliot__lua_match(m, s, end + 1);
        if (result)
            return result;
        if (!matches_one(m, s, p, end))
            return NULL;
        step(m);
        s++;
    }
}

// %bxy
static const char *match_balance(matcher *m, const char *s, const char *p)
{
    if (p + 1 >= m->pattern_end)
        luaL_error(m->L, "malformed pattern (missing arguments to '%%b')");
    if (s >= m->text_end || *s != p[0])
        return NULL;
    int open = 1;
    while (++s < m->text_end) {
        step(m);
        if (*s == p[1]) {
            if (--open == 0)
                return s + 1;
        } else if (*s == p[0]) {
            open++;
        }
    }
    return NULL;
}

static const char *start_capture(matcher *m, const char *s, const char *p, ptrdiff_t kind)
{
    if (m->level >= FOLIOT__LUA_CAPTURES_MAX)
        luaL_error(m->L, "too many captures");
    m->captures[m->level++] = (foliot__lua_capture){s, kind};
    const char *result = foliot__lua_match(m, s, p);
    if (!result)
        m->level--;
    return result;
}

static const char *end_capture(matcher *m, const char *s, const char *p)
{
    int i = m->level - 1;
    while (i >= 0 && m->captures[i].length != CAPTURE_OPEN)
        i--;
    if (i < 0)
        luaL_error(m->L, "invalid pattern capture");
    m->captures[i].length = s - m->captures[i].start;
    const char *result = foliot__lua_match(m, s, p);
    if (!result)
        m->captures[i].length = CAPTURE_OPEN;
    return result;
}

// %1 .. %9
static const char *match_capture(matcher *m, const char *s, char digit)
{
    int i = digit - '1';
    if (i < 0 || i >= m->level || m->captures[i].length == CAPTURE_OPEN)
        luaL_error(m->L, "invalid capture index %%%d", i + 1);
    ptrdiff_t length = m->captures[i].length == CAPTURE_POSITION ? 0 : m->captures[i].length;
    foliot__lua_charge(m->lua, (uint64_t)length / 16);
    if (m->text_end - s < length || memcmp(m->captures[i].start, s, (size_t)length) != 0)
        return NULL;
    return s + length;
}

// -- a pattern

// %f[set]: a border between what is not in the set and what is.
static bool at_frontier(matcher *m, const char *s, const char *p, const char *end)
{
    int before = s > m->text ? (unsigned char)s[-1] : 0;
    int after = s < m->text_end ? (unsigned char)*s : 0;
    return !in_set(m, before, p, end - 1) && in_set(m, after, p, end - 1);
}

// An item with the repetition behind it. Sets *s and *p for what follows, or *result and false.
static bool match_item(matcher *m, const char **s, const char **p, const char **result)
{
    const char *end = item_end(m, *p);
    char repeat = end < m->pattern_end ? *end : 0;
    bool one = matches_one(m, *s, *p, end);
    *result = NULL;
    switch (repeat) {
    case '?':
        if (one && (*result = foliot__lua_match(m, *s + 1, end + 1)) != NULL)
            return false;
        *p = end + 1;
        return true;
    case '+':
        *result = one ? match_most(m, *s + 1, *p, end) : NULL;
        return false;
    case '*':
        *result = match_most(m, *s, *p, end);
        return false;
    case '-':
        *result = match_least(m, *s, *p, end);
        return false;
    default:
        if (!one)
            return false;
        ++*s;
        *p = end;
        return true;
    }
}

// Items that start with an escape and are not a class. True if it was one of them: then *s is NULL
// or continues at *p.
static bool match_escape(matcher *m, const char **s, const char **p)
{
    char c = *p + 1 < m->pattern_end ? (*p)[1] : 0;
    if (c == 'b') {
        *s = match_balance(m, *s, *p + 2);
        *p += 4;
    } else if (c == 'f') {
        *p += 2;
        if (*p == m->pattern_end || **p != '[')
            luaL_error(m->L, "missing '[' after '%%f' in pattern");
        const char *end = item_end(m, *p);
        *s = at_frontier(m, *s, *p, end) ? *s : NULL;
        *p = end;
    } else if (c >= '0' && c <= '9') {
        *s = match_capture(m, *s, c);
        *p += 2;
    } else {
        return false;
    }
    return true;
}

static const char *match_items(matcher *m, const char *s, const char *p)
{
    const char *result;
    while (s && p != m->pattern_end) {
        step(m);
        if (*p == '(' && p + 1 != m->pattern_end && p[1] == ')')
            return start_capture(m, s, p + 2, CAPTURE_POSITION);
        if (*p == '(')
            return start_capture(m, s, p + 1, CAPTURE_OPEN);
        if (*p == ')')
            return end_capture(m, s, p + 1);
        if (*p == '$' && p + 1 == m->pattern_end)
            return s == m->text_end ? s : NULL;
        if (*p == ESCAPE && match_escape(m, &s, &p))
            continue;
        if (!match_item(m, &s, &p, &result))
            return result;
    }
    return s;
}

const char *foliot__lua_match(foliot__lua_matcher *m, const char *text, const char *pattern)
{
    if (m->depth++ == DEPTH_MAX)
        luaL_error(m->L, "pattern too complex");
    const char *end = match_items(m, text, pattern);
    m->depth--;
    return end;
}

void foliot__lua_push_capture(foliot__lua_matcher *m, int index, const char *start, const char *end)
{
    if (index >= m->level) {
        if (index != 0)
            luaL_error(m->L, "invalid capture index %%%d", index + 1);
        lua_pushlstring(m->L, start, (size_t)(end - start));
        return;
    }
    const foliot__lua_capture *capture = &m->captures[index];
    if (capture->length == CAPTURE_OPEN)
        luaL_error(m->L, "unfinished capture");
    if (capture->length == CAPTURE_POSITION)
        lua_pushinteger(m->L, capture->start - m->text + 1);
    else
        lua_pushlstring(m->L, capture->start, (size_t)capture->length);
}

int foliot__lua_push_captures(foliot__lua_matcher *m, const char *start, const char *end)
{
    int count = m->level == 0 && start ? 1 : m->level;
    luaL_checkstack(m->L, count, "too many captures");
    for (int i = 0; i < count; i++)
        foliot__lua_push_capture(m, i, start, end);
    return count;
}
#endif
