#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""math_tables.py > common/sim/math/math_tables.h: the constants of math.c, from 1,400-bit arithmetic.

Needs mpmath. Run by hand when a table's shape changes; the output is committed. tests/unit/test_math.c
checks the functions that use it against a reference that shares nothing with it."""
from mpmath import mp, mpf, exp, log, atan, pi, nint

mp.prec = 1400


def near(value):
    return float(mpf(value))  # mpmath rounds to nearest even


def hexed(value):
    return value.hex().replace("0x1.0000000000000p", "0x1p") if value else "0.0"


def pair(value):
    high = near(value)
    return high, near(value - mpf(high))


def grid(value, bits):
    """value split into a multiple of 2^-bits and the double nearest to the rest."""
    high = float(nint(value * mpf(2) ** bits) / mpf(2) ** bits)
    return high, near(value - mpf(high))


def pieces(value, bits, count):
    """value as `count` doubles of at most `bits` bits each, and the double nearest to the rest."""
    out, rest = [], value
    for _ in range(count):
        exponent = int(mp.floor(log(rest, 2)))
        unit = mpf(2) ** (exponent - bits + 1)
        part = mp.floor(rest / unit) * unit
        out.append(float(part))
        rest -= part
    return out + [near(rest)]


print("// SPDX-License-Identifier: MIT")
print("// math_tables.h: written by scripts/math_tables.py; not to be edited by hand.")
print("#ifndef FOLIOT_SIM_MATH_MATH_TABLES_H\n#define FOLIOT_SIM_MATH_MATH_TABLES_H\n")
print("#include <stdint.h>\n")


def table(name, comment, rows, type_="double", columns=2):
    print(f"// {comment}")
    print(f"static const {type_} {name}[{len(rows)}][{columns}] = {{")
    for row in rows:
        print("    {" + ", ".join(hexed(v) for v in row) + "},")
    print("};\n")


table("exp_table", "2^(i/32), as a sum of two doubles.", [pair(mpf(2) ** (mpf(i) / 32)) for i in range(32)])
rows = []
for i in range(128):
    c = float(nint(mpf(512) / (1 + (mpf(i) + 0.5) / 128)) / 512)
    rows.append((c,) + grid(-log(mpf(c)), 42))
table("log_table", "c near 1 / (1 + (i + 1/2)/128) with 10 bits; -log c as a multiple of 2^-42 and a rest.",
      rows, columns=3)
table("atan_table", "atan(i/16), as a sum of two doubles.", [pair(atan(mpf(i) / 16)) for i in range(17)])

print("// The bits of 2/pi after the binary point, highest first.")
words = 44
bits = int(mp.floor(2 / pi * mpf(2) ** (32 * words)))
print(f"#define TWO_OVER_PI_BITS {32 * words}")
print(f"static const uint32_t two_over_pi[{words}] = {{")
for row in range(0, words, 6):
    line = [f"0x{(bits >> (32 * (words - 1 - w))) & 0xffffffff:08x}" for w in range(row, min(row + 6, words))]
    print("    " + ", ".join(line) + ",")
print("};\n")


def constant(name, value):
    print(f"static const double {name} = {hexed(value)};")


for name, part in zip(("HALF_PI_1", "HALF_PI_2", "HALF_PI_3", "HALF_PI_TAIL"), pieces(pi / 2, 33, 3)):
    constant(name, part)
for name, part in zip(("HALF_PI", "HALF_PI_LOW"), pair(pi / 2)):
    constant(name, part)
constant("TWO_OVER_PI", near(2 / pi))
for name, part in zip(("LN2_32_HIGH", "LN2_32_LOW"), pieces(log(mpf(2)) / 32, 37, 1)):
    constant(name, part)
constant("THIRTY_TWO_OVER_LN2", near(32 / log(mpf(2))))
for name, part in zip(("LN2_HIGH", "LN2_LOW"), grid(log(mpf(2)), 42)):
    constant(name, part)
print("\n#endif")
