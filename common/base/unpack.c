// SPDX-License-Identifier: MIT
// unpack.c: the msgpack subset that recordings hold, and skipping of all the rest
// (https://github.com/msgpack/msgpack/blob/master/spec.md).
#include "base/pack.h"

static uint64_t read_big(foliot__reader *r, unsigned count)
{
    const uint8_t *bytes = foliot__read_bytes(r, count);
    uint64_t value = 0;
    for (unsigned i = 0; bytes && i < count; i++)
        value = value << 8 | bytes[i];
    return value;
}

static uint64_t fail_corrupt(foliot__reader *r)
{
    foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return 0;
}

uint64_t foliot__unpack_uint(foliot__reader *r)
{
    int64_t value;
    uint8_t tag = foliot__read_u8(r);
    if (tag <= 0x7f)
        return tag;
    switch (tag) {
    case 0xcc:
        return read_big(r, 1);
    case 0xcd:
        return read_big(r, 2);
    case 0xce:
        return read_big(r, 4);
    case 0xcf:
        return read_big(r, 8);
    default: // a signed encoding of a number that is not negative
        if (r->status != FOLIOT_STATUS_OK)
            return 0;
        r->at--;
        value = foliot__unpack_int(r);
        return value >= 0 ? (uint64_t)value : fail_corrupt(r);
    }
}

int64_t foliot__unpack_int(foliot__reader *r)
{
    uint64_t value;
    uint8_t tag = foliot__read_u8(r);
    if (tag <= 0x7f)
        return tag;
    if (tag >= 0xe0)
        return (int64_t)tag - 256;
    switch (tag) {
    case 0xd0:
        value = read_big(r, 1);
        return (int64_t)value - (value > 0x7f ? 0x100 : 0);
    case 0xd1:
        value = read_big(r, 2);
        return (int64_t)value - (value > 0x7fff ? 0x10000 : 0);
    case 0xd2:
        value = read_big(r, 4);
        return (int64_t)value - (value > 0x7fffffff ? 0x100000000 : 0);
    case 0xd3:
        value = read_big(r, 8);
        return value > INT64_MAX ? -(int64_t)(~value) - 1 : (int64_t)value;
    case 0xcc:
        return (int64_t)read_big(r, 1);
    case 0xcd:
        return (int64_t)read_big(r, 2);
    case 0xce:
        return (int64_t)read_big(r, 4);
    case 0xcf:
        value = read_big(r, 8);
        return value > INT64_MAX ? (int64_t)fail_corrupt(r) : (int64_t)value;
    default:
        return (int64_t)fail_corrupt(r);
    }
}

double foliot__unpack_f64(foliot__reader *r)
{
    if (foliot__read_u8(r) != 0xcb)
        return (double)fail_corrupt(r);
    return foliot__f64_of(read_big(r, 8));
}

// `count` values of at least one byte each must still be there.
static uint32_t checked_count(foliot__reader *r, uint64_t count, uint32_t values_each)
{
    if (count * values_each > foliot__reader_left(r)) {
        foliot__reader_fail(r, FOLIOT_STATUS_TRUNCATED);
        return 0;
    }
    return (uint32_t)count;
}

uint32_t foliot__unpack_array(foliot__reader *r)
{
    uint8_t tag = foliot__read_u8(r);
    if (tag >= 0x90 && tag <= 0x9f)
        return checked_count(r, tag & 15u, 1);
    if (tag == 0xdc)
        return checked_count(r, read_big(r, 2), 1);
    if (tag == 0xdd)
        return checked_count(r, read_big(r, 4), 1);
    return (uint32_t)fail_corrupt(r);
}

uint32_t foliot__unpack_map(foliot__reader *r)
{
    uint8_t tag = foliot__read_u8(r);
    if (tag >= 0x80 && tag <= 0x8f)
        return checked_count(r, tag & 15u, 2);
    if (tag == 0xde)
        return checked_count(r, read_big(r, 2), 2);
    if (tag == 0xdf)
        return checked_count(r, read_big(r, 4), 2);
    return (uint32_t)fail_corrupt(r);
}

static const uint8_t *read_sized(foliot__reader *r, uint64_t count, uint32_t *length)
{
    const uint8_t *bytes =
        r->status == FOLIOT_STATUS_OK ? foliot__read_bytes(r, (size_t)count) : NULL;
    *length = bytes ? (uint32_t)count : 0;
    return bytes;
}

const uint8_t *foliot__unpack_bin(foliot__reader *r, uint32_t *length)
{
    uint8_t tag = foliot__read_u8(r);
    if (tag >= 0xc4 && tag <= 0xc6)
        return read_sized(r, read_big(r, 1u << (tag - 0xc4)), length);
    fail_corrupt(r);
    return read_sized(r, 0, length);
}

const char *foliot__unpack_str(foliot__reader *r, uint32_t *length)
{
    uint8_t tag = foliot__read_u8(r);
    if (tag >= 0xa0 && tag <= 0xbf)
        return (const char *)read_sized(r, tag & 31u, length);
    if (tag >= 0xd9 && tag <= 0xdb)
        return (const char *)read_sized(r, read_big(r, 1u << (tag - 0xd9)), length);
    fail_corrupt(r);
    return (const char *)read_sized(r, 0, length);
}

static void skip_bytes(foliot__reader *r, uint64_t count)
{
    if (r->status == FOLIOT_STATUS_OK)
        foliot__read_bytes(r, (size_t)count);
}

// Skips one value and returns the number of values inside it.
static uint64_t skip_one(foliot__reader *r)
{
    uint8_t tag = foliot__read_u8(r);
    if (r->status != FOLIOT_STATUS_OK)
        return 0;
    // Bytes that follow a tag of fixed size, or UINT32_MAX.
    uint32_t size;
    static const uint8_t sizes[] = {
        [0xc0 - 0xc0] = 0, [0xc2 - 0xc0] = 0,  [0xc3 - 0xc0] = 0, [0xca - 0xc0] = 4,
        [0xcb - 0xc0] = 8, [0xcc - 0xc0] = 1,  [0xcd - 0xc0] = 2, [0xce - 0xc0] = 4,
        [0xcf - 0xc0] = 8, [0xd0 - 0xc0] = 1,  [0xd1 - 0xc0] = 2, [0xd2 - 0xc0] = 4,
        [0xd3 - 0xc0] = 8, [0xd4 - 0xc0] = 2,  [0xd5 - 0xc0] = 3, [0xd6 - 0xc0] = 5,
        [0xd7 - 0xc0] = 9, [0xd8 - 0xc0] = 17,
    };
    if (tag <= 0x7f || tag >= 0xe0) {
        size = 0;
    } else if (tag >= 0xa0 && tag <= 0xbf) {
        size = tag & 31u;
    } else {
        bool sizeless = tag < 0xc0 || tag == 0xc1 || (tag >= 0xc4 && tag <= 0xc9) || tag > 0xd8;
        size = sizeless ? UINT32_MAX : sizes[tag - 0xc0];
    }
    if (size != UINT32_MAX) {
        skip_bytes(r, size);
        return 0;
    }
    if ((tag >= 0x80 && tag <= 0x9f) || (tag >= 0xdc && tag <= 0xdf)) {
        r->at--;
        bool map = tag <= 0x8f || tag >= 0xde;
        return map ? 2 * (uint64_t)foliot__unpack_map(r) : foliot__unpack_array(r);
    }
    if (tag >= 0xc4 && tag <= 0xc6)
        skip_bytes(r, read_big(r, 1u << (tag - 0xc4)));
    else if (tag >= 0xc7 && tag <= 0xc9)
        skip_bytes(r, read_big(r, 1u << (tag - 0xc7)) + 1);
    else if (tag >= 0xd9 && tag <= 0xdb)
        skip_bytes(r, read_big(r, 1u << (tag - 0xd9)));
    else
        fail_corrupt(r); // 0xc1 is not a value
    return 0;
}

// By counting, not by recursion: nesting costs no stack. Each round reads at least one byte.
void foliot__unpack_skip(foliot__reader *r)
{
    for (uint64_t left = 1; left > 0 && r->status == FOLIOT_STATUS_OK; left--)
        left += skip_one(r);
}
