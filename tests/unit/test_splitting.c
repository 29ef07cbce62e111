// SPDX-License-Identifier: MIT
// test_splitting.c: the kick/drift schemes: their coefficients to the bit, closed forms on uniform
// gravity with ==, forces that depend on time, pushes that change at ticks, rods, the clamp.
#include "check.h"

#include <math.h>
#include <string.h>

#include "problems.h"
#include "slots.h"
#include "sim/integrator/composition.h"

// -- coefficients

// Nearest binary64 of the published digits, found with 60-digit arithmetic.
TEST(weights_are_the_nearest_doubles)
{
    check_bits(FOLIOT__YOSHIDA4_W1, 0x1.59e8b6eb96338p+0);
    check_bits(FOLIOT__YOSHIDA4_W2, -0x1.b3d16dd72c671p+0);
    check_bits(FOLIOT__YOSHIDA6_W1, 0x1.91abc49889363p-1);
    check_bits(FOLIOT__YOSHIDA6_W2, 0x1.e2743579895ddp-3);
    check_bits(FOLIOT__YOSHIDA6_W3, -0x1.2d7c6f7933b97p+0);
    check_bits(FOLIOT__YOSHIDA6_W4, 0x1.50b00cfb7be54p+0);
    check_bits(FOLIOT__KAHAN_LI8_W1, 0x1.0aa79975cc575p-3);
    check_bits(FOLIOT__KAHAN_LI8_W2, 0x1.1f50c11ce65ddp-1);
    check_bits(FOLIOT__KAHAN_LI8_W3, -0x1.8ed2864cae880p-2);
    check_bits(FOLIOT__KAHAN_LI8_W4, 0x1.454ee7cf1c04fp-3);
    check_bits(FOLIOT__KAHAN_LI8_W5, -0x1.9567d496a52c4p-2);
    check_bits(FOLIOT__KAHAN_LI8_W6, 0x1.79efeb568a21ep-3);
    check_bits(FOLIOT__KAHAN_LI8_W7, 0x1.08934ba4f2760p-2);
    check_bits(FOLIOT__KAHAN_LI8_W8, 0x1.2e178da35ab46p-2);
    check_bits(FOLIOT__KAHAN_LI8_W9, -0x1.360536ec7f70ep-1);
#define ADD(w) +(w)
    check_near(0 FOLIOT__YOSHIDA4(ADD), 1, 4e-16);
    check_near(0 FOLIOT__YOSHIDA6(ADD), 1, 4e-16);
    check_near(0 FOLIOT__KAHAN_LI8(ADD), 1, 4e-16);
#undef ADD
}

// Probes: a callback that records when and where it was asked, with a chosen force.
typedef struct probe {
    int count;
    double time[64], x[64];
} probe;

static void record(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                   double *az)
{
    probe *p = user;
    (void)ax, (void)ay, (void)az;
    if (p->count < 64) {
        p->time[p->count] = at->time;
        p->x[p->count] = at->x[0];
    }
    p->count++;
}

static void add_probe(problem *p, probe *seen)
{
    problem_force(p, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    p->callback = (foliot_callback){.acceleration = record, .user = seen};
    p->host.callback_count = 1;
}

// In free flight at speed 1 the position where a force is asked is the sum of the drifts until
// there: the tables' nodes. Times advance with them; the last kick is at the end of the step to the
// bit.
TEST(nodes_are_those_of_the_tables)
{
    static const struct {
        foliot_integrator id;
        int count;
        double node[17];
    } rows[] = {
        {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 1, {0}},
        {FOLIOT_INTEGRATOR_VELOCITY_VERLET, 2, {0, 1}},
        {FOLIOT_INTEGRATOR_LEAPFROG, 1, {0.5}},
        {FOLIOT_INTEGRATOR_YOSHIDA4, 3, {0.6756035959798288170, 0.5, 0.3243964040201711830}},
        {FOLIOT_INTEGRATOR_PEFRL4,
         4,
         {0.17861789584480906706, 0.11235331317499057078, 0.88764668682500942922,
          0.82138210415519093294}},
        {FOLIOT_INTEGRATOR_BLANES_MOAN6,
         12,
         {0, 0.1232297759462702139, 0.4137835737458285262, 0.2867343611204125362,
          0.0404026000583364404, 0.3976114728542639513, 0.6023885271457360487,
          0.9595973999416635596, 0.7132656388795874638, 0.5862164262541714738,
          0.8767702240537297861, 1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        problem p;
        probe seen = {0};
        problem_body(&p, rows[i].id, 1);
        p.bodies[0].velocity[0] = 1;
        add_probe(&p, &seen);
        foliot_world *world = problem_world(&p);
        problem_step(&p, world, 1);
        foliot_world_destroy(world);
        assert_int_equal(seen.count, rows[i].count);
        for (int k = 0; k < seen.count; k++) {
            check_near(seen.x[k], rows[i].node[k], 3e-16);
            check_near(seen.time[k], rows[i].node[k], 3e-16);
        }
    }
}

typedef struct instant {
    int count, at; // pushes with 1 at call number `at`
} instant;

static void push_once(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                      double *az)
{
    instant *p = user;
    (void)at, (void)ay, (void)az;
    ax[0] += p->count++ == p->at ? 1 : 0;
}

// A force that acts at one evaluation alone gives the velocity d of its kick.
TEST(kicks_are_those_of_the_tables)
{
    static const struct {
        foliot_integrator id;
        int count;
        double kick[12];
    } rows[] = {
        {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 1, {1}},
        {FOLIOT_INTEGRATOR_VELOCITY_VERLET, 2, {0.5, 0.5}},
        {FOLIOT_INTEGRATOR_LEAPFROG, 1, {1}},
        {FOLIOT_INTEGRATOR_YOSHIDA4,
         3,
         {0x1.59e8b6eb96338p+0, -0x1.b3d16dd72c671p+0, 0x1.59e8b6eb96338p+0}},
        {FOLIOT_INTEGRATOR_PEFRL4,
         4,
         {0x1.6cb81187f929dp-1, -0x1.b2e0461fe4a74p-3, -0x1.b2e0461fe4a74p-3,
          0x1.6cb81187f929dp-1}},
        {FOLIOT_INTEGRATOR_BLANES_MOAN6,
         12,
         {0x1.53ae679211699p-5, 0x1.95c47c324dd63p-3, -0x1.47bb10d731d17p-5, 0x1.343d859780f83p-4,
          -0x1.7934844070b43p-7, 0x1.e4b3339740d2fp-3, 0x1.e4b3339740d2fp-3, -0x1.7934844070b43p-7,
          0x1.343d859780f83p-4, -0x1.47bb10d731d17p-5, 0x1.95c47c324dd63p-3, 0x1.53ae679211699p-5}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        for (int k = 0; k < rows[i].count; k++) {
            problem p;
            instant push = {0, k};
            problem_body(&p, rows[i].id, 1);
            problem_force(&p, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
            p.callback = (foliot_callback){.acceleration = push_once, .user = &push};
            p.host.callback_count = 1;
            foliot_world *world = problem_world(&p);
            problem_step(&p, world, 1);
            check_bits(slot_state(world, 0).velocity[0], rows[i].kick[k]);
            foliot_world_destroy(world);
        }
}

TEST(the_end_of_a_step_is_the_next_ones_start)
{
    problem p;
    probe seen = {0};
    problem_body(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 0.1);
    add_probe(&p, &seen);
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 50);
    assert_int_equal(seen.count, 51);
    for (int k = 0; k <= 50; k++)
        check_bits(seen.time[k], k * 0.1);
    foliot_world_destroy(world);
}

// -- uniform gravity with dyadic numbers: closed forms with ==

static foliot_body_state thrown(foliot_integrator id, int steps)
{
    problem p;
    problem_body(&p, id, 1.0 / 64);
    p.scene.gravity[2] = -8;
    p.bodies[0].position[2] = 3;
    p.bodies[0].velocity[2] = 5;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)steps);
    foliot_body_state b = slot_state(world, 0);
    foliot_world_destroy(world);
    return b;
}

TEST(uniform_gravity_is_exact)
{
    const double h = 1.0 / 64, g = 8;
    for (int n = 1; n <= 4096; n *= 4) {
        double t = n * h, exact = 3 + 5 * t - g * t * t / 2;
        static const foliot_integrator second_order[] = {FOLIOT_INTEGRATOR_VELOCITY_VERLET,
                                                         FOLIOT_INTEGRATOR_LEAPFROG,
                                                         FOLIOT_INTEGRATOR_VERLET,
                                                         FOLIOT_INTEGRATOR_MIDPOINT,
                                                         FOLIOT_INTEGRATOR_HEUN,
                                                         FOLIOT_INTEGRATOR_IMPROVED_EULER};
        for (size_t i = 0; i < sizeof second_order / sizeof second_order[0]; i++) {
            check_bits(thrown(second_order[i], n).position[2], exact);
            check_bits(thrown(second_order[i], n).velocity[2], 5 - g * t);
        }
        foliot_body_state b = thrown(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, n);
        check_bits(b.position[2], 3 + 5 * t - g * h * h * n * (n + 1.0) / 2);
        check_bits(b.velocity[2], 5 - g * t);
        b = thrown(FOLIOT_INTEGRATOR_EXPLICIT_EULER, n);
        check_bits(b.position[2], 3 + 5 * t - g * h * h * n * (n - 1.0) / 2);
        b = thrown(FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, n);
        check_bits(b.position[2], exact);
        check_near(thrown(FOLIOT_INTEGRATOR_RK4, n).position[2], exact, 1e-11 * n);
        check_near(thrown(FOLIOT_INTEGRATOR_KAHAN_LI8, n).position[2], exact, 1e-12 * n * n);
    }
}

TEST(two_steps_a_second_are_enough_for_constant_force)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 0.5);
    p.bodies[0].force[0] = 10;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 20);
    check_bits(slot_state(world, 0).position[0], 500.0);
    check_bits(slot_state(world, 0).velocity[0], 100.0);
    foliot_world_destroy(world);
}

// -- forces that depend on time

// 3 N from t = 1 to t = 2 on 2 kg, edges on the grid and off it: the impulse is what the scheme's
// nodes see.
TEST(a_pulse_gives_its_impulse)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_LEAPFROG, 1.0 / 64);
    p.bodies[0].mass = 2;
    foliot_force_definition *pulse = problem_force(&p, FOLIOT_FORCE_CONSTANT);
    pulse->a = 0;
    pulse->as.constant.force[0] = 3;
    pulse->as.constant.start = 1;
    pulse->as.constant.end = 2;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 64);
    check_bits(slot_state(world, 0).velocity[0], 0.0);
    problem_step(&p, world, 64);
    check_bits(slot_state(world, 0).velocity[0], 1.5);
    check_bits(slot_state(world, 0).position[0], 0.75);
    problem_step(&p, world, 64);
    check_bits(slot_state(world, 0).velocity[0], 1.5);
    check_bits(slot_state(world, 0).position[0], 2.25);
    foliot_world_destroy(world);
}

static void push_by_cosine(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                           double *az)
{
    (void)user, (void)ay, (void)az;
    ax[0] += -at->x[0] + foliot_cos(2 * at->time);
}

static double driven_error(foliot_integrator id, int count)
{
    problem p;
    problem_body(&p, id, 8.0 / count);
    problem_force(&p, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    p.callback = (foliot_callback){.acceleration = push_by_cosine};
    p.host.callback_count = 1;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)count);
    foliot_body_state b = slot_state(world, 0);
    foliot_world_destroy(world);
    // x'' = -x + cos 2t from rest.
    return hypot(b.position[0] - (cos(8) - cos(16)) / 3,
                 b.velocity[0] - (2 * sin(16) - sin(8)) / 3);
}

// Stage times are right only if the driven oscillator keeps the scheme's order.
TEST(driven_oscillators_keep_the_order)
{
    static const struct {
        foliot_integrator id;
        int count;
    } rows[] = {
        {FOLIOT_INTEGRATOR_VELOCITY_VERLET, 512}, {FOLIOT_INTEGRATOR_LEAPFROG, 512},
        {FOLIOT_INTEGRATOR_VERLET, 512},          {FOLIOT_INTEGRATOR_MIDPOINT, 2048},
        {FOLIOT_INTEGRATOR_HEUN, 2048},           {FOLIOT_INTEGRATOR_RK4, 256},
        {FOLIOT_INTEGRATOR_YOSHIDA4, 256},        {FOLIOT_INTEGRATOR_PEFRL4, 128},
        {FOLIOT_INTEGRATOR_YOSHIDA6, 128},        {FOLIOT_INTEGRATOR_BLANES_MOAN6, 40},
        {FOLIOT_INTEGRATOR_KAHAN_LI8, 24},        {FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 512}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info(rows[i].id);
        double coarse = driven_error(rows[i].id, rows[i].count);
        double fine = driven_error(rows[i].id, 2 * rows[i].count);
        print_message("%-20s order %.3f, finer error %.1e\n", info->name, log2(coarse / fine),
                      fine);
        check_near(log2(coarse / fine), info->order, info->order > 6 ? 0.1 : 0.05);
    }
}

// -- pushes that change at ticks

static const double spawn[1][3] = {{0, 0, 0}};

// A player pushes during the second second only. The cached acceleration must not know of it.
TEST(a_push_acts_in_its_ticks_alone)
{
    static const foliot_integrator ids[] = {FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER,
                                            FOLIOT_INTEGRATOR_VELOCITY_VERLET,
                                            FOLIOT_INTEGRATOR_LEAPFROG,
                                            FOLIOT_INTEGRATOR_VERLET,
                                            FOLIOT_INTEGRATOR_IMPROVED_EULER,
                                            FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        problem p;
        problem_body(&p, ids[i], 1.0 / 64);
        p.scene.players.limit = 1;
        p.scene.players.positions = spawn;
        p.scene.players.position_count = 1;
        p.scene.players.force = 127;
        foliot_world *world = problem_world(&p);
        foliot_input join = {.sequence = 1, .kind = FOLIOT_INPUT_JOIN};
        foliot_input push = {.sequence = 2, .axes = {16}}, stop = {.sequence = 3};
        assert_int_equal(foliot_world_step(world, &join, 1, NULL), FOLIOT_STATUS_OK);
        uint32_t slot = player_slot(world, 0);
        for (int n = 1; n < 64; n++)
            assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        check_bits(slot_state(world, slot).velocity[0], 0.0);
        for (int n = 0; n < 64; n++)
            assert_int_equal(foliot_world_step(world, n == 0 ? &push : NULL, n == 0, NULL),
                             FOLIOT_STATUS_OK);
        for (int n = 0; n < 64; n++)
            assert_int_equal(foliot_world_step(world, n == 0 ? &stop : NULL, n == 0, NULL),
                             FOLIOT_STATUS_OK);
        check_near(slot_state(world, slot).velocity[0], 16, 1e-12);
        // 8 while pushed and 16 after, give or take the order of kick and drift; verlet's push is
        // that of whole ticks around the positions.
        check_near(slot_state(world, slot).position[0], 24, 16.0 / 64);
        foliot_world_destroy(world);
    }
}

// -- the clamp

// Four substeps of a tick are four ticks of a quarter, to the bit (the numbers are dyadic).
TEST(substeps_are_smaller_steps)
{
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++) {
        problem p;
        double turning = i == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG ? 0 : 1.3;
        problem_henon_heiles(&p, (foliot_integrator)i, 0.125);
        p.bodies[0].inertia[0] = 1.1;
        p.bodies[0].inertia[1] = 2.3;
        p.bodies[0].inertia[2] = 1.7;
        p.bodies[0].angular_velocity[1] = turning;
        p.bodies[0].angular_velocity[2] = turning / 3;
        p.scene.substeps = 4;
        foliot_world *coarse = problem_world(&p);
        p.scene.substeps = 1;
        p.scene.dt = 0.125 / 4;
        foliot_world *fine = problem_world(&p);
        problem_step(&p, coarse, 50);
        problem_step(&p, fine, 200);
        foliot_body_state a = slot_state(coarse, 0), b = slot_state(fine, 0);
        for (int k = 0; k < 3; k++) {
            check_bits(a.position[k], b.position[k]);
            check_bits(a.velocity[k], b.velocity[k]);
            check_bits(a.angular_velocity[k], b.angular_velocity[k]);
        }
        assert_int_equal(foliot_world_get_counters(coarse)->force_evaluations,
                         foliot_world_get_counters(fine)->force_evaluations);
        foliot_world_destroy(coarse);
        foliot_world_destroy(fine);
    }
}

TEST(speeds_are_clamped)
{
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++) {
        problem p;
        problem_body(&p, (foliot_integrator)i, 0.125);
        p.scene.gravity[2] = -8;
        p.bodies[0].velocity[0] = 3;
        p.scene.speed_max = 5;
        if (!problem_admitted(&p)) {
            assert_int_equal(i, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG);
            continue;
        }
        foliot_world *world = problem_world(&p);
        double last = 0;
        for (int n = 0; n < 80; n++) {
            problem_step(&p, world, 1);
            foliot_body_state b = slot_state(world, 0);
            check_below(hypot(b.velocity[0], b.velocity[2]), 5 * (1 + 1e-15));
            // It falls no faster than it may, verlet's hidden velocity included.
            check_below(last - b.position[2], (5 + 8 * 0.125) * 0.125 + 1e-12);
            last = b.position[2];
        }
        check_lt(slot_state(world, 0).velocity[2], -4.9);
        foliot_world_destroy(world);
    }
}
