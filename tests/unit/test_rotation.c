// SPDX-License-Identifier: MIT
// test_rotation.c: free rotation keeps energy and angular momentum to the scheme's order, without
// drift, and is what Euler's equations say; torques act; bodies are independent of their neighbours
// in a lane. The body: a box of inertia (1.1, 2.3, 3.2), tumbling near its middle axis, which is
// the unstable one.
#include "check.h"

#include <math.h>
#include <string.h>

#include "problems.h"
#include "slots.h"

#define BOX_INERTIA                                                                                \
    {                                                                                              \
        1.1, 2.3, 3.2                                                                              \
    }
static const double inertia[3] = BOX_INERTIA;

static void tumbling(problem *p, foliot_integrator id, double dt)
{
    problem_body(p, id, dt);
    foliot_body_definition *b = &p->bodies[0];
    memcpy(b->inertia, inertia, sizeof inertia);
    b->orientation[0] = 0.9;
    b->orientation[1] = 0.3;
    b->orientation[2] = -0.2;
    b->orientation[3] = 0.1;
    b->angular_velocity[0] = 0.4;
    b->angular_velocity[1] = 3.1;
    b->angular_velocity[2] = -0.7;
}

// w in the body's axes: R^t w.
static void to_body(const double q[4], const double w[3], double out[3])
{
    double u[3] = {-q[1], -q[2], -q[3]}, c[3];
    for (int k = 0; k < 3; k++)
        c[k] = 2 * (u[(k + 1) % 3] * w[(k + 2) % 3] - u[(k + 2) % 3] * w[(k + 1) % 3]);
    for (int k = 0; k < 3; k++)
        out[k] = w[k] + q[0] * c[k] +
                 (u[(k + 1) % 3] * c[(k + 2) % 3] - u[(k + 2) % 3] * c[(k + 1) % 3]);
}

typedef struct spin {
    double energy, momentum[3]; // of rotation; momentum in world axes
} spin;

static spin spin_of(foliot_body_state b)
{
    double w[3],
        back[4] = {b.orientation[0], -b.orientation[1], -b.orientation[2], -b.orientation[3]};
    to_body(b.orientation, b.angular_velocity, w);
    spin s = {0, {0, 0, 0}};
    double m[3];
    for (int k = 0; k < 3; k++) {
        m[k] = inertia[k] * w[k];
        s.energy += m[k] * w[k] / 2;
    }
    to_body(back, m, s.momentum);
    return s;
}

static double distance3(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

typedef struct kept {
    double energy, momentum, norm; // largest relative errors; of the quaternion's length absolute
    double early, late;            // mean energy error over the first and last quarter
} kept;

static kept run(foliot_integrator id, double dt, int count)
{
    problem p;
    tumbling(&p, id, dt);
    foliot_world *world = problem_world(&p);
    spin start = spin_of(slot_state(world, 0));
    double length =
        sqrt(start.momentum[0] * start.momentum[0] + start.momentum[1] * start.momentum[1] +
             start.momentum[2] * start.momentum[2]);
    kept k = {0, 0, 0, 0, 0};
    for (int n = 0; n < count; n++) {
        problem_step(&p, world, 1);
        foliot_body_state b = slot_state(world, 0);
        spin now = spin_of(b);
        double error = now.energy / start.energy - 1, norm = 0;
        for (int i = 0; i < 4; i++)
            norm += b.orientation[i] * b.orientation[i];
        k.energy = fmax(k.energy, fabs(error));
        k.momentum = fmax(k.momentum, distance3(now.momentum, start.momentum) / length);
        k.norm = fmax(k.norm, fabs(norm - 1));
        k.early += n < count / 4 ? error / (count / 4.0) : 0;
        k.late += n >= count - count / 4 ? error / (count / 4.0) : 0;
    }
    foliot_world_destroy(world);
    return k;
}

// Section "Rotation" of the plan: 60 s at 60 Hz, torque-free.
TEST(energy_and_momentum_over_a_minute)
{
    static const struct {
        foliot_integrator id;
        double energy;
    } rows[] = {{FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 7e-4},
                {FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7e-4},
                {FOLIOT_INTEGRATOR_VERLET, 7e-4},
                {FOLIOT_INTEGRATOR_YOSHIDA4, 7e-6},
                {FOLIOT_INTEGRATOR_RK4, 7e-6},
                {FOLIOT_INTEGRATOR_YOSHIDA6, 2e-9},
                {FOLIOT_INTEGRATOR_KAHAN_LI8, 1e-12}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        kept k = run(rows[i].id, 1.0 / 60, 3600);
        print_message("%-20s energy %.1e, momentum %.1e, norm %.1e\n",
                      foliot_integrator_get_info(rows[i].id)->name, k.energy, k.momentum, k.norm);
        check_below(k.energy, rows[i].energy);
        check_below(k.momentum, 5e-13);
        check_below(k.norm, 1e-15);
    }
}

TEST(energy_does_not_drift)
{
    kept k = run(FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1.0 / 60, 1000000);
    print_message("a million steps: early %.3e late %.3e momentum %.1e\n", k.early, k.late,
                  k.momentum);
    check_below(fabs(k.late - k.early), 1e-3 * k.energy);
    check_below(k.energy, 7e-4);
    check_below(k.momentum, 1e-10);
}

// -- order

// The reference: Euler's equations and the quaternion's, by the classic Runge-Kutta rule in small
// steps.
static void slopes(const double y[7], double dy[7])
{
    const double *q = y, *w = y + 4; // w in body axes
    dy[0] = -(q[1] * w[0] + q[2] * w[1] + q[3] * w[2]) / 2;
    dy[1] = (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]) / 2;
    dy[2] = (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]) / 2;
    dy[3] = (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]) / 2;
    for (int k = 0; k < 3; k++) {
        int b = (k + 1) % 3, c = (k + 2) % 3;
        dy[4 + k] = (inertia[b] - inertia[c]) * w[b] * w[c] / inertia[k];
    }
}

static void reference(double duration, foliot_body_state start, double y[7])
{
    memcpy(y, start.orientation, sizeof start.orientation);
    to_body(start.orientation, start.angular_velocity, y + 4);
    const int count = 20000;
    double h = duration / count;
    for (int n = 0; n < count; n++) {
        double k[4][7], at[7];
        static const double ahead[4] = {0, 0.5, 0.5, 1};
        for (int s = 0; s < 4; s++) {
            for (int i = 0; i < 7; i++)
                at[i] = y[i] + (s > 0 ? ahead[s] * h * k[s - 1][i] : 0);
            slopes(at, k[s]);
        }
        for (int i = 0; i < 7; i++)
            y[i] += h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    }
}

static double rotation_error(foliot_integrator id, int count)
{
    const double duration = 2;
    problem p;
    tumbling(&p, id, duration / count);
    foliot_world *world = problem_world(&p);
    double y[7], w[3];
    reference(duration, slot_state(world, 0), y);
    problem_step(&p, world, (uint64_t)count);
    foliot_body_state b = slot_state(world, 0);
    foliot_world_destroy(world);
    to_body(b.orientation, b.angular_velocity, w);
    double error = distance3(w, y + 4), turned = 0;
    for (int i = 0; i < 4; i++)
        turned += (b.orientation[i] - y[i]) * (b.orientation[i] - y[i]);
    return hypot(error, sqrt(turned));
}

TEST(rotation_has_the_order_of_its_scheme)
{
    static const int steps[9] = {[2] = 512, [4] = 256, [6] = 128, [8] = 12};
    for (int i = 1; i < FOLIOT_INTEGRATOR_COUNT; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)i);
        if (info->reversible == FOLIOT_REVERSIBILITY_EXACT)
            continue; // nothing turns there
        int count = steps[info->rotation_order];
        double coarse = rotation_error(info->id, count), fine = rotation_error(info->id, 2 * count);
        print_message("%-26s order %.3f, finer error %.1e\n", info->name, log2(coarse / fine),
                      fine);
        check_near(log2(coarse / fine), info->rotation_order,
                   info->rotation_order > 6 ? 0.1 : 0.05);
        check_gt(fine, 1e-12);
        check_lt(fine, 1e-3);
    }
}

// -- balls

static void ball(problem *p, double dt)
{
    problem_body(p, FOLIOT_INTEGRATOR_VELOCITY_VERLET, dt);
    p->bodies[0].shape.kind = FOLIOT_SHAPE_SPHERE;
    p->bodies[0].shape.radius = 0.5;
    p->bodies[0].angular_velocity[0] = 1.2;
    p->bodies[0].angular_velocity[1] = -0.4;
    p->bodies[0].angular_velocity[2] = 0.9;
}

static double ball_error(int count)
{
    problem p;
    ball(&p, 3.0 / count);
    foliot_world *world = problem_world(&p);
    problem_step(&p, world, (uint64_t)count);
    foliot_body_state b = slot_state(world, 0);
    foliot_world_destroy(world);
    const double *w = p.bodies[0].angular_velocity;
    double speed = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), half = speed * 3 / 2, sum = 0;
    check_near(distance3(b.angular_velocity, w), 0, 1e-13);
    sum += pow(b.orientation[0] - cos(half), 2);
    for (int k = 0; k < 3; k++)
        sum += pow(b.orientation[1 + k] - w[k] / speed * sin(half), 2);
    return sqrt(sum);
}

TEST(a_ball_turns_about_one_axis)
{
    double coarse = ball_error(100), fine = ball_error(200);
    check_near(log2(coarse / fine), 2, 0.01);
    check_below(fine, 1e-3);
}

// -- torque

static const double spawn[1][3] = {{0, 0, 0}};

// A player's turn is a torque about world z: a ball gains torque / I t, and turns torque / I t^2
// / 2.
TEST(a_torque_turns)
{
    problem p;
    problem_body(&p, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1.0 / 64);
    p.scene.players.limit = 1;
    p.scene.players.body.shape = (foliot_shape){.kind = FOLIOT_SHAPE_SPHERE, .radius = 0.5};
    p.scene.players.positions = spawn;
    p.scene.players.position_count = 1;
    p.scene.players.torque = 0.02;
    foliot_world *world = problem_world(&p);
    foliot_input inputs[2] = {{.sequence = 1, .kind = FOLIOT_INPUT_JOIN},
                              {.sequence = 2, .axes = {0, 0, 0, 127}}};
    assert_int_equal(foliot_world_step(world, inputs, 2, NULL), FOLIOT_STATUS_OK);
    for (int n = 1; n < 128; n++)
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    foliot_body_state b = slot_state(world, player_slot(world, 0));
    double rate = 0.02 / (0.4 * 0.25); // I = 2/5 m r^2
    check_near(b.angular_velocity[2], rate * 2, 1e-12);
    check_near(2 * atan2(b.orientation[3], b.orientation[0]), rate * 2, 1e-4);
    check_bits(b.angular_velocity[0], 0.0);
    foliot_world_destroy(world);
}

// -- lanes

// The same two bodies alone, and among balls and points: not a bit differs.
TEST(neighbours_do_not_matter)
{
    problem alone[2], all;
    tumbling(&alone[0], FOLIOT_INTEGRATOR_YOSHIDA4, 0.01);
    ball(&alone[1], 0.01);
    alone[1].scene.integrator = FOLIOT_INTEGRATOR_YOSHIDA4;
    tumbling(&all, FOLIOT_INTEGRATOR_YOSHIDA4, 0.01);
    all.scene.body_count = 3;
    all.bodies[1] = alone[1].bodies[0];
    all.bodies[1].position[0] = 100;
    all.bodies[2].position[0] = 200; // a point between
    foliot_world *together = problem_world(&all);
    problem_step(&all, together, 500);
    for (uint32_t i = 0; i < 2; i++) {
        foliot_world *world = problem_world(&alone[i]);
        problem_step(&alone[i], world, 500);
        foliot_body_state a = slot_state(world, 0), b = slot_state(together, i);
        for (int k = 0; k < 4; k++)
            check_bits(b.orientation[k], a.orientation[k]);
        for (int k = 0; k < 3; k++)
            check_bits(b.angular_velocity[k], a.angular_velocity[k]);
        foliot_world_destroy(world);
    }
    foliot_body_state point = slot_state(together, 2);
    check_bits(point.orientation[0], 1.0);
    foliot_world_destroy(together);
}
