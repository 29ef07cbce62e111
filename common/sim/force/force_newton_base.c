// SPDX-License-Identifier: MIT
// force_newton_base.c: pairwise gravity with the vectors that the compiler was told to use.
#define NEWTON_KERNEL foliot__newton_base
#define ROWS 1
#define STAGES 2
#include "sim/force/force_newton_lanes.h"
