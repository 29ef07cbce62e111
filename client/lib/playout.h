// SPDX-License-Identifier: MIT
// playout.h: when to show what. Learns from the arrivals of snapshots how far behind the newest one
// the render time must stay so that, for all but a given share of the time, there is a newer one at
// hand.
#ifndef FOLIOT_CLIENT_LIB_PLAYOUT_H
#define FOLIOT_CLIENT_LIB_PLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__PLAYOUT_BINS 4096 // of half a millisecond

// Age: local time less the server's time of the newest snapshot at hand. It jumps down when a newer
// one comes and grows with time in between. The histogram holds how long each age was seen.
typedef struct foliot__playout {
    double tick_ns;
    double starved_share;
    double delay_min_ns, delay_max_ns;
    double origin_ns;                 // of the bins
    float seen[FOLIOT__PLAYOUT_BINS]; // weight, decayed
    int highest;                      // nothing was ever seen in the bins beyond
    double total, decay_unit;         // weight now counts `decay_unit` a nanosecond
    double long_passed_ns;            // since long ages were faded
    bool started;
    uint64_t started_ns;
    uint64_t newest_ns; // when the newest snapshot came
    double newest_tick;
    double fastest_ns;           // the smallest age just after an arrival, forgetting slowly
    double offset_ns, target_ns; // local time less the server's time of what is rendered
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
// The render time in ticks. Never falls; its pace differs from the clock's by 5 % at most, but for
// a jump when it is more than ten ticks off.
double foliot__playout_render(foliot__playout *p, uint64_t now_ns);
double foliot__playout_delay_ms(const foliot__playout *p); // behind the fastest arrivals
double foliot__playout_jitter_ms(const foliot__playout *p);

#endif
