// SPDX-License-Identifier: MIT
// test_verlet.c: Stoermer-Verlet says what its formulas say: two positions make the third, velocity
// is the central difference, drag enters both; a changing dt in both forms; starts, spawns and
// changed velocities.
#include "check.h"

#include <math.h>
#include <string.h>

#include "problems.h"

static double position(const foliot_world *world)
{
    return foliot_world_get_body_state(world, 0).position[0];
}

static double velocity(const foliot_world *world)
{
    return foliot_world_get_body_state(world, 0).velocity[0];
}

static double field(const foliot_world *world, foliot_field which)
{
    uint64_t bits = foliot_world_get_field(world, 0, which);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// x(t+1) = (2x - x(t-1) (1 - b dt/2) + a dt^2) / (1 + b dt/2), v(t) = (x(t+1) - x(t-1)) / 2dt.
TEST(positions_and_velocities_obey_the_formulas)
{
    static const double drag[] = {0, 0.1, 2};
    const double k = 15, dt = 0.05;
    for (int d = 0; d < 3; d++) {
        double b = drag[d];
        problem p;
        problem_damped_oscillator(&p, FOLIOT_INTEGRATOR_VERLET, dt, k, b, 1);
        foliot_world *world = problem_world(&p);
        double before = 0, now = position(world), v_now = 0;
        for (int n = 0; n < 500; n++) {
            problem_step(&p, world, 1);
            double next = position(world);
            if (n > 0) {
                double formula =
                    (2 * now - before * (1 - b * dt / 2) - k * now * dt * dt) / (1 + b * dt / 2);
                check_near(next, formula, 1e-15);
                check_near(v_now, (next - before) / (2 * dt), 1e-13);
            }
            check_bits(field(world, FOLIOT_FIELD_previous_x), now);
            before = now;
            now = next;
            v_now = velocity(world);
        }
        foliot_world_destroy(world);
    }
}

TEST(it_is_velocity_verlet_where_nothing_damps)
{
    problem p, q;
    problem_henon_heiles(&p, FOLIOT_INTEGRATOR_VERLET, 0.1);
    problem_henon_heiles(&q, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 0.1);
    foliot_world *verlet = problem_world(&p), *other = problem_world(&q);
    for (int n = 0; n < 1000; n++) {
        problem_step(&p, verlet, 1);
        problem_step(&q, other, 1);
        foliot_body_state a = foliot_world_get_body_state(verlet, 0),
                          b = foliot_world_get_body_state(other, 0);
        for (int k = 0; k < 2; k++) {
            check_near(a.position[k], b.position[k], 1e-12);
            check_near(a.velocity[k], b.velocity[k], 1e-12);
        }
    }
    foliot_world_destroy(verlet);
    foliot_world_destroy(other);
}

// -- starts

static double pendulum_error(uint32_t start, int count)
{
    problem p;
    problem_pendulum(&p, FOLIOT_INTEGRATOR_VERLET, 10.0 / count);
    p.scene.start = start;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)count);
    double error = hypot(position(world) - pendulum_10[0], velocity(world) - pendulum_10[1]);
    foliot_world_destroy(world);
    return error;
}

TEST(both_starts_keep_order_two)
{
    for (uint32_t start = 0; start < 2; start++)
        check_near(log2(pendulum_error(start, 256) / pendulum_error(start, 512)), 2, 0.02);
}

TEST(a_start_by_rk4_is_rk4s_first_step)
{
    problem p;
    problem_pendulum(&p, FOLIOT_INTEGRATOR_VERLET, 0.25);
    p.scene.start = 1;
    foliot_world *verlet = problem_world(&p);
    problem_step(&p, verlet, 1);
    p.scene.integrator = FOLIOT_INTEGRATOR_RK4;
    foliot_world *rk4 = problem_world(&p);
    problem_step(&p, rk4, 1);
    check_near(position(verlet), position(rk4), 2e-16);
    foliot_world_destroy(verlet);
    foliot_world_destroy(rk4);
}

// The careless start, x(-1) = x(0) - v dt, is of order 1: what the literature warns of.
static double careless_error(int count)
{
    double dt = 4.0 / count, x = 1, previous = 1 - 0.5 * dt;
    for (int n = 0; n < count; n++) {
        double next = 2 * x - previous - x * dt * dt;
        previous = x;
        x = next;
    }
    return fabs(x - (cos(4) + 0.5 * sin(4)));
}

static double careful_error(int count)
{
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_VERLET, 4.0 / count, 1, 1);
    p.bodies[0].velocity[0] = 0.5;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)count);
    double error = fabs(position(world) - (cos(4) + 0.5 * sin(4)));
    foliot_world_destroy(world);
    return error;
}

TEST(a_careless_start_would_be_of_order_one)
{
    check_near(log2(careless_error(1000) / careless_error(2000)), 1, 0.02);
    check_near(log2(careful_error(1000) / careful_error(2000)), 2, 0.02);
}

// -- spawned bodies and changed velocities

static const double spawn[1][3] = {{2, 0, 0}};

TEST(a_spawned_body_starts_right)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_VERLET, 1.0 / 64);
    p.scene.gravity[2] = -8;
    p.scene.players.limit = 1;
    p.scene.players.positions = spawn;
    p.scene.players.position_count = 1;
    p.scene.players.body.velocity[2] = 5;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 32);
    foliot_input join = {.sequence = 1, .kind = FOLIOT_INPUT_JOIN};
    assert_int_equal(foliot_world_step(world, &join, 1, NULL), FOLIOT_STATUS_OK);
    problem_step(&p, world, 63);
    foliot_body_state b =
        foliot_world_get_body_state(world, foliot_world_get_player_body(world, 0));
    check_bits(b.position[2], 5.0 - 4);
    check_bits(b.velocity[2], 5.0 - 8);
    foliot_world_destroy(world);
}

// Whoever changes a velocity clears FOLIOT_BODY_STARTED: from there it is a new throw.
TEST(a_changed_velocity_is_taken_up)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_VERLET, 1.0 / 64);
    p.scene.gravity[2] = -8;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 64);
    check_bits(foliot_world_get_body_state(world, 0).position[2], -4.0);
    double up = 3;
    uint64_t bits;
    memcpy(&bits, &up, sizeof bits);
    (void)!foliot_world_set_field(world, 0, FOLIOT_FIELD_velocity_z, bits);
    uint32_t flags = foliot_world_get_body_state(world, 0).flags & ~(uint32_t)FOLIOT_BODY_STARTED;
    (void)!foliot_world_set_field(world, 0, FOLIOT_FIELD_flags, flags);
    problem_step(&p, world, 64);
    check_bits(foliot_world_get_body_state(world, 0).position[2], -4.0 + 3 - 4);
    foliot_world_destroy(world);
}

// -- a changing dt

TEST(a_constant_dt_gives_verlets_bits)
{
    for (uint32_t form = 0; form < 2; form++) {
        problem p, q;
        problem_damped_oscillator(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET, 0.05, 15, 0.3, 1);
        p.scene.form = form;
        problem_damped_oscillator(&q, FOLIOT_INTEGRATOR_VERLET, 0.05, 15, 0.3, 1);
        foliot_world *corrected = problem_world(&p), *verlet = problem_world(&q);
        for (int n = 0; n < 500; n++) {
            problem_step(&p, corrected, 1);
            problem_step(&q, verlet, 1);
            check_bits(position(corrected), position(verlet));
            check_bits(velocity(corrected), velocity(verlet));
        }
        foliot_world_destroy(corrected);
        foliot_world_destroy(verlet);
    }
}

// Steps of dt 1 +- 0.3 by turns of three, ending at t = 6.
static double jittered_error(uint32_t form, int thirds)
{
    static const double share[3] = {1.3, 0.7, 1.0};
    problem p;
    double dt = 6.0 / (3 * thirds);
    problem_oscillator(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET, dt, 1, 1);
    p.scene.form = form;
    foliot_world *world = problem_world(&p);
    for (int n = 0; n < 3 * thirds; n++)
        assert_int_equal(foliot_world_step_dt(world, share[n % 3] * dt, &p.host), FOLIOT_STATUS_OK);
    check_near(foliot_world_get_time(world), 6, 1e-12);
    double error = fabs(position(world) - cos(6));
    foliot_world_destroy(world);
    return error;
}

TEST(the_corrected_form_keeps_order_two_and_the_plain_one_does_not)
{
    double right = log2(jittered_error(0, 400) / jittered_error(0, 800));
    double plain = log2(jittered_error(1, 400) / jittered_error(1, 800));
    print_message("dt changes: corrected form order %.3f, plain form order %.3f\n", right, plain);
    check_near(right, 2, 0.05);
    check_near(plain, 1, 0.05);
}

TEST(only_the_lab_changes_dt)
{
    problem p;
    problem_oscillator(&p, FOLIOT_INTEGRATOR_VERLET, 0.1, 1, 1);
    foliot_world *world = problem_world(&p);
    assert_int_equal(foliot_world_step_dt(world, 0.2, NULL), FOLIOT_STATUS_UNSUPPORTED);
    foliot_world_destroy(world);
    problem_oscillator(&p, FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET, 0.1, 1, 1);
    world = problem_world(&p);
    assert_int_equal(foliot_world_step_dt(world, 0, NULL), FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_world_step_dt(world, NAN, NULL), FOLIOT_STATUS_INVALID);
    foliot_world_destroy(world);
}
