// SPDX-License-Identifier: MIT
// test_integrators.c: schemes that add slopes, Verlet's family, and the table that they stand in.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foliot/scene.h"
#include "problems.h"
#include "slots.h"

// -- runge kutta: the schemes that add slopes: published tables of explicit Euler, and the
// exact one-step determinants on the oscillator of every scheme, which say how fast energy is
// gained or lost.

// -- explicit Euler's tables: 10 N on 1 kg from rest

TEST(explicit_eulers_table)
{
    static const double table[] = {0, 0, 10, 30, 60, 100, 150, 210, 280, 360, 450}; // exact: 500
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_EXPLICIT_EULER, 1);
    p.bodies[0].force[0] = 10;
    foliot_world *world = problem_world(&p);
    for (int n = 0; n <= 10; n++) {
        check_bits(slot_state(world, 0).position[0], table[n]);
        check_bits(slot_state(world, 0).velocity[0], 10.0 * n);
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
    check_near(slot_state(world, 0).position[0], 499.5, 1e-10);
    check_near(slot_state(world, 0).velocity[0], 100, 1e-11);
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
        m[i][0] = slot_state(world, 0).position[0];
        m[i][1] = slot_state(world, 0).velocity[0];
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
    check_bits(slot_state(world, 0).velocity[0], faster);
    check_bits(slot_state(world, 0).position[0], x + dt * faster);
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
        foliot_body_state b = slot_state(world, 0);
        double energy = b.position[0] * b.position[0] + b.velocity[0] * b.velocity[0];
        foliot_world_destroy(world);
        double expected = pow(expected_determinant(ids[i], 0.1), 1000);
        // The ellipse on which it turns is not quite a circle: to within theta.
        check_near(energy / expected, 1, 0.11);
    }
}

// -- verlet

// Stoermer-Verlet says what its formulas say: two positions make the third, velocity
// is the central difference, drag enters both; a changing dt in both forms; starts, spawns and
// changed velocities.

static double position(const foliot_world *world)
{
    return slot_state(world, 0).position[0];
}

static double velocity(const foliot_world *world)
{
    return slot_state(world, 0).velocity[0];
}

static double field(const foliot_world *world, foliot_field which)
{
    uint64_t bits = slot_field(world, 0, which);
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
        foliot_body_state a = slot_state(verlet, 0), b = slot_state(other, 0);
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
    foliot_body_state b = slot_state(world, player_slot(world, 0));
    check_bits(b.position[2], 5.0 - 4);
    check_bits(b.velocity[2], 5.0 - 8);
    foliot_world_destroy(world);
}

// Code that changes a velocity clears FOLIOT_BODY_STARTED, and the scheme starts again from there.
TEST(a_changed_velocity_is_taken_up)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_VERLET, 1.0 / 64);
    p.scene.gravity[2] = -8;
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, 64);
    check_bits(slot_state(world, 0).position[2], -4.0);
    double up = 3;
    uint64_t bits;
    memcpy(&bits, &up, sizeof bits);
    (void)!slot_set_field(world, 0, FOLIOT_FIELD_velocity_z, bits);
    uint32_t flags = slot_state(world, 0).flags & ~(uint32_t)FOLIOT_BODY_STARTED;
    (void)!slot_set_field(world, 0, FOLIOT_FIELD_flags, flags);
    problem_step(&p, world, 64);
    check_bits(slot_state(world, 0).position[2], -4.0 + 3 - 4);
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

// -- registry: every integrator is found by name and by alias, numbers are stable, and what is
// misspelt is answered with the nearest name.

TEST(every_number_names_one_row)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        assert_non_null(info);
        assert_int_equal(info->id, id);
        assert_int_equal(foliot_integrator_find(info->name), id);
        check_ge(info->order, 1);
        check_le(info->order, 8);
        check_gt(strlen(info->summary), 20);
    }
    assert_null(foliot_integrator_get_info(FOLIOT_INTEGRATOR_NONE));
    assert_null(foliot_integrator_get_info(FOLIOT_INTEGRATOR_COUNT));
    assert_null(foliot_integrator_get_info((foliot_integrator)-1));
}

// The numbers are in recordings: they never change.
TEST(names_and_aliases_are_those_of_the_plan)
{
    static const struct {
        const char *name;
        int id;
    } rows[] = {{"explicit-euler", 1},
                {"forward-euler", 1},
                {"semi-implicit-euler", 2},
                {"symplectic-euler", 2},
                {"euler-cromer", 2},
                {"implicit-euler", 3},
                {"backward-euler", 3},
                {"verlet", 4},
                {"stormer-verlet", 4},
                {"central-difference", 4},
                {"time-corrected-verlet", 5},
                {"velocity-verlet", 6},
                {"velocity-verlet-corrected", 7},
                {"leapfrog", 8},
                {"newton-stormer-verlet", 8},
                {"position-verlet", 8},
                {"midpoint", 9},
                {"heun", 10},
                {"improved-euler", 11},
                {"rk4", 12},
                {"implicit-midpoint", 13},
                {"kinematic", 14},
                {"kinematic-average", 15},
                {"kinematic-strang", 16},
                {"yoshida4", 17},
                {"forest-ruth", 17},
                {"pefrl4", 18},
                {"yoshida6", 19},
                {"blanes-moan6", 20},
                {"kahan-li8", 21},
                {"reversible-leapfrog", 22}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(foliot_integrator_find(rows[i].name), rows[i].id);
}

TEST(what_names_no_integrator_is_not_found)
{
    static const char *const wrong[] = {
        "", " ", "euler", "verlet ", "symplectic-euler euler-cromer", "Verlet", "rk", "symplectic"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_int_equal(foliot_integrator_find(wrong[i]), FOLIOT_INTEGRATOR_NONE);
    assert_int_equal(foliot_integrator_find(NULL), FOLIOT_INTEGRATOR_NONE);
}

TEST(the_nearest_name_is_offered)
{
    assert_string_equal(foliot_integrator_find_nearest("velocity-verlte"), "velocity-verlet");
    assert_string_equal(foliot_integrator_find_nearest("Velocity_Verlet"), "velocity-verlet");
    assert_string_equal(foliot_integrator_find_nearest("leap frog"), "leapfrog");
    assert_string_equal(foliot_integrator_find_nearest("rk5"), "rk4");
    assert_string_equal(foliot_integrator_find_nearest("yoshida8"), "yoshida4");
    assert_string_equal(foliot_integrator_find_nearest("kahanli8"), "kahan-li8");
    assert_string_equal(foliot_integrator_find_nearest("forward_eulr"), "explicit-euler");
    assert_null(foliot_integrator_find_nearest(""));
    assert_null(foliot_integrator_find_nearest(NULL));
    assert_null(foliot_integrator_find_nearest("qqqqqqqq"));
    char endless[300];
    memset(endless, 'x', sizeof endless - 1);
    endless[sizeof endless - 1] = 0;
    assert_null(foliot_integrator_find_nearest(endless));
}
