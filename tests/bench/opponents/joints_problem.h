// SPDX-License-Identifier: MIT
// joints_problem.h: the scenes of the bench of joints for every engine (C and C++): nets, chains and dolls. y is up,
// 60 Hz, 10 m/s^2. Balls have a radius of 0.4 m, 1 kg and a distance of 1 m, and touch nothing; joints are in the middle.
// A doll is that of scenes/ragdolls.yaml: 11 bodies, 8 hinges with limits, 2 balls. It has no motors: with them
// Bullet's hinges, which have one row for a motor and a limit, come apart four times as far.
#ifndef FOLIOT_BENCH_JOINTS_PROBLEM_H
#define FOLIOT_BENCH_JOINTS_PROBLEM_H

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define JOINTS_DT (1.0 / 60)
#define JOINTS_GRAVITY 10.0
#define JOINTS_FRICTION 0.6

enum { JOINTS_SPHERE, JOINTS_BOX, JOINTS_CAPSULE, JOINTS_FLOOR };

typedef struct joints_body {
    int shape;
    double radius, half[3]; // capsule: half[2] is half the length of the segment along its z
    double mass;            // 0: static
    double moments[3];      // principal, per unit of mass
    double position[3], orientation[4];
} joints_body;

// A ball, or a hinge about an axis of both bodies, which have one orientation at the start.
typedef struct joints_joint {
    uint32_t a, b;
    double anchor_a[3], anchor_b[3]; // in body axes
    int is_hinge;
    double axis[3], angle_min, angle_max; // b against a
} joints_joint;

typedef struct joints_problem {
    joints_body *bodies;
    joints_joint *joints;
    uint32_t body_count, joint_count;
    int collide;
} joints_problem;

static inline void joints_rotate(const double q[4], const double v[3], double out[3])
{
    for (int k = 0; k < 3; k++) {
        const int i = (k + 1) % 3, j = (k + 2) % 3;
        out[k] = (2 * (q[0] * q[0] + q[1 + k] * q[1 + k]) - 1) * v[k] +
                 2 * (q[1 + k] * q[1 + i] - q[0] * q[1 + j]) * v[i] +
                 2 * (q[1 + k] * q[1 + j] + q[0] * q[1 + i]) * v[j];
    }
}

static inline void joints_set_moments(joints_body *b)
{
    const double *h = b->half, r = b->radius, l = 2 * h[2];
    const double ball = 4 * r / (4 * r + 3 * l), rod = 1 - ball; // shares of a capsule's mass
    for (int k = 0; k < 3; k++)
        switch (b->shape) {
        case JOINTS_BOX: b->moments[k] = (h[0] * h[0] + h[1] * h[1] + h[2] * h[2] - h[k] * h[k]) / 3; break;
        case JOINTS_CAPSULE:
            b->moments[k] = k == 2 ? rod * r * r / 2 + ball * 0.4 * r * r
                                   : rod * (l * l / 12 + r * r / 4) + ball * (0.4 * r * r + l * l / 4 + 0.375 * l * r);
            break;
        default: b->moments[k] = 0.4 * r * r;
        }
}

// Joins two bodies at the point that is `at` from the centre of a.
static inline joints_joint *joints_join(joints_problem *p, uint32_t a, uint32_t b, const double at[3],
                                        const double apart[3])
{
    joints_joint *j = &p->joints[p->joint_count++];
    memset(j, 0, sizeof *j);
    j->a = a;
    j->b = b;
    for (int k = 0; k < 3; k++) {
        j->anchor_a[k] = at[k];
        j->anchor_b[k] = at[k] - apart[k];
    }
    return j;
}

// Balls in `rows` rows, joined to the next row and, in a net, in a row; the first row is static. A `level` chain is one
// whose rows follow each other sideways.
static inline void joints_make_balls(joints_problem *p, uint32_t columns, uint32_t rows, int net, int level)
{
    for (uint32_t i = 0; i < columns * rows; i++) {
        const uint32_t column = i % columns, row = i / columns;
        joints_body b = {JOINTS_SPHERE, 0.4, {0, 0, 0}, row ? 1.0 : 0.0, {0, 0, 0}, {0, 0, 0}, {1, 0, 0, 0}};
        const double right[3] = {1, 0, 0}, down[3] = {0, -1, 0};
        const double *const next = level ? right : down;
        for (int k = 0; k < 3; k++)
            b.position[k] = column * right[k] + row * next[k];
        joints_set_moments(&b);
        p->bodies[p->body_count++] = b;
        const double half_right[3] = {0.5, 0, 0}, half_next[3] = {next[0] / 2, next[1] / 2, 0};
        if (net && row && column + 1 < columns)
            joints_join(p, i, i + 1, half_right, right);
        if (row + 1 < rows)
            joints_join(p, i, i + columns, half_next, next);
    }
}

// A doll with its pelvis at a place. Its own axes: z to the head, y to its left.
static inline void joints_make_doll(joints_problem *p, const double place[3], const double orientation[4])
{
    static const struct {
        int shape;
        double half[3], radius, mass, y, z;
    } parts[] = {
        {JOINTS_BOX, {0.1, 0.15, 0.08}, 0, 11, 0, 0},           // 0 pelvis
        {JOINTS_BOX, {0.11, 0.18, 0.2}, 0, 22, 0, 0.32},        // 1 chest
        {JOINTS_SPHERE, {0, 0, 0}, 0.12, 5, 0, 0.69},           // 2 head
        {JOINTS_CAPSULE, {0, 0, 0.12}, 0.055, 2.5, 0.25, 0.33}, // 3 arm, 4 hand, 5 thigh, 6 shin; 7 to 10: right
        {JOINTS_CAPSULE, {0, 0, 0.14}, 0.045, 1.8, 0.25, 0.01},
        {JOINTS_CAPSULE, {0, 0, 0.14}, 0.08, 8, 0.1, -0.3},
        {JOINTS_CAPSULE, {0, 0, 0.17}, 0.065, 4.5, 0.1, -0.75},
        {JOINTS_CAPSULE, {0, 0, 0.12}, 0.055, 2.5, -0.25, 0.33},
        {JOINTS_CAPSULE, {0, 0, 0.14}, 0.045, 1.8, -0.25, 0.01},
        {JOINTS_CAPSULE, {0, 0, 0.14}, 0.08, 8, -0.1, -0.3},
        {JOINTS_CAPSULE, {0, 0, 0.17}, 0.065, 4.5, -0.1, -0.75},
    };
    static const struct {
        uint32_t a, b;
        double y, z, angle_min, angle_max; // both 0: a ball
    } links[] = {
        {0, 1, 0, 0.1, -0.3, 1.1},     {1, 2, 0, 0.55, -0.6, 0.6},      {1, 3, 0.22, 0.47, 0, 0},
        {3, 4, 0.25, 0.18, -2.3, 0.05}, {0, 5, 0.1, -0.1, -1.9, 0.5},    {5, 6, 0.1, -0.52, -0.05, 2.3},
        {1, 7, -0.22, 0.47, 0, 0},     {7, 8, -0.25, 0.18, -2.3, 0.05}, {0, 9, -0.1, -0.1, -1.9, 0.5},
        {9, 10, -0.1, -0.52, -0.05, 2.3},
    };
    const uint32_t first = p->body_count;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        joints_body b = {parts[i].shape, parts[i].radius, {0, 0, 0}, parts[i].mass, {0, 0, 0}, {0, 0, 0}, {0, 0, 0, 0}};
        const double from[3] = {0, parts[i].y, parts[i].z};
        memcpy(b.half, parts[i].half, sizeof b.half);
        memcpy(b.orientation, orientation, sizeof b.orientation);
        joints_rotate(orientation, from, b.position);
        for (int k = 0; k < 3; k++)
            b.position[k] += place[k];
        joints_set_moments(&b);
        p->bodies[p->body_count++] = b;
    }
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        const uint32_t a = links[i].a, b = links[i].b;
        const double at[3] = {0, links[i].y - parts[a].y, links[i].z - parts[a].z};
        const double apart[3] = {0, parts[b].y - parts[a].y, parts[b].z - parts[a].z};
        joints_joint *j = joints_join(p, first + a, first + b, at, apart);
        j->is_hinge = links[i].angle_min < links[i].angle_max;
        j->axis[1] = 1;
        j->angle_min = links[i].angle_min;
        j->angle_max = links[i].angle_max;
    }
}

// Five layers of four dolls, each turned another way, over a floor.
static inline void joints_make_dolls(joints_problem *p)
{
    const joints_body floor = {JOINTS_FLOOR, 0, {0, 0, 0}, 0, {0, 0, 0}, {0, 0, 0}, {1, 0, 0, 0}};
    p->collide = 1;
    p->bodies[p->body_count++] = floor;
    for (int i = 0; i < 20; i++) {
        const double place[3] = {0.9 * (i % 2) - 0.45 + 0.1 * (i % 3), 1.5 + 1.7 * (i / 4), 0.9 * (i / 2 % 2) - 0.45};
        const double angle = 0.9 + 0.7 * i, lean = 0.4 * i, s = sin(angle / 2);
        const double orientation[4] = {cos(angle / 2), s * cos(lean), s * sin(lean) * 0.6, s * sin(lean) * 0.8};
        joints_make_doll(p, place, orientation);
    }
}

static inline void joints_free(joints_problem *p)
{
    free(p->bodies);
    free(p->joints);
}

// The scene of that name; 0: there is none.
static inline int joints_make(const char *name, joints_problem *p)
{
    static const struct {
        const char *name;
        uint32_t columns, rows;
        int net, level;
    } balls[] = {{"joint_grid", 100, 100, 1, 0}, {"net_32", 32, 32, 1, 0},        {"chains_70", 70, 71, 0, 0},
                 {"chain_1000", 1, 1000, 0, 1},  {"chain_10000", 1, 10000, 0, 1}, {"ragdolls_20", 0, 0, 0, 0}};
    memset(p, 0, sizeof *p);
    p->bodies = (joints_body *)malloc(10000 * sizeof *p->bodies);
    p->joints = (joints_joint *)malloc(20000 * sizeof *p->joints);
    for (size_t i = 0; i < sizeof balls / sizeof *balls; i++)
        if (strcmp(balls[i].name, name) == 0 && balls[i].columns)
            joints_make_balls(p, balls[i].columns, balls[i].rows, balls[i].net, balls[i].level);
        else if (strcmp(balls[i].name, name) == 0)
            joints_make_dolls(p);
    return p->body_count > 0;
}

#endif
