// SPDX-License-Identifier: MIT
// hash.h: XXH3-128 over a list of arrays, as if their little-endian bytes lay behind one another.
#ifndef FOLIOT_SIM_MATH_HASH_H
#define FOLIOT_SIM_MATH_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "foliot/digest.h"

// `count` values of `width` bytes (1, 2, 4 or 8) in the machine's own order.
typedef struct foliot__span {
    const void *values;
    size_t count;
    uint32_t width;
} foliot__span;

// On the widest vector unit there is.
foliot_digest foliot__hash(const foliot__span *spans, uint32_t count);

// The same on a given one, for tests. The wider ones exist on x86-64 alone, and only if the CPU has
// them.
foliot_digest foliot__hash_base(const foliot__span *spans, uint32_t count);
foliot_digest foliot__hash_avx2(const foliot__span *spans, uint32_t count);
foliot_digest foliot__hash_avx512(const foliot__span *spans, uint32_t count);

#endif
