// SPDX-License-Identifier: MIT
// replay.h: reads recordings and runs them through the same step. Needs nothing but libc.
//
// A recording is hostile bytes: whatever is wrong with it is a status and a foliot_damage, never a
// crash. What is whole before the damage replays.
#ifndef FOLIOT_REPLAY_H
#define FOLIOT_REPLAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/digest.h"
#include "foliot/divergence.h"
#include "foliot/input.h"
#include "foliot/scene.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct foliot_replay foliot_replay;

// The first thing wrong with a recording. FOLIOT_STATUS_OK: nothing found so far.
// FOLIOT_STATUS_TRUNCATED: it ends inside a block, or between blocks without its closing block.
// FOLIOT_STATUS_CORRUPT: bytes are not what was written. FOLIOT_STATUS_NEWER,
// FOLIOT_STATUS_UNSUPPORTED: whole, but not for this build.
typedef struct foliot_damage {
    foliot_status status;
    uint64_t block;  // number of the damaged block; 0 holds the header
    uint64_t offset; // where it starts: everything before is whole
    char text[192];  // complete: "block 7 at offset 1234: ..."
} foliot_damage;

typedef struct foliot_replay_summary {
    uint32_t format;
    char kind[FOLIOT_KIND_NAME_BYTES]; // of the simulation: "foliot.world", or another's
    uint32_t rules;                    // its version
    const void *setup;                 // what it was made of; of a world, its canonical scene
    size_t setup_bytes;
    const foliot_scene *scene; // owned by the replay; NULL where it is no world
    char integrator[32];
    double dt;
    uint64_t seed;
    foliot_digest fingerprint; // of the build that recorded
    char build[96], version[32];
    uint64_t first_tick;
    uint64_t last_tick; // whole up to here, as far as was read: all after foliot_replay_scan
    bool closed;        // the closing block is there
    foliot_digest final_digest; // if closed
    uint64_t bytes;             // of the file
    // Counted by foliot_replay_scan:
    uint64_t blocks, keyframes, inputs, digests;
    uint32_t players; // distinct ones that joined
    uint64_t input_bytes, digest_bytes, keyframe_bytes, other_bytes;
    uint32_t notes;           // "resumed" and the like
    uint32_t records_unknown; // of optional types that this build does not know
} foliot_replay_summary;

// FOLIOT_STATUS_IO if there is no such file; FOLIOT_STATUS_OK whenever a header could be read,
// however damaged the rest may be; else the status of the damage, and *damage (may be NULL) says
// what and where.
// `*replay` stands at the recording's first tick.
foliot_status foliot_replay_open(const char *file, foliot_replay **replay, foliot_damage *damage);
// From memory, which must stay while the replay is open.
foliot_status foliot_replay_open_bytes(const void *bytes, size_t length, foliot_replay **replay,
                                       foliot_damage *damage);
// Recordings of any simulation. `kind` NULL: those of unknown kinds are opened too, to be looked
// at: what they hold, inputs, digests and keyframes, but no tick. Else only those of that kind and
// of that version of its rules are; FOLIOT_STATUS_UNSUPPORTED, with names in *damage, for others.
// `kind` must stay.
foliot_status foliot_replay_open_simulation(const char *file, const foliot_simulation_kind *kind,
                                            foliot_replay **replay, foliot_damage *damage);
foliot_status foliot_replay_open_simulation_bytes(const void *bytes, size_t length,
                                                  const foliot_simulation_kind *kind,
                                                  foliot_replay **replay, foliot_damage *damage);
void foliot_replay_close(foliot_replay *replay);

// The host of every step: runner, callbacks. Copied.
void foliot_replay_set_host(foliot_replay *replay, const foliot_host *host);

const foliot_replay_summary *foliot_replay_get_summary(const foliot_replay *replay);
const foliot_damage *foliot_replay_get_damage(const foliot_replay *replay);
// Reads the whole file: every checksum, every record, all counts. Returns the damage's status.
// The replay's place is kept.
foliot_status foliot_replay_scan(foliot_replay *replay);

// -- through time

// NULL where the recording is no world's.
const foliot_world *foliot_replay_get_world(const foliot_replay *replay);
// What is replayed, of any kind, to be asked and not stepped; its `self` is NULL where the kind is
// not known. Valid until the replay moves.
const foliot_simulation *foliot_replay_get_simulation(const foliot_replay *replay);
uint64_t foliot_replay_get_tick(const foliot_replay *replay);
// One tick on. FOLIOT_STATUS_NOT_FOUND at the end; FOLIOT_STATUS_CORRUPT, FOLIOT_STATUS_TRUNCATED,
// FOLIOT_STATUS_UNSUPPORTED where the recording is damaged.
foliot_status foliot_replay_step(foliot_replay *replay);
// One tick back: to the same bits by the inverse step under reversible-leapfrog, else from a
// keyframe. FOLIOT_STATUS_NOT_FOUND at the first tick.
foliot_status foliot_replay_step_back(foliot_replay *replay);
// To any tick: from the nearest keyframe before it. FOLIOT_STATUS_NOT_FOUND if the recording does
// not reach it; FOLIOT_STATUS_CORRUPT where that keyframe's bytes do not give the digest beside
// them. A refused seek leaves the replay where it was.
foliot_status foliot_replay_seek(foliot_replay *replay, uint64_t tick);

// Inputs that the step from `tick` to `tick` + 1 is given, valid until the next call.
// FOLIOT_STATUS_NOT_FOUND if the recording does not reach it. The world stays where it is, here and
// below.
foliot_status foliot_replay_get_inputs(foliot_replay *replay, uint64_t tick,
                                       const foliot_input **inputs, uint32_t *count);
// What was recorded of the digest of `tick`: how many bytes of digest's canonical 16 (high first,
// most significant byte first), 0 if none was.
uint32_t foliot_replay_get_digest(foliot_replay *replay, uint64_t tick, uint8_t bytes[16]);
// The recorded keyframe of exactly this tick, NULL if there is none. Valid until the next call.
const uint8_t *foliot_replay_get_keyframe(foliot_replay *replay, uint64_t tick, size_t *length);

// -- comparing

// A fault put into the state that tick `tick` produces, after `stage`.
typedef struct foliot_perturbation {
    uint64_t tick;
    foliot_stage stage;
    uint32_t body;
    foliot_field field;
    int64_t ulps;
} foliot_perturbation;

typedef struct foliot_verdict {
    foliot_status status; // FOLIOT_STATUS_OK: match; FOLIOT_STATUS_DIVERGED; FOLIOT_STATUS_CORRUPT
                          // (for TRUNCATED too); FOLIOT_STATUS_UNSUPPORTED (for VERSION too);
                          // FOLIOT_STATUS_INVALID: no such perturbation
    uint64_t ticks;       // that were replayed and agree
    foliot_digest digest; // of the state after them
    bool digest_known;
    uint64_t cut_at;              // offset up to which the file is whole, if damaged
    foliot_divergence divergence; // if FOLIOT_STATUS_DIVERGED; if a keyframe is false and the
                                  // replay agrees up to it, where: expected is the keyframe's
    foliot_damage damage;
} foliot_verdict;

// Replays from the first tick and compares every digest and keyframe. `perturbation` NULL: none.
// The replay is left at the last tick replayed. FOLIOT_STATUS_OK whenever there is a verdict.
foliot_status foliot_replay_verify(foliot_replay *replay, const foliot_perturbation *perturbation,
                                   foliot_verdict *verdict);

#ifdef __cplusplus
}
#endif

#endif
