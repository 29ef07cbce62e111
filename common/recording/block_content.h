// SPDX-License-Identifier: MIT
// block_content.h: one block of a recording as values: inputs, digests, a keyframe, notes, the
// closing record. The block reader fills it. Also the text of a recording's damage.
#ifndef FOLIOT_RECORDING_BLOCK_CONTENT_H
#define FOLIOT_RECORDING_BLOCK_CONTENT_H

#include "base/pack.h"
#include "foliot/replay.h"
#include "recording/format.h"
#include "recording/session_log.h"
#include "simulation/input_log.h"

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
    // With FOLIOT_RECORDING_SIMULATION, where `scene` is its setup.
    char simulation[FOLIOT_KIND_NAME_BYTES];
    uint32_t simulation_version;
    // With FOLIOT_RECORDING_RULES.
    char rules_name[FOLIOT_NAME_BYTES], rules_build[96];
    uint32_t rules_version;
    uint8_t *rules_text; // ends with a zero
    uint32_t rules_text_bytes;
} foliot__recording_header;

// A message of the rules or the host, to one player or to all.
typedef struct foliot__recorded_message {
    uint64_t tick;
    uint32_t player, length;
    size_t at; // in the block's message payload
    bool reliable;
} foliot__recorded_message;

typedef struct foliot__block_messages {
    foliot__recorded_message *items;
    uint32_t count, capacity;
    foliot__buffer payload; // the bytes of all of them
} foliot__block_messages;

typedef struct foliot__block_notes {
    foliot__recording_note *items;
    uint32_t count, capacity;
} foliot__block_notes;

typedef struct foliot__recording_digests {
    uint64_t first;
    uint32_t every, each; // ticks between them; bytes of each
    uint32_t count;
    size_t at; // in the values of the block's digests
} foliot__recording_digests;

typedef struct foliot__block_digests {
    foliot__recording_digests records[FOLIOT__RECORDING_DIGESTS_MAX];
    uint32_t count;
    foliot__buffer values;
} foliot__block_digests;

// A keyframe: the state of the simulation, and the state of the session's rules at that tick.
typedef struct foliot__block_keyframe {
    uint8_t digest[16];
    foliot__buffer state;
    bool packed; // `state` is empty, and `compressed` has it: foliot__recording_content_unpack
    foliot__buffer compressed;
    uint64_t size; // of the compressed state, as the file claims
    bool has_rules;
    uint8_t rules_digest[16];
    foliot__buffer rules;
} foliot__block_keyframe;

// A signature, not yet checked (recording/signature.h).
typedef struct foliot__recorded_signature {
    uint64_t tick;
    bool final;
    uint8_t key[32], bytes[64];
} foliot__recorded_signature;

// Bytes of the block by record type, for the summary of a recording.
typedef struct foliot__block_sizes {
    uint64_t inputs, commands, orders, digests, keyframes, header, other;
} foliot__block_sizes;

// The content of one block. The buffers are reused from block to block.
typedef struct foliot__recording_content {
    uint64_t number, offset;
    uint64_t first_tick, tick; // before and after
    bool has_header, has_keyframe, has_closing, has_signature;
    foliot__input_log inputs; // of its ticks
    foliot__session_log session;
    foliot__block_keyframe keyframe;
    foliot__block_digests digests;
    foliot__block_messages messages;
    foliot__block_notes notes;
    uint32_t unknown; // records of a type that this build does not know
    foliot__recorded_signature signature;
    uint8_t closing_digest[16];
    uint64_t (*index)[2]; // of the closing block: tick, offset
    uint32_t index_count;
    foliot__block_sizes sizes;
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
// Makes `count` bytes the whole content of a buffer. False without memory.
bool foliot__recording_content_set(foliot__buffer *buffer, const void *bytes, size_t count);

// Sets "block 7 at offset 1234: ..." as the text of `damage`, which may be NULL. Returns `status`.
__attribute__((format(printf, 5, 6))) foliot_status
foliot__damage_set(foliot_damage *damage, foliot_status status, uint64_t block, uint64_t offset,
                   const char *format, ...);

#endif
