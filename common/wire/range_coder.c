// SPDX-License-Identifier: MIT
// range_coder.c: the interval is [low, low + range) in units of 2^-32; whole bytes leave at the
// top.
#include "wire/range_coder.h"

foliot__range_encoder foliot__range_encoder_of(uint8_t *bytes, size_t capacity)
{
    return (foliot__range_encoder){.bytes = bytes, .capacity = capacity, .range = UINT32_MAX};
}

static void put(foliot__range_encoder *coder, uint8_t byte)
{
    if (coder->length == coder->capacity)
        coder->full = true;
    else
        coder->bytes[coder->length++] = byte;
}

void foliot__range_shift_out(foliot__range_encoder *coder)
{
    if ((uint32_t)coder->low < 0xff000000u || (coder->low >> 32) != 0) {
        uint8_t carry = (uint8_t)(coder->low >> 32);
        if (coder->started)
            put(coder, (uint8_t)(coder->pending + carry));
        for (; coder->pending_run > 0; coder->pending_run--)
            put(coder, (uint8_t)(0xff + carry));
        coder->pending = (uint8_t)(coder->low >> 24);
        coder->started = true;
    } else {
        coder->pending_run++;
    }
    coder->low = (coder->low & 0x00ffffffu) << 8;
}

void foliot__range_encode_raw(foliot__range_encoder *coder, uint32_t value, unsigned bits)
{
    while (bits-- > 0) {
        coder->range >>= 1;
        if (value >> bits & 1)
            coder->low += coder->range;
        for (; coder->range < FOLIOT__RANGE_MIN; coder->range <<= 8)
            foliot__range_shift_out(coder);
    }
}

size_t foliot__range_encoder_finish(foliot__range_encoder *coder)
{
    // Any number within the interval will do, and the decoder reads zeros beyond the end: choose
    // the one with the most trailing zeros, and leave those away.
    uint64_t high = coder->low + coder->range - 1;
    for (unsigned bits = 32; bits > 0; bits--) {
        uint64_t candidate = (coder->low + (((uint64_t)1 << bits) - 1)) >> bits << bits;
        if (candidate <= high) {
            coder->low = candidate;
            break;
        }
    }
    for (int i = 0; i < 5; i++)
        foliot__range_shift_out(coder);
    for (int i = 0; i < FOLIOT__ZEROS_DROPPED_MAX && coder->length > 0; i++)
        if (coder->bytes[coder->length - 1] == 0)
            coder->length--;
    return coder->full ? 0 : coder->length;
}

static uint8_t next(foliot__range_decoder *coder)
{
    if (coder->at < coder->length)
        return coder->bytes[coder->at++];
    coder->beyond++;
    return 0;
}

foliot__range_decoder foliot__range_decoder_of(const uint8_t *bytes, size_t length)
{
    foliot__range_decoder coder = {.bytes = bytes, .length = length, .range = UINT32_MAX};
    for (int i = 0; i < 4; i++)
        coder.code = coder.code << 8 | next(&coder);
    coder.beyond = 0;
    return coder;
}

void foliot__range_refill(foliot__range_decoder *coder)
{
    for (; coder->range < FOLIOT__RANGE_MIN; coder->range <<= 8)
        coder->code = coder->code << 8 | next(coder);
}

uint32_t foliot__range_decode_raw(foliot__range_decoder *coder, unsigned bits)
{
    uint32_t value = 0;
    while (bits-- > 0) {
        coder->range >>= 1;
        bool bit = coder->code >= coder->range;
        if (bit)
            coder->code -= coder->range;
        value = value << 1 | bit;
        foliot__range_refill(coder);
    }
    return value;
}
