// SPDX-License-Identifier: MIT
// manifold_box_fine_simd.c: pairs of boxes in binary64, for one instruction set (base/cpu.h).
#include "base/cpu.h"

#define BOX_KERNEL FOLIOT__KERNEL(foliot__boxes_fine)
#define FINE 1
#include "sim/collide/manifold_box_lanes.h"
