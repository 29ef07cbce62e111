// SPDX-License-Identifier: MIT
// copy.c: what a rollback costs: a copy of a world's block, and of a part of it as captured bytes, with
// 901 bodies in contact. A plain memcpy of as many bytes stands beside it.
#include "../support/bench.h"
#include "../support/crowd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 31
#define TIMES 200

static foliot_world *world;
static void *block;
static uint8_t *bytes;
static size_t size, length;

static void copy_world(void)
{
    foliot_world_copy(block, world);
}
static void copy_bytes(void)
{
    memcpy(block, bytes, size);
}
static void capture(void)
{
    size_t written;
    foliot_world_capture(world, bytes, length, &written);
}
static void restore(void)
{
    foliot_world_restore(block, bytes, length);
}

static double time_of(void (*work)(void))
{
    double begin = bench_now();
    for (int i = 0; i < TIMES; i++)
        work();
    return (bench_now() - begin) / TIMES * 1e6;
}

static double median_of(void (*work)(void))
{
    double times[RUNS];
    for (int run = 0; run < RUNS; run++)
        times[run] = time_of(work);
    return bench_median(times, RUNS);
}

int main(void)
{
    world = crowd_spheres(901);
    for (int i = 0; i < 120; i++)
        foliot_world_step(world, NULL, 0, NULL);
    size = foliot_world_size(world);
    foliot_world_capture(world, NULL, 0, &length);
    block = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, size);
    bytes = calloc(1, size);
    if (!block || !bytes)
        return 1;
    bench_report("copy", "901 spheres in contact", (double)size / 1e3, "kB", NULL, 0);
    bench_report("copy", "901 spheres in contact, captured", (double)length / 1e3, "kB", NULL, 0);
    double plain = median_of(copy_bytes);
    bench_report("copy", "901 spheres, copy", median_of(copy_world), "us", "memcpy of as many bytes", plain);
    bench_report("copy", "901 spheres, capture", median_of(capture), "us", NULL, 0);
    foliot_world_copy(block, world);
    bench_report("copy", "901 spheres, restore", median_of(restore), "us", NULL, 0);
    free(block);
    free(bytes);
    foliot_world_destroy(world);
    return 0;
}
