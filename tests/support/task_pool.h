// SPDX-License-Identifier: MIT
// task_pool.h: threads that a test lends to a step. Indices are handed out in a scrambled order, so
// that results which depend on it are found out.
#ifndef FOLIOT_TESTS_TASK_POOL_H
#define FOLIOT_TESTS_TASK_POOL_H

#include <stdint.h>

typedef struct task_pool task_pool;

task_pool *task_pool_create(uint32_t threads); // the caller's thread works too
void task_pool_destroy(task_pool *pool);
// As foliot_host.run, with the pool as `user`.
void task_pool_run(void *pool, uint32_t count, void (*task)(void *context, uint32_t index),
                   void *context);
void task_pool_yield(void *pool);                // foliot_host.yield
uint64_t task_pool_tasks(const task_pool *pool); // run so far

#endif
