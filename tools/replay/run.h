// SPDX-License-Identifier: MIT
// run.h: one build's whole replay of a recording, with what a comparison of two builds asks of it.
#ifndef FOLIOT_TOOLS_REPLAY_RUN_H
#define FOLIOT_TOOLS_REPLAY_RUN_H

#include "tool.h"

#include "recording/perturb.h"

#define RUN_CHECKPOINTS 64

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
    foliot_world *checkpoint[RUN_CHECKPOINTS];
    uint32_t checkpoint_count;
    uint64_t spacing;
    foliot_step_trace *truth; // of the tick asked for last
} run;

// Replays all that is whole. `request` NULL, or a fault to put in.
foliot_status run_open(run *r, foliot_replay *replay, const perturb_request *request);
void run_close(run *r);
// The truth of `tick`, after each stage of the step that gave it and at its end, into run->truth.
foliot_status run_truth(run *r, uint64_t tick);

// -- the other side of a comparison
// `serve` says HELLO, then answers questions: u8 length and the question (foliot/divergence.h); the
// answer is u8 length and its bytes, of length 0 where there is none. After the length 0 it dumps
// the truth that was asked for last: u8 layer follows, and u32 fields, u64 for each.

#define HELLO "FOLIOTS2" // 8 bytes, then u8 status, fingerprint (16), u64 first tick, u64 last tick
#define HELLO_BYTES 41

#endif
