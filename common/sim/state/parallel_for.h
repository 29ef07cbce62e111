// SPDX-License-Identifier: MIT
// parallel_for.h: a stretch of a step that several of the host's threads go through together. One
// of them leads and goes through the stretch as if it were alone; where it shares a loop, the
// others take pieces of it. What a piece computes depends on its indices alone, so the bits do not
// depend on who does it, nor on how many there are.
#ifndef FOLIOT_SIM_PARALLEL_FOR_H
#define FOLIOT_SIM_PARALLEL_FOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "sim/state/state.h"

#define FOLIOT__WORKERS_MAX 64
#define FOLIOT__PARALLEL_LOOPS_MAX 96

typedef void foliot__loop_body(void *context, uint32_t begin, uint32_t end);

// One loop of a plan: all of it is done before the next stage begins. Every member has a stretch of
// the indices, in units of `grain`: the same of the same loop every time, which are in its cache. A
// stretch is done in pieces of `chunk` units: another's are only taken from who is not there, or
// late, for fetching them costs more than doing them. What stays the same from plan to plan is not
// written again, so that it stays in caches, too.
typedef struct foliot__parallel_loop {
    _Atomic(uint32_t) begin, end, grain, chunk;
    _Atomic(uint32_t) before; // pieces of the plan's stages before this one
    _Atomic(foliot__loop_body *) part;
    _Atomic(void *) context;
    uint32_t pieces; // the leader's own
} foliot__parallel_loop;

// A member's place in the plan, and what it has done.
typedef struct foliot__worker {
    // The plan's number (high half) and the next piece of this lane. Whoever moves it on by one has
    // that piece, and the plan does not end before the piece is done.
    _Atomic(uint64_t) ticket;
    _Atomic(uint32_t) stages;      // of the plan
    _Atomic(uint32_t) done_before; // pieces done by all when it began
    // Written by the member alone, and apart from the above.
    _Atomic(uint32_t) done __attribute__((aligned(64))); // pieces, of all plans
    _Atomic(uint32_t) left;                              // it has gone home
} __attribute__((aligned(64))) foliot__worker;

typedef struct foliot__workers {
    foliot__worker lanes[FOLIOT__WORKERS_MAX]; // the leader's is the first
    foliot__parallel_loop stages[FOLIOT__PARALLEL_LOOPS_MAX];
    _Atomic(uint32_t) joined __attribute__((aligned(64))), over;
    // The leader's own:
    uint32_t expected __attribute__((aligned(64))), plan;
    uint32_t planned, pieces; // stages of the plan that is being made, and their pieces
    uint32_t helpers;
    void (*lead)(struct foliot__workers *workers, void *context);
    void *lead_context;
    const foliot_host *host;
} foliot__workers;

// Calls lead(crew, context) once. The host may run the tasks that this makes of it at once, or one
// after the other in any order: the first one leads, the others leave when they find it over.
void foliot__workers_run(const foliot_host *host,
                         void (*lead)(foliot__workers *workers, void *context), void *context);

// In the lead: part is called on pieces of [begin, end), in units of `grain` indices, after all
// that was planned before and, at the latest, in foliot__parallel_wait; the context must live until
// then. Without a crew (NULL) that is one call, at once. The members go from stage to stage by
// themselves, which costs half of a plan's beginning and end.
void foliot__parallel_enqueue(foliot__workers *workers, uint32_t begin, uint32_t end,
                              uint32_t grain, foliot__loop_body *part, void *context);
// Returns when all that was planned is done.
void foliot__parallel_wait(foliot__workers *workers);
// Both.
void foliot__parallel_run(foliot__workers *workers, uint32_t begin, uint32_t end, uint32_t grain,
                          foliot__loop_body *part, void *context);

// Runs task(context, 0 .. count - 1) on the crew's or the host's threads, or here. Results must not
// depend on order.
void foliot__run_tasks(const foliot__step *step, uint32_t count,
                       void (*task)(void *context, uint32_t index), void *context);

#endif
