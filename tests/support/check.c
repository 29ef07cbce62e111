// SPDX-License-Identifier: MIT
// check.c: assertions on doubles, once.
#include "check.h"

#include <string.h>

void foliot__check_near(double actual, double expected, double tolerance, const char *what,
                        const char *file, int line)
{
    double error = actual < expected ? expected - actual : actual - expected;
    if (!(error <= tolerance)) {
        print_error("%s = %.17g, expected %.17g within %g, is off by %g\n", what, actual, expected,
                    tolerance, error);
        _fail(file, line);
    }
}

void foliot__check_bits(double actual, double expected, const char *what, const char *file,
                        int line)
{
    if (memcmp(&actual, &expected, sizeof actual) != 0) {
        print_error("%s = %a, expected the bits of %a\n", what, actual, expected);
        _fail(file, line);
    }
}

void foliot__check_below(double actual, double bound, const char *what, const char *file, int line)
{
    if (!(actual < bound)) {
        print_error("%s = %.17g, expected less than %.17g\n", what, actual, bound);
        _fail(file, line);
    }
}
