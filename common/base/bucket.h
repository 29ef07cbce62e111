// SPDX-License-Identifier: MIT
// bucket.h: token buckets: a rate with a burst. Time is an argument.
#ifndef FOLIOT_BASE_BUCKET_H
#define FOLIOT_BASE_BUCKET_H

#include <stdbool.h>
#include <stdint.h>

typedef struct foliot__bucket { // all zero: full
    double tokens;              // at `filled_ns`
    uint64_t filled_ns;
} foliot__bucket;

// Adds a token for every `every_ns` that have passed, up to `burst`.
static inline void foliot__bucket_fill(foliot__bucket *b, double burst, double every_ns,
                                       uint64_t now_ns)
{
    if (b->filled_ns != 0 && now_ns <= b->filled_ns)
        return; // a clock of another thread may be behind
    b->tokens += (double)(now_ns - b->filled_ns) / every_ns;
    if (b->filled_ns == 0 || b->tokens > burst)
        b->tokens = burst;
    b->filled_ns = now_ns + (now_ns == 0);
}

// Spends one token. False: there is none.
static inline bool foliot__bucket_spend(foliot__bucket *b, double burst, double every_ns,
                                        uint64_t now_ns)
{
    foliot__bucket_fill(b, burst, every_ns, now_ns);
    if (b->tokens < 1)
        return false;
    b->tokens -= 1;
    return true;
}

#endif
