// SPDX-License-Identifier: MIT
// solver_kernel.c: which of the solver's kernels the machine can run. They give the same bits.
#include "sim/solver/solver_kernel.h"

#include "base/cpu.h"

const foliot__solver_kernel *foliot__solver_of_cpu(void)
{
#if defined(__x86_64__)
    if (foliot__cpu_simd() == FOLIOT__SIMD_AVX512)
        return &foliot__solver_avx512;
    if (foliot__cpu_simd() != FOLIOT__SIMD_BASE)
        return &foliot__solver_avx2;
#endif
    return &foliot__solver_base;
}
