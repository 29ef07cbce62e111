// SPDX-License-Identifier: MIT
// force_spring_avx2.c: force_spring_lanes.h for a wider vector unit (the Makefile's ISA_avx2).
#if defined(__AVX2__) && defined(__x86_64__)
#define SPRING_KERNEL foliot__springs_pull_avx2
#include "sim/force/force_spring_lanes.h"
#else
typedef int foliot__no_spring_avx2; // a file of C is not empty
#endif
