// SPDX-License-Identifier: MIT
// rotation_avx512.c: rotation_lanes.h for a wider vector unit (the Makefile's ISA_avx512).
#if defined(__AVX512F__) && defined(__x86_64__)
#define ROTATION_KERNEL foliot__rotate_avx512
#include "sim/integrator/rotation_lanes.h"
#else
typedef int foliot__no_rotation_avx512; // a file of C is not empty
#endif
