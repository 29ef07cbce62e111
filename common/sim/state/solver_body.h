// SPDX-License-Identifier: MIT
// solver_body.h: a body as the contact solver and the joints see it within a substep, in binary32.
// All of it is cache: the solver fills it from the state and writes back what changed.
#ifndef FOLIOT_SIM_STATE_SOLVER_BODY_H
#define FOLIOT_SIM_STATE_SOLVER_BODY_H

#include <stdint.h>

// One cache line. Within the soft phase v and w are what moves the body in this substep: the mean
// velocity of the scheme's own motion, and what the solver adds. Within the relaxing phase they are
// its velocities at the substep's end. A body that cannot move is all zeros.
typedef struct foliot__solver_body {
    float v[3], w[3], unused[2];
    // Since the tick's contacts were found: displacement, and small angle.
    float moved[3], turned[3];
    float follows; // 1: so far, or turning so fast, that the places of its contacts must follow
    float flat;    // 1: a box or plane, to whose surface contacts are fixed; a round body rolls
} __attribute__((aligned(64))) foliot__solver_body;

#endif
