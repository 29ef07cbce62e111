// SPDX-License-Identifier: MIT
// crew.c: loops shared by threads without a call to the host for each of them, which would cost more than
// most of them take. Waiting is a short spin; a helper that waits for long goes home.
#include "sim/crew.h"

#include <stdbool.h>
#include <stddef.h>

#define CREW_MAX 64
#define PIECE_BITS 20
#define PIECES_MAX ((1u << PIECE_BITS) - 1)
#define PATIENCE 20000 // looks at the ticket without finding work

static void pause_briefly(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// Takes and does one piece, if the present stage has one left.
static bool help(foliot__crew *crew)
{
    uint32_t ticket = atomic_load_explicit(&crew->ticket, memory_order_acquire);
    uint32_t piece = ticket & PIECES_MAX;
    // These are the ticket's stage's if it can still be moved on: else they are not used.
    uint32_t begin = atomic_load_explicit(&crew->begin, memory_order_relaxed);
    uint32_t end = atomic_load_explicit(&crew->end, memory_order_relaxed);
    uint32_t grain = atomic_load_explicit(&crew->grain, memory_order_relaxed);
    foliot__crew_part *part = atomic_load_explicit(&crew->part, memory_order_relaxed);
    void *context = atomic_load_explicit(&crew->context, memory_order_relaxed);
    if (piece >= atomic_load_explicit(&crew->pieces, memory_order_acquire) ||
        !atomic_compare_exchange_strong_explicit(&crew->ticket, &ticket, ticket + 1,
                                                 memory_order_acq_rel, memory_order_relaxed))
        return false;
    uint32_t from = begin + piece * grain, rest = end - from;
    part(context, from, from + (rest < grain ? rest : grain));
    atomic_fetch_add_explicit(&crew->done, 1, memory_order_release);
    return true;
}

void foliot__crew_share(foliot__crew *crew, uint32_t begin, uint32_t end, uint32_t grain,
                        foliot__crew_part *part, void *context)
{
    uint32_t count = end - begin, pieces = (count + grain - 1) / grain;
    if (crew->helpers == 0 || pieces < 2 || pieces >= PIECES_MAX) {
        if (count > 0)
            part(context, begin, end);
        return;
    }
    // First the ticket is closed: who sees the new number of pieces can no longer move the old one on.
    crew->stage++;
    atomic_store_explicit(&crew->ticket, crew->stage << PIECE_BITS | PIECES_MAX, memory_order_relaxed);
    atomic_store_explicit(&crew->begin, begin, memory_order_relaxed);
    atomic_store_explicit(&crew->end, end, memory_order_relaxed);
    atomic_store_explicit(&crew->grain, grain, memory_order_relaxed);
    atomic_store_explicit(&crew->part, part, memory_order_relaxed);
    atomic_store_explicit(&crew->context, context, memory_order_relaxed);
    atomic_store_explicit(&crew->pieces, pieces, memory_order_release);
    crew->expected += pieces;
    atomic_store_explicit(&crew->ticket, crew->stage << PIECE_BITS, memory_order_release);
    while (help(crew) ||
           (atomic_load_explicit(&crew->ticket, memory_order_relaxed) & PIECES_MAX) < pieces)
        ;
    while (atomic_load_explicit(&crew->done, memory_order_acquire) != crew->expected)
        pause_briefly();
}

static void join(void *context, uint32_t index)
{
    (void)index;
    foliot__crew *crew = context;
    if (atomic_exchange_explicit(&crew->led, 1, memory_order_acq_rel) == 0) {
        crew->lead(crew, crew->lead_context);
        atomic_store_explicit(&crew->over, 1, memory_order_release);
        return;
    }
    uint32_t waited = 0;
    while (waited < PATIENCE && !atomic_load_explicit(&crew->over, memory_order_acquire)) {
        waited = help(crew) ? 0 : waited + 1;
        pause_briefly();
    }
}

void foliot__crew_run(const foliot_host *host, void (*lead)(foliot__crew *crew, void *context),
                      void *context)
{
    foliot__crew crew = {.lead = lead, .lead_context = context};
    uint32_t threads = host->run ? host->threads : 1;
    threads = threads < CREW_MAX ? threads : CREW_MAX;
    if (threads < 2) {
        lead(&crew, context);
        return;
    }
    crew.helpers = threads - 1;
    host->run(host->run_user, threads, join, &crew);
}
