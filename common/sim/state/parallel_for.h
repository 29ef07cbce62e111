// SPDX-License-Identifier: MIT
// parallel_for.h: loops of a step that several of the host's threads run together. Worker 0 goes
// through the step as if it were alone; where it runs a loop, the other workers take chunks of it.
// The results of a chunk depend on its indices alone, so the bits depend neither on the worker that
// runs it nor on the number of workers.
#ifndef FOLIOT_SIM_STATE_PARALLEL_FOR_H
#define FOLIOT_SIM_STATE_PARALLEL_FOR_H

#include <stdatomic.h>
#include <stdint.h>

#include "sim/state/state.h"

#define FOLIOT__WORKERS_MAX 64
#define FOLIOT__PARALLEL_LOOPS_MAX 96

typedef void foliot__loop_body(void *context, uint32_t begin, uint32_t end);

// One loop of a batch. All of it is done before the next loop of the batch begins. Every worker has
// a range of the indices, in units of `grain`. The same loop gives a worker the same range every
// time, so its data is in that worker's cache. A range is done in chunks of `chunk_units` units. A
// worker takes chunks of another only if that one is absent or late, since fetching their data
// costs more than the work. Data that stays the same from batch to batch is not written again, so
// it stays in caches.
typedef struct foliot__parallel_loop {
    _Atomic(uint32_t) begin, end, grain, chunk_units;
    _Atomic(uint32_t) before; // chunks of the earlier loops of the batch
    _Atomic(foliot__loop_body *) body;
    _Atomic(void *) context;
    uint32_t chunks; // for worker 0 alone
} foliot__parallel_loop;

// A worker's place in the batch, and what it has done.
typedef struct foliot__worker {
    // The number of the batch (high half) and of the next chunk of this worker's range. The worker
    // that increments it has that chunk, and the batch does not end before the chunk is done.
    _Atomic(uint64_t) ticket;
    _Atomic(uint32_t) loops;       // of the batch
    _Atomic(uint32_t) done_before; // chunks done by all when the batch began
    // Written by the worker alone, on a separate cache line.
    _Atomic(uint32_t) done __attribute__((aligned(64))); // chunks of all batches
    _Atomic(uint32_t) left;                              // it has returned to the host
} __attribute__((aligned(64))) foliot__worker;

typedef struct foliot__workers {
    foliot__worker worker[FOLIOT__WORKERS_MAX];
    foliot__parallel_loop loop[FOLIOT__PARALLEL_LOOPS_MAX];
    _Atomic(uint32_t) joined __attribute__((aligned(64))), over;
    // For worker 0 alone:
    uint32_t expected __attribute__((aligned(64))), batch;
    uint32_t enqueued, chunks; // loops of the batch that is being enqueued, and their chunks
    uint32_t helpers;          // workers besides worker 0
    void (*run)(struct foliot__workers *workers, void *context);
    void *context;
    const foliot_host *host;
} foliot__workers;

// Calls run(workers, context) once, on worker 0. The host may run the tasks that this makes of it
// at once or one after the other, in any order: the first to start is worker 0, and the others
// return when they find the call over.
void foliot__workers_run(const foliot_host *host,
                         void (*run)(foliot__workers *workers, void *context), void *context);

// On worker 0. Calls body on chunks of [begin, end), in units of `grain` indices, after all that
// was enqueued before, and at the latest in foliot__parallel_wait. The context must live until
// then. Without workers (NULL) that is one call, at once. Workers go from loop to loop by
// themselves, which costs half of what the begin and end of a batch cost.
void foliot__parallel_enqueue(foliot__workers *workers, uint32_t begin, uint32_t end,
                              uint32_t grain, foliot__loop_body *body, void *context);
// Returns when all that was enqueued is done.
void foliot__parallel_wait(foliot__workers *workers);
// Enqueues one loop and waits for it.
void foliot__parallel_run(foliot__workers *workers, uint32_t begin, uint32_t end, uint32_t grain,
                          foliot__loop_body *body, void *context);

// Calls task(context, 0 .. count - 1) on the workers, on the host's threads or here. Results must
// not depend on order.
void foliot__run_tasks(const foliot__step *step, uint32_t count,
                       void (*task)(void *context, uint32_t index), void *context);

#endif
