// SPDX-License-Identifier: MIT
// test_watchdog.c: a signal ends a program in the middle of a unit of work that takes the processor
// for longer than the grace, and lets one end that was only given no processor. Method: a child of
// its own for each case. Tier: test
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#include "base/exit_code.h"
#include "base/watchdog.h"

#define GRACE_SECONDS 0.3
#define CALM 42 // how a child ends that was let to

static double seconds(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void sleep_for(double time)
{
    double end = seconds(CLOCK_MONOTONIC) + time;
    while (seconds(CLOCK_MONOTONIC) < end)
        usleep(10000);
}

static void compute_for(double time)
{
    double end = seconds(CLOCK_THREAD_CPUTIME_ID) + time;
    while (seconds(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

// The exit code of a process that gets a signal in the middle of that work.
static int ends_with(void (*work)(double), double time)
{
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        foliot__watchdog_config config = {
            .program = "test", .work = "working", .lost = "", .grace_seconds = GRACE_SECONDS};
        alarm(60);
        if (!foliot__watchdog_start(&config))
            _exit(99);
        foliot__watchdog_begin_work();
        kill(getpid(), SIGTERM);
        work(time);
        foliot__watchdog_end_work();
        while (!foliot__watchdog_stop_requested())
            usleep(1000);
        _exit(CALM);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

TEST(work_without_a_processor_may_end)
{
    assert_int_equal(ends_with(sleep_for, 4 * GRACE_SECONDS), CALM);
}

TEST(work_that_computes_is_ended)
{
    assert_int_equal(ends_with(compute_for, 50), FOLIOT__EXIT_ERROR);
}

TEST(work_that_is_blocked_is_ended)
{
    assert_int_equal(ends_with(sleep_for, 50), FOLIOT__EXIT_ERROR);
}
