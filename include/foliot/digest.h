// SPDX-License-Identifier: MIT
// digest.h: fingerprints of truth, and of the build itself.
#ifndef FOLIOT_DIGEST_H
#define FOLIOT_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_DIGEST_TEXT_BYTES 33 // 32 lower-case hex digits and a zero

// XXH3-128, seed 0. `high` is written first.
typedef struct foliot_digest {
    uint64_t low, high;
} foliot_digest;

static inline bool foliot_digest_equal(foliot_digest a, foliot_digest b)
{
    return a.low == b.low && a.high == b.high;
}

void foliot_digest_print(foliot_digest digest, char text[FOLIOT_DIGEST_TEXT_BYTES]);
foliot_status foliot_digest_parse(const char *text, foliot_digest *digest);

// Hash of a known-answer run of every arithmetic path of this build. Two builds that differ here
// must not play together. Computed anew at each call (some milliseconds), the same on every machine
// and build.
foliot_digest foliot_get_fingerprint(void);

// Compares every part of the known-answer run with the golden values compiled in. FOLIOT_STATUS_OK,
// or FOLIOT_STATUS_DIVERGED with *part naming the first arithmetic path that is wrong
// ("contraction", "exp",
// ...).
foliot_status foliot_self_test(const char **part);

#ifdef __cplusplus
}
#endif

#endif
