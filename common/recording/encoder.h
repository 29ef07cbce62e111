// SPDX-License-Identifier: MIT
// encoder.h: the block in progress: inputs and digests of the ticks since the last one was closed.
#ifndef FOLIOT_RECORDING_ENCODER_H
#define FOLIOT_RECORDING_ENCODER_H

#include "foliot/digest.h"
#include "foliot/command.h"
#include "foliot/recording.h"
#include "foliot/simulation.h"
#include "foliot/world.h"
#include "base/pack.h"
#include "recording/format.h"
#include "recording/keyframe_codec.h"
#include "recording/session_log.h"

// Commands and orders of the block in progress. All zero but `known` and
// `no_rules` at its start.
typedef struct foliot__session_encoder {
    foliot__session_known known;
    uint64_t command_tick, order_tick; // of the last entry
    foliot__buffer commands, orders;   // entries
    uint32_t command_count, order_count;
    bool no_rules; // the file has none: orders that they alone read are left out
} foliot__session_encoder;

typedef struct foliot__recording_encoder {
    foliot__recording_player players[FOLIOT_PLAYERS_MAX];
    uint64_t input_tick[FOLIOT_PLAYERS_MAX]; // after the player's last input
    uint32_t player_count;                   // beyond the highest that ever had an input

    uint64_t first_tick, tick; // of the block: its start, and the tick reached
    uint64_t entry_tick;       // of the last entry
    foliot__buffer entries;
    uint32_t entry_values, input_count;
    foliot__buffer digests;
    uint64_t digest_first;
    uint32_t digest_every, digest_bytes;
    foliot__session_encoder session;
    foliot__buffer notes, messages; // records, whole
    uint32_t message_count;

    foliot__buffer payload, record;
} foliot__recording_encoder;

void foliot__session_encoder_free(foliot__session_encoder *encoder);
// The block begins at `tick`, without entries.
void foliot__session_encoder_begin(foliot__session_encoder *encoder, uint64_t tick);
// Whether the block can hold these too.
bool foliot__session_encoder_fits(const foliot__session_encoder *encoder,
                                  const foliot__recorded_tick *recorded);
// The commands and orders are recordable, and fit.
void foliot__session_encode_tick(foliot__session_encoder *encoder, uint64_t tick,
                                 const foliot__recorded_tick *recorded);

bool foliot__recording_encoder_init(foliot__recording_encoder *encoder, uint64_t tick,
                                    uint32_t digest_every, uint32_t digest_bytes);
void foliot__recording_encoder_free(foliot__recording_encoder *encoder);
// Forgets the prediction of inputs, as at a keyframe. The block must be empty.
void foliot__recording_encoder_reset(foliot__recording_encoder *encoder);

// Encodes the inputs of the step from encoder->tick to the next, in order; `digest` is that of the
// state after it. False if the block cannot hold it: close it first, then it fits, or is too much
// for any block.
bool foliot__recording_encode_tick(foliot__recording_encoder *encoder,
                                   const foliot__recorded_tick *recorded, foliot_digest digest);
// The records of the block as encoder->payload, and an empty block. *inputs_bytes and *digest_bytes
// of it.
void foliot__recording_encode_block(foliot__recording_encoder *encoder, size_t *input_bytes,
                                    size_t *digest_bytes);

// One record after another into a buffer.
typedef struct foliot__recording_head {
    const uint8_t *scene;
    uint32_t scene_bytes;
    const char *integrator;
    double dt;
    uint64_t seed, tick;
    foliot_digest fingerprint;
    const foliot_world_config *capacities;
    uint32_t features;
    const foliot_recording_rules *rules; // with FOLIOT_RECORDING_RULES
} foliot__recording_head;
void foliot__recording_encode_head(foliot__buffer *out, const foliot__recording_head *head);
// With FOLIOT_RECORDING_SIMULATION.
void foliot__recording_encode_foreign_head(foliot__buffer *out, const foliot_simulation *simulation,
                                           uint64_t tick, foliot_digest fingerprint,
                                           uint32_t features, const foliot_recording_rules *rules);
// Compressed where that makes it smaller.
void foliot__recording_encode_keyframe(foliot__buffer *out, uint64_t tick, foliot_digest digest,
                                       foliot__keyframe_encoder *encoder, const uint8_t *bytes,
                                       uint32_t count);
void foliot__recording_encode_closing(foliot__buffer *out, uint64_t tick, foliot_digest digest,
                                      const uint64_t (*index)[2], uint32_t index_count,
                                      uint64_t block_offset);
// The state of the rules, next to the keyframe whose digest is `keyframe`.
void foliot__recording_encode_rules(foliot__buffer *out, uint64_t tick, foliot_digest keyframe,
                                    foliot__keyframe_encoder *encoder, const uint8_t *bytes,
                                    uint32_t count);
void foliot__recording_encode_message(foliot__buffer *out, uint64_t tick, uint32_t player,
                                      bool reliable, const void *bytes, uint32_t count);
void foliot__recording_encode_note(foliot__buffer *out, uint64_t tick, const char *what,
                                   const char *text);

#endif
