// SPDX-License-Identifier: MIT
// lattice.h: the integers of reversible-leapfrog: position and velocity in units of 2^-40. The
// integrator is integrator/lattice.c; bodies are put onto the lattice where they are written.
// Rounding is odd, R(-x) = -R(x), so that running back is also running with -dt.
#ifndef FOLIOT_SIM_STATE_LATTICE_H
#define FOLIOT_SIM_STATE_LATTICE_H

#include "sim/state/state.h"

#define FOLIOT__LATTICE_UNIT 0x1p-40
#define FOLIOT__LATTICE_PER_UNIT 0x1p40
// Coordinates and velocities beyond it are a fault. Two of them add up without overflow.
#define FOLIOT__LATTICE_MAX 0x1p22
#define FOLIOT__LATTICE_END 0x1p62 // the same in lattice units

// To nearest, halves away from zero. |x| <= 2^62.
static inline int64_t foliot__lattice_rounded(double x)
{
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole; // exact
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

// *value += R(increment), or -= for `back`. False, and *value unchanged, where the result is off
// the lattice or the increment is NaN.
static inline bool foliot__lattice_add(int64_t *value, double increment, bool back)
{
    if (!(increment > -FOLIOT__LATTICE_END && increment < FOLIOT__LATTICE_END))
        return false;
    int64_t by = foliot__lattice_rounded(increment);
    int64_t sum = *value + (back ? -by : by);
    if (sum <= -(INT64_C(1) << 62) || sum >= INT64_C(1) << 62)
        return false;
    *value = sum;
    return true;
}

// The double nearest to a lattice value.
static inline double foliot__lattice_nearest(int64_t value)
{
    return (double)value * FOLIOT__LATTICE_UNIT;
}

// Puts a body onto the lattice: sets the integers nearest to its position and velocity, and makes
// those two equal to the integers. Does nothing in worlds of other integrators.
void foliot__lattice_enter(foliot_world *world, uint32_t slot);

#endif
