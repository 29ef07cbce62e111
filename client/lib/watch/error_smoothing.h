// SPDX-License-Identifier: MIT
// error_smoothing.h: smooths corrections of wrong extrapolations over several frames. The
// difference between the shown state and the state known now is added to the picture, and fades
// exponentially. Knows no snapshots. Invariant: without an offset a body is shown as it is.
#ifndef FOLIOT_CLIENT_LIB_ERROR_SMOOTHING_H
#define FOLIOT_CLIENT_LIB_ERROR_SMOOTHING_H

#include <stdint.h>

#include "foliot/snapshot.h"

typedef struct foliot__smoothing_offset {
    double position[3]; // shown minus known
    double turn[4];     // the rotation from the known orientation to the shown one
} foliot__smoothing_offset;

typedef struct foliot__error_smoothing {
    foliot__smoothing_offset *offsets; // one for each body
    double weight;                     // of all offsets now, 0 to 1; 0: there are none
    double tick;                       // of the last sample
} foliot__error_smoothing;

// Room for `to` bodies, where there was room for `from`. The new ones have no offset. An all-zero
// struct has room for none.
foliot_status foliot__error_smoothing_grow(foliot__error_smoothing *smoothing, uint32_t from,
                                           uint32_t to);
void foliot__error_smoothing_close(foliot__error_smoothing *smoothing);
// Advances to `tick`: the weight falls to 1/e within `ticks`.
void foliot__error_smoothing_fade(foliot__error_smoothing *smoothing, double tick, double ticks);
// Sets the body's offset to the `shown` state minus the state known now. `shown` NULL: no offset,
// the body jumps. After all bodies the caller sets the weight to 1.
void foliot__error_smoothing_set(foliot__error_smoothing *smoothing, uint32_t body,
                                 const foliot_body_state *shown, const foliot_body_state *known);
// Adds the body's offset, times the weight, to a state.
void foliot__error_smoothing_apply(const foliot__error_smoothing *smoothing, uint32_t body,
                                   foliot_body_state *state);

#endif
