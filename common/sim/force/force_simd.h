// SPDX-License-Identifier: MIT
// force_simd.h: the kernels of pairwise gravity and of springs, which exist for every vector width.
#ifndef FOLIOT_SIM_FORCE_FORCE_SIMD_H
#define FOLIOT_SIM_FORCE_FORCE_SIMD_H

#include "sim/state/state.h"

#define FOLIOT__NEWTON_AHEAD 3

// Positions and masses of `blocks` blocks of FOLIOT__LANES bodies, and FOLIOT__NEWTON_AHEAD blocks
// of zeros after them, which are read ahead of use. Padding has mass 0. Arrays are aligned to 64
// bytes.
typedef struct foliot__newton_bodies {
    const double *x, *y, *z, *mass;
    double softening2; // in the arrays' unit; at least 2^-120
    uint32_t blocks;
} foliot__newton_bodies;

// The forces (without the constant) between block `block`, itself and all blocks after it, added to
// `force`. The order of every sum is fixed (force_newton_simd.c) and so are the bits, for every
// width.
typedef void foliot__newton_kernel(const foliot__newton_bodies *bodies, uint32_t block,
                                   foliot__v3 force);

foliot__newton_kernel foliot__newton_base;
foliot__newton_kernel foliot__newton_avx2, foliot__newton_avx512; // x86-64 alone

#define FOLIOT__SPRINGS_BATCH 64
// Joins r^2, so that a spring without direction has a finite factor and, d being 0, no force. It
// changes no r above 2^-473.
#define FOLIOT__SPRING_TINY 0x1p-1000

// The data that one sweep passes to the next: d = x_b - x_a, which becomes the force on a. Aligned
// to 64 bytes.
typedef struct foliot__springs_batch {
    double dx[FOLIOT__SPRINGS_BATCH], dy[FOLIOT__SPRINGS_BATCH], dz[FOLIOT__SPRINGS_BATCH];
    double stiffness[FOLIOT__SPRINGS_BATCH], length[FOLIOT__SPRINGS_BATCH];
} foliot__springs_batch;

// F = k (1 - length / r) d. Elements beyond `count` are stale and harmless.
typedef void foliot__springs_kernel(foliot__springs_batch *batch, uint32_t count);
foliot__springs_kernel foliot__springs_pull_base;
foliot__springs_kernel foliot__springs_pull_avx2, foliot__springs_pull_avx512; // x86-64 alone

#endif
