// SPDX-License-Identifier: MIT
// manifold_box_base.c: pairs of boxes in binary32, with the vectors of the compiler flags.
#define BOX_KERNEL foliot__boxes_base
#define FINE 0
#include "sim/collide/manifold_box_lanes.h"
