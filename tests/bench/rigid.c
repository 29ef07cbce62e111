// SPDX-License-Identifier: MIT
// rigid.c: boxes and spheres that fall, pile up and stand, next to Bullet and ODE on the same
// bodies. Engines run in turn, a few ticks each, sleeping off, each at its defaults: CPU ms a tick
// on one thread, wall time with more, and for every engine how good the result is, measured by one
// function from the final poses alone: a fast pile that sinks, creeps or trembles does not count.
//
//     rigid [--scene NAME] [--ticks N] [--threads N] [--substeps N] [--alone]
//
// One scene, fewer ticks, other threads than 2 (1: no such row), other substeps than the default,
// no opponents. y is up in these scenes.
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "foliot/foliot.h"
#include "opponent.h"
#include "opponents/rigid_problem.h"
#include "overlap.h"
#include "task_pool.h"
#include "status.h"
#include "slots.h"

#define TURN 20 // ticks that an engine runs before the next one does
#define OPPONENTS 2
#define TIMES 200

static const char *const scene_names[] = {"grid", "pile", "pyramid", "stack", "spheres"};
static const char *const opponent_names[OPPONENTS] = {"bullet", "ode"};

typedef struct options {
    const char *scene; // NULL: all
    uint32_t ticks, threads, substeps;
    bool alone;
    char folder[512]; // of this program
} options;

typedef struct problem {
    const char *name;
    char file[600];
    rigid_body *rows;
    foliot_body_definition *bodies;
    uint32_t count;
    foliot_scene scene;
} problem;

static bool failed; // some row is missing

// -- scenes

static foliot_body_definition body_of(const rigid_body *row)
{
    foliot_body_definition b = foliot_body_definition_default();
    b.is_static = row->mass == 0;
    b.mass = b.is_static ? 1 : row->mass;
    b.friction = RIGID_FRICTION;
    b.shape.kind = row->is_sphere ? FOLIOT_SHAPE_SPHERE : FOLIOT_SHAPE_BOX;
    b.shape.radius = row->radius;
    memcpy(b.position, row->position, sizeof b.position);
    memcpy(b.shape.half, row->half, sizeof b.shape.half);
    return b;
}

static bool problem_read(problem *p, const char *name, const options *o)
{
    *p = (problem){.name = name, .scene = foliot_scene_default()};
    snprintf(p->file, sizeof p->file, "%s/%s.csv.xz", BENCH_DATA, name);
    p->rows = rigid_read(p->file, &p->count);
    if (!p->rows) {
        fprintf(stderr, "rigid: %s cannot be read (is xz installed?)\n", p->file);
        return false;
    }
    p->bodies = malloc(p->count * sizeof *p->bodies);
    for (uint32_t i = 0; i < p->count; i++)
        p->bodies[i] = body_of(&p->rows[i]);
    p->scene.name = name;
    p->scene.dt = RIGID_DT;
    p->scene.gravity[1] = -RIGID_GRAVITY;
    p->scene.bodies = p->bodies;
    p->scene.body_count = p->count;
    if (o->substeps)
        p->scene.substeps = o->substeps;
    return true;
}

static void problem_free(problem *p)
{
    free(p->rows);
    free(p->bodies);
}

static foliot_world *world_of(const problem *p)
{
    foliot_error fault;
    foliot_world *world = NULL;
    if (foliot_scene_check(&p->scene, &fault) != FOLIOT_STATUS_OK)
        fprintf(stderr, "rigid: %s: foliot refuses it: %s\n", p->name, fault.text);
    else if (foliot_world_create(&p->scene, &world, NULL) != FOLIOT_STATUS_OK)
        fprintf(stderr, "rigid: %s: no memory\n", p->name);
    failed |= !world;
    return world;
}

// -- ours

static void our_step(foliot_world *world, const foliot_host *host, uint32_t ticks, double *cpu_ms,
                     double *wall_ms)
{
    for (uint32_t t = 0; t < ticks && world; t++) {
        double cpu = rigid_cpu_now(), wall = bench_now();
        if (foliot_world_step(world, NULL, 0, host) != FOLIOT_STATUS_OK)
            abort();
        wall_ms[t] = (bench_now() - wall) * 1e3;
        cpu_ms[t] = (rigid_cpu_now() - cpu) * 1e3;
    }
}

static void our_look(const foliot_world *world, uint32_t count, rigid_state *states)
{
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_state s = slot_state(world, i);
        memcpy(states[i].position, s.position, sizeof s.position);
        memcpy(states[i].orientation, s.orientation, sizeof s.orientation);
        memcpy(states[i].velocity, s.velocity, sizeof s.velocity);
        memcpy(states[i].angular_velocity, s.angular_velocity, sizeof s.angular_velocity);
    }
}

// -- quality

static double kinetic_of(const rigid_body *row, const rigid_state *s)
{
    const double *h = row->half;
    double r2 = row->radius * row->radius;
    const double moments[3] = {row->is_sphere ? 0.4 * r2 : (h[1] * h[1] + h[2] * h[2]) / 3,
                               row->is_sphere ? 0.4 * r2 : (h[0] * h[0] + h[2] * h[2]) / 3,
                               row->is_sphere ? 0.4 * r2 : (h[0] * h[0] + h[1] * h[1]) / 3};
    return rigid_kinetic(row->mass, moments, s);
}

static void report_quality(const problem *p, const char *engine, const rigid_state *states)
{
    solid *solids = calloc(p->count, sizeof *solids);
    double kinetic = 0, drift = 0;
    uint32_t moving = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const rigid_body *row = &p->rows[i];
        const rigid_state *s = &states[i];
        solids[i] = (solid){
            .is_sphere = row->is_sphere, .is_static = row->mass == 0, .radius = row->radius};
        memcpy(solids[i].half, row->half, sizeof row->half);
        memcpy(solids[i].position, s->position, sizeof s->position);
        memcpy(solids[i].orientation, s->orientation, sizeof s->orientation);
        if (row->mass == 0)
            continue;
        moving++;
        kinetic += kinetic_of(row, s);
        drift += hypot(s->position[0] - row->position[0], s->position[2] - row->position[2]);
    }
    char name[96];
    snprintf(name, sizeof name, "%s kinetic energy, %s", p->name, engine);
    bench_report("rigid", name, kinetic / moving, "J a body", NULL, 0);
    snprintf(name, sizeof name, "%s penetration, %s", p->name, engine);
    bench_report("rigid", name, overlap_deepest(solids, p->count) * 1e3, "mm, deepest", NULL, 0);
    snprintf(name, sizeof name, "%s drift, %s", p->name, engine);
    bench_report("rigid", name, drift / moving * 1e3, "mm, mean", NULL, 0);
    free(solids);
}

// -- one scene

typedef struct race {
    foliot_world *alone, *threaded;
    opponent others[OPPONENTS];
    double *cpu, *wall, *threaded_cpu, *threaded_wall, *other_cpu[OPPONENTS];
} race;

static void run_in_turn(race *r, const options *o, const foliot_host *host)
{
    for (uint32_t t = 0; t < o->ticks; t += TURN) {
        uint32_t ticks = o->ticks - t < TURN ? o->ticks - t : TURN;
        our_step(r->alone, NULL, ticks, r->cpu + t, r->wall + t);
        for (int k = 0; k < OPPONENTS; k++)
            opponent_step(&r->others[k], ticks, r->other_cpu[k] + t);
        our_step(r->threaded, host, ticks, r->threaded_cpu + t, r->threaded_wall + t);
    }
}

static void report_speed(const problem *p, const race *r, const options *o)
{
    char name[96];
    double cpu = r->alone ? bench_median(r->cpu, o->ticks) : 0;
    for (int k = 0; k < OPPONENTS; k++) {
        if (!r->others[k].to) {
            if (!o->alone)
                fprintf(stderr, "rigid: %s: no answer from %s\n", p->name, opponent_names[k]);
            continue;
        }
        double its = bench_median(r->other_cpu[k], o->ticks);
        snprintf(name, sizeof name, k == 0 ? "%s" : "%s beside %s", p->name, opponent_names[k]);
        if (r->alone)
            bench_report("rigid", name, cpu, "ms/tick, CPU", opponent_names[k], its);
        else
            fprintf(stderr, "rigid: %s: %s takes %.3g ms a tick, foliot has no figure\n", p->name,
                    opponent_names[k], its);
    }
    if (r->alone && !r->others[0].to)
        bench_report("rigid", p->name, cpu, "ms/tick, CPU", NULL, 0);
    if (!r->threaded)
        return;
    snprintf(name, sizeof name, "%s, %u threads", p->name, o->threads);
    bench_report("rigid", name, bench_median(r->threaded_wall, o->ticks), "ms/tick, wall",
                 "foliot, one thread", bench_median(r->wall, o->ticks));
}

static double time_of(void (*work)(foliot_world *, uint8_t *, size_t), foliot_world *world,
                      uint8_t *bytes, size_t length)
{
    double times[9];
    for (int run = 0; run < 9; run++) {
        double begin = bench_now();
        for (int i = 0; i < TIMES; i++)
            work(world, bytes, length);
        times[run] = (bench_now() - begin) / TIMES * 1e6;
    }
    return bench_median(times, 9);
}

static void copy(foliot_world *world, uint8_t *bytes, size_t length)
{
    (void)length;
    foliot_world_copy(bytes, world);
}

static void digest(foliot_world *world, uint8_t *bytes, size_t length)
{
    (void)length;
    foliot_digest d = foliot_world_get_digest(world);
    memcpy(bytes, &d, sizeof d); // so that it is made
}

static void capture(foliot_world *world, uint8_t *bytes, size_t length)
{
    demand(foliot_world_capture(world, bytes, length, &length));
}

static void restore(foliot_world *world, uint8_t *bytes, size_t length)
{
    demand(foliot_world_restore(world, bytes, length));
}

static void report_state(const problem *p, foliot_world *world)
{
    size_t size = foliot_world_get_bytes(world), length;
    demand(foliot_world_capture(world, NULL, 0, &length));
    uint8_t *block = aligned_alloc(FOLIOT_WORLD_ALIGNMENT, size > length ? size : size + length);
    char name[96];
    if (!block)
        abort();
    const struct {
        const char *what;
        void (*work)(foliot_world *, uint8_t *, size_t);
    } works[] = {{"copy", copy}, {"digest", digest}, {"capture", capture}, {"restore", restore}};
    snprintf(name, sizeof name, "%s state", p->name);
    bench_report("rigid", name, (double)length / (p->count - 1), "bytes a body", NULL, 0);
    snprintf(name, sizeof name, "%s world in memory", p->name);
    bench_report("rigid", name, (double)size / (p->count - 1), "bytes a body", NULL, 0);
    for (int k = 0; k < 4; k++) {
        snprintf(name, sizeof name, "%s %s", p->name, works[k].what);
        bench_report("rigid", name, time_of(works[k].work, world, block, length), "us", NULL, 0);
    }
    free(block);
}

static void warn_of_faults(const problem *p, const foliot_world *world)
{
    const foliot_world_counters *counted = foliot_world_get_counters(world);
    if (counted->contacts_dropped || counted->frozen_bodies || counted->hits_deferred)
        fprintf(stderr, "rigid: %s: %llu contacts dropped, %llu bodies frozen, %llu impacts late\n",
                p->name, (unsigned long long)counted->contacts_dropped,
                (unsigned long long)counted->frozen_bodies,
                (unsigned long long)counted->hits_deferred);
}

static void report(const problem *p, race *r, const options *o)
{
    rigid_state *states = calloc(p->count, sizeof *states);
    report_speed(p, r, o);
    if (r->alone) {
        our_look(r->alone, p->count, states);
        report_quality(p, "foliot", states);
        warn_of_faults(p, r->alone);
        foliot_digest a = foliot_world_get_digest(r->alone);
        foliot_digest b = r->threaded ? foliot_world_get_digest(r->threaded) : a;
        if (memcmp(&a, &b, sizeof a) != 0) {
            fprintf(stderr, "rigid: %s: %u threads give other bits than one\n", p->name,
                    o->threads);
            failed = true;
        }
    }
    for (int k = 0; k < OPPONENTS; k++)
        if (opponent_look(&r->others[k], p->count * RIGID_STATE_VALUES, states->position))
            report_quality(p, opponent_names[k], states);
    if (r->alone && strcmp(p->name, "grid") == 0)
        report_state(p, r->alone);
    free(states);
}

// The cost of a pile that sleeps, next to that of the same pile awake.
static void report_sleep(problem *p, double awake)
{
    double times[100];
    p->scene.sleep = true;
    foliot_world *world = world_of(p);
    uint32_t asleep = 0;
    for (int t = 0; t < 1200 && asleep + 1 < p->count && world; t++) {
        our_step(world, NULL, 1, times, times + 1);
        asleep = 0;
        for (uint32_t i = 0; i < p->count; i++)
            asleep += (slot_state(world, i).flags & FOLIOT_BODY_ASLEEP) != 0;
    }
    double spare[100];
    our_step(world, NULL, 100, times, spare);
    char name[96];
    snprintf(name, sizeof name, "%s, %u of %u asleep", p->name, asleep, p->count - 1);
    if (world)
        bench_report("rigid", name, bench_median(times, 100), "ms/tick, CPU", "foliot, awake",
                     awake);
    foliot_world_destroy(world);
}

static void run_scene(const char *name, const options *o)
{
    problem p;
    race r = {.alone = NULL};
    failed |= !problem_read(&p, name, o);
    if (!p.rows)
        return;
    double *times = calloc((4 + OPPONENTS) * (size_t)o->ticks, sizeof *times);
    r.cpu = times;
    r.wall = times + o->ticks;
    r.threaded_cpu = times + 2 * o->ticks;
    r.threaded_wall = times + 3 * o->ticks;
    for (int k = 0; k < OPPONENTS; k++) {
        r.other_cpu[k] = times + (4 + k) * o->ticks;
        if (o->alone)
            continue;
        char program[600];
        snprintf(program, sizeof program, "%s/opponents/%s_rigid", o->folder, opponent_names[k]);
        r.others[k] = opponent_start(program, p.file);
    }
    task_pool *pool = task_pool_create(o->threads);
    foliot_host host = {
        .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = o->threads};
    r.alone = world_of(&p);
    r.threaded = r.alone && o->threads > 1 ? world_of(&p) : NULL;
    run_in_turn(&r, o, &host);
    report(&p, &r, o);
    for (int k = 0; k < OPPONENTS; k++)
        opponent_stop(&r.others[k]);
    if (r.alone && strcmp(name, "pile") == 0)
        report_sleep(&p, bench_median(r.cpu, o->ticks));
    foliot_world_destroy(r.alone);
    foliot_world_destroy(r.threaded);
    task_pool_destroy(pool);
    free(times);
    problem_free(&p);
}

// -- options

static bool read_options(int argc, char **argv, options *o)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--alone") == 0)
            o->alone = true;
        else if (strcmp(argv[i], "--scene") == 0)
            o->scene = argv[++i] ? value : NULL;
        else if (strcmp(argv[i], "--ticks") == 0 && argv[++i])
            o->ticks = (uint32_t)atoi(value);
        else if (strcmp(argv[i], "--threads") == 0 && argv[++i])
            o->threads = (uint32_t)atoi(value);
        else if (strcmp(argv[i], "--substeps") == 0 && argv[++i])
            o->substeps = (uint32_t)atoi(value);
        else
            return false;
    }
    return o->ticks > 0 && o->threads > 0 &&
           (!o->scene ||
            bench_knows(scene_names, sizeof scene_names / sizeof *scene_names, o->scene));
}

int main(int argc, char **argv)
{
    options o = {.ticks = 600, .threads = 2};
    snprintf(o.folder, sizeof o.folder, "%s", argv[0]);
    char *slash = strrchr(o.folder, '/');
    snprintf(slash ? slash : o.folder, 3, slash ? "" : ".");
    if (!read_options(argc, argv, &o)) {
        fprintf(stderr, "usage: rigid [--scene grid|pile|pyramid|stack|spheres] [--ticks N] "
                        "[--threads N] [--substeps N] [--alone]\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof scene_names / sizeof *scene_names; i++)
        if (!o.scene || strcmp(o.scene, scene_names[i]) == 0)
            run_scene(scene_names[i], &o);
    return failed;
}
