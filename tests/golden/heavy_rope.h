// SPDX-License-Identifier: MIT
// heavy_rope.h: a scene for the golden digests: light links under heavy loads, whose trees of
// distances are solved together. A forked rope swings from one point; another hangs between two.
#ifndef FOLIOT_TESTS_HEAVY_ROPE_H
#define FOLIOT_TESTS_HEAVY_ROPE_H

#include "foliot/foliot.h"

#define HEAVY_ROPE_BODIES 20
#define HEAVY_ROPE_LINKS 21

static void heavy_rope_body(foliot_body_definition *b, double mass, double x, double y, double z)
{
    *b = foliot_body_definition_default();
    b->mass = mass;
    b->position[0] = x;
    b->position[1] = y;
    b->position[2] = z;
}

static void heavy_rope_link(foliot_constraint_definition *c, uint32_t a, uint32_t b, double length)
{
    *c = foliot_constraint_definition_default(FOLIOT_CONSTRAINT_DISTANCE);
    c->a = a;
    c->b = b;
    c->length = length;
}

// `bodies` and `links` are the scene's and outlive it. Steps of (0.12, 0.16, 0) and
// (0, 0.16, -0.12) are 0.2 long.
static void heavy_rope_make(foliot_scene *scene, foliot_body_definition bodies[HEAVY_ROPE_BODIES],
                            foliot_constraint_definition links[HEAVY_ROPE_LINKS])
{
    double x = 0, y = 0, z = 0;
    for (uint32_t k = 0; k < 10; k++) { // the rope
        x += k % 2 ? 0.12 : 0;
        y += 0.16;
        z -= k % 2 ? 0 : 0.12;
        heavy_rope_body(&bodies[k], k < 9 ? 1 + 0.1 * k : 1000, x, y, z);
        heavy_rope_link(&links[k], k, k ? k - 1 : FOLIOT_NO_BODY, 0.2);
    }
    for (uint32_t k = 10; k < 13; k++) { // its fork
        const double *from = bodies[k > 10 ? k - 1 : 4].position;
        heavy_rope_body(&bodies[k], k < 12 ? 0.7 : 300, from[0] + 0.12, from[1] - 0.16, from[2]);
        heavy_rope_link(&links[k], k, k > 10 ? k - 1 : 4, 0.2);
    }
    for (uint32_t k = 13; k < 20; k++) { // the rope between two points
        heavy_rope_body(&bodies[k], k == 15 ? 500 : 1, 5 + 0.25 * (k - 12), 0, 0);
        heavy_rope_link(&links[k], k, k > 13 ? k - 1 : FOLIOT_NO_BODY, 0.26);
        links[k].length_min = 0;
    }
    links[13].anchor_b[0] = 5;
    heavy_rope_link(&links[20], 19, FOLIOT_NO_BODY, 0.26);
    links[20].anchor_b[0] = 7;
    *scene = foliot_scene_default();
    scene->name = "heavy-rope";
    scene->dt = 1.0 / 60;
    scene->gravity[2] = -9.81;
    scene->bodies = bodies;
    scene->body_count = HEAVY_ROPE_BODIES;
    scene->constraints = links;
    scene->constraint_count = HEAVY_ROPE_LINKS;
}

#endif
