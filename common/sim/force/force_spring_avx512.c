// SPDX-License-Identifier: MIT
// force_spring_avx512.c: force_spring_lanes.h for a wider vector unit (the Makefile's ISA_avx512).
#if defined(__AVX512F__) && defined(__x86_64__)
#define SPRING_KERNEL foliot__springs_pull_avx512
#include "sim/force/force_spring_lanes.h"
#else
typedef int foliot__no_spring_avx512; // a file of C is not empty
#endif
