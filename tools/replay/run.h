// SPDX-License-Identifier: MIT
// run.h: one build's whole replay of a recording, with the requests of a comparison of two builds.
#ifndef FOLIOT_TOOLS_REPLAY_RUN_H
#define FOLIOT_TOOLS_REPLAY_RUN_H

#include "tool.h"

#include "divergence/perturb.h"

#define RUN_CHECKPOINTS 64
// Ticks of a comparison, which keeps a digest of each: 6 days at 60 Hz, 256 MiB. A file of a few
// kilobytes may have as many.
#define RUN_TICKS_MAX (1u << 25)

typedef struct run {
    foliot_replay *replay;
    foliot_host host;
    foliot__perturber perturber;
    foliot_perturbation fault;
    uint64_t first_tick, last_tick; // reached
    // chain[t]: foliot_digest_chain of the digests of all ticks up to first_tick + t. Once two runs
    // differ it differs for good, so that the first difference can be found by halves.
    uint64_t *chain;
    // Own states on the way, every `spacing` ticks: the recording's keyframes are another build's.
    foliot_simulation checkpoint[RUN_CHECKPOINTS];
    uint32_t checkpoint_count;
    uint64_t spacing;
    foliot_step_trace *trace; // of the tick requested last
} run;

// Replays all undamaged ticks. `request` NULL, or a fault to plant.
foliot_status run_open(run *r, foliot_replay *replay, const perturb_request *request);
void run_close(run *r);
// Traces the step that gave `tick`: the state after each stage and at its end, into run->trace.
foliot_status run_trace(run *r, uint64_t tick);

// -- the other side of a comparison
// `serve` writes HELLO, then responds to requests: u8 length and the request (foliot/divergence.h);
// the response is u8 length and its bytes, of length 0 where there is none. After the length 0 it
// dumps the trace that was requested last: u8 layer follows, and u32 fields, u64 for each.

#define HELLO "FOLIOTS2" // 8 bytes, then u8 status, fingerprint (16), u64 first tick, u64 last tick
#define HELLO_BYTES 41

#endif
