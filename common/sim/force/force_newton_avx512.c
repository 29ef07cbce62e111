// SPDX-License-Identifier: MIT
// force_newton_avx512.c: pairwise gravity with 8 doubles a vector; compiled with -mavx512f and kin.
#if defined(__AVX512F__) && defined(__x86_64__)
#define NEWTON_KERNEL foliot__newton_avx512
#define ROWS 2
#define STAGES 3
#include "sim/force/force_newton_lanes.h"
#else
typedef int foliot__no_avx512; // a file of C is not empty
#endif
