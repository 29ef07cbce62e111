// SPDX-License-Identifier: MIT
// lanes.h: loops over body tables, a whole lane at a time. Every element is computed alone, so the
// bits do not depend on how wide the machine's vectors are.
#ifndef FOLIOT_SIM_STATE_LANES_H
#define FOLIOT_SIM_STATE_LANES_H

#include "sim/state/state.h"

// The inner loop has a constant length, which compilers turn into vectors at -O2 as well; signed,
// because an index that might wrap around has none.
#define FOLIOT__FOR_LANES(rows, i)                                                                 \
    for (ptrdiff_t i##_lane = 0; i##_lane < (ptrdiff_t)(rows); i##_lane += FOLIOT__LANES)          \
        for (ptrdiff_t i = i##_lane; i < i##_lane + FOLIOT__LANES; i++)

// y += factor * x.
static inline void foliot__lanes_add_scaled(double *restrict y, const double *restrict x,
                                            double factor, uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        y[i] += factor * x[i];
}

// y := 0.
static inline void foliot__lanes_clear(double *y, uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        y[i] = 0;
}

// y := x.
static inline void foliot__lanes_copy(double *restrict y, const double *restrict x, uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        y[i] = x[i];
}

// y := x + factor * d.
static inline void foliot__lanes_moved(double *restrict y, const double *restrict x,
                                       const double *restrict d, double factor, uint32_t rows)
{
    FOLIOT__FOR_LANES (rows, i)
        y[i] = x[i] + factor * d[i];
}

// The same for vector fields.
static inline void foliot__add_scaled(foliot__v3 y, foliot__v3 x, double factor, uint32_t rows)
{
    foliot__lanes_add_scaled(y.x, x.x, factor, rows);
    foliot__lanes_add_scaled(y.y, x.y, factor, rows);
    foliot__lanes_add_scaled(y.z, x.z, factor, rows);
}

static inline void foliot__clear(foliot__v3 y, uint32_t rows)
{
    foliot__lanes_clear(y.x, rows);
    foliot__lanes_clear(y.y, rows);
    foliot__lanes_clear(y.z, rows);
}

static inline void foliot__copy(foliot__v3 y, foliot__v3 x, uint32_t rows)
{
    foliot__lanes_copy(y.x, x.x, rows);
    foliot__lanes_copy(y.y, x.y, rows);
    foliot__lanes_copy(y.z, x.z, rows);
}

static inline void foliot__moved(foliot__v3 y, foliot__v3 x, foliot__v3 d, double factor,
                                 uint32_t rows)
{
    foliot__lanes_moved(y.x, x.x, d.x, factor, rows);
    foliot__lanes_moved(y.y, x.y, d.y, factor, rows);
    foliot__lanes_moved(y.z, x.z, d.z, factor, rows);
}

#endif
