// SPDX-License-Identifier: MIT
// clock.h: the machine's clocks, for tests and benches that wait for real time, or measure what
// they cost themselves: other programs are no part of processor time.
#ifndef FOLIOT_TESTS_CLOCK_H
#define FOLIOT_TESTS_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Monotonic.
static inline uint64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

// Processor time in seconds: of this process, or of the calling thread alone.
static inline double clock_process_s(void)
{
    return 1e-9 * (double)clock_read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline double clock_thread_s(void)
{
    return 1e-9 * (double)clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

#endif
