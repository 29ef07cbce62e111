// SPDX-License-Identifier: MIT
// force_newton_base.c: pairwise gravity with the vectors of the compiler flags.
#define NEWTON_KERNEL foliot__newton_base
#define ROWS 1
#define STAGES 2
#include "sim/force/force_newton_lanes.h"
