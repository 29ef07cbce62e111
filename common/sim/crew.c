// SPDX-License-Identifier: MIT
// crew.c: loops shared by threads without a call to the host for each of them, which would cost more than
// most of them take. Waiting is a spin, with a word to the host now and then; a helper that waits for long goes
// home.
#include "sim/crew.h"

#include <stdbool.h>
#include <stddef.h>

#define CLOSED UINT32_MAX // no piece has this number
#define PATIENCE 20000    // looks at the ticket without finding work: half a millisecond
#define LATE 300          // looks until somebody else's piece is taken: some microseconds

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// What a lane offers; a piece of it, once taken.
typedef struct piece {
    uint32_t from, to;
    foliot__crew_part *part;
    void *context;
} piece;

// Takes the lane's next piece, if it has one left. Who is overtaken by another tries again: only an empty lane
// is left alone.
static bool take(foliot__crew_lane *lane, piece *taken)
{
    uint64_t ticket = atomic_load_explicit(&lane->ticket, memory_order_acquire);
    do {
        // These may be a later loop's already. Then that one's closing of the ticket is seen too, and the ticket
        // cannot be moved on from here.
        uint32_t number = (uint32_t)ticket;
        uint32_t pieces = atomic_load_explicit(&lane->pieces, memory_order_acquire);
        uint32_t begin = atomic_load_explicit(&lane->begin, memory_order_acquire);
        uint32_t end = atomic_load_explicit(&lane->end, memory_order_acquire);
        uint32_t grain = atomic_load_explicit(&lane->grain, memory_order_acquire);
        if (number >= pieces)
            return false;
        uint32_t from = begin + number * grain, rest = end - from;
        *taken = (piece){from, from + (rest < grain ? rest : grain),
                         atomic_load_explicit(&lane->part, memory_order_acquire),
                         atomic_load_explicit(&lane->context, memory_order_acquire)};
    } while (!atomic_compare_exchange_weak_explicit(&lane->ticket, &ticket, ticket + 1, memory_order_acq_rel,
                                                    memory_order_acquire));
    return true;
}

// Takes and does one piece of the lane, if it has one left.
static bool take_and_do(foliot__crew_lane *lane)
{
    piece p;
    if (!take(lane, &p))
        return false;
    p.part(p.context, p.from, p.to);
    return true;
}

static void report(foliot__crew *crew, uint32_t self, uint32_t pieces)
{
    _Atomic(uint32_t) *done = &crew->lanes[self].done;
    uint32_t before = atomic_load_explicit(done, memory_order_relaxed);
    if (pieces > 0)
        atomic_store_explicit(done, before + pieces, memory_order_release);
}

static uint32_t all_done(const foliot__crew *crew)
{
    uint32_t done = 0;
    for (uint32_t m = 0; m <= crew->helpers; m++)
        done += atomic_load_explicit(&crew->lanes[m].done, memory_order_acquire);
    return done;
}

// One's own part of the present loop, and those of who is not there.
static void help(foliot__crew *crew, uint32_t self)
{
    uint32_t members = crew->helpers + 1, done = 0;
    uint32_t joined = atomic_load_explicit(&crew->joined, memory_order_relaxed);
    for (uint32_t k = 0; k < members; k++) {
        uint32_t m = (self + k) % members;
        if (k > 0 && m < joined && !atomic_load_explicit(&crew->lanes[m].left, memory_order_relaxed))
            continue;
        while (take_and_do(&crew->lanes[m]))
            done++;
    }
    report(crew, self, done);
}

// One piece of whoever is late. If all are begun, who does them may want this processor.
static void relieve(foliot__crew *crew, uint32_t self)
{
    uint32_t members = crew->helpers + 1;
    for (uint32_t k = 1; k < members; k++)
        if (take_and_do(&crew->lanes[(self + k) % members])) {
            report(crew, self, 1);
            return;
        }
    if (crew->host->yield)
        crew->host->yield(crew->host->run_user);
}

// First the ticket is closed: who sees anything of what follows can no longer move the old one on.
static void offer(foliot__crew_lane *lane, uint64_t loop, uint32_t begin, uint32_t end, uint32_t grain,
                  foliot__crew_part *part, void *context)
{
    uint32_t pieces = (end - begin + grain - 1) / grain;
    atomic_store_explicit(&lane->ticket, loop << 32 | CLOSED, memory_order_relaxed);
    atomic_store_explicit(&lane->pieces, pieces, memory_order_release);
    atomic_store_explicit(&lane->begin, begin, memory_order_release);
    atomic_store_explicit(&lane->end, end, memory_order_release);
    atomic_store_explicit(&lane->grain, grain, memory_order_release);
    atomic_store_explicit(&lane->part, part, memory_order_release);
    atomic_store_explicit(&lane->context, context, memory_order_release);
    atomic_store_explicit(&lane->ticket, loop << 32, memory_order_release);
}

void foliot__crew_share(foliot__crew *crew, uint32_t begin, uint32_t end, uint32_t grain,
                        foliot__crew_part *part, void *context)
{
    uint32_t count = end - begin, pieces = count / grain + (count % grain > 0);
    if (!crew || crew->helpers == 0 || pieces < 2) {
        if (count > 0)
            part(context, begin, end);
        return;
    }
    uint32_t members = crew->helpers + 1;
    crew->loop++;
    crew->expected += pieces;
    for (uint32_t m = members; m-- > 0;) { // the leader's last: it is here already
        uint32_t first = (uint32_t)((uint64_t)pieces * m / members);
        uint32_t last = (uint32_t)((uint64_t)pieces * (m + 1) / members);
        offer(&crew->lanes[m], crew->loop, begin + first * grain, last == pieces ? end : begin + last * grain, grain,
              part, context);
    }
    help(crew, 0);
    for (uint32_t waited = 1; all_done(crew) != crew->expected; waited++) {
        pause_briefly();
        if (waited % LATE == 0)
            relieve(crew, 0);
    }
}

static void assist(foliot__crew *crew, uint32_t self)
{
    uint32_t seen = 0, waited = 0;
    foliot__crew_lane *lane = &crew->lanes[self];
    while (waited < PATIENCE && !atomic_load_explicit(&crew->over, memory_order_relaxed)) {
        uint64_t ticket = atomic_load_explicit(&lane->ticket, memory_order_acquire);
        if ((uint32_t)(ticket >> 32) == seen || (uint32_t)ticket == CLOSED) {
            pause_briefly();
            if (++waited % LATE == 0)
                relieve(crew, self);
            continue;
        }
        seen = (uint32_t)(ticket >> 32);
        waited = 0;
        help(crew, self);
    }
    atomic_store_explicit(&lane->left, 1, memory_order_relaxed);
}

static void join(void *context, uint32_t index)
{
    (void)index;
    foliot__crew *crew = context;
    uint32_t self = atomic_fetch_add_explicit(&crew->joined, 1, memory_order_acq_rel);
    if (self > 0) {
        assist(crew, self);
        return;
    }
    crew->lead(crew, crew->lead_context);
    atomic_store_explicit(&crew->over, 1, memory_order_release);
}

void foliot__crew_run(const foliot_host *host, void (*lead)(foliot__crew *crew, void *context),
                      void *context)
{
    uint32_t threads = host->run ? host->threads : 1;
    if (threads < 2) {
        lead(NULL, context);
        return;
    }
    foliot__crew crew = {.lead = lead, .lead_context = context, .host = host};
    threads = threads < FOLIOT__CREW_MAX ? threads : FOLIOT__CREW_MAX;
    crew.helpers = threads - 1;
    host->run(host->run_user, threads, join, &crew);
}
