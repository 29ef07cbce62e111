// SPDX-License-Identifier: MIT
// snapshot.h: the state of a world at one tick as quantised integers, and its bytes as a delta
// against a baseline that the receiver is known to have.
//
// A snapshot is encoded into pieces that each fit one packet and each decode alone.
// docs/reference/protocol.md section 4 gives the bytes.
//
// Threads: a coder is used by one thread at a time; all else has no state.
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
// An unchanged body costs at least 0.0014 bits, since no model assigns more than 65471 in 65536. So
// a piece holds at most this many bodies a byte, counting trailing zero bytes that are not sent; a
// piece that claims more is corrupt.
#define FOLIOT_SNAPSHOT_BODIES_PER_BYTE 5700
#define FOLIOT_SNAPSHOT_ACCELERATION_MAX (1 << 24)
#define FOLIOT_ORIENTATION_BITS 9 // of each of the smallest three

// How values are quantised. Both sides know it from the join. Steps are powers of two.
typedef struct foliot_snapshot_format {
    double position_step; // length units
    double velocity_step; // length units a tick
    // The predicted motion of a free body: in each tick its velocity becomes
    // (velocity + acceleration / 64) * damping / 2^16.
    int32_t acceleration[3]; // velocity steps / 64: the scene's gravity
    uint32_t damping;        // at most 2^16: the scene's drag
    bool rotates;            // orientations are sent
    bool spins;              // spins are sent too
    uint32_t bodies_max;
} foliot_snapshot_format;

// One body. Positions are clamped to 31 bits of steps.
typedef struct foliot_snapshot_body {
    int32_t position[3]; // position steps, world axes
    int32_t velocity[3]; // velocity steps: a length a tick, world axes
    int16_t spin[3];     // rotation vector of a tick, half its angle, in 1/16 of 1/(511 sqrt 2);
                         // 0 unless sent
    uint16_t orientation[3]; // the smallest three components, in the order w, x, y, z without the
                             // largest; 0..511 stands for -1/sqrt2..1/sqrt2
    uint8_t largest;         // 0..3: w, x, y, z is the largest; it is positive by choice of sign
    uint8_t flags;           // of enum foliot_snapshot_flags; 0: the slot is free, all else is 0
    uint8_t generation; // low bits of the slot's generation. A change means another body: never
                        // interpolate across it
} foliot_snapshot_body;

enum foliot_snapshot_flags {
    FOLIOT_SNAPSHOT_ALIVE = 1,
    FOLIOT_SNAPSHOT_PLAYER = 2,
    FOLIOT_SNAPSHOT_STATIC = 4,
    FOLIOT_SNAPSHOT_FROZEN = 8,
    FOLIOT_SNAPSHOT_ASLEEP = 16,
    FOLIOT_SNAPSHOT_KINEMATIC = 32,
    FOLIOT_SNAPSHOT_SENSOR = 64,
};

// `bodies` belongs to the caller and has room for `capacity` of them.
typedef struct foliot_snapshot {
    uint64_t tick;
    uint32_t count;
    uint32_t capacity;
    foliot_snapshot_body *bodies;
} foliot_snapshot;

// Steps that fit the size of the scene: 2^-14 of its extent, 2^-16 to 2^-9 for scenes of metres.
foliot_snapshot_format foliot_snapshot_format_default(const foliot_scene *scene);

// The state of the world, quantised. FOLIOT_STATUS_FULL if `snapshot` has too little room.
FOLIOT_MUST_CHECK foliot_status foliot_snapshot_quantise(const foliot_snapshot_format *format,
                                                         const foliot_world *world,
                                                         foliot_snapshot *snapshot);
// The state that a quantised body stands for. `dt` is that of a tick. An empty slot gives flags 0.
foliot_body_state foliot_snapshot_dequantise(const foliot_snapshot_format *format,
                                             const foliot_snapshot_body *body, double dt);
// Sets velocity and spin of `body` to the motion from `base` in `ticks`: a receiver derives them
// from both poses if velocities are not sent.
void foliot_snapshot_derive_motion(const foliot_snapshot_format *format,
                                   const foliot_snapshot_body *base, uint32_t ticks,
                                   foliot_snapshot_body *body);
bool foliot_snapshot_equal(const foliot_snapshot *a, const foliot_snapshot *b);
// XXH3-128 of the tick and the bodies without spins; zero if no memory is left for it.
foliot_digest foliot_snapshot_get_digest(const foliot_snapshot *snapshot);

// -- bytes

// Encoded pieces, one behind the other in `bytes`. Start with all zeros; one object can be reused
// for many encodes.
typedef struct foliot_snapshot_pieces {
    uint8_t *bytes;
    uint32_t *offsets; // piece i is bytes[offsets[i]] .. bytes[offsets[i + 1]]
    uint32_t count;
    size_t bytes_capacity;
    uint32_t offsets_capacity;
} foliot_snapshot_pieces;
// Frees its memory, not the object itself.
void foliot_snapshot_pieces_destroy(foliot_snapshot_pieces *pieces);

// The format and the scratch memory of encoding and decoding. One for each thread.
typedef struct foliot_snapshot_coder foliot_snapshot_coder;
FOLIOT_MUST_CHECK foliot_status foliot_snapshot_coder_create(const foliot_snapshot_format *format,
                                                             foliot_snapshot_coder **coder);
void foliot_snapshot_coder_destroy(foliot_snapshot_coder *coder);

// Replaces *pieces. `baseline` NULL encodes a snapshot that is complete in itself.
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_snapshot_encode(foliot_snapshot_coder *coder,
                                                       const foliot_snapshot *snapshot,
                                                       const foliot_snapshot *baseline,
                                                       foliot_snapshot_pieces *pieces);

// The head of a piece.
typedef struct foliot_snapshot_head {
    uint64_t tick;
    uint64_t baseline_tick; // valid if has_baseline
    bool has_baseline;
    uint32_t piece, pieces;
    uint32_t first, count; // slots in this piece
    uint32_t bodies;       // slots in the whole
} foliot_snapshot_head;
// A piece has the low 32 bits of its tick. The full tick is the one nearest to `near`, a tick that
// the reader knows, such as that of its newest snapshot or of the welcome. Hostile bytes give
// FOLIOT_STATUS_TRUNCATED or FOLIOT_STATUS_CORRUPT, here and below.
FOLIOT_MUST_CHECK foliot_status foliot_snapshot_decode_head(const uint8_t *bytes, size_t length,
                                                            uint64_t near,
                                                            foliot_snapshot_head *head);
// Writes the slots of this piece into `into`, whose capacity is at least head.bodies, and changes
// nothing else of it. `baseline` is the snapshot of head.baseline_tick, NULL if there is none.
FOLIOT_MUST_CHECK foliot_status foliot_snapshot_decode(
    foliot_snapshot_coder *coder, const uint8_t *bytes, size_t length, uint64_t near,
    const foliot_snapshot *baseline, foliot_snapshot *into, foliot_snapshot_head *head);

#ifdef __cplusplus
}
#endif

#endif
