// SPDX-License-Identifier: MIT
// manifold_box_fine_avx512.c: pairs of boxes in binary64; compiled with -mavx512f and kin on
// x86-64.
#if defined(__AVX512F__) && defined(__x86_64__)
#define BOX_KERNEL foliot__boxes_avx512_fine
#define FINE 1
#include "sim/collide/manifold_box_lanes.h"
#else
typedef int foliot__no_boxes_avx512_fine; // a file of C is not empty
#endif
