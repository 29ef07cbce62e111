// SPDX-License-Identifier: MIT
// clock.h: the machine's clock, for tests and benches that wait for real time.
#ifndef FOLIOT_TESTS_CLOCK_H
#define FOLIOT_TESTS_CLOCK_H

#include <stdint.h>
#include <time.h>

// Monotonic.
static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
