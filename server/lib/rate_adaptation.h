// SPDX-License-Identifier: MIT
// rate_adaptation.h: how many of the snapshots a peer's network can take. Where a queue is seen to
// grow on the way, the peer is sent every second snapshot only, every third and so on, until it has
// drained; then more again, bit by bit. Knows no peers.
#ifndef FOLIOT_SERVER_LIB_RATE_ADAPTATION_H
#define FOLIOT_SERVER_LIB_RATE_ADAPTATION_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__RATE_WINDOWS 40 // remembered: 20 s

typedef struct foliot__rate_adaptation {
    uint32_t level;          // index of the share that is sent
    uint64_t next_tick;      // that is sent
    uint64_t window_ns;      // when the window began; 0: there was none
    uint64_t least_ns;       // lag in the window; UINT64_MAX: none was heard
    uint64_t rests_until_ns; // what was changed shows later
    uint64_t changed_ns;     // when the level was changed last
    uint64_t patience_ns;    // at one level, before more is tried
    uint32_t past_count, past_next;
    uint64_t past_ns[FOLIOT__RATE_WINDOWS]; // least of each window
} foliot__rate_adaptation;

// A round trip before any snapshot was on its way: what queues there were then are not ours.
void foliot__rate_adaptation_begin(foliot__rate_adaptation *rate, uint64_t round_trip_ns);
// The peer had, `lag_ns` after it was sent, a snapshot that it did not have before. `period_ns`: of
// snapshots.
void foliot__rate_adaptation_acknowledge(foliot__rate_adaptation *rate, uint64_t now_ns,
                                         uint64_t lag_ns, uint64_t period_ns);
// Whether the snapshot of this tick is sent, one in every `every` ticks being made; then later ones
// wait for their turn.
bool foliot__rate_adaptation_sends(foliot__rate_adaptation *rate, uint64_t tick, uint32_t every);

#endif
