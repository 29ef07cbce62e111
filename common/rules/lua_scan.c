// SPDX-License-Identifier: MIT
// lua_scan.c: reads a script token by token, as Lua 5.4's manual, section 3.1, has them.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_scan.h"

#include <stdio.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(char c)
{
    return is_name_start(c) || is_digit(c);
}

foliot__lua_scanner foliot__lua_scanner_of(const char *script, size_t length)
{
    return (foliot__lua_scanner){script, script + length, script, 1};
}

static char peek(const foliot__lua_scanner *s, size_t ahead)
{
    return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : 0;
}

static void advance(foliot__lua_scanner *s)
{
    char c = *s->at++;
    // "\r\n" and "\n\r" are one end of a line.
    if (c == '\n' || c == '\r') {
        if (s->at < s->end && (*s->at == '\n' || *s->at == '\r') && *s->at != c)
            s->at++;
        s->line++;
        s->line_start = s->at;
    }
}

// The level of a long bracket that starts here ("[==["), -1 if none does.
static int long_bracket_level(const foliot__lua_scanner *s)
{
    size_t n = 1;
    if (peek(s, 0) != '[')
        return -1;
    while (peek(s, n) == '=')
        n++;
    return peek(s, n) == '[' ? (int)n - 1 : -1;
}

static void skip_long_bracket(foliot__lua_scanner *s, int level)
{
    s->at += level + 2;
    while (s->at < s->end) {
        if (*s->at == ']') {
            int n = 0;
            while (peek(s, 1 + (size_t)n) == '=' && n < level)
                n++;
            if (n == level && peek(s, 1 + (size_t)n) == ']') {
                s->at += level + 2;
                return;
            }
        }
        advance(s);
    }
}

static void skip_blanks(foliot__lua_scanner *s)
{
    while (s->at < s->end) {
        if (peek(s, 0) == '-' && peek(s, 1) == '-') {
            s->at += 2;
            int level = long_bracket_level(s);
            if (level >= 0)
                skip_long_bracket(s, level);
            else
                while (s->at < s->end && *s->at != '\n' && *s->at != '\r')
                    s->at++;
        } else if (*s->at == ' ' || (*s->at >= '\t' && *s->at <= '\r')) {
            advance(s);
        } else {
            return;
        }
    }
}

static void skip_quoted(foliot__lua_scanner *s)
{
    char quote = *s->at++;
    while (s->at < s->end && *s->at != quote && *s->at != '\n' && *s->at != '\r') {
        if (*s->at == '\\' && s->at + 1 < s->end) {
            s->at++;
            if (*s->at == 'z') {
                s->at++;
                while (s->at < s->end && (*s->at == ' ' || (*s->at >= '\t' && *s->at <= '\r')))
                    advance(s);
                continue;
            }
        }
        advance(s);
    }
    if (s->at < s->end && *s->at == quote)
        s->at++;
}

static void skip_number(foliot__lua_scanner *s)
{
    bool hex = peek(s, 0) == '0' && (peek(s, 1) == 'x' || peek(s, 1) == 'X');
    s->at += hex ? 2 : 1;
    while (is_name(peek(s, 0)) || peek(s, 0) == '.') {
        char c = (char)(*s->at++ | 0x20);
        if (c == (hex ? 'p' : 'e') && (peek(s, 0) == '+' || peek(s, 0) == '-'))
            s->at++;
    }
}

bool foliot__lua_scan_token(foliot__lua_scanner *s, foliot__lua_token *token)
{
    skip_blanks(s);
    if (s->at >= s->end)
        return false;
    *token = (foliot__lua_token){
        .start = s->at, .line = s->line, .column = (uint32_t)(s->at - s->line_start) + 1};
    char c = *s->at;
    int level = long_bracket_level(s);
    if (is_name_start(c)) {
        token->kind = FOLIOT__LUA_TOKEN_NAME;
        while (is_name(peek(s, 0)))
            s->at++;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(s, 1)))) {
        token->kind = FOLIOT__LUA_TOKEN_NUMBER;
        skip_number(s);
    } else if (c == '"' || c == '\'') {
        token->kind = FOLIOT__LUA_TOKEN_STRING;
        skip_quoted(s);
    } else if (level >= 0) {
        token->kind = FOLIOT__LUA_TOKEN_LONG_STRING;
        skip_long_bracket(s, level);
    } else {
        token->kind = FOLIOT__LUA_TOKEN_OTHER;
        s->at++;
    }
    token->length = (size_t)(s->at - token->start);
    return true;
}

// -- what is refused

// Whether the escape behind the backslash at `at` gives a zero byte.
static bool escapes_zero(const char *at, const char *end)
{
    at++;
    if (at < end && *at == 'x')
        return end - at > 2 && at[1] == '0' && at[2] == '0';
    if (at < end && *at == 'u') {
        if (end - at < 3 || at[1] != '{' || at[2] != '0')
            return false;
        for (at += 2; at < end && *at == '0'; at++)
            ;
        return at < end && *at == '}';
    }
    int digits = 0;
    for (; digits < 3 && at < end && is_digit(*at); at++, digits++)
        if (*at != '0')
            return false;
    return digits > 0;
}

static bool has_zero_escape(const foliot__lua_token *token)
{
    const char *end = token->start + token->length;
    for (const char *at = token->start; at < end; at++)
        if (*at == '\\') {
            if (escapes_zero(at, end))
                return true;
            at++;
        }
    return false;
}

static bool is_word(const foliot__lua_token *token, const char *word)
{
    return token->length == strlen(word) && memcmp(token->start, word, token->length) == 0;
}

// Why the token is refused; NULL if it is not.
static const char *refusal(const foliot__lua_token *token)
{
    if (token->kind == FOLIOT__LUA_TOKEN_OTHER && *token->start == '^')
        return "`^` differs from machine to machine; use math.pow";
    if (token->kind == FOLIOT__LUA_TOKEN_NAME && is_word(token, "_ENV"))
        return "_ENV is not available";
    if (token->kind == FOLIOT__LUA_TOKEN_STRING && has_zero_escape(token))
        return "a text has no zero bytes";
    return NULL;
}

static bool refuse(const char *name, uint32_t line, uint32_t column, const char *why, char *problem,
                   size_t problem_bytes)
{
    snprintf(problem, problem_bytes, "%s:%u:%u: %s", name, (unsigned)line, (unsigned)column, why);
    return false;
}

bool foliot__lua_scan(const char *script, size_t length, const char *name, char *problem,
                      size_t problem_bytes)
{
    if (length > 0 && script[0] == '\x1b')
        return refuse(name, 1, 1, "this is bytecode; a script is text", problem, problem_bytes);
    foliot__lua_scanner s = foliot__lua_scanner_of(script, length);
    const char *zero = length ? memchr(script, 0, length) : NULL;
    if (zero) {
        while (s.at < zero)
            advance(&s);
        return refuse(name, s.line, (uint32_t)(zero - s.line_start) + 1,
                      "a script has no zero bytes", problem, problem_bytes);
    }
    foliot__lua_token token;
    while (foliot__lua_scan_token(&s, &token)) {
        const char *why = refusal(&token);
        if (why)
            return refuse(name, token.line, token.column, why, problem, problem_bytes);
    }
    return true;
}
#endif
