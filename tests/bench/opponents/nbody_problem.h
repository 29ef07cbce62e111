// SPDX-License-Identifier: MIT
// nbody_problem.h: the bodies of the bench `nbody`, the same for it and for its opponent: a cluster
// in a unit ball, total mass 1, cold enough to stay together. C and C++.
#ifndef FOLIOT_BENCH_NBODY_PROBLEM_H
#define FOLIOT_BENCH_NBODY_PROBLEM_H

#include "base/rng.h"

static inline void nbody_problem_body(unsigned n, unsigned i, double *mass, double *position,
                                      double *velocity)
{
    foliot__rng rng = foliot__rng_seeded(1000003u * (uint64_t)n + i);
    double r2;
    do {
        r2 = 0;
        for (int c = 0; c < 3; c++) {
            position[c] = 2 * foliot__rng_unit(&rng) - 1;
            r2 += position[c] * position[c];
        }
    } while (r2 > 1);
    for (int c = 0; c < 3; c++)
        velocity[c] = foliot__rng_unit(&rng) - 0.5;
    *mass = (0.5 + foliot__rng_unit(&rng)) / n;
}

#endif
