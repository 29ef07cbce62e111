// SPDX-License-Identifier: MIT
// buffer.h: snapshots as they come: assembled from pieces, kept as baselines and to sample between.
#ifndef FOLIOT_CLIENT_LIB_BUFFER_H
#define FOLIOT_CLIENT_LIB_BUFFER_H

#include "foliot/client.h"
#include "foliot/snapshot.h"
#include "error_smoothing.h"

// A server keeps 128 that it may refer to, and here are as many and some that are on their way.
#define FOLIOT__BUFFER_ENTRIES 144
#define FOLIOT__BUFFER_ENTRIES_STEPPED                                                             \
    64                          // where states are stepped here, and nothing refers to them
#define FOLIOT__PIECES_MAX 4096 // of one snapshot
// A few bytes may stand for a million bodies that are as they were. So what a server can make us
// hold, snapshots and what sampling them takes, grows with what came from it: so much is free, then
// so many bytes for each that came, up to a limit. Beyond that old snapshots go; the newest, its
// baseline and the one that comes are held whatever they take (48 MiB each at most).
#define FOLIOT__BUFFER_BYTES_FREE (32u << 20)
#define FOLIOT__BUFFER_BYTES_A_BYTE 256
#define FOLIOT__BUFFER_BYTES_MAX (1u << 30)

typedef struct foliot__entry {
    foliot_snapshot snapshot; // tick UINT64_MAX: empty
    uint32_t pieces, pieces_here;
    uint64_t bodies_here; // in those pieces
    uint64_t *have;       // bit a piece
    bool complete;
    bool used; // was sampled from
} foliot__entry;

typedef struct foliot__snapshot_buffer {
    foliot_snapshot_format format;
    foliot_snapshot_coder *coder;
    double dt;
    foliot__entry entries[FOLIOT__BUFFER_ENTRIES];
    int capacity;         // how many of them are used
    uint64_t received;    // bytes that came from the server; the owner's to set
    uint64_t decoded;     // bodies, of pieces so far
    uint64_t dropped;     // snapshots, and samples, for which there was no memory by the rule above
    size_t entries_bytes; // held by the entries
    uint32_t shown_max;   // bodies that the largest snapshot had so far
    uint32_t shown_capacity; // of the arrays below
    bool has_newest;
    uint64_t newest;           // tick of the newest complete one
    foliot_body_state *bodies; // of the last sample
    // The two snapshots that were sampled last, as reals: a client draws more often than snapshots
    // come.
    foliot_body_state *restored[2];
    uint64_t restored_tick[2]; // UINT64_MAX: none
    uint64_t
        guessed_from; // the snapshot that the last sample went on from; UINT64_MAX: it was no guess
    foliot_body_state *guess; // what would be shown if there were nothing newer
    foliot__error_smoothing smoothing;
} foliot__snapshot_buffer;

typedef enum foliot__taken {
    FOLIOT__TAKEN_PIECE,    // more pieces are wanted
    FOLIOT__TAKEN_SNAPSHOT, // and with it a snapshot is complete: its tick is in *tick
    FOLIOT__TAKEN_STALE,    // too old, or here already
    FOLIOT__TAKEN_NO_BASELINE,
    FOLIOT__TAKEN_MALFORMED,
} foliot__taken;

foliot_status foliot__buffer_init(foliot__snapshot_buffer *buffer,
                                  const foliot_snapshot_format *format, double dt);
void foliot__buffer_close(foliot__snapshot_buffer *buffer);
foliot__taken foliot__buffer_take(foliot__snapshot_buffer *buffer, const uint8_t *bytes,
                                  size_t length, uint64_t *tick);
// The world's own state, where it is stepped here. False if there is no memory for it, or it is
// here already.
bool foliot__buffer_put(foliot__snapshot_buffer *buffer, const foliot_world *world);
// Bodies at a fractional tick: Hermite and slerp between the two snapshots around it; beyond the
// newest extrapolated for at most `extrapolate_ticks`. Never through a new incarnation or a
// teleport. What was extrapolated wrongly is set right within some frames.
foliot_status foliot__buffer_sample(foliot__snapshot_buffer *buffer, double tick,
                                    double extrapolate_ticks, foliot_sample *sample);
// XXH3-128 of the quantised bodies of the newest complete snapshot.
foliot_digest foliot__buffer_digest(const foliot__snapshot_buffer *buffer);
const foliot_snapshot *foliot__buffer_newest(const foliot__snapshot_buffer *buffer); // NULL if none

#endif
