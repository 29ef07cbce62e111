// SPDX-License-Identifier: MIT
// test_runge_kutta.c: the schemes that add slopes: published tables of explicit Euler, and the
// exact one-step determinants on the oscillator of every scheme, which say how fast energy is
// gained or lost.
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "problems.h"

// -- explicit Euler's tables: 10 N on 1 kg from rest

TEST(explicit_eulers_table)
{
    static const double table[] = {0, 0, 10, 30, 60, 100, 150, 210, 280, 360, 450}; // exact: 500
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_EXPLICIT_EULER, 1);
    p.bodies[0].force[0] = 10;
    foliot_world *world = problem_world(&p);
    for (int n = 0; n <= 10; n++) {
        check_bits(foliot_world_get_body_state(world, 0).position[0], table[n]);
        check_bits(foliot_world_get_body_state(world, 0).velocity[0], 10.0 * n);
        problem_step(&p, world, 1);
    }
    foliot_world_destroy(world);
}

// The published table is binary32's: dt = 1/100 summed up is 10.000134 after a thousand steps. The
// world is binary64, so the loop is here.
TEST(the_table_in_binary32)
{
    volatile float t = 0, x = 0, v = 0;
    const float dt = 1.0f / 100, force = 10, mass = 1;
    for (int n = 0; n < 1000; n++) {
        x = x + v * dt;
        v = v + (force / mass) * dt;
        t = t + dt;
    }
    char text[64];
    snprintf(text, sizeof text, "%f %f", (double)x, (double)v);
    assert_string_equal(text, "499.497070 99.999046");

    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_EXPLICIT_EULER, 0.01);
    p.bodies[0].force[0] = 10;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 1000);
    check_near(foliot_world_get_body_state(world, 0).position[0], 499.5, 1e-10);
    check_near(foliot_world_get_body_state(world, 0).velocity[0], 100, 1e-11);
    foliot_world_destroy(world);
}

// -- determinants

// Determinant of the map of one step on x'' = -x, dt = theta.
static double determinant(foliot_integrator id, double theta)
{
    double m[2][2];
    for (int i = 0; i < 2; i++) {
        problem p;
        problem_oscillator(&p, id, theta, 1, i == 0);
        p.bodies[0].velocity[0] = i == 1;
        foliot_world *world = problem_world(&p);
        problem_step(&p, world, 1);
        m[i][0] = foliot_world_get_body_state(world, 0).position[0];
        m[i][1] = foliot_world_get_body_state(world, 0).velocity[0];
        foliot_world_destroy(world);
    }
    return m[0][0] * m[1][1] - m[0][1] * m[1][0];
}

static double expected_determinant(foliot_integrator id, double theta)
{
    double t2 = theta * theta, t4 = t2 * t2;
    switch (id) {
    case FOLIOT_INTEGRATOR_EXPLICIT_EULER:
        return 1 + t2;
    case FOLIOT_INTEGRATOR_IMPROVED_EULER:
        return 1 + t2 / 2;
    case FOLIOT_INTEGRATOR_MIDPOINT:
    case FOLIOT_INTEGRATOR_HEUN:
        return 1 + t4 / 4;
    case FOLIOT_INTEGRATOR_RK4:
        return 1 - t4 * t2 / 72 + t4 * t4 / 576;
    case FOLIOT_INTEGRATOR_IMPLICIT_EULER:
        return 1 / (1 + t2);
    case FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED:
        return 1 - t2 / 2;
    case FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE: // leading term 1 - theta^4 / 24: test_kinematic.c
        return NAN;
    default: // symplectic, or exact on one spring
        return 1;
    }
}

TEST(one_step_determinants)
{
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++)
        for (double theta = 0.1; theta < 1.5; theta *= 2) {
            double expected = expected_determinant((foliot_integrator)i, theta);
            bool lattice = i == FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG;
            if (!isnan(expected))
                check_near(determinant((foliot_integrator)i, theta), expected,
                           lattice ? 1e-11 : 5e-15);
        }
}

// The prediction is the parabola x + v dt + a dt^2 / 2; the determinant would be the same without
// its last term.
TEST(the_corrected_velocity_verlet_predicts_a_parabola)
{
    const double dt = 0.5, x = 1, v = 0.25;
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED, dt, 1, x);
    p.bodies[0].velocity[0] = v;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 1);
    double predicted = x + v * dt - x * dt * dt / 2, faster = v - dt * (x + predicted) / 2;
    check_bits(foliot_world_get_body_state(world, 0).velocity[0], faster);
    check_bits(foliot_world_get_body_state(world, 0).position[0], x + dt * faster);
    foliot_world_destroy(world);
}

// Explicit Euler's energy is multiplied by 1 + theta^2 every step, and improved Euler's grows as
// the determinant says: (theta^2 / 2) a step.
TEST(energy_follows_the_determinant)
{
    static const foliot_integrator ids[] = {
        FOLIOT_INTEGRATOR_EXPLICIT_EULER, FOLIOT_INTEGRATOR_IMPROVED_EULER,
        FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED, FOLIOT_INTEGRATOR_IMPLICIT_EULER,
        FOLIOT_INTEGRATOR_RK4};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        problem p;
        problem_oscillator(&p, ids[i], 0.1, 1, 1);
        foliot_world *world = problem_world(&p);
        problem_step(&p, world, 1000);
        foliot_body_state b = foliot_world_get_body_state(world, 0);
        double energy = b.position[0] * b.position[0] + b.velocity[0] * b.velocity[0];
        foliot_world_destroy(world);
        double expected = pow(expected_determinant(ids[i], 0.1), 1000);
        // The ellipse on which it turns is not quite a circle: to within theta.
        check_near(energy / expected, 1, 0.11);
    }
}
