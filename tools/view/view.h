// SPDX-License-Identifier: MIT
// view.h: bodies, joints and scenes on a canvas, for the programs that draw. Says where on the
// canvas a place of the world is. No part of libfoliot.
#ifndef FOLIOT_TOOLS_VIEW_VIEW_H
#define FOLIOT_TOOLS_VIEW_VIEW_H

#include "base/canvas.h"
#include "foliot/world.h"

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
