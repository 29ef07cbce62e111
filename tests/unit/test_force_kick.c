// SPDX-License-Identifier: MIT
// test_force_kick.c: kicks against the exact motion that they stand for; their order; their
// reversal.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../support/force_bench.h"
#include "../support/task_pool.h"
#include "base/cpu.h"
#include "base/rng.h"
#include "foliot/foliot.h"
#include "sim/force/force.h"
#include "sim/force/force_simd.h"

static field kicked(bench *b, double time, double h, foliot__kick_rule rule)
{
    field a = positions_part(b, time), v = copy_of(foliot__velocity(b->world), 16);
    foliot__force_kick(&b->step, foliot__position(b->world), of(&v), of(&a), time, h, rule);
    return v;
}

TEST(a_plain_kick_is_acceleration_times_duration)
{
    bench b;
    begin(&b, 3);
    b.scene.gravity[2] = -10;
    b.body[1].force[0] = 3;
    hold(&b, 2);
    make(&b);
    field v = kicked(&b, 0, 0.25, FOLIOT__KICK_EXACT);
    check_bits(v.z[0], b.body[0].velocity[2] - 2.5);
    check_near(v.x[1], b.body[1].velocity[0] + 3 / b.body[1].mass * 0.25, 1e-15);
    check_near(v.z[2], 0, 0);
    end(&b);
}

// Drag coefficients and an acceleration against what the exact flow of one body is.
TEST(drag_alone_is_exact)
{
    static const double linear[] = {0.7, 0, 0.7, 40}, quadratic[] = {0, 0.9, 0.9, 13};
    for (int n = 0; n < 4; n++)
        for (int s = 0; s < 2; s++) {
            bench b;
            begin(&b, 3);
            foliot_force_definition *f = add(&b, FOLIOT_FORCE_DRAG);
            f->as.drag.linear = linear[n];
            f->as.drag.quadratic = quadratic[n];
            make(&b);
            double h = s ? 0.8 : 0.01;
            field v = kicked(&b, 0, h, FOLIOT__KICK_EXACT);
            for (uint32_t i = 0; i < 3; i++) {
                double l = linear[n] / b.body[i].mass, q = quadratic[n] / b.body[i].mass;
                const double *u = b.body[i].velocity;
                double speed = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
                double e = exp(-l * h), phi = l > 0 ? (1 - e) / l : h;
                double exact = e / (1 + q * speed * phi);
                check_near(v.x[i], exact * u[0], 4e-15);
                check_near(v.z[i], exact * u[2], 4e-15);
            }
            end(&b);
        }
}

TEST(linear_drag_with_gravity_reaches_its_terminal_velocity)
{
    bench b;
    begin(&b, 1);
    b.body[0].mass = 2;
    b.scene.gravity[2] = -10;
    add(&b, FOLIOT_FORCE_DRAG)->as.drag.linear = 4;                       // rate 2
    add_spring(&b, 0, FOLIOT_NO_BODY, 0, 1, 0, FOLIOT_DAMPING_ISOTROPIC); // and 1/2 more
    make(&b);
    double v0 = b.body[0].velocity[2], h = 0.3;
    check_near(kicked(&b, 0, h, FOLIOT__KICK_EXACT).z[0], -4 + (v0 + 4) * exp(-2.5 * h), 2e-15);
    check_near(kicked(&b, 0, 1e3, FOLIOT__KICK_EXACT).z[0], -4, 1e-15);
    check_near(kicked(&b, 0, h, FOLIOT__KICK_CAYLEY).z[0],
               (v0 * (1 - 1.25 * h) - 10 * h) / (1 + 1.25 * h), 2e-15);
    end(&b);
}

TEST(one_damper_is_exact_and_keeps_momentum)
{
    for (int isotropic = 0; isotropic < 2; isotropic++) {
        bench b;
        begin(&b, 2);
        add_spring(&b, 0, 1, 0, 0.8, 1,
                   isotropic ? FOLIOT_DAMPING_ISOTROPIC : FOLIOT_DAMPING_ALONG);
        make(&b);
        double h = 0.6, mu = 1 / b.body[0].mass + 1 / b.body[1].mass, e = exp(-0.8 * mu * h);
        double d[3], w[3], along = 0, d2 = 0;
        for (int c = 0; c < 3; c++) {
            d[c] = b.body[1].position[c] - b.body[0].position[c];
            w[c] = b.body[1].velocity[c] - b.body[0].velocity[c];
            along += d[c] * w[c];
            d2 += d[c] * d[c];
        }
        field v = kicked(&b, 0, h, FOLIOT__KICK_EXACT);
        for (int c = 0; c < 3; c++) {
            double *u = component(of(&v), c);
            double kept = isotropic ? e * w[c] : w[c] + (e - 1) * along / d2 * d[c];
            check_near(u[1] - u[0], kept, 1e-15);
            check_near(b.body[0].mass * u[0] + b.body[1].mass * u[1],
                       b.body[0].mass * b.body[0].velocity[c] +
                           b.body[1].mass * b.body[1].velocity[c],
                       1e-15);
        }
        end(&b);
    }
}

TEST(a_kick_and_its_reverse_cancel)
{
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    for (int rule = 0; rule < 2; rule++) {
        field before = copy_of(foliot__velocity(b.world), 16), a = positions_part(&b, 0),
              v = before;
        foliot__v3 x = foliot__position(b.world);
        foliot__force_kick(&b.step, x, of(&v), of(&a), 0, 0.2, (foliot__kick_rule)rule);
        check_gt(fabs(v.x[0] - before.x[0]), 1e-3);
        foliot__force_kick(&b.step, x, of(&v), of(&a), 0, -0.2, (foliot__kick_rule)rule);
        for (uint32_t i = 0; i < 9; i++)
            for (int c = 0; c < 3; c++)
                check_near(component(of(&v), c)[i], component(of(&before), c)[i], 2e-14);
    }
    assert_int_equal(b.world->counters.solver_failures, 0);
    end(&b);
}

static double distance(field *a, field *b, uint32_t count)
{
    double sum = 0;
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < count; i++) {
            double d = component(of(a), c)[i] - component(of(b), c)[i];
            sum += d * d;
        }
    return sqrt(sum);
}

static field kicked_often(bench *b, double h, int times, foliot__kick_rule rule)
{
    field a = positions_part(b, 0), v = copy_of(foliot__velocity(b->world), 16);
    for (int n = 0; n < times; n++)
        foliot__force_kick(&b->step, foliot__position(b->world), of(&v), of(&a), 0, h / times,
                           rule);
    return v;
}

// rk4 in v with the total acceleration: an independent way to the same flow.
static field by_rk4(bench *b, double h, int times)
{
    foliot__v3 x = foliot__position(b->world);
    field v = copy_of(foliot__velocity(b->world), 16), k1, k2, k3, k4, at;
    h /= times;
    for (int n = 0; n < times; n++) {
        foliot__force_total(&b->step, x, of(&v), 0, of(&k1));
        at = moved(of(&v), of(&k1), h / 2, 9);
        foliot__force_total(&b->step, x, of(&at), 0, of(&k2));
        at = moved(of(&v), of(&k2), h / 2, 9);
        foliot__force_total(&b->step, x, of(&at), 0, of(&k3));
        at = moved(of(&v), of(&k3), h, 9);
        foliot__force_total(&b->step, x, of(&at), 0, of(&k4));
        v = moved(of(&v), of(&k1), h / 6, 9);
        v = moved(of(&v), of(&k2), h / 3, 9);
        v = moved(of(&v), of(&k3), h / 3, 9);
        v = moved(of(&v), of(&k4), h / 6, 9);
    }
    return v;
}

TEST(kicks_are_of_second_order)
{
    bench b;
    everything(&b);
    double k = 0.5;
    foliot_callback lent[2] = {{well, NULL, &k, false}, {magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 2};
    field exact = by_rk4(&b, 0.5, 400);
    for (int rule = 0; rule < 2; rule++) {
        field coarse = kicked_often(&b, 0.5, 16, (foliot__kick_rule)rule);
        field fine = kicked_often(&b, 0.5, 32, (foliot__kick_rule)rule);
        double ratio = distance(&coarse, &exact, 9) / distance(&fine, &exact, 9);
        check_near(ratio, 4, 0.05);
    }
    end(&b);
}

TEST(a_magnetic_callback_keeps_speed_and_a_stiff_one_converges)
{
    bench b;
    begin(&b, 2);
    add(&b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    make(&b);
    double k = 100;
    foliot_callback lent[1] = {{magnet, NULL, &k, true}};
    b.host = (foliot_host){.callbacks = lent, .callback_count = 1};
    field v = kicked(&b, 0, 0.1, FOLIOT__KICK_EXACT); // 10 radians
    for (uint32_t i = 0; i < 2; i++) {
        const double *u = b.body[i].velocity;
        check_near(v.x[i] * v.x[i] + v.y[i] * v.y[i], u[0] * u[0] + u[1] * u[1], 1e-14);
        check_near(v.z[i], u[2], 1e-15);
    }
    lent[0].acceleration = friction;
    k = 1e6;
    v = kicked(&b, 0, 0.1, FOLIOT__KICK_EXACT); // (1 - 5e4) / (1 + 5e4)
    check_near(v.x[0], b.body[0].velocity[0] * (1 - 5e4) / (1 + 5e4), 1e-12);
    assert_int_equal(b.world->counters.solver_failures, 0);
    end(&b);
}

TEST(kinematic_worlds_leave_out_what_their_scheme_moves)
{
    bench b;
    begin(&b, 2);
    b.scene.integrator = FOLIOT_INTEGRATOR_KINEMATIC_STRANG;
    b.scene.gravity[2] = -10;
    b.body[0].force[0] = 5;
    add(&b, FOLIOT_FORCE_DRAG)->as.drag.linear = 1;
    add_spring(&b, 0, FOLIOT_NO_BODY, 3, 0, 0, FOLIOT_DAMPING_ALONG);
    foliot_force_definition *f = add(&b, FOLIOT_FORCE_ATTRACTOR);
    f->as.attractor.strength = 1;
    make(&b);
    field a;
    foliot__force_total(&b.step, foliot__position(b.world), foliot__velocity(b.world), 0, of(&a));
    const double *x = b.body[0].position;
    double r2 = x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    check_near(a.z[0], -x[2] / (r2 * sqrt(r2)), 1e-15);
    check_near(a.x[0], -x[0] / (r2 * sqrt(r2)), 1e-15);
    field v = kicked(&b, 0, 1, FOLIOT__KICK_EXACT);
    check_near(v.x[0], b.body[0].velocity[0] + a.x[0], 1e-15);
    end(&b);
}

// -- force newton: pairwise gravity: the same bits for every vector width and number of
// threads, against a plain loop in long double, over every number of bodies up to a few blocks and
// over extreme scales.

#define COUNT_MAX 1100

static foliot_body_definition body[COUNT_MAX];

typedef struct problem {
    uint32_t count;
    double extent, mass, constant, softening;
} problem;

static foliot_world *world_of(problem p)
{
    foliot__rng dice = foliot__rng_seeded(p.count);
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
        body[i].mass = p.mass * (0.5 + foliot__rng_unit(&dice));
        for (int c = 0; c < 3; c++)
            body[i].position[c] = p.extent * (2 * foliot__rng_unit(&dice) - 1);
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
    foliot__rng dice = foliot__rng_seeded(3);
    for (int trial = 0; trial < 40; trial++) {
        for (uint32_t i = 0; i < 8 * BLOCKS; i++)
            for (int c = 0; c < 4; c++)
                in[c][i] = (foliot__rng_unit(&dice) - (c < 3 ? 0.5 : 0)) *
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
