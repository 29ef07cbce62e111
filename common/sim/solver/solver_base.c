// SPDX-License-Identifier: MIT
// solver_base.c: the solver's kernel with the vectors that the compiler was told to use.
#define SOLVER_KERNEL foliot__solver_base
#include "sim/solver/solver_columns.h"
