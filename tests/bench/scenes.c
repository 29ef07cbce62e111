// SPDX-License-Identifier: MIT
// scenes.c: whether every ready scene keeps its rate: CPU ms of each of its first 600 ticks on one
// thread, nobody asleep who does not sleep by the scene, once alone and, where it has players, once
// with all of them, who steer, pull, push and jump. Next to it, the time that a tick has. A world's
// every run does the same work, so a tick's time is the least of several runs: what other programs
// on the machine add is no part of it.
//
//     scenes [--scene NAME] [--ticks N] [--runs N] [--trace]
//
// With --trace a line for every tick goes to stderr.
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "foliot/foliot.h"

#define PLAYERS_MAX 16 // who act; a scene may admit more
#define ACT_TICKS 20

typedef struct options {
    const char *scene; // NULL: all
    uint32_t ticks, runs;
    bool trace;
} options;

static bool failed;

// The inputs of a scene's players at this tick. Returns their number.
static uint32_t inputs_of(uint32_t players, uint32_t tick, foliot_input *inputs)
{
    static const uint16_t buttons[4] = {FOLIOT_BUTTON_PULL, FOLIOT_BUTTON_PUSH, FOLIOT_BUTTON_JUMP,
                                        0};
    if (tick % ACT_TICKS != 0)
        return 0;
    for (uint32_t p = 0; p < players; p++) {
        uint32_t turn = tick / ACT_TICKS;
        int8_t push = (int8_t)((turn * 37 + p * 101) % 255 - 127);
        inputs[p] = (foliot_input){
            .player = p, .sequence = turn + 1, .axes = {push, (int8_t)-push, 0, push}};
        inputs[p].buttons = buttons[(turn + p) % 4];
        inputs[p].kind = tick == 0 ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_CONTROL;
    }
    return players;
}

static void run_once(const foliot_scene *scene, uint32_t players, uint32_t ticks, double *least)
{
    foliot_world *world;
    foliot_input inputs[PLAYERS_MAX];
    if (foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        abort();
    for (uint32_t t = 0; t < ticks; t++) {
        uint32_t count = inputs_of(players, t, inputs);
        double begin = clock_process_s();
        if (foliot_world_step(world, inputs, count, NULL) != FOLIOT_STATUS_OK)
            abort();
        double ms = (clock_process_s() - begin) * 1e3;
        least[t] = ms < least[t] ? ms : least[t];
    }
    foliot_world_destroy(world);
}

static void report(const char *name, uint32_t players, double *ms, const options *o, double budget)
{
    char text[96], who[32] = "";
    if (players)
        snprintf(who, sizeof who, ", %u players", players);
    double median = bench_median(ms, o->ticks), worst = ms[o->ticks - 1]; // sorted now
    const struct {
        const char *what;
        double value;
    } rows[] = {{"median", median}, {"p99", ms[(o->ticks - 1) * 99 / 100]}, {"worst", worst}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        snprintf(text, sizeof text, "%s%s: %s", name, who, rows[k].what);
        bench_report("scenes", text, rows[k].value, "ms/tick, CPU", "time of a tick", budget);
    }
}

static void measure(const char *name, const foliot_scene *scene, uint32_t players, const options *o)
{
    double *ms = malloc(sizeof *ms * o->ticks);
    for (uint32_t t = 0; t < o->ticks; t++)
        ms[t] = 1e9;
    for (uint32_t run = 0; run < o->runs; run++)
        run_once(scene, players, o->ticks, ms);
    for (uint32_t t = 0; t < o->ticks && o->trace; t++)
        fprintf(stderr, "%s %u %u %.3f\n", name, players, t, ms[t]);
    report(name, players, ms, o, 1e3 / (scene->pace_hz > 0 ? scene->pace_hz : 60));
    free(ms);
}

static void measure_file(const char *file, const options *o)
{
    char name[64];
    foliot_scene *scene;
    foliot_error error;
    snprintf(name, sizeof name, "%.*s", (int)(strlen(file) - strlen("scenes/.yaml")),
             file + strlen("scenes/"));
    if (o->scene && strcmp(o->scene, name) != 0)
        return;
    if (foliot_scene_read(file, &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "scenes: %s\n", error.text);
        failed = true;
        return;
    }
    uint32_t players = scene->players.limit < PLAYERS_MAX ? scene->players.limit : PLAYERS_MAX;
    measure(name, scene, 0, o);
    if (players)
        measure(name, scene, players, o);
    foliot_scene_destroy(scene);
}

int main(int argc, char **argv)
{
    options o = {.ticks = 600, .runs = 3};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--trace") == 0)
            o.trace = true;
        else if (i + 1 < argc && strcmp(argv[i], "--scene") == 0)
            o.scene = argv[++i];
        else if (i + 1 < argc && strcmp(argv[i], "--ticks") == 0)
            o.ticks = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--runs") == 0)
            o.runs = (uint32_t)strtoul(argv[++i], NULL, 10);
        else
            o.ticks = 0;
    }
    if (o.ticks == 0 || o.runs == 0) {
        fprintf(stderr, "usage: scenes [--scene NAME] [--ticks N] [--runs N] [--trace]\n");
        return 2;
    }
    glob_t files;
    if (glob("scenes/*.yaml", 0, NULL, &files) != 0) {
        fprintf(stderr, "scenes: no scenes/*.yaml here\n");
        return 1;
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        if (o.scene || !strstr(files.gl_pathv[i], "city")) // it takes long; `interest` has it
            measure_file(files.gl_pathv[i], &o);
    globfree(&files);
    return failed;
}
