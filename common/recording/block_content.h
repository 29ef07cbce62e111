// SPDX-License-Identifier: MIT
// block_content.h: one block of a recording as values: inputs, digests, a keyframe,
// notes, the closing record. The block reader fills it.
#ifndef FOLIOT_RECORDING_BLOCK_CONTENT_H
#define FOLIOT_RECORDING_BLOCK_CONTENT_H

#include "foliot/replay.h"
#include "recording/format.h"
#include "simulation/input_log.h"
#include "recording/journal.h"
#include "recording/session_log.h"

#define FOLIOT__RECORDING_DIGESTS_MAX 4 // records in a block

typedef struct foliot__recording_header {
    uint8_t *scene;
    uint32_t scene_bytes;
    char integrator[32], build[96], version[32];
    double dt;
    uint64_t seed, tick;
    uint8_t fingerprint[16];
    uint32_t capacities[6];
    uint32_t format, features; // bits of foliot_recording_feature
    char unknown_feature[32];  // the first one that this build does not know; "": none
    // With FOLIOT_RECORDING_SIMULATION; `scene` is its setup then.
    char simulation[FOLIOT_KIND_NAME_BYTES];
    uint32_t simulation_version;
    // With FOLIOT_RECORDING_RULES.
    char rules_name[FOLIOT_NAME_BYTES], rules_build[96];
    uint32_t rules_version;
    uint8_t *rules_text; // ends with a zero
    uint32_t rules_text_bytes;
} foliot__recording_header;

// Of the rules or the host, to one player or to all. The bytes lie in the content's message_bytes.
typedef struct foliot__recorded_message {
    uint64_t tick;
    uint32_t player, length;
    size_t at;
    bool reliable;
} foliot__recorded_message;

typedef struct foliot__recording_digests {
    uint64_t first;
    uint32_t every, each; // ticks between them; bytes of each
    uint32_t count;
    size_t at; // in content.digest_bytes
} foliot__recording_digests;

// Of a block of its own; nothing here has checked it (recording/signature.h).
typedef struct foliot__recorded_signature {
    uint64_t tick;
    bool final;
    uint8_t key[32], bytes[64];
} foliot__recorded_signature;

// The content of one block. The buffers are reused from block to block.
typedef struct foliot__recording_content {
    uint64_t number, offset;
    uint64_t first_tick, tick; // before and after
    foliot__input_log inputs;  // of its ticks
    foliot__session_log session;
    foliot__recorded_message *messages;
    uint32_t message_count, message_capacity;
    uint8_t *message_bytes;
    size_t message_length, message_bytes_capacity;
    bool has_rules; // the state of the rules, beside the keyframe
    uint8_t *rules;
    size_t rules_length, rules_capacity;
    uint8_t rules_digest[16];
    uint32_t digest_records;
    foliot__recording_digests digests[FOLIOT__RECORDING_DIGESTS_MAX];
    uint8_t *digest_bytes;
    size_t digest_length, digest_capacity;
    bool has_header, has_keyframe, has_closing, has_signature;
    foliot__recorded_signature signature;
    uint8_t keyframe_digest[16], closing_digest[16];
    uint8_t *keyframe; // the state; see foliot__recording_content_unpack
    size_t keyframe_length, keyframe_capacity;
    bool keyframe_packed; // it is in `packed` still, and keyframe_length is 0
    uint8_t *packed;
    size_t packed_length, packed_capacity;
    uint64_t unpacked_size; // as the file claims
    uint32_t notes, unknown;
    foliot__recording_note *noted; // `notes` of them
    uint32_t noted_capacity;
    uint64_t input_bytes, command_bytes, order_bytes;
    uint64_t digest_record_bytes, keyframe_bytes, header_bytes, other_bytes;
    uint64_t (*index)[2]; // of the closing block: tick, offset
    uint32_t index_count;
} foliot__recording_content;

// The digest that the block has for `tick`: how many bytes of it, 0 if none.
uint32_t foliot__recording_content_digest(const foliot__recording_content *content, uint64_t tick,
                                          const uint8_t **bytes);

// Decompresses the block's keyframe, if it is compressed: at most `limit` bytes, the most that a
// state of this recording can have. FOLIOT_STATUS_CORRUPT, FOLIOT_STATUS_MEMORY;
// FOLIOT_STATUS_UNSUPPORTED in a build without zstd. On an error the keyframe stays packed.
foliot_status foliot__recording_content_unpack(foliot__recording_content *content, size_t limit);

void foliot__recording_content_free(foliot__recording_content *content);
void foliot__recording_header_free(foliot__recording_header *header);
// Empties it for the block `number` at `offset`, whose ticks begin at `tick`. Keeps its memory.
void foliot__recording_content_clear(foliot__recording_content *content, uint64_t number,
                                     uint64_t offset, uint64_t tick);
// Room for `length` bytes in a buffer of the content, at least doubled. False without memory.
bool foliot__recording_content_reserve(uint8_t **bytes, size_t *capacity, size_t length);

// damage.c: the text of a recording's damage, in one form everywhere.

// "block 7 at offset 1234: ...". Returns `status`; `damage` may be NULL.
__attribute__((format(printf, 5, 6))) foliot_status
foliot__damage_set(foliot_damage *damage, foliot_status status, uint64_t block, uint64_t offset,
                   const char *format, ...);

#endif
