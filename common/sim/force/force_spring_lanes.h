// SPDX-License-Identifier: MIT
// force_spring_lanes.h: the forces of a batch of springs, as wide as the machine's vectors.
// Included once by each file that defines SPRING_KERNEL. Every spring is computed alone: no width
// changes a bit.
#ifndef FOLIOT_SIM_FORCE_FORCE_SPRING_LANES_H
#define FOLIOT_SIM_FORCE_FORCE_SPRING_LANES_H

#include "sim/math/simd.h"
#include "sim/state/state.h"

#define FOLIOT__SPRINGS_BATCH 64
// Joins r^2, so that a spring without direction has a finite factor and, d being 0, no force. It
// changes no r above 2^-473.
#define FOLIOT__SPRING_TINY 0x1p-1000

// What one sweep hands to the next: d = x_b - x_a, which becomes the force on a. Aligned to 64
// bytes.
typedef struct foliot__springs_batch {
    double dx[FOLIOT__SPRINGS_BATCH], dy[FOLIOT__SPRINGS_BATCH], dz[FOLIOT__SPRINGS_BATCH];
    double stiffness[FOLIOT__SPRINGS_BATCH], length[FOLIOT__SPRINGS_BATCH];
} foliot__springs_batch;

// F = k (1 - length / r) d. What lies beyond `count` is old and harmless.
typedef void foliot__springs_kernel(foliot__springs_batch *batch, uint32_t count);
foliot__springs_kernel foliot__springs_pull_base;
foliot__springs_kernel foliot__springs_pull_avx2;   // x86-64 alone
foliot__springs_kernel foliot__springs_pull_avx512; // likewise

#endif

#ifdef SPRING_KERNEL
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
#endif
