// SPDX-License-Identifier: MIT
// prediction_clock.h: the tick that own inputs are for, and the shown tick, at any local time. Both
// follow the estimate of lockstep.h smoothly, since a person sees the shown one. Knows no worlds.
// Invariant: inputs are never shown before the tick that they are for.
#ifndef FOLIOT_CLIENT_LIB_PREDICTION_CLOCK_H
#define FOLIOT_CLIENT_LIB_PREDICTION_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

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
