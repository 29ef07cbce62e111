// SPDX-License-Identifier: MIT
// test_rods.c: rods by SHAKE and RATTLE: as long after a step as before, to rounding; energy and
// period with the order of the scheme. A pendulum's reference is a run of kahan-li8 at a tenth of
// the step.
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "scene_builder.h"
#include "slots.h"

#define G 9.81

typedef void scheme_test(foliot_integrator id);
static void with_every_scheme(scheme_test *test)
{
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (!info->rods)
            continue;
        printf("%s\n", info->name);
        test((foliot_integrator)id);
    }
}

static double distance(const foliot_world *world, uint32_t a, uint32_t b)
{
    foliot_body_state p = slot_state(world, a), q = slot_state(world, b);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (p.position[k] - q.position[k]) * (p.position[k] - q.position[k]);
    return sqrt(sum);
}

// Lengthening speed of a rod.
static double stretching(const foliot_world *world, uint32_t a, uint32_t b)
{
    foliot_body_state p = slot_state(world, a), q = slot_state(world, b);
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += (p.position[k] - q.position[k]) * (p.velocity[k] - q.velocity[k]);
    return sum / distance(world, a, b);
}

static double energy(const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    return now.kinetic + now.potential;
}

static foliot_world *pendulum(scene_builder *y, foliot_integrator id, double dt)
{
    const double top[3] = {0.3, 0.2, 0};
    *y = builder_new(id);
    y->scene.dt = dt;
    y->scene.gravity[2] = -G;
    builder_add_point(y, 1.7, 1.3, 0.2, -0.1);
    builder_set_velocity(y, 0.1 * 0.3, 1.1, 1.0 * 0.3); // across the rod: a spherical pendulum
    builder_add_link(y, FOLIOT_CONSTRAINT_ROD, 0, FOLIOT_NO_BODY, top);
    return builder_create_world(y);
}

static void position_after(foliot_integrator id, double dt, double time, double x[3])
{
    scene_builder y;
    foliot_world *world = pendulum(&y, id, dt);
    run_ticks(world, (uint32_t)lround(time / dt));
    foliot_body_state ball = slot_state(world, 0);
    for (int k = 0; k < 3; k++)
        x[k] = ball.position[k];
    foliot_world_destroy(world);
    builder_free(&y);
}

static double apart(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

TEST(a_rod_pendulum_has_the_order_of_the_scheme)
{
    double exact[3];
    position_after(FOLIOT_INTEGRATOR_KAHAN_LI8, 1.0 / 400, 2, exact);
    for (int id = 1; id < FOLIOT_INTEGRATOR_COUNT; id++) {
        const foliot_integrator_info *info = foliot_integrator_get_info((foliot_integrator)id);
        if (!info->rods)
            continue;
        // Steps small enough for the order to show, large enough to stay above rounding.
        double dt = info->order >= 8 ? 1.0 / 20 : info->order >= 4 ? 1.0 / 40 : 1.0 / 400;
        double coarse[3], fine[3];
        position_after((foliot_integrator)id, dt, 2, coarse);
        position_after((foliot_integrator)id, dt / 2, 2, fine);
        double order = log2(apart(coarse, exact) / apart(fine, exact));
        printf("%s: order %.3f, errors %.3g %.3g\n", info->name, order, apart(coarse, exact),
               apart(fine, exact));
        check_near(order, info->order, info->order >= 6 ? 0.4 : 0.15);
    }
}

static void holds(foliot_integrator id)
{
    scene_builder y;
    foliot_world *world = pendulum(&y, id, 1.0 / 60);
    const foliot_integrator_info *info = foliot_integrator_get_info(id);
    double start = energy(world), worst = 0, length = y.constraints[0].length;
    for (int t = 0; t < 60 * 60; t++) {
        run_ticks(world, 1);
        foliot_body_state ball = slot_state(world, 0);
        const double top[3] = {0.3, 0.2, 0};
        check_near(apart(ball.position, top), length, 4e-15);
        double along = 0;
        for (int k = 0; k < 3; k++)
            along += (ball.position[k] - top[k]) * ball.velocity[k];
        check_near(along, 0, 4e-14);
        worst = fmax(worst, fabs(energy(world) - start));
    }
    printf("  energy error %.3g of %.3g\n", worst, fabs(start));
    check_below(worst, info->order == 1   ? 0.6
                       : info->order == 2 ? 0.02
                       : info->order == 4 ? 1e-3
                                          : 1e-5);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_rod_pendulum_keeps_length_and_energy)
{
    with_every_scheme(holds);
}

// Fifty rods in a row, falling from the horizontal; the energy of a symplectic scheme stays where
// it was.
static void chains(foliot_integrator id)
{
    const uint32_t links = 50;
    scene_builder y = builder_new(id);
    const double top[3] = {0, 0, 0};
    y.scene.dt = 1.0 / 240;
    y.scene.gravity[2] = -G;
    for (uint32_t k = 0; k < links; k++)
        builder_add_point(&y, k + 1 == links ? 5 : 0.1, 0.1 * (k + 1), 0, 0);
    builder_add_link(&y, FOLIOT_CONSTRAINT_ROD, 0, FOLIOT_NO_BODY, top);
    for (uint32_t k = 0; k + 1 < links; k++)
        builder_add_link(&y, FOLIOT_CONSTRAINT_ROD, k, k + 1, NULL);
    foliot_world *world = builder_create_world(&y);
    double start = energy(world);
    for (int t = 0; t < 240; t++) {
        run_ticks(world, 1);
        for (uint32_t k = 0; k + 1 < links; k++) {
            check_near(distance(world, k, k + 1), 0.1, 1e-13);
            check_near(stretching(world, k, k + 1), 0, 1e-11);
        }
    }
    check_near(energy(world), start, id == FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER ? 10 : 1);
    check_lt(slot_state(world, links - 1).position[2], -1);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_chain_of_fifty_rods_does_not_stretch)
{
    with_every_scheme(chains);
}

// A net of rods in free flight: triangles share bodies, and one rod of them says nothing new.
static void tumbles(foliot_integrator id)
{
    scene_builder y = builder_new(id);
    const double at[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1.1, 0}, {0.2, 0.3, 0.9}, {1, 1, 0}};
    const uint32_t rods[9][2] = {{0, 1}, {1, 2}, {2, 0}, {0, 3}, {1, 3},
                                 {2, 3}, {4, 1}, {4, 2}, {4, 3}};
    const double spin[3] = {0.7, -1.9, 2.3};
    for (int k = 0; k < 5; k++) {
        builder_add_point(&y, 1 + k, at[k][0], at[k][1], at[k][2]);
        const double *p = at[k];
        builder_set_velocity(&y, spin[1] * p[2] - spin[2] * p[1], spin[2] * p[0] - spin[0] * p[2],
                             spin[0] * p[1] - spin[1] * p[0] + 3);
    }
    for (int k = 0; k < 9; k++)
        builder_add_link(&y, FOLIOT_CONSTRAINT_ROD, rods[k][0], rods[k][1], NULL);
    builder_add_link(&y, FOLIOT_CONSTRAINT_ROD, 0, 4,
                     NULL); // the tenth of five bodies: one too many
    foliot_world *world = builder_create_world(&y);
    foliot_invariants start = foliot_world_get_invariants(world, NULL);
    run_ticks(world, 600);
    foliot_invariants end = foliot_world_get_invariants(world, NULL);
    for (int k = 0; k < 9; k++) {
        double length = y.constraints[k].length;
        check_near(distance(world, rods[k][0], rods[k][1]), length, 1e-13);
    }
    for (int k = 0; k < 3; k++) {
        check_near(end.momentum[k], start.momentum[k], 1e-11);
        check_near(end.angular_momentum[k], start.angular_momentum[k], 1e-9);
    }
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(a_net_of_rods_tumbles_and_keeps_angular_momentum)
{
    with_every_scheme(tumbles);
}

TEST(a_rod_breaks_at_its_force)
{
    for (int k = 0; k < 2; k++) {
        scene_builder y = builder_new(FOLIOT_INTEGRATOR_VELOCITY_VERLET);
        const double top[3] = {0, 0, 1};
        y.scene.gravity[2] = -G;
        builder_add_point(&y, 3, 0, 0, 0);
        builder_add_link(&y, FOLIOT_CONSTRAINT_ROD, 0, FOLIOT_NO_BODY, top);
        y.constraints[0].break_force = 3 * G * (k ? 0.99 : 1.01);
        foliot_world *world = builder_create_world(&y);
        run_ticks(world, 300);
        assert_int_equal(index_joint(world, 0).broken, k);
        foliot_world_destroy(world);
        builder_free(&y);
    }
}
