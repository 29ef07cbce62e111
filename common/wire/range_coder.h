// SPDX-License-Identifier: MIT
// range_coder.h: adaptive binary arithmetic coding in bytes, carry-propagating (Martin 1979; the
// byte-wise form is Subbotin's and LZMA's; here a carry goes into the bytes that were written). The
// model of a bit decides its cost; a model is the mean of a fast and a slow estimate of the share
// of zeros.
#ifndef FOLIOT_WIRE_RANGE_CODER_H
#define FOLIOT_WIRE_RANGE_CODER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__MODEL_BITS 16
#define FOLIOT__ZEROS_DROPPED_MAX 4 // zero bytes at the end that are not sent

typedef struct foliot__model {
    uint16_t fast, slow; // share of zeros, in 2^-16
} foliot__model;

static inline foliot__model foliot__model_of(double zeros)
{
    uint16_t p = (uint16_t)(zeros * 65535);
    return (foliot__model){p, p};
}

typedef struct foliot__range_encoder {
    uint8_t *bytes;
    size_t capacity, length;
    uint64_t low; // above its 32 bits `held` more, which are not in `bytes` yet, and a carry
    uint32_t range;
    unsigned held; // whole bytes, at most HELD_MAX between two symbols
    bool full;
} foliot__range_encoder;

typedef struct foliot__range_decoder {
    const uint8_t *bytes;
    size_t length, at;
    uint32_t range, code;
    uint32_t beyond; // bytes read after the end: more than a few is a cut or hostile piece
} foliot__range_decoder;

foliot__range_encoder foliot__range_encoder_of(uint8_t *bytes, size_t capacity);
void foliot__range_put_held(foliot__range_encoder *coder); // into `bytes`, with the carry
void foliot__range_encode_raw(foliot__range_encoder *coder, uint32_t value,
                              unsigned bits);                      // unmodelled
size_t foliot__range_encoder_finish(foliot__range_encoder *coder); // length; 0 if it did not fit
// Upper bound of the length if finished now.
static inline size_t foliot__range_encoder_length(const foliot__range_encoder *coder)
{
    return coder->length + coder->held / 8 + 4;
}

foliot__range_decoder foliot__range_decoder_of(const uint8_t *bytes, size_t length);
void foliot__range_refill(foliot__range_decoder *coder);
uint32_t foliot__range_decode_raw(foliot__range_decoder *coder, unsigned bits);
static inline bool foliot__range_decoder_good(const foliot__range_decoder *coder)
{
    return coder->beyond <= FOLIOT__ZEROS_DROPPED_MAX + 4;
}

// -- a bit, inline: a thousand of them a snapshot

#define FOLIOT__RANGE_MIN (1u << 24)
#define FOLIOT__FAST_SHIFT 5
#define FOLIOT__SLOW_SHIFT 7

// A symbol moves out two bytes at most: with one held before, 32 + 24 bits and a carry fit `low`.
#define FOLIOT__HELD_MAX 8u

// Moves out the bytes that only a carry can still change.
static inline void foliot__range_move_out(foliot__range_encoder *coder)
{
    unsigned bits = (unsigned)__builtin_clz(coder->range) & ~7u;
    coder->range <<= bits;
    coder->low <<= bits;
    coder->held += bits;
    if (coder->held > FOLIOT__HELD_MAX)
        foliot__range_put_held(coder);
}

// The size of the subinterval for a zero bit: never empty, never the whole interval.
static inline uint32_t foliot__range_split(uint32_t range, const foliot__model *model)
{
    uint32_t zeros = ((uint32_t)model->fast + model->slow) >> 1;
    if (zeros < 64)
        zeros = 64;
    if (zeros > 65535 - 64)
        zeros = 65535 - 64;
    return (range >> FOLIOT__MODEL_BITS) * zeros;
}

static inline void foliot__range_adapt(foliot__model *model, bool bit)
{
    if (bit) {
        model->fast = (uint16_t)(model->fast - (model->fast >> FOLIOT__FAST_SHIFT));
        model->slow = (uint16_t)(model->slow - (model->slow >> FOLIOT__SLOW_SHIFT));
    } else {
        model->fast = (uint16_t)(model->fast + ((65535 - model->fast) >> FOLIOT__FAST_SHIFT));
        model->slow = (uint16_t)(model->slow + ((65535 - model->slow) >> FOLIOT__SLOW_SHIFT));
    }
}

static inline void foliot__range_encode(foliot__range_encoder *coder, foliot__model *model,
                                        bool bit)
{
    uint32_t bound = foliot__range_split(coder->range, model);
    if (bit) {
        coder->low += bound;
        coder->range -= bound;
    } else {
        coder->range = bound;
    }
    foliot__range_adapt(model, bit);
    foliot__range_move_out(coder);
}

static inline bool foliot__range_decode(foliot__range_decoder *coder, foliot__model *model)
{
    uint32_t bound = foliot__range_split(coder->range, model);
    bool bit = coder->code >= bound;
    if (bit) {
        coder->code -= bound;
        coder->range -= bound;
    } else {
        coder->range = bound;
    }
    foliot__range_adapt(model, bit);
    if (coder->range < FOLIOT__RANGE_MIN)
        foliot__range_refill(coder);
    return bit;
}

// -- a symbol of a fixed table, and several raw bits at once

#define FOLIOT__TABLE_BITS 12

static inline void foliot__range_encode_span(foliot__range_encoder *coder, uint32_t begin,
                                             uint32_t size, unsigned bits)
{
    uint32_t unit = coder->range >> bits;
    coder->low += (uint64_t)unit * begin;
    coder->range = unit * size;
    foliot__range_move_out(coder);
}

// The position of the code in 2^bits. Hostile bytes may put it beyond the end.
static inline uint32_t foliot__range_decode_place(const foliot__range_decoder *coder, unsigned bits)
{
    uint32_t place = coder->code / (coder->range >> bits), last = (1u << bits) - 1;
    return place < last ? place : last;
}

static inline void foliot__range_decode_span(foliot__range_decoder *coder, uint32_t begin,
                                             uint32_t size, unsigned bits)
{
    uint32_t unit = coder->range >> bits;
    coder->code -= unit * begin;
    coder->range = unit * size;
    if (coder->range < FOLIOT__RANGE_MIN)
        foliot__range_refill(coder);
}

// Symbol i of a row is row[i] .. row[i + 1] of 2^FOLIOT__TABLE_BITS; none is empty.
static inline void foliot__range_encode_symbol(foliot__range_encoder *coder, const uint16_t *row,
                                               uint32_t symbol)
{
    foliot__range_encode_span(coder, row[symbol], (uint32_t)(row[symbol + 1] - row[symbol]),
                              FOLIOT__TABLE_BITS);
}

static inline uint32_t foliot__range_decode_symbol(foliot__range_decoder *coder,
                                                   const uint16_t *row)
{
    uint32_t place = foliot__range_decode_place(coder, FOLIOT__TABLE_BITS), symbol = 0;
    while (row[symbol + 1] <= place)
        symbol++;
    foliot__range_decode_span(coder, row[symbol], (uint32_t)(row[symbol + 1] - row[symbol]),
                              FOLIOT__TABLE_BITS);
    return symbol;
}

// -- one walk for both directions, encoding and decoding

typedef struct foliot__range_pass {
    foliot__range_encoder *out; // one of the two is NULL
    foliot__range_decoder *in;
} foliot__range_pass;

// Writes the bit, or reads one and ignores `bit`. Returns the bit.
static inline bool foliot__range_bit(const foliot__range_pass *pass, foliot__model *model, bool bit)
{
    if (pass->in)
        return foliot__range_decode(pass->in, model);
    foliot__range_encode(pass->out, model, bit);
    return bit;
}

static inline uint32_t foliot__range_raw(const foliot__range_pass *pass, uint32_t value,
                                         unsigned bits)
{
    if (pass->in)
        return foliot__range_decode_raw(pass->in, bits);
    foliot__range_encode_raw(pass->out, value, bits);
    return value;
}

static inline uint32_t foliot__range_symbol(const foliot__range_pass *pass, const uint16_t *row,
                                            uint32_t symbol)
{
    if (pass->in)
        return foliot__range_decode_symbol(pass->in, row);
    foliot__range_encode_symbol(pass->out, row, symbol);
    return symbol;
}

// At most 16 bits, all at once: a different encoding from foliot__range_raw's.
static inline uint32_t foliot__range_bits(const foliot__range_pass *pass, uint32_t value,
                                          unsigned bits)
{
    if (pass->in) {
        value = foliot__range_decode_place(pass->in, bits);
        foliot__range_decode_span(pass->in, value, 1, bits);
    } else {
        foliot__range_encode_span(pass->out, value, 1, bits);
    }
    return value;
}

#endif
