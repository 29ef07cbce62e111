// SPDX-License-Identifier: MIT
// playout.h: the adaptive interpolation delay. Computes from the arrival times of snapshots how far
// the render time must stay behind, so that a newer snapshot is present for all but a given share
// of the time. Knows no contents of snapshots. Invariant: the render time never goes back, except
// for a pause of seconds.
#ifndef FOLIOT_CLIENT_LIB_PLAYOUT_H
#define FOLIOT_CLIENT_LIB_PLAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__PLAYOUT_BINS 4096 // of half a millisecond

// Age: local time minus the server's time of the newest snapshot present. It drops when a newer one
// arrives, and grows with time in between. The histogram holds how long each age was observed.
typedef struct foliot__playout {
    double tick_ns;
    double starved_share;
    double delay_min_ns, delay_max_ns;
    double origin_ns;                 // of the bins
    float seen[FOLIOT__PLAYOUT_BINS]; // weight, decayed
    int highest;                      // all bins beyond are empty
    double total, decay_unit;         // new weight counts `decay_unit` per nanosecond
    double long_passed_ns;            // since long ages were faded
    bool started, timely;             // timely: one has come whose time is known
    uint64_t started_ns, settled_ns;  // settled: since then nothing that the join queued has come
    double settled_age_ns;
    uint32_t path;      // of the newest snapshot
    uint64_t newest_ns; // when the newest snapshot arrived
    double newest_tick;
    double fastest_ns;           // the smallest age just after an arrival, of late
    double least_ns[2];          // it, of two windows
    uint64_t least_since_ns;     // when the second began
    double offset_ns, target_ns; // local time minus the rendered server time
    bool has_render;
    uint64_t render_ns;
    double render_tick;
    double lateness_mean, lateness_square, lateness_count;
    uint64_t snaps;
} foliot__playout;

void foliot__playout_init(foliot__playout *p, double tick_ns, double starved_share,
                          double delay_min_ns, double delay_max_ns);
// A snapshot became complete. `timely`: it arrived at that time; otherwise some time before or
// after. `path`: its network path; when another path becomes the faster one, observations of the
// previous path are forgotten.
void foliot__playout_arrived(foliot__playout *p, uint64_t now_ns, uint64_t tick, bool timely,
                             uint32_t path);
// The render time in ticks. It falls only if no snapshot came for seconds. Its pace differs from
// the clock's by at most 5 %, except for a jump when it is more than ten ticks off, and for a
// second after a join, when it may run up to half the clock's pace faster.
double foliot__playout_render(foliot__playout *p, uint64_t now_ns);
double foliot__playout_delay_ms(const foliot__playout *p); // behind the fastest arrivals
double foliot__playout_jitter_ms(const foliot__playout *p);

#endif
