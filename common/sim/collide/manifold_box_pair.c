// SPDX-License-Identifier: MIT
// manifold_box_pair.c: one pair of boxes by itself, in binary64. Two columns, because vectors have two at least.
#define BOX_KERNEL foliot__boxes_pair
#define FINE 1
#define LANES 2
#include "sim/collide/manifold_box_lanes.h"
