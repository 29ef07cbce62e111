// SPDX-License-Identifier: MIT
// test_command_doc.c: docs/reference/commands.md names every kind, field, word and reason that
// there is, as it is, and none that there is not. Method: reads the page's tables line by line.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command/command.h"

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
