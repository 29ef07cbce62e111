// SPDX-License-Identifier: MIT
// force_spring_simd.c: the forces of a batch of springs, as wide as the vectors of one instruction
// set (base/cpu.h). Every spring is computed alone: no width changes a bit.
#include "sim/force/force_simd.h"

#include "base/cpu.h"
#include "sim/math/simd.h"

#define SPRING_KERNEL FOLIOT__KERNEL(foliot__springs_pull)
typedef double spring_lanes FOLIOT__SIMD(double, FOLIOT__SIMD_DOUBLES);

void SPRING_KERNEL(foliot__springs_batch *b, uint32_t count)
{
    for (uint32_t n = 0; n < count; n += FOLIOT__SIMD_DOUBLES) {
        spring_lanes *dx = (spring_lanes *)(b->dx + n), *dy = (spring_lanes *)(b->dy + n);
        spring_lanes *dz = (spring_lanes *)(b->dz + n);
        spring_lanes k = *(const spring_lanes *)(b->stiffness + n);
        spring_lanes length = *(const spring_lanes *)(b->length + n);
        spring_lanes r = ((*dx * *dx + FOLIOT__SPRING_TINY) + *dy * *dy) + *dz * *dz;
        FOLIOT__SIMD_SQRT_F64(r);
        spring_lanes s = k - k * length / r;
        *dx *= s;
        *dy *= s;
        *dz *= s;
    }
#if defined(__AVX__)
    __builtin_ia32_vzeroupper(); // or all SSE code that runs later is slower
#endif
}
