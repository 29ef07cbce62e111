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

typedef void foliot__crew_part(void *context, uint32_t begin, uint32_t end);

typedef struct foliot__crew {
    // Where the stage stands: its number (12 bits) and the next piece (20 bits). Whoever moves it on by one has
    // that piece, and the stage cannot end before the piece is done.
    _Atomic(uint32_t) ticket;
    _Atomic(uint32_t) done; // pieces, of all stages
    _Atomic(uint32_t) pieces, begin, end, grain;
    _Atomic(foliot__crew_part *) part;
    _Atomic(void *) context;
    _Atomic(uint32_t) led, over;
    // The leader's own:
    uint32_t expected, stage;
    uint32_t helpers;
    void (*lead)(struct foliot__crew *crew, void *context);
    void *lead_context;
} foliot__crew;

// Calls lead(crew, context) once. The host may run the tasks that this makes of it at once, or one after the
// other in any order: the first one leads, the others leave when they find it over.
void foliot__crew_run(const foliot_host *host, void (*lead)(foliot__crew *crew, void *context),
                      void *context);

// In the lead: calls part on pieces of `grain` indices of [begin, end); returns when all of them are done.
void foliot__crew_share(foliot__crew *crew, uint32_t begin, uint32_t end, uint32_t grain,
                        foliot__crew_part *part, void *context);

#endif
