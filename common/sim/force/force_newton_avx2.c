// SPDX-License-Identifier: MIT
// force_newton_avx2.c: pairwise gravity with 4 doubles a vector; compiled with -mavx2 on x86-64.
#if defined(__AVX2__) && defined(__x86_64__)
#define NEWTON_KERNEL foliot__newton_avx2
#define ROWS 2
#define STAGES 3
#include "sim/force/force_newton_lanes.h"
#else
typedef int foliot__no_avx2; // a file of C is not empty
#endif
