// SPDX-License-Identifier: MIT
// board.c: see board.h. All text of the session is made printable before it is drawn: other players
// and games may send any bytes.
#include "board.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

#define CLOCK "clock"    // seconds, shown large
#define PHASE "phase"    // next to it, but for "play"
#define SCORES "score."  // variables that begin so are the scoreboard; without any, all are shown
#define SCORES_MAX 16    // lines
#define SCORE_COLUMNS 30 // of a line
#define KEY_ESCAPE '\x1b'
#define KEY_BACK '\x7f'

// -- the line

bool foliot__board_handle_key(foliot__board *board, char key, bool sequence)
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
    if (enter || key == KEY_ESCAPE) {
        board->writing = false;
        board->entered = enter;
        foliot__text_mend(board->entry);
    } else if (key == KEY_BACK || key == '\b') {
        while (board->entry_bytes > 0 && (board->entry[board->entry_bytes - 1] & 0xc0) == 0x80)
            board->entry_bytes--; // continuation bytes of a character
        board->entry_bytes -= board->entry_bytes > 0;
        board->entry[board->entry_bytes] = 0;
    } else if ((unsigned char)key >= ' ' && board->entry_bytes < FOLIOT_ORDER_BYTES_MAX) {
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

// The number by which a line is sorted: highest first; texts last.
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

// Digits of three by five blocks, a bit for each, and a colon.
#define DIGIT_COLUMNS 3
#define DIGIT_ROWS 5
#define LARGE_COLUMNS 60 // of a canvas that has room for them
static const uint16_t digits[11] = {0x7b6f, 0x2c97, 0x73e7, 0x73cf, 0x5bc9, 0x79cf,
                                    0x79ef, 0x7249, 0x7bef, 0x7bcf, 0x0410};

static void draw_large(foliot__canvas *canvas, const char *text, foliot__colour colour)
{
    static const char block[] = "\xe2\x96\x88"; // U+2588
    int32_t length = (int32_t)strlen(text);
    int32_t left = ((int32_t)canvas->columns - length * (DIGIT_COLUMNS + 1)) / 2;
    for (int32_t i = 0; i < length; i++) {
        uint16_t bits = digits[text[i] == ':' ? 10 : (text[i] - '0') % 10];
        for (int32_t k = 0; k < DIGIT_COLUMNS * DIGIT_ROWS; k++)
            if (bits >> (DIGIT_COLUMNS * DIGIT_ROWS - 1 - k) & 1)
                foliot__canvas_text(canvas, left + i * (DIGIT_COLUMNS + 1) + k % DIGIT_COLUMNS,
                                    1 + k / DIGIT_COLUMNS, colour, block);
    }
}

void foliot__board_clock_text(int64_t seconds, char text[FOLIOT__BOARD_CLOCK_BYTES])
{
    seconds = seconds < 0 ? 0 : seconds > 5999 ? 5999 : seconds;
    snprintf(text, FOLIOT__BOARD_CLOCK_BYTES, "%u:%02u", (unsigned)(seconds / 60),
             (unsigned)(seconds % 60));
}

// The clock of the game in the middle of the top, red in its last ten seconds, and its phase.
static void draw_clock(foliot__canvas *canvas, const foliot_client *client)
{
    foliot_var var;
    char text[FOLIOT__BOARD_CLOCK_BYTES], phase[FOLIOT_VAR_TEXT_BYTES] = "";
    bool large = canvas->columns >= LARGE_COLUMNS && canvas->rows >= 4 * DIGIT_ROWS;
    bool counts = foliot_client_get_var(client, CLOCK, &var) && var.type == FOLIOT_VAR_INTEGER;
    if (counts) {
        foliot__colour colour = var.integer <= 10 ? FOLIOT__COLOUR_RED : FOLIOT__COLOUR_YELLOW;
        foliot__board_clock_text(var.integer, text);
        if (large)
            draw_large(canvas, text, colour);
        else
            foliot__canvas_text(canvas, ((int32_t)canvas->columns - (int32_t)strlen(text)) / 2, 1,
                                colour, text);
    }
    if (foliot_client_get_var(client, PHASE, &var) && var.type == FOLIOT_VAR_TEXT &&
        strcmp(var.text, "play") != 0)
        foliot__text_clean(phase, sizeof phase, var.text);
    if (phase[0])
        foliot__canvas_text(canvas, ((int32_t)canvas->columns - (int32_t)strlen(phase)) / 2,
                            !counts ? 1
                            : large ? 2 + DIGIT_ROWS
                                    : 2,
                            FOLIOT__COLOUR_YELLOW, phase);
}

void foliot__board_draw(const foliot__board *board, foliot__canvas *canvas,
                        const foliot_client *client)
{
    char line[FOLIOT_ORDER_BYTES_MAX + 16], entry[FOLIOT_ORDER_BYTES_MAX + 1];
    draw_clock(canvas, client);
    draw_variables(canvas, client);
    draw_messages(board, canvas);
    if (!board->writing)
        return;
    int32_t last = (int32_t)canvas->rows - 1;
    foliot__text_clean(entry, sizeof entry, board->entry);
    // The end of a long line is the part being written.
    size_t room = canvas->columns > 12 ? canvas->columns - 12 : 1, length = strlen(entry);
    snprintf(line, sizeof line, " say: %s_", length > room ? entry + (length - room) : entry);
    foliot__text_mend(line);
    foliot__canvas_blank(canvas, last);
    foliot__canvas_text(canvas, 0, last, FOLIOT__COLOUR_GREEN, line);
}
