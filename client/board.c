// SPDX-License-Identifier: MIT
// board.c: see board.h. Everything that comes from the session is made printable before it is
// drawn: other players and games may send any bytes.
#include "board.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define SCORES "score."  // variables that begin so are the scoreboard; without any, all are shown
#define SCORES_MAX 16    // lines
#define SCORE_COLUMNS 30 // of a line
#define KEY_ESCAPE '\x1b'
#define KEY_BACK '\x7f'

// -- the line

static void take_back(foliot__board *board)
{
    while (board->entry_bytes > 0 && (board->entry[board->entry_bytes - 1] & 0xc0) == 0x80)
        board->entry_bytes--; // what follows the first byte of a character
    board->entry_bytes -= board->entry_bytes > 0;
    board->entry[board->entry_bytes] = 0;
}

static void close_line(foliot__board *board, bool entered)
{
    board->writing = false;
    board->entered = entered;
    foliot__text_mend(board->entry);
}

bool foliot__board_takes(foliot__board *board, char key, bool sequence)
{
    bool enter = key == '\n' || key == '\r';
    if (!board->writing) {
        board->writing = enter;
        if (enter)
            board->entry[board->entry_bytes = 0] = 0;
        return enter;
    }
    if (sequence)
        return true; // arrows and the like mean nothing here
    if (enter || key == KEY_ESCAPE)
        close_line(board, enter);
    else if (key == KEY_BACK || key == '\b')
        take_back(board);
    else if ((unsigned char)key >= ' ' && board->entry_bytes < FOLIOT_ORDER_BYTES_MAX) {
        board->entry[board->entry_bytes++] = key;
        board->entry[board->entry_bytes] = 0;
    }
    return true;
}

const char *foliot__board_line(foliot__board *board)
{
    bool entered = board->entered;
    board->entered = false;
    return entered ? board->entry : NULL;
}

// -- messages

void foliot__board_say(foliot__board *board, uint64_t now_ns, const char *text)
{
    uint32_t at = board->said++ % FOLIOT__BOARD_LINES;
    foliot__text_clean(board->lines[at], sizeof board->lines[at], text);
    board->said_ns[at] = now_ns;
}

static void draw_messages(const foliot__board *board, foliot__canvas *canvas)
{
    int32_t row = (int32_t)canvas->rows - 3;
    for (uint32_t age = 1; age <= FOLIOT__BOARD_LINES && age <= board->said && row > 1; age++) {
        uint32_t at = (board->said - age) % FOLIOT__BOARD_LINES;
        if (board->now_ns - board->said_ns[at] > FOLIOT__BOARD_SHOWN_NS)
            return;
        foliot__canvas_text(canvas, 1, row--, FOLIOT__COLOUR_CYAN, board->lines[at]);
    }
}

// -- variables

static void print_var(const foliot_var *var, const char *name, char text[SCORE_COLUMNS * 4])
{
    char clean[FOLIOT_VAR_KEY_BYTES], value[FOLIOT_VAR_TEXT_BYTES];
    foliot__text_clean(clean, sizeof clean, name);
    if (var->type == FOLIOT_VAR_INTEGER)
        snprintf(value, sizeof value, "%lld", (long long)var->integer);
    else if (var->type == FOLIOT_VAR_NUMBER)
        snprintf(value, sizeof value, "%.6g", var->number);
    else
        foliot__text_clean(value, sizeof value, var->text);
    snprintf(text, SCORE_COLUMNS * 4, "%.16s %.12s", clean, value);
    foliot__text_mend(text); // a character may have been cut
}

// The number that a line is sorted by: most first; texts last.
static double rank_of(const foliot_var *var)
{
    return var->type == FOLIOT_VAR_INTEGER  ? (double)var->integer
           : var->type == FOLIOT_VAR_NUMBER ? var->number
                                            : -1e300;
}

static void draw_variables(foliot__canvas *canvas, const foliot_client *client)
{
    foliot_var best[SCORES_MAX];
    uint32_t total = foliot_client_get_var_count(client), count = 0;
    bool scores = false;
    for (uint32_t i = 0; i < total && !scores; i++)
        scores = strncmp(foliot_client_get_var_at(client, i).key, SCORES, strlen(SCORES)) == 0;
    for (uint32_t i = 0; i < total; i++) {
        foliot_var var = foliot_client_get_var_at(client, i);
        if (scores && strncmp(var.key, SCORES, strlen(SCORES)) != 0)
            continue;
        uint32_t at = count < SCORES_MAX ? count++ : SCORES_MAX;
        for (; at > 0 && scores && rank_of(&best[at - 1]) < rank_of(&var); at--)
            if (at < SCORES_MAX)
                best[at] = best[at - 1];
        if (at < SCORES_MAX)
            best[at] = var;
    }
    for (uint32_t i = 0; i < count && i + 6 < canvas->rows; i++) {
        char text[SCORE_COLUMNS * 4];
        print_var(&best[i], best[i].key + (scores ? strlen(SCORES) : 0), text);
        foliot__canvas_text(canvas, (int32_t)canvas->columns - SCORE_COLUMNS, 2 + (int32_t)i,
                            FOLIOT__COLOUR_YELLOW, text);
    }
}

void foliot__board_draw(const foliot__board *board, foliot__canvas *canvas,
                        const foliot_client *client)
{
    char line[FOLIOT_ORDER_BYTES_MAX + 16], entry[FOLIOT_ORDER_BYTES_MAX + 1];
    draw_variables(canvas, client);
    draw_messages(board, canvas);
    if (!board->writing)
        return;
    int32_t last = (int32_t)canvas->rows - 1;
    foliot__text_clean(entry, sizeof entry, board->entry);
    // The end of a long line is what is being written.
    size_t room = canvas->columns > 12 ? canvas->columns - 12 : 1, length = strlen(entry);
    snprintf(line, sizeof line, " say: %s_", length > room ? entry + (length - room) : entry);
    foliot__text_mend(line);
    foliot__canvas_blank(canvas, last);
    foliot__canvas_text(canvas, 0, last, FOLIOT__COLOUR_GREEN, line);
}
