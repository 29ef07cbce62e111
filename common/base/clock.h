// SPDX-License-Identifier: MIT
// clock.h: the machine's clocks, for programs. The libraries are given the time as an argument.
#ifndef FOLIOT_BASE_CLOCK_H
#define FOLIOT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

// 0 if the clock cannot be read.
static inline uint64_t foliot__clock_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t foliot__clock_now_ns(void)
{
    return foliot__clock_ns(CLOCK_MONOTONIC);
}

#endif
