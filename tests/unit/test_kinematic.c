// SPDX-License-Identifier: MIT
// test_kinematic.c: the schemes that know closed forms, against those closed forms. The exact
// oscillator is compared with a matrix exponential in long double, whole worlds with solutions
// written down here by libm, and what cannot be exact (several forces) by its order, determinant
// and energy.
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/integrator/scheme.h"
#include "small_scene.h"
#include "slots.h"

static const foliot_integrator exact_schemes[] = {FOLIOT_INTEGRATOR_KINEMATIC,
                                                  FOLIOT_INTEGRATOR_KINEMATIC_STRANG};
static const foliot_integrator all_schemes[] = {FOLIOT_INTEGRATOR_KINEMATIC,
                                                FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE,
                                                FOLIOT_INTEGRATOR_KINEMATIC_STRANG};
#define COUNT(array) (sizeof(array) / sizeof(array)[0])

// -- the oscillator itself

// exp(m) - 1 by scaling, Taylor and squaring; less 1, so that small entries stay accurate.
static void exponential(long double m[4][4], long double e[4][4])
{
    long double term[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, next[4][4];
    int squarings = 0;
    for (long double size = 1 - m[2][1] - m[2][2]; size > 0x1p-6L; size /= 2)
        squarings++;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            m[i][j] = ldexpl(m[i][j], -squarings);
            e[i][j] = 0;
        }
    for (int n = 1; n < 16; n++) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                next[i][j] = 0;
                for (int k = 0; k < 4; k++)
                    next[i][j] += term[i][k] * m[k][j] / n;
            }
        memcpy(term, next, sizeof term);
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++)
                e[i][j] += term[i][j];
    }
    for (; squarings > 0; squarings--) {
        for (int i = 0; i < 4; i++)
            for (int j = 0; j < 4; j++) {
                next[i][j] = 2 * e[i][j];
                for (int k = 0; k < 4; k++)
                    next[i][j] += e[i][k] * e[k][j];
            }
        memcpy(e, next, sizeof next);
    }
}

// Units of rounding by which our oscillator differs at drag t = A, stiffness t^2 = B: the worst of
// the four, relative to t, t^2, and to lag and loss themselves where they are below t and 1. A
// phase of theta radians is itself rounded to theta units.
static double units_off(double A, double B, double t)
{
    foliot__oscillator o = foliot__oscillator_after(B / (t * t), A / t, t);
    long double tl = t, drag = (long double)(A / t) * tl,
                stiffness = (long double)(B / (t * t)) * tl * tl;
    // The integral of reach, reach, gain, and 1.
    long double m[4][4] = {{0, 1, 0, 0}, {0, 0, 1, 0}, {0, -stiffness, -drag, 1}}, e[4][4];
    exponential(m, e);
    long double phase = 1 + sqrtl(stiffness), lag = -(drag * e[1][3] + stiffness * e[0][3]);
    long double off = fabsl(o.gain / tl - e[2][3]);
    off = fmaxl(off, fabsl(o.reach / (tl * tl) - e[1][3]));
    off = fmaxl(off, fabsl(o.lag / tl - lag) / fminl(1, fabsl(lag)));
    off = fmaxl(off, fabsl(o.loss - e[2][2]) / (fminl(1, fabsl(e[2][2])) * phase));
    return (double)(off / DBL_EPSILON);
}

TEST(the_oscillator_agrees_with_a_matrix_exponential_in_every_regime)
{
    static const double size[] = {0,   1e-12, 1e-6, 1e-3, 0.1, 0.3, 0.9, 0.999, 1.001,
                                  1.5, 2,     3.9,  4,    4.1, 9,   15,  60,    300};
    double worst = 0;
    for (size_t i = 0; i < COUNT(size); i++)
        for (size_t j = 0; j < COUNT(size); j++) {
            if (size[i] == 0 && size[j] == 0)
                continue;
            double off =
                fmax(units_off(size[i], size[j], 1.0), units_off(size[i], size[j], 0.0173));
            if (off > 5)
                print_message("drag t %g, stiffness t^2 %g: %g units\n", size[i], size[j], off);
            worst = fmax(worst, off);
        }
    // Close to critical damping from both sides, and at it.
    for (double A = 0.5; A < 40; A *= 1.7)
        for (int k = -20; k <= 20; k++)
            worst = fmax(worst, units_off(A, A * A / 4 * (1 + k * 0x1p-40), 1.0));
    print_message("worst: %.1f units\n", worst);
    check_below(worst, 5);
}

TEST(an_oscillator_that_is_far_too_stiff_stays_finite)
{
    static const double size[] = {1e6, 1e12, 1e60, 1e150};
    for (size_t i = 0; i < COUNT(size); i++)
        for (size_t j = 0; j < COUNT(size); j++) {
            foliot__oscillator o = foliot__oscillator_after(size[i], size[j], 1.0 / 60);
            check_below(fabs(o.gain), 1.0 / 60);
            check_below(fabs(o.reach), 1.0 / 3600);
            check_below(fabs(o.loss + 1), 1);
        }
}

// -- one force: exact

// Position and velocity at t of x'' = f - drag x' - stiffness (x - centre), by textbook formulas in
// long double.
static void textbook(double stiffness, double drag, double f, double centre, double t, double *x,
                     double *v)
{
    long double b = drag / 2.0L, c = centre + (stiffness > 0 ? (long double)f / stiffness : 0);
    long double d = (long double)stiffness - b * b, y = *x - c, u = *v, tl = t;
    if (stiffness == 0) {
        long double terminal = f / (long double)drag, e = expl(-drag * tl);
        *x = (double)(*x + terminal * tl + (u - terminal) * (1 - e) / drag);
        *v = (double)(terminal + (u - terminal) * e);
        return;
    }
    long double s, k;
    if (d > 0) {
        s = sinl(sqrtl(d) * tl) / sqrtl(d), k = cosl(sqrtl(d) * tl);
    } else if (d < 0) {
        s = sinhl(sqrtl(-d) * tl) / sqrtl(-d), k = coshl(sqrtl(-d) * tl);
    } else {
        s = tl, k = 1;
    }
    long double e = expl(-b * tl);
    *x = (double)(c + e * (y * k + (u + b * y) * s));
    *v = (double)(e * (u * k - (b * u + stiffness * y) * s));
}

TEST(the_undamped_oscillator_is_exact_over_ninety_seconds)
{
    static const double dts[] = {0.001, 0.01, 1.0 / 60, 0.1, 0.25, 0.5, 1};
    for (size_t k = 0; k < COUNT(exact_schemes); k++)
        for (size_t d = 0; d < COUNT(dts); d++) {
            small_scene s = small(exact_schemes[k], dts[d]);
            small_spring(&s, small_body(&s, 1, 1000, 0), FOLIOT_NO_BODY, 15, 0);
            foliot_world *world = small_world(&s);
            double worst = 0;
            for (long tick = lround(90 / dts[d]); tick > 0; tick--) {
                small_steps(world, 1);
                long double t = foliot_world_get_tick(world) * (long double)dts[d];
                double exact = (double)(1000 * cosl(sqrtl(15) * t));
                worst = fmax(worst, fabs(slot_state(world, 0).position[0] - exact));
            }
            print_message("%s, dt %g: %.2g m\n", foliot_integrator_get_info(exact_schemes[k])->name,
                          dts[d], worst);
            check_below(worst, 1e-8);
            foliot_world_destroy(world);
        }
}

TEST(the_damped_oscillator_is_exact_whatever_the_damping)
{
    const double stiffness[] = {15, 15, 15, 15, 0, 0.001, 4},
                 damping[] = {0.1, 3, 15.5, 80, 0.4, 2, 8};
    static const double dts[] = {0.004, 1.0 / 60, 0.3, 1.5};
    for (size_t k = 0; k < COUNT(exact_schemes); k++)
        for (size_t f = 0; f < COUNT(stiffness); f++)
            for (size_t d = 0; d < COUNT(dts); d++) {
                small_scene s = small(exact_schemes[k], dts[d]);
                uint32_t body = small_body(&s, 4, 7.5, -2.25);
                s.body[body].velocity[1] = 3.125;
                foliot_force_definition *spring =
                    small_spring(&s, body, FOLIOT_NO_BODY, stiffness[f], damping[f]);
                spring->as.spring.point[0] = 0.7;
                spring->as.spring.point[1] = -0.1;
                foliot_world *world = small_world(&s);
                for (int n = 0; n < 40; n++) {
                    small_steps(world, 1);
                    double t = foliot_world_get_time(world), x[2] = {7.5, 0}, v[2] = {-2.25, 3.125};
                    for (int c = 0; c < 2; c++) {
                        textbook(stiffness[f] / 4, damping[f] / 4, 0, spring->as.spring.point[c], t,
                                 &x[c], &v[c]);
                        check_near(slot_state(world, 0).position[c], x[c], 1e-13 * (1 + t) * 8);
                        check_near(slot_state(world, 0).velocity[c], v[c], 1e-13 * (1 + t) * 8);
                    }
                }
                foliot_world_destroy(world);
            }
}

TEST(linear_drag_is_exact)
{
    for (size_t k = 0; k < COUNT(exact_schemes); k++) {
        small_scene s = small(exact_schemes[k], 0.25);
        small_body(&s, 2, 1, 30);
        small_body(&s, 5, 1, 30);
        small_force(&s, FOLIOT_FORCE_DRAG)->as.drag.linear = 0.6;
        foliot_world *world = small_world(&s);
        small_steps(world, 80);
        for (uint32_t i = 0; i < 2; i++) {
            double x = 1, v = 30;
            textbook(0, 0.6 / s.body[i].mass, 0, 0, 20, &x, &v);
            check_near(slot_state(world, i).position[0], x, 1e-12);
            check_near(slot_state(world, i).velocity[0], v, 1e-13);
        }
        foliot_world_destroy(world);
    }
}

// v(t) and x(t) under -(linear + quadratic |v|) v; the direction stays.
TEST(quadratic_drag_is_exact_in_kinematic)
{
    static const double linear[] = {0, 0.6}, quadratic[] = {0.05, 1e-9};
    for (size_t l = 0; l < 2; l++)
        for (size_t q = 0; q < 2; q++) {
            small_scene s = small(FOLIOT_INTEGRATOR_KINEMATIC, 0.25);
            small_body(&s, 2, 1, 3);
            s.body[0].velocity[2] = -4;
            foliot_force_definition *drag = small_force(&s, FOLIOT_FORCE_DRAG);
            drag->as.drag.linear = linear[l];
            drag->as.drag.quadratic = quadratic[q];
            foliot_world *world = small_world(&s);
            small_steps(world, 40);
            long double a = linear[l] / 2, b = quadratic[q] / 2, t = 10;
            long double reach = a > 0 ? -expm1l(-a * t) / a : t, z = b * 5 * reach;
            long double way = log1pl(z) / b, speed = 5 * expl(-a * t) / (1 + z);
            check_near(slot_state(world, 0).position[0], (double)(1 + way * 0.6L), 1e-13 * 40);
            check_near(slot_state(world, 0).position[2], (double)(-way * 0.8L), 1e-13 * 40);
            check_near(slot_state(world, 0).velocity[0], (double)(speed * 0.6L), 1e-14 * 40);
            foliot_world_destroy(world);
        }
}

TEST(constant_acceleration_is_exact_at_two_steps_a_second)
{
    for (size_t k = 0; k < COUNT(all_schemes); k++) {
        small_scene s = small(all_schemes[k], 0.5);
        uint32_t body = small_body(&s, 2, 3, 1.5);
        s.scene.gravity[2] = -8;
        s.body[body].force[1] = 5;
        foliot_world *world = small_world(&s);
        small_steps(world, 200); // dyadic numbers: exact means the same bits
        foliot_body_state now = slot_state(world, body);
        check_bits(now.position[0], 3 + 1.5 * 100);
        check_bits(now.position[1], 2.5 * 100 * 100 / 2);
        check_bits(now.position[2], -8.0 * 100 * 100 / 2);
        check_bits(now.velocity[2], -800.0);
        foliot_world_destroy(world);
    }
}

TEST(a_pulse_between_two_ticks_is_exact)
{
    for (size_t k = 0; k < COUNT(exact_schemes); k++) {
        small_scene s = small(exact_schemes[k], 0.25);
        uint32_t body = small_body(&s, 2, 0, 1);
        foliot_force_definition *pulse = small_force(&s, FOLIOT_FORCE_CONSTANT);
        pulse->a = body;
        pulse->as.constant.force[0] = 16;
        pulse->as.constant.start = 0.625; // within a step, ends within the next but one
        pulse->as.constant.end = 1.0625;
        foliot_world *world = small_world(&s);
        small_steps(world, 8);
        check_bits(slot_state(world, body).velocity[0], 1 + 8 * 0.4375);
        check_bits(slot_state(world, body).position[0],
                   2 + 8 * (0.4375 * 0.4375 / 2 + 0.4375 * (2 - 1.0625)));
        foliot_world_destroy(world);
    }
}

TEST(strang_is_exact_for_springs_drag_constants_and_pulses_summed)
{
    small_scene s = small(FOLIOT_INTEGRATOR_KINEMATIC_STRANG, 0.4);
    uint32_t wall = small_body(&s, 1, 2, 0), body = small_body(&s, 2, 5, -1);
    s.body[wall].is_static = true;
    s.body[body].force[0] = 3;
    small_spring(&s, body, FOLIOT_NO_BODY, 6, 0.2)->as.spring.point[0] = 1;
    small_spring(&s, wall, body, 8, 0.1); // anchored by the other end
    small_spring(&s, body, FOLIOT_NO_BODY, 2, 0)->as.spring.point[0] = -3;
    small_force(&s, FOLIOT_FORCE_DRAG)->as.drag.linear = 0.3;
    s.scene.gravity[0] = 0.5;
    foliot_force_definition *pulse = small_force(&s, FOLIOT_FORCE_CONSTANT);
    pulse->a = body;
    pulse->as.constant.force[0] = -20;
    pulse->as.constant.start = 1.1;
    pulse->as.constant.end = 2.7;
    foliot_world *world = small_world(&s);
    small_steps(world, 20);
    double centre = (6 * 1 + 8 * 2 - 2 * 3) / 16.0, f = 0.5 + 3 / 2.0, x = 5, v = -1;
    textbook(8, 0.3, f, centre, 1.1, &x, &v);
    textbook(8, 0.3, f - 10, centre, 1.6, &x, &v);
    textbook(8, 0.3, f, centre, 8 - 2.7, &x, &v);
    check_near(slot_state(world, body).position[0], x, 1e-13);
    check_near(slot_state(world, body).velocity[0], v, 1e-13);
    check_bits(slot_state(world, wall).position[0], 2);
    foliot_world_destroy(world);
}

TEST(a_spring_between_two_bodies_is_exact_in_kinematic)
{
    static const double damping[] = {0, 0.3, 40};
    for (size_t c = 0; c < COUNT(damping); c++) {
        small_scene s = small(FOLIOT_INTEGRATOR_KINEMATIC, 0.3);
        uint32_t a = small_body(&s, 1, 0, 2), b = small_body(&s, 3, 4, -1);
        small_spring(&s, a, b, 7, damping[c]);
        foliot_world *world = small_world(&s);
        small_steps(world, 100);
        double reduced = 3.0 / 4, r = 4, w = -3, centre = 3 + (2 - 3) / 4.0 * 30;
        textbook(7 / reduced, damping[c] / reduced, 0, 0, 30, &r, &w);
        check_near(slot_state(world, a).position[0], centre - 0.75 * r, 1e-12);
        check_near(slot_state(world, b).position[0], centre + 0.25 * r, 1e-12);
        check_near(slot_state(world, b).velocity[0], -0.25 + 0.25 * w, 1e-12);
        foliot_world_destroy(world);
    }
}

// -- several forces

// A body of mass 1 on springs of these stiffnesses, all to the origin.
static foliot_world *on_springs(foliot_integrator integrator, double dt, const double *stiffness,
                                size_t count, double damping, double x, double v)
{
    small_scene s = small(integrator, dt);
    uint32_t body = small_body(&s, 1, x, v);
    for (size_t i = 0; i < count; i++)
        small_spring(&s, body, FOLIOT_NO_BODY, stiffness[i], damping);
    return small_world(&s);
}

static double determinant(foliot_integrator integrator, double dt, const double *stiffness,
                          size_t count)
{
    double column[2][2];
    for (int j = 0; j < 2; j++) {
        foliot_world *world = on_springs(integrator, dt, stiffness, count, 0, j == 0, j == 1);
        small_steps(world, 1);
        column[j][0] = slot_state(world, 0).position[0];
        column[j][1] = slot_state(world, 0).velocity[0];
        foliot_world_destroy(world);
    }
    return column[0][0] * column[1][1] - column[0][1] * column[1][0];
}

TEST(determinants_are_those_of_the_theory)
{
    static const double stiffness[] = {1, 1.7, 0.4};
    double dt = 0.1, P2 = 0, P4 = 0;
    for (size_t i = 0; i < 3; i++) {
        P2 += stiffness[i] * dt * dt;
        P4 += stiffness[i] * stiffness[i] * dt * dt * dt * dt;
    }
    // Leading terms; the next ones are smaller by a factor of theta^2, which is 0.03 here.
    double kinematic = (P2 * P2 - P4) / 12, average = -P4 / 24;
    check_near(determinant(FOLIOT_INTEGRATOR_KINEMATIC, dt, stiffness, 3) - 1, kinematic,
               0.03 * kinematic);
    check_near(determinant(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, dt, stiffness, 3) - 1, average,
               0.03 * -average);
    check_near(determinant(FOLIOT_INTEGRATOR_KINEMATIC_STRANG, dt, stiffness, 3), 1, 4e-16);
    check_near(determinant(FOLIOT_INTEGRATOR_KINEMATIC, dt, stiffness, 1), 1, 4e-16);
    double theta4 = dt * dt * dt * dt;
    check_near(determinant(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, dt, stiffness, 1) - 1, -theta4 / 24,
               0.01 * theta4 / 24);
}

// The average form on one spring is x' = x + dt (v + v') / 2 with v' exact: determinant cos t + t
// sin t / 2, which leaves [-1, 1] at t = pi.
TEST(the_average_form_leaves_stability_at_half_a_turn_a_step)
{
    static const double one[] = {1};
    for (double theta = 0.1; theta < 7; theta += 0.3) {
        double found = determinant(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, theta, one, 1);
        check_near(found, cos(theta) + theta * sin(theta) / 2, 1e-14);
        if (theta < 3.1)
            check_below(fabs(found), 1);
    }
    foliot_world *inside = on_springs(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, 3.1, one, 1, 0, 1, 0);
    foliot_world *outside = on_springs(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, 3.2, one, 1, 0, 1, 0);
    small_steps(inside, 1000);
    small_steps(outside, 1000);
    check_below(fabs(slot_state(inside, 0).position[0]), 1);
    check_below(1e6, fabs(slot_state(outside, 0).position[0]));
    foliot_world_destroy(inside);
    foliot_world_destroy(outside);
}

// Energy over three hours at 60 Hz as a share of what there was.
static double energy_left(foliot_integrator integrator, double *error)
{
    static const double stiffness[] = {3.46, 3.46};
    foliot_world *world = on_springs(integrator, 1.0 / 60, stiffness, 2, 0, 1, 0);
    small_steps(world, 3 * 3600 * 60);
    foliot_body_state now = slot_state(world, 0);
    *error = fabs(now.position[0] - (double)cosl(sqrtl(6.92L) * 3 * 3600));
    foliot_world_destroy(world);
    return now.position[0] * now.position[0] + now.velocity[0] * now.velocity[0] / 6.92;
}

TEST(two_springs_keep_over_three_hours_what_is_known)
{
    double error[4];
    double kinematic = energy_left(FOLIOT_INTEGRATOR_KINEMATIC, &error[0]);
    double average = energy_left(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, &error[1]);
    double strang = energy_left(FOLIOT_INTEGRATOR_KINEMATIC_STRANG, &error[2]);
    double euler = energy_left(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, &error[3]);
    print_message("energy left: kinematic %.5f, average %.5f, strang 1 %+.2g, semi-implicit %.5f\n",
                  kinematic, average, strang - 1, euler);
    print_message("error: kinematic %.3g, average %.3g, strang %.3g, semi-implicit %.3g m\n",
                  error[0], error[1], error[2], error[3]);
    check_near(kinematic, 1.10, 0.006);
    check_near(average, 0.951, 0.001);
    check_near(strang, 1, 1e-10);
    check_below(error[2], 1e-8);
}

// Combinations of forces, and the order of each scheme on them; 0 is exact.
typedef enum combination {
    CONSTANTS,
    ONE_SPRING,
    ONE_DAMPED_SPRING,
    LINEAR_DRAG,
    QUADRATIC_DRAG,
    GRAVITY_AND_SPRINGS,
    GRAVITY_AND_DRAG,
    ONE_OF_TWO_DAMPED,
    PAIR_AND_ANCHOR,
    NO_CLOSED_FORM,
    NO_CLOSED_FORM_DAMPED,
    COMBINATIONS
} combination;

static const double orders[COMBINATIONS][3] = {
    [CONSTANTS] = {0, 0, 0},
    [ONE_SPRING] = {0, 2, 0},
    [ONE_DAMPED_SPRING] = {0, 2, 0},
    [LINEAR_DRAG] = {0, 2, 0},
    [QUADRATIC_DRAG] = {0, 2, 2},
    [GRAVITY_AND_SPRINGS] = {2, 2, 0},
    [GRAVITY_AND_DRAG] = {1, 1, 0},
    [ONE_OF_TWO_DAMPED] = {1, 1, 0},
    [PAIR_AND_ANCHOR] = {2, 2, 2},
    [NO_CLOSED_FORM] = {1, 1, 2},
    [NO_CLOSED_FORM_DAMPED] = {1, 1, 2},
};

static small_scene combined(foliot_integrator integrator, combination which, int steps)
{
    small_scene s = small(integrator, 2.0 / steps);
    uint32_t body = small_body(&s, 1, 1.7, 0.3), other;
    s.body[body].position[1] = 1;
    bool spring = which != CONSTANTS && which != LINEAR_DRAG && which != QUADRATIC_DRAG &&
                  which != GRAVITY_AND_DRAG;
    if (which == CONSTANTS || which == GRAVITY_AND_SPRINGS || which == GRAVITY_AND_DRAG)
        s.scene.gravity[0] = 1;
    if (which == CONSTANTS)
        s.body[body].force[0] = 2;
    if (spring)
        small_spring(&s, body, FOLIOT_NO_BODY, 3, which == ONE_DAMPED_SPRING ? 0.7 : 0);
    if (which >= GRAVITY_AND_SPRINGS && spring && which != PAIR_AND_ANCHOR) {
        foliot_force_definition *second = small_spring(&s, body, FOLIOT_NO_BODY, 2, 0);
        second->as.spring.point[0] = 0.4;
        second->as.spring.length = which >= NO_CLOSED_FORM ? 0.5 : 0;
        second->as.spring.damping =
            which == ONE_OF_TWO_DAMPED || which == NO_CLOSED_FORM_DAMPED ? 0.7 : 0;
    }
    if (which == PAIR_AND_ANCHOR) {
        other = small_body(&s, 2, -1, 0);
        small_spring(&s, body, other, 2, 0);
    }
    if (which == LINEAR_DRAG || which == GRAVITY_AND_DRAG)
        small_force(&s, FOLIOT_FORCE_DRAG)->as.drag.linear = 0.6;
    if (which == QUADRATIC_DRAG || which == NO_CLOSED_FORM_DAMPED)
        small_force(&s, FOLIOT_FORCE_DRAG)->as.drag.quadratic = 0.6;
    return s;
}

static double position_after(foliot_integrator integrator, combination which, int steps)
{
    small_scene s = combined(integrator, which, steps);
    foliot_world *world = small_world(&s);
    small_steps(world, (uint64_t)steps);
    double x = slot_state(world, 0).position[0];
    foliot_world_destroy(world);
    return x;
}

TEST(combinations_of_forces_have_the_orders_of_the_docs)
{
    for (int which = 0; which < COMBINATIONS; which++) {
        double reference = position_after(FOLIOT_INTEGRATOR_RK4, (combination)which, 20000);
        for (size_t k = 0; k < COUNT(all_schemes); k++) {
            double coarse = position_after(all_schemes[k], (combination)which, 500) - reference;
            double fine = position_after(all_schemes[k], (combination)which, 1000) - reference;
            if (orders[which][k] == 0)
                check_below(fabs(fine), 1e-11); // what 20,000 steps of the reference round
            else
                check_near(log2(coarse / fine), orders[which][k], 0.05);
        }
    }
}

// Springs of every kind, an attractor and gravity: what strang sums and what it kicks with.
static small_scene mixed(double dt)
{
    small_scene s = small(FOLIOT_INTEGRATOR_KINEMATIC_STRANG, dt);
    uint32_t a = small_body(&s, 1, 1, 0), b = small_body(&s, 2.5, -0.6, 0.4);
    s.body[a].velocity[1] = 0.7;
    s.body[b].position[2] = 0.9;
    s.scene.gravity[2] = -0.3;
    small_spring(&s, a, FOLIOT_NO_BODY, 3, 0);
    small_spring(&s, a, FOLIOT_NO_BODY, 2, 0)->as.spring.point[1] = 1;
    small_spring(&s, b, FOLIOT_NO_BODY, 4, 0);
    small_spring(&s, a, b, 1.5, 0);
    foliot_force_definition *far = small_spring(&s, a, FOLIOT_NO_BODY, 2, 0);
    far->as.spring.point[0] =
        6; // no body comes near it, where a spring with a length is not smooth
    far->as.spring.length = 4;
    foliot_force_definition *attractor = small_force(&s, FOLIOT_FORCE_ATTRACTOR);
    attractor->as.attractor.strength = 0.5;
    attractor->as.attractor.point[2] = 8;
    return s;
}

TEST(strang_keeps_the_energy_of_springs_and_other_forces)
{
    small_scene s = mixed(1.0 / 60);
    foliot_world *world = small_world(&s);
    double start = small_energy(world), early = 0, late = 0;
    for (int n = 0; n < 400000; n++) {
        small_steps(world, 1);
        if (n < 50000)
            early = fmax(early, fabs(small_energy(world) - start));
        else if (n >= 350000)
            late = fmax(late, fabs(small_energy(world) - start));
    }
    print_message("energy %.6g: off by %.3g early, %.3g late\n", start, early, late);
    check_below(early, 1e-3 * fabs(start));
    check_below(late, 1.1 * early);
    foliot_world_destroy(world);
}

TEST(strang_runs_back_when_velocities_are_turned)
{
    small_scene s = mixed(1.0 / 30);
    foliot_world *there = small_world(&s);
    small_steps(there, 300);
    for (uint32_t i = 0; i < 2; i++) {
        foliot_body_state now = slot_state(there, i);
        for (int c = 0; c < 3; c++) {
            s.body[i].position[c] = now.position[c];
            s.body[i].velocity[c] = -now.velocity[c];
        }
    }
    foliot_world *back = small_world(&s);
    small_steps(back, 300);
    small_scene begin = mixed(1.0 / 30);
    for (uint32_t i = 0; i < 2; i++)
        for (int c = 0; c < 3; c++)
            check_near(slot_state(back, i).position[c], begin.body[i].position[c], 1e-11);
    foliot_world_destroy(there);
    foliot_world_destroy(back);
}

// -- with bodies that do not move

TEST(static_bodies_stay_and_anchor)
{
    for (size_t k = 0; k < COUNT(all_schemes); k++) {
        small_scene s = small(all_schemes[k], 0.1);
        uint32_t wall = small_body(&s, 1, 2, 0), a = small_body(&s, 1.5, 5, 0);
        s.body[wall].is_static = true;
        s.scene.gravity[1] = -9;
        small_spring(&s, wall, a, 6, 0);
        small_force(&s, FOLIOT_FORCE_DRAG)->as.drag.quadratic = 0.01;
        foliot_world *world = small_world(&s);
        small_steps(world, 100);
        check_bits(slot_state(world, wall).position[0], 2);
        check_bits(slot_state(world, wall).position[1], 0);
        check_bits(slot_state(world, wall).velocity[1], 0);
        check_lt(slot_state(world, a).position[1], 0);
        foliot_world_destroy(world);
    }
}

TEST(a_frozen_body_leaves_the_others_exact)
{
    for (size_t k = 0; k < COUNT(exact_schemes); k++) {
        small_scene s = small(exact_schemes[k], 0.25);
        uint32_t lost = small_body(&s, 1, 0x1p39, 0x1p39), a = small_body(&s, 1, 10, 0);
        small_spring(&s, a, FOLIOT_NO_BODY, 15, 0);
        foliot_world *world = small_world(&s);
        small_steps(world, 40);
        assert_true(slot_state(world, lost).flags & FOLIOT_BODY_FROZEN);
        assert_int_equal(foliot_world_get_counters(world)->frozen_bodies, 1);
        check_bits(slot_state(world, lost).velocity[0], 0);
        check_near(slot_state(world, a).position[0], (double)(10 * cosl(sqrtl(15) * 10)), 1e-11);
        foliot_world_destroy(world);
    }
}

TEST(thrust_is_a_constant_force)
{
    for (size_t k = 0; k < COUNT(all_schemes); k++) {
        small_scene s = small(all_schemes[k], 0.25);
        small_body(&s, 1, 0, 0);
        s.scene.players.limit = 2;
        s.scene.players.body = foliot_body_definition_default();
        s.scene.players.body.mass = 2;
        s.scene.players.control = FOLIOT_CONTROL_THRUST;
        s.scene.players.force = 127;
        foliot_world *world = small_world(&s);
        const foliot_input inputs[] = {
            {.player = 1, .sequence = 1, .kind = FOLIOT_INPUT_JOIN},
            {.player = 1, .sequence = 2, .kind = FOLIOT_INPUT_CONTROL, .axes = {8, 0, -16, 0}}};
        assert_int_equal(foliot_world_step(world, inputs, 2, NULL), FOLIOT_STATUS_OK);
        small_steps(world, 3);
        uint32_t body = player_slot(world, 1);
        check_near(slot_state(world, body).position[0], 4 * 0.5, 1e-15);
        check_near(slot_state(world, body).velocity[2], -8, 1e-14);
        check_bits(slot_state(world, 0).position[0], 0);
        foliot_world_destroy(world);
    }
}

// a = t^2 along x.
static void growing(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                    double *az)
{
    (void)user, (void)ay, (void)az;
    for (uint32_t i = 0; i < at->count; i++)
        ax[i] += at->inverse_mass[i] > 0 ? at->time * at->time : 0;
}

static double speed_under_growing(foliot_integrator integrator, int steps)
{
    const foliot_callback callback = {.acceleration = growing};
    const foliot_host host = {.callbacks = &callback, .callback_count = 1};
    small_scene s = small(integrator, 0.5);
    small_body(&s, 1, 0, 0);
    small_force(&s, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    foliot_world *world = small_world(&s);
    for (int n = 0; n < steps; n++)
        assert_int_equal(foliot_world_step(world, NULL, 0, &host), FOLIOT_STATUS_OK);
    double v = slot_state(world, 0).velocity[0];
    foliot_world_destroy(world);
    return v;
}

TEST(forces_get_the_time_of_the_stage)
{
    double left = 0, trapezoid = 0;
    for (int n = 0; n < 8; n++) {
        left += 0.5 * (0.5 * n) * (0.5 * n);
        trapezoid += 0.25 * ((0.5 * n) * (0.5 * n) + (0.5 * (n + 1)) * (0.5 * (n + 1)));
    }
    check_bits(speed_under_growing(FOLIOT_INTEGRATOR_KINEMATIC, 8), left);
    check_bits(speed_under_growing(FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE, 8), left);
    check_bits(speed_under_growing(FOLIOT_INTEGRATOR_KINEMATIC_STRANG, 8), trapezoid);
}

TEST(one_evaluation_a_step)
{
    for (size_t k = 0; k < COUNT(all_schemes); k++) {
        small_scene s = mixed(0.01);
        s.scene.integrator = all_schemes[k];
        foliot_world *world = small_world(&s);
        small_steps(world, 100);
        uint64_t count = foliot_world_get_counters(world)->force_evaluations;
        assert_true(count == 100 ||
                    (all_schemes[k] == FOLIOT_INTEGRATOR_KINEMATIC_STRANG && count == 101));
        foliot_world_destroy(world);
    }
}
