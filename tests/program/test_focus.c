// SPDX-License-Identifier: MIT
// test_focus.c: what a spectator looks at. Goal: keys move it, and however long they are held it
// stays where something of the world is within sight. Method: a scene of two bodies and a plane.
#include "check.h"

#include <math.h>

#include "view/view.h"

#define FAR 10.0

static foliot_body_definition bodies[3];
static const double spawns[1][3] = {{0, 50, 0}};

static foliot_scene scene_of_two(void)
{
    foliot_scene scene = foliot_scene_default();
    for (int i = 0; i < 3; i++)
        bodies[i] = foliot_body_definition_default();
    bodies[0].position[0] = -20;
    bodies[1].position[0] = 30;
    bodies[2].shape.kind = FOLIOT_SHAPE_PLANE;
    bodies[2].position[2] = -1000;
    scene.bodies = bodies;
    scene.body_count = 3;
    scene.players.positions = spawns;
    scene.players.position_count = 1;
    return scene;
}

TEST(keys_move_it)
{
    foliot_scene scene = scene_of_two();
    double focus[3] = {0};
    foliot__focus_move(focus, &scene, (int8_t[3]){127, -127, 0}, FAR, 0.1);
    check_near(focus[0], 1, 1e-12);
    check_near(focus[1], -1, 1e-12);
    check_near(focus[2], 0, 0);
    foliot__focus_move(focus, NULL, (int8_t[3]){0, 0, 127}, FAR, 100); // nothing is known yet
    check_near(focus[2], 1000, 1e-9);
}

TEST(it_stays_in_the_world)
{
    foliot_scene scene = scene_of_two();
    double focus[3] = {0};
    for (int i = 0; i < 1000; i++)
        foliot__focus_move(focus, &scene, (int8_t[3]){127, 127, -127}, FAR, 0.1);
    check_near(focus[0], 35, 1e-9);
    check_near(focus[1], 55, 1e-9);
    check_near(focus[2], -5, 1e-9); // planes do not count
    for (int i = 0; i < 1000; i++)
        foliot__focus_move(focus, &scene, (int8_t[3]){-127, -127, 127}, FAR, 0.1);
    check_near(focus[0], -25, 1e-9);
    check_near(focus[1], -5, 1e-9);
    check_near(focus[2], 5, 1e-9);
}
