// SPDX-License-Identifier: MIT
// error_smoothing.h: what was guessed and turns out to be wrong is not set right in one frame: the
// difference is carried on, and fades. Knows no snapshots.
#ifndef FOLIOT_CLIENT_LIB_SETTLE_H
#define FOLIOT_CLIENT_LIB_SETTLE_H

#include <stdint.h>

#include "foliot/snapshot.h"

typedef struct foliot__offset {
    double position[3], turn[4]; // what was shown, less what is; the turn from the one to the other
} foliot__offset;

typedef struct foliot__settling {
    foliot__offset *offsets; // a body
    double weight;           // of the offsets now; 0: there are none
    double tick;             // of the last sample
} foliot__settling;

// Room for `to` bodies, where there was room for `from`; those behind have no offset. All zero:
// there is room for none.
foliot_status foliot__settling_grow(foliot__settling *settling, uint32_t from, uint32_t to);
void foliot__settling_close(foliot__settling *settling);
// Time goes on to `tick`; offsets fall to 1/e in `ticks`.
void foliot__settling_fade(foliot__settling *settling, double tick, double ticks);
// The body's offset from the last tick on: what was shown, and what it should have been. NULL: it
// has none, and jumps. When all bodies were given theirs, the weight is to be set to 1.
void foliot__settling_take(foliot__settling *settling, uint32_t body,
                           const foliot_body_state *shown, const foliot_body_state *is);
void foliot__settling_apply(const foliot__settling *settling, uint32_t body,
                            foliot_body_state *state);

#endif
