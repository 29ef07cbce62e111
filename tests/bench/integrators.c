// SPDX-License-Identifier: MIT
// integrators.c: what accuracy costs. Force evaluations per orbit for an energy error of 1e-10 over
// ten turns of Kepler's orbit, per scheme, next to the figures measured with the same tables
// elsewhere (binary64, plain sums); the energy error of a game's 60 steps a unit of time; and what
// a step costs beyond its forces.
#include "../support/bench.h"
#include "../support/problems.h"
#include "status.h"
#include "slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define ORBITS 10
#define WANTED 1e-10

// The world's energy on Kepler's orbit (mass 1, GM 1).
static double energy(const foliot_world *world)
{
    foliot_body_state b = slot_state(world, 0);
    double v2 = b.velocity[0] * b.velocity[0] + b.velocity[1] * b.velocity[1];
    return v2 / 2 - 1 / sqrt(b.position[0] * b.position[0] + b.position[1] * b.position[1]);
}

// Largest relative energy error over `steps` steps; gives up as soon as it is beyond `enough`.
static double energy_error(foliot_integrator id, double e, double dt, uint64_t steps, double enough)
{
    problem p;
    problem_kepler(&p, id, dt, e);
    foliot_world *world = NULL;
    if (foliot_world_create(&p.scene, &world, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    double start = energy(world), worst = 0;
    for (uint64_t n = 0; n < steps && worst <= enough; n++) {
        demand(foliot_world_step(world, NULL, 0, NULL));
        worst = fmax(worst, fabs((energy(world) - start) / start));
    }
    foliot_world_destroy(world);
    return worst;
}

static bool reached(foliot_integrator id, double e, uint64_t steps)
{
    return energy_error(id, e, 2 * M_PI / (double)steps, steps * ORBITS, WANTED) <= WANTED;
}

// The fewest steps per orbit that reach the wanted error, to a thousandth.
static uint64_t fewest_steps(foliot_integrator id, double e)
{
    uint64_t most = 16;
    while (!reached(id, e, most))
        most *= 2;
    uint64_t least = most / 2; // does not reach it
    while (most - least > 1 + most / 1000) {
        uint64_t middle = least + (most - least) / 2;
        if (reached(id, e, middle))
            most = middle;
        else
            least = middle;
    }
    return most;
}

static void report_evaluations(foliot_integrator id, double e, double elsewhere)
{
    const foliot_integrator_info *info = foliot_integrator_get_info(id);
    char name[80];
    snprintf(name, sizeof name, "evaluations %s e=%.1f", info->name, e);
    double value = (double)(fewest_steps(id, e) * info->evaluations);
    bench_report("integrators", name, value, "per orbit for 1e-10", "public tables", elsewhere);
}

static void report_energy(foliot_integrator id)
{
    char name[80];
    snprintf(name, sizeof name, "energy %s e=0.3 60 Hz", foliot_integrator_get_info(id)->name);
    double value = energy_error(id, 0.3, 1.0 / 60, 37700, 1e9);
    bench_report("integrators", name, value, "dE/E in 100 turns", "game engines", 4.8e-3);
}

// Nanoseconds a body and step of free flight under gravity, 8,192 bodies: all but the forces.
static void report_cost(foliot_integrator id)
{
    enum { BODIES = 8192, RUNS = 7, STEPS = 60 };
    foliot_body_definition *bodies = calloc(BODIES, sizeof *bodies);
    foliot_scene scene = foliot_scene_default();
    scene.name = "cost";
    scene.dt = 1.0 / 60;
    scene.integrator = id;
    scene.gravity[2] = -9.81;
    for (int i = 0; i < BODIES; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].position[0] = i;
        bodies[i].velocity[2] = 3 + 0.001 * i;
    }
    scene.bodies = bodies;
    scene.body_count = BODIES;
    foliot_world *world = NULL;
    if (!bodies || foliot_world_create(&scene, &world, NULL) != FOLIOT_STATUS_OK)
        exit(1);
    double times[RUNS];
    for (int r = 0; r < RUNS; r++) {
        double begin = bench_now();
        for (int n = 0; n < STEPS; n++)
            demand(foliot_world_step(world, NULL, 0, NULL));
        times[r] = (bench_now() - begin) / STEPS / BODIES * 1e9;
    }
    char name[80];
    snprintf(name, sizeof name, "step %s 8192 points", foliot_integrator_get_info(id)->name);
    bench_report("integrators", name, bench_median(times, RUNS), "ns a body", NULL, 0);
    foliot_world_destroy(world);
    free(bodies);
}

int main(void)
{
    static const struct {
        foliot_integrator id;
        double low, middle, high; // evaluations elsewhere at e = 0.3, 0.5, 0.6; 0: not measured
    } rows[] = {{FOLIOT_INTEGRATOR_LEAPFROG, 0, 510673, 0},
                {FOLIOT_INTEGRATOR_VELOCITY_VERLET, 0, 1038113, 0},
                {FOLIOT_INTEGRATOR_YOSHIDA4, 6193, 10604, 15154},
                {FOLIOT_INTEGRATOR_PEFRL4, 3856, 7722, 11740},
                {FOLIOT_INTEGRATOR_YOSHIDA6, 1537, 2600, 3800},
                {FOLIOT_INTEGRATOR_BLANES_MOAN6, 745, 1258, 1876},
                {FOLIOT_INTEGRATOR_KAHAN_LI8, 727, 1270, 1688}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (rows[i].low > 0)
            report_evaluations(rows[i].id, 0.3, rows[i].low);
        report_evaluations(rows[i].id, 0.5, rows[i].middle);
        if (rows[i].high > 0)
            report_evaluations(rows[i].id, 0.6, rows[i].high);
    }
    static const foliot_integrator shown[] = {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                              FOLIOT_INTEGRATOR_VELOCITY_VERLET,
                                              FOLIOT_INTEGRATOR_RK4,
                                              FOLIOT_INTEGRATOR_PEFRL4,
                                              FOLIOT_INTEGRATOR_BLANES_MOAN6,
                                              FOLIOT_INTEGRATOR_KAHAN_LI8};
    for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
        report_energy(shown[i]);
    static const foliot_integrator timed[] = {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                              FOLIOT_INTEGRATOR_VELOCITY_VERLET,
                                              FOLIOT_INTEGRATOR_LEAPFROG,
                                              FOLIOT_INTEGRATOR_VERLET,
                                              FOLIOT_INTEGRATOR_RK4,
                                              FOLIOT_INTEGRATOR_KAHAN_LI8,
                                              FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG};
    for (size_t i = 0; i < sizeof timed / sizeof timed[0]; i++)
        report_cost(timed[i]);
    return 0;
}
