// SPDX-License-Identifier: MIT
// math_internal.h: functions of the simulation in addition to include/foliot/digest.h: error-free
// sums and products, range-checked conversions, and the entire functions that exact flows are made
// of.
#ifndef FOLIOT_SIM_MATH_MATH_INTERNAL_H
#define FOLIOT_SIM_MATH_MATH_INTERNAL_H

#include "sim/math/floating_point.h"

#include <stdint.h>

#include "foliot/digest.h"

// An unevaluated sum, |low| <= ulp(high) / 2.
typedef struct foliot__double_double {
    double high, low;
} foliot__double_double;

// a + b exactly (Knuth's TwoSum; barring overflow).
static inline foliot__double_double foliot__two_sum(double a, double b)
{
    double sum = a + b;
    double b_seen = sum - a;
    return (foliot__double_double){sum, (a - (sum - b_seen)) + (b - b_seen)};
}

// a b exactly (Dekker 1971, with Veltkamp's splitting), for |a|, |b| < 2^996 and |a b| >= 2^-969.
static inline foliot__double_double foliot__two_product(double a, double b)
{
    const double splitter = 0x1p27 + 1.0;
    double a_scaled = a * splitter, b_scaled = b * splitter;
    double a_high = a_scaled - (a_scaled - a), b_high = b_scaled - (b_scaled - b);
    double a_low = a - a_high, b_low = b - b_high;
    double product = a * b;
    double rest = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return (foliot__double_double){product, rest};
}

// Towards zero; values outside the range saturate and NaN gives 0, where C leaves it undefined.
static inline int64_t foliot__to_i64(double x)
{
    if (x >= 0x1p63)
        return INT64_MAX;
    if (x < -0x1p63)
        return INT64_MIN;
    return x == x ? (int64_t)x : 0;
}

static inline int32_t foliot__to_i32(double x)
{
    if (x >= 0x1p31)
        return INT32_MAX;
    if (x <= -0x1p31)
        return INT32_MIN;
    return x == x ? (int32_t)x : 0;
}

// (e^z - 1) / z and (e^z - 1 - z) / z^2, 1 and 1/2 at 0; < 2 and < 4 ulp.
double foliot__phi1(double z);
double foliot__phi2(double z);
// sin x / x and sinh x / x, 1 at 0, and cosh x; < 3 ulp. Differences such as 1 - cos x are the
// caller's to avoid: 2 sin^2(x/2).
double foliot__sinc(double x);
double foliot__sinhc(double x);
double foliot__cosh(double x);
double foliot__sinh(double x);

#endif
