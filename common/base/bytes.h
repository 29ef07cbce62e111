// SPDX-License-Identifier: MIT
// bytes.h: cursors over bytes, little-endian, bounds-checked, with a sticky status: read or write
// straight through and look at `status` once. After an error reads give zeros and writes do
// nothing.
#ifndef FOLIOT_BASE_BYTES_H
#define FOLIOT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "foliot/status.h"

typedef struct foliot__reader {
    const uint8_t *bytes;
    size_t length, at;
    foliot_status status; // FOLIOT_STATUS_OK, FOLIOT_STATUS_TRUNCATED or what the decoder sets
} foliot__reader;

// `bytes` NULL counts only: then capacity is ignored and `at` ends as the size needed.
typedef struct foliot__writer {
    uint8_t *bytes;
    size_t capacity, at;
    foliot_status status; // FOLIOT_STATUS_OK or FOLIOT_STATUS_FULL
} foliot__writer;

static inline foliot__reader foliot__reader_of(const uint8_t *bytes, size_t length)
{
    return (foliot__reader){bytes, length, 0, FOLIOT_STATUS_OK};
}

static inline foliot__writer foliot__writer_of(uint8_t *bytes, size_t capacity)
{
    return (foliot__writer){bytes, capacity, 0, FOLIOT_STATUS_OK};
}

static inline size_t foliot__reader_left(const foliot__reader *r)
{
    return r->status == FOLIOT_STATUS_OK ? r->length - r->at : 0;
}

// The first error stays.
static inline void foliot__reader_fail(foliot__reader *r, foliot_status status)
{
    if (r->status == FOLIOT_STATUS_OK)
        r->status = status;
}

// `count` bytes in place, NULL if there are fewer.
const uint8_t *foliot__read_bytes(foliot__reader *r, size_t count);
uint8_t foliot__read_u8(foliot__reader *r);
uint16_t foliot__read_u16(foliot__reader *r);
uint32_t foliot__read_u24(foliot__reader *r);
uint32_t foliot__read_u32(foliot__reader *r);
uint64_t foliot__read_u64(foliot__reader *r);
double foliot__read_f64(foliot__reader *r);
// LEB128: seven bits a byte, the lowest first. FOLIOT_STATUS_CORRUPT beyond `most`, and for an
// encoding that is longer than the value needs: each value has one.
uint64_t foliot__read_varint(foliot__reader *r, uint64_t most);

void foliot__write_bytes(foliot__writer *w, const void *bytes, size_t count);
void foliot__write_u8(foliot__writer *w, uint8_t value);
void foliot__write_u16(foliot__writer *w, uint16_t value);
void foliot__write_u24(foliot__writer *w, uint32_t value);
void foliot__write_u32(foliot__writer *w, uint32_t value);
void foliot__write_u64(foliot__writer *w, uint64_t value);
void foliot__write_f64(foliot__writer *w, double value);
void foliot__write_varint(foliot__writer *w, uint64_t value);

static inline uint64_t foliot__f64_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double foliot__f64_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// -- CRC-32 of Castagnoli

// Polynomial 0x1EDC6F41 reflected, as in iSCSI, RFC 3720 appendix B.4 (crc32c.c).

// CRC of the bytes that gave `crc` (0: none) followed by these. "123456789" gives 0xe3069283.
uint32_t foliot__crc32c(uint32_t crc, const void *bytes, size_t count);

#endif
