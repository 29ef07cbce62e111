// SPDX-License-Identifier: MIT
// mend_recording.h: makes every checksum of a recording's bytes right, so that fuzzers reach what
// lies behind them.
#ifndef FOLIOT_FUZZ_MEND_RECORDING_H
#define FOLIOT_FUZZ_MEND_RECORDING_H

#include "base/bytes.h"
#include "recording/format.h"

static inline void put_u32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t take_u32(const uint8_t *bytes)
{
    foliot__reader r = foliot__reader_of(bytes, 4);
    return foliot__read_u32(&r);
}

static inline void mend(uint8_t *bytes, size_t size)
{
    if (size < FOLIOT__RECORDING_START_BYTES)
        return;
    foliot__recording_start_write(bytes);
    uint32_t number = 0;
    for (size_t at = FOLIOT__RECORDING_START_BYTES; size - at >= FOLIOT__RECORDING_BLOCK_BYTES;
         number++) {
        uint32_t length = take_u32(bytes + at + 4);
        size_t left = size - at - FOLIOT__RECORDING_BLOCK_BYTES;
        if (length > left)
            put_u32(bytes + at + 4, length = (uint32_t)left);
        put_u32(bytes + at, FOLIOT__RECORDING_BLOCK_MAGIC);
        put_u32(bytes + at + 8, number);
        put_u32(bytes + at + 20,
                foliot__crc32c(0, bytes + at + FOLIOT__RECORDING_BLOCK_BYTES, length));
        put_u32(bytes + at + 24, foliot__crc32c(0, bytes + at, 24));
        at += FOLIOT__RECORDING_BLOCK_BYTES + length;
    }
}

#endif
