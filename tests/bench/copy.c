// SPDX-License-Identifier: MIT
// copy.c: what a rollback costs: a copy of a world's state, the same as bytes, a digest of it, and
// the way back, for the 900 cubes of the ready scene and the player who has drawn a heap of them
// together. Nobody sleeps. A plain memcpy of the whole block is timed too.
#include "../support/bench.h"
#include "foliot/foliot.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 15
#define TIMES 200

static foliot_world *world;
static foliot_digest last; // so that it is made
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
    demand(foliot_world_capture(world, bytes, length, &written));
}
static void restore(void)
{
    demand(foliot_world_restore(block, bytes, length));
}

static void digest(void)
{
    last = foliot_world_get_digest(world);
}

// Two seconds after the player began to draw the cubes near.
static foliot_world *cubes_in_play(uint32_t *bodies)
{
    foliot_scene *scene;
    foliot_error error;
    foliot_world *made = NULL;
    if (foliot_scene_read("scenes/cubes.yaml", &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "copy: %s\n", error.text);
        exit(1);
    }
    scene->sleep = false;
    scene->players.limit = 1;
    if (foliot_world_create(scene, &made, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    const foliot_input inputs[] = {
        {.sequence = 1, .kind = FOLIOT_INPUT_JOIN},
        {.sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .buttons = FOLIOT_BUTTON_PULL}};
    demand(foliot_world_step(made, inputs, 2, NULL));
    for (int i = 0; i < 180; i++)
        demand(foliot_world_step(made, NULL, 0, NULL));
    *bodies = scene->body_count + 1;
    foliot_scene_destroy(scene);
    return made;
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

static void report(const char *what, double value, const char *unit)
{
    char name[64];
    snprintf(name, sizeof name, "901 cubes, %s", what);
    bench_report("copy", name, value, unit, NULL, 0);
}

int main(void)
{
    uint32_t bodies;
    world = cubes_in_play(&bodies);
    size = foliot_world_get_bytes(world);
    demand(foliot_world_capture(world, NULL, 0, &length));
    block = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, size);
    bytes = calloc(1, size);
    if (!block || !bytes)
        return 1;
    report("state", (double)length / bodies, "bytes a body");
    report("in memory", (double)size / bodies, "bytes a body");
    double plain = median_of(copy_bytes);
    bench_report("copy", "901 cubes, copy", median_of(copy_world), "us", "memcpy of the block",
                 plain);
    report("capture", median_of(capture), "us");
    report("digest", median_of(digest), "us");
    foliot_world_copy(block, world);
    report("restore", median_of(restore), "us");
    free(block);
    free(bytes);
    foliot_world_destroy(world);
    return 0;
}
