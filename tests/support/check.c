// SPDX-License-Identifier: MIT
// check.c: the tests of a program, and what a failed assertion prints.
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

#define TESTS_MAX 128

static struct CMUnitTest tests[TESTS_MAX];
static int lines[TESTS_MAX];
static size_t test_count;

// By line: nothing promises the order of constructors.
void foliot__check_add(const char *name, CMUnitTestFunction run, CMFixtureFunction setup,
                       CMFixtureFunction teardown, int line)
{
    FOLIOT_ASSERT(test_count < TESTS_MAX);
    size_t at = test_count++;
    for (; at > 0 && lines[at - 1] > line; at--) {
        tests[at] = tests[at - 1];
        lines[at] = lines[at - 1];
    }
    tests[at] = (struct CMUnitTest){name, run, setup, teardown, NULL};
    lines[at] = line;
}

int check_run(CMFixtureFunction setup, CMFixtureFunction teardown)
{
    if (test_count == 0)
        print_message("skip: this build has none of these tests\n");
    return _cmocka_run_group_tests("tests", tests, test_count, setup, teardown);
}

__attribute__((weak)) int main(void)
{
    cmocka_set_test_filter(getenv("ONLY")); // a pattern of names
    return check_run(NULL, NULL);
}

uint64_t check_seed(uint64_t value)
{
    const char *seed = getenv("SEED");
    if (seed)
        value = strtoull(seed, NULL, 0);
    print_message("SEED=%" PRIu64 "\n", value);
    return value;
}

foliot__value foliot__value_of_real(double x)
{
    foliot__value value;
    snprintf(value.text, sizeof value.text, "%.17g", x);
    return value;
}

foliot__value foliot__value_of_signed(long long x)
{
    foliot__value value;
    snprintf(value.text, sizeof value.text, "%lld", x);
    return value;
}

foliot__value foliot__value_of_unsigned(unsigned long long x)
{
    foliot__value value;
    snprintf(value.text, sizeof value.text, "%llu", x);
    return value;
}

foliot__value foliot__value_of_pointer(const volatile void *x)
{
    foliot__value value;
    snprintf(value.text, sizeof value.text, "%p", (const void *)x);
    return value;
}

void foliot__check_failed(const char *a, const char *op, const char *b, foliot__value value_a,
                          foliot__value value_b, const char *file, int line)
{
    print_error("%s %s %s does not hold: %s and %s\n", a, op, b, value_a.text, value_b.text);
    _fail(file, line);
}

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
