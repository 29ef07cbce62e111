// SPDX-License-Identifier: MIT
// springs.c: a cloth of 100,000 particles, structural and shear springs, velocity Verlet; its steps
// a second, and the bytes that a step touches against what a STREAM-like triad moves in the same
// run, on one thread.
//
// Bytes a particle are counted as in STREAM, every array once for each pass that reads it and once
// for each that writes it, whatever caches make of it; a pass over the springs touches each
// particle's row once. `passes` below is the count, pass by pass.
#include "../support/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"
#include "sim/force/force.h"
#include "sim/force/force_workspace.h"
#include "status.h"
#include "slots.h"

#define COLUMNS 400
#define ROWS 250
#define PARTICLES (COLUMNS * ROWS)
#define RUNS 11
#define STEPS 20
#define TRIAD (1u << 22) // doubles an array: 32 MiB, beyond every cache level but the largest
#define TRIADS 3

static foliot_body_definition *bodies;
static foliot_force_definition *springs;
static uint32_t spring_count;

static void connect(uint32_t a, uint32_t b)
{
    foliot_force_definition *f = &springs[spring_count++];
    *f = foliot_force_definition_default(FOLIOT_FORCE_SPRING);
    f->a = a;
    f->b = b;
    f->as.spring.stiffness = 200;
    const double *p = bodies[a].position, *q = bodies[b].position;
    f->as.spring.length = sqrt((p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1]) +
                               (p[2] - q[2]) * (p[2] - q[2]));
}

// Hung by its first row, row by row as one writes it down.
static foliot_world *cloth(void)
{
    bodies = calloc(PARTICLES, sizeof *bodies);
    springs = calloc(4 * PARTICLES, sizeof *springs);
    for (uint32_t i = 0; i < PARTICLES; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].mass = 0.01;
        bodies[i].position[0] = 0.05 * (i % COLUMNS);
        bodies[i].position[2] = -0.05 * (double)(i / COLUMNS) + 0.004 * sin(0.1 * i);
        bodies[i].is_static = i < COLUMNS;
    }
    for (uint32_t i = 0; i < PARTICLES; i++) {
        uint32_t column = i % COLUMNS, row = i / COLUMNS;
        if (column + 1 < COLUMNS && row > 0)
            connect(i, i + 1);
        if (row + 1 < ROWS)
            connect(i, i + COLUMNS);
        if (row + 1 < ROWS && column + 1 < COLUMNS)
            connect(i, i + COLUMNS + 1);
        if (row + 1 < ROWS && column > 0)
            connect(i, i + COLUMNS - 1);
    }
    foliot_scene scene = foliot_scene_default();
    scene.name = "cloth";
    scene.dt = 1.0 / 240;
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.gravity[2] = -9.81;
    scene.bodies = bodies;
    scene.body_count = PARTICLES;
    scene.forces = springs;
    scene.force_count = spring_count;
    foliot_world *world = NULL;
    foliot_error problem;
    if (foliot_scene_check(&scene, &problem) != FOLIOT_STATUS_OK) {
        fprintf(stderr, "springs: %s\n", problem.text);
        exit(1);
    }
    if (foliot_world_create(&scene, &world, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    return world;
}

// Bytes a particle that one step of velocity Verlet touches.
static double bytes_of_step(void)
{
    const double vector = 24, scalar = 8;
    const double record = sizeof(foliot__spring) * (double)spring_count / PARTICLES;
    const double passes[] = {
        4 * vector,                // step: position and velocity remembered
        2 * (4 * vector + scalar), // two kicks: v read and written, a, applied, 1/m read
        3 * vector,                // drift: x read and written, v read
        vector + scalar,           // forces: gravity written where 1/m is not 0
        record + vector + 2 * vector + scalar, // forces: springs, x read, a read and written, 1/m
        2 * vector,                            // step: x and v looked at for faults
    };
    double sum = 0;
    for (size_t k = 0; k < sizeof passes / sizeof *passes; k++)
        sum += passes[k];
    return sum;
}

static double time_steps(foliot_world *world)
{
    double begin = bench_now();
    for (int s = 0; s < STEPS; s++)
        demand(foliot_world_step(world, NULL, 0, NULL));
    return (bench_now() - begin) / STEPS;
}

static double time_forces(foliot_world *world)
{
    foliot_host host = {0};
    foliot__step step = {.world = world, .host = &host, .count = world->body_count};
    double begin = bench_now();
    for (int s = 0; s < STEPS; s++)
        foliot__force_position(&step, foliot__position(world), 0, foliot__acceleration(world));
    return (bench_now() - begin) / STEPS;
}

// GB/s of a[i] = b[i] + s * c[i]: 24 bytes an element, as STREAM counts.
static double triad(double *a, const double *b, const double *c)
{
    double begin = bench_now();
    for (int n = 0; n < TRIADS; n++) {
        for (uint32_t i = 0; i < TRIAD; i++)
            a[i] = b[i] + 3.0 * c[i];
        __asm__ volatile("" : : "r"(a) : "memory");
    }
    return 24e-9 * TRIAD * TRIADS / (bench_now() - begin);
}

int main(void)
{
    foliot_world *world = cloth();
    double *arrays[3], steps[RUNS], forces[RUNS], bandwidth[RUNS];
    for (int c = 0; c < 3; c++) {
        arrays[c] = aligned_alloc(64, TRIAD * sizeof(double));
        for (uint32_t i = 0; i < TRIAD; i++)
            arrays[c][i] = i;
    }
    time_steps(world);
    for (int run = 0; run < RUNS; run++) {
        steps[run] = time_steps(world);
        forces[run] = time_forces(world);
        bandwidth[run] = triad(arrays[0], arrays[1], arrays[2]);
    }
    for (uint32_t i = 0; i < PARTICLES; i++)
        if (!slot_alive(world, i) || foliot_world_get_counters(world)->frozen_bodies)
            exit(1); // a cloth that blew up would be fast
    double step = bench_median(steps, RUNS), force = bench_median(forces, RUNS);
    bench_report("springs", "cloth-100000 steps", 1 / step, "steps/s", NULL, 0);
    bench_report("springs", "cloth-100000 forces", force * 1e9 / spring_count, "ns/spring", NULL,
                 0);
    bench_report("springs", "cloth-100000 bytes", bytes_of_step(), "B/particle", NULL, 0);
    bench_report("springs", "cloth-100000 bandwidth", bytes_of_step() * PARTICLES / step * 1e-9,
                 "GB/s", "triad", bench_median(bandwidth, RUNS));
    foliot_world_destroy(world);
    return 0;
}
