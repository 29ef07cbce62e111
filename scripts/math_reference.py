#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""math_reference.py > tests/unit/math_reference.h: arguments that are hard to reduce or to round, with
the values of the elementary functions there as sums of two doubles. Needs mpmath."""
import math
import random
import struct

import mpmath
from mpmath import mp, mpf

mp.prec = 1400
random.seed(20261)


def pair(value):
    high = float(value)
    return high, float(value - mpf(high))


def any_double():
    while True:
        x = struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0]
        if math.isfinite(x):
            return x


def nearly_midway(function, draw, keep, tries=3000):
    """The drawn arguments whose values come nearest to the middle between two doubles."""
    seen = []
    for _ in range(tries):
        x = draw()
        value = function(mpf(x))
        high, low = pair(value)
        seen.append((abs(abs(low) / math.ulp(high) - 0.5), x))
    return [x for _, x in sorted(seen)[:keep]]


# Nearest doubles to multiples of pi/2, by continued fractions of pi/2 times powers of two.
def near_quadrants():
    found = []
    for exponent in range(-52, 971, 7):
        ratio = mp.pi / 2 / mpf(2) ** exponent
        a, (p0, q0), (p1, q1) = ratio, (1, 0), (int(mp.floor(ratio)), 1)
        for _ in range(60):
            rest = a - mp.floor(a)
            if rest == 0:
                break
            a = 1 / rest
            k = int(mp.floor(a))
            (p0, q0), (p1, q1) = (p1, q1), (k * p1 + p0, k * q1 + q0)
            if p1 >= 2 ** 53:
                break
            if p1 >= 2 ** 52:
                found.append(math.ldexp(p1, exponent))
    return found


def uniform(a, b):
    return lambda: random.uniform(a, b)


angles = near_quadrants() + [math.ldexp(6381956970095103, 797), math.ldexp(1, 1023), 1e22, 0.785, math.pi / 4,
                             math.pi / 2, math.pi, 524287.9, 524288.0, 524288.1]
angles += [any_double() for _ in range(60)]
functions = {
    "exp": (mpmath.exp, [709.7, 709.782712893384, -708.3964185322641, -745.1, -744.9, 1e-300, -1e-17, 0.5]
            + nearly_midway(mpmath.exp, uniform(-700, 700), 60)),
    "expm1": (mpmath.expm1, [709.7, 1e-300, -1e-17, 0.125, -0.125, 50.1, -39.9, 2.0 ** -54]
              + nearly_midway(mpmath.expm1, uniform(-1, 1), 40) + nearly_midway(mpmath.expm1, uniform(-30, 60), 40)),
    "log": (mpmath.log, [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1 + 2**-52, 1 - 2**-53, 0.9375, 1.0625]
            + nearly_midway(mpmath.log, uniform(0.5, 2), 40)
            + nearly_midway(mpmath.log, lambda: abs(any_double()) or 1.0, 40)),
    "sin": (mpmath.sin, angles + nearly_midway(mpmath.sin, uniform(-4, 4), 40)),
    "cos": (mpmath.cos, angles + nearly_midway(mpmath.cos, uniform(-4, 4), 40)),
}
print("// SPDX-License-Identifier: MIT")
print("// math_reference.h: written by scripts/math_reference.py; not to be edited by hand.")
print("// {x, f(x) rounded to nearest, the rest of f(x)}")
for name, (function, arguments) in functions.items():
    print(f"static const double {name}_reference[][3] = {{")
    for x in arguments:
        high, low = pair(function(mpf(x)))
        print(f"    {{{x.hex()}, {high.hex()}, {low.hex()}}},")
    print("};")
