// SPDX-License-Identifier: MIT
// recording_fixture.h: recordings for tests and benches: a seeded scene, players with fingers, a
// sink in memory.
#ifndef FOLIOT_TESTS_RECORDING_FIXTURE_H
#define FOLIOT_TESTS_RECORDING_FIXTURE_H

#include "base/rng.h"
#include "foliot/foliot.h"
#include "world_simulation.h"

// Bytes as a sink. `limit` 0: none; else bytes beyond it are refused with ENOSPC.
typedef struct recording_memory {
    uint8_t *bytes;
    size_t length, capacity, limit;
    uint32_t syncs;
} recording_memory;
foliot_recording_sink recording_memory_sink(recording_memory *memory);
void recording_memory_free(recording_memory *memory);

// `bodies` on springs with drag, players on thrust. The scene points into the fixture.
typedef struct recording_fixture {
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
} recording_fixture;
void recording_fixture_init(recording_fixture *fixture, uint32_t bodies, uint32_t players,
                            foliot_integrator integrator, uint64_t seed);
void recording_fixture_free(recording_fixture *fixture);
foliot_world *recording_fixture_world(const recording_fixture *fixture);
// Inputs of one tick: players join in the first ticks, then press and let go. `leaves`: some come
// and go.
uint32_t recording_fixture_inputs(recording_fixture *fixture, uint64_t tick, bool leaves,
                                  foliot_input inputs[FOLIOT_PLAYERS_MAX]);

// A whole recording of `ticks`, closed. `digests` NULL, or of each tick from 0 on.
void recording_fixture_record(recording_fixture *fixture, const foliot_recording_config *config,
                              uint64_t ticks, recording_memory *memory, foliot_digest *digests);
foliot_recording_config recording_fixture_config(uint32_t block_ticks, uint32_t keyframe_ticks);
// Stores the keyframes of a closed recording without compression, so that their bytes can be found
// and changed. Other blocks stay as they are.
void recording_memory_unpack(recording_memory *memory);

#endif
