// SPDX-License-Identifier: MIT
// check.h: cmocka, and the assertions that it lacks: those that print the values on both sides.
// Include this instead of cmocka.h.
#ifndef FOLIOT_TESTS_CHECK_H
#define FOLIOT_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
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

// A test. All of a file run in their order there, from a main in check.c: a file that has something
// to do before or after them has its own main, which calls check_run.
#define TEST(name) TEST_BETWEEN(name, NULL, NULL)
#define TEST_BETWEEN(name, setup, teardown)                                                        \
    static void name(void **state);                                                                \
    __attribute__((constructor)) static void foliot__add_##name(void)                              \
    {                                                                                              \
        foliot__check_add(#name, name, setup, teardown, __LINE__);                                 \
    }                                                                                              \
    static void name(void **state __attribute__((unused)))

void foliot__check_add(const char *name, CMUnitTestFunction run, CMFixtureFunction setup,
                       CMFixtureFunction teardown, int line);
// Runs all tests between the two functions, which may be NULL; returns how many failed.
int check_run(CMFixtureFunction setup, CMFixtureFunction teardown);
// SEED=, or that value, which is printed: of a test with random input.
uint64_t check_seed(uint64_t value);

// |actual - expected| <= tolerance; NaN fails.
#define check_near(actual, expected, tolerance)                                                    \
    foliot__check_near((actual), (expected), (tolerance), #actual, __FILE__, __LINE__)
// Equal to the bit: 0.0 and -0.0 differ, a NaN equals itself.
#define check_bits(actual, expected)                                                               \
    foliot__check_bits((actual), (expected), #actual, __FILE__, __LINE__)
// actual < bound; NaN fails.
#define check_below(actual, bound)                                                                 \
    foliot__check_below((actual), (bound), #actual, __FILE__, __LINE__)

// A comparison of numbers or pointers; a failure prints both values. Both sides are evaluated once
// more for that, so a side that changes something may be printed as it is afterwards.
#define check_eq(a, b) foliot__check_compare(a, ==, b, #a, #b)
#define check_ne(a, b) foliot__check_compare(a, !=, b, #a, #b)
#define check_lt(a, b) foliot__check_compare(a, <, b, #a, #b)
#define check_le(a, b) foliot__check_compare(a, <=, b, #a, #b)
#define check_gt(a, b) foliot__check_compare(a, >, b, #a, #b)
#define check_ge(a, b) foliot__check_compare(a, >=, b, #a, #b)

#define foliot__check_compare(a, op, b, text_a, text_b)                                            \
    do {                                                                                           \
        if (!((a)op(b)))                                                                           \
            foliot__check_failed(text_a, #op, text_b, foliot__check_value(a),                      \
                                 foliot__check_value(b), __FILE__, __LINE__);                      \
    } while (0)

// clang-format off
#define foliot__check_value(x) \
    _Generic((x), \
        float: foliot__value_of_real, double: foliot__value_of_real, \
        bool: foliot__value_of_unsigned, \
        char: foliot__value_of_signed, signed char: foliot__value_of_signed, \
        short: foliot__value_of_signed, unsigned short: foliot__value_of_unsigned, \
        int: foliot__value_of_signed, unsigned: foliot__value_of_unsigned, \
        long: foliot__value_of_signed, unsigned long: foliot__value_of_unsigned, \
        long long: foliot__value_of_signed, unsigned long long: foliot__value_of_unsigned, \
        unsigned char: foliot__value_of_unsigned, default: foliot__value_of_pointer)(x)
// clang-format on

typedef struct foliot__value {
    char text[32];
} foliot__value;

foliot__value foliot__value_of_real(double x);
foliot__value foliot__value_of_signed(long long x);
foliot__value foliot__value_of_unsigned(unsigned long long x);
foliot__value foliot__value_of_pointer(const volatile void *x);
void foliot__check_failed(const char *a, const char *op, const char *b, foliot__value value_a,
                          foliot__value value_b, const char *file, int line);
void foliot__check_near(double actual, double expected, double tolerance, const char *what,
                        const char *file, int line);
void foliot__check_bits(double actual, double expected, const char *what, const char *file,
                        int line);
void foliot__check_below(double actual, double bound, const char *what, const char *file, int line);

#endif
