// SPDX-License-Identifier: MIT
// test_doc_tables.c: the tables of docs/reference name what there is: commands, integrators, rules.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"
#include "foliot/command.h"
#include "foliot/foliot.h"
#include "foliot/rules.h"
#include "rules/lua_state.h"

// -- command doc: docs/reference/commands.md names every kind, field, word and reason that
// there is, as it is, and none that there is not. Method: reads the page's tables line by line.

#define PAGE "docs/reference/commands.md"
#define CELLS 8

// The cells of a row of a table, without blanks around them. Returns how many.
static uint32_t split_row(char *line, char *cells[CELLS])
{
    uint32_t count = 0;
    char *at = line[0] == '|' ? line + 1 : NULL;
    while (at && count < CELLS) {
        char *end = strchr(at, '|');
        if (!end)
            break;
        *end = 0;
        at += strspn(at, " ");
        size_t length = strlen(at);
        while (length && at[length - 1] == ' ')
            at[--length] = 0;
        cells[count++] = at;
        at = end + 1;
    }
    return count;
}

static void check_words(const char *range, const char *const *words)
{
    for (uint32_t i = 0; words && words[i]; i++) {
        char wanted[40];
        snprintf(wanted, sizeof wanted, "`%s` %u", words[i], i);
        if (!strstr(range, wanted))
            fail_msg("%s: the page lacks %s in '%s'", PAGE, wanted, range);
    }
    assert_int_equal(words != NULL, strchr(range, '`') != NULL);
}

// A row of a field: bit, field, type, need, unit, range, meaning.
static void check_field(uint32_t kind, uint32_t bit, char *cells[CELLS])
{
    static const char *const types[] = {"u32",  "i32",   "i64",  "f32", "f64",
                                        "body", "joint", "text", "real"};
    const foliot_command_kind_info *info = foliot_command_kind_get_info(kind);
    char wanted[64];
    check_lt(bit, info->field_count);
    const foliot_command_field *field = &info->fields[bit];
    check_eq((uint32_t)atoi(cells[0]), bit);
    snprintf(wanted, sizeof wanted, "`%s`", field->name);
    assert_string_equal(cells[1], wanted);
    snprintf(wanted, sizeof wanted, field->count > 1 ? "%s x %u" : "%s", types[field->type],
             field->count);
    assert_string_equal(cells[2], wanted);
    assert_string_equal(cells[3], field->required ? "required" : "optional");
    check_words(cells[5], foliot__command_words(kind, field));
    assert_int_equal(foliot__command_is_flag(kind, field), strcmp(cells[5], "flag") == 0);
    if (field->type == FOLIOT_COMMAND_TYPE_text) {
        snprintf(wanted, sizeof wanted, ".. %u bytes",
                 (unsigned)foliot__command_text_bytes(kind, field) - 1);
        assert_non_null(strstr(cells[5], wanted));
    }
}

static void check_reason(uint32_t number, char *cells[CELLS])
{
    static const char *const names[] = {
#define NAME(name, text) "`" #name "`",
        FOLIOT_COMMAND_REASONS(NAME)
#undef NAME
    };
    check_lt(number, FOLIOT_COMMAND_REASON_COUNT);
    check_eq((uint32_t)atoi(cells[0]), number);
    assert_string_equal(cells[1], names[number]);
    assert_string_equal(cells[2], foliot_command_reason_get_text((foliot_command_reason)number));
}

TEST(the_page_names_what_there_is)
{
    FILE *in = fopen(PAGE, "r");
    char line[512], *cells[CELLS];
    uint32_t kind = FOLIOT_COMMAND_KIND_COUNT, kinds = 0, fields = 0, reasons = 0;
    bool in_reasons = false;
    assert_non_null(in);
    while (fgets(line, sizeof line, in)) {
        char name[40];
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "### %u %39s", &kind, name) == 2) {
            check_eq(kind, kinds++);
            check_eq(foliot_command_kind_find(name), kind);
            if (kind > 0)
                check_eq(fields, foliot_command_kind_get_info(kind - 1)->field_count);
            fields = 0;
        } else if (strncmp(line, "## ", 3) == 0) {
            in_reasons = strstr(line, "Reasons") != NULL;
            kind = FOLIOT_COMMAND_KIND_COUNT;
        } else if (line[0] == '|' && line[2] >= '0' && line[2] <= '9') {
            uint32_t count = split_row(line, cells);
            if (kind < FOLIOT_COMMAND_KIND_COUNT && count == 7)
                check_field(kind, fields++, cells);
            else if (in_reasons && count == 3)
                check_reason(reasons++, cells);
            else
                fail_msg("a row of %u cells", count);
        }
    }
    fclose(in);
    check_eq(kinds, FOLIOT_COMMAND_KIND_COUNT);
    check_eq(fields, foliot_command_kind_get_info(kinds - 1)->field_count);
    check_eq(reasons, FOLIOT_COMMAND_REASON_COUNT);
}

// -- integrators doc: the table in docs/explanation/integrators.md says of every scheme what
// the registry says. Each row is written out from the registry and looked for in the file, so that
// neither can change alone.

#define DOCUMENT "docs/explanation/integrators.md"
#define DOCUMENT_BYTES (1 << 20)

static const char *yes(bool is)
{
    return is ? "yes" : "no";
}

static const char *count(char text[8], unsigned value, const char *zero)
{
    snprintf(text, 8, "%u", value);
    return value > 0 ? text : zero;
}

// | name (aliases) | order | damped | rotation | symplectic | reversible | E/step | contacts | rods
// |
static void write_row(const foliot_integrator_info *info, char *row, size_t bytes)
{
    static const char *const reversible[] = {[FOLIOT_REVERSIBILITY_NONE] = "no",
                                             [FOLIOT_REVERSIBILITY_ROUNDED] = "yes",
                                             [FOLIOT_REVERSIBILITY_EXACT] = "bit for bit"};
    char damped[8], rotation[8], evaluations[8], aliases[128];
    size_t length = 0;
    for (const char *at = info->aliases; *at && length + 3 < sizeof aliases; at++) {
        if (*at == ' ')
            aliases[length++] = ',';
        aliases[length++] = *at;
    }
    aliases[length] = 0;
    snprintf(row, bytes, "| %s%s%s%s | %u | %s | %s | %s | %s | %s | %s | %s |\n", info->name,
             length ? " (" : "", aliases, length ? ")" : "", info->order,
             count(damped, info->order_damped, "refused"),
             count(rotation, info->rotation_order, "none"), yes(info->symplectic),
             reversible[info->reversible], count(evaluations, info->evaluations, "solver"),
             yes(info->contacts), yes(info->rods));
}

TEST(the_table_is_that_of_the_registry)
{
    char *text = calloc(DOCUMENT_BYTES, 1), row[512];
    FILE *file = fopen(DOCUMENT, "r");
    assert_non_null(file);
    size_t length = fread(text, 1, DOCUMENT_BYTES - 1, file);
    fclose(file);
    check_gt(length, 0);
    unsigned missing = 0;
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        write_row(foliot_integrator_get_info((foliot_integrator)id), row, sizeof row);
        if (!strstr(text, row)) {
            print_error("not in %s: %s", DOCUMENT, row);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
    free(text);
}

// -- rules doc: docs/reference/rules.md has every callback with its arguments, every function
// of a script, every field of every command and every function of foliot/rules.h, and no others.
// Method: the sandbox itself lists what it has; the page is searched for `code` of such forms.

#define RULES_DOC_PAGE "docs/reference/rules.md"
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
    const char *page = read_file(RULES_DOC_PAGE);
    const names *list = sandbox();
    for (uint32_t i = 0; i < list->count; i++)
        if (!is_documented(page, list->name[i]))
            fail_msg("%s is not in " RULES_DOC_PAGE, list->name[i]);
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
    const char *page = read_file(RULES_DOC_PAGE);
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
    const char *page = read_file(RULES_DOC_PAGE);
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
    const char *page = flattened(read_file(RULES_DOC_PAGE));
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
    const char *page = read_file(RULES_DOC_PAGE), *header = read_file(HEADER);
    uint32_t found = 0;
    for (const char *at = header; (at = strstr(at, "foliot_")) != NULL; at += 7) {
        size_t length = span(at);
        char name[64];
        if (at[length] != '(' || strncmp(at, "foliot_rules_", 13) != 0)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        found++;
        if (!is_documented(page, name))
            fail_msg("%s is not in " RULES_DOC_PAGE, name);
    }
    check_gt(found, 15);
}
