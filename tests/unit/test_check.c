// SPDX-License-Identifier: MIT
// Goal: an assertion that fails says so, and prints the values on both sides. Method: a test
// program of one test that must fail runs in a child process, and what it prints is read.
#include "check.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static uint8_t small = 200;
static double half = 0.5;
static int64_t negative = -7;
static const char *nothing = NULL;

static void eq_prints_integers(void **state)
{
    (void)state;
    check_eq(small, 3);
}

static void lt_prints_reals(void **state)
{
    (void)state;
    check_lt(half, 0.25);
}

static void gt_prints_signs(void **state)
{
    (void)state;
    check_gt(negative, 0);
}

static void ne_prints_pointers(void **state)
{
    (void)state;
    check_ne(nothing, NULL);
}

static void near_prints_the_error(void **state)
{
    (void)state;
    check_near(half, 1, 0.125);
}

// The output of a child that runs the test alone; its exit status must count one failure.
static void run_failing(CMUnitTestFunction test, char *said, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t got;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_int_not_equal(child, -1);
    if (child == 0) {
        const struct CMUnitTest tests[] = {{"fails", test, NULL, NULL, NULL}};
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        _exit(cmocka_run_group_tests(tests, NULL, NULL));
    }
    close(ends[1]);
    while ((got = read(ends[0], said + length, size - 1 - length)) > 0)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 1);
}

TEST(a_failure_prints_both_sides)
{
    const struct {
        CMUnitTestFunction test;
        const char *text;
    } cases[] = {{eq_prints_integers, "small == 3 does not hold: 200 and 3"},
                 {lt_prints_reals, "half < 0.25 does not hold: 0.5 and 0.25"},
                 {gt_prints_signs, "negative > 0 does not hold: -7 and 0"},
                 {ne_prints_pointers, "nothing != NULL does not hold: (nil) and (nil)"},
                 {near_prints_the_error, "half = 0.5, expected 1 within 0.125, is off by 0.5"}};
    char said[4096];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_failing(cases[i].test, said, sizeof said);
        if (!strstr(said, cases[i].text))
            fail_msg("%s is not in:\n%s", cases[i].text, said);
    }
}

TEST(what_holds_passes)
{
    uint32_t count = 3;
    check_eq(count, 3);
    check_ne(count, 4);
    check_lt(count, 4);
    check_le(count, 3);
    check_gt(half, negative);
    check_ge(half, 0.5);
    check_eq(nothing, NULL);
}
