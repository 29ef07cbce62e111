// SPDX-License-Identifier: MIT
// history.c: what the past costs, for the 901 cubes of the ready scene: to keep a tick, where a few
// cubes move and where all do; a ray into the past at a tick that was not asked for before, and one
// more at the same tick, beside a ray into the present; and what a keyframe holds.
#include "../support/bench.h"
#include "foliot/foliot.h"
#include "foliot/history.h"
#include "foliot/query.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>

#define RUNS 15
#define TIMES 240
#define TICKS 60

static foliot_history *history;
static foliot_world *worlds[TICKS]; // of ticks in a row, so that keeping alone is timed
static uint32_t hits;

// The cubes: at rest but for the player and what it touches, or all awake and drawn together.
static void fill_worlds(bool all)
{
    foliot_scene *scene;
    foliot_scene_error error;
    foliot_world *world = NULL;
    if (foliot_scene_read("scenes/cubes.yaml", &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "history: %s\n", error.message);
        exit(1);
    }
    scene->sleep = !all;
    scene->players.limit = 1;
    demand(foliot_world_create(scene, &world));
    foliot_history_destroy(history);
    demand(foliot_history_create(scene, TICKS, &history));
    foliot_scene_destroy(scene);
    const foliot_input inputs[] = {{.sequence = 1, .kind = FOLIOT_INPUT_JOIN},
                                   {.sequence = 2,
                                    .kind = FOLIOT_INPUT_CONTROL,
                                    .axes = {all ? 0 : 100},
                                    .buttons = all ? FOLIOT_BUTTON_PULL : 0}};
    demand(foliot_world_step(world, inputs, 2, NULL));
    for (int i = 0; i < 180; i++)
        demand(foliot_world_step(world, NULL, 0, NULL));
    for (int i = 0; i < TICKS; i++) {
        size_t bytes = foliot_world_get_bytes(world);
        if (!worlds[i])
            worlds[i] = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, bytes);
        if (!worlds[i])
            exit(1);
        foliot_world_copy(worlds[i], world);
        demand(foliot_world_step(world, NULL, 0, NULL));
    }
    foliot_world_destroy(world);
}

static void keep_all(void)
{
    for (int i = 0; i < TICKS; i++)
        demand(foliot_history_append(history, worlds[i]));
}

// Over the heap, from above and along it, by turns.
static void cast(const foliot_world *world, int i)
{
    const double from[3] = {-12, (i % 13) - 6.0, 0.6}, direction[3] = {1, 0.02 * (i % 7), 0.01};
    foliot_query_hit hit;
    hits += foliot_world_cast_ray(world, from, direction, 40, NULL, &hit);
}

static void cast_now(void)
{
    for (int i = 0; i < TIMES; i++)
        cast(worlds[TICKS - 1], i);
}

static void cast_past(void)
{
    uint64_t oldest = foliot_history_get_oldest(history);
    for (int i = 0; i < TIMES; i++)
        cast(foliot_history_view(history, (double)(oldest + (uint32_t)(i * 7 % 58)) + 0.37), i);
}

static void cast_again(void)
{
    const foliot_world *view =
        foliot_history_view(history, (double)foliot_history_get_newest(history) - 9.63);
    for (int i = 0; i < TIMES; i++)
        cast(view, i);
}

// Middle of the runs, in us a time.
static double time_of(void (*work)(void), int times)
{
    double runs[RUNS];
    for (int run = 0; run < RUNS; run++) {
        double begin = bench_now();
        work();
        runs[run] = (bench_now() - begin) / times * 1e6;
    }
    return bench_median(runs, RUNS);
}

static void report(const char *what, bool all, double value, const char *unit)
{
    char name[96];
    snprintf(name, sizeof name, "901 cubes, %s, %s", all ? "all move" : "few move", what);
    bench_report("history", name, value, unit, NULL, 0);
}

int main(void)
{
    for (int all = 0; all < 2; all++) {
        size_t length = 0;
        fill_worlds(all);
        // The first tick of each pass begins anew, and is one of sixty.
        report("keep a tick", all, time_of(keep_all, TICKS), "us");
        report("ray at another tick", all, time_of(cast_past, TIMES), "us");
        report("ray at the same tick", all, time_of(cast_again, TIMES), "us");
        report("ray now", all, time_of(cast_now, TIMES), "us");
        demand(foliot_history_capture(history, NULL, 0, &length));
        report("60 ticks in a keyframe", all, (double)length / 1024, "KiB");
    }
    if (hits == 0)
        return 1;
    for (int i = 0; i < TICKS; i++)
        free(worlds[i]);
    foliot_history_destroy(history);
    return 0;
}
