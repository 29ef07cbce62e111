// SPDX-License-Identifier: MIT
// spheres_problem.h: equal spheres falling into a walled box, for foliot and its opponents alike (C and C++).
// A column of 12.5 layers whatever the number, so that more spheres are a wider box and not a deeper pile.
// z is up; radius 0.2 m, density 1000, friction 0.6, no restitution, 60 Hz, 9.81 m/s^2.
#ifndef FOLIOT_BENCH_SPHERES_PROBLEM_H
#define FOLIOT_BENCH_SPHERES_PROBLEM_H

#define SPHERES_RADIUS 0.2
#define SPHERES_MASS 33.5103264
#define SPHERES_FRICTION 0.6
#define SPHERES_GRAVITY 9.81
#define SPHERES_DT (1.0 / 60)

// Spheres along an edge of the box.
static inline unsigned spheres_side(unsigned count)
{
    unsigned side = 1;
    while (2 * side * side * 25 < 4 * count)
        side++;
    return side;
}

static inline double spheres_half_width(unsigned count)
{
    return spheres_side(count) * 0.25;
}

// In [-1, 1), the same in every language: a small integer generator by index.
static inline double spheres_jitter(unsigned seed)
{
    seed = seed * 747796405u + 2891336453u;
    seed = ((seed >> ((seed >> 28) + 4)) ^ seed) * 277803737u;
    seed = (seed >> 22) ^ seed;
    return (double)(seed >> 8) / 8388608.0 - 1;
}

static inline void spheres_position(unsigned count, unsigned i, double at[3])
{
    unsigned side = spheres_side(count), layer = i / (side * side), row = i / side % side;
    double pitch = 0.482, middle = (side - 1) * 0.5;
    at[0] = (i % side - middle) * pitch + 0.025 * spheres_jitter(2 * i);
    at[1] = (row - middle) * pitch + 0.025 * spheres_jitter(2 * i + 1);
    at[2] = 1 + 0.5 * layer;
}

#endif
