// SPDX-License-Identifier: MIT
// Goal: threads that step sessions run everything once, report it, and share fairly: however many
// jobs are slow, quick ones run in parallel. Method: jobs that wait until the test lets them go;
// nothing is timed but by how long a job was slow.
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include <uv.h>

#include "../../server/program/step_workers.h"

#define JOBS 2000
#define SLOW_JOBS 16
#define WAIT_MS 20000 // a machine may be busy

typedef struct gate {
    uv_mutex_t mutex;
    uv_cond_t changed;
    bool open;
    uint32_t waiting, passed, reports;
} gate;

static gate hall; // of the test that runs

static void enter_hall(bool open)
{
    hall = (gate){.open = open};
    uv_mutex_init(&hall.mutex);
    uv_cond_init(&hall.changed);
}

static void leave_hall(void)
{
    uv_cond_destroy(&hall.changed);
    uv_mutex_destroy(&hall.mutex);
}

static void pass_gate(void *job)
{
    uv_mutex_lock(&hall.mutex);
    hall.waiting++;
    uv_cond_broadcast(&hall.changed);
    while (job && !hall.open)
        uv_cond_wait(&hall.changed, &hall.mutex);
    hall.waiting--;
    hall.passed++;
    uv_cond_broadcast(&hall.changed);
    uv_mutex_unlock(&hall.mutex);
}

static void wait_for(const uint32_t *count, uint32_t least)
{
    uint64_t end = uv_hrtime() + (uint64_t)WAIT_MS * 1000000u;
    uv_mutex_lock(&hall.mutex);
    while (*count < least && uv_hrtime() < end)
        uv_cond_timedwait(&hall.changed, &hall.mutex, 100000000u);
    check_ge(*count, least);
    uv_mutex_unlock(&hall.mutex);
}

static void report(void *user)
{
    assert_ptr_equal(user, &hall);
    uv_mutex_lock(&hall.mutex);
    hall.reports++;
    uv_cond_broadcast(&hall.changed);
    uv_mutex_unlock(&hall.mutex);
}

static void add_duration(void *user, uint64_t nanoseconds)
{
    uint64_t *sum = user;
    sum[0]++;
    sum[1] += nanoseconds;
}

static atomic_uint runs[JOBS];

static void count_run(void *job)
{
    atomic_fetch_add((atomic_uint *)job, 1);
    uv_mutex_lock(&hall.mutex);
    hall.passed++;
    uv_cond_broadcast(&hall.changed);
    uv_mutex_unlock(&hall.mutex);
}

TEST(every_job_runs_once_and_is_timed)
{
    uint64_t sum[2] = {0};
    enter_hall(true);
    foliot__step_workers *workers = foliot__step_workers_create(3, report, &hall);
    assert_non_null(workers);
    for (uint32_t round = 1; round <= 5; round++) {
        for (uint32_t i = 0; i < JOBS; i++)
            foliot__step_workers_run(workers, count_run, &runs[i]);
        foliot__step_workers_wake(workers);
        wait_for(&hall.passed, round * JOBS);
        foliot__step_workers_drain_durations(workers, add_duration, sum);
    }
    wait_for(&hall.reports, 1);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(atomic_load(&runs[i]), 5);
    for (uint32_t i = 0; i < JOBS; i++) // these run before the threads end
        foliot__step_workers_run(workers, count_run, &runs[i]);
    foliot__step_workers_destroy(workers);
    check_le(sum[0], 5 * JOBS);
    check_gt(sum[1], 0);
    for (uint32_t i = 0; i < JOBS; i++)
        assert_int_equal(atomic_load(&runs[i]), 6);
    leave_hall();
}

static void be_slow(void *job)
{
    struct timespec ms = {.tv_nsec = 20000000};
    (void)job;
    nanosleep(&ms, NULL);
    pass_gate(NULL);
}

TEST(slow_jobs_leave_a_worker_to_quick_ones)
{
    char slow[SLOW_JOBS][64];
    enter_hall(false);
    memset(slow, 0, sizeof slow);
    foliot__step_workers *workers = foliot__step_workers_create(2, report, &hall);
    assert_non_null(workers);
    for (uint32_t i = 0; i < SLOW_JOBS; i++) // they are known as slow from now on
        foliot__step_workers_run(workers, be_slow, slow[i]);
    foliot__step_workers_wake(workers);
    uint64_t end = uv_hrtime() + (uint64_t)WAIT_MS * 1000000u, sum[2] = {0};
    while (sum[0] < SLOW_JOBS && uv_hrtime() < end) {
        uv_sleep(1);
        foliot__step_workers_drain_durations(workers, add_duration, sum);
    }
    check_eq(sum[0], SLOW_JOBS);
    check_ge(sum[1], SLOW_JOBS * 20000000u);
    check_ge(hall.reports, 1);
    for (uint32_t i = 0; i < SLOW_JOBS; i++)
        foliot__step_workers_run(workers, pass_gate, slow[i]);
    foliot__step_workers_wake(workers);
    wait_for(&hall.waiting, 1); // and would wait for ever
    for (uint32_t i = 0; i < 100; i++) {
        foliot__step_workers_run(workers, count_run, &runs[i]);
        foliot__step_workers_wake(workers);
    }
    wait_for(&hall.passed, SLOW_JOBS + 100);
    assert_int_equal(hall.waiting, 1);
    uv_mutex_lock(&hall.mutex);
    hall.open = true;
    uv_cond_broadcast(&hall.changed);
    uv_mutex_unlock(&hall.mutex);
    wait_for(&hall.passed, 2 * SLOW_JOBS + 100);
    foliot__step_workers_destroy(workers);
    leave_hall();
}

TEST(one_worker_runs_slow_jobs_too)
{
    char slow[64] = "";
    enter_hall(true);
    foliot__step_workers *workers = foliot__step_workers_create(1, report, &hall);
    assert_non_null(workers);
    for (uint32_t round = 1; round <= 3; round++) {
        foliot__step_workers_run(workers, be_slow, slow);
        foliot__step_workers_wake(workers);
        wait_for(&hall.passed, round);
    }
    foliot__step_workers_destroy(workers);
    leave_hall();
}

static pthread_t counted_by;

static void note_thread(void *job)
{
    counted_by = pthread_self();
    atomic_fetch_add((atomic_uint *)job, 1);
}

TEST(quick_jobs_run_at_once)
{
    static atomic_uint counted;
    enter_hall(true);
    foliot__step_workers *workers = foliot__step_workers_create(2, report, &hall);
    assert_non_null(workers);
    uint64_t end = uv_hrtime() + (uint64_t)WAIT_MS * 1000000u;
    pthread_t here = pthread_self();
    for (uint32_t i = 0; !pthread_equal(counted_by, here) && uv_hrtime() < end; i++) {
        foliot__step_workers_run(workers, note_thread, &counted);
        foliot__step_workers_wake(workers);
        while (atomic_load(&counted) <= i && uv_hrtime() < end)
            uv_sleep(0);
    }
    check_ge(atomic_load(&counted), 2); // the first time nothing was known
    assert_true(pthread_equal(counted_by, here));
    foliot__step_workers_destroy(workers);
    leave_hall();
}
