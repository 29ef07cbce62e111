// SPDX-License-Identifier: MIT
// soft_float_arm.c: addition and subtraction of doubles for ARM without a floating-point unit
// (armel).
//
// libgcc's (ieee754-df.S, seen in gcc 12) round the difference of two numbers whose exponents
// differ by 33 wrongly in the last place: 1 - 0x1.3e1a406f5c341p-33 gives ...e5b where IEEE-754
// says ...e5c. These replace them there: the linker must take the first definition that it meets
// (-Wl,-z,muldefs), because libgcc keeps conversions in the same object. Elsewhere this file is
// empty.
#include "sim/math/floating_point.h"

#if defined(__arm__) && defined(__SOFTFP__)
#include <stdint.h>

#define SIGN (1ull << 63)
#define INFINITE 0x7ffull
#define FRACTION ((1ull << 52) - 1)
#define QUIET (1ull << 51)

uint64_t __aeabi_dadd(uint64_t a, uint64_t b);
uint64_t __aeabi_dsub(uint64_t a, uint64_t b);
uint64_t __aeabi_drsub(uint64_t a, uint64_t b);
uint64_t __adddf3(uint64_t a, uint64_t b);
uint64_t __subdf3(uint64_t a, uint64_t b);

// Ten bits below the last place: more than rounding to nearest needs, sticky bit included.
#define BELOW 10

static uint64_t leading(uint64_t x)
{
    uint64_t fraction = x & FRACTION;
    return (x >> 52 & INFINITE ? fraction | 1ull << 52 : fraction) << BELOW;
}

static int32_t exponent(uint64_t x)
{
    int32_t e = (int32_t)(x >> 52 & INFINITE);
    return e ? e : 1;
}

static uint64_t shift_sticky(uint64_t x, int32_t by)
{
    if (by == 0)
        return x;
    return by > 63 ? x != 0 : x >> by | (x << (64 - by) != 0);
}

// Rounds to nearest, ties to even. `s` is below 2^64 with its leading place at 52 + BELOW or under.
static uint64_t pack(uint64_t sign, int32_t e, uint64_t s)
{
    while (e > 1 && !(s >> (52 + BELOW))) {
        s <<= 1;
        e--;
    }
    uint64_t rest = s & ((1ull << BELOW) - 1), half = 1ull << (BELOW - 1);
    s >>= BELOW;
    s += rest > half || (rest == half && (s & 1));
    if (s >> 53) {
        s >>= 1;
        e++;
    }
    if (e >= (int32_t)INFINITE)
        return sign | INFINITE << 52;
    return sign | (s >> 52 ? (uint64_t)e << 52 : 0) | (s & FRACTION);
}

static uint64_t add_special(uint64_t a, uint64_t b)
{
    bool a_nan = (a & ~SIGN) > INFINITE << 52, b_nan = (b & ~SIGN) > INFINITE << 52;
    if (a_nan || b_nan)
        return (a_nan ? a : b) | QUIET;
    if ((a & ~SIGN) == INFINITE << 52)
        return (b & ~SIGN) == INFINITE << 52 && a != b ? INFINITE << 52 | QUIET : a;
    return b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
    if ((a & ~SIGN) < (b & ~SIGN)) { // a is the larger
        uint64_t t = a;
        a = b;
        b = t;
    }
    if ((a >> 52 & INFINITE) == INFINITE || (b >> 52 & INFINITE) == INFINITE)
        return add_special(a, b);
    int32_t e = exponent(a);
    uint64_t x = leading(a), y = shift_sticky(leading(b), e - exponent(b));
    if (!((a ^ b) & SIGN)) {
        x += y;
        if (x >> (53 + BELOW)) {
            x = shift_sticky(x, 1);
            e++;
        }
        return pack(a & SIGN, e, x);
    }
    x -= y;
    return x ? pack(a & SIGN, e, x) : 0;
}

uint64_t __aeabi_dadd(uint64_t a, uint64_t b)
{
    return add(a, b);
}

uint64_t __aeabi_dsub(uint64_t a, uint64_t b)
{
    return add(a, b ^ SIGN);
}

uint64_t __aeabi_drsub(uint64_t a, uint64_t b)
{
    return add(a ^ SIGN, b);
}

uint64_t __adddf3(uint64_t a, uint64_t b)
{
    return add(a, b);
}

uint64_t __subdf3(uint64_t a, uint64_t b)
{
    return add(a, b ^ SIGN);
}
#endif
