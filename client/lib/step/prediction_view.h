// SPDX-License-Identifier: MIT
// prediction_view.h: the picture of predicted worlds: bodies between their last two ticks, and
// corrections that fade instead of jumping. Knows no guesses. Invariant: without a correction a
// body is shown exactly where its world has it.
#ifndef FOLIOT_CLIENT_LIB_PREDICTION_VIEW_H
#define FOLIOT_CLIENT_LIB_PREDICTION_VIEW_H

#include "../watch/error_smoothing.h"
#include "foliot/client.h"
#include "foliot/world.h"

typedef struct foliot__predicted_body {
    foliot_body_state state;
    uint32_t generation;
} foliot__predicted_body;

// The bodies of one world in one tick.
typedef struct foliot__predicted_tick {
    uint64_t tick; // UINT64_MAX: none
    uint32_t count;
    foliot__predicted_body *bodies;
} foliot__predicted_tick;

typedef struct foliot__prediction_view {
    foliot__predicted_tick ticks[2][2]; // of each line: before, and now
    uint32_t capacity;                  // of all four, and of the arrays below
    foliot_body_state *shown;
    foliot__error_smoothing smoothing, own; // of the player's own body, faster
    double jump;       // a correction of so much more than a body's speed explains is not smoothed
    double dt;         // of a tick
    double fade_ticks; // until a correction is down to 1/e
    uint64_t corrections, corrections_own;
} foliot__prediction_view;

void foliot__prediction_view_close(foliot__prediction_view *view);
// Forgets the shown state.
void foliot__prediction_view_restart(foliot__prediction_view *view);
// The world of that line has made a step, or begins. FOLIOT_STATUS_MEMORY: it is not shown.
foliot_status foliot__prediction_view_append(foliot__prediction_view *view, uint32_t line,
                                             const foliot_world *world);
// Shows line `to` instead of `from` from `tick` on, which is about to be sampled; the player's own
// body is in slot `own`.
void foliot__prediction_view_replace(foliot__prediction_view *view, uint32_t from, uint32_t to,
                                     double tick, uint32_t own);
// The bodies of a line at a tick between its last two, or at the nearer one. False: none.
bool foliot__prediction_view_sample(foliot__prediction_view *view, uint32_t line, double tick,
                                    uint32_t own, foliot_sample *sample);

#endif
