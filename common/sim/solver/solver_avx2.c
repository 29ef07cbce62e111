// SPDX-License-Identifier: MIT
// solver_avx2.c: the solver's kernel; compiled with -mavx2 on x86-64.
#if defined(__AVX2__) && defined(__x86_64__)
#define SOLVER_KERNEL foliot__solver_avx2
#include "sim/solver/solver_columns.h"
#else
typedef int foliot__no_solver_avx2; // a file of C is not empty
#endif
