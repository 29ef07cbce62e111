// SPDX-License-Identifier: MIT
// Goal: light bodies carry heavy ones. Method: heights of stacks with ratios of mass up to 10^4,
// and momentum where nothing presses.
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "text_world.h"

// -- stacks

#define FLOOR                                                                                      \
    "foliot: 1\nname: heavy\ntick_hz: 60\ngravity: [0, 0, -9.81]\nbodies:\n"                       \
    "  - {name: floor, static: true, shape: {kind: plane}}\n"

static void check_top(const char *text, uint32_t slot, double height)
{
    foliot_world *world = text_world(text);
    foliot_body_state low = state_of(world, 1);
    for (int k = 0; k < 20; k++) {
        step_ticks(world, 60);
        check_near(state_of(world, slot).position[2], height, 0.01);
        for (int axis = 0; axis < 3; axis++)
            check_near(state_of(world, 1).position[axis], low.position[axis], 0.01);
    }
    foliot_world_destroy(world);
}

TEST(a_light_box_carries_a_heavy_one)
{
    static const double masses[] = {65, 100, 1000, 3000, 1e5};
    for (int k = 0; k < 5; k++) {
        double mass = masses[k];
        char text[1024];
        snprintf(text, sizeof text,
                 FLOOR "  - {name: low, mass: 1, position: [0, 0, 0.5],"
                       " shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n"
                       "  - {name: top, mass: %g, position: [0, 0, 1.5],"
                       " shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n",
                 mass);
        check_top(text, 2, 1.5);
    }
}

TEST(a_tower_of_eight_light_boxes_carries_a_heavy_one)
{
    char text[2048] = FLOOR;
    for (int k = 0; k < 9; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - {name: b%d, mass: %d, position: [0, 0, %g],"
                 " shape: {kind: box, half: [0.25, 0.25, 0.25]}}\n",
                 k, k < 8 ? 1 : 1000, 0.25 + 0.5 * k);
    check_top(text, 9, 4.25);
}

TEST(four_light_legs_carry_a_heavy_table)
{
    char text[2048] = FLOOR;
    for (int k = 0; k < 4; k++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "  - {name: l%d, mass: 1, position: [%d, %d, 0.25],"
                 " shape: {kind: box, half: [0.25, 0.25, 0.25]}}\n",
                 k, k % 2 * 2 - 1, k / 2 * 2 - 1);
    strcat(text, "  - {name: top, mass: 1000, position: [0, 0, 0.75],"
                 " shape: {kind: box, half: [1.5, 1.5, 0.25]}}\n");
    check_top(text, 5, 0.75);
}

// -- momentum

#define FREE "foliot: 1\nname: free\ntick_hz: 60\n"
#define PAIR                                                                                       \
    "  - {name: light, mass: 1, position: [0, 0, 0.5], friction: 0,"                               \
    " shape: {kind: box, half: [0.25, 0.25, 0.25]}}\n"                                             \
    "  - {name: heavy, mass: 1000, position: [-0.8, 0, 0.5], friction: 0,"                         \
    " shape: {kind: box, half: [0.5, 0.5, 0.5]}"

// Momentum along x after some ticks, in which the two have met. Impulses are binary32.
static double momentum_after(const char *text, uint32_t ticks)
{
    foliot_world *world = text_world(text);
    step_ticks(world, ticks);
    check_gt(state_of(world, 0).velocity[0], 0);
    double momentum = foliot_world_get_invariants(world, NULL).momentum[0];
    foliot_world_destroy(world);
    return momentum;
}

TEST(a_heavy_box_that_strikes_a_light_one_keeps_momentum)
{
    double momentum = momentum_after(FREE "bodies:\n" PAIR ", velocity: [3, 0, 0]}\n", 120);
    check_near(momentum, 3000, 3e-3);
}

// A light box that is pushed and has no support behind it weighs what it weighs.
TEST(a_light_box_that_a_heavy_one_pushes_weighs_what_it_weighs)
{
    double momentum = momentum_after(
        FREE "forces: [{kind: constant, body: heavy, force: [1000, 0, 0]}]\nbodies:\n" PAIR "}\n",
        120);
    check_near(momentum, 2000, 0.01);
    momentum = momentum_after(
        FREE "gravity: [0, 0, -2]\n"
             "forces: [{kind: constant, body: heavy, force: [1000, 0, 0]}]\nbodies:\n"
             "  - {name: light, mass: 1, position: [0, 0, 0.25], friction: 0,"
             " shape: {kind: box, half: [0.25, 0.25, 0.25]}}\n"
             "  - {name: heavy, mass: 1000, position: [-0.8, 0, 0.5], friction: 0,"
             " shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n"
             "  - {name: floor, static: true, friction: 0, shape: {kind: plane}}\n",
        120);
    check_near(momentum, 2000, 0.1);
}

// A floor without friction takes no momentum, so a loaded body that slides on it weighs what it
// weighs. Friction between the two makes no energy.
TEST(a_sheet_under_a_heavy_crate_keeps_momentum_on_ice)
{
    foliot_world *world =
        text_world(FREE "gravity: [0, 0, -9.81]\nbodies:\n"
                        "  - {name: floor, static: true, friction: 0, shape: {kind: plane}}\n"
                        "  - {name: sheet, mass: 1, friction: 0.8, position: [0, 0, 0.1],"
                        " velocity: [2, 0, 0], shape: {kind: box, half: [2, 0.5, 0.1]}}\n"
                        "  - {name: crate, mass: 1000, friction: 0.8, position: [0, 0, 0.7],"
                        " shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n");
    step_ticks(world, 120);
    check_near(foliot_world_get_invariants(world, NULL).momentum[0], 2, 0.02);
    check_near(state_of(world, 2).velocity[0], 2.0 / 1001, 1e-4);
    foliot_world_destroy(world);
}

// A heavy ball that starts to roll off a light one pushes it away with the momentum that it gets.
TEST(balls_roll_apart_without_momentum)
{
    foliot_world *world =
        text_world(FREE "gravity: [0, 0, -9.81]\nbodies:\n"
                        "  - {name: floor, static: true, friction: 0, shape: {kind: plane}}\n"
                        "  - {name: low, mass: 1, friction: 0, position: [0, 0, 0.5],"
                        " shape: {kind: sphere, radius: 0.5}}\n"
                        "  - {name: top, mass: 1000, friction: 0, position: [0.3, 0, 1.4],"
                        " shape: {kind: sphere, radius: 0.5}}\n");
    step_ticks(world, 60);
    check_near(foliot_world_get_invariants(world, NULL).momentum[0], 0, 0.1);
    foliot_world_destroy(world);
}

// Nor do two that fall together.
TEST(a_heavy_box_and_a_light_one_fall_together)
{
    foliot_world *world =
        text_world(FREE "gravity: [0, 0, -9.81]\nbodies:\n"
                        "  - {name: light, mass: 1, position: [0, 0, 0.5], velocity: [0, 0, 1],"
                        " shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n"
                        "  - {name: heavy, mass: 1000, position: [0, 0, 1.5],"
                        " shape: {kind: box, half: [0.5, 0.5, 0.5]}}\n");
    step_ticks(world, 60);
    check_near(foliot_world_get_invariants(world, NULL).momentum[2], 1 - 1001 * 9.81, 1e-3);
    foliot_world_destroy(world);
}
