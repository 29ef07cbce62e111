// SPDX-License-Identifier: MIT
// manifold.h: where two shapes touch or nearly do: one normal, up to four points. A function of the
// two shapes and poses alone: nothing is remembered from one step to the next.
//
// Poses are binary64. Whatever is relative to a pair (normal, arms, gap) is binary32, rounded after
// the difference of the positions is taken in binary64.
#ifndef FOLIOT_SIM_COLLIDE_MANIFOLD_H
#define FOLIOT_SIM_COLLIDE_MANIFOLD_H

#include "sim/state/state.h"

#define FOLIOT__POINTS 4

// The header and each point have 32 bytes, so that eight manifolds can be transposed into lanes.
typedef struct foliot__manifold_point {
    float arm_a[3],
        arm_b[3];     // from the bodies' centres to the point, world axes; a plane's arm is 0
    float gap;        // along the normal, negative where the shapes overlap
    uint32_t feature; // which features of the two meet there: the same number while they do
} foliot__manifold_point;

typedef struct foliot__manifold {
    uint32_t a, b; // slots, a < b
    uint32_t count;
    float normal[3]; // unit, from a to b
    uint32_t unused[2];
    foliot__manifold_point point[FOLIOT__POINTS]; // ascending by feature
} __attribute__((aligned(32))) foliot__manifold;

struct foliot__body_pair;

// out[k] is the manifold of pairs[k]. Its count is 0 where no two points come nearer than
// speculative_distance[a] + speculative_distance[b]: by slot, how far a body may still move in this
// tick, and the margin. Writes nothing else, so ranges may run on several threads.
void foliot__find_manifolds(const foliot_world *world, const struct foliot__body_pair *pairs,
                            uint32_t count, const float *speculative_distance,
                            foliot__manifold *out);

#endif
