// SPDX-License-Identifier: MIT
// digest.c: what a digest of the full state costs: microseconds for 256 bodies of 13 doubles, next
// to libxxhash's own XXH3-128 over as many bytes in one piece, and its share of a step. A step and
// its digest are timed in turn in the same run; cold rows hash a world that fell out of the caches.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/rng.h"
#include "bench.h"
#include "foliot/foliot.h"
#include "status.h"

#define RUNS 101

static volatile uint64_t sink;

// Positions are drawn from a fixed seed: every run has the same bits.

static double between(foliot__rng *rng, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(rng);
}

static foliot_world *world_of(foliot_scene *scene, foliot_body_definition *bodies, uint32_t count)
{
    scene->name = "crowd";
    scene->dt = 1.0 / 60;
    scene->bodies = bodies;
    scene->body_count = count;
    foliot_error problem;
    foliot_world *world = NULL;
    if (foliot_scene_check(scene, &problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "crowd: %s\n", problem.text);
        exit(1);
    }
    if (foliot_world_create(scene, &world, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    free(bodies);
    return world;
}

static foliot_body_definition *bodies_of(uint32_t count)
{
    foliot_body_definition *bodies = calloc(count, sizeof *bodies);
    if (!bodies)
        exit(1);
    for (uint32_t i = 0; i < count; i++)
        bodies[i] = foliot_body_definition_default();
    return bodies;
}

// `count` spheres in a heap above a plane (and the plane), semi-implicit Euler at 60 Hz.
static foliot_world *crowd_spheres(uint32_t count)
{
    foliot__rng rng = foliot__rng_seeded(901);
    foliot_body_definition *bodies = bodies_of(count + 1);
    bodies[0].is_static = true;
    bodies[0].shape.kind = FOLIOT_SHAPE_PLANE;
    uint32_t side = 1;
    while (side * side * 4 < count)
        side++;
    for (uint32_t i = 0; i < count; i++) {
        foliot_body_definition *ball = &bodies[i + 1];
        ball->shape.kind = FOLIOT_SHAPE_SPHERE;
        ball->shape.radius = 0.2;
        ball->position[0] = 0.41 * (i % side) + between(&rng, -0.004, 0.004);
        ball->position[1] = 0.41 * (i / side % side) + between(&rng, -0.004, 0.004);
        ball->position[2] = 0.21 + 0.41 * (i / (side * side));
    }
    foliot_scene scene = foliot_scene_default();
    scene.gravity[2] = -9.80665;
    return world_of(&scene, bodies, count + 1);
}

// `count` bodies that attract one another, velocity-verlet.
static foliot_world *crowd_cluster(uint32_t count)
{
    foliot__rng rng = foliot__rng_seeded(902);
    foliot_body_definition *bodies = bodies_of(count);
    foliot_force_definition newton = foliot_force_definition_default(FOLIOT_FORCE_NEWTON);
    newton.as.newton.constant = 0.001;
    newton.as.newton.softening = 0.05;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++)
            bodies[i].position[k] = between(&rng, -1, 1);
    foliot_scene scene = foliot_scene_default();
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.forces = &newton;
    scene.force_count = 1;
    return world_of(&scene, bodies, count);
}

// `count` solids of unequal moments that tumble freely: 13 doubles of state each.
static foliot_world *crowd_tumbling(uint32_t count)
{
    foliot__rng rng = foliot__rng_seeded(903);
    foliot_body_definition *bodies = bodies_of(count);
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) {
            bodies[i].position[k] = between(&rng, -9, 9);
            bodies[i].inertia[k] = 0.5 + 0.1 * k;
            bodies[i].angular_velocity[k] = between(&rng, -3, 3);
        }
    foliot_scene scene = foliot_scene_default();
    return world_of(&scene, bodies, count);
}

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
