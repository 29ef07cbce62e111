// SPDX-License-Identifier: MIT
// manifold_box_simd.c: pairs of boxes in binary32, for one instruction set (base/cpu.h).
#include "base/cpu.h"

#define BOX_KERNEL FOLIOT__KERNEL(foliot__boxes)
#define FINE 0
#include "sim/collide/manifold_box_lanes.h"
