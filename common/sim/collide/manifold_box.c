// SPDX-License-Identifier: MIT
// manifold_box.c: boxes with boxes.
#include "sim/collide/shape.h"

void foliot__touch_boxes(const foliot_world *world, const foliot__pair *pairs,
                         const uint32_t *which, uint32_t count, const float *reach,
                         foliot__manifold *out)
{
    (void)world, (void)pairs, (void)reach;
    for (uint32_t k = 0; k < count; k++)
        out[which[k]].count = 0;
}
