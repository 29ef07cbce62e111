// SPDX-License-Identifier: MIT
// floating_point.c: whether arithmetic still does what the simulation needs, found out by
// computing: the control registers have another name on every ISA, the results do not.
#include "sim/math/floating_point.h"

bool foliot__floating_point_standard(void)
{
    // Operands that the compiler cannot fold.
    const volatile double one = 1.0, half_ulp = 0x1p-53;
    const volatile double smallest_normal = 0x1p-1022, smallest = 0x1p-1074;
    // Ties go to even, up and down, on both sides of zero: no directed rounding passes all four.
    double tie = 3.0 * half_ulp;
    bool nearest = one + half_ulp == 1.0 && one + tie == 1.0 + 0x1p-51 && -one - half_ulp == -1.0 &&
                   -one - tie == -1.0 - 0x1p-51;
    // Subnormal results are not flushed, subnormal operands not read as zero.
    bool gradual = smallest_normal * 0.5 != 0.0 && smallest * 0x1p1000 != 0.0;
    return nearest && gradual;
}
