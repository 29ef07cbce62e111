// SPDX-License-Identifier: MIT
// solver_body.h: a body as the contact solver and the joints see it within a substep. All of it is
// cache: the solver fills it from the state and writes back what changed.
#ifndef FOLIOT_SIM_SOLVER_BODY_H
#define FOLIOT_SIM_SOLVER_BODY_H

#include <stdint.h>

// A body as the solver sees it: one cache line of binary32. Within the soft phase v and w are what
// moves it in this substep (the mean velocity of the scheme's own motion, and what the solver
// adds); within the relaxing phase its velocities at the substep's end. A body that cannot move is
// all zeros.
typedef struct foliot__mover {
    float v[3], w[3], unused[2];
    float moved[3], turned[3],
        spare[2]; // since the tick's contacts were found: way, and small angle
} __attribute__((aligned(64))) foliot__mover;

// What an impulse does to a body, at the pose at which the contacts were found.
typedef struct foliot__ease {
    float inverse_mass;
    float xx, yy, zz, xy, xz, yz; // inverse inertia, world axes
    float friction;
} __attribute__((aligned(32))) foliot__ease;

#endif
