// SPDX-License-Identifier: MIT
// parallel_for.c: loops shared by threads without a call to the host for each of them, which would
// cost more than most of them take: plans of several loops, between which the members wait for each
// other. Waiting is a spin, with a word to the host now and then; a helper that waits for long goes
// home.
#include "sim/state/parallel_for.h"

#include <stdbool.h>
#include <stddef.h>

#define CLOSED UINT32_MAX // no piece has this number
#define PATIENCE 20000    // looks at the ticket without finding work: half a millisecond
#define LATE 300          // looks until somebody else's piece is taken: some microseconds
#define HASTE 16          // looks without a pause between them: most waits are shorter
#define CHUNKS 16         // pieces that a member's stretch is done in, about ...
#define CHUNKS_FEW 4      // ... and where it is shorter than a few of these

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// -- taking

// The stage that a lane's next piece belongs to, as one member has read it. Good for one plan.
typedef struct cursor {
    uint32_t plan, stage;  // stages before it are done with
    uint32_t base, pieces; // of the lane: in the stages before, and in this one
    uint32_t begin, end, grain, chunk, first, last, before;
    foliot__loop_body *part;
    void *context;
    // The lane's owner has let others wait, and had done so many pieces then: it counts as absent
    // until it reports more, or the plan ends.
    bool late;
    uint32_t done;
} cursor;

typedef struct piece {
    uint32_t from, to;
    foliot__loop_body *part;
    void *context;
} piece;

typedef enum outcome {
    TAKEN,
    EMPTY,
    EARLY
} outcome; // EARLY: some of the stage before is not done yet

static uint32_t load32(const _Atomic(uint32_t) *value)
{
    return atomic_load_explicit(value, memory_order_acquire);
}

// Units [first, last) of so many are member m's.
static void units_of(uint32_t units, uint32_t m, uint32_t members, uint32_t *first, uint32_t *last)
{
    *first = (uint32_t)(((uint64_t)units * m + members - 1) / members);
    *last = (uint32_t)(((uint64_t)units * (m + 1) + members - 1) / members);
}

static uint32_t divided(uint32_t count, uint32_t by)
{
    return count / by + (count % by > 0);
}

static uint32_t all_done(const foliot__workers *workers)
{
    uint32_t done = 0;
    for (uint32_t m = 0; m <= workers->helpers; m++)
        done += load32(&workers->lanes[m].done);
    return done;
}

static void read_stage(const foliot__workers *workers, uint32_t m, cursor *at)
{
    const foliot__parallel_loop *s = &workers->stages[at->stage];
    at->begin = load32(&s->begin);
    at->end = load32(&s->end);
    at->grain = load32(&s->grain);
    at->chunk = load32(&s->chunk);
    at->before = load32(&workers->lanes[m].done_before) + load32(&s->before);
    at->part = atomic_load_explicit(&s->part, memory_order_acquire);
    at->context = atomic_load_explicit(&s->context, memory_order_acquire);
    units_of(divided(at->end - at->begin, at->grain), m, workers->helpers + 1, &at->first,
             &at->last);
    at->pieces = divided(at->last - at->first, at->chunk);
}

// What lane m's next piece is, with that number. All of this may be of a later plan already: then
// that one's closing of the ticket is seen too, and the ticket cannot be moved on from where it
// was.
static outcome look(const foliot__workers *workers, uint32_t m, uint64_t ticket, cursor *at,
                    piece *next)
{
    uint32_t number = (uint32_t)ticket, plan = (uint32_t)(ticket >> 32);
    uint32_t stages = load32(&workers->lanes[m].stages);
    if (at->plan != plan) {
        *at = (cursor){.plan = plan};
        if (stages > 0)
            read_stage(workers, m, at);
    }
    while (at->stage < stages && number - at->base >= at->pieces) {
        at->base += at->pieces;
        if (++at->stage < stages)
            read_stage(workers, m, at);
    }
    if (at->stage >= stages)
        return EMPTY;
    if ((int32_t)(all_done(workers) - at->before) < 0)
        return EARLY;
    uint32_t from = at->first + (number - at->base) * at->chunk;
    uint32_t to = at->last - from > at->chunk ? from + at->chunk : at->last,
             count = at->end - at->begin;
    *next = (piece){at->begin + from * at->grain,
                    at->begin + (to * at->grain < count ? to * at->grain : count), at->part,
                    at->context};
    return TAKEN;
}

static void forget(const foliot__workers *workers, cursor *cursors)
{
    for (uint32_t m = 0; m <= workers->helpers; m++)
        cursors[m] = (cursor){.plan = 0}; // no plan has this number
}

// Takes the lane's next piece, if it has one left whose time has come. Who is overtaken by another
// tries again.
static outcome take(foliot__workers *workers, uint32_t m, cursor *at, piece *taken)
{
    _Atomic(uint64_t) *ticket = &workers->lanes[m].ticket;
    uint64_t seen = atomic_load_explicit(ticket, memory_order_acquire);
    do {
        if ((uint32_t)seen == CLOSED)
            return EMPTY;
        outcome found = look(workers, m, seen, at, taken);
        if (found != TAKEN)
            return found;
    } while (!atomic_compare_exchange_weak_explicit(ticket, &seen, seen + 1, memory_order_acq_rel,
                                                    memory_order_acquire));
    return TAKEN;
}

static void report(foliot__workers *workers, uint32_t self, uint32_t pieces)
{
    _Atomic(uint32_t) *done = &workers->lanes[self].done;
    uint32_t before = atomic_load_explicit(done, memory_order_relaxed);
    atomic_store_explicit(done, before + pieces, memory_order_release);
}

// As many pieces of lane m as may be done now.
static outcome work_on(foliot__workers *workers, uint32_t m, cursor *at, uint32_t *done)
{
    for (;;) {
        piece p;
        outcome found = take(workers, m, at, &p);
        if (found != TAKEN)
            return found;
        p.part(p.context, p.from, p.to);
        (*done)++;
    }
}

// What whoever is late has not begun. If all is begun, who does it may want this processor.
static void relieve(foliot__workers *workers, uint32_t self, cursor *cursors)
{
    uint32_t members = workers->helpers + 1, done = 0;
    for (uint32_t k = 1; k < members && done == 0; k++) {
        uint32_t m = (self + k) % members;
        cursor *at = &cursors[m];
        work_on(workers, m, at, &done);
        if (done > 0) {
            at->late = true;
            at->done = load32(&workers->lanes[m].done);
        }
    }
    if (done > 0)
        report(workers, self, done);
    else if (workers->host->yield)
        workers->host->yield(workers->host->run_user);
}

// Whether lane m is for others to work on.
static bool deserted(const foliot__workers *workers, uint32_t m, const cursor *at)
{
    return m >= atomic_load_explicit(&workers->joined, memory_order_relaxed) ||
           atomic_load_explicit(&workers->lanes[m].left, memory_order_relaxed) ||
           (at->late && load32(&workers->lanes[m].done) == at->done);
}

// One's own part of the plan, and those of who is not there. The leader goes on until they are
// done; whoever else has waited for long leaves the rest of them to the others. Returns how many
// looks it has waited in the end.
static uint32_t help(foliot__workers *workers, uint32_t self, cursor *cursors)
{
    uint32_t members = workers->helpers + 1, waited = 0;
    for (;;) {
        uint32_t done = 0;
        bool early = false;
        for (uint32_t k = 0; k < members; k++) {
            uint32_t m = (self + k) % members;
            if (k == 0 || deserted(workers, m, &cursors[m]))
                early |= work_on(workers, m, &cursors[m], &done) == EARLY;
        }
        if (done > 0) {
            report(workers, self, done);
            waited = 0;
        } else if (!early || (self > 0 && waited == PATIENCE)) {
            return waited;
        } else {
            if (++waited > HASTE)
                pause_briefly();
            if (waited % LATE == 0)
                relieve(workers, self, cursors);
        }
    }
}

// -- planning

static void put(_Atomic(uint32_t) *to, uint32_t value)
{
    if (atomic_load_explicit(to, memory_order_relaxed) != value)
        atomic_store_explicit(to, value, memory_order_release);
}

// Who sees anything of what follows can no longer move the old tickets on.
static void close_tickets(foliot__workers *workers)
{
    workers->plan++;
    for (uint32_t m = 0; m <= workers->helpers; m++)
        atomic_store_explicit(&workers->lanes[m].ticket, (uint64_t)workers->plan << 32 | CLOSED,
                              memory_order_relaxed);
}

// Pieces, and how they are cut. Most stages are those of the plan before.
static void cut(const foliot__workers *workers, foliot__parallel_loop *s, uint32_t begin,
                uint32_t end, uint32_t grain)
{
    if (load32(&s->begin) == begin && load32(&s->end) == end && load32(&s->grain) == grain)
        return;
    uint32_t members = workers->helpers + 1, units = divided(end - begin, grain);
    uint32_t chunk = 1 + units / (members * (units > 2 * members * CHUNKS ? CHUNKS : CHUNKS_FEW));
    put(&s->begin, begin);
    put(&s->end, end);
    put(&s->grain, grain);
    put(&s->chunk, chunk);
    s->pieces = 0;
    for (uint32_t m = 0; m < members; m++) {
        uint32_t first, last;
        units_of(units, m, members, &first, &last);
        s->pieces += divided(last - first, chunk);
    }
}

static void add_stage(foliot__workers *workers, uint32_t begin, uint32_t end, uint32_t grain,
                      foliot__loop_body *part, void *context)
{
    if (workers->planned == 0)
        close_tickets(workers);
    foliot__parallel_loop *s = &workers->stages[workers->planned++];
    cut(workers, s, begin, end, grain);
    put(&s->before, workers->pieces);
    if (atomic_load_explicit(&s->part, memory_order_relaxed) != part)
        atomic_store_explicit(&s->part, part, memory_order_release);
    if (atomic_load_explicit(&s->context, memory_order_relaxed) != context)
        atomic_store_explicit(&s->context, context, memory_order_release);
    workers->pieces += s->pieces;
}

void foliot__parallel_enqueue(foliot__workers *workers, uint32_t begin, uint32_t end,
                              uint32_t grain, foliot__loop_body *part, void *context)
{
    if (begin == end)
        return;
    if (!workers || workers->helpers == 0) {
        part(context, begin, end);
        return;
    }
    add_stage(workers, begin, end, grain, part, context);
    if (workers->planned == FOLIOT__PARALLEL_LOOPS_MAX)
        foliot__parallel_wait(workers);
}

void foliot__parallel_wait(foliot__workers *workers)
{
    if (!workers || workers->planned == 0)
        return;
    cursor cursors[FOLIOT__WORKERS_MAX];
    forget(workers, cursors);
    for (uint32_t m = workers->helpers + 1; m-- > 0;) { // the leader's last: it is here already
        foliot__worker *lane = &workers->lanes[m];
        put(&lane->stages, workers->planned);
        put(&lane->done_before, workers->expected);
        atomic_store_explicit(&lane->ticket, (uint64_t)workers->plan << 32, memory_order_release);
    }
    workers->expected += workers->pieces;
    workers->planned = workers->pieces = 0;
    help(workers, 0, cursors);
    for (uint32_t waited = 1; all_done(workers) != workers->expected; waited++) {
        pause_briefly();
        if (waited % LATE == 0)
            relieve(workers, 0, cursors);
    }
}

void foliot__parallel_run(foliot__workers *workers, uint32_t begin, uint32_t end, uint32_t grain,
                          foliot__loop_body *part, void *context)
{
    if (workers && workers->planned == 0 && end - begin <= grain)
        workers = NULL; // one piece
    foliot__parallel_enqueue(workers, begin, end, grain, part, context);
    foliot__parallel_wait(workers);
}

// -- members

static void assist(foliot__workers *workers, uint32_t self)
{
    uint32_t seen = 0, waited = 0;
    cursor cursors[FOLIOT__WORKERS_MAX];
    forget(workers, cursors);
    foliot__worker *lane = &workers->lanes[self];
    while (waited < PATIENCE && !atomic_load_explicit(&workers->over, memory_order_relaxed)) {
        uint64_t ticket = atomic_load_explicit(&lane->ticket, memory_order_acquire);
        if ((uint32_t)(ticket >> 32) == seen || (uint32_t)ticket == CLOSED) {
            pause_briefly();
            if (++waited % LATE == 0)
                relieve(workers, self, cursors);
            continue;
        }
        seen = (uint32_t)(ticket >> 32);
        waited = help(workers, self, cursors);
    }
    atomic_store_explicit(&lane->left, 1, memory_order_relaxed);
}

static void join(void *context, uint32_t index)
{
    (void)index;
    foliot__workers *workers = context;
    uint32_t self = atomic_fetch_add_explicit(&workers->joined, 1, memory_order_acq_rel);
    if (self > 0) {
        assist(workers, self);
        return;
    }
    workers->lead(workers, workers->lead_context);
    atomic_store_explicit(&workers->over, 1, memory_order_release);
}

void foliot__workers_run(const foliot_host *host,
                         void (*lead)(foliot__workers *workers, void *context), void *context)
{
    uint32_t threads = host->run ? host->threads : 1;
    if (threads < 2) {
        lead(NULL, context);
        return;
    }
    foliot__workers workers = {.lead = lead, .lead_context = context, .host = host};
    threads = threads < FOLIOT__WORKERS_MAX ? threads : FOLIOT__WORKERS_MAX;
    workers.helpers = threads - 1;
    host->run(host->run_user, threads, join, &workers);
}

// -- loops without a plan

typedef struct tasks {
    void (*task)(void *context, uint32_t index);
    void *context;
} tasks;

static void run_part(void *context, uint32_t begin, uint32_t end)
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
        foliot__parallel_run(step->workers, 0, count, 1, run_part, &t);
}
