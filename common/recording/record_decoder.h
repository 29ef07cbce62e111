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

// tick_decoder.c: turns entries into the inputs, commands and orders of every tick. Bytes that no
// writer produces are FOLIOT_STATUS_CORRUPT; without memory FOLIOT_STATUS_MEMORY.

// Resets the prediction of inputs and sequences, as at every keyframe.
void foliot__recording_forget_players(foliot__block_reader *reader);
// Expands inputs of the ticks from content->first_tick to `tick` into content->inputs.
foliot_status foliot__recording_expand(foliot__block_reader *reader,
                                       foliot__recording_content *content, uint64_t tick,
                                       foliot__reader *entries, uint32_t values);
// Decodes commands or orders of the ticks from first_tick to `tick` into the log.
// FOLIOT_STATUS_UNSUPPORTED: a kind or a field of a command that this build does not know.
foliot_status foliot__session_decode_commands(foliot__session_known *known,
                                              foliot__session_log *log, uint64_t first_tick,
                                              uint64_t tick, const uint8_t *bytes, size_t length);
// `features`: of the recording, bits of foliot_recording_feature.
foliot_status foliot__session_decode_orders(foliot__session_known *known, foliot__session_log *log,
                                            uint64_t first_tick, uint64_t tick,
                                            const uint8_t *bytes, size_t length, uint32_t features);

#endif
