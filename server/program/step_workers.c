// SPDX-License-Identifier: MIT
// step_workers.c: one queue for all workers, in the order of arrival. Steps that took long lately
// wait in a separate queue, and never occupy the last worker: however many sessions are slow, fast
// ones are stepped meanwhile. Knows nothing of sessions except how long their steps took.
#include "step_workers.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uv.h>

#include "base/assert.h"

#define JOBS_MAX 4096 // that wait in a queue: a session has two at most, a step and a search
#define SETS 1024     // of durations that are remembered by job ...
#define WAYS 8        // ... that many each
#define FORGETS 64    // of what a long run was more than a short one, a run forgets this part
#define SLOW_NS 2000000u
#define HERE_NS 50000u      // a step that a worker is not woken for
#define HERE_NS_MAX 250000u // of all those together
#define REPORT_NS 200000u   // finished steps wait this long for others, to be collected together
#define TOOK_MAX (4 * JOBS_MAX)
#define WAKE_AT 8 // jobs that wait

typedef struct job {
    void (*run)(void *job);
    void *job;
} job;

typedef struct cost {
    const void *key;
    uint64_t ns;
} cost;

typedef struct queue {
    uint32_t first, count;
    job jobs[JOBS_MAX]; // ring
} queue;

struct foliot__step_workers {
    uint32_t count;
    uv_thread_t threads[FOLIOT__STEP_WORKERS_MAX];
    uv_mutex_t mutex;
    uv_cond_t work;
    queue quick, slow;
    uint32_t idle, slow_running, slow_max;
    bool closing;
    cost costs[SETS][WAYS];
    uint64_t *took_ns, *taken_ns; // of runs that have ended; the other half of them is being read
    uint32_t took_count;          // at most all that waited
    uint64_t here_ns;             // of jobs that were run at once, since the last wake
    void (*finished)(void *user);
    void *user;
};

uint32_t foliot__step_workers_default(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 2;
    return count < 2                          ? 2
           : count > FOLIOT__STEP_WORKERS_MAX ? FOLIOT__STEP_WORKERS_MAX
                                              : (uint32_t)count;
}

// The slot of the job's duration; 0: it is new. If there are more jobs than slots, the fastest is
// forgotten: this costs it the wake-up of a worker.
static uint64_t *cost_of(foliot__step_workers *w, const void *key)
{
    uint64_t hash = ((uint64_t)(uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u;
    cost *set = w->costs[(hash >> 32) % SETS], *least = set;
    for (uint32_t i = 0; i < WAYS; i++) {
        if (set[i].key == key)
            return &set[i].ns;
        least = set[i].ns < least->ns ? &set[i] : least;
    }
    *least = (cost){.key = key};
    return &least->ns;
}

// A long run is remembered for seconds: a job that is slow now and then counts as slow.
static void note_cost(foliot__step_workers *w, const void *key, uint64_t took_ns)
{
    uint64_t *kept = cost_of(w, key), less = *kept / FORGETS;
    FOLIOT_ASSERT(w->took_count < TOOK_MAX);
    w->took_ns[w->took_count++] = took_ns;
    *kept = took_ns >= *kept ? took_ns : *kept - less > took_ns ? *kept - less : took_ns;
}

static bool has_work(const foliot__step_workers *w)
{
    return w->quick.count > 0 ||
           (w->slow.count > 0 && (w->slow_running < w->slow_max || w->closing));
}

static void work(void *user)
{
    foliot__step_workers *w = user;
    uint64_t unreported_ns = 0; // since when steps have ended that were not; 0: none
    foliot__priority_step();
    uv_mutex_lock(&w->mutex);
    for (;;) {
        if (has_work(w)) {
            // Drops the lock and takes it again.
            bool slow = w->quick.count == 0;
            queue *q = slow ? &w->slow : &w->quick;
            job next = q->jobs[q->first];
            q->first = (q->first + 1) % JOBS_MAX;
            q->count--;
            w->slow_running += slow;
            if (has_work(w) && w->idle > 0)
                uv_cond_signal(&w->work); // the woken worker wakes the next one
            uv_mutex_unlock(&w->mutex);
            uint64_t begun_ns = uv_hrtime();
            next.run(next.job);
            uint64_t ended_ns = uv_hrtime();
            if (unreported_ns == 0)
                unreported_ns = ended_ns;
            if (ended_ns - unreported_ns >= REPORT_NS || ended_ns - begun_ns >= REPORT_NS) {
                unreported_ns = 0;
                w->finished(w->user);
            }
            uv_mutex_lock(&w->mutex);
            w->slow_running -= slow;
            note_cost(w, next.job, ended_ns - begun_ns);
        } else if (unreported_ns) {
            unreported_ns = 0;
            uv_mutex_unlock(&w->mutex);
            w->finished(w->user);
            uv_mutex_lock(&w->mutex);
        } else if (w->closing) {
            break;
        } else {
            w->idle++;
            uv_cond_wait(&w->work, &w->mutex);
            w->idle--;
        }
    }
    uv_mutex_unlock(&w->mutex);
}

foliot__step_workers *foliot__step_workers_create(uint32_t count, void (*finished)(void *user),
                                                  void *user)
{
    foliot__step_workers *w = calloc(1, sizeof *w);
    uint64_t *took_ns = w ? calloc(2 * TOOK_MAX, sizeof *took_ns) : NULL;
    if (!took_ns) {
        free(w);
        return NULL;
    }
    w->took_ns = took_ns;
    w->taken_ns = took_ns + TOOK_MAX;
    FOLIOT_ASSERT(count > 0 && count <= FOLIOT__STEP_WORKERS_MAX);
    FOLIOT_ASSERT(uv_mutex_init(&w->mutex) == 0); // on Linux neither needs anything
    FOLIOT_ASSERT(uv_cond_init(&w->work) == 0);
    w->finished = finished;
    w->user = user;
    w->slow_max = count > 1 ? count - 1 : 1;
    while (w->count < count && uv_thread_create(&w->threads[w->count], work, w) == 0)
        w->count++;
    if (w->count == count)
        return w;
    foliot__step_workers_destroy(w);
    return NULL;
}

void foliot__step_workers_destroy(foliot__step_workers *w)
{
    if (!w)
        return;
    uv_mutex_lock(&w->mutex);
    w->closing = true;
    uv_cond_broadcast(&w->work);
    uv_mutex_unlock(&w->mutex);
    for (uint32_t i = 0; i < w->count; i++)
        uv_thread_join(&w->threads[i]);
    uv_cond_destroy(&w->work);
    uv_mutex_destroy(&w->mutex);
    free(w->took_ns < w->taken_ns ? w->took_ns : w->taken_ns); // one block
    free(w);
}

static bool enqueue(foliot__step_workers *w, job added)
{
    queue *q = *cost_of(w, added.job) >= SLOW_NS ? &w->slow : &w->quick;
    bool fits = q->count < JOBS_MAX;
    if (fits)
        q->jobs[(q->first + q->count++) % JOBS_MAX] = added;
    if (q->count == WAKE_AT && w->idle > 0)
        uv_cond_signal(&w->work);
    return fits;
}

void foliot__step_workers_run(foliot__step_workers *w, void (*run)(void *job), void *added)
{
    uv_mutex_lock(&w->mutex);
    uint64_t cost_ns = *cost_of(w, added);
    bool here = cost_ns > 0 && cost_ns <= HERE_NS && w->here_ns + cost_ns <= HERE_NS_MAX;
    here = here || !enqueue(w, (job){run, added});
    uv_mutex_unlock(&w->mutex);
    if (!here)
        return;
    uint64_t begun_ns = uv_hrtime();
    run(added);
    uint64_t took_ns = uv_hrtime() - begun_ns;
    uv_mutex_lock(&w->mutex);
    w->here_ns += took_ns;
    note_cost(w, added, took_ns);
    uv_mutex_unlock(&w->mutex);
}

void foliot__step_workers_wake(foliot__step_workers *w)
{
    uv_mutex_lock(&w->mutex);
    w->here_ns = 0;
    if (has_work(w) && w->idle > 0)
        uv_cond_signal(&w->work);
    uv_mutex_unlock(&w->mutex);
}

void foliot__step_workers_drain_durations(foliot__step_workers *w,
                                          void (*each)(void *user, uint64_t nanoseconds),
                                          void *user)
{
    uv_mutex_lock(&w->mutex);
    uint64_t *took_ns = w->took_ns;
    uint32_t count = w->took_count;
    w->took_ns = w->taken_ns;
    w->taken_ns = took_ns;
    w->took_count = 0;
    uv_mutex_unlock(&w->mutex);
    for (uint32_t i = 0; i < count; i++)
        each(user, took_ns[i]);
}

// -- priorities. If the system refuses a call, the program continues as before.
//
// Without them, a datagram that comes while a long step holds the loop's processor waits for the
// end of the step's slice, 3 ms and more. A shorter slice lets the scheduler of Linux 6.12 and
// later take the processor from the step at once, if the loop's thread has run less than its share;
// the step's lower weight sees to that.

#define SLICE_NS 100000u // the shortest that there is
#define STEP_NICE 5
#define RESET_ON_FORK 1u // threads that are made later are as others

// As in linux/sched/types.h, which older headers of glibc clash with.
typedef struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
} attributes;

void foliot__priority_loop(void)
{
    attributes a = {.size = sizeof a,
                    .flags = RESET_ON_FORK,
                    .nice = getpriority(PRIO_PROCESS, 0),
                    .runtime = SLICE_NS};
    (void)syscall(SYS_sched_setattr, 0, &a, 0);
}

void foliot__priority_step(void)
{
    static _Thread_local bool given;
    if (given)
        return;
    given = true;
    id_t thread = (id_t)syscall(SYS_gettid);
    int nice = getpriority(PRIO_PROCESS, thread) + STEP_NICE;
    (void)setpriority(PRIO_PROCESS, thread, nice < 19 ? nice : 19);
}

// -- the pool: workers take indices from a shared counter; the caller works too, and returns at the
// end

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
