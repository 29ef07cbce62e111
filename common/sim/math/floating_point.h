// SPDX-License-Identifier: MIT
// floating_point.h: requirements of every file of the simulation on the compiler. Include first.
#ifndef FOLIOT_SIM_MATH_FLOATING_POINT_H
#define FOLIOT_SIM_MATH_FLOATING_POINT_H

#include <float.h>
#include <stdbool.h>

#ifdef __FAST_MATH__
#error "foliot gives the same bits everywhere; -ffast-math does not. Take it out of CFLAGS."
#endif
#if FLT_EVAL_METHOD != 0
#error "doubles must be evaluated as doubles: on 32-bit x86 use -msse2 -mfpmath=sse"
#endif

// Round to nearest, no flush to zero, no denormals-are-zero: checked at the door of every step,
// because loading a library built with -ffast-math flips them behind our back.
bool foliot__floating_point_standard(void);

// sqrt is the one function of <math.h> that IEEE-754 rounds correctly; the builtin inlines it.
static inline double foliot__sqrt(double x)
{
    return __builtin_sqrt(x);
}

#endif
