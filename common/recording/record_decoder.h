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
// `header` NULL but for block 0; its `format` is that of the file's start. `features` are those of
// the header, 0 for block 0.
foliot_status foliot__decode_records(const foliot__recording_block *block, uint32_t features,
                                     const uint8_t *payload, foliot__recording_header *header,
                                     foliot__recording_content *content,
                                     foliot__tick_entries *entries, foliot_damage *damage);

// header_decoder.c: the keys of a recording's HEADER.

enum foliot__header_key {
    FOLIOT__HEADER_FEATURES, // the first key, and
    FOLIOT__HEADER_VERSION,  // the second one, in every format
    FOLIOT__HEADER_TICK,
    FOLIOT__HEADER_FINGERPRINT,
    FOLIOT__HEADER_BUILD,
    FOLIOT__HEADER_SCENE,
    FOLIOT__HEADER_INTEGRATOR,
    FOLIOT__HEADER_DT,
    FOLIOT__HEADER_SEED,
    FOLIOT__HEADER_CAPACITIES,
    FOLIOT__HEADER_SIMULATION,
    FOLIOT__HEADER_SIMULATION_VERSION,
    FOLIOT__HEADER_SETUP,
    FOLIOT__HEADER_RULES_NAME,
    FOLIOT__HEADER_RULES_VERSION,
    FOLIOT__HEADER_RULES_TEXT,
    FOLIOT__HEADER_RULES_BUILD,
};
// As bits: what every header has, what one of a world has, of another simulation, of rules.
#define FOLIOT__HEADER_KEYS 0x1fu
#define FOLIOT__HEADER_KEYS_WORLD 0x3e0u
#define FOLIOT__HEADER_KEYS_SIMULATION 0x1c00u
#define FOLIOT__HEADER_KEYS_RULES 0x1e000u

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
