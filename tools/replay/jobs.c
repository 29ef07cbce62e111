// SPDX-License-Identifier: MIT
// jobs.c: many files over all cores: threads that take the next one each. Without threads, one
// after the other.
#include "tool.h"

#ifdef FOLIOT_REPLAY_CORE

void tool_run_jobs(uint32_t jobs, uint32_t count, void (*task)(void *context, uint32_t index),
                   void *context)
{
    (void)jobs;
    for (uint32_t i = 0; i < count; i++)
        task(context, i);
}

uint32_t tool_cores(void)
{
    return 1;
}

#else

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct queue {
    _Atomic uint32_t next;
    uint32_t count;
    void (*task)(void *context, uint32_t index);
    void *context;
} queue;

static void *run_jobs(void *user)
{
    queue *q = user;
    for (uint32_t i; (i = atomic_fetch_add(&q->next, 1)) < q->count;)
        q->task(q->context, i);
    return NULL;
}

void tool_run_jobs(uint32_t jobs, uint32_t count, void (*task)(void *context, uint32_t index),
                   void *context)
{
    queue q = {.count = count, .task = task, .context = context};
    uint32_t started = 0, helpers = (jobs < count ? jobs : count);
    pthread_t *threads = helpers > 1 ? calloc(helpers - 1, sizeof *threads) : NULL;
    while (threads && started + 1 < helpers &&
           pthread_create(&threads[started], NULL, run_jobs, &q) == 0)
        started++;
    run_jobs(&q); // this thread is one of them
    for (uint32_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    free(threads);
}

uint32_t tool_cores(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : (uint32_t)cores;
}

#endif
