// SPDX-License-Identifier: MIT
// block_reader.h: reads a recording block by block from a file or from memory: checks each block,
// decodes it and returns values. Hostile bytes end the reading with a damage; no part of a damaged
// block is returned.
#ifndef FOLIOT_RECORDING_BLOCK_READER_H
#define FOLIOT_RECORDING_BLOCK_READER_H

#include "foliot/replay.h"
#include "recording/block_content.h"

// The bytes of a recording, from a file (through a window) or from memory.
typedef struct foliot__byte_source {
    const uint8_t *memory; // the whole recording, or NULL
    int file;
    uint64_t length; // as it was at the opening
    uint8_t *window;
    size_t window_capacity, window_length;
    uint64_t window_offset;
    foliot_status status; // why the last bytes within the file were not returned: FOLIOT_STATUS_IO,
                          // FOLIOT_STATUS_MEMORY
} foliot__byte_source;

// FOLIOT_STATUS_IO with errno; a pipe or a device is refused (base/file.h).
foliot_status foliot__byte_source_open(foliot__byte_source *source, const char *file);
void foliot__byte_source_of(foliot__byte_source *source, const void *bytes, size_t length);
void foliot__byte_source_close(foliot__byte_source *source);
// `count` bytes at `offset`, valid until the next call; NULL beyond the end, or if the system does
// not give them. `ahead`: how many more will probably be needed.
const uint8_t *foliot__byte_source_at(foliot__byte_source *source, uint64_t offset, size_t count,
                                      size_t ahead);

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
