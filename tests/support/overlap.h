// SPDX-License-Identifier: MIT
// overlap.h: how far two solids overlap, from their poses alone: what benches and tests measure an
// engine's results with. Written for clarity and shared with no engine, ours included.
#ifndef FOLIOT_TESTS_OVERLAP_H
#define FOLIOT_TESTS_OVERLAP_H

#include <stdbool.h>
#include <stdint.h>

typedef struct solid {
    bool is_sphere; // else a box
    bool is_static;
    double half[3], radius;
    double position[3], orientation[4]; // w, x, y, z; body to world
} solid;

// The least way that would part the two, negative where they are apart (then at most their
// distance).
double overlap_of(const solid *a, const solid *b);
// The deepest overlap among all pairs of which one moves; 0 where none overlap.
double overlap_deepest(const solid *solids, uint32_t count);

#endif
