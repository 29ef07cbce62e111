// SPDX-License-Identifier: MIT
// crew.h: a stretch of a step that several of the host's threads go through together. One of them leads and
// goes through the stretch as if it were alone; where it shares a loop, the others take pieces of it. What
// a piece computes depends on its indices alone, so the bits do not depend on who does it, nor on how many
// there are.
#ifndef FOLIOT_SIM_CREW_H
#define FOLIOT_SIM_CREW_H

#include <stdatomic.h>
#include <stdint.h>

#include "foliot/world.h"

#define FOLIOT__CREW_MAX 64

typedef void foliot__crew_part(void *context, uint32_t begin, uint32_t end);

// One member's part of the loop that is shared now, in one cache line, and what it has done: the same indices of the same loop every
// time, which are in its cache. Fetching another's costs more than doing it, so that is only done for who is
// not there, or late.
typedef struct foliot__crew_lane {
    // The loop's number (high half) and the next piece. Whoever moves it on by one has that piece, and the loop
    // does not end before the piece is done.
    _Atomic(uint64_t) ticket;
    _Atomic(uint32_t) begin, end, grain, pieces;
    _Atomic(foliot__crew_part *) part;
    _Atomic(void *) context;
    // Written by the member alone, and apart from the above.
    _Atomic(uint32_t) done __attribute__((aligned(64))); // pieces, of all loops
    _Atomic(uint32_t) left;                              // it has gone home
} __attribute__((aligned(64))) foliot__crew_lane;

typedef struct foliot__crew {
    foliot__crew_lane lanes[FOLIOT__CREW_MAX]; // the leader's is the first
    _Atomic(uint32_t) joined __attribute__((aligned(64))), over;
    // The leader's own:
    uint32_t expected __attribute__((aligned(64))), loop;
    uint32_t helpers;
    void (*lead)(struct foliot__crew *crew, void *context);
    void *lead_context;
    const foliot_host *host;
} foliot__crew;

// Calls lead(crew, context) once. The host may run the tasks that this makes of it at once, or one after the
// other in any order: the first one leads, the others leave when they find it over.
void foliot__crew_run(const foliot_host *host, void (*lead)(foliot__crew *crew, void *context),
                      void *context);

// In the lead: calls part on pieces of `grain` indices of [begin, end); returns when all of them are done.
// Without a crew (NULL), or where there is one piece, that is one call.
void foliot__crew_share(foliot__crew *crew, uint32_t begin, uint32_t end, uint32_t grain,
                        foliot__crew_part *part, void *context);

#endif
