// SPDX-License-Identifier: MIT
// interpolation.h: a body between two of its states, by Hermite and slerp, and beyond them; and
// corrections that fade. Knows no snapshots.
#ifndef FOLIOT_CLIENT_LIB_INTERPOLATION_H
#define FOLIOT_CLIENT_LIB_INTERPOLATION_H

#include <stdint.h>

#include "foliot/snapshot.h"
#include "foliot/world.h"

// Whether the two are states of one body without a jump, so that it can be interpolated.
bool foliot__is_continuous(const foliot_snapshot_format *format, const foliot_snapshot_body *a,
                           const foliot_snapshot_body *b, double ticks);
// The state at the share `u` of the `ticks` between a and b, whose states are `from` and `to`.
// `from` if they are not continuous.
foliot_body_state foliot__interpolate_body(const foliot_snapshot_format *format, double dt,
                                           const foliot_snapshot_body *a,
                                           const foliot_snapshot_body *b,
                                           const foliot_body_state *from,
                                           const foliot_body_state *to, double ticks, double u);
// The state `ticks` after `is`. Spins are not sent, which saves bytes: the spin is computed from
// `is` and from `was`, which is `apart` ticks before. `was` NULL: the body keeps its orientation.
foliot_body_state foliot__extrapolate_body(const foliot_snapshot_format *format, double dt,
                                           const foliot_snapshot_body *was,
                                           const foliot_snapshot_body *is, double apart,
                                           double ticks);

// -- corrections

// Smooths corrections of wrong extrapolations over several frames. The difference between the shown
// state and the state known now is added to the picture, and fades exponentially. Invariant:
// without an offset a body is shown as it is.

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
