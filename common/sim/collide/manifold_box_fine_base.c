// SPDX-License-Identifier: MIT
// manifold_box_fine_base.c: pairs of boxes in binary64, with the vectors of the compiler flags.
#define BOX_KERNEL foliot__boxes_base_fine
#define FINE 1
#include "sim/collide/manifold_box_lanes.h"
