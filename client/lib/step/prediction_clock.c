// SPDX-License-Identifier: MIT
// prediction_clock.c: two clocks that are adjusted slowly (prediction_clock.h).
#include "prediction_clock.h"

#include <math.h>

#define JUMP_TICKS 8   // with a larger error the clock is set again
#define GAIN 0.05      // of the error, in a tick
#define FASTER_MAX 0.1 // inputs would come late
#define SLOWER_MAX 0.05
#define AHEAD_TICKS 60 // that the mean is over
#define SAMPLE_TICKS 2 // that one sample counts for, at most
#define DELAY_MAX 256

static double turn(double off, double passed)
{
    return fmin(fmax(off * fmin(GAIN * passed, 1), -SLOWER_MAX * passed), FASTER_MAX * passed);
}

void foliot__prediction_clock_update(foliot__prediction_clock *clock, uint64_t now_ns,
                                     double tick_ns, const foliot__prediction_clock_aim *aim)
{
    double passed = clock->known ? (double)(now_ns - clock->now_ns) / tick_ns : 0;
    double now = clock->input + passed, off = aim->input - now;
    bool begins = !clock->known || fabs(off) > JUMP_TICKS;
    clock->passed = passed;
    clock->now_ns = now_ns;
    clock->input = begins ? aim->input : now + turn(off, passed);
    clock->known = true;
    // If the worlds would run too far ahead of the confirmed one, inputs are shown later. A host
    // that was held up has closed ticks waiting: neither the first update nor one after a pause
    // shows how far ahead the worlds run. A delay that is not needed is given up at once.
    double ahead = ceil(clock->input) + 1 - (double)aim->confirmed;
    double counts = fmin(passed, SAMPLE_TICKS);
    clock->seen = begins ? 0 : fmin(clock->seen + counts, AHEAD_TICKS);
    if (begins)
        clock->ahead = ahead;
    else if (counts > 0)
        clock->ahead += (ahead - clock->ahead) * counts / clock->seen;
    double delay = fmax(aim->input_delay, clock->ahead - aim->ticks_max);
    delay = fmin(delay, DELAY_MAX);
    begins |= clock->delay > delay + JUMP_TICKS;
    clock->delay = begins ? delay : clock->delay + turn(delay - clock->delay, passed);
}

uint64_t foliot__prediction_clock_input_tick(const foliot__prediction_clock *clock)
{
    return clock->input > 0 ? (uint64_t)ceil(clock->input) : 0;
}

double foliot__prediction_clock_shown(const foliot__prediction_clock *clock)
{
    return fmax(clock->input + 1 - clock->delay, 0);
}
