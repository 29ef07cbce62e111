// SPDX-License-Identifier: MIT
// session_codec.h: the records COMMANDS and ORDERS: commands and orders of a block's ticks as bytes
// and back. docs/reference/recording.md
#ifndef FOLIOT_RECORDING_SESSION_CODEC_H
#define FOLIOT_RECORDING_SESSION_CODEC_H

#include "base/bytes.h"
#include "base/pack.h"
#include "recording/session_log.h"

// A run's head and an order's place: what their bits are.
#define FOLIOT__RUN_SOURCE 3u   // bits 0 and 1 of a run's head
#define FOLIOT__RUN_SEQUENCE 4u // its first sequence follows
#define FOLIOT__RUN_COUNT 3     // bits below the count of commands, less one

#define FOLIOT__PLACE_SEQUENCE 1u // the order's sequence follows
#define FOLIOT__PLACE_KIND 1      // bits below its kind
#define FOLIOT__PLACE_PLAYER 4    // bits below its player

// What both ends know. All zero at every keyframe.
typedef struct foliot__session_known {
    uint32_t command_sequence;                    // that is expected next
    uint32_t order_sequences[FOLIOT_PLAYERS_MAX]; // of each player
} foliot__session_known;

// The ticks of the block in progress. All zero but `known` at its start.
typedef struct foliot__session_encoder {
    foliot__session_known known;
    uint64_t command_tick, order_tick; // of the last entry
    foliot__buffer commands, orders;   // entries
    uint32_t command_count, order_count;
} foliot__session_encoder;

// Everything that is recorded of one tick but its digest.
typedef struct foliot__recorded_tick {
    foliot_tick_inputs inputs;
    const foliot_order *orders;
    uint32_t order_count;
} foliot__recorded_tick;

void foliot__session_encoder_free(foliot__session_encoder *encoder);
// The block begins at `tick`, without entries.
void foliot__session_encoder_begin(foliot__session_encoder *encoder, uint64_t tick);
// Whether the block can hold these too.
bool foliot__session_encoder_fits(const foliot__session_encoder *encoder,
                                  const foliot__recorded_tick *recorded);
// Those are recordable, and fit.
void foliot__session_encode_tick(foliot__session_encoder *encoder, uint64_t tick,
                                 const foliot__recorded_tick *recorded);

// Entries of the ticks from first_tick to `tick`, into the log. Refuses bytes that no writer
// produces: FOLIOT_STATUS_CORRUPT; FOLIOT_STATUS_UNSUPPORTED for kinds and fields of commands that
// this build does not know; FOLIOT_STATUS_MEMORY.
foliot_status foliot__session_decode_commands(foliot__session_known *known,
                                              foliot__session_log *log, uint64_t first_tick,
                                              uint64_t tick, const uint8_t *bytes, size_t length);
// `aims`: the recording has orders that say what was aimed at.
foliot_status foliot__session_decode_orders(foliot__session_known *known, foliot__session_log *log,
                                            uint64_t first_tick, uint64_t tick,
                                            const uint8_t *bytes, size_t length, bool aims);

#endif
