// SPDX-License-Identifier: MIT
// solver_avx512.c: the solver's kernel; compiled with -mavx512f and kin on x86-64.
#if defined(__AVX512F__) && defined(__x86_64__)
#define SOLVER_KERNEL foliot__solver_avx512
#include "sim/solver/solver_columns.h"
#else
typedef int foliot__no_solver_avx512; // a file of C is not empty
#endif
