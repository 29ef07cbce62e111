// SPDX-License-Identifier: MIT
// rotation_avx2.c: rotation_lanes.h for a wider vector unit (the Makefile's ISA_avx2).
#if defined(__AVX2__) && defined(__x86_64__)
#define ROTATION_KERNEL foliot__rotate_avx2
#include "sim/integrator/rotation_lanes.h"
#else
typedef int foliot__no_rotation_avx2; // a file of C is not empty
#endif
