// SPDX-License-Identifier: MIT
// prediction_view.h: what a host is shown of predicted worlds: the picture, which is bodies between
// their last two ticks and corrections that fade instead of jumping; the events; the clock. Knows
// no guesses. Invariant: without a correction a body is shown exactly where its world has it.
#ifndef FOLIOT_CLIENT_LIB_PREDICTION_VIEW_H
#define FOLIOT_CLIENT_LIB_PREDICTION_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "../watch/interpolation.h"
#include "foliot/client.h"
#include "foliot/world.h"

typedef struct foliot__predicted_body {
    foliot_body_state state;
    foliot_body_id id;
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

// -- events

// Matches the events of predicted worlds with those of confirmed ones. A host is given each event
// once: when it is predicted, otherwise when it is confirmed. Two events of the same kind about the
// same objects within FOLIOT__EVENT_TICKS are one, since a correction moves them. Knows no queue.

#define FOLIOT__EVENT_TICKS 8
#define FOLIOT__PREDICTED_EVENTS 512 // that are remembered; the oldest are overwritten

typedef struct foliot__predicted_event {
    foliot_client_event event; // identity 0: none
    bool confirmed;
} foliot__predicted_event;

typedef struct foliot__prediction_events {
    foliot__predicted_event *ring; // NULL: nothing is remembered, and every event is given
    uint32_t next;
    uint64_t identities; // given so far
} foliot__prediction_events;

foliot_status foliot__prediction_events_open(foliot__prediction_events *events);
void foliot__prediction_events_close(foliot__prediction_events *events);
void foliot__prediction_events_clear(foliot__prediction_events *events);
// Whether the host is to be given the event; sets its identity and `predicted`.
bool foliot__prediction_events_predict(foliot__prediction_events *events,
                                       foliot_client_event *event);
bool foliot__prediction_events_confirm(foliot__prediction_events *events,
                                       foliot_client_event *event);
// The confirmed world has reached `tick`: takes the next event due until then; false: none.
bool foliot__prediction_events_cancel(foliot__prediction_events *events, uint64_t tick,
                                      foliot_client_event *event);

// -- the clock

// The tick that own inputs are for, and the shown tick, at any local time. Both follow the estimate
// of lockstep.h smoothly, since a person sees the shown one. Knows no worlds. Invariant: inputs are
// never shown before the tick that they are for.

typedef struct foliot__prediction_clock {
    bool known;
    uint64_t now_ns;
    double passed; // ticks, in the last update
    double input;  // inputs made now are for the tick after it
    double ahead;  // mean of the ticks from the confirmed one to the newest that could be shown
    double seen;   // ticks that the mean is over
    double delay;  // ticks from the newest that could be shown to the one that is
} foliot__prediction_clock;

typedef struct foliot__prediction_clock_aim {
    double input; // as the server's status packets say
    uint64_t confirmed;
    uint32_t ticks_max;   // that the shown tick may be ahead of it
    uint32_t input_delay; // ticks, at least
} foliot__prediction_clock_aim;

// Advances the time: both ticks run at the local clock's pace, a little faster or slower towards
// the aim, and jump if it is far away.
void foliot__prediction_clock_update(foliot__prediction_clock *clock, uint64_t now_ns,
                                     double tick_ns, const foliot__prediction_clock_aim *aim);
uint64_t foliot__prediction_clock_input_tick(const foliot__prediction_clock *clock);
double foliot__prediction_clock_shown(const foliot__prediction_clock *clock); // the tick that is

#endif
