// SPDX-License-Identifier: MIT
// nbody.c: pairwise gravity. A pair is two bodies i < j, met once in a force evaluation; N bodies
// have N (N - 1) / 2. The opponents: a plain scalar loop compiled with -O3 for the baseline ISA,
// and Boost.odeint's velocity Verlet (a separate program next to this one), in turn with ours.
// Errors are of positions, at equal dt and the same end, against our own order 8 at a quarter of
// the step.
#include "../support/bench.h"
#include "opponents/nbody_problem.h"
#include "opponents/nbody_scalar.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "foliot/foliot.h"
#include "sim/force/force.h"
#include "sim/force/force_simd.h"
#include "status.h"
#include "slots.h"

#define RUNS 15
#define SOFTENING 0.05
#define DT 0.005
#define STEPS 20

static foliot_world *world_of(uint32_t n, foliot_integrator integrator, double dt)
{
    foliot_body_definition *bodies = calloc(n, sizeof *bodies);
    foliot_force_definition force = foliot_force_definition_default(FOLIOT_FORCE_NEWTON);
    force.as.newton.constant = 1;
    force.as.newton.softening = SOFTENING;
    for (uint32_t i = 0; i < n; i++) {
        bodies[i] = foliot_body_definition_default();
        nbody_problem_body(n, i, &bodies[i].mass, bodies[i].position, bodies[i].velocity);
    }
    foliot_scene scene = foliot_scene_default();
    scene.name = "nbody";
    scene.dt = dt;
    scene.integrator = integrator;
    scene.bodies = bodies;
    scene.body_count = n;
    scene.forces = &force;
    scene.force_count = 1;
    foliot_world *world = NULL;
    if (foliot_world_create(&scene, &world, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    free(bodies);
    return world;
}

static double pairs_of(uint32_t n)
{
    return 0.5 * n * (n - 1);
}

// Seconds of one force evaluation through the library, as a step makes it.
static double time_ours(foliot_world *world, double **to, int times)
{
    foliot_host host = {0};
    foliot__step step = {.world = world, .host = &host, .count = world->body_count};
    double begin = bench_now();
    for (int k = 0; k < times; k++)
        foliot__force_position(&step, foliot__position(world), 0,
                               (foliot__v3){to[0], to[1], to[2]});
    return (bench_now() - begin) / times;
}

static double time_scalar(foliot_world *world, double **to, int times)
{
    foliot__v3 x = foliot__position(world);
    double begin = bench_now();
    for (int k = 0; k < times; k++)
        nbody_scalar((int)world->body_count, x.x, x.y, x.z, foliot__mass(world),
                     SOFTENING * SOFTENING, to[0], to[1], to[2]);
    return (bench_now() - begin) / times;
}

static double time_kernel(foliot__newton_kernel *kernel, const foliot__newton_bodies *bodies,
                          double **to, int times)
{
    foliot__v3 force = {to[0], to[1], to[2]};
    double begin = bench_now();
    for (int k = 0; k < times; k++)
        for (uint32_t block = 0; block < bodies->blocks; block++)
            kernel(bodies, block, force);
    return (bench_now() - begin) / times;
}

static void forces(uint32_t n)
{
    foliot_world *world = world_of(n, FOLIOT_INTEGRATOR_VELOCITY_VERLET, DT);
    size_t rows = foliot__lanes(world) + 8;
    double *to[6], ours[RUNS], scalar[RUNS];
    for (int c = 0; c < 6; c++)
        to[c] = aligned_alloc(64, rows * sizeof(double));
    int times = 1 + (int)(2e6 / pairs_of(n));
    for (int run = -1; run < RUNS; run++) { // the first is to warm up
        double a = time_ours(world, to, times), b = time_scalar(world, to + 3, times);
        ours[run < 0 ? 0 : run] = a * 1e9 / pairs_of(n);
        scalar[run < 0 ? 0 : run] = b * 1e9 / pairs_of(n);
    }
    for (uint32_t i = 0; i < n; i++)
        if (fabs(to[0][i] - to[3][i]) > 1e-12 * (1 + fabs(to[0][i])))
            exit(1); // both must do the same work
    char name[64];
    double a = bench_median(ours, RUNS), b = bench_median(scalar, RUNS);
    snprintf(name, sizeof name, "force-%u", n);
    bench_report("nbody", name, a, "ns/pair", "scalar loop -O3", b);
    snprintf(name, sizeof name, "rate-%u", n);
    bench_report("nbody", name, 1e3 / a, "Mpairs/s", "scalar loop -O3", 1e3 / b);
    for (int c = 0; c < 6; c++)
        free(to[c]);
    foliot_world_destroy(world);
}

// The kernels of every vector width that this machine has, alone.
static void widths(uint32_t n)
{
    static const char *const names[] = {"kernel-base", "kernel-avx2", "kernel-avx512"};
    foliot__newton_kernel *kernels[3] = {foliot__newton_base, NULL, NULL};
#if defined(__x86_64__)
    if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX2)
        kernels[1] = foliot__newton_avx2;
    if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX512)
        kernels[2] = foliot__newton_avx512;
#endif
    uint32_t blocks = (n + 7) / 8;
    size_t rows = 8 * ((size_t)blocks + FOLIOT__NEWTON_AHEAD);
    double *to[7], velocity[3], position[3];
    for (int c = 0; c < 7; c++) {
        to[c] = aligned_alloc(64, rows * sizeof(double));
        memset(to[c], 0, rows * sizeof(double));
    }
    for (uint32_t i = 0; i < n; i++) {
        nbody_problem_body(n, i, &to[3][i], position, velocity);
        for (int c = 0; c < 3; c++)
            to[c][i] = position[c];
    }
    foliot__newton_bodies bodies = {to[0], to[1], to[2], to[3], SOFTENING * SOFTENING, blocks};
    double times[3][RUNS];
    for (int run = 0; run < RUNS; run++)
        for (int k = 0; k < 3 && kernels[k]; k++)
            times[k][run] = time_kernel(kernels[k], &bodies, to + 4, 4) * 1e9 / pairs_of(n);
    for (int k = 0; k < 3 && kernels[k]; k++)
        bench_report("nbody", names[k], bench_median(times[k], RUNS), "ns/pair", NULL, 0);
    for (int c = 0; c < 7; c++)
        free(to[c]);
}

// -- whole steps against odeint

static double error_of(const double *positions, foliot_world *reference)
{
    double worst = 0;
    for (uint32_t i = 0; i < reference->body_count; i++) {
        foliot_body_state body = slot_state(reference, i);
        for (int c = 0; c < 3; c++)
            worst = fmax(worst, fabs(positions[3 * i + (uint32_t)c] - body.position[c]));
    }
    return worst;
}

static double time_steps(uint32_t n, double *positions)
{
    foliot_world *world = world_of(n, FOLIOT_INTEGRATOR_VELOCITY_VERLET, DT);
    double begin = bench_now();
    for (int s = 0; s < STEPS; s++)
        demand(foliot_world_step(world, NULL, 0, NULL));
    double took = (bench_now() - begin) / STEPS;
    for (uint32_t i = 0; i < n; i++)
        memcpy(positions + 3 * i, slot_state(world, i).position, 3 * sizeof(double));
    foliot_world_destroy(world);
    return took;
}

// Runs the opponent; false where it was not built (no Boost here).
static bool odeint_steps(const char *self, uint32_t n, double *seconds, double *positions)
{
    char command[1024], out[512];
    const char *slash = strrchr(self, '/');
    int folder = slash ? (int)(slash - self) : 1;
    snprintf(out, sizeof out, "%.*s/opponents/.odeint.out", folder, slash ? self : ".");
    snprintf(command, sizeof command,
             "'%.*s/opponents/odeint_nbody' %u %.17g %.17g %d 1 '%s' 2>/dev/null", folder,
             slash ? self : ".", n, SOFTENING, DT, STEPS, out);
    FILE *pipe = popen(command, "r");
    double ns = 0;
    bool fine = pipe && fscanf(pipe, "%lf", &ns) == 1;
    fine = pipe && pclose(pipe) == 0 && fine;
    FILE *file = fine ? fopen(out, "rb") : NULL;
    fine = file && fread(positions, sizeof(double), 3 * (size_t)n, file) == 3 * (size_t)n;
    if (file)
        fclose(file);
    remove(out);
    *seconds = ns * 1e-9;
    return fine;
}

static void steps(const char *self, uint32_t n)
{
    double *mine = calloc(3 * (size_t)n, sizeof *mine),
           *theirs = calloc(3 * (size_t)n, sizeof *theirs);
    foliot_world *reference = world_of(n, FOLIOT_INTEGRATOR_KAHAN_LI8, DT / 4);
    for (int s = 0; s < 4 * STEPS; s++)
        demand(foliot_world_step(reference, NULL, 0, NULL));
    double ours[RUNS], odeint[RUNS];
    bool fine = true;
    for (int run = 0; run < RUNS; run++) {
        ours[run] = time_steps(n, mine) * 1e9 / pairs_of(n);
        fine = fine && odeint_steps(self, n, &odeint[run], theirs);
        odeint[run] *= 1e9 / pairs_of(n);
    }
    const char *opponent = fine ? "Boost.odeint velocity_verlet" : NULL;
    if (!fine)
        fprintf(stderr, "nbody: no Boost.odeint here (libboost-dev): its figures are left out\n");
    double error = error_of(mine, reference), their_error = fine ? error_of(theirs, reference) : 0;
    bench_report("nbody", "verlet-1000", bench_median(ours, RUNS), "ns/pair/step", opponent,
                 fine ? bench_median(odeint, RUNS) : 0);
    bench_report("nbody", "verlet-1000 error", error, "length", opponent, their_error);
    foliot_world_destroy(reference);
    free(mine);
    free(theirs);
}

int main(int argc, char **argv)
{
    (void)argc;
    forces(1000);
    forces(100);
    forces(4000);
    widths(1000);
    steps(argv[0], 1000);
    return 0;
}
