// SPDX-License-Identifier: MIT
// view.h: bodies, joints and scenes on a canvas, for the programs that draw. Computes where on the
// canvas a point of the world is. Not part of libfoliot.
#ifndef FOLIOT_TOOLS_VIEW_VIEW_H
#define FOLIOT_TOOLS_VIEW_VIEW_H

#include <stdint.h>

#include "base/canvas.h"
#include "foliot/scene.h"
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
// Across the plane of a flat scene, otherwise from a corner. It considers the places of bodies,
// walls, anchors and spawn points, the size of static bodies, and velocities. A scene with falling
// bodies or bodies on a ground is never seen edge-on.
foliot__view_side foliot__view_side_for(const foliot_scene *scene);
// Fits the box between the corners. A view that still shows it well is kept, so that the picture is
// stable: it changes only when something would be clipped, or would look too small.
void foliot__view_fit(foliot__view *view, const foliot__canvas *canvas, const double low[3],
                      const double high[3]);
void foliot__view_place(const foliot__view *view, const foliot__canvas *canvas,
                        const double position[3], double *x, double *y);
// Draws a body's outline, which hides what is behind it. A plane is points; edge-on a line.
void foliot__view_draw(const foliot__view *view, foliot__canvas *canvas, const foliot_shape *shape,
                       const foliot_body_state *body, foliot__colour colour);
// Draws a constraint. A distance or rod is a line between its ends; a joint is a line from centre
// to centre through the anchor, unless it is too small to be seen or its anchors are apart. `b`
// NULL: the world.
void foliot__view_joint(const foliot__view *view, foliot__canvas *canvas,
                        const foliot_constraint_definition *joint, const foliot_body_state *a,
                        const foliot_body_state *b, foliot__colour colour);

// One body to be drawn.
typedef struct foliot__figure {
    uint32_t slot;
    foliot__colour colour;
    foliot_shape shape;
    foliot_body_state body;
    double depth; // set by foliot__view_paint
} foliot__figure;

// The bounds of all figures except planes; false if there are no others.
bool foliot__figures_bounds(const foliot__figure *figures, uint32_t count, double low[3],
                            double high[3]);
// Draws the figures from far to near; sorts them.
void foliot__view_paint(const foliot__view *view, foliot__canvas *canvas, foliot__figure *figures,
                        uint32_t count);
// Draws a bar of a round length with a label, "5 m", in the lower left corner.
void foliot__view_scale(const foliot__view *view, foliot__canvas *canvas, const char *unit);

// -- the focus of a spectator

// In a session with interest keys move the focus, which stays inside the world.

// Moves by `far` a second where an axis is 127. `scene`: NULL while it is not known. The focus goes
// at most half of `far` beyond its bodies and places of players, so that some remain in sight.
void foliot__focus_move(double focus[3], const foliot_scene *scene, const int8_t axes[3],
                        double far, double seconds);

#endif
