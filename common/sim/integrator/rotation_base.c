// SPDX-License-Identifier: MIT
// rotation_base.c: rotation_lanes.h for what the compiler was told to use.
#define ROTATION_KERNEL foliot__rotate_base
#include "sim/integrator/rotation_lanes.h"
