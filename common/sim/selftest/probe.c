// SPDX-License-Identifier: MIT
// probe.c: the scenes of probe.h. Their numbers are part of the fingerprint: changing one changes
// it.
#include "sim/selftest/probe.h"

#include "base/assert.h"
#include "base/rng.h"
#include "sim/math/vec3.h"
#include "sim/scene/scene.h"

#include <string.h>

typedef struct maker {
    foliot__probe *probe;
    foliot__rng rng;
} maker;

static double draw_between(maker *m, double low, double high)
{
    return low + (high - low) * foliot__rng_unit(&m->rng);
}

static void draw_vector(maker *m, double value[3], double size)
{
    for (int i = 0; i < 3; i++)
        value[i] = draw_between(m, -size, size);
}

static foliot_body_definition *add_body(maker *m)
{
    foliot_scene *scene = &m->probe->scene;
    FOLIOT_ASSERT(scene->body_count < FOLIOT__PROBE_BODIES);
    foliot_body_definition *body = &m->probe->bodies[scene->body_count++];
    *body = foliot_body_definition_default();
    body->mass = draw_between(m, 0.3, 2.7);
    draw_vector(m, body->position, 3.0);
    draw_vector(m, body->velocity, 1.3);
    return body;
}

static foliot_force_definition *add_force(maker *m, foliot_force_kind kind)
{
    foliot_scene *scene = &m->probe->scene;
    FOLIOT_ASSERT(scene->force_count < FOLIOT__PROBE_LINKS);
    foliot_force_definition *force = &m->probe->forces[scene->force_count++];
    *force = foliot_force_definition_default(kind);
    return force;
}

static foliot_constraint_definition *add_constraint(maker *m, foliot_constraint_kind kind,
                                                    uint32_t a, uint32_t b, double length)
{
    foliot_scene *scene = &m->probe->scene;
    FOLIOT_ASSERT(scene->constraint_count < FOLIOT__PROBE_LINKS);
    foliot_constraint_definition *constraint = &m->probe->constraints[scene->constraint_count++];
    *constraint = foliot_constraint_definition_default(kind);
    constraint->a = a;
    constraint->b = b;
    constraint->length = length;
    return constraint;
}

static void add_spring(maker *m, uint32_t a, uint32_t b, double damping, foliot_damping kind,
                       double length)
{
    foliot_force_definition *force = add_force(m, FOLIOT_FORCE_SPRING);
    force->a = a;
    force->b = b;
    if (b == FOLIOT_NO_BODY)
        draw_vector(m, force->as.spring.point, 2.0);
    force->as.spring.stiffness = draw_between(m, 3.0, 40.0);
    force->as.spring.damping = damping;
    force->as.spring.damping_kind = kind;
    force->as.spring.length = length;
}

// A solid that tumbles: three unequal moments, a tilted orientation.
static void make_tumble(maker *m, foliot_body_definition *body)
{
    for (int i = 0; i < 3; i++)
        body->inertia[i] = draw_between(m, 0.5, 0.9) + 0.13 * i;
    draw_vector(m, body->angular_velocity, 2.9);
    draw_vector(m, body->orientation + 1, 0.7);
}

static void add_players(maker *m, foliot_control_kind control, foliot_shape_kind shape)
{
    foliot_players_definition *players = &m->probe->scene.players;
    players->limit = 3;
    players->body = foliot_body_definition_default();
    players->body.mass = 1.37;
    players->body.shape.kind = shape;
    if (shape == FOLIOT_SHAPE_SPHERE)
        players->body.shape.radius = 0.41;
    else
        make_tumble(m, &players->body);
    players->body.restitution = 0.31;
    players->position_count = 3;
    for (int i = 0; i < 3; i++) {
        draw_vector(m, m->probe->spawns[i], 0.3);
        m->probe->spawns[i][0] += 6.1 + 2.3 * i;
        m->probe->spawns[i][2] += 1.7;
    }
    players->positions = (const double(*)[3])m->probe->spawns;
    players->control = control;
    players->force = 21.3;
    players->torque = 1.7;
}

static void make_tangle(maker *m)
{
    for (int i = 0; i < 8; i++) {
        foliot_body_definition *body = add_body(m);
        if (i % 2)
            make_tumble(m, body);
        draw_vector(m, body->force, 0.9);
    }
    m->probe->scene.gravity[2] = -9.80665;
    m->probe->scene.substeps = 2;
    add_spring(m, 0, FOLIOT_NO_BODY, 0.13, FOLIOT_DAMPING_ISOTROPIC, 0);
    // One that creeps and one that swings fast: the explicit schemes lose both, which freezes them.
    add_spring(m, 6, FOLIOT_NO_BODY, 1531.7, FOLIOT_DAMPING_ISOTROPIC, 0);
    add_spring(m, 7, FOLIOT_NO_BODY, 3.7, FOLIOT_DAMPING_ISOTROPIC, 0);
    m->probe->forces[m->probe->scene.force_count - 1].as.spring.stiffness = 71234.5;
    add_spring(m, 1, FOLIOT_NO_BODY, 0.37, FOLIOT_DAMPING_ALONG, 0.7);
    add_spring(m, 1, 2, 0.11, FOLIOT_DAMPING_ALONG, 1.1);
    add_spring(m, 2, 3, 0.23, FOLIOT_DAMPING_ISOTROPIC, 0.9);
    add_spring(m, 3, 4, 0, FOLIOT_DAMPING_ALONG, 1.3);
    add_spring(m, 4, 5, 0, FOLIOT_DAMPING_ALONG, 0);
    foliot_force_definition *drag = add_force(m, FOLIOT_FORCE_DRAG);
    drag->as.drag.linear = 0.071;
    drag->as.drag.quadratic = 0.0123;
    foliot_force_definition *pulse = add_force(m, FOLIOT_FORCE_CONSTANT);
    pulse->a = 3;
    draw_vector(m, pulse->as.constant.force, 11.0);
    pulse->as.constant.start = 0.021;
    pulse->as.constant.end = 0.113;
}

static void make_crew(maker *m)
{
    make_tangle(m);
    m->probe->scene.speed_max = 3.91;
    add_players(m, FOLIOT_CONTROL_VESSEL, FOLIOT_SHAPE_POINT);
}

static void make_orbits(maker *m)
{
    // Enough for every block size of pairwise gravity, and a rest that fills no lane.
    for (int i = 0; i < 59; i++)
        add_body(m);
    // One so fast that its steps on reversible-leapfrog's lattice need all bits of a double.
    draw_vector(m, m->probe->bodies[58].velocity, 0x1p18);
    foliot_force_definition *newton = add_force(m, FOLIOT_FORCE_NEWTON);
    newton->as.newton.constant = 0.317;
    newton->as.newton.softening = 0.0531;
    foliot_force_definition *attractor = add_force(m, FOLIOT_FORCE_ATTRACTOR);
    draw_vector(m, attractor->as.attractor.point, 0.3);
    attractor->as.attractor.strength = 1.713;
    add_spring(m, 0, FOLIOT_NO_BODY, 0, FOLIOT_DAMPING_ALONG, 0);
    add_spring(m, 1, 2, 0, FOLIOT_DAMPING_ALONG, 0.81);
    m->probe->scene.gravity[0] = 0.173;
}

static void make_tops(maker *m)
{
    for (int i = 0; i < 5; i++)
        make_tumble(m, add_body(m));
    add_spring(m, 0, 1, 0, FOLIOT_DAMPING_ALONG, 0.3);
}

static void make_balls(maker *m)
{
    foliot_body_definition *floor = add_body(m);
    memset(floor->position, 0, sizeof floor->position);
    memset(floor->velocity, 0, sizeof floor->velocity);
    floor->is_static = true;
    floor->shape.kind = FOLIOT_SHAPE_PLANE;
    floor->friction = 0.37;
    for (int i = 0; i < 14; i++) {
        foliot_body_definition *ball = add_body(m);
        ball->position[0] = 0.61 * (i % 4) + draw_between(m, -0.03, 0.03);
        ball->position[1] = 0.59 * (i / 4 % 2) + draw_between(m, -0.03, 0.03);
        ball->position[2] = 0.37 + 0.63 * (i / 8) + draw_between(m, 0, 0.05);
        ball->shape.kind = FOLIOT_SHAPE_SPHERE;
        ball->shape.radius = draw_between(m, 0.27, 0.33);
        ball->restitution = draw_between(m, 0.1, 0.8);
        ball->friction = draw_between(m, 0.1, 0.9);
        ball->velocity[2] = i == 13 ? -311.7 : ball->velocity[2]; // a bullet
    }
    m->probe->scene.gravity[2] = -9.80665;
    add_spring(m, 3, 4, 0.29, FOLIOT_DAMPING_ALONG, 0.53);
    add_players(m, FOLIOT_CONTROL_THRUST, FOLIOT_SHAPE_SPHERE);
}

static void make_net(maker *m)
{
    for (int i = 0; i < 12; i++) {
        foliot_body_definition *knot = add_body(m);
        knot->position[0] = 0.5 * (i % 4);
        knot->position[1] = 0.5 * (i / 4);
        knot->position[2] = 0.03 * i;
        knot->is_static = i < 2;
        if (knot->is_static)
            memset(knot->velocity, 0, sizeof knot->velocity);
    }
    for (uint32_t i = 0; i < 12; i++) {
        if (i % 4 < 3 && i > 0)
            add_constraint(m, FOLIOT_CONSTRAINT_DISTANCE, i, i + 1, 0.5)->length_min = 0.37;
        if (i < 8)
            add_constraint(m, FOLIOT_CONSTRAINT_DISTANCE, i, i + 4, 0.51)->stiffness = 0.83;
    }
    m->probe->constraints[5].break_force = 1e-3;
    m->probe->constraints[9].break_force = 37.0;
    m->probe->scene.gravity[2] = -9.80665;
}

static void make_rods(maker *m)
{
    for (int i = 0; i < 6; i++) {
        foliot_body_definition *link = add_body(m);
        memset(link->position, 0, sizeof link->position);
        link->position[0] = 0.71 * i;
        link->velocity[0] = 0; // along the rods nothing moves
        link->is_static = i == 0;
        if (link->is_static)
            memset(link->velocity, 0, sizeof link->velocity);
    }
    for (uint32_t i = 0; i < 5; i++)
        add_constraint(m, FOLIOT_CONSTRAINT_ROD, i, i + 1, 0.71 * (i + 1) - 0.71 * i);
    m->probe->scene.gravity[2] = -9.80665;
}

static foliot_body_definition *add_floor(maker *m)
{
    foliot_body_definition *floor = add_body(m);
    memset(floor->position, 0, sizeof floor->position);
    memset(floor->velocity, 0, sizeof floor->velocity);
    floor->is_static = true;
    floor->shape.kind = FOLIOT_SHAPE_PLANE;
    floor->friction = 0.57;
    m->probe->scene.gravity[2] = -9.80665;
    return floor;
}

static void make_solid(maker *m, foliot_body_definition *body, int kind)
{
    static const foliot_shape_kind kinds[] = {FOLIOT_SHAPE_BOX, FOLIOT_SHAPE_CAPSULE,
                                              FOLIOT_SHAPE_SPHERE, FOLIOT_SHAPE_BOX};
    body->shape.kind = kinds[kind % 4];
    body->shape.radius = draw_between(m, 0.11, 0.17);
    for (int k = 0; k < 3; k++)
        body->shape.half[k] = draw_between(m, 0.13, 0.23);
    body->friction = draw_between(m, 0.1, 0.9);
}

static void make_crates(maker *m)
{
    add_floor(m);
    for (int i = 0; i < 27; i++) {
        foliot_body_definition *body = add_body(m);
        body->position[0] = 0.47 * (i % 3) + draw_between(m, -0.05, 0.05);
        body->position[1] = 0.49 * (i / 3 % 3) + draw_between(m, -0.05, 0.05);
        body->position[2] = 0.31 + 0.43 * (i / 9) + draw_between(m, 0, 0.05);
        draw_vector(m, body->velocity, 0.7);
        draw_vector(m, body->angular_velocity, 2.3);
        draw_vector(m, body->orientation + 1, 0.6);
        make_solid(m, body, i);
        body->restitution = i % 5 == 0 ? 0.37 : 0;
    }
    foliot_body_definition *wall = add_body(m); // a static box, crooked
    memset(wall->velocity, 0, sizeof wall->velocity);
    wall->is_static = true;
    wall->position[0] = -0.71;
    wall->position[2] = 0.3;
    draw_vector(m, wall->orientation + 1, 0.3);
    wall->shape.kind = FOLIOT_SHAPE_BOX;
    wall->shape.half[0] = wall->shape.half[1] = wall->shape.half[2] = 0.51;
    add_players(m, FOLIOT_CONTROL_THRUST, FOLIOT_SHAPE_SPHERE);
    foliot_players_definition *players = &m->probe->scene.players;
    players->body.shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {0.31, 0.29, 0.33}};
    for (int i = 0; i < 3; i++)
        m->probe->spawns[i][0] -= 4.3;
    players->reach = 2.7;
    players->pull = 17.3;
    players->push = 23.1;
    players->jump = 3.3;
}

// Stacks of two that rest at once; one is hit when it sleeps, one has a spring to a ball, one a
// push for a while.
static void make_nap(maker *m)
{
    m->probe->scene.sleep = true;
    add_floor(m);
    for (int i = 0; i < 8; i++) {
        foliot_body_definition *body = add_body(m);
        make_solid(m, body, 0);
        memset(body->velocity, 0, sizeof body->velocity);
        for (int k = 0; k < 3; k++)
            body->shape.half[k] = 0.2 + 0.01 * k;
        body->position[0] = 1.37 * (i / 2);
        body->position[1] = 0.03 * (i % 2);
        body->position[2] = i % 2 ? 0.66 : 0.22;
        body->friction = 0.6;
    }
    foliot_body_definition *ball = add_body(m);
    make_solid(m, ball, 2);
    ball->position[0] = -2.9;
    ball->position[1] = 0.07;
    ball->position[2] = ball->shape.radius;
    ball->velocity[0] = 4.1;
    ball->velocity[1] = ball->velocity[2] = 0;
    ball->friction = 0.01;
    add_spring(m, 6, 8, 0.7, FOLIOT_DAMPING_ALONG, 1.3);
    foliot_force_definition *pulse = add_force(m, FOLIOT_FORCE_CONSTANT);
    pulse->a = 3;
    pulse->as.constant.force[1] = 11.3;
    pulse->as.constant.start = 0.617;
    pulse->as.constant.end = 0.783;
}

static void draw_unit_vector(maker *m, double value[3])
{
    draw_vector(m, value, 1.0);
    double length = foliot__vec3_length(value);
    for (int k = 0; k < 3; k++)
        value[k] /= length;
}

// An oblique floor far from the origin and a thin plate kilometres wide that cuts it, so that a gap
// is a small difference of large numbers. On both, solids that slide and roll, and others that are
// too fast to be seen on their way.
static void make_slope(maker *m)
{
    static const double far[3] = {310000.7, -270000.3, 190000.1},
                        corner[3] = {-21000.3, 17000.9, -0.3};
    foliot_body_definition *floor = add_floor(m), *plate = add_body(m);
    double *n = floor->shape.normal;
    draw_unit_vector(m, n);
    n[2] = 1.7;
    double length = foliot__vec3_length(n);
    for (int k = 0; k < 3; k++)
        n[k] /= length;
    floor->shape.offset = foliot__vec3_dot(n, far);
    memset(plate->velocity, 0, sizeof plate->velocity);
    memcpy(plate->position, far, sizeof far);
    plate->is_static = true;
    draw_vector(m, plate->orientation + 1, 0.1);
    double centre[3];
    foliot__body_to_world(plate, corner, centre);
    memcpy(plate->position, centre, sizeof centre);
    plate->shape = (foliot_shape){.kind = FOLIOT_SHAPE_BOX, .half = {31000.7, 29000.3, 0.0211}};
    for (int i = 0; i < 11; i++) {
        foliot_body_definition *body = add_body(m);
        bool fast = i % 3 == 2;
        double beside[3];
        make_solid(m, body, i);
        draw_vector(m, beside, fast ? 3.0 : 1.0);
        draw_vector(m, body->angular_velocity, fast ? 31.3 : 1.3);
        draw_vector(m, body->orientation + 1, 0.6);
        for (int k = 0; k < 3; k++) {
            body->position[k] = far[k] + 0.6 * (i % 4 + 1) * n[k] + beside[k];
            body->velocity[k] = fast ? -210.3 * n[k] : 0.3 * beside[k];
        }
        body->restitution = fast ? 0.47 : 0;
    }
}

// Bodies whose size and speed are, but for rounding, at the limit of what counts as still. Springs
// without stiffness hold them, so that they may fall asleep.
static void make_drowse(maker *m)
{
    m->probe->scene.sleep = true;
    for (uint32_t i = 0; i < 24; i++) {
        foliot_body_definition *ball = add_body(m);
        double radius = draw_between(m, 0.2, 0.4), along[3], about[3];
        double limit = radius / (512 * m->probe->scene.dt);
        ball->shape.kind = FOLIOT_SHAPE_SPHERE;
        ball->shape.radius = radius;
        draw_unit_vector(m, along);
        draw_unit_vector(m, about);
        for (int k = 0; k < 3; k++) {
            ball->position[k] = 1.3 * (double)(i >> k % 2 & 3);
            ball->velocity[k] = (i % 2 ? 0.6 : 1) * limit * along[k];
            ball->angular_velocity[k] = i % 2 ? 0.8 * limit * about[k] / radius : 0;
        }
        ball->position[2] = 1.3 * i;
        add_spring(m, i, FOLIOT_NO_BODY, 0, FOLIOT_DAMPING_ALONG, 0);
        m->probe->forces[i].as.spring.stiffness = 0;
    }
}

// -- joints

// Joins bodies a and b (or the world) at a point and about an axis of the world.
static foliot_constraint_definition *add_joint(maker *m, foliot_constraint_kind kind, uint32_t a,
                                               uint32_t b, const double point[3])
{
    foliot_constraint_definition *joint = add_constraint(m, kind, a, b, 0);
    double axis[3];
    draw_unit_vector(m, axis);
    foliot__world_to_body(&m->probe->bodies[a], point, joint->anchor_a);
    memcpy(joint->anchor_b, point, sizeof joint->anchor_b);
    if (b != FOLIOT_NO_BODY)
        foliot__world_to_body(&m->probe->bodies[b], point, joint->anchor_b);
    if (kind == FOLIOT_CONSTRAINT_HINGE)
        foliot__direction_to_body(&m->probe->bodies[a], axis, joint->axis);
    return joint;
}

static foliot_constraint_definition *join_halfway(maker *m, foliot_constraint_kind kind, uint32_t a,
                                                  uint32_t b)
{
    const double *from = m->probe->bodies[a].position, *to = m->probe->bodies[b].position;
    double point[3];
    for (int k = 0; k < 3; k++)
        point[k] = from[k] + 0.47 * (to[k] - from[k]) + draw_between(m, -0.05, 0.05);
    return add_joint(m, kind, a, b, point);
}

static void limit_hinge(foliot_constraint_definition *hinge, double speed, double torque)
{
    hinge->angle_min = -0.31;
    hinge->angle_max = 0.23;
    hinge->motor_speed = speed;
    hinge->motor_torque = torque;
}

static void add_link(maker *m, double mass, double x, double y, double z)
{
    foliot_body_definition *link = add_body(m);
    const double at[3] = {x, y, z};
    make_tumble(m, link);
    link->mass = mass;
    for (int k = 0; k < 3; k++) {
        link->position[k] = at[k] + draw_between(m, -0.07, 0.07);
        link->inertia[k] *= 0.1 * mass;
        link->velocity[k] *= 0.3;
    }
}

// Without contacts: a ring that closes, a chain of light links under a great weight, a rotor, and
// hinges at their limits with motors; one ball breaks, a rope goes taut.
static void make_linkage(maker *m)
{
    for (uint32_t i = 0; i < 4; i++)
        add_link(m, 1.3, i % 2 ? 0.6 : 0, i / 2 ? 0.6 : 0, 0);
    for (uint32_t i = 0; i < 5; i++)
        add_link(m, i == 4 ? 911.3 : 0.17, 3 + 0.31 * (i + 1), 0, 0);
    for (uint32_t i = 0; i < 3; i++)
        add_link(m, 0.7, 0.5 * i, 3, 0);
    draw_vector(m, m->probe->bodies[11].angular_velocity, 97.3);
    m->probe->scene.gravity[2] = -9.80665;
    static const uint32_t ring[5] = {0, 1, 3, 2, 0};
    for (int i = 0; i < 4; i++)
        join_halfway(m, FOLIOT_CONSTRAINT_BALL, ring[i], ring[i + 1]);
    const double peg[3] = {-0.31, 0.17, 0.13}, hook[3] = {2.97, 0.03, 0.07},
                 post[3] = {0, 2.7, 0.11};
    limit_hinge(add_joint(m, FOLIOT_CONSTRAINT_HINGE, 0, FOLIOT_NO_BODY, peg), 3.1, 4.7);
    add_joint(m, FOLIOT_CONSTRAINT_BALL, 4, FOLIOT_NO_BODY, hook);
    for (uint32_t i = 4; i < 8; i++)
        join_halfway(m, i % 2 ? FOLIOT_CONSTRAINT_BALL : FOLIOT_CONSTRAINT_HINGE, i, i + 1);
    limit_hinge(add_joint(m, FOLIOT_CONSTRAINT_HINGE, 9, FOLIOT_NO_BODY, post), -2.3, 0.9);
    join_halfway(m, FOLIOT_CONSTRAINT_WELD, 9, 10);
    foliot_constraint_definition *rotor = join_halfway(m, FOLIOT_CONSTRAINT_HINGE, 10, 11);
    rotor->motor_speed = 731.3; // further in a substep than its rows lead
    rotor->motor_torque = 97.3;
    join_halfway(m, FOLIOT_CONSTRAINT_BALL, 3, 9)->break_force = 3.7;
    foliot_constraint_definition *rope = add_constraint(m, FOLIOT_CONSTRAINT_DISTANCE, 2, 10, 3.03);
    draw_vector(m, rope->anchor_a, 0.1);
    rope->length_min = 0;
}

// With contacts: a figure of capsules and boxes that falls on the floor. Next to it a smooth box
// whose moments are so nearly equal that what turns it about the vertical is what rounding leaves.
static void make_limbs(maker *m)
{
    static const double at[7][3] = {{0, 0, 1.1},     {0, 0, 1.5},      {0.4, 0, 1.2},
                                    {-0.4, 0, 1.2},  {0.15, 0.3, 0.7}, {-0.15, 0, 0.7},
                                    {0.15, 0.4, 0.3}};
    static const uint32_t parent[7] = {0, 0, 0, 0, 0, 0, 4};
    add_floor(m);
    for (int i = 0; i < 7; i++) {
        foliot_body_definition *limb = add_body(m);
        make_solid(m, limb, i);
        memcpy(limb->position, at[i], sizeof limb->position);
        draw_vector(m, limb->orientation + 1, 0.6);
        limb->velocity[2] -= 4.1;
    }
    for (uint32_t i = 1; i < 7; i++) {
        foliot_constraint_kind kind = i == 1   ? FOLIOT_CONSTRAINT_WELD
                                      : i == 3 ? FOLIOT_CONSTRAINT_BALL
                                               : FOLIOT_CONSTRAINT_HINGE;
        foliot_constraint_definition *joint = join_halfway(m, kind, 1 + parent[i], 1 + i);
        if (kind == FOLIOT_CONSTRAINT_HINGE)
            limit_hinge(joint, i % 2 ? 1.7 : -2.9, 0.4);
    }
    foliot_body_definition *box = add_body(m);
    make_solid(m, box, 0);
    memset(box->velocity, 0, sizeof box->velocity);
    draw_vector(m, box->orientation + 1, 0.3);
    box->position[0] = 3.1;
    box->position[2] = 0.4;
    box->friction = 0;
    for (int k = 0; k < 3; k++)
        box->inertia[k] = 0.031 * (1 + 1e-11 * k);
}

static void make_soft_linkage(maker *m)
{
    make_linkage(m);
    m->probe->scene.joint_solver = FOLIOT_JOINT_SOLVER_FAST;
}

static void make_soft_limbs(maker *m)
{
    make_limbs(m);
    m->probe->scene.joint_solver = FOLIOT_JOINT_SOLVER_FAST;
}

void foliot__probe_make(foliot__probe *probe, foliot__probe_kind kind)
{
    static const char *const names[] = {
#define NAME(name) #name,
        FOLIOT__PROBE_LIST(NAME)
#undef NAME
    };
    static void (*const makers[])(maker *) = {
#define MAKER(name) make_##name,
        FOLIOT__PROBE_LIST(MAKER)
#undef MAKER
    };
    FOLIOT_ASSERT((unsigned)kind < FOLIOT__PROBE_COUNT);
    memset(probe, 0, sizeof *probe);
    maker m = {probe, foliot__rng_seeded(0x666f6c696f74u + (unsigned)kind)};
    probe->scene = foliot_scene_default();
    probe->scene.name = names[kind];
    probe->scene.dt = 1.0 / 60;
    probe->scene.pace_hz = 60;
    probe->scene.bodies = probe->bodies;
    probe->scene.forces = probe->forces;
    probe->scene.constraints = probe->constraints;
    makers[kind](&m);
}

// Players join one after the other, steer every third tick, and the second one leaves and comes
// back.
uint32_t foliot__probe_inputs(const foliot_scene *scene, uint64_t tick,
                              foliot_input inputs[FOLIOT__PROBE_INPUTS])
{
    uint32_t count = 0;
    for (uint32_t p = 0; p < scene->players.limit && p < FOLIOT__PROBE_INPUTS; p++) {
        foliot_input input = {.player = p, .sequence = (uint32_t)tick + 1};
        foliot__rng rng = foliot__rng_seeded(tick * 1009 + p);
        for (int i = 0; i < FOLIOT_AXIS_COUNT; i++)
            input.axes[i] = (int8_t)((int)foliot__rng_below(&rng, 255) - 127);
        input.buttons = (uint16_t)foliot__rng_below(&rng, 1u << 16);
        uint64_t age = tick % 97;
        if (age == p || (p == 1 && age == 13))
            input.kind = FOLIOT_INPUT_JOIN;
        else if ((p == 1 && age == 7) || age == 90 + p)
            input.kind = FOLIOT_INPUT_LEAVE;
        else if ((tick + p) % 3 != 0)
            continue;
        inputs[count++] = input;
    }
    return count;
}
