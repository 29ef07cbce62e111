// SPDX-License-Identifier: MIT
// playout.h: the adaptive interpolation delay. Computes from the arrival times of snapshots how far
// the render time must stay behind, so that a newer snapshot is present for all but a given share
// of the time. Knows no snapshots' contents. Invariant: the render time never goes back.
#ifndef FOLIOT_CLIENT_LIB_PLAYOUT_H
#define FOLIOT_CLIENT_LIB_PLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__PLAYOUT_BINS 4096 // of half a millisecond

// Age: local time minus the server's time of the newest snapshot present. It drops when a newer one
// arrives, and grows with time in between. The histogram has for how long each age was observed.
typedef struct foliot__playout {
    double tick_ns;
    double starved_share;
    double delay_min_ns, delay_max_ns;
    double origin_ns;                 // of the bins
    float seen[FOLIOT__PLAYOUT_BINS]; // weight, decayed
    int highest;                      // all bins beyond are empty
    double total, decay_unit;         // new weight counts `decay_unit` per nanosecond
    double long_passed_ns;            // since long ages were faded
    bool started;
    uint64_t started_ns;
    uint64_t newest_ns; // when the newest snapshot arrived
    double newest_tick;
    double fastest_ns;           // the smallest age just after an arrival, forgetting slowly
    double offset_ns, target_ns; // local time minus the server's time of what is rendered
    bool has_render;
    uint64_t render_ns;
    double render_tick;
    double lateness_mean, lateness_square, lateness_count;
    uint64_t snaps;
} foliot__playout;

void foliot__playout_init(foliot__playout *p, double tick_ns, double starved_share,
                          double delay_min_ns, double delay_max_ns);
// A snapshot became complete.
void foliot__playout_arrived(foliot__playout *p, uint64_t now_ns, uint64_t tick);
// The render time in ticks. It never falls. Its pace differs from the clock's by at most 5 %,
// except for a jump when it is more than ten ticks off.
double foliot__playout_render(foliot__playout *p, uint64_t now_ns);
double foliot__playout_delay_ms(const foliot__playout *p); // behind the fastest arrivals
double foliot__playout_jitter_ms(const foliot__playout *p);

#endif
