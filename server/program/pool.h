// SPDX-License-Identifier: MIT
// pool.h: threads for the inside of a step: runs task(context, i) for every i, on all of them.
#ifndef FOLIOT_SERVER_POOL_H
#define FOLIOT_SERVER_POOL_H

#include <stdint.h>

typedef struct foliot__pool foliot__pool;

foliot__pool *
foliot__pool_create(uint32_t threads); // NULL: no memory for them, or not so many threads
void foliot__pool_destroy(foliot__pool *pool);
// As foliot_host.run; `pool` is its user. While another call has the threads, this one runs alone.
void foliot__pool_run(void *pool, uint32_t count, void (*task)(void *context, uint32_t index),
                      void *context);
void foliot__pool_yield(void *pool); // foliot_host.yield

#endif
