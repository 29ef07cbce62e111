// SPDX-License-Identifier: MIT
// run.h: one build's whole replay of a recording, with what a comparison of two builds asks of it.
#ifndef FOLIOT_TOOLS_REPLAY_RUN_H
#define FOLIOT_TOOLS_REPLAY_RUN_H

#include "tool.h"

#include "tape/divergence.h"

#define RUN_CHECKPOINTS 64

typedef struct run {
    foliot_replay *replay;
    foliot_host host;
    foliot__observer observer;
    foliot_perturbation fault;
    uint64_t first_tick, last_tick; // reached
    // chain[t]: a hash of the digests of all ticks up to first_tick + t. Once two runs differ it
    // differs for good, so that the first difference can be found by halves.
    uint64_t *chain;
    // Own states on the way, every `spacing` ticks: the recording's keyframes are another build's.
    foliot_world *checkpoint[RUN_CHECKPOINTS];
    uint32_t checkpoint_count;
    uint64_t spacing;
    foliot__tick_states states; // of the tick asked for last
} run;

// Replays all that is whole. `request` NULL, or a fault to put in.
foliot_status run_open(run *r, foliot_replay *replay, const perturb_request *request);
void run_close(run *r);
// The states after each stage of the step that gave `tick`; at the first tick, the state itself as
// `finish`.
foliot_status run_states(run *r, uint64_t tick);

// -- questions, as bytes: one letter, arguments little-endian
// --------------------------------------------

#define ASK_CHAIN 'C'    // u64 tick: u64
#define ASK_STAGES 'S'   // u64 tick: u32 bodies, u64 for every stage
#define ASK_GROUPS 'G'   // u8 stage, u32 first body, u32 bodies a group: u64 for each of 16 groups
#define ASK_FIELDS 'F'   // u8 stage, u32 body: u64 for every field
#define ASK_STATE 'D'    // u8 stage: all fields of all bodies (the final dump)
#define HELLO "FOLIOTS1" // 8 bytes, then u8 status, fingerprint (16), u64 first tick, u64 last tick
#define HELLO_BYTES 41

// The answers of this run, for `serve` and for the asking side alike. Lengths are fixed by the
// question.
foliot_status run_stage_hashes(run *r, uint64_t tick, uint32_t *bodies,
                               uint64_t hashes[FOLIOT_STAGE_COUNT]);
void run_group_hashes(const run *r, unsigned stage, uint32_t first, uint32_t group,
                      uint64_t hashes[FOLIOT__TREE_FANOUT]);
void run_fields(const run *r, unsigned stage, uint32_t body, uint64_t fields[FOLIOT_FIELD_COUNT]);

#endif
