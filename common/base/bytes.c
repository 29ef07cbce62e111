// SPDX-License-Identifier: MIT
// bytes.c: little-endian values by shifts, so that the machine's own order never shows.
#include "base/bytes.h"

const uint8_t *foliot__read_bytes(foliot__reader *r, size_t count)
{
    if (foliot__reader_left(r) < count) {
        foliot__reader_fail(r, FOLIOT_STATUS_TRUNCATED);
        return NULL;
    }
    const uint8_t *at = r->bytes ? r->bytes + r->at : NULL; // of no bytes at all none are taken
    r->at += count;
    return at;
}

static uint64_t read_little(foliot__reader *r, unsigned count)
{
    const uint8_t *bytes = foliot__read_bytes(r, count);
    uint64_t value = 0;
    for (unsigned i = 0; bytes && i < count; i++)
        value |= (uint64_t)bytes[i] << (8 * i);
    return value;
}

uint8_t foliot__read_u8(foliot__reader *r)
{
    return (uint8_t)read_little(r, 1);
}

uint16_t foliot__read_u16(foliot__reader *r)
{
    return (uint16_t)read_little(r, 2);
}

uint32_t foliot__read_u24(foliot__reader *r)
{
    return (uint32_t)read_little(r, 3);
}

uint32_t foliot__read_u32(foliot__reader *r)
{
    return (uint32_t)read_little(r, 4);
}

uint64_t foliot__read_u64(foliot__reader *r)
{
    return read_little(r, 8);
}

double foliot__read_f64(foliot__reader *r)
{
    return foliot__f64_of(read_little(r, 8));
}

uint64_t foliot__read_varint(foliot__reader *r, uint64_t most)
{
    uint64_t value = 0;
    uint8_t byte = 0x80;
    for (unsigned shift = 0; byte & 0x80; shift += 7) {
        byte = foliot__read_u8(r);
        // Ten bytes hold 64 bits: the tenth brings one. A last byte of 0 brings none.
        bool longer = (byte == 0 && shift > 0) || (shift == 63 && byte > 1);
        if (longer && r->status == FOLIOT_STATUS_OK)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        if (r->status != FOLIOT_STATUS_OK)
            return 0;
        value |= (uint64_t)(byte & 0x7f) << shift;
    }
    if (value > most) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return 0;
    }
    return value;
}

void foliot__write_bytes(foliot__writer *w, const void *bytes, size_t count)
{
    if (w->bytes && (w->status != FOLIOT_STATUS_OK || w->capacity - w->at < count)) {
        w->status = FOLIOT_STATUS_FULL;
        return;
    }
    if (w->bytes && count)
        memcpy(w->bytes + w->at, bytes, count);
    w->at += count;
}

static void write_little(foliot__writer *w, uint64_t value, unsigned count)
{
    uint8_t bytes[8];
    for (unsigned i = 0; i < count; i++)
        bytes[i] = (uint8_t)(value >> (8 * i));
    foliot__write_bytes(w, bytes, count);
}

void foliot__write_u8(foliot__writer *w, uint8_t value)
{
    write_little(w, value, 1);
}

void foliot__write_u16(foliot__writer *w, uint16_t value)
{
    write_little(w, value, 2);
}

void foliot__write_u24(foliot__writer *w, uint32_t value)
{
    write_little(w, value, 3);
}

void foliot__write_u32(foliot__writer *w, uint32_t value)
{
    write_little(w, value, 4);
}

void foliot__write_u64(foliot__writer *w, uint64_t value)
{
    write_little(w, value, 8);
}

void foliot__write_f64(foliot__writer *w, double value)
{
    write_little(w, foliot__f64_bits(value), 8);
}

void foliot__write_varint(foliot__writer *w, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        foliot__write_u8(w, (uint8_t)(0x80 | (value & 0x7f)));
    foliot__write_u8(w, (uint8_t)value);
}
