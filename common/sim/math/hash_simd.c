// SPDX-License-Identifier: MIT
// hash_simd.c: XXH3-128 for one instruction set (base/cpu.h).
#include "sim/math/hash.h"

#include "base/cpu.h"

// Everything from the header, nothing from the library: builds for machines that have no libxxhash.
#define XXH_INLINE_ALL
#include <xxhash.h>

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

foliot_digest FOLIOT__KERNEL(foliot__hash)(const foliot__span *spans, uint32_t count)
{
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (uint32_t i = 0; i < count; i++)
        if (spans[i].count)
            hash_span(&state, &spans[i]);
    XXH128_hash_t hash = XXH3_128bits_digest(&state);
#if defined(__AVX__)
    // gcc 12 leaves this out on some paths; without it all SSE code that runs later is three times
    // slower.
    __builtin_ia32_vzeroupper();
#endif
    return (foliot_digest){hash.low64, hash.high64};
}
