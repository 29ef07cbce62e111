// SPDX-License-Identifier: MIT
// digest.c: what a digest of the full state costs: microseconds for 256 bodies of 13 doubles, next
// to libxxhash's own XXH3-128 over as many bytes in one piece, and its share of a step. A step and
// its digest are timed in turn in the same run; cold rows hash a world that fell out of the caches.
#include "../support/bench.h"
#include "../support/crowd.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#define RUNS 101

static volatile uint64_t sink;

static double time_digest(const foliot_world *world, int times)
{
    double begin = bench_now();
    for (int i = 0; i < times; i++)
        sink = foliot_world_get_digest(world).low;
    return (bench_now() - begin) / times * 1e6;
}

static double time_xxh3(const void *bytes, size_t length, int times)
{
    double begin = bench_now();
    for (int i = 0; i < times; i++)
        sink = XXH3_128bits(bytes, length).low64;
    return (bench_now() - begin) / times * 1e6;
}

static void bare(uint32_t count)
{
    foliot_world *world = crowd_tumbling(count);
    size_t length = (size_t)count * 13 * sizeof(double);
    void *bytes = aligned_alloc(64, (length + 63) / 64 * 64);
    memset(bytes, 1, length);
    double ours[RUNS], theirs[RUNS];
    int times = (int)(40000 / count) + 1; // short, so that few of the runs are interrupted
    for (int run = 0; run < RUNS; run++) {
        ours[run] = time_digest(world, times);
        theirs[run] = time_xxh3(bytes, length, times);
    }
    char name[64];
    snprintf(name, sizeof name, "tumbling-%u per 256 bodies", count);
    bench_report("digest", name, bench_median(ours, RUNS) * 256 / count, "us",
                 "libxxhash XXH3_128bits, same bytes in one piece",
                 bench_median(theirs, RUNS) * 256 / count);
    free(bytes);
    foliot_world_destroy(world);
}

// The digest's time as a share of step and digest together, ticks in turn, after `settle` ticks.
static void share(const char *name, foliot_world *world, int settle, int ticks)
{
    double steps[512], digests[512];
    for (int i = 0; i < settle; i++)
        demand(foliot_world_step(world, NULL, 0, NULL));
    for (int i = 0; i < ticks; i++) {
        double begin = bench_now();
        demand(foliot_world_step(world, NULL, 0, NULL));
        double stepped = bench_now();
        sink = foliot_world_get_digest(world).low;
        digests[i] = (bench_now() - stepped) * 1e6;
        steps[i] = (stepped - begin) * 1e6;
    }
    double step = bench_median(steps, (uint32_t)ticks),
           digest = bench_median(digests, (uint32_t)ticks);
    char full[96];
    snprintf(full, sizeof full, "%s share of a step", name);
    bench_report("digest", full, 100 * digest / step, "%", NULL, 0);
    snprintf(full, sizeof full, "%s digest", name);
    bench_report("digest", full, digest, "us", "the step", step);
    foliot_world_destroy(world);
}

int main(void)
{
    bare(256);
    bare(1024);
    bare(20000);
    share("n-body 256", crowd_cluster(256), 5, 301);
    share("n-body 1000", crowd_cluster(1000), 5, 301);
    share("spheres 901", crowd_spheres(901), 120, 301);
    share("spheres 5000", crowd_spheres(5000), 60, 61);
    return 0;
}
