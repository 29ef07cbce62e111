// SPDX-License-Identifier: MIT
// math.h: the elementary functions of the simulation. They use + - * / and sqrt alone, so that they
// give the same bits on every machine; libm's differ with the CPU that one binary runs on.
#ifndef FOLIOT_MATH_H
#define FOLIOT_MATH_H

#ifdef __cplusplus
extern "C" {
#endif

// Errors are bounds over the whole range, in units in the last place (tests/unit/test_math.c).
double foliot_sqrt(double x);            // correctly rounded (IEEE-754)
double foliot_sin(double x);             // < 1 ulp, any finite x; NaN for infinities
double foliot_cos(double x);             // < 1 ulp
double foliot_atan2(double y, double x); // < 1 ulp
double foliot_exp(double x);             // < 1 ulp
double foliot_expm1(double x);           // < 1 ulp
double foliot_log(double x);             // < 1 ulp
double foliot_floor(double x);           // exact
double foliot_min(double a, double b);   // b if either is NaN
double foliot_max(double a, double b);
double foliot_clamp(double x, double low, double high);

#ifdef __cplusplus
}
#endif

#endif
