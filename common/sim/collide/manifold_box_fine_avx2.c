// SPDX-License-Identifier: MIT
// manifold_box_fine_avx2.c: pairs of boxes in binary64; compiled with -mavx2 on x86-64.
#if defined(__AVX2__) && defined(__x86_64__)
#define BOX_KERNEL foliot__boxes_avx2_fine
#define FINE 1
#include "sim/collide/manifold_box_lanes.h"
#else
typedef int foliot__no_boxes_avx2_fine; // a file of C is not empty
#endif
