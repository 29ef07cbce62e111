// SPDX-License-Identifier: MIT
// canvas.h: a picture in a terminal: Braille characters of 2 x 4 dots, one colour a character,
// words on top. And a view, which says where on the canvas a place of the world is. Draws into
// memory; what to do with the characters is the caller's business (print them, hand them to
// ncurses).
#ifndef FOLIOT_BASE_CANVAS_H
#define FOLIOT_BASE_CANVAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "foliot/world.h" // for its types alone

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

// In dots from the left top corner; what lies outside is left out.
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

// What a character shows, as UTF-8: its letter, else its dots, else a blank.
void foliot__cell_text(const foliot__cell *cell, char text[5]);
// All rows, each ended by a newline (the last one not); with escape codes for colours if `colours`.
void foliot__canvas_print(const foliot__canvas *canvas, bool colours, FILE *out);

// -- places of the world

typedef enum foliot__view_side {
    FOLIOT__VIEW_TOP,    // x to the right, y up
    FOLIOT__VIEW_FRONT,  // x to the right, z up
    FOLIOT__VIEW_SIDE,   // y to the right, z up
    FOLIOT__VIEW_CORNER, // from the right, in front and above
    FOLIOT__VIEW_SIDES
} foliot__view_side;

typedef struct foliot__view {
    foliot__view_side side;
    double centre[3];
    double dots_per_unit; // 0: not fitted yet
} foliot__view;

const char *foliot__view_name(foliot__view_side side);
// top, front, side or corner; false for any other word.
bool foliot__view_side_of(const char *word, foliot__view_side *side);
// From above where nothing falls; else from the front if the scene is flat, and from a corner if it
// is not.
foliot__view_side foliot__view_side_for(const foliot_scene *scene);
// Makes everything between the corners visible. A view that shows it well already stays as it is,
// so that the picture does not breathe: it changes when something would be cut or looks lost.
void foliot__view_fit(foliot__view *view, const foliot__canvas *canvas, const double low[3],
                      const double high[3]);
void foliot__view_place(const foliot__view *view, const foliot__canvas *canvas,
                        const double position[3], double *x, double *y);
// The outline of a shape at a body's place, which hides what was there; a plane as the line that it
// is from its edge, or as points.
void foliot__view_draw(const foliot__view *view, foliot__canvas *canvas, const foliot_shape *shape,
                       const foliot_body_state *body, foliot__colour colour);
// A joint: a line between the ends of a distance or rod; of the others from centre to centre over
// the anchor, but nothing where that is too small to be seen or the anchors have come apart. `b`
// NULL: the world.
void foliot__view_joint(const foliot__view *view, foliot__canvas *canvas,
                        const foliot_constraint_definition *joint, const foliot_body_state *a,
                        const foliot_body_state *b, foliot__colour colour);

// Everything to be drawn together.
typedef struct foliot__figure {
    uint32_t slot;
    foliot__colour colour;
    foliot_shape shape;
    foliot_body_state body;
    double depth; // foliot__view_paint's
} foliot__figure;

// Of all but planes; false if there is nothing else.
bool foliot__figures_bounds(const foliot__figure *figures, uint32_t count, double low[3],
                            double high[3]);
// From far to near; sorts them.
void foliot__view_paint(const foliot__view *view, foliot__canvas *canvas, foliot__figure *figures,
                        uint32_t count);
// "5 m" and a bar of that length in the left lower corner.
void foliot__view_scale(const foliot__view *view, foliot__canvas *canvas, const char *unit);

#endif
