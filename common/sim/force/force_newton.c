// SPDX-License-Identifier: MIT
// force_newton.c: pairwise gravity of all bodies that move. Scales, deals blocks to tasks and adds
// up their sums by index; the pairs themselves are in force_newton_simd.c.
//
// Coordinates are scaled by a power of two, which changes no bits of the result, so that squares of
// distances and their inverses fit into binary32: the farthest coordinate comes out below 2^59.
// Bodies nearer than 2^-60 in that scale (2^-118 of the world's extent) are softened to it; two in
// one place do not attract.
#include "sim/force/force_simd.h"

#include "base/cpu.h"
#include "sim/force/force_workspace.h"
#include "sim/state/parallel_for.h"

#include <string.h>

#define SOFTENING2_MIN 0x1p-120
#define BLOCKS_PER_TASK 32 // few bodies are not worth a second partial sum

typedef struct newton {
    foliot__newton_bodies bodies;
    foliot__newton_kernel *kernel;
    double *partial; // of task t: x, y, z at partial + 3 t stride
    size_t stride;
    uint32_t tasks;
} newton;

// 2^(58 - e), where the largest magnitude of the rows that move lies in [2^e, 2^(e + 1)).
static double scale_of(const foliot_world *world, foliot__v3 x, double softening)
{
    const double *inverse = foliot__inverse_mass(world);
    double largest = softening;
    for (uint32_t i = 0; i < world->body_count; i++) {
        double m = inverse[i] > 0 ? 1 : 0, px = x.x[i] * m, py = x.y[i] * m, pz = x.z[i] * m;
        px = px < 0 ? -px : px;
        py = py < 0 ? -py : py;
        pz = pz < 0 ? -pz : pz;
        px = px > py ? px : py;
        px = px > pz ? px : pz;
        largest = px > largest ? px : largest;
    }
    uint64_t bits;
    memcpy(&bits, &largest, sizeof bits);
    uint64_t exponent = bits >> 52; // biased by 1023
    if (exponent < 1023 - 400 || exponent > 1023 + 400)
        return 1; // nothing to go by, or no longer a world
    bits = (1023 + 58 + 1023 - exponent) << 52;
    double scale;
    memcpy(&scale, &bits, sizeof scale);
    return scale;
}

// Task t of n takes the blocks t, t + n, ...: about the same number of pairs each.
static void sum_blocks(void *context, uint32_t t)
{
    const newton *problem = context;
    double *to = problem->partial + 3 * problem->stride * t;
    foliot__v3 force = {to, to + problem->stride, to + 2 * problem->stride};
    memset(to, 0, 3 * problem->stride * sizeof(double));
    for (uint32_t block = t; block < problem->bodies.blocks; block += problem->tasks)
        problem->kernel(&problem->bodies, block, force);
}

typedef double lanes __attribute__((vector_size(8 * FOLIOT__LANES), may_alias));

// a += (sum of the tasks' forces, by task) * constant / m, `constant` with the scale's square in
// it.
static void combine_tasks(const newton *problem, const double *inverse, double constant,
                          foliot__v3 a)
{
    double *to[] = {a.x, a.y, a.z};
    for (uint32_t c = 0; c < 3; c++)
        for (uint32_t i = 0; i < 8 * problem->bodies.blocks; i += FOLIOT__LANES) {
            const double *force = problem->partial + c * problem->stride + i;
            lanes sum = *(const lanes *)force;
            for (uint32_t t = 1; t < problem->tasks; t++)
                sum += *(const lanes *)(force + 3 * problem->stride * t);
            lanes each = constant * *(const lanes *)(inverse + i);
            for (uint32_t l = 0; l < FOLIOT__LANES; l++)
                to[c][i + l] += sum[l] * each[l];
        }
}

void foliot__newton_add(const foliot__step *step, const foliot_force_definition *force,
                        foliot__v3 x, foliot__v3 a)
{
    const foliot_world *world = step->world;
    size_t stride = foliot__gravity_stride(world);
    double *bodies = foliot__forces_gravity(foliot__forces_of(world));
    double scale = scale_of(world, x, force->as.newton.softening);
    double softening = force->as.newton.softening * scale, softening2 = softening * softening;
    const double *inverse = foliot__inverse_mass(world), *mass = foliot__mass(world);
    uint32_t rows = foliot__lanes(world);
    for (uint32_t i = 0; i < rows; i++) {
        bool moves = inverse[i] > 0;
        bodies[i] = moves ? x.x[i] * scale : 0;
        bodies[stride + i] = moves ? x.y[i] * scale : 0;
        bodies[2 * stride + i] = moves ? x.z[i] * scale : 0;
        bodies[3 * stride + i] = moves ? mass[i] : 0;
    }
    for (uint32_t c = 0; c < 4; c++)
        memset(bodies + c * stride + rows, 0,
               FOLIOT__NEWTON_AHEAD * FOLIOT__LANES * sizeof(double));
    uint32_t blocks = foliot__lanes(world) / FOLIOT__LANES;
    uint32_t tasks = (blocks + BLOCKS_PER_TASK - 1) / BLOCKS_PER_TASK;
    newton problem = {
        .bodies = {bodies, bodies + stride, bodies + 2 * stride, bodies + 3 * stride,
                   softening2 > SOFTENING2_MIN ? softening2 : SOFTENING2_MIN, blocks},
        .kernel = FOLIOT__KERNEL_OF_CPU(foliot__newton),
        .partial = bodies + 4 * stride,
        .stride = stride,
        .tasks = tasks < FOLIOT__NEWTON_TASKS ? tasks : FOLIOT__NEWTON_TASKS,
    };
    foliot__run_tasks(step, problem.tasks, sum_blocks, &problem);
    combine_tasks(&problem, foliot__inverse_mass(world),
                  force->as.newton.constant * (scale * scale), a);
}
