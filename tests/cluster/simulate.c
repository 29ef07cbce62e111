// SPDX-License-Identifier: MIT
// simulate.c: the whole system under many seeds: `simulate [OPTION]... SEEDS`, where SEEDS is a
// count (from seed 1), FROM-TO, or with --seed N only this one, with a full log. Every failing seed
// prints the command that repeats it.
//   --each           a line for every seed: the digest of all that happened in it, what it
//   simulated, what that took
//   --seconds S      no seed begins later than that
//   --until-failure  nor after one has failed
//   --jobs N         processes, as many as there are processors unless given
//   --root FOLDER    of the sources, where the scenes are
// Separate processes run the seeds, so that one that crashes or hangs is a failure like any
// other.
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "pace.h"
#include "seed_run.h"

#define JOBS_MAX 64

// In place of the library's: each seed has its own.
const foliot__lockstep_limits *foliot__lockstep_limits_now(void)
{
    return &seed_limits;
}
#define SEED_CPU_S (PACE_SLOW ? 1200 : 60) // one seed that takes longer hangs

typedef struct shared {
    _Atomic uint64_t next;
    _Atomic uint64_t passed, failed;
    _Atomic uint64_t running[JOBS_MAX]; // the seed of each job, 0: none
    double end_s;                       // of the time to begin seeds in
    seed_tally tallies[JOBS_MAX];
    uint64_t digests[JOBS_MAX];
} shared;

static const char *root = ".", *program;
static bool each, until_failure;
static double seconds_max = 1e9;
static uint64_t from = 1, to;

static void print_failure(uint64_t seed, const char *why)
{
    printf("seed %llu: FAILED %s\n    repeat it: %s --seed %llu\n", (unsigned long long)seed, why,
           program, (unsigned long long)seed);
    fflush(stdout);
}

static double now_s(void)
{
    return 1e-9 * (double)clock_now_ns();
}

static double cpu_s(void)
{
    return clock_process_s();
}

// One write a line: the jobs share the output.
static void print_each(uint64_t seed, const seed_result *result, double spent_s)
{
    printf("seed %llu: %016llx%016llx, %.1f s simulated in %.0f ms, %zu KiB\n",
           (unsigned long long)seed, (unsigned long long)result->digest.high,
           (unsigned long long)result->digest.low, result->tally.simulated_s, 1e3 * spent_s,
           result->tally.bytes_max >> 10);
    fflush(stdout);
}

static void add(seed_tally *sum, const seed_tally *one)
{
#define ADD(name) sum->name += one->name;
    SEED_TALLY(ADD)
#undef ADD
    sum->simulated_s += one->simulated_s;
    if (one->bytes_max > sum->bytes_max)
        sum->bytes_max = one->bytes_max;
}

static size_t held(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

// Memory that a run does not free is a leak, except the C library's buffers of the first run.
static seed_result run_one(const seed_resources *resources, uint64_t seed, FILE *log, bool first)
{
    seed_plan plan = seed_plan_draw(seed);
    size_t before = held();
    seed_result result = seed_run_plan(resources, &plan, log);
    size_t after = held();
    if (!first && !log && result.passed && after > before) {
        result.passed = false;
        snprintf(result.why, sizeof result.why, "%zu bytes of memory are left over",
                 after - before);
    }
    return result;
}

static bool goes_on(shared *s)
{
    return now_s() < s->end_s && !(until_failure && atomic_load(&s->failed));
}

static _Noreturn void work(shared *s, int job)
{
    seed_resources resources;
    if (!seed_resources_open(&resources, root))
        _exit(1);
    bool first = true;
    for (uint64_t seed; goes_on(s) && (seed = atomic_fetch_add(&s->next, 1)) <= to; first = false) {
        atomic_store(&s->running[job], seed);
        struct rusage used;
        getrusage(RUSAGE_SELF, &used);
        struct rlimit limit = {(rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec +
                                   SEED_CPU_S,
                               RLIM_INFINITY};
        setrlimit(RLIMIT_CPU, &limit);
        double begin = cpu_s();
        seed_result result = run_one(&resources, seed, NULL, first);
        if (each)
            print_each(seed, &result, cpu_s() - begin);
        if (!result.passed)
            print_failure(seed, result.why);
        atomic_fetch_add(result.passed ? &s->passed : &s->failed, 1);
        add(&s->tallies[job], &result.tally);
        s->digests[job] += result.digest.low ^ result.digest.high; // in any order
        atomic_store(&s->running[job], 0);
    }
    seed_resources_close(&resources);
    fflush(stdout);
    exit(0);
}

static pid_t start(shared *s, int job)
{
    fflush(stdout);
    pid_t child = fork();
    if (child == 0)
        work(s, job);
    if (child < 0)
        perror("fork");
    return child;
}

// A job that died took its seed with it: that one failed, and another goes on with the rest.
static bool bury(shared *s, pid_t *jobs, int count, pid_t child, int status)
{
    for (int job = 0; job < count; job++) {
        if (jobs[job] != child)
            continue;
        jobs[job] = 0;
        uint64_t seed = atomic_load(&s->running[job]);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
            return true;
        char why[80];
        snprintf(why, sizeof why,
                 WIFSIGNALED(status) ? "died of signal %d" : "ended with status %d",
                 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        if (seed == 0)
            return false; // before its first
        print_failure(seed, why);
        atomic_fetch_add(&s->failed, 1);
        atomic_store(&s->running[job], 0);
        jobs[job] = start(s, job);
    }
    return true;
}

static void print_tally(const shared *s, int jobs, double seconds, uint64_t digest)
{
    seed_tally sum = {0};
    for (int job = 0; job < jobs; job++)
        add(&sum, &s->tallies[job]);
#define PRINT(name) printf("%-20s %llu\n", #name, (unsigned long long)sum.name);
    SEED_TALLY(PRINT)
#undef PRINT
    printf("%-20s %zu KiB\n", "memory at most", sum.bytes_max >> 10);
    printf("%-20s %016llx\n", "digest of all", (unsigned long long)digest);
    printf("%.0f s simulated in %.1f s: %.0f x real time\n", sum.simulated_s, seconds,
           sum.simulated_s / seconds);
}

static int many(int jobs)
{
    shared *s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[JOBS_MAX] = {0};
    bool fine = s != MAP_FAILED;
    if (!fine)
        return 1;
    double begin = now_s();
    s->end_s = begin + seconds_max;
    atomic_store(&s->next, from);
    for (int job = 0; job < jobs; job++)
        children[job] = start(s, job);
    int status;
    for (pid_t child; (child = wait(&status)) > 0 || (child < 0 && errno == EINTR);)
        fine = bury(s, children, jobs, child, status) && fine;
    uint64_t digest = 0;
    for (int job = 0; job < jobs; job++)
        digest += s->digests[job];
    print_tally(s, jobs, now_s() - begin, digest);
    uint64_t passed = atomic_load(&s->passed), failed = atomic_load(&s->failed);
    uint64_t begun = atomic_load(&s->next) - from;
    if (begun > to - from + 1 || (seconds_max >= 1e9 && !until_failure))
        begun = to - from + 1;
    if (passed + failed != begun || !fine)
        failed += begun - passed - failed; // never run
    printf("%llu passed, %llu failed\n", (unsigned long long)passed, (unsigned long long)failed);
    return failed > 0;
}

static int one(uint64_t seed)
{
    seed_resources resources;
    if (!seed_resources_open(&resources, root))
        return 1;
    seed_result result = run_one(&resources, seed, stdout, true);
    seed_resources_close(&resources);
    if (!result.passed)
        print_failure(seed, result.why);
    printf("digest %016llx%016llx\n%d passed, %d failed\n", (unsigned long long)result.digest.high,
           (unsigned long long)result.digest.low, result.passed, !result.passed);
    return !result.passed;
}

static bool read_seeds(const char *text)
{
    char *end;
    to = strtoull(text, &end, 10);
    if (*end == '-' && end != text) {
        from = to;
        to = strtoull(end + 1, &end, 10);
    }
    return *end == '\0' && from >= 1 && to >= from;
}

int main(int argc, char **argv)
{
    // Memory in a thread's malloc cache counts as held, so there is no such cache.
    if (!getenv("GLIBC_TUNABLES")) {
        setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
        execv("/proc/self/exe", argv);
    }
    int jobs = (int)sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t seed = 0;
    program = argv[0];
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "--seed") == 0 && more)
            seed = strtoull(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--jobs") == 0 && more)
            jobs = atoi(argv[++i]);
        else if (strcmp(argv[i], "--root") == 0 && more)
            root = argv[++i];
        else if (strcmp(argv[i], "--seconds") == 0 && more)
            seconds_max = strtod(argv[++i], NULL);
        else if (strcmp(argv[i], "--until-failure") == 0)
            until_failure = true;
        else if (strcmp(argv[i], "--each") == 0)
            each = true;
        else if (!read_seeds(argv[i]))
            to = 0;
    }
    if ((!seed && !to) || jobs < 1 || jobs > JOBS_MAX) {
        fprintf(stderr, "simulate [--jobs N] [--each] [--seconds S] [--until-failure] [--root "
                        "FOLDER] COUNT | FROM-TO | --seed N\n");
        return 2;
    }
    return seed ? one(seed) : many(jobs);
}
