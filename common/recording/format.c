// SPDX-License-Identifier: MIT
// format.c: the fixed frames around the records: start of file and header of a block.
#include "recording/format.h"

#include "base/bytes.h"

#include <string.h>

void foliot__recording_block_write(uint8_t bytes[FOLIOT__RECORDING_BLOCK_BYTES],
                                   const foliot__recording_block *block)
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT__RECORDING_BLOCK_BYTES);
    foliot__write_u32(&w, FOLIOT__RECORDING_BLOCK_MAGIC);
    foliot__write_u32(&w, block->length);
    foliot__write_u32(&w, block->number);
    foliot__write_u64(&w, block->tick);
    foliot__write_u32(&w, block->payload_crc);
    foliot__write_u32(&w, foliot__crc32c(0, bytes, FOLIOT__RECORDING_BLOCK_BYTES - 4));
}

void foliot__recording_block_frame(uint8_t bytes[FOLIOT__RECORDING_BLOCK_BYTES], uint32_t number,
                                   uint64_t tick, const void *payload, size_t length)
{
    foliot__recording_block_write(bytes, &(foliot__recording_block){
                                             .length = (uint32_t)length,
                                             .number = number,
                                             .tick = tick,
                                             .payload_crc = foliot__crc32c(0, payload, length),
                                         });
}

bool foliot__recording_block_read(const uint8_t bytes[FOLIOT__RECORDING_BLOCK_BYTES],
                                  foliot__recording_block *block)
{
    foliot__reader r = foliot__reader_of(bytes, FOLIOT__RECORDING_BLOCK_BYTES);
    uint32_t magic = foliot__read_u32(&r);
    block->length = foliot__read_u32(&r);
    block->number = foliot__read_u32(&r);
    block->tick = foliot__read_u64(&r);
    block->payload_crc = foliot__read_u32(&r);
    uint32_t crc = foliot__read_u32(&r);
    return magic == FOLIOT__RECORDING_BLOCK_MAGIC &&
           crc == foliot__crc32c(0, bytes, FOLIOT__RECORDING_BLOCK_BYTES - 4) &&
           block->length <= FOLIOT__RECORDING_PAYLOAD_MAX;
}

void foliot__recording_start_write(uint8_t bytes[FOLIOT__RECORDING_START_BYTES])
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT__RECORDING_START_BYTES);
    foliot__write_bytes(&w, FOLIOT__RECORDING_MAGIC, FOLIOT__RECORDING_MAGIC_BYTES);
    foliot__write_u32(&w, FOLIOT_RECORDING_FORMAT);
    foliot__write_u32(&w, foliot__crc32c(0, bytes, FOLIOT__RECORDING_START_BYTES - 4));
}

bool foliot__recording_start_read(const uint8_t bytes[FOLIOT__RECORDING_START_BYTES],
                                  uint32_t *version)
{
    foliot__reader r = foliot__reader_of(bytes, FOLIOT__RECORDING_START_BYTES);
    const uint8_t *magic = foliot__read_bytes(&r, FOLIOT__RECORDING_MAGIC_BYTES);
    *version = foliot__read_u32(&r);
    uint32_t crc = foliot__read_u32(&r);
    return memcmp(magic, FOLIOT__RECORDING_MAGIC, FOLIOT__RECORDING_MAGIC_BYTES) == 0 &&
           crc == foliot__crc32c(0, bytes, FOLIOT__RECORDING_START_BYTES - 4);
}

void foliot__recording_digest_bytes(foliot_digest digest, uint8_t bytes[16])
{
    for (int i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)(digest.high >> (56 - 8 * i));
        bytes[8 + i] = (uint8_t)(digest.low >> (56 - 8 * i));
    }
}

foliot_digest foliot__recording_digest_of(const uint8_t bytes[16])
{
    foliot_digest digest = {0, 0};
    for (int i = 0; i < 8; i++) {
        digest.high = digest.high << 8 | bytes[i];
        digest.low = digest.low << 8 | bytes[8 + i];
    }
    return digest;
}

foliot_digest foliot__recording_rules_digest(foliot_digest keyframe, const void *bytes,
                                             size_t count)
{
    uint8_t both[32];
    foliot__recording_digest_bytes(keyframe, both);
    foliot__recording_digest_bytes(foliot_digest_compute(bytes, count), both + 16);
    return foliot_digest_compute(both, sizeof both);
}

static const char *const feature_names[] = {"simulation", "rules", "history"};
#define FEATURES (sizeof feature_names / sizeof feature_names[0])

const char *foliot__recording_feature_name(uint32_t feature)
{
    for (unsigned i = 0; i < FEATURES; i++)
        if (feature == 1u << i)
            return feature_names[i];
    return NULL;
}

uint32_t foliot__recording_feature_of(const char *name, size_t length)
{
    for (unsigned i = 0; i < FEATURES; i++)
        if (strlen(feature_names[i]) == length && memcmp(feature_names[i], name, length) == 0)
            return 1u << i;
    return 0;
}
