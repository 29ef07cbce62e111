// SPDX-License-Identifier: MIT
// Goal: a body that static friction holds on a turning, moving or tilting one stays where it is, at
// every number of substeps. Method: closed forms. Its place in the frame of the other is constant;
// a ball that rolls runs on a circle at 2/7 of the table's speed.
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
// Its contact is off its centre: it lies on the table's edge.
#define OVERHANGING                                                                                \
    "  - {name: plank, mass: 1, position: [0.5, 0, 0.05], velocity: [0, 1, 0],"                    \
    " angular_velocity: [0, 0, 2], shape: {kind: box, half: [0.3, 0.1, 0.05]}}\n"
#define SMALL_TABLE                                                                                \
    "  - {name: table, kinematic: true, angular_velocity: [0, 0, 2], position: [0, 0, -0.1],"      \
    " shape: {kind: box, half: [0.6, 5, 0.1]}}\n"

#define PLATFORM                                                                                   \
    "  - {name: platform, kinematic: true, velocity: [0.5, 0.1, 0.2],"                             \
    " angular_velocity: [0, 0, 1], position: [0, 0, -0.1], shape: {kind: box, half: [5, 5, "       \
    "0.1]}}\n"                                                                                     \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], velocity: [0.5, 0.6, 0.2],"                \
    " angular_velocity: [0, 0, 1], shape: {kind: box, half: [0.05, 0.05, 0.05]}}\n"
#define LIFT                                                                                       \
    "  - {name: lift, kinematic: true, velocity: [1, 0.3, 0.5], position: [0, 0, -0.1],"           \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"                                                    \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], velocity: [1, 0.3, 0.5],"                  \
    " shape: {kind: box, half: [0.05, 0.05, 0.05]}}\n"
#define TILTING                                                                                    \
    "  - {name: plank, kinematic: true, angular_velocity: [0, 0.005, 0], position: [0, 0, -0.1],"  \
    " shape: {kind: box, half: [5, 5, 0.1]}}\n"                                                    \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], shape: {kind: box, half: [0.05, 0.05, "    \
    "0.05]}}\n"
#define STANDING                                                                                   \
    "  - {name: floor, static: true, shape: {kind: plane}}\n"                                      \
    "  - {name: box, mass: 1, position: [0.5, 0, 0.05], shape: {kind: box, half: [0.05, 0.05, "    \
    "0.05]}}\n"

static foliot_world *world_under(uint32_t substeps, double gravity_x, const char *bodies)
{
    char text[2048];
    snprintf(text, sizeof text,
             "foliot: 1\nname: turntable\ntick_hz: 60\nsubsteps: %u\ngravity: [%g, 0, -9.81]\n"
             "bodies:\n%s",
             substeps, gravity_x, bodies);
    return text_world(text);
}

static foliot_world *world_of(uint32_t substeps, const char *bodies)
{
    return world_under(substeps, 0, bodies);
}

// Where body 1 is in the frame of body 0, and how far it has turned there about that body's z.
typedef struct place {
    double x, y, z, turned;
} place;

static place place_on_table(const foliot_world *world)
{
    foliot_body_state t = state_of(world, 0), b = state_of(world, 1);
    const double *q = t.orientation, *p = b.orientation;
    double angle = 2 * atan2(q[3], q[0]), d[3]; // it turns about z alone
    for (int k = 0; k < 3; k++)
        d[k] = b.position[k] - t.position[k];
    double w = (q[0] * p[0] + q[1] * p[1]) + (q[2] * p[2] + q[3] * p[3]);
    double z = (q[0] * p[3] - q[1] * p[2]) + (q[2] * p[1] - q[3] * p[0]);
    return (place){d[0] * cos(angle) + d[1] * sin(angle), d[1] * cos(angle) - d[0] * sin(angle),
                   d[2], 2 * atan2(z, w)};
}

// A minute, of 19 turns for the table. The body settles into the table in the first second, by up
// to `settles`, and creeps nowhere afterwards.
static void stays_in_place(uint32_t substeps, const char *bodies, double settles)
{
    foliot_world *world = world_of(substeps, bodies);
    place begin = place_on_table(world), settled = begin;
    for (int k = 0; k < 60; k++) {
        step_ticks(world, 60);
        place now = place_on_table(world);
        settled = k == 0 ? now : settled;
        check_near(now.x, begin.x, settles);
        check_near(now.y, begin.y, 1e-3);
        check_near(now.z, begin.z, 5e-3);
        check_near(now.x, settled.x, 0.15e-3);
        check_near(now.y, settled.y, 0.15e-3);
        check_near(remainder(now.turned - begin.turned, 2 * acos(-1)), 0, 0.5e-3);
    }
    foliot_world_destroy(world);
}

TEST(a_box_stays_in_place_at_every_number_of_substeps)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps++)
        stays_in_place(substeps, TABLE CUBE, 1e-3);
}

TEST(a_plank_that_overhangs_stays_in_place)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2)
        stays_in_place(substeps, SMALL_TABLE OVERHANGING, 1e-3);
}

TEST(a_table_that_turns_by_itself_carries_as_well)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2)
        stays_in_place(substeps, HEAVY_TABLE CUBE PIVOT, substeps == 2 ? 1.2e-3 : 1e-3);
}

TEST(a_box_stays_on_a_platform_that_moves_and_turns)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
        stays_in_place(substeps, PLATFORM, 1e-3);
        stays_in_place(substeps, LIFT, 1e-3);
    }
}

// Its friction holds up to a slope of 0.5; gravity along x is that of a slope of 0.3.
TEST(a_box_creeps_down_no_slope)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
        foliot_world *world = world_under(substeps, 3, STANDING);
        step_ticks(world, 3600);
        check_near(state_of(world, 1).position[0], 0.5, 0.1e-3);
        check_near(state_of(world, 1).position[1], 0, 0.01e-3);
        foliot_world_destroy(world);
    }
}

// A plank tilts by 0.3 radians in a minute, about y.
TEST(a_box_stays_in_place_on_a_plank_that_tilts)
{
    for (uint32_t substeps = 1; substeps <= 16; substeps *= 2) {
        foliot_world *world = world_of(substeps, TILTING);
        step_ticks(world, 3600);
        foliot_body_state box = state_of(world, 1);
        const double *p = box.position, tilt = 0.005 * 60;
        check_near(p[0] * cos(tilt) - (p[2] + 0.1) * sin(tilt), 0.5, 0.1e-3);
        check_near(p[1], 0, 0.01e-3);
        foliot_world_destroy(world);
    }
}

// Its velocity turns at 2/7 of the table's speed: half a circle takes 7 pi / 4 s.
TEST(a_ball_rolls_on_a_circle)
{
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
