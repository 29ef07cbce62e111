// SPDX-License-Identifier: MIT
// table.c: answers of the admin API for people. Names are made printable: players choose them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin.h"
#include "base/json_reader.h"
#include "base/text.h"

#define COLUMNS_MAX 16
#define CELL_BYTES 96

typedef struct table {
    char heads[COLUMNS_MAX][32];
    int widths[COLUMNS_MAX];
    uint32_t columns;
} table;

// Any value that is no object or array, as text.
static bool read_cell(foliot__json_reader *r, char cell[CELL_BYTES])
{
    char number[FOLIOT__JSON_NUMBER_BYTES], text[1024];
    double value;
    switch (foliot__json_peek(r)) {
    case '"':
        if (!foliot__json_text_value(r, text, sizeof text))
            return false;
        foliot__text_mend(text);
        return snprintf(cell, CELL_BYTES, "%.*s", CELL_BYTES - 1, text) >= 0;
    case 't':
        return snprintf(cell, CELL_BYTES, "yes") && foliot__json_word(r, "true");
    case 'f':
        return snprintf(cell, CELL_BYTES, "no") && foliot__json_word(r, "false");
    case 'n':
        return snprintf(cell, CELL_BYTES, "-") && foliot__json_word(r, "null");
    default:
        if (!foliot__json_number(r, number))
            return false;
        if (strpbrk(number, ".eE") && foliot__parse_real(number, &value))
            snprintf(number, sizeof number, "%.6g", value);
        return snprintf(cell, CELL_BYTES, "%.*s", CELL_BYTES - 1, number) >= 0;
    }
}

// All rows are read twice: for their widths, and to be printed.
static void walk_rows(foliot__json_reader *r, table *t, FILE *out)
{
    char key[32], cell[CELL_BYTES];
    foliot__json_enter(r, '[');
    while (foliot__json_more(r)) {
        uint32_t column = 0;
        foliot__json_enter(r, '{');
        while (foliot__json_more(r) && foliot__json_key(r, key, sizeof key)) {
            if (!read_cell(r, cell))
                return;
            if (column == COLUMNS_MAX)
                continue;
            if (column == t->columns) {
                memcpy(t->heads[t->columns], key, sizeof key);
                t->widths[t->columns++] = (int)strlen(key);
            }
            int width = (int)strlen(cell);
            if (out)
                fprintf(out, "%-*s  ", t->widths[column], cell);
            else if (width > t->widths[column])
                t->widths[column] = width;
            column++;
        }
        if (out)
            fputc('\n', out);
    }
}

static void print_rows(foliot__json_reader *r, FILE *out)
{
    table t = {.columns = 0};
    foliot__json_reader again = *r;
    walk_rows(r, &t, NULL);
    for (uint32_t i = 0; i < t.columns; i++)
        fprintf(out, "%-*s  ", t.widths[i], t.heads[i]);
    fputs(t.columns ? "\n" : "none\n", out);
    walk_rows(&again, &t, out);
}

static void print_lines(foliot__json_reader *r, FILE *out)
{
    char key[FOLIOT__JSON_NUMBER_BYTES], cell[CELL_BYTES];
    foliot__json_enter(r, '{');
    while (foliot__json_more(r) && foliot__json_key(r, key, sizeof key)) {
        char next = foliot__json_peek(r);
        if (next == '[')
            print_rows(r, out);
        else if (next == '{')
            print_lines(r, out); // variables
        else if (read_cell(r, cell) && strcmp(key, "ok") != 0)
            fprintf(out, "%-16s %s\n", foliot__text_mend(key), cell);
    }
}

void foliot__ctl_show_answer(const char *json, FILE *out)
{
    foliot__json_reader r = foliot__json_reader_of(json, strlen(json));
    print_lines(&r, out);
}
