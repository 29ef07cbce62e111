// SPDX-License-Identifier: MIT
// canvas.h: a picture in a terminal: Braille characters of 2 x 4 dots, one colour a character,
// words on top. Draws into memory; the caller decides what to do with the characters (print them,
// hand them to ncurses). Knows nothing of bodies and scenes: tools/view/view.h does.
#ifndef FOLIOT_BASE_CANVAS_H
#define FOLIOT_BASE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FOLIOT__CANVAS_COLUMNS_MAX 1000
#define FOLIOT__CANVAS_ROWS_MAX 500

// Numbers of the terminal's own colours; 0 is its default ink.
typedef enum foliot__colour {
    FOLIOT__COLOUR_INK = 0,
    FOLIOT__COLOUR_RED,
    FOLIOT__COLOUR_GREEN,
    FOLIOT__COLOUR_YELLOW,
    FOLIOT__COLOUR_BLUE,
    FOLIOT__COLOUR_MAGENTA,
    FOLIOT__COLOUR_CYAN,
    FOLIOT__COLOUR_GREY,
} foliot__colour;

typedef struct foliot__cell {
    uint8_t dots;   // bits of a Braille pattern
    uint8_t colour; // of the dot or letter drawn last
    char letter[5]; // one UTF-8 character on top of the dots, "" if none
    bool covered;   // by the letter before it, which is two columns wide
} foliot__cell;

typedef struct foliot__canvas {
    uint32_t columns, rows; // of characters; dots are 2 columns and 4 rows each
    foliot__cell *cells;    // row by row
} foliot__canvas;

// Cleared. Sizes are clamped to 1..MAX; false if there is no memory. Also resizes a canvas that was
// all zero or initialised before.
bool foliot__canvas_init(foliot__canvas *canvas, uint32_t columns, uint32_t rows);
void foliot__canvas_free(foliot__canvas *canvas);
void foliot__canvas_clear(foliot__canvas *canvas);

// In dots from the top left corner; parts outside are clipped.
void foliot__canvas_dot(foliot__canvas *canvas, double x, double y, foliot__colour colour);
void foliot__canvas_line(foliot__canvas *canvas, double x1, double y1, double x2, double y2,
                         foliot__colour colour);
void foliot__canvas_circle(foliot__canvas *canvas, double x, double y, double radius,
                           foliot__colour colour);
// No dots within a convex polygon.
void foliot__canvas_erase(foliot__canvas *canvas, const double (*corners)[2], uint32_t count);
// A row of characters without letters and dots.
void foliot__canvas_blank(foliot__canvas *canvas, int32_t row);
// In characters; cut at the canvas's edge, control characters left out. Names go through here.
void foliot__canvas_text(foliot__canvas *canvas, int32_t column, int32_t row, foliot__colour colour,
                         const char *text);

// Writes a cell's character as UTF-8: its letter, else its dots, else a blank.
void foliot__cell_text(const foliot__cell *cell, char text[5]);
// All rows, separated by newlines; with escape codes for colours if `colours`.
void foliot__canvas_print(const foliot__canvas *canvas, bool colours, FILE *out);

#endif
