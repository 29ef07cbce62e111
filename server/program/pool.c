// SPDX-License-Identifier: MIT
// pool.c: workers take indices from a shared counter; the caller works too, and returns at the end.
#include "app.h"
#include "priority.h"

#include "base/assert.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

#include <uv.h>

struct foliot__pool {
    uint32_t workers;
    uv_thread_t *threads;
    uv_mutex_t calling, mutex;
    uv_cond_t work, idle;
    uint64_t round; // grows with every run
    uint32_t busy;
    bool closing;
    void (*task)(void *context, uint32_t index);
    void *context;
    uint32_t count;
    atomic_uint next;
};

static void run_tasks(foliot__pool *pool)
{
    for (;;) {
        uint32_t index = atomic_fetch_add_explicit(&pool->next, 1, memory_order_relaxed);
        if (index >= pool->count)
            return;
        pool->task(pool->context, index);
    }
}

static void worker(void *user)
{
    foliot__pool *pool = user;
    uint64_t seen = 0;
    foliot__priority_step();
    uv_mutex_lock(&pool->mutex);
    for (;;) {
        while (!pool->closing && pool->round == seen)
            uv_cond_wait(&pool->work, &pool->mutex);
        if (pool->closing)
            break;
        seen = pool->round;
        uv_mutex_unlock(&pool->mutex);
        run_tasks(pool);
        uv_mutex_lock(&pool->mutex);
        if (--pool->busy == 0)
            uv_cond_signal(&pool->idle);
    }
    uv_mutex_unlock(&pool->mutex);
}

foliot__pool *foliot__pool_create(uint32_t threads)
{
    foliot__pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->threads = calloc(threads, sizeof *pool->threads);
    bool fine = pool->threads != NULL;
    FOLIOT_ASSERT(uv_mutex_init(&pool->calling) == 0); // on Linux none of these needs anything
    FOLIOT_ASSERT(uv_mutex_init(&pool->mutex) == 0);
    FOLIOT_ASSERT(uv_cond_init(&pool->work) == 0);
    FOLIOT_ASSERT(uv_cond_init(&pool->idle) == 0);
    for (uint32_t i = 1; fine && i < threads; i++) {
        fine = uv_thread_create(&pool->threads[pool->workers], worker, pool) == 0;
        pool->workers += fine;
    }
    if (fine)
        return pool;
    foliot__pool_destroy(pool);
    return NULL;
}

void foliot__pool_destroy(foliot__pool *pool)
{
    if (!pool)
        return;
    uv_mutex_lock(&pool->mutex);
    pool->closing = true;
    uv_cond_broadcast(&pool->work);
    uv_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->workers; i++)
        uv_thread_join(&pool->threads[i]);
    uv_cond_destroy(&pool->work);
    uv_cond_destroy(&pool->idle);
    uv_mutex_destroy(&pool->mutex);
    uv_mutex_destroy(&pool->calling);
    free(pool->threads);
    free(pool);
}

void foliot__pool_run(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                      void *context)
{
    foliot__pool *pool = user;
    if (uv_mutex_trylock(&pool->calling) != 0) { // another session has it: nobody waits for it
        for (uint32_t i = 0; i < count; i++)
            task(context, i);
        return;
    }
    uv_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->count = count;
    atomic_store(&pool->next, 0);
    pool->busy = pool->workers;
    pool->round++;
    uv_cond_broadcast(&pool->work);
    uv_mutex_unlock(&pool->mutex);
    run_tasks(pool);
    uv_mutex_lock(&pool->mutex);
    while (pool->busy > 0)
        uv_cond_wait(&pool->idle, &pool->mutex);
    uv_mutex_unlock(&pool->mutex);
    uv_mutex_unlock(&pool->calling);
}

void foliot__pool_yield(void *pool)
{
    (void)pool;
    sched_yield();
}
