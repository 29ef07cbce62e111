// SPDX-License-Identifier: MIT
// spheres.c: spheres falling into a walled box until they lie: CPU ms a tick and how it grows,
// next to Bullet on the same problem, one thread each, in turn. Quality is printed with speed: a
// fast pile that sinks does not count.
//
//     spheres [COUNT TICKS]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "foliot/foliot.h"
#include "opponents/spheres_problem.h"
#include "scene_builder.h"
#include "slots.h"

#define RUNS 3

typedef struct outcome {
    double ms;      // CPU a tick, median of the later half
    double kinetic; // J a sphere at the end
    double deepest; // overlap at the end, m
    double height;  // mean, m
} outcome;

static foliot_world *problem(scene_builder *y, uint32_t count)
{
    *y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y->scene.dt = SPHERES_DT;
    y->scene.gravity[2] = -SPHERES_GRAVITY;
    double half = spheres_half_width(count);
    builder_add_plane(y, 0, 0, 1, 0);
    builder_add_plane(y, 1, 0, 0, -half);
    builder_add_plane(y, -1, 0, 0, -half);
    builder_add_plane(y, 0, 1, 0, -half);
    builder_add_plane(y, 0, -1, 0, -half);
    for (uint32_t i = 0; i < count; i++) {
        double at[3];
        spheres_position(count, i, at);
        builder_add_ball(y, SPHERES_MASS, SPHERES_RADIUS, at[0], at[1], at[2]);
    }
    builder_set_material(y, SPHERES_FRICTION, 0);
    return builder_create_world(y);
}

// Overlaps of all pairs by sorting along x would be another broad phase: each sphere looks at
// those of its column of a coarse grid.
static double deepest_overlap(const foliot_world *world, uint32_t count)
{
    double half = spheres_half_width(count), deepest = 0, cell = 2 * SPHERES_RADIUS;
    uint32_t side = (uint32_t)(2 * half / cell) + 3;
    uint32_t *head = malloc(sizeof *head * side * side), *next = malloc(sizeof *next * count);
    memset(head, 0xff, sizeof *head * side * side);
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_state p = slot_state(world, 5 + i);
        long cx = (long)floor((p.position[0] + half) / cell) + 1;
        long cy = (long)floor((p.position[1] + half) / cell) + 1;
        cx = cx < 0 ? 0 : cx >= (long)side ? (long)side - 1 : cx;
        cy = cy < 0 ? 0 : cy >= (long)side ? (long)side - 1 : cy;
        for (long dx = -1; dx <= 1; dx++)
            for (long dy = -1; dy <= 1; dy++) {
                if (cx + dx < 0 || cy + dy < 0 || cx + dx >= (long)side || cy + dy >= (long)side)
                    continue;
                for (uint32_t j = head[(cy + dy) * side + cx + dx]; j != UINT32_MAX; j = next[j]) {
                    foliot_body_state q = slot_state(world, 5 + j);
                    double sum = 0;
                    for (int k = 0; k < 3; k++)
                        sum += (p.position[k] - q.position[k]) * (p.position[k] - q.position[k]);
                    deepest = fmax(deepest, 2 * SPHERES_RADIUS - sqrt(sum));
                }
            }
        next[i] = head[cy * side + cx];
        head[cy * side + cx] = i;
        deepest = fmax(deepest, SPHERES_RADIUS - p.position[2]);
        deepest =
            fmax(deepest, fmax(fabs(p.position[0]), fabs(p.position[1])) + SPHERES_RADIUS - half);
    }
    free(next);
    free(head);
    return deepest;
}

static outcome ours(uint32_t count, uint32_t ticks)
{
    scene_builder y;
    foliot_world *world = problem(&y, count);
    double *times = malloc(sizeof *times * ticks);
    uint32_t kept = 0;
    for (uint32_t t = 0; t < ticks; t++) {
        double begin = clock_process_s();
        run_ticks(world, 1);
        if (t >= ticks / 2)
            times[kept++] = (clock_process_s() - begin) * 1e3;
    }
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    outcome result = {.ms = bench_median(times, kept),
                      .kinetic = end.kinetic / count,
                      .deepest = deepest_overlap(world, count),
                      .height = end.potential / count / SPHERES_MASS / SPHERES_GRAVITY};
    const foliot_world_counters *counted = foliot_world_get_counters(world);
    if (counted->contacts_dropped || counted->frozen_bodies)
        fprintf(stderr, "spheres: %llu contacts dropped, %llu bodies frozen\n",
                (unsigned long long)counted->contacts_dropped,
                (unsigned long long)counted->frozen_bodies);
    free(times);
    foliot_world_destroy(world);
    builder_free(&y);
    return result;
}

static bool theirs(const char *folder, uint32_t count, uint32_t ticks, outcome *result)
{
    char command[600];
    snprintf(command, sizeof command, "%s/opponents/bullet_spheres %u %u", folder, count, ticks);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return false;
    int got = fscanf(pipe, "%lf %lf %lf %lf", &result->ms, &result->kinetic, &result->deepest,
                     &result->height);
    return pclose(pipe) == 0 && got == 4;
}

static void settle(const char *folder, uint32_t count, uint32_t ticks, bool against)
{
    double ms[RUNS], their_ms[RUNS];
    outcome mine, other = {0};
    int runs = count > 5000 ? 1 : RUNS;
    for (int run = 0; run < runs; run++) {
        mine = ours(count, ticks);
        ms[run] = mine.ms;
        against = against && theirs(folder, count, ticks, &other);
        their_ms[run] = other.ms;
    }
    const char *opponent = against ? "bullet" : NULL;
    char name[64];
    snprintf(name, sizeof name, "settle-%u", count);
    bench_report("spheres", name, bench_median(ms, (uint32_t)runs), "ms/tick", opponent,
                 against ? bench_median(their_ms, (uint32_t)runs) : 0);
    snprintf(name, sizeof name, "kinetic-%u", count);
    bench_report("spheres", name, mine.kinetic, "J/body", opponent, other.kinetic);
    snprintf(name, sizeof name, "overlap-%u", count);
    bench_report("spheres", name, mine.deepest, "m", opponent, other.deepest);
    snprintf(name, sizeof name, "height-%u", count);
    bench_report("spheres", name, mine.height, "m", opponent, other.height);
}

int main(int argc, char **argv)
{
    char folder[512];
    snprintf(folder, sizeof folder, "%s", argv[0]);
    char *slash = strrchr(folder, '/');
    snprintf(slash ? slash : folder, 3, slash ? "" : ".");
    if (argc == 3) {
        settle(folder, (uint32_t)atoi(argv[1]), (uint32_t)atoi(argv[2]), true);
        return 0;
    }
    // Rain until about tick 80, then a pile: the median is one of piles.
    settle(folder, 1000, 200, true);
    settle(folder, 5000, 160, true);
    settle(folder, 20000, 160, true);
    settle(folder, 100000, 160, false);
    return 0;
}
