// SPDX-License-Identifier: MIT
// task_pool.c: a few threads that wait for work. One run at a time.
#include "task_pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

struct task_pool {
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    pthread_t *threads;
    uint32_t thread_count;
    void (*task)(void *context, uint32_t index);
    void *context;
    uint32_t count, next, finished, step; // `step` walks all indices in an order that is not theirs
    uint64_t total;
    bool closing;
};

static uint32_t gcd(uint32_t a, uint32_t b)
{
    return b ? gcd(b, a % b) : a;
}

// Works until nothing is left to start. The mutex is held on entry and on return.
static void work(task_pool *pool)
{
    while (pool->next < pool->count) {
        uint32_t index = (uint32_t)((uint64_t)pool->next++ * pool->step % pool->count);
        pthread_mutex_unlock(&pool->mutex);
        pool->task(pool->context, index);
        pthread_mutex_lock(&pool->mutex);
        pool->total++;
        if (++pool->finished == pool->count)
            pthread_cond_broadcast(&pool->done);
    }
}

static void *thread_main(void *user)
{
    task_pool *pool = user;
    pthread_mutex_lock(&pool->mutex);
    while (!pool->closing) {
        work(pool);
        if (!pool->closing)
            pthread_cond_wait(&pool->work, &pool->mutex);
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

task_pool *task_pool_create(uint32_t threads)
{
    task_pool *pool = calloc(1, sizeof *pool);
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    pool->threads = calloc(threads, sizeof *pool->threads);
    while (pool->thread_count + 1 < threads &&
           pthread_create(&pool->threads[pool->thread_count], NULL, thread_main, pool) == 0)
        pool->thread_count++;
    return pool;
}

void task_pool_destroy(task_pool *pool)
{
    pthread_mutex_lock(&pool->mutex);
    pool->closing = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->thread_count; i++)
        pthread_join(pool->threads[i], NULL);
    pthread_cond_destroy(&pool->work);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->mutex);
    free(pool->threads);
    free(pool);
}

void task_pool_run(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                   void *context)
{
    task_pool *pool = user;
    pthread_mutex_lock(&pool->mutex);
    pool->task = task;
    pool->context = context;
    pool->next = pool->finished = 0;
    pool->step = count * 5 / 8 + 1;
    while (gcd(pool->step, count) != 1)
        pool->step++;
    pool->count = count;
    pthread_cond_broadcast(&pool->work);
    work(pool);
    while (pool->finished < pool->count)
        pthread_cond_wait(&pool->done, &pool->mutex);
    pool->count = pool->next = 0;
    pthread_mutex_unlock(&pool->mutex);
}

void task_pool_yield(void *pool)
{
    (void)pool;
    sched_yield();
}

uint64_t task_pool_tasks(const task_pool *pool)
{
    return pool->total;
}
