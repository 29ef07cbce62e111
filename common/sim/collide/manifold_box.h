// SPDX-License-Identifier: MIT
// manifold_box.h: pairs of boxes, eight at a time.
#ifndef FOLIOT_SIM_COLLIDE_MANIFOLD_BOX_H
#define FOLIOT_SIM_COLLIDE_MANIFOLD_BOX_H

#include "sim/collide/manifold.h"

#define FOLIOT__BOX_LANES 8

// One row a quantity, one column a pair. Columns out of use repeat one that is in use.
typedef struct foliot__box_batch {
    double q_a[4][FOLIOT__BOX_LANES], q_b[4][FOLIOT__BOX_LANES]; // orientations w, x, y, z
    double half_a[3][FOLIOT__BOX_LANES], half_b[3][FOLIOT__BOX_LANES];
    double d[3][FOLIOT__BOX_LANES]; // from a's centre to b's
    double distance_max[FOLIOT__BOX_LANES];
} foliot__box_batch;

typedef void foliot__box_kernel(const foliot__box_batch *in, uint32_t count,
                                foliot__manifold *const *out);

// In binary32, for boxes of like sizes; and in binary64, where a small box on a large one, or a
// thin plate, would lose too much of its gap to rounding.
extern foliot__box_kernel foliot__boxes_base, foliot__boxes_fine_base;
extern foliot__box_kernel foliot__boxes_avx2, foliot__boxes_fine_avx2; // x86-64 alone
extern foliot__box_kernel foliot__boxes_avx512, foliot__boxes_fine_avx512;

// One pair, by itself; binary64.
void foliot__collide_box_pair(quat q_a, const double half_a[3], quat q_b, const double half_b[3],
                              vec3 d, double distance_max, foliot__manifold *out);

#endif
