// SPDX-License-Identifier: MIT
// hash_lanes.h: the body of hash*.c, which compile it for different vector units.
#ifndef FOLIOT_SIM_MATH_HASH_LANES_H
#define FOLIOT_SIM_MATH_HASH_LANES_H

// Everything from the header, nothing from the library: builds for machines that have no libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "sim/math/hash.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline void hash_span(XXH3_state_t *state, const foliot__span *span)
{
    XXH3_128bits_update(state, span->values, span->count * span->width);
}
#else
static inline void hash_span(XXH3_state_t *state, const foliot__span *span)
{
    const unsigned char *from = span->values;
    unsigned char buffer[1024]; // a multiple of every width
    size_t bytes = span->count * span->width;
    while (bytes > 0) {
        size_t part = bytes < sizeof buffer ? bytes : sizeof buffer;
        for (size_t i = 0; i < part; i += span->width)
            for (size_t k = 0; k < span->width; k++)
                buffer[i + k] = from[i + span->width - 1 - k];
        XXH3_128bits_update(state, buffer, part);
        from += part;
        bytes -= part;
    }
}
#endif

static inline foliot_digest hash_spans(const foliot__span *spans, uint32_t count)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (uint32_t i = 0; i < count; i++)
        if (spans[i].count)
            hash_span(&state, &spans[i]);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
    return (foliot_digest){hash.low64, hash.high64};
}

#endif
