// SPDX-License-Identifier: MIT
// record_decoder.h: decodes the payload of a block into its content: the records, the keys of a
// HEADER, the inputs of every tick.
#ifndef FOLIOT_RECORDING_RECORD_DECODER_H
#define FOLIOT_RECORDING_RECORD_DECODER_H

#include "base/bytes.h"
#include "recording/block_content.h"
#include "recording/block_reader.h"

// The entries of INPUTS, where they stand in the payload; values: 0, there are none.
typedef struct foliot__input_entries {
    foliot__reader reader;
    uint32_t values;
} foliot__input_entries;

// The entries of one type, where they stand in the payload.
typedef struct foliot__session_entries {
    const uint8_t *bytes;
    uint32_t length;
    bool given;
} foliot__session_entries;

typedef struct foliot__tick_entries {
    foliot__input_entries inputs;
    foliot__session_entries commands, orders;
} foliot__tick_entries;

// `block` is the header of the block, its payload's checksum is right, and `content` is empty.
// `header` NULL but for block 0.
foliot_status foliot__decode_records(const foliot__recording_block *block, uint32_t version,
                                     const uint8_t *payload, foliot__recording_header *header,
                                     foliot__recording_content *content,
                                     foliot__tick_entries *entries, foliot_damage *damage);

// header_decoder.c: the keys of a recording's HEADER.

// The bits that foliot__decode_header_key returns.
#define FOLIOT__HEADER_KEYS_WORLD 0x1ffu   // scene to version
#define FOLIOT__HEADER_KEYS_FOREIGN 0xfd0u // tick, fingerprint to setup
#define FOLIOT__HEADER_KEYS_RULES 0xf000u  // of the session's rules

// One key and its value; the bit of a key that is known, 0 for others.
unsigned foliot__decode_header_key(foliot__reader *r, foliot__recording_header *header);
// A digest, or anything else of 16 bytes.
void foliot__unpack_bin16(foliot__reader *r, uint8_t out[16]);

// expand.c: expands the entries of INPUTS into the inputs of every tick.

// As at every keyframe.
void foliot__recording_forget_players(foliot__block_reader *reader);
// Inputs of the ticks from content->first_tick to `tick`, into content->inputs.
foliot_status foliot__recording_expand(foliot__block_reader *reader,
                                       foliot__recording_content *content, uint64_t tick,
                                       foliot__reader *entries, uint32_t values);

#endif
