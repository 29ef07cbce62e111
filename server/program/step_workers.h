// SPDX-License-Identifier: MIT
// step_workers.h: threads that step sessions: each takes the next queued step, so that the sessions
// share all threads, and a slow session delays only itself.
#ifndef FOLIOT_SERVER_STEP_WORKERS_H
#define FOLIOT_SERVER_STEP_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__STEP_WORKERS_MAX 256

typedef struct foliot__step_workers foliot__step_workers;

uint32_t foliot__step_workers_default(void); // as many as there are processors, at least 2
// `finished` is called on a worker, soon after steps have ended: once for several short ones. NULL:
// no memory for the threads, or too many.
foliot__step_workers *foliot__step_workers_create(uint32_t count, void (*finished)(void *user),
                                                  void *user);
// Ends the threads after all queued jobs have run.
void foliot__step_workers_destroy(foliot__step_workers *workers);
// From one thread: calls run(job) on a worker; or at once, if the job lately took no longer than a
// wake-up, and few such jobs ran since the last wake-up. Workers may sleep until they are woken:
// once for all steps that begin together.
void foliot__step_workers_run(foliot__step_workers *workers, void (*run)(void *job), void *job);
void foliot__step_workers_wake(foliot__step_workers *workers);
// From the same thread: the duration of each run that has ended since the last call.
void foliot__step_workers_drain_durations(foliot__step_workers *workers,
                                          void (*each)(void *user, uint64_t nanoseconds),
                                          void *user);

// -- scheduling priorities of the loop and of steps on one processor. No privilege is needed.

// The calling thread runs seldom and briefly, and should run soon after it is woken.
void foliot__priority_loop(void);
// The calling thread steps worlds: it yields to others. May be called repeatedly.
void foliot__priority_step(void);

// -- threads for a step's parallel work: runs task(context, i) for every i, on all of them.

typedef struct foliot__pool foliot__pool;

foliot__pool *
foliot__pool_create(uint32_t threads); // NULL: no memory for them, or too many threads
void foliot__pool_destroy(foliot__pool *pool);
// The `run` function of foliot_host; `pool` is its user. While another call runs, it runs alone.
void foliot__pool_run(void *pool, uint32_t count, void (*task)(void *context, uint32_t index),
                      void *context);
void foliot__pool_yield(void *pool); // foliot_host.yield

#endif
