// SPDX-License-Identifier: MIT
// range.h: valid ranges of the numbers of bodies and joints, whatever their source. No range
// contains NaN.
#ifndef FOLIOT_SIM_STATE_RANGE_H
#define FOLIOT_SIM_STATE_RANGE_H

#include "foliot/scene.h"

static inline bool foliot__within(double x, double low, double high)
{
    return x >= low && x <= high;
}

// Positions, velocities, and what else is bounded as they are.
static inline bool foliot__is_coordinate(double x)
{
    return foliot__within(x, -FOLIOT_POSITION_MAX, FOLIOT_POSITION_MAX);
}

static inline bool foliot__are_coordinates(const double *values, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (!foliot__is_coordinate(values[k]))
            return false;
    return true;
}

#endif
