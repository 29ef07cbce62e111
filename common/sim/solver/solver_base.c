// SPDX-License-Identifier: MIT
// solver_base.c: the solver's kernel with the vectors of the compiler flags.
#define SOLVER_KERNEL foliot__solver_base
#include "sim/solver/solver_columns.h"
