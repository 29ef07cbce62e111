// SPDX-License-Identifier: MIT
// canvas.c: dots, lines and areas on characters. Everything is clipped before it is drawn, so that
// a body at 10^12 costs no more than one in the middle.
#include "base/canvas.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define SEGMENTS_MAX 64 // of a circle

static uint32_t clamp_size(uint32_t value, uint32_t high)
{
    return value < 1 ? 1 : value > high ? high : value;
}

bool foliot__canvas_init(foliot__canvas *canvas, uint32_t columns, uint32_t rows)
{
    columns = clamp_size(columns, FOLIOT__CANVAS_COLUMNS_MAX);
    rows = clamp_size(rows, FOLIOT__CANVAS_ROWS_MAX);
    foliot__cell *cells = realloc(canvas->cells, (size_t)columns * rows * sizeof *cells);
    if (!cells)
        return false;
    *canvas = (foliot__canvas){columns, rows, cells};
    foliot__canvas_clear(canvas);
    return true;
}

void foliot__canvas_free(foliot__canvas *canvas)
{
    free(canvas->cells);
    *canvas = (foliot__canvas){0};
}

void foliot__canvas_clear(foliot__canvas *canvas)
{
    memset(canvas->cells, 0, (size_t)canvas->columns * canvas->rows * sizeof *canvas->cells);
}

// -- dots and lines

// Bits of U+2800: dots 1 to 6 by columns, then the lowest row.
static const uint8_t bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};

void foliot__canvas_dot(foliot__canvas *canvas, double x, double y, foliot__colour colour)
{
    if (x > -1 && y > -1 && x < 2 * canvas->columns && y < 4 * canvas->rows) {
        int32_t column = (int32_t)floor(x);
        int32_t row = (int32_t)floor(y);
        if (!(column < 0) && !(row < 0) && !(column >= (int32_t)(2 * canvas->columns)) &&
            !(row >= (int32_t)(4 * canvas->rows))) {
            foliot__cell *cell =
                &canvas->cells[(uint32_t)row / 4 * canvas->columns + (uint32_t)column / 2];
            cell->dots |= bits[row % 4][column % 2];
            if (!cell->letter[0])
                cell->colour = (uint8_t)colour;
        }
    }
}

// Liang and Barsky 1984: moves the ends of a line onto one edge; false if nothing of it is inside.
static bool clip_line(double from, double step, double low, double high, double *t0, double *t1)
{
    if (step == 0)
        return from >= low && from <= high;
    double enter = (low - from) / step, leave = (high - from) / step;
    if (enter > leave) {
        double swap = enter;
        enter = leave;
        leave = swap;
    }
    *t0 = fmax(*t0, enter);
    *t1 = fmin(*t1, leave);
    return *t0 <= *t1;
}

void foliot__canvas_line(foliot__canvas *canvas, double x1, double y1, double x2, double y2,
                         foliot__colour colour)
{
    double dx = x2 - x1, dy = y2 - y1, t0 = 0, t1 = 1;
    if (!isfinite(x1) || !isfinite(y1) || !isfinite(dx) || !isfinite(dy) ||
        !clip_line(x1, dx, 0, 2 * canvas->columns - 1, &t0, &t1) ||
        !clip_line(y1, dy, 0, 4 * canvas->rows - 1, &t0, &t1))
        return;
    // The ends inside, once more within: x1 + dx t is not, to rounding, where the line is long.
    double right = 2 * canvas->columns - 1, bottom = 4 * canvas->rows - 1;
    double from_x = fmin(fmax(x1 + dx * t0, 0), right), to_x = fmin(fmax(x1 + dx * t1, 0), right);
    double from_y = fmin(fmax(y1 + dy * t0, 0), bottom), to_y = fmin(fmax(y1 + dy * t1, 0), bottom);
    int32_t steps = (int32_t)ceil(fmax(fabs(to_x - from_x), fabs(to_y - from_y)));
    for (int32_t k = 0; k <= steps; k++) {
        // A little further, so that a value just below a whole number counts as that number.
        double t = steps ? (double)k / steps : 0, nudge = 1e-5;
        foliot__canvas_dot(canvas, from_x + (to_x - from_x) * t + nudge,
                           from_y + (to_y - from_y) * t + nudge, colour);
    }
}

// Where the row at height y enters and leaves the polygon.
static bool row_span(const double (*corners)[2], uint32_t count, double y, double *left,
                     double *right)
{
    bool any = false;
    for (uint32_t k = 0; k < count; k++) {
        const double *p = corners[k], *q = corners[(k + 1) % count];
        if ((p[1] > y) == (q[1] > y))
            continue;
        double x = p[0] + (q[0] - p[0]) * ((y - p[1]) / (q[1] - p[1]));
        *left = any ? fmin(*left, x) : x;
        *right = any ? fmax(*right, x) : x;
        any = true;
    }
    return any;
}

void foliot__canvas_erase(foliot__canvas *canvas, const double (*corners)[2], uint32_t count)
{
    double low = INFINITY, high = -INFINITY, left, right;
    for (uint32_t k = 0; k < count; k++) {
        if (!isfinite(corners[k][0]) || !isfinite(corners[k][1]))
            return;
        low = fmin(low, corners[k][1]);
        high = fmax(high, corners[k][1]);
    }
    int32_t first = (int32_t)fmin(fmax(floor(low), 0), 4 * canvas->rows);
    int32_t last = (int32_t)fmin(ceil(high), 4 * canvas->rows - 1);
    for (int32_t y = first; y <= last; y++) {
        if (!row_span(corners, count, y + 0.5, &left, &right))
            continue;
        int32_t from = (int32_t)fmin(fmax(ceil(left - 0.5), 0), 2 * canvas->columns);
        int32_t to = (int32_t)fmin(floor(right - 0.5), 2 * canvas->columns - 1);
        for (int32_t x = from; x <= to; x++)
            canvas->cells[(uint32_t)y / 4 * canvas->columns + (uint32_t)x / 2].dots &=
                (uint8_t)~bits[y % 4][x % 2];
    }
}

void foliot__canvas_circle(foliot__canvas *canvas, double x, double y, double radius,
                           foliot__colour colour)
{
    if (!(radius >= 0.8)) {
        foliot__canvas_dot(canvas, x, y, colour);
        return;
    }
    // Far out of sight, or so large that the edge is elsewhere.
    double reach = 2.0 * canvas->columns + 4.0 * canvas->rows;
    if (!(x + radius >= 0 && y + radius >= 0 && x - radius <= reach && y - radius <= reach))
        return;
    int segments = (int)fmin(SEGMENTS_MAX, fmax(12, 2 * radius));
    double last_x = x + radius, last_y = y;
    for (int k = 1; k <= segments; k++) {
        double angle = 2 * M_PI * k / segments;
        double next_x = x + radius * cos(angle), next_y = y + radius * sin(angle);
        foliot__canvas_line(canvas, last_x, last_y, next_x, next_y, colour);
        last_x = next_x;
        last_y = next_y;
    }
}

// A wide letter that is half overwritten is removed: it would take more columns than are free.
static void put_letter(foliot__cell *row, uint32_t columns, uint32_t column, uint32_t wide,
                       const char *letter, size_t length, foliot__colour colour)
{
    foliot__cell *cell = row + column;
    if (cell->covered)
        cell[-1].letter[0] = 0;
    if (column + wide < columns)
        cell[wide].covered = false;
    memcpy(cell->letter, letter, length);
    cell->letter[length] = 0;
    cell->colour = (uint8_t)colour;
    for (uint32_t k = 0; k < wide; k++)
        cell[k].covered = k > 0;
}

void foliot__canvas_blank(foliot__canvas *canvas, int32_t row)
{
    if (row >= 0 && row < (int32_t)canvas->rows)
        memset(canvas->cells + (size_t)row * canvas->columns, 0,
               canvas->columns * sizeof *canvas->cells);
}

void foliot__canvas_text(foliot__canvas *canvas, int32_t column, int32_t row, foliot__colour colour,
                         const char *text)
{
    char clean[256];
    if (row < 0 || row >= (int32_t)canvas->rows)
        return;
    foliot__text_clean(clean, sizeof clean, text);
    foliot__cell *cells = canvas->cells + (size_t)row * canvas->columns;
    for (const char *at = clean; *at;) {
        uint32_t character;
        size_t length = foliot__utf8_decode(at, &character);
        int32_t wide = (int32_t)foliot__character_columns(character);
        if (column + wide > (int32_t)canvas->columns)
            return;
        if (column >= 0 && wide > 0)
            put_letter(cells, canvas->columns, (uint32_t)column, (uint32_t)wide, at, length,
                       colour);
        column += wide; // combining characters are dropped: a cell holds one
        at += length;
    }
}

void foliot__cell_text(const foliot__cell *cell, char text[5])
{
    if (cell->letter[0]) {
        memcpy(text, cell->letter, 5);
    } else if (cell->dots) {
        text[0] = (char)0xe2;
        text[1] = (char)(0xa0 | cell->dots >> 6);
        text[2] = (char)(0x80 | (cell->dots & 0x3f));
        text[3] = 0;
    } else {
        text[0] = ' ';
        text[1] = 0;
    }
}

void foliot__canvas_print(const foliot__canvas *canvas, bool colours, FILE *out)
{
    uint8_t colour = FOLIOT__COLOUR_INK;
    for (uint32_t row = 0; row < canvas->rows; row++) {
        for (uint32_t column = 0; column < canvas->columns; column++) {
            const foliot__cell *cell = &canvas->cells[row * canvas->columns + column];
            char text[5];
            if (cell->covered)
                continue;
            foliot__cell_text(cell, text);
            if (colours && text[0] != ' ' && cell->colour != colour) {
                colour = cell->colour;
                if (colour == FOLIOT__COLOUR_INK)
                    fputs("\033[0m", out);
                else
                    fprintf(out, "\033[%dm", colour == FOLIOT__COLOUR_GREY ? 90 : 90 + colour);
            }
            fputs(text, out);
        }
        if (row + 1 < canvas->rows)
            fputc('\n', out);
    }
    if (colour != FOLIOT__COLOUR_INK)
        fputs("\033[0m", out);
}
