// SPDX-License-Identifier: MIT
// record_decoder.h: decodes the payload of a block into its content.
#ifndef FOLIOT_RECORDING_RECORD_DECODER_H
#define FOLIOT_RECORDING_RECORD_DECODER_H

#include "base/bytes.h"
#include "recording/block_content.h"

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

#endif
