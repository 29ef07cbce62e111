// SPDX-License-Identifier: MIT
// Goal: a body that static friction holds on a turning table stays where it is, at every number of
// substeps. Method: closed forms. The distance from the axis is constant; a ball that rolls runs on
// a circle at 2/7 of the table's speed.
#include "check.h"

#include <math.h>
#include <stdio.h>

#include "text_world.h"

#define TABLE                                                                                      \
    "  - {name: table, kinematic: true, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"      \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"
#define HEAVY_TABLE                                                                                \
    "  - {name: table, mass: 1e6, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"            \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"
#define PIVOT "constraints:\n  - {kind: hinge, a: table, anchor: [0, 0, -0.1], axis: [0, 0, 1]}\n"
#define CUBE                                                                                       \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], velocity: [0, 1, 0],"                      \
    " angular_velocity: [0, 0, 2], shape: {kind: box, half: [0.05, 0.05, 0.05]}}\n"
// Its contact is beside its centre: it lies on the table's edge.
#define OVERHANGING                                                                                \
    "  - {name: plank, mass: 1, position: [0.5, 0, 0.05], velocity: [0, 1, 0],"                    \
    " angular_velocity: [0, 0, 2], shape: {kind: box, half: [0.3, 0.1, 0.05]}}\n"
#define SMALL_TABLE                                                                                \
    "  - {name: table, kinematic: true, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"      \
    " shape: {kind: box, half: [0.6, 5, 0.1]}}\n"

static foliot_world *world_of(uint32_t substeps, const char *bodies)
{
    char text[2048];
    snprintf(text, sizeof text,
             "foliot: 1\nname: turntable\ntick_hz: 60\nsubsteps: %u\ngravity: [0, 0, -9.81]\n"
             "bodies:\n%s",
             substeps, bodies);
    return text_world(text);
}

// A minute of 19 turns.
static void stays_on_its_circle(uint32_t substeps, const char *bodies)
{
    foliot_world *world = world_of(substeps, bodies);
    for (int k = 0; k < 60; k++) {
        step_ticks(world, 60);
        foliot_body_state s = state_of(world, 1);
        check_near(hypot(s.position[0], s.position[1]), 0.5, 1e-3);
        check_near(s.position[2], 0.05, 5e-3);
    }
    foliot_world_destroy(world);
}

static void a_box_stays_on_its_circle_at_every_number_of_substeps(void **state)
{
    (void)state;
    for (uint32_t substeps = 1; substeps <= 16; substeps++)
        stays_on_its_circle(substeps, TABLE CUBE);
}

static void a_plank_that_overhangs_stays_on_its_circle(void **state)
{
    (void)state;
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2)
        stays_on_its_circle(substeps, SMALL_TABLE OVERHANGING);
}

static void a_table_that_turns_by_itself_carries_as_well(void **state)
{
    (void)state;
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 4)
        stays_on_its_circle(substeps, HEAVY_TABLE CUBE PIVOT);
}

// Its velocity turns at 2/7 of the table's speed: half a circle takes 7 pi / 4 s.
static void a_ball_rolls_on_a_circle(void **state)
{
    (void)state;
    for (uint32_t substeps = 4; substeps <= 16; substeps *= 2) {
        foliot_world *world = world_of(
            substeps, TABLE "  - {name: ball, mass: 1, position: [0.5, 0, 0.1], friction: 1,"
                            " velocity: [0, 0.2, 0], angular_velocity: [8, 0, 0],"
                            " shape: {kind: sphere, radius: 0.1}}\n");
        step_ticks(world, 330);
        foliot_body_state s = state_of(world, 1);
        double turned = 4. / 7 * 5.5;
        check_near(s.position[0], 0.15 + 0.35 * cos(turned), 2e-3);
        check_near(s.position[1], 0.35 * sin(turned), 2e-3);
        foliot_world_destroy(world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_stays_on_its_circle_at_every_number_of_substeps),
        cmocka_unit_test(a_plank_that_overhangs_stays_on_its_circle),
        cmocka_unit_test(a_table_that_turns_by_itself_carries_as_well),
        cmocka_unit_test(a_ball_rolls_on_a_circle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
