// SPDX-License-Identifier: MIT
// lua_load.c: checks a script's tokens, compiles it and runs its main part; finds the column of a
// syntax error, since Lua reports the line alone. After the main part all globals are fixed:
// `state` alone keeps data between ticks.
//
// The script's environment is an empty table; its metatable reads the table of globals, and lets
// writes through while the script is loaded.
#ifndef FOLIOT_NO_LUA
#include "rules/lua_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/text.h"

// -- tokens, as Lua 5.4's manual, section 3.1, has them. Lua itself reports what is not
// well-formed.

typedef enum token_kind {
    TOKEN_NAME,
    TOKEN_NUMBER,
    TOKEN_STRING, // quoted, with its quotes
    TOKEN_LONG_STRING,
    TOKEN_OTHER, // one character
} token_kind;

typedef struct lua_token {
    token_kind kind;
    const char *start;
    size_t length;
    uint32_t line, column; // of its start, from 1; columns are bytes
} lua_token;

typedef struct scanner {
    const char *at, *end, *line_start;
    uint32_t line;
} scanner;

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

static scanner scanner_of(const char *script, size_t length)
{
    return (scanner){script, script + length, script, 1};
}

static char peek(const scanner *s, size_t ahead)
{
    return (size_t)(s->end - s->at) > ahead ? s->at[ahead] : 0;
}

static void advance(scanner *s)
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
static int long_bracket_level(const scanner *s)
{
    size_t n = 1;
    if (peek(s, 0) != '[')
        return -1;
    while (peek(s, n) == '=')
        n++;
    return peek(s, n) == '[' ? (int)n - 1 : -1;
}

static void skip_long_bracket(scanner *s, int level)
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

static void skip_blanks(scanner *s)
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

static void skip_quoted(scanner *s)
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

static void skip_number(scanner *s)
{
    bool hex = peek(s, 0) == '0' && (peek(s, 1) == 'x' || peek(s, 1) == 'X');
    s->at += hex ? 2 : 1;
    while (is_name(peek(s, 0)) || peek(s, 0) == '.') {
        char c = (char)(*s->at++ | 0x20);
        if (c == (hex ? 'p' : 'e') && (peek(s, 0) == '+' || peek(s, 0) == '-'))
            s->at++;
    }
}

// False at the end.
static bool scan_token(scanner *s, lua_token *token)
{
    skip_blanks(s);
    if (s->at >= s->end)
        return false;
    *token = (lua_token){
        .start = s->at, .line = s->line, .column = (uint32_t)(s->at - s->line_start) + 1};
    char c = *s->at;
    int level = long_bracket_level(s);
    if (is_name_start(c)) {
        token->kind = TOKEN_NAME;
        while (is_name(peek(s, 0)))
            s->at++;
    } else if (is_digit(c) || (c == '.' && is_digit(peek(s, 1)))) {
        token->kind = TOKEN_NUMBER;
        skip_number(s);
    } else if (c == '"' || c == '\'') {
        token->kind = TOKEN_STRING;
        skip_quoted(s);
    } else if (level >= 0) {
        token->kind = TOKEN_LONG_STRING;
        skip_long_bracket(s, level);
    } else {
        token->kind = TOKEN_OTHER;
        s->at++;
    }
    token->length = (size_t)(s->at - token->start);
    return true;
}

// -- refused tokens

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

static bool has_zero_escape(const lua_token *token)
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

static bool refuse(const char *name, uint32_t line, uint32_t column, const char *why, char *problem,
                   size_t problem_bytes)
{
    snprintf(problem, problem_bytes, "%s:%u:%u: %s", name, (unsigned)line, (unsigned)column, why);
    return false;
}

// Whether a script avoids everything that rules may not use: bytecode, zero bytes, `^`, _ENV.
// Otherwise `problem` receives a sentence with file, line and column.
static bool check_tokens(const char *script, size_t length, const char *name, char *problem,
                         size_t problem_bytes)
{
    if (length > 0 && script[0] == '\x1b')
        return refuse(name, 1, 1, "this is bytecode; a script is text", problem, problem_bytes);
    scanner s = scanner_of(script, length);
    const char *zero = length ? memchr(script, 0, length) : NULL;
    if (zero) {
        while (s.at < zero)
            advance(&s);
        return refuse(name, s.line, (uint32_t)(zero - s.line_start) + 1,
                      "a script has no zero bytes", problem, problem_bytes);
    }
    lua_token token;
    while (scan_token(&s, &token)) {
        const char *why = NULL;
        if (token.kind == TOKEN_OTHER && *token.start == '^')
            why = "`^` differs from machine to machine; use math.pow";
        if (token.kind == TOKEN_NAME && token.length == 4 && memcmp(token.start, "_ENV", 4) == 0)
            why = "_ENV is not available";
        if (token.kind == TOKEN_STRING && has_zero_escape(&token))
            why = "a text has no zero bytes";
        if (why)
            return refuse(name, token.line, token.column, why, problem, problem_bytes);
    }
    return true;
}
// -- compiling
//
// Lua's compiler gets the script piece by piece, and the clock is checked before each. Nothing
// counts instructions there, and a few constructs take time quadratic in the text: a chain of
// 200,000 `or` takes a minute. A piece after the time limit is not read.

#define PIECE_BYTES 64u
// Processor time of a compilation. A hand-written script of 1 MiB takes a fiftieth of it.
#define COMPILE_NS_MAX 2000000000u

typedef struct script_text {
    const char *at;
    size_t left;
    uint64_t end_ns; // of the thread's own clock
    bool late;       // the time limit came before the end of the text
} script_text;

static uint64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static const char *read_piece(lua_State *L, void *user, size_t *length)
{
    (void)L;
    script_text *text = user;
    text->late |= text->left > 0 && cpu_ns() > text->end_ns;
    *length = text->late ? 0 : text->left < PIECE_BYTES ? text->left : PIECE_BYTES;
    const char *piece = text->at;
    text->at += *length;
    text->left -= *length;
    return *length ? piece : NULL;
}

static script_text script_text_of(const char *script, size_t length, uint64_t allowed_ns)
{
    return (script_text){.at = script, .left = length, .end_ns = cpu_ns() + allowed_ns};
}

// Like luaL_loadbufferx for text. If the time limit is exceeded, the result is meaningless.
static int compile_text(lua_State *L, script_text *text, const char *chunk)
{
    return lua_load(L, read_piece, text, chunk, "t");
}
static const char *const callback_names[] = {
#define NAME(name, arguments, text) #name,
    FOLIOT__LUA_CALLBACKS(NAME)
#undef NAME
};

typedef struct source {
    const char *script;
    size_t length;
} source;

// -- the environment

static int set_global(lua_State *L)
{
    const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
    if (foliot__lua_of(L)->loaded && strcmp(name, "state") != 0)
        return luaL_error(L,
                          "the global '%s' is fixed once the script is loaded: keep it in "
                          "`state`, or make it local",
                          name);
    foliot__lua_push_globals(L);
    lua_insert(L, 2);
    lua_rawset(L, 2);
    return 0;
}

static void push_libraries(lua_State *L)
{
    static const struct {
        const char *name;
        void (*push)(lua_State *L);
    } libraries[] = {
        {"command", foliot__lua_push_command_library},
        {"history", foliot__lua_push_history_library},
        {"math", foliot__lua_push_math_library},
        {"string", foliot__lua_push_string_library},
        {"table", foliot__lua_push_table_library},
        {"utf8", foliot__lua_push_utf8_library},
        {"world", foliot__lua_push_world_library},
    };
    lua_newtable(L);
    foliot__lua_set_base_functions(L);
    foliot__lua_set_game_functions(L);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
        libraries[i].push(L);
        lua_setfield(L, -2, libraries[i].name);
    }
    lua_newtable(L);
    lua_setfield(L, -2, "state");
    foliot__lua_set_globals(L);
}

// -- callbacks

// A function whose name resembles a callback's would never be called.
static void check_name(lua_State *L, const char *name)
{
    uint32_t best = UINT32_MAX;
    const char *near = NULL;
    for (int i = 0; i < FOLIOT__LUA_CALLBACK_COUNT; i++) {
        uint32_t distance = foliot__word_distance(name, callback_names[i]);
        if (distance == 0)
            return;
        if (distance < best) {
            best = distance;
            near = callback_names[i];
        }
    }
    if (foliot__word_close(name, best))
        luaL_error(L, "there is no callback '%s'; is it %s?", name, near);
    luaL_error(L, "there is no callback '%s'", name);
}

static void check_names(lua_State *L)
{
    int globals = lua_gettop(L);
    uint32_t count = foliot__lua_push_sorted_keys(L, globals, NULL);
    for (uint32_t i = 1; i <= count; i++) {
        lua_rawgeti(L, globals + 1, i);
        lua_pushvalue(L, -1);
        lua_rawget(L, globals);
        if (lua_type(L, -2) == LUA_TSTRING && lua_isfunction(L, -1) &&
            strncmp(lua_tostring(L, -2), "on_", 3) == 0)
            check_name(L, lua_tostring(L, -2));
        lua_pop(L, 2);
    }
    lua_settop(L, globals);
}

// -- loading

static int load_body(lua_State *L)
{
    const source *from = lua_touserdata(L, 1);
    foliot__lua *lua = foliot__lua_of(L);
    char chunk[FOLIOT_NAME_BYTES + 1];
    push_libraries(L);
    snprintf(chunk, sizeof chunk, "=%s", lua->name);
    script_text text = script_text_of(from->script, from->length, COMPILE_NS_MAX);
    int status = compile_text(L, &text, chunk);
    if (text.late)
        foliot__lua_abandon(lua, "the script takes more than 2 seconds to compile");
    if (status != LUA_OK)
        return lua_error(L);
    lua_newtable(L); // the environment
    lua_createtable(L, 0, 3);
    foliot__lua_push_globals(L);
    lua_setfield(L, -2, "__index");
    lua_pushcfunction(L, set_global);
    lua_setfield(L, -2, "__newindex");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "__metatable");
    lua_setmetatable(L, -2);
    lua_setupvalue(L, -2, 1);
    lua_call(L, 0, 0);
    foliot__lua_push_globals(L);
    check_names(L);
    for (int i = 0; i < FOLIOT__LUA_CALLBACK_COUNT; i++) {
        lua_Debug about;
        lua_getfield(L, -1, callback_names[i]);
        if (lua_isnil(L, -1)) {
            lua_pop(L, 1);
            continue;
        }
        if (!lua_isfunction(L, -1))
            luaL_error(L, "%s is a %s, not a function", callback_names[i], luaL_typename(L, -1));
        lua_pushvalue(L, -1);
        lua_getinfo(L, ">u", &about);
        lua->parameters[i] = about.isvararg ? UINT8_MAX : about.nparams;
        lua->callbacks[i] = luaL_ref(L, LUA_REGISTRYINDEX);
    }
    foliot__lua_remember_globals(L);
    lua->loaded = true;
    return 0;
}

bool foliot__lua_load(foliot__lua *lua, const char *script, size_t length)
{
    source from = {script, length};
    if (length > FOLIOT_RULES_SCRIPT_BYTES_MAX) {
        snprintf(lua->problem, sizeof lua->problem, "%s: the script has %zu bytes; at most %u",
                 lua->name, length, (unsigned)FOLIOT_RULES_SCRIPT_BYTES_MAX);
        return false;
    }
    return check_tokens(script, length, lua->name, lua->problem, sizeof lua->problem) &&
           foliot__lua_run(lua, lua->limits.init_instructions, load_body, &from);
}

// -- the column of a syntax error
//
// It is that of the first token of its line with which a cut script has the same error. Cut before
// it, the error is one near the end of the text.

// Limit of each compilation: for a script that takes longer, no column is reported.
#define COLUMN_NS_MAX 50000000u

// The message of a script cut after `length` bytes; false if it compiles, or takes too long.
static bool compile(const char *script, size_t length, const char *chunk, char *text,
                    size_t text_bytes)
{
    lua_State *L = luaL_newstate();
    if (!L)
        return false;
    script_text cut = script_text_of(script, length, COLUMN_NS_MAX);
    bool fails = compile_text(L, &cut, chunk) != LUA_OK && !cut.late;
    const char *message = fails ? lua_tostring(L, -1) : NULL;
    snprintf(text, text_bytes, "%s", message ? message : "");
    lua_close(L);
    return fails && message;
}

// Token number `n` of the line, or its last one if there are fewer; returns how many there are up
// to it.
static uint32_t token_of_line(const char *script, size_t length, unsigned line, uint32_t n,
                              lua_token *token)
{
    scanner s = scanner_of(script, length);
    lua_token at;
    uint32_t count = 0;
    while (count <= n && scan_token(&s, &at) && at.line <= line)
        if (at.line == line) {
            *token = at;
            count++;
        }
    return count;
}

// The column of the error of `line`, 0 if it is not found. By bisection: a cut before the token has
// another error, a cut behind it has this one.
static unsigned find_column(const char *script, size_t length, const char *chunk, unsigned line,
                            const char *problem)
{
    lua_token token;
    uint32_t count = token_of_line(script, length, line, UINT32_MAX - 1, &token);
    uint32_t low = 0, high = count;
    if (count == 0)
        return 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        token_of_line(script, length, line, middle, &token);
        char text[512];
        size_t end = (size_t)(token.start - script) + token.length;
        if (compile(script, end, chunk, text, sizeof text) && strcmp(text, problem) == 0)
            high = middle;
        else
            low = middle + 1;
    }
    token_of_line(script, length, line, low, &token);
    // A cut changes the text of half a token; behind the last token something is missing.
    const char *near = strstr(problem, " near '");
    bool is_near = near && strlen(near) == token.length + 8 &&
                   memcmp(near + 7, token.start, token.length) == 0;
    return low < count || is_near ? token.column : token.column + (unsigned)token.length;
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
