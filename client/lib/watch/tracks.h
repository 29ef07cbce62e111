// SPDX-License-Identifier: MIT
// tracks.h: bodies of a world of which this client is sent only some (partial_snapshot.h): the
// received states of each, of different ticks, as baselines and for sampling. Knows no network.
// Invariant: the states of a body are ordered by tick, and the newest FOLIOT__PARTIAL_BASELINES
// received ones are present.
#ifndef FOLIOT_CLIENT_LIB_TRACKS_H
#define FOLIOT_CLIENT_LIB_TRACKS_H

#include "interpolation.h"
#include "foliot/client.h"
#include "foliot/snapshot.h"
#include "wire/partial_snapshot.h"

typedef struct foliot__track_state {
    uint64_t tick;
    foliot_snapshot_body body;
} foliot__track_state;

typedef struct foliot__track {
    foliot__track_state *states; // by tick
    uint8_t count, capacity;
    bool told;          // by the server, of this body; before, the scene's bodies are assumed
    uint64_t forgotten; // states up to this tick are void
    // Its last picture.
    uint64_t guessed_from; // extrapolated from the state of that tick; UINT64_MAX: not extrapolated
    double weight;         // of the offset
    foliot__smoothing_offset offset;
} foliot__track;

typedef struct foliot__tracks {
    foliot_snapshot_format format;
    double dt;
    foliot__partial_coder *coder;
    foliot__track *tracks;     // by slot
    foliot_body_state *bodies; // of the last sample
    uint32_t count, capacity;
    size_t bytes;      // held
    uint64_t received; // bytes from the server; set by the owner
    uint64_t dropped;  // bodies for which there was no memory
    uint64_t decoded;  // bodies so far
    bool has_newest;
    uint64_t newest; // tick
    double shown;    // tick of the last sample
    // The received packets, for acknowledgements.
    uint32_t sequence;
    uint64_t before;
} foliot__tracks;

foliot_status foliot__tracks_create(const foliot_snapshot_format *format, double dt, uint64_t tick,
                                    foliot__tracks **tracks);
void foliot__tracks_destroy(foliot__tracks *tracks);

typedef enum foliot__tracks_taken {
    FOLIOT__TRACKS_TAKEN,       // all of the packet
    FOLIOT__TRACKS_STALE,       // came before, or is too old to be acknowledged
    FOLIOT__TRACKS_NO_BASELINE, // the rest of it cannot be read; it is not acknowledged
    FOLIOT__TRACKS_MALFORMED,
} foliot__tracks_taken;
foliot__tracks_taken foliot__tracks_receive(foliot__tracks *tracks, const uint8_t *bytes,
                                            size_t length, uint64_t *tick);
void foliot__tracks_acknowledge(const foliot__tracks *tracks, foliot__partial_acknowledge *packet);
// All bodies at a fractional tick. Each is interpolated if a newer state has arrived, otherwise
// extrapolated, for at most `extrapolate_ticks`. `scene` may be NULL: its bodies are at their
// places in the scene until the server sends others.
foliot_status foliot__tracks_sample(foliot__tracks *tracks, const foliot_scene *scene, double tick,
                                    double extrapolate_ticks, foliot_sample *sample);
// Tick of the newest state of a body; UINT64_MAX: there is none.
uint64_t foliot__tracks_newest_of(const foliot__tracks *tracks, uint32_t slot);

#endif
