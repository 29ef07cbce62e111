// SPDX-License-Identifier: MIT
// rotation_base.c: rotation_lanes.h with the vectors of the compiler flags.
#define ROTATION_KERNEL foliot__rotate_base
#include "sim/integrator/rotation_lanes.h"
