// SPDX-License-Identifier: MIT
// replay.h: an open replay, shared by its files.
#ifndef FOLIOT_RECORDING_REPLAY_H
#define FOLIOT_RECORDING_REPLAY_H

#include "foliot/replay.h"
#include "recording/block_reader.h"

// Controls that a player holds, followed from block to block: for steps back.
typedef struct foliot__recording_held {
    bool joined;
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
} foliot__recording_held;

// The last keyframe that the reader passed.
typedef struct foliot__replay_segment {
    bool known;
    uint64_t tick;
    foliot__block_keyframe keyframe; // packed: it is compressed, and this build cannot read it
} foliot__replay_segment;

struct foliot_replay {
    foliot__byte_source source;
    foliot__recording_header header;
    foliot_scene *scene;
    foliot_world_config capacities;
    size_t world_bytes;
    foliot_world *outline; // of a world: its head, without tables
    foliot_host host;
    const foliot_simulation_kind *kind; // of what is replayed; NULL: it is not known
    foliot_simulation simulation;       // as replayed; its `self` is NULL where there is none
    foliot_simulation probe;            // another one to inspect keyframes, made when first needed
    foliot_replay_summary about;
    foliot_damage damage; // the first one found
    bool callbacks_named; // it is that callbacks are missing
    bool keyframe_false;  // it is a keyframe whose bytes do not give its digest
    uint64_t keyframe_false_tick;

    uint64_t (*index)[2]; // tick and offset of keyframe blocks, complete up to the damage
    uint32_t index_count, index_capacity;
    foliot__journal *journal;        // after foliot_replay_scan
    uint64_t whole_bytes;            // of the file, after foliot_replay_scan
    uint64_t cut_offset, cut_number; // after the last block that has ticks or a keyframe

    foliot__block_reader reader;       // stands after ...
    foliot__recording_content content; // ... this block
    foliot__replay_segment segment;
    bool held_valid; // `held` has the players' controls at content.first_tick
    foliot__recording_held held[FOLIOT_PLAYERS_MAX];
};

// Opens a recording of any kind for inspection: no simulation is made from its scene or setup, so
// that its cost is bounded by the file, and it cannot be stepped.
foliot_status foliot__replay_look(const char *file, foliot_replay **replay, foliot_damage *damage);

#define FOLIOT__CALLBACKS_MISSING "the scene has forces that only its own program can compute"
// Whether the scene has a callback force that the host has not lent.
bool foliot__replay_callbacks_missing(const foliot_replay *replay);
// foliot_replay_step without comparing digests, for callers that compare states themselves.
foliot_status foliot__replay_step(foliot_replay *replay);
// A simulation of the recording at its start, not yet restored; foliot_simulation_destroy ends it.
foliot_status foliot__replay_new(const foliot_replay *replay, foliot_simulation *simulation);
// The same for the replay's second instance, which is kept once it is made.
foliot_status foliot__replay_probe(foliot_replay *replay);
// The replayed world with its host; NULL where there is none.
foliot_hosted_world *foliot__replay_hosted(const foliot_replay *replay);
// As it was at the recording's first tick; the reader stands after the first keyframe.
foliot_status foliot__replay_rewind(foliot_replay *replay);
// Checks a keyframe's bytes against its digest. A checksum only shows that the file is as it was
// written, and the writer of a hostile file writes its checksums too; FOLIOT_STATUS_CORRUPT is
// reported as the replay's damage. Every keyframe is checked here before anything starts from it. A
// compressed one is decompressed, if its kind is known and this build has zstd.
foliot_status foliot__replay_check_keyframe(foliot_replay *replay,
                                            foliot__recording_content *content,
                                            foliot_damage *damage);
// The most bytes that a state of the recording can have.
size_t foliot__replay_state_bytes_max(const foliot_replay *replay);
// The block that follows. Keeps its keyframe as the segment's.
foliot_status foliot__replay_load(foliot_replay *replay);
// Inputs, commands and orders of the step from `tick`. False if `content` does not cover it.
bool foliot__replay_recorded(const foliot_replay *replay, uint64_t tick,
                             foliot__recorded_tick *recorded);
// Reads on until `content` covers the step from `tick` on.
foliot_status foliot__replay_locate(foliot_replay *replay, uint64_t tick);
void foliot__replay_damaged(foliot_replay *replay, const foliot_damage *damage);
// The step of a simulation (the replay's or another one at the same tick) with the recorded inputs.
foliot_status foliot__replay_step_simulation(foliot_replay *replay, foliot_simulation *simulation);
// The same, with the state after every stage in `trace`.
foliot_status foliot__replay_step_trace(foliot_replay *replay, foliot_simulation *simulation,
                                        foliot_step_trace *trace);

#endif
