// SPDX-License-Identifier: MIT
// parallel_for.c: loops shared by threads without a call of the host for each, which would cost
// more than most loops take. Worker 0 enqueues a batch of loops; between two of them the workers
// wait for each other. They wait by spinning and yield to the host now and then. A worker that
// waits for long returns to the host.
#include "sim/state/parallel_for.h"

#include <stdbool.h>
#include <stddef.h>

#define CLOSED UINT32_MAX // no chunk has this number
#define PATIENCE 20000    // looks at the ticket that find no work: half a millisecond
#define LATE 300          // looks before chunks of another worker are taken: microseconds
#define HASTE 16          // looks without a pause between them: most waits are shorter
#define CHUNKS 16         // that a worker's range is cut into, about ...
#define CHUNKS_FEW 4      // ... and where it is shorter than a few of these

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// -- taking chunks

// The loop that the next chunk of some worker's range belongs to, as this worker has read it. Good
// for one batch.
typedef struct cursor {
    uint32_t batch, loop;  // earlier loops are done
    uint32_t base, chunks; // of the range: in earlier loops, and in this one
    uint32_t begin, end, grain, chunk_units, first, last, before;
    foliot__loop_body *body;
    void *context;
    // The owner of the range has let others wait, and had done `done` chunks then: it counts
    // as absent until it reports more, or the batch ends.
    bool late;
    uint32_t done;
} cursor;

typedef struct chunk {
    uint32_t from, to;
    foliot__loop_body *body;
    void *context;
} chunk;

typedef enum outcome {
    TAKEN,
    EMPTY,
    EARLY
} outcome; // EARLY: some of the loop before is not done yet

static uint32_t load32(const _Atomic(uint32_t) *value)
{
    return atomic_load_explicit(value, memory_order_acquire);
}

// Units [first, last) of `units` are worker m's.
static void units_of(uint32_t units, uint32_t m, uint32_t worker_count, uint32_t *first,
                     uint32_t *last)
{
    *first = (uint32_t)(((uint64_t)units * m + worker_count - 1) / worker_count);
    *last = (uint32_t)(((uint64_t)units * (m + 1) + worker_count - 1) / worker_count);
}

static uint32_t divide_up(uint32_t count, uint32_t by)
{
    return count / by + (count % by > 0);
}

static uint32_t chunks_done(const foliot__workers *workers)
{
    uint32_t done = 0;
    for (uint32_t m = 0; m <= workers->helpers; m++)
        done += load32(&workers->worker[m].done);
    return done;
}

static void read_loop(const foliot__workers *workers, uint32_t m, cursor *at)
{
    const foliot__parallel_loop *s = &workers->loop[at->loop];
    at->begin = load32(&s->begin);
    at->end = load32(&s->end);
    at->grain = load32(&s->grain);
    at->chunk_units = load32(&s->chunk_units);
    at->before = load32(&workers->worker[m].done_before) + load32(&s->before);
    at->body = atomic_load_explicit(&s->body, memory_order_acquire);
    at->context = atomic_load_explicit(&s->context, memory_order_acquire);
    units_of(divide_up(at->end - at->begin, at->grain), m, workers->helpers + 1, &at->first,
             &at->last);
    at->chunks = divide_up(at->last - at->first, at->chunk_units);
}

// The next chunk of worker m, by the number in its ticket. The values read here may already belong
// to a later batch. Then that batch's closing of the ticket is visible too, so the ticket cannot be
// incremented from its old value.
static outcome find_chunk(const foliot__workers *workers, uint32_t m, uint64_t ticket, cursor *at,
                          chunk *next)
{
    uint32_t number = (uint32_t)ticket, batch = (uint32_t)(ticket >> 32);
    uint32_t loops = load32(&workers->worker[m].loops);
    if (at->batch != batch) {
        *at = (cursor){.batch = batch};
        if (loops > 0)
            read_loop(workers, m, at);
    }
    while (at->loop < loops && number - at->base >= at->chunks) {
        at->base += at->chunks;
        if (++at->loop < loops)
            read_loop(workers, m, at);
    }
    if (at->loop >= loops)
        return EMPTY;
    if ((int32_t)(chunks_done(workers) - at->before) < 0)
        return EARLY;
    uint32_t from = at->first + (number - at->base) * at->chunk_units;
    uint32_t to = at->last - from > at->chunk_units ? from + at->chunk_units : at->last,
             count = at->end - at->begin;
    *next = (chunk){at->begin + from * at->grain,
                    at->begin + (to * at->grain < count ? to * at->grain : count), at->body,
                    at->context};
    return TAKEN;
}

static void reset_cursors(const foliot__workers *workers, cursor *cursors)
{
    for (uint32_t m = 0; m <= workers->helpers; m++)
        cursors[m] = (cursor){.batch = 0}; // no batch has this number
}

static void report_done(foliot__workers *workers, uint32_t self, uint32_t chunks)
{
    _Atomic(uint32_t) *done = &workers->worker[self].done;
    uint32_t before = atomic_load_explicit(done, memory_order_relaxed);
    atomic_store_explicit(done, before + chunks, memory_order_release);
}

// As many chunks of worker m as may be done now: those that are left of loops that have begun.
static outcome work_on_range(foliot__workers *workers, uint32_t m, cursor *at, uint32_t *done)
{
    _Atomic(uint64_t) *ticket = &workers->worker[m].ticket;
    for (;;) {
        chunk next;
        uint64_t seen = atomic_load_explicit(ticket, memory_order_acquire);
        do { // tries again where another worker was faster
            if ((uint32_t)seen == CLOSED)
                return EMPTY;
            outcome found = find_chunk(workers, m, seen, at, &next);
            if (found != TAKEN)
                return found;
        } while (!atomic_compare_exchange_weak_explicit(
            ticket, &seen, seen + 1, memory_order_acq_rel, memory_order_acquire));
        next.body(next.context, next.from, next.to);
        (*done)++;
    }
}

// Takes chunks that a late worker has not begun. If all are begun, the late worker may want this
// processor.
static void take_over_late(foliot__workers *workers, uint32_t self, cursor *cursors)
{
    uint32_t worker_count = workers->helpers + 1, done = 0;
    for (uint32_t k = 1; k < worker_count && done == 0; k++) {
        uint32_t m = (self + k) % worker_count;
        cursor *at = &cursors[m];
        work_on_range(workers, m, at, &done);
        if (done > 0) {
            at->late = true;
            at->done = load32(&workers->worker[m].done);
        }
    }
    if (done > 0)
        report_done(workers, self, done);
    else if (workers->host->yield)
        workers->host->yield(workers->host->run_user);
}

// Runs the worker's own range of the batch, and those of absent workers. Worker 0 continues until
// they are done; another one that has waited for long leaves the rest. Returns how many looks it
// has waited in the end.
static uint32_t run_batch(foliot__workers *workers, uint32_t self, cursor *cursors)
{
    uint32_t worker_count = workers->helpers + 1, waited = 0;
    for (;;) {
        uint32_t done = 0;
        bool early = false;
        for (uint32_t k = 0; k < worker_count; k++) {
            uint32_t m = (self + k) % worker_count;
            const cursor *at = &cursors[m];
            bool absent = m >= atomic_load_explicit(&workers->joined, memory_order_relaxed) ||
                          atomic_load_explicit(&workers->worker[m].left, memory_order_relaxed) ||
                          (at->late && load32(&workers->worker[m].done) == at->done);
            if (k == 0 || absent)
                early |= work_on_range(workers, m, &cursors[m], &done) == EARLY;
        }
        if (done > 0) {
            report_done(workers, self, done);
            waited = 0;
        } else if (!early || (self > 0 && waited == PATIENCE)) {
            return waited;
        } else {
            if (++waited > HASTE)
                pause_briefly();
            if (waited % LATE == 0)
                take_over_late(workers, self, cursors);
        }
    }
}

// -- enqueueing

static void store_if_changed(_Atomic(uint32_t) *to, uint32_t value)
{
    if (atomic_load_explicit(to, memory_order_relaxed) != value)
        atomic_store_explicit(to, value, memory_order_release);
}

// Cuts a loop into chunks. Most loops are those of the batch before.
static void cut_into_chunks(const foliot__workers *workers, foliot__parallel_loop *s,
                            uint32_t begin, uint32_t end, uint32_t grain)
{
    if (load32(&s->begin) == begin && load32(&s->end) == end && load32(&s->grain) == grain)
        return;
    uint32_t worker_count = workers->helpers + 1, units = divide_up(end - begin, grain);
    uint32_t chunk_units =
        1 + units / (worker_count * (units > 2 * worker_count * CHUNKS ? CHUNKS : CHUNKS_FEW));
    store_if_changed(&s->begin, begin);
    store_if_changed(&s->end, end);
    store_if_changed(&s->grain, grain);
    store_if_changed(&s->chunk_units, chunk_units);
    s->chunks = 0;
    for (uint32_t m = 0; m < worker_count; m++) {
        uint32_t first, last;
        units_of(units, m, worker_count, &first, &last);
        s->chunks += divide_up(last - first, chunk_units);
    }
}

void foliot__parallel_enqueue(foliot__workers *workers, uint32_t begin, uint32_t end,
                              uint32_t grain, foliot__loop_body *body, void *context)
{
    if (begin == end)
        return;
    if (!workers || workers->helpers == 0) {
        body(context, begin, end);
        return;
    }
    if (workers->enqueued == 0) {
        // A thread that sees anything of what follows cannot increment the old tickets.
        workers->batch++;
        for (uint32_t m = 0; m <= workers->helpers; m++)
            atomic_store_explicit(&workers->worker[m].ticket,
                                  (uint64_t)workers->batch << 32 | CLOSED, memory_order_relaxed);
    }
    foliot__parallel_loop *s = &workers->loop[workers->enqueued++];
    cut_into_chunks(workers, s, begin, end, grain);
    store_if_changed(&s->before, workers->chunks);
    if (atomic_load_explicit(&s->body, memory_order_relaxed) != body)
        atomic_store_explicit(&s->body, body, memory_order_release);
    if (atomic_load_explicit(&s->context, memory_order_relaxed) != context)
        atomic_store_explicit(&s->context, context, memory_order_release);
    workers->chunks += s->chunks;
    if (workers->enqueued == FOLIOT__PARALLEL_LOOPS_MAX)
        foliot__parallel_wait(workers);
}

void foliot__parallel_wait(foliot__workers *workers)
{
    if (!workers || workers->enqueued == 0)
        return;
    cursor cursors[FOLIOT__WORKERS_MAX];
    reset_cursors(workers, cursors);
    for (uint32_t m = workers->helpers + 1; m-- > 0;) { // worker 0 last: it is here already
        foliot__worker *worker = &workers->worker[m];
        store_if_changed(&worker->loops, workers->enqueued);
        store_if_changed(&worker->done_before, workers->expected);
        atomic_store_explicit(&worker->ticket, (uint64_t)workers->batch << 32,
                              memory_order_release);
    }
    workers->expected += workers->chunks;
    workers->enqueued = workers->chunks = 0;
    run_batch(workers, 0, cursors);
    for (uint32_t waited = 1; chunks_done(workers) != workers->expected; waited++) {
        pause_briefly();
        if (waited % LATE == 0)
            take_over_late(workers, 0, cursors);
    }
}

void foliot__parallel_run(foliot__workers *workers, uint32_t begin, uint32_t end, uint32_t grain,
                          foliot__loop_body *body, void *context)
{
    if (workers && workers->enqueued == 0 && end - begin <= grain)
        workers = NULL; // one chunk
    foliot__parallel_enqueue(workers, begin, end, grain, body, context);
    foliot__parallel_wait(workers);
}

// -- workers

static void work_until_over(foliot__workers *workers, uint32_t self)
{
    uint32_t seen = 0, waited = 0;
    cursor cursors[FOLIOT__WORKERS_MAX];
    reset_cursors(workers, cursors);
    foliot__worker *worker = &workers->worker[self];
    while (waited < PATIENCE && !atomic_load_explicit(&workers->over, memory_order_relaxed)) {
        uint64_t ticket = atomic_load_explicit(&worker->ticket, memory_order_acquire);
        if ((uint32_t)(ticket >> 32) == seen || (uint32_t)ticket == CLOSED) {
            pause_briefly();
            if (++waited % LATE == 0)
                take_over_late(workers, self, cursors);
            continue;
        }
        seen = (uint32_t)(ticket >> 32);
        waited = run_batch(workers, self, cursors);
    }
    atomic_store_explicit(&worker->left, 1, memory_order_relaxed);
}

static void join_workers(void *context, uint32_t index)
{
    (void)index;
    foliot__workers *workers = context;
    uint32_t self = atomic_fetch_add_explicit(&workers->joined, 1, memory_order_acq_rel);
    if (self > 0) {
        work_until_over(workers, self);
        return;
    }
    workers->run(workers, workers->context);
    atomic_store_explicit(&workers->over, 1, memory_order_release);
}

void foliot__workers_run(const foliot_host *host,
                         void (*run)(foliot__workers *workers, void *context), void *context)
{
    uint32_t threads = host->run ? host->threads : 1;
    if (threads < 2) {
        run(NULL, context);
        return;
    }
    foliot__workers workers = {.run = run, .context = context, .host = host};
    threads = threads < FOLIOT__WORKERS_MAX ? threads : FOLIOT__WORKERS_MAX;
    workers.helpers = threads - 1;
    host->run(host->run_user, threads, join_workers, &workers);
}

// -- loops without a batch

typedef struct tasks {
    void (*task)(void *context, uint32_t index);
    void *context;
} tasks;

static void run_task_range(void *context, uint32_t begin, uint32_t end)
{
    const tasks *t = context;
    for (uint32_t i = begin; i < end; i++)
        t->task(t->context, i);
}

void foliot__run_tasks(const foliot__step *step, uint32_t count,
                       void (*task)(void *context, uint32_t index), void *context)
{
    const foliot_host *host = step->host;
    tasks t = {task, context};
    if (host->run && count > 1 && !step->workers)
        host->run(host->run_user, count, task, context);
    else
        foliot__parallel_run(step->workers, 0, count, 1, run_task_range, &t);
}
