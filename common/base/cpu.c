// SPDX-License-Identifier: MIT
// cpu.c: reads the compiler's runtime, which queries the CPU once, before main.
#include "base/cpu.h"

foliot__simd foliot__cpu_simd(void)
{
#if defined(__x86_64__) && FOLIOT__VECTORS
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw"))
        return FOLIOT__SIMD_AVX512;
    if (__builtin_cpu_supports("avx2"))
        return FOLIOT__SIMD_AVX2;
#endif
    return FOLIOT__SIMD_BASE;
}
