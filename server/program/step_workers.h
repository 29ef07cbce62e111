// SPDX-License-Identifier: MIT
// step_workers.h: threads that step sessions: each takes the next step that waits, so that the
// sessions share all of them, and one that is slow delays nobody but itself.
#ifndef FOLIOT_SERVER_STEP_WORKERS_H
#define FOLIOT_SERVER_STEP_WORKERS_H

#include <stdbool.h>
#include <stdint.h>

#define FOLIOT__STEP_WORKERS_MAX 256

typedef struct foliot__step_workers foliot__step_workers;

uint32_t foliot__step_workers_default(void); // as many as there are processors, at least 2
// `finished` is called on a worker, soon after steps have ended: once for several that were short.
// NULL: no memory for the threads, or too many.
foliot__step_workers *foliot__step_workers_create(uint32_t count, void (*finished)(void *user),
                                                  void *user);
// Ends the threads after everything that waits has run.
void foliot__step_workers_destroy(foliot__step_workers *workers);
// From one thread: calls run(job) on a worker; or at once, if it never took longer lately than
// waking one would, and little time has gone so since the last wake. Workers may sleep on until
// they are woken: once for all steps that begin together.
void foliot__step_workers_run(foliot__step_workers *workers, void (*run)(void *job), void *job);
void foliot__step_workers_wake(foliot__step_workers *workers);
// From the same thread: how long each run took that has ended since the last call.
void foliot__step_workers_drain_durations(foliot__step_workers *workers,
                                          void (*each)(void *user, uint64_t nanoseconds),
                                          void *user);

#endif
