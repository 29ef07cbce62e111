// SPDX-License-Identifier: MIT
// digest.h: results that are the same on every machine: digests of states, the fingerprint of a
// build's arithmetic, and elementary functions.
//
// Two worlds with the same digest at the same tick count as equal. Two builds with the same
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

// XXH3-128 (Yann Collet, xxHash 0.8) with seed 0. As text and in files `high` comes first. It
// detects accidental differences; it is not a cryptographic hash.
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
// machine that computes correctly. Each call computes it again, which takes some milliseconds. Any
// thread may call it. Builds that differ here may still agree on a scene: lockstep and
// foliot_recording_resume compare only what the scene uses. Zero, which no build has, means that
// there was no memory for the run.
foliot_digest foliot_get_fingerprint(void);

// Compares every part of that run with golden values that are compiled in. FOLIOT_STATUS_OK, or
// FOLIOT_STATUS_DIVERGED and *part (static) names the first arithmetic path that is wrong
// ("contraction", "exp", ...); FOLIOT_STATUS_MEMORY: there was no memory for it.
FOLIOT_MUST_CHECK foliot_status foliot_self_test(const char **part);

// -- elementary functions
//
// The elementary functions of the simulation, with the same bits on every machine.
//
// They use + - * / and sqrt alone. The results of libm differ with the processor that one binary
// runs on, so code that must agree between machines (callbacks, simulations of your own) calls
// these. Angles are in radians. The functions have no state and no side effects; any thread may
// call them. The rounding mode must be to nearest.
//
// Errors are bounds over the whole range, in units in the last place, measured by
// tests/unit/test_math.c. docs/explanation/determinism.md names the methods and their sources.

double foliot_sqrt(double x);            // correctly rounded (IEEE-754)
double foliot_sin(double x);             // < 1 ulp, any finite x; NaN for infinities
double foliot_cos(double x);             // < 1 ulp, any finite x; NaN for infinities
double foliot_atan2(double y, double x); // < 1 ulp; -pi..pi
double foliot_exp(double x);             // < 1 ulp
double foliot_expm1(double x);           // < 1 ulp
double foliot_log(double x);             // < 1 ulp; natural logarithm
double foliot_floor(double x);           // exact
double foliot_min(double a, double b);   // b if either is NaN
double foliot_max(double a, double b);   // b if either is NaN
double foliot_clamp(double x, double low, double high);

#ifdef __cplusplus
}
#endif

#endif
