// SPDX-License-Identifier: MIT
// block_reader.h: reads a recording block by block: checks each one, decodes it and returns values.
// Hostile bytes end the reading with a damage; no part of a damaged block is returned.
#ifndef FOLIOT_RECORDING_BLOCK_READER_H
#define FOLIOT_RECORDING_BLOCK_READER_H

#include "foliot/replay.h"
#include "recording/block_content.h"
#include "recording/byte_source.h"

typedef struct foliot__block_reader {
    foliot__byte_source *source;
    uint32_t features; // of the recording
    uint64_t offset;   // of the next block
    uint64_t number;   // of the next block
    uint64_t tick;     // reached so far
    bool closed;       // the closing block was seen
    foliot__recording_player players[FOLIOT_PLAYERS_MAX];
    uint32_t player_count, stream_count;
    foliot__session_known session;
} foliot__block_reader;

// Reads the file's start and block 0. The reader then stands before block 1, at the header's tick.
foliot_status foliot__block_reader_begin(foliot__block_reader *reader, foliot__byte_source *source,
                                         foliot__recording_header *header,
                                         foliot__recording_content *content, foliot_damage *damage);
// The next block. FOLIOT_STATUS_NOT_FOUND after the closing block at the end of the file; else a
// damage.
foliot_status foliot__block_reader_next(foliot__block_reader *reader,
                                        foliot__recording_content *content, foliot_damage *damage);
// Puts the reader before the keyframe block at `offset`; its number is taken from the block.
foliot_status foliot__block_reader_seek(foliot__block_reader *reader, uint64_t offset,
                                        uint64_t tick, foliot_damage *damage);
// The closing block by the END record at the file's end; false if there is none to trust.
bool foliot__recording_closing(foliot__byte_source *source, foliot__recording_content *content);

#endif
