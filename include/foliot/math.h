// SPDX-License-Identifier: MIT
// math.h: the elementary functions of the simulation, with the same bits on every machine.
//
// They use + - * / and sqrt alone. The results of libm differ with the processor that one binary
// runs on, so code that must agree between machines (callbacks, simulations of your own) calls
// these. Angles are in radians. The functions have no state and no side effects; any thread may
// call them. The rounding mode must be to nearest.
//
// Errors are bounds over the whole range, in units in the last place, measured by
// tests/unit/test_math.c. docs/explanation/determinism.md names the methods and their sources.
#ifndef FOLIOT_MATH_H
#define FOLIOT_MATH_H

#ifdef __cplusplus
extern "C" {
#endif

double foliot_sqrt(double x);            // correctly rounded (IEEE-754)
double foliot_sin(double x);             // < 1 ulp, any finite x; NaN for infinities
double foliot_cos(double x);             // < 1 ulp, any finite x; NaN for infinities
double foliot_atan2(double y, double x); // < 1 ulp; -pi..pi
double foliot_exp(double x);             // < 1 ulp
double foliot_expm1(double x);           // < 1 ulp
double foliot_log(double x);             // < 1 ulp; natural logarithm
double foliot_floor(double x);           // exact
double foliot_min(double a, double b);   // b if either is NaN
double foliot_max(double a, double b);   // b if either is NaN
double foliot_clamp(double x, double low, double high);

#ifdef __cplusplus
}
#endif

#endif
