// SPDX-License-Identifier: MIT
// test_force_newton.c: pairwise gravity: the same bits for every vector width and number of
// threads, against a plain loop in long double, over every number of bodies up to a few blocks and
// over extreme scales.
#include "../support/check.h"
#include "../support/task_pool.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/rng.h"
#include "foliot/foliot.h"
#include "sim/force/force.h"
#include "sim/force/force_simd.h"

#define COUNT_MAX 1100

static foliot_body_definition body[COUNT_MAX];

typedef struct problem {
    uint32_t count;
    double extent, mass, constant, softening;
} problem;

static foliot_world *world_of(problem p)
{
    foliot__rng rng = foliot__rng_seeded(p.count);
    foliot_force_definition force = foliot_force_definition_default(FOLIOT_FORCE_NEWTON);
    force.as.newton.constant = p.constant;
    force.as.newton.softening = p.softening;
    foliot_scene scene = foliot_scene_default();
    scene.name = "gravity";
    scene.dt = 0.01;
    scene.bodies = body;
    scene.body_count = p.count;
    scene.forces = &force;
    scene.force_count = 1;
    for (uint32_t i = 0; i < p.count; i++) {
        body[i] = foliot_body_definition_default();
        body[i].mass = p.mass * (0.5 + foliot__rng_unit(&rng));
        for (int c = 0; c < 3; c++)
            body[i].position[c] = p.extent * (2 * foliot__rng_unit(&rng) - 1);
    }
    foliot_world *world;
    assert_int_equal(foliot_world_create(&scene, &world, NULL), FOLIOT_STATUS_OK);
    return world;
}

static double acceleration[3][COUNT_MAX + 8];

static foliot__v3 accelerate(foliot_world *world, const foliot_host *host)
{
    foliot__step step = {.world = world, .host = host, .count = world->body_count};
    foliot__v3 a = {acceleration[0], acceleration[1], acceleration[2]};
    foliot__force_position(&step, foliot__position(world), 0, a);
    return a;
}

// The relative error of the worst body, where forces are summed in long double.
static double worst_error(foliot_world *world, problem p)
{
    foliot_host host = {0};
    foliot__v3 a = accelerate(world, &host), x = foliot__position(world);
    double worst = 0;
    for (uint32_t i = 0; i < p.count; i++) {
        long double exact[3] = {0}, size = 0;
        for (uint32_t j = 0; j < p.count; j++) {
            long double d[3] = {(long double)x.x[j] - x.x[i], (long double)x.y[j] - x.y[i],
                                (long double)x.z[j] - x.z[i]};
            long double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            r2 += (long double)p.softening * p.softening;
            if (i == j || r2 == 0)
                continue;
            long double f = (long double)p.constant * foliot__mass(world)[j] / (r2 * sqrtl(r2));
            for (int c = 0; c < 3; c++)
                exact[c] += f * d[c];
            size += f * sqrtl(r2);
        }
        const double got[3] = {a.x[i], a.y[i], a.z[i]};
        for (int c = 0; c < 3; c++) {
            assert_true(isfinite(got[c]));
            if (size > 0)
                worst = fmax(worst, (double)(fabsl(got[c] - exact[c]) / size));
        }
    }
    return worst;
}

TEST(every_number_of_bodies_is_right)
{
    for (uint32_t count = 1; count < 90; count++) {
        problem p = {count, 2, 1, 1.5, count % 3 ? 0.05 : 0};
        foliot_world *world = world_of(p);
        check_below(worst_error(world, p), 1.5e-15);
        foliot_world_destroy(world);
    }
    problem p = {COUNT_MAX, 2, 1, 1.5, 0.01};
    foliot_world *world = world_of(p);
    check_below(worst_error(world, p), 1.5e-15);
    foliot_world_destroy(world);
}

TEST(scales_from_atoms_to_galaxies_are_right)
{
    static const problem problems[] = {
        {20, 1e11, 1e30, 6.67e-11, 0},
        {20, 1e-10, 1e-27, 6.67e-11, 0},
        {20, 1e-60, 1, 1, 0},
        {20, 0x1p39, 1, 1e9, 0},
        {20, 1, 1, 1, 1e6},
        {20, 1, 1e-30, 1, 1e-9},
    };
    for (size_t n = 0; n < sizeof problems / sizeof *problems; n++) {
        foliot_world *world = world_of(problems[n]);
        check_below(worst_error(world, problems[n]), 1.5e-15);
        foliot_world_destroy(world);
    }
}

TEST(scaling_by_a_power_of_two_scales_the_bits)
{
    problem p = {50, 1, 1, 1, 0};
    foliot_world *world = world_of(p);
    foliot_host host = {0};
    double was[3][COUNT_MAX + 8];
    accelerate(world, &host);
    memcpy(was, acceleration, sizeof was);
    foliot__v3 x = foliot__position(world);
    for (uint32_t i = 0; i < p.count; i++) {
        x.x[i] *= 0x1p-13;
        x.y[i] *= 0x1p-13;
        x.z[i] *= 0x1p-13;
    }
    accelerate(world, &host);
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < p.count; i++)
            check_bits(acceleration[c][i], was[c][i] * 0x1p26);
    foliot_world_destroy(world);
}

TEST(bodies_in_one_place_do_not_attract)
{
    problem p = {20, 1, 1e30, 1, 0};
    foliot_world *world = world_of(p);
    foliot__v3 x = foliot__position(world);
    for (uint32_t i = 0; i < p.count; i++)
        x.x[i] = x.y[i] = x.z[i] = i < 10 ? 0 : 1.25;
    check_below(worst_error(world, p), 1.5e-15);
    for (uint32_t i = 0; i < p.count; i++)
        x.x[i] = x.y[i] = x.z[i] = 0;
    foliot_host host = {0};
    accelerate(world, &host);
    for (uint32_t i = 0; i < p.count; i++)
        check_near(acceleration[0][i], 0, 0);
    foliot_world_destroy(world);
}

TEST(every_vector_width_gives_the_same_bits)
{
    enum { BLOCKS = 40, STRIDE = 8 * (BLOCKS + FOLIOT__NEWTON_AHEAD) };
    static double in[4][STRIDE] __attribute__((aligned(64)));
    static double out[3][3][STRIDE] __attribute__((aligned(64)));
    foliot__newton_kernel *kernels[3] = {foliot__newton_base, NULL, NULL};
#if defined(__x86_64__)
    if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX2)
        kernels[1] = foliot__newton_avx2;
    if (foliot__cpu_simd() >= FOLIOT__SIMD_AVX512)
        kernels[2] = foliot__newton_avx512;
#endif
    foliot__rng rng = foliot__rng_seeded(3);
    for (int trial = 0; trial < 40; trial++) {
        for (uint32_t i = 0; i < 8 * BLOCKS; i++)
            for (int c = 0; c < 4; c++)
                in[c][i] = (foliot__rng_unit(&rng) - (c < 3 ? 0.5 : 0)) *
                           (c < 3 ? 0x1p58 / (double)(1 + i * i * i) : 1);
        foliot__newton_bodies bodies = {in[0], in[1], in[2], in[3], 0x1p-120, BLOCKS};
        memset(out, 0, sizeof out);
        for (int k = 0; k < 3 && kernels[k]; k++)
            for (uint32_t block = 0; block < BLOCKS; block++)
                kernels[k](&bodies, block, (foliot__v3){out[k][0], out[k][1], out[k][2]});
        for (int k = 1; k < 3 && kernels[k]; k++)
            assert_memory_equal(out[k], out[0], sizeof out[0]);
        for (int c = 0; c < 3; c++)
            for (uint32_t i = 0; i < 8 * BLOCKS; i++) {
                assert_true(isfinite(out[0][c][i]));
                check_ne(out[0][c][i], 0);
            }
    }
}

TEST(one_thread_and_many_give_the_same_bits)
{
    task_pool *pool = task_pool_create(4);
    foliot_host alone = {0},
                many = {
                    .run = task_pool_run, .run_user = pool, .yield = task_pool_yield, .threads = 4};
    static const uint32_t counts[] = {5, 128, 129, 300, 777, 1100};
    for (size_t n = 0; n < sizeof counts / sizeof *counts; n++) {
        foliot_world *world = world_of((problem){counts[n], 3, 1, 1, 0.01});
        static double was[3][COUNT_MAX + 8];
        accelerate(world, &alone);
        memcpy(was, acceleration, sizeof was);
        for (int again = 0; again < 5; again++) {
            accelerate(world, &many);
            assert_memory_equal(was, acceleration, sizeof was);
        }
        foliot_world_destroy(world);
    }
    // 2, 4 and 5 tasks, five times each
    check_ge(task_pool_tasks(pool), 55);
    task_pool_destroy(pool);
}

TEST(capacity_changes_no_bits)
{
    problem p = {130, 3, 1, 1, 0};
    foliot_world *world = world_of(p), *large;
    foliot_host host = {0};
    static double was[3][COUNT_MAX + 8];
    accelerate(world, &host);
    memcpy(was, acceleration, sizeof was);
    foliot_force_definition force = foliot_force_definition_default(FOLIOT_FORCE_NEWTON);
    force.as.newton.constant = p.constant;
    foliot_scene scene = foliot_scene_default();
    scene.name = "large";
    scene.dt = 0.01;
    scene.bodies = body;
    scene.body_count = p.count;
    scene.bodies_max = 1000;
    scene.forces = &force;
    scene.force_count = 1;
    assert_int_equal(foliot_world_create(&scene, &large, NULL), FOLIOT_STATUS_OK);
    accelerate(large, &host);
    assert_memory_equal(was[0], acceleration[0], sizeof(double) * p.count);
    foliot_world_destroy(world);
    foliot_world_destroy(large);
}
