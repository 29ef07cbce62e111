// SPDX-License-Identifier: MIT
// divergence.h: where two runs' states differ, down a tree: tick, stage, group of bodies, body,
// field. Both sides make the same tree of hashes; whoever compares descends where they differ.
#ifndef FOLIOT_TAPE_DIVERGENCE_H
#define FOLIOT_TAPE_DIVERGENCE_H

#include "foliot/replay.h"

#define FOLIOT__TREE_FANOUT 16u

// The fields of all bodies, as bits, at the end of one stage.
typedef struct foliot__state {
    uint64_t *bits; // [body][field]
    uint32_t body_count, body_capacity;
    bool taken;
} foliot__state;

// The states after each stage of one tick, and the whole truth after the last.
typedef struct foliot__tick_states {
    foliot__state stage[FOLIOT_STAGE_COUNT];
    foliot_status status; // FOLIOT_MEMORY if something is missing
} foliot__tick_states;

void foliot__state_take(foliot__state *state, const foliot_world *world, foliot_status *status);
void foliot__tick_states_free(foliot__tick_states *states);
// Gives *host a hook that takes the states into `states`, and lets `then` be called before each is
// taken. Whoever wants only one tick clears them before.
typedef struct foliot__observer {
    foliot__tick_states *states;             // NULL: nothing is taken
    const foliot_perturbation *perturbation; // NULL, or one applied where it is due
    bool perturbed;
} foliot__observer;
foliot_host foliot__observing_host(const foliot_host *host, foliot__observer *observer);

// Hash of the bodies [first, first + count) and of how many there are: the same on every machine.
uint64_t foliot__state_hash(const foliot__state *state, uint32_t first, uint32_t count);
// Bodies in one group, where `count` of them are divided: the smallest power of the fanout that
// makes at most FOLIOT__TREE_FANOUT groups.
uint32_t foliot__tree_group(uint32_t count);

// The first stage, body and field that differ. False if none does.
bool foliot__tick_states_compare(const foliot__tick_states *expected,
                                 const foliot__tick_states *actual, foliot_divergence *divergence);
bool foliot__state_compare(const foliot__state *expected, const foliot__state *actual,
                           foliot_divergence *divergence);

bool foliot__field_is_real(foliot_field field);
// Distance in representable values; for integers, the difference.
uint64_t foliot__field_ulps(foliot_field field, uint64_t a, uint64_t b);
uint64_t foliot__field_moved(foliot_field field, uint64_t bits, int64_t ulps);

#endif
