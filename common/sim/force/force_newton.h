// SPDX-License-Identifier: MIT
// force_newton.h: one problem of pairwise gravity, as the kernels of every vector width see it.
#ifndef FOLIOT_SIM_FORCE_FORCE_NEWTON_H
#define FOLIOT_SIM_FORCE_FORCE_NEWTON_H

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
// `force`. The order of every sum is fixed (force_newton_lanes.h) and so are the bits, for every
// width.
typedef void foliot__newton_kernel(const foliot__newton_bodies *bodies, uint32_t block,
                                   foliot__v3 force);

foliot__newton_kernel foliot__newton_base;
foliot__newton_kernel foliot__newton_avx2;   // x86-64 alone
foliot__newton_kernel foliot__newton_avx512; // likewise

#endif
