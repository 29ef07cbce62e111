// SPDX-License-Identifier: MIT
// hash.c: XXH3-128 on what every machine of the ISA has, and the choice between the variants.
#include "sim/math/hash_lanes.h"

#include "base/cpu.h"

foliot_digest foliot__hash_base(const foliot__span *spans, uint32_t count)
{
    return hash_spans(spans, count);
}

foliot_digest foliot__hash(const foliot__span *spans, uint32_t count)
{
#if defined(__x86_64__)
    foliot__simd simd = foliot__cpu_simd();
    if (simd == FOLIOT__SIMD_AVX512)
        return foliot__hash_avx512(spans, count);
    if (simd == FOLIOT__SIMD_AVX2)
        return foliot__hash_avx2(spans, count);
#endif
    return hash_spans(spans, count);
}
