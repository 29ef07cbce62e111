// SPDX-License-Identifier: MIT
// history.c: what the past costs, for the 901 cubes of the ready scene: to keep a tick, where a few
// cubes move and where all do; a ray into the past at a tick that was not asked for before, and one
// more at the same tick, next to a ray into the present; and what a keyframe holds. Then how far
// the rules' past is from what a client showed when it pressed a button: ten seeds of a round trip
// of 100 ms with jitter and loss, on a virtual clock, and one of 150 ms.
#include "../support/bench.h"
#include "foliot/foliot.h"
#include "foliot/query.h"
#include "cluster.h"
#include "status.h"
#include "slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 15
#define TIMES 240
#define TICKS 60

static foliot_history *history;
static foliot_world *worlds[TICKS]; // of ticks in a row, so that keeping alone is timed
static uint32_t hits;

// Up and in all directions, turning.
static foliot_body_definition *thrown(const foliot_scene *scene)
{
    foliot_body_definition *bodies = malloc(scene->body_count * sizeof *bodies);
    if (!bodies)
        exit(1);
    memcpy(bodies, scene->bodies, scene->body_count * sizeof *bodies);
    for (uint32_t i = 0; i < scene->body_count; i++) {
        double *v = bodies[i].velocity, *w = bodies[i].angular_velocity;
        v[0] = bodies[i].is_static ? 0 : (double)(i % 7) - 3;
        v[1] = bodies[i].is_static ? 0 : (double)(i % 5) - 2;
        v[2] = bodies[i].is_static ? 0 : 20;
        w[i % 3] = bodies[i].is_static ? 0 : 2;
    }
    return bodies;
}

// The cubes: at rest but for the player and what it touches, or all in the air.
static void fill_worlds(bool all)
{
    foliot_scene *scene;
    foliot_error error;
    foliot_world *world = NULL;
    if (foliot_scene_read("scenes/cubes.yaml", &scene, &error) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "history: %s\n", error.text);
        exit(1);
    }
    foliot_body_definition *bodies = thrown(scene);
    scene->players.limit = 1;
    if (all)
        scene->bodies = bodies;
    demand(foliot_world_create(scene, &world, NULL));
    foliot_history_destroy(history);
    demand(foliot_history_create(scene, TICKS, &history));
    foliot_scene_destroy(scene);
    free(bodies);
    const foliot_input inputs[] = {{.sequence = 1, .kind = FOLIOT_INPUT_JOIN},
                                   {.sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .axes = {100}}};
    demand(foliot_world_step(world, inputs, 2, NULL));
    for (int i = 0; i < (all ? 90 : 180); i++)
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

static void capture(void)
{
    static uint8_t bytes[1 << 21];
    size_t length;
    demand(foliot_history_capture(history, bytes, sizeof bytes, &length));
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

// -- against what a client showed

#define SHOTS 1200 // a shot is the state of the buttons
#define SEEDS 10

static struct shot {
    bool judged;
    double bodies[CLUSTER_BODIES][3];
} shots[SHOTS + 1];
static double errors[SHOTS * CLUSTER_BODIES], ticks_back;
static uint32_t error_count, judged;

static foliot_status probe_create(void *user, const foliot_scene *scene, foliot_rules *rules,
                                  void **self, char *problem, size_t problem_bytes)
{
    (void)user;
    (void)scene;
    (void)problem;
    (void)problem_bytes;
    *self = rules;
    return FOLIOT_STATUS_OK;
}

static void judge(struct shot *shot, const foliot_rules_view *view, const foliot_rules *rules)
{
    double tick = foliot_rules_get_aimed_tick(rules, 0);
    const foliot_world *past = foliot_history_view(view->history, tick);
    shot->judged = true;
    ticks_back += (double)view->tick - tick;
    judged++;
    for (uint32_t i = 0; i < CLUSTER_BODIES; i++) {
        foliot_body_state state = slot_state(past, i);
        double square = 0;
        for (int k = 0; k < 3; k++)
            square +=
                (state.position[k] - shot->bodies[i][k]) * (state.position[k] - shot->bodies[i][k]);
        errors[error_count++] = sqrt(square);
    }
}

static foliot_status probe_tick(void *self, const foliot_rules_view *view, foliot_rules *rules,
                                char *problem, size_t problem_bytes)
{
    (void)self;
    (void)problem;
    (void)problem_bytes;
    for (uint32_t i = 0; i < view->input_count; i++) {
        uint32_t shot = view->inputs[i].buttons;
        if (shot && shot <= SHOTS && !shots[shot].judged)
            judge(&shots[shot], view, rules);
    }
    return FOLIOT_STATUS_OK;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The 99th percentile of the distances, mm.
static double play(const char *network)
{
    static const foliot_rules_kind probe = {
        .name = "probe", .create = probe_create, .tick = probe_tick};
    static const int8_t still[FOLIOT_AXIS_COUNT];
    cluster *s = cluster_create(
        &(cluster_options){.world = CLUSTER_SPRINGS, .rules = &probe, .history_ticks = 60});
    memset(shots, 0, sizeof shots);
    error_count = judged = 0;
    ticks_back = 0;
    cluster_player(s, network);
    cluster_run(s, 3);
    for (uint32_t shot = 1; shot <= SHOTS; shot++) {
        foliot_sample sample;
        cluster_run(s, 0.033);
        if (foliot_client_sample(s->clients[0], s->now_ns, &sample) != FOLIOT_STATUS_OK)
            continue;
        for (uint32_t i = 0; i < CLUSTER_BODIES; i++)
            memcpy(shots[shot].bodies[i], sample.bodies[i].position, sizeof shots[shot].bodies[i]);
        foliot_client_set_input(s->clients[0], still, (uint16_t)shot);
    }
    cluster_run(s, 1);
    cluster_destroy(s);
    if (judged < SHOTS * 9 / 10)
        exit(1);
    ticks_back /= judged;
    qsort(errors, error_count, sizeof *errors, ascending);
    return errors[error_count / 100 * 99] * 1e3;
}

static void compare_with_shown(void)
{
    double worst = 0;
    for (int seed = 1; seed <= SEEDS; seed++) {
        char network[64];
        snprintf(network, sizeof network, "delay=50ms,jitter=0-20ms,loss=5%%,seed=%d", 31 * seed);
        worst = fmax(worst, play(network));
    }
    bench_report("history", "shown, round trip 100 ms, ten seeds: p99, worst", worst, "mm", NULL,
                 0);
    bench_report("history", "shown, round trip 150 ms: p99", play("delay=75ms,seed=3"), "mm", NULL,
                 0);
    bench_report("history", "shown, round trip 150 ms: back", ticks_back, "ticks", NULL, 0);
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
        // The first tick of each pass starts from nothing, and is one of sixty.
        report("keep a tick", all, time_of(keep_all, TICKS), "us");
        report("ray at another tick", all, time_of(cast_past, TIMES), "us");
        report("ray at the same tick", all, time_of(cast_again, TIMES), "us");
        report("ray now", all, time_of(cast_now, TIMES), "us");
        demand(foliot_history_capture(history, NULL, 0, &length));
        report("60 ticks in a keyframe", all, (double)length / 1024, "KiB");
        report("60 ticks as bytes", all, time_of(capture, 1), "us");
    }
    if (hits == 0)
        return 1;
    compare_with_shown();
    for (int i = 0; i < TICKS; i++)
        free(worlds[i]);
    foliot_history_destroy(history);
    return 0;
}
