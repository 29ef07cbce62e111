// SPDX-License-Identifier: MIT
// tape_yard.h: recordings for tests and benches: a seeded scene, players with fingers, a sink in
// memory.
#ifndef FOLIOT_TESTS_TAPE_YARD_H
#define FOLIOT_TESTS_TAPE_YARD_H

#include "base/rng.h"
#include "foliot/foliot.h"

// Bytes as a sink. `limit` 0: none; else bytes beyond it are refused with ENOSPC.
typedef struct tape_memory {
    uint8_t *bytes;
    size_t length, capacity, limit;
    uint32_t syncs;
} tape_memory;
foliot_recording_sink tape_memory_sink(tape_memory *memory);
void tape_memory_free(tape_memory *memory);

// `bodies` on springs with drag, players on thrust. The scene points into the yard.
typedef struct tape_yard {
    foliot_scene scene;
    foliot_body_definition *bodies;
    foliot_force_definition *forces;
    double spawns[8][3];
    foliot__rng rng;
    foliot_input held[FOLIOT_PLAYERS_MAX];
    bool joined[FOLIOT_PLAYERS_MAX];
    uint32_t sequence[FOLIOT_PLAYERS_MAX];
    bool streams;      // players send an input every tick, changed or not
    double changes_hz; // how often a player presses or lets go of a key, on average
} tape_yard;
void tape_yard_init(tape_yard *yard, uint32_t bodies, uint32_t players,
                    foliot_integrator integrator, uint64_t seed);
void tape_yard_free(tape_yard *yard);
foliot_world *tape_yard_world(const tape_yard *yard);
// Inputs of one tick: players join in the first ticks, then press and let go. `leaves`: some come
// and go.
uint32_t tape_yard_inputs(tape_yard *yard, uint64_t tick, bool leaves,
                          foliot_input inputs[FOLIOT_PLAYERS_MAX]);

// A whole recording of `ticks`, closed. `digests` NULL, or of each tick from 0 on.
void tape_yard_record(tape_yard *yard, const foliot_recording_config *config, uint64_t ticks,
                      tape_memory *memory, foliot_digest *digests);
foliot_recording_config tape_config(uint32_t block_ticks, uint32_t keyframe_ticks);

#endif
