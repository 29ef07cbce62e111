// SPDX-License-Identifier: MIT
// libm.c: the mathematical functions of libc in the viewer are the browser's: 14 kB less to load.
// What is shown may differ in the last bit from browser to browser; nothing that the viewer
// computes enters a digest.
#include <math.h>

#define FROM_PAGE(name)                                                                            \
    __attribute__((import_module("math"), import_name(#name))) double page_##name(double x);       \
    double name(double x)                                                                          \
    {                                                                                              \
        return page_##name(x);                                                                     \
    }
FROM_PAGE(sin)
FROM_PAGE(cos)
FROM_PAGE(acos)
FROM_PAGE(exp)

double exp2(double x)
{
    return page_exp(x * 0.69314718055994530942);
}

__attribute__((import_module("math"), import_name("atan2"))) double page_atan2(double y, double x);
double atan2(double y, double x)
{
    return page_atan2(y, x);
}
