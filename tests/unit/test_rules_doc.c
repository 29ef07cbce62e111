// SPDX-License-Identifier: MIT
// test_rules_doc.c: docs/reference/rules.md has every callback with its arguments, every function
// of a script, every field of every command and every function of foliot/rules.h, and no others.
// Method: the sandbox itself lists what it has; the page is searched for `code` of such forms.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

#include "foliot/command.h"
#include "foliot/rules.h"
#include "rules/lua_state.h"

#define PAGE "docs/reference/rules.md"
#define HEADER "include/foliot/rules.h"
#define NAMES_MAX 512

typedef struct names {
    char name[NAMES_MAX][64];
    uint32_t count;
} names;

static char *read_file(const char *file)
{
    static char text[2][1 << 17];
    static int at;
    char *room = text[at++ & 1];
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    size_t length = fread(room, 1, sizeof text[0] - 1, in);
    room[length] = 0;
    fclose(in);
    check_gt(length, 1000);
    return room;
}

static void add(names *list, const char *library, const char *name)
{
    assert_true(list->count < NAMES_MAX);
    snprintf(list->name[list->count++], sizeof list->name[0], "%s%s%s", library,
             library[0] ? "." : "", name);
}

static bool has(const names *list, const char *name, size_t length)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (strlen(list->name[i]) == length && memcmp(list->name[i], name, length) == 0)
            return true;
    return false;
}

// Everything that an empty script finds.
static void list_sandbox(lua_State *L, names *list, const char *library)
{
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
        const char *name = lua_tostring(L, -2);
        if (lua_istable(L, -1) && library[0] == 0 && strcmp(name, "state") != 0)
            list_sandbox(L, list, name);
        else if (!lua_istable(L, -1))
            add(list, library, name);
    }
}

static names *sandbox(void)
{
    static names list;
    foliot_scene scene = foliot_scene_default();
    foliot_lua_limits limits = foliot_lua_limits_default();
    foliot__lua *lua = foliot__lua_create("doc.lua", &limits, &scene);
    assert_non_null(lua);
    assert_true(foliot__lua_load(lua, "", 0));
    list.count = 0;
    foliot__lua_push_globals(lua->L);
    list_sandbox(lua->L, &list, "");
    foliot__lua_destroy(lua);
    check_gt(list.count, 100);
    return &list;
}

// `NAME` or `NAME(...`
static bool is_documented(const char *page, const char *name)
{
    char code[2][80];
    snprintf(code[0], sizeof code[0], "`%s`", name);
    snprintf(code[1], sizeof code[1], "`%s(", name);
    return strstr(page, code[0]) || strstr(page, code[1]);
}

TEST(every_function_is_on_the_page)
{
    const char *page = read_file(PAGE);
    const names *list = sandbox();
    for (uint32_t i = 0; i < list->count; i++)
        if (!is_documented(page, list->name[i]))
            fail_msg("%s is not in " PAGE, list->name[i]);
}

static size_t span(const char *text)
{
    return strspn(text, "abcdefghijklmnopqrstuvwxyz_.0123456789");
}

// A row of a table starts with the code of one or more functions.
TEST(every_function_of_the_page_is_there)
{
    static const char *const libraries[] = {"command.", "history.", "math.", "string.",
                                            "table.",   "utf8.",    "world."};
    const char *page = read_file(PAGE);
    const names *list = sandbox();
    uint32_t found = 0;
    for (const char *at = strchr(page, '`'); at; at = strchr(at + 1, '`'))
        for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++) {
            size_t length = strlen(libraries[i]);
            if (strncmp(at + 1, libraries[i], length) != 0)
                continue;
            length = span(at + 1);
            found++;
            if (!has(list, at + 1, length))
                fail_msg("there is no %.*s", (int)length, at + 1);
        }
    check_gt(found, 90);
}

TEST(callbacks_have_their_arguments)
{
    const char *page = read_file(PAGE);
    uint32_t rows = 0, callbacks = 0;
#define CHECK(name, arguments, text)                                                               \
    callbacks++;                                                                                   \
    if (!strstr(page, "\n| `" #name "(" arguments ")` |"))                                         \
        fail_msg("no row has `%s(%s)`", #name, arguments);
    FOLIOT__LUA_CALLBACKS(CHECK)
#undef CHECK
    for (const char *at = page; (at = strstr(at, "\n| `on_")) != NULL; at++)
        rows++;
    check_eq(rows, callbacks);
}

// The page on one line.
static const char *flattened(const char *page)
{
    static char flat[1 << 17];
    size_t n = 0;
    for (const char *at = page; *at; at++) {
        bool blank = *at == ' ' || *at == '\n';
        if (!blank || (n > 0 && flat[n - 1] != ' '))
            flat[n++] = blank ? ' ' : *at;
    }
    flat[n] = 0;
    return flat;
}

static int print_fields(char *text, size_t capacity, const foliot_command_kind_info *kind,
                        bool required)
{
    int length = 0;
    text[0] = 0;
    for (uint32_t f = 0; f < kind->field_count; f++)
        if (kind->fields[f].required == required)
            length += snprintf(text + length, capacity - (size_t)length, "%s`%s`",
                               length ? ", " : "", kind->fields[f].name);
    return length;
}

// An item names a command's required fields, and then the optional ones.
TEST(commands_have_their_fields)
{
    const char *page = flattened(read_file(PAGE));
    for (uint32_t k = 0; foliot_command_kind_get_info(k); k++) {
        const foliot_command_kind_info *kind = foliot_command_kind_get_info(k);
        char required[512], optional[512], item[1200];
        bool both = print_fields(required, sizeof required, kind, true) > 0;
        bool any = print_fields(optional, sizeof optional, kind, false) > 0;
        snprintf(item, sizeof item, "* `command.%s`: %s%s%s%s.", kind->name, required,
                 both && any ? "; " : "", any ? "optional " : "", optional);
        if (!strstr(page, item))
            fail_msg("no item is: %s", item);
    }
}

TEST(functions_of_the_header_are_on_the_page)
{
    const char *page = read_file(PAGE), *header = read_file(HEADER);
    uint32_t found = 0;
    for (const char *at = header; (at = strstr(at, "foliot_")) != NULL; at += 7) {
        size_t length = span(at);
        char name[64];
        if (at[length] != '(' || strncmp(at, "foliot_rules_", 13) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        found++;
        if (!is_documented(page, name))
            fail_msg("%s is not in " PAGE, name);
    }
    check_gt(found, 15);
}
