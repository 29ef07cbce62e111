// SPDX-License-Identifier: MIT
// digest.h: hashes of simulation states, and of the arithmetic of this build.
//
// Two worlds with the same digest at the same tick are taken to be equal. Two builds with the same
// fingerprint compute the same bits.
#ifndef FOLIOT_DIGEST_H
#define FOLIOT_DIGEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_DIGEST_TEXT_BYTES 33 // 32 lower-case hex digits and a zero

// XXH3-128 (Yann Collet, xxHash 0.8) with seed 0. As text and in files `high` comes first. It finds
// accidents; it is not a cryptographic hash.
typedef struct foliot_digest {
    uint64_t low, high;
} foliot_digest;

static inline bool foliot_digest_equal(foliot_digest a, foliot_digest b)
{
    return a.low == b.low && a.high == b.high;
}

// Writes 32 hex digits and a zero.
void foliot_digest_print(foliot_digest digest, char text[FOLIOT_DIGEST_TEXT_BYTES]);
// Reads 32 lower-case hex digits. FOLIOT_STATUS_INVALID for anything else.
FOLIOT_MUST_CHECK foliot_status foliot_digest_parse(const char *text, foliot_digest *digest);
// The digest of `length` bytes, for simulations of your own. The same on every machine.
foliot_digest foliot_digest_compute(const void *bytes, size_t length);

// The digest of a known-answer run through every arithmetic path of this build, the same on every
// machine that computes correctly. Computed anew by each call, in some milliseconds. Any thread may
// call it. Builds that differ here may still agree on a scene: lockstep and foliot_recording_resume
// compare only what the scene uses. Zero, which no build has: there was no memory for the run.
foliot_digest foliot_get_fingerprint(void);

// Compares every part of that run with golden values that are compiled in. FOLIOT_STATUS_OK, or
// FOLIOT_STATUS_DIVERGED and *part (static) names the first arithmetic path that is wrong
// ("contraction", "exp", ...); FOLIOT_STATUS_MEMORY: there was no memory for it.
FOLIOT_MUST_CHECK foliot_status foliot_self_test(const char **part);

#ifdef __cplusplus
}
#endif

#endif
