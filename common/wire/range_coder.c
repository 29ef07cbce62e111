// SPDX-License-Identifier: MIT
// range_coder.c: the interval is [low, low + range) in units of 2^-32; whole bytes leave at the
// top.
#include "wire/range_coder.h"

foliot__range_encoder foliot__range_encoder_of(uint8_t *bytes, size_t capacity)
{
    return (foliot__range_encoder){.bytes = bytes, .capacity = capacity, .range = UINT32_MAX};
}

void foliot__range_put_held(foliot__range_encoder *coder)
{
    uint64_t bits = coder->low >> 32;
    if (bits >> coder->held) // it cannot run over: the interval is below 1
        for (size_t i = coder->length; i > 0 && ++coder->bytes[i - 1] == 0; i--) {
        }
    for (; coder->held > 0; coder->held -= 8) {
        if (coder->length == coder->capacity)
            coder->full = true;
        else
            coder->bytes[coder->length++] = (uint8_t)(bits >> (coder->held - 8));
    }
    coder->low &= UINT32_MAX;
}

void foliot__range_encode_raw(foliot__range_encoder *coder, uint32_t value, unsigned bits)
{
    while (bits-- > 0) {
        coder->range >>= 1;
        if (value >> bits & 1)
            coder->low += coder->range;
        foliot__range_move_out(coder);
    }
}

size_t foliot__range_encoder_finish(foliot__range_encoder *coder)
{
    // Any number within the interval will do, and the decoder reads zeros beyond the end: choose
    // the one with the most trailing zeros, and omit those.
    uint64_t high = coder->low + coder->range - 1;
    for (unsigned bits = 32; bits > 0; bits--) {
        uint64_t candidate = (coder->low + (((uint64_t)1 << bits) - 1)) >> bits << bits;
        if (candidate <= high) {
            coder->low = candidate;
            break;
        }
    }
    foliot__range_put_held(coder);
    coder->low <<= 32;
    coder->held = 32;
    foliot__range_put_held(coder);
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
