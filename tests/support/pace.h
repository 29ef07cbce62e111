// SPDX-License-Identifier: MIT
// pace.h: how much of a long run is made: sanitizers and emulators are slow.
#ifndef FOLIOT_TESTS_PACE_H
#define FOLIOT_TESTS_PACE_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PACE_SLOW 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define PACE_SLOW 1
#endif
#endif
#ifndef PACE_SLOW
#define PACE_SLOW 0
#endif

// `ticks`, or a share of them under a sanitizer.
#define PACE(ticks) (PACE_SLOW ? (ticks) / 20 + 1 : (ticks))

#endif
