// SPDX-License-Identifier: MIT
// buffer.h: snapshots: assembled from pieces, kept as baselines, and sampled at fractional ticks.
#ifndef FOLIOT_CLIENT_LIB_BUFFER_H
#define FOLIOT_CLIENT_LIB_BUFFER_H

#include "foliot/client.h"
#include "foliot/snapshot.h"
#include "interpolation.h"

// A server keeps 128 possible baselines. The buffer has as many, and some more for those in flight.
#define FOLIOT__BUFFER_ENTRIES 144
#define FOLIOT__BUFFER_ENTRIES_STEPPED 64 // in lockstep, where nothing refers to them
#define FOLIOT__PIECES_MAX 4096           // of one snapshot
// A few bytes may encode a million unchanged bodies. So the memory for snapshots and samples is
// bounded by the bytes from the server: a free amount, and more for each byte received, up to a
// limit. Beyond it old snapshots are evicted. The newest one, its baseline and the one that is
// arriving are always kept (48 MiB each at most).
#define FOLIOT__BUFFER_BYTES_FREE (32u << 20)
#define FOLIOT__BUFFER_BYTES_A_BYTE 256
#define FOLIOT__BUFFER_BYTES_MAX (1u << 30)

typedef struct foliot__entry {
    foliot_snapshot snapshot; // tick UINT64_MAX: empty
    uint32_t pieces, pieces_here;
    uint64_t bodies_here; // in those pieces
    uint64_t *have;       // bit a piece
    bool complete;
    bool used;   // was sampled from
    bool hashed; // the digest is that of the snapshot of this tick
    uint64_t hashed_tick;
    foliot_digest digest;
} foliot__entry;

typedef struct foliot__snapshot_buffer {
    foliot_snapshot_format format;
    foliot_snapshot_coder *coder;
    double dt;
    foliot__entry entries[FOLIOT__BUFFER_ENTRIES];
    int capacity;            // entries in use
    uint64_t received;       // bytes from the server; set by the owner
    uint64_t decoded;        // bodies decoded so far
    uint64_t dropped;        // snapshots and samples refused by the rule above
    size_t entries_bytes;    // held by the entries
    uint32_t shown_max;      // bodies of the largest snapshot so far
    uint32_t shown_capacity; // of the arrays below
    bool has_newest;
    uint64_t newest;           // tick of the newest complete one, or the one to begin near
    foliot_body_state *bodies; // of the last sample
    // The two snapshots that were sampled last, dequantised: frames outnumber snapshots.
    foliot_body_state *restored[2];
    uint64_t restored_tick[2]; // UINT64_MAX: none
    uint64_t guessed_from;     // tick of the snapshot from which the last sample was extrapolated;
                               // UINT64_MAX: none
    foliot_body_state *guess;  // the last sample's tick, as it is known now
    foliot__error_smoothing smoothing;
} foliot__snapshot_buffer;

typedef enum foliot__taken {
    FOLIOT__TAKEN_PIECE,    // more pieces are needed
    FOLIOT__TAKEN_SNAPSHOT, // a snapshot is complete; its tick is in *tick
    FOLIOT__TAKEN_STALE,    // too old, or received before
    FOLIOT__TAKEN_NO_BASELINE,
    FOLIOT__TAKEN_MALFORMED,
} foliot__taken;

// `tick`: near which those of the first pieces are read.
foliot_status foliot__buffer_init(foliot__snapshot_buffer *buffer,
                                  const foliot_snapshot_format *format, double dt, uint64_t tick);
void foliot__buffer_close(foliot__snapshot_buffer *buffer);
foliot__taken foliot__buffer_receive(foliot__snapshot_buffer *buffer, const uint8_t *bytes,
                                     size_t length, uint64_t *tick);
// A snapshot for the bodies of a world that is stepped here. It counts once it is complete. NULL
// without memory, or if the tick is present.
foliot_snapshot *foliot__buffer_open(foliot__snapshot_buffer *buffer, uint64_t tick,
                                     uint32_t count);
void foliot__buffer_complete(foliot__snapshot_buffer *buffer, uint64_t tick);
// Bodies at a fractional tick: Hermite and slerp between the two snapshots around it. Beyond the
// newest one they are extrapolated, for at most `extrapolate_ticks`. Never interpolates across a
// new generation of a slot or a teleport. Wrong extrapolations fade out (error_smoothing.h).
foliot_status foliot__buffer_sample(foliot__snapshot_buffer *buffer, double tick,
                                    double extrapolate_ticks, foliot_sample *sample);
// Bodies that appeared or left between the snapshot before the sample and its tick: `changed` has
// the tick at which the body of a slot did so, `newest` the last of these, and `there` is
// FOLIOT_NO_BODY if it left. A body that appeared is taken from the snapshot after the tick, if
// present.
void foliot__buffer_show_changes(foliot__snapshot_buffer *buffer, const uint64_t *changed,
                                 uint64_t newest, const uint32_t *there, uint32_t slots,
                                 foliot_sample *sample);
// XXH3-128 of the quantised bodies of the newest complete snapshot, zeros without one. Computed on
// request, once for each snapshot: 10,000 bodies take about a millisecond.
foliot_digest foliot__buffer_digest(const foliot__snapshot_buffer *buffer);
const foliot_snapshot *foliot__buffer_newest(const foliot__snapshot_buffer *buffer); // NULL if none

#endif
