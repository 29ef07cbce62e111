// SPDX-License-Identifier: MIT
// hash_avx2.c: hash_lanes.h compiled for a wider vector unit (the Makefile's ISA_avx2).
#include "sim/math/hash.h"

#if defined(__x86_64__)
#include "sim/math/hash_lanes.h"

foliot_digest foliot__hash_avx2(const foliot__span *spans, uint32_t count)
{
    foliot_digest digest = hash_spans(spans, count);
    // gcc 12 leaves this out on some paths; without it all SSE code that runs later is three times
    // slower.
    __builtin_ia32_vzeroupper();
    return digest;
}
#endif
