// SPDX-License-Identifier: MIT
// check.h: cmocka, and the assertions that it lacks. Include this instead of cmocka.h.
#ifndef FOLIOT_TESTS_CHECK_H
#define FOLIOT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

// cmocka's own goes byte by byte, and so slowly that it was most of what some tests did. It only
// tells what differs.
#undef assert_memory_equal
#define assert_memory_equal(a, b, size)                                                            \
    do {                                                                                           \
        if (memcmp((a), (b), (size)) != 0)                                                         \
            _assert_memory_equal((const void *)(a), (const void *)(b), (size), __FILE__,           \
                                 __LINE__);                                                        \
    } while (0)

// |actual - expected| <= tolerance; NaN fails.
#define check_near(actual, expected, tolerance)                                                    \
    foliot__check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
// Equal to the bit: 0.0 and -0.0 differ, a NaN equals itself.
#define check_bits(actual, expected)                                                               \
    foliot__check_bits((actual), (expected), #actual, __FILE__, __LINE__)
// actual < bound; NaN fails.
#define check_below(actual, bound)                                                                 \
    foliot__check_below((actual), (bound), #actual, __FILE__, __LINE__)

void foliot__check_near(double actual, double expected, double tolerance, const char *what,
                        const char *file, int line);
void foliot__check_bits(double actual, double expected, const char *what, const char *file,
                        int line);
void foliot__check_below(double actual, double bound, const char *what, const char *file, int line);

#endif
