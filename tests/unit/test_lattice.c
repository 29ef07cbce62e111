// SPDX-License-Identifier: MIT
// test_lattice.c: reversible-leapfrog runs backwards to the very bits it came from, players' pushes
// included; what leaves the lattice is frozen.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems.h"
#include "slots.h"

#define MILLION 1000000

static bool same_state(const foliot_world *a, const foliot_world *b)
{
    foliot_digest da = foliot_world_get_digest(a), db = foliot_world_get_digest(b);
    return foliot_digest_equal(da, db);
}

static void back(problem *p, foliot_world *world, uint64_t steps)
{
    for (uint64_t i = 0; i < steps; i++)
        if (foliot_world_step_back(world, NULL, 0, &p->host) != FOLIOT_STATUS_OK)
            fail_msg("a step back was refused");
}

TEST(a_million_steps_forward_and_a_million_back)
{
    problem p;
    problem_kepler(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 1.0 / 60, 0.3);
    // Ugly numbers, a second force and two more bodies.
    p.bodies[0].velocity[2] = 0.1234567;
    p.scene.body_count = 3;
    p.bodies[1].position[0] = -1.7;
    p.bodies[1].velocity[1] = 0.71;
    p.bodies[2].position[1] = 5.5;
    problem_force(&p, FOLIOT_FORCE_NEWTON)->as.newton.constant = 1e-3;
    p.forces[1].as.newton.softening = 0.1;
    foliot_world *world = problem_world(&p), *start = problem_world(&p);
    problem_step(&p, world, MILLION);
    assert_int_equal(foliot_world_get_tick(world), MILLION);
    assert_false(same_state(world, start));
    back(&p, world, MILLION);
    assert_int_equal(foliot_world_get_tick(world), 0);
    assert_true(same_state(world, start));
    for (uint32_t i = 0; i < 3; i++) {
        foliot_body_state a = slot_state(world, i), b = slot_state(start, i);
        for (int k = 0; k < 3; k++) {
            check_bits(a.position[k], b.position[k]);
            check_bits(a.velocity[k], b.velocity[k]);
        }
    }
    assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 0);
    foliot_world_destroy(world);
    foliot_world_destroy(start);
}

// Only this scheme promises it.
TEST(other_schemes_do_not_step_back)
{
    problem p;
    problem_kepler(&p, FOLIOT_INTEGRATOR_LEAPFROG, 1.0 / 60, 0.3);
    foliot_world *world = problem_world(&p);
    assert_int_equal(foliot_world_step_back(world, NULL, 0, NULL), FOLIOT_STATUS_UNSUPPORTED);
    foliot_world_destroy(world);
}

TEST(substeps_run_backwards_too)
{
    problem p;
    problem_henon_heiles(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 0.1);
    p.scene.substeps = 3;
    foliot_world *world = problem_world(&p), *start = problem_world(&p);
    problem_step(&p, world, 1000);
    back(&p, world, 1000);
    assert_true(same_state(world, start));
    foliot_world_destroy(world);
    foliot_world_destroy(start);
}

// A force that begins and ends in between: times on the way back are those of the way forward.
TEST(a_pulse_is_undone)
{
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 0.01, 15, 1);
    foliot_force_definition *pulse = problem_force(&p, FOLIOT_FORCE_CONSTANT);
    pulse->a = 0;
    pulse->as.constant.force[1] = 3.3;
    pulse->as.constant.start = 1.005;
    pulse->as.constant.end = 2.111;
    foliot_world *world = problem_world(&p), *start = problem_world(&p);
    problem_step(&p, world, 500);
    check_gt(fabs(slot_state(world, 0).position[1]), 0.01);
    back(&p, world, 500);
    assert_true(same_state(world, start));
    foliot_world_destroy(world);
    foliot_world_destroy(start);
}

static const double spawn[1][3] = {{0.3, 0, 0}};

// A player flies with inputs that change; the world is rewound by the controls of each tick.
TEST(players_are_rewound)
{
    enum { TICKS = 300 };
    problem p;
    problem_kepler(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 1.0 / 60, 0.3);
    p.scene.players.limit = 1;
    p.scene.players.positions = spawn;
    p.scene.players.position_count = 1;
    p.scene.players.force = 0.37;
    foliot_world *world = problem_world(&p);
    foliot_input join = {.sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    assert_int_equal(foliot_world_step(world, &join, 1, NULL), FOLIOT_STATUS_OK);
    foliot_digest digests[TICKS + 1];
    foliot_input inputs[TICKS];
    digests[0] = foliot_world_get_digest(world);
    for (int t = 0; t < TICKS; t++) {
        inputs[t] = (foliot_input){.sequence = 2 + (uint32_t)t,
                                   .axes = {(int8_t)(t % 200 - 100), (int8_t)(77 - t % 150), 5, 0}};
        assert_int_equal(foliot_world_step(world, &inputs[t], 1, NULL), FOLIOT_STATUS_OK);
        digests[t + 1] = foliot_world_get_digest(world);
    }
    // Backwards: tick t was made under inputs[t], before it inputs[t - 1] were held.
    for (int t = TICKS - 1; t > 0; t--) {
        assert_int_equal(foliot_world_step_back(world, &inputs[t - 1], 1, NULL), FOLIOT_STATUS_OK);
        foliot_digest now = foliot_world_get_digest(world);
        assert_true(foliot_digest_equal(now, digests[t]));
    }
    foliot_world_destroy(world);
}

TEST(what_leaves_the_lattice_is_frozen)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 1);
    p.bodies[0].velocity[0] = 1e6;
    p.scene.body_count = 2;
    p.bodies[1].velocity[1] = 1;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 10);
    foliot_body_state fast = slot_state(world, 0), slow = slot_state(world, 1);
    assert_true(fast.flags & FOLIOT_BODY_FROZEN);
    check_bits(fast.position[0], 4e6); // 2^22 is 4.19e6
    check_bits(fast.velocity[0], 0.0);
    assert_false(slow.flags & FOLIOT_BODY_FROZEN);
    check_bits(slow.position[1], 10.0);
    assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 1);
    foliot_world_destroy(world);
}

// Rounding to 2^-40 is odd: a mirrored world stays the mirror image, to the bit.
TEST(mirrored_worlds_stay_mirrored)
{
    problem p;
    problem_kepler(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 1.0 / 60, 0.3);
    foliot_world *world = problem_world(&p);
    p.bodies[0].position[0] *= -1;
    p.bodies[0].velocity[1] *= -1;
    foliot_world *mirror = problem_world(&p);
    for (int n = 0; n < 10000; n++) {
        problem_step(&p, world, 1);
        problem_step(&p, mirror, 1);
    }
    foliot_body_state a = slot_state(world, 0), b = slot_state(mirror, 0);
    for (int k = 0; k < 2; k++) {
        check_bits(a.position[k], -b.position[k]);
        check_bits(a.velocity[k], -b.velocity[k]);
    }
    foliot_world_destroy(world);
    foliot_world_destroy(mirror);
}

// Leapfrog's own invariant on the oscillator, p^2 (1 - h^2/4) + q^2: rounding walks, it does not
// drift.
TEST(the_noise_of_the_lattice_is_small)
{
    const double h = 0.1;
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, h, 1, 1);
    foliot_world *world = problem_world(&p);
    double worst = 0;
    for (int n = 0; n < MILLION; n++) {
        problem_step(&p, world, 1);
        foliot_body_state b = slot_state(world, 0);
        double q = b.position[0], v = b.velocity[0];
        worst = fmax(worst, fabs(v * v * (1 - h * h / 4) + q * q - 1));
    }
    foliot_world_destroy(world);
    print_message("a million steps: off by %.1e\n", worst);
    check_below(worst, 1e-9);
}
