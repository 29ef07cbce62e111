// SPDX-License-Identifier: MIT
// snapshot.h: a world's state at one tick as a quantised value, and its bytes as a delta against a
// baseline that the receiver surely has. Pieces of at most FOLIOT_PACKET_BYTES_MAX decode alone.
#ifndef FOLIOT_SNAPSHOT_H
#define FOLIOT_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/scene.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_SNAPSHOT_PIECE_BYTES                                                                \
    1196 // with the message byte in front within FOLIOT_PACKET_BYTES_MAX
#define FOLIOT_SNAPSHOT_PIECES_MAX 65535
// A body that is as it was costs at least 0.0014 bits: no model is surer than 65471 in 65536
// (docs/PROTOCOL.md, 4). So a piece has at most so many bodies a byte, those zero bytes counted
// that are not sent; one that claims more is corrupt.
#define FOLIOT_SNAPSHOT_BODIES_PER_BYTE 5700
#define FOLIOT_SNAPSHOT_ACCELERATION_MAX (1 << 24)
#define FOLIOT_ORIENTATION_BITS 9 // of each of the smallest three

// How values become integers: both sides know it from the join. Steps are powers of two.
typedef struct foliot_snapshot_format {
    double position_step; // length units
    double velocity_step; // length units a tick
    // How a free body goes on, for prediction: its velocity becomes (velocity + fall / 64) * keep /
    // 2^16 a tick.
    int32_t acceleration[3]; // velocity steps / 64: the scene's gravity
    uint32_t damping;        // at most 2^16: its drag
    bool rotates;            // orientations are sent
    bool spins;              // and spins: worth their bytes only where they say how bodies turn
    uint32_t bodies_max;
} foliot_snapshot_format;

// One body. Positions beyond 31 bits of steps are clamped.
typedef struct foliot_snapshot_body {
    int32_t position[3];
    int32_t velocity[3];
    int16_t spin[3]; // vector of the turn a tick (half the angle), 1/16 of 1/(511 sqrt 2); 0 unless
                     // sent
    uint16_t orientation[3]; // smallest three, in order w x y z without the largest; 0..511 for
                             // -1/sqrt2..1/sqrt2
    uint8_t largest;         // 0..3: w, x, y, z; made positive by the sign of the whole quaternion
    uint8_t flags;           // of enum foliot_snapshot_flags; 0: the slot is empty, and all else 0
    uint8_t generation;      // low bits of the slot's generation: a change is a new body, never
                             // interpolated
} foliot_snapshot_body;

enum foliot_snapshot_flags {
    FOLIOT_SNAPSHOT_ALIVE = 1,
    FOLIOT_SNAPSHOT_PLAYER = 2,
    FOLIOT_SNAPSHOT_STATIC = 4,
    FOLIOT_SNAPSHOT_FROZEN = 8,
    FOLIOT_SNAPSHOT_ASLEEP = 16,
};

// `bodies` is the caller's, `capacity` long.
typedef struct foliot_snapshot {
    uint64_t tick;
    uint32_t count;
    uint32_t capacity;
    foliot_snapshot_body *bodies;
} foliot_snapshot;

// Steps fit for the scene's size: 2^-14 of its extent, from 2^-16 to 2^-9 for scenes of metres.
foliot_snapshot_format foliot_snapshot_format_default(const foliot_scene *scene);

// The world's state, quantised. FOLIOT_STATUS_FULL if `snapshot` has too little room.
foliot_status foliot_snapshot_quantise(const foliot_snapshot_format *format,
                                       const foliot_world *world, foliot_snapshot *snapshot);
// What a quantised body stands for.
foliot_body_state foliot_snapshot_dequantise(const foliot_snapshot_format *format,
                                             const foliot_snapshot_body *body, double dt);
// Velocity and spin that took `base` to `body` in `ticks`, as a receiver of both knows them.
void foliot_snapshot_derive_motion(const foliot_snapshot_format *format,
                                   const foliot_snapshot_body *base, uint32_t ticks,
                                   foliot_snapshot_body *body);
bool foliot_snapshot_equal(const foliot_snapshot *a, const foliot_snapshot *b);
// XXH3-128 of tick and bodies, spins apart; zero if there is no memory for it.
foliot_digest foliot_snapshot_get_digest(const foliot_snapshot *snapshot);

// -- bytes

// Encoded pieces, one after the other in `bytes`; reuse one of these for many encodes.
typedef struct foliot_snapshot_pieces {
    uint8_t *bytes;
    uint32_t *offsets; // piece i is bytes[offsets[i]] .. bytes[offsets[i + 1]]
    uint32_t count;
    size_t bytes_capacity;
    uint32_t offsets_capacity;
} foliot_snapshot_pieces;
void foliot_snapshot_pieces_destroy(foliot_snapshot_pieces *pieces);

// What is the same for all of a receiver's snapshots; scratch of the coder. One a thread.
typedef struct foliot_snapshot_coder foliot_snapshot_coder;
foliot_status foliot_snapshot_coder_create(const foliot_snapshot_format *format,
                                           foliot_snapshot_coder **coder);
void foliot_snapshot_coder_destroy(foliot_snapshot_coder *coder);

// `baseline` NULL: complete in itself.
foliot_status foliot_snapshot_encode(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                                     const foliot_snapshot *baseline,
                                     foliot_snapshot_pieces *pieces);

// The head of a piece. Hostile bytes: FOLIOT_STATUS_TRUNCATED, FOLIOT_STATUS_CORRUPT.
typedef struct foliot_snapshot_head {
    uint64_t tick;
    uint64_t baseline_tick; // valid if has_baseline
    bool has_baseline;
    uint32_t piece, pieces;
    uint32_t first, count; // slots in this piece
    uint32_t bodies;       // slots in the whole
} foliot_snapshot_head;
foliot_status foliot_snapshot_decode_head(const uint8_t *bytes, size_t length,
                                          foliot_snapshot_head *head);
// Writes the piece's slots of `into` (whose capacity is at least head.bodies) and nothing else of
// it.
foliot_status foliot_snapshot_decode(foliot_snapshot_coder *coder, const uint8_t *bytes,
                                     size_t length, const foliot_snapshot *baseline,
                                     foliot_snapshot *into, foliot_snapshot_head *head);

#ifdef __cplusplus
}
#endif

#endif
