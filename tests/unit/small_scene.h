// SPDX-License-Identifier: MIT
// small_scene.h: scenes of a few bodies, written as a test reads, and worlds made from them.
#ifndef FOLIOT_TESTS_SMALL_SCENE_H
#define FOLIOT_TESTS_SMALL_SCENE_H

#include "check.h"

#include "foliot/foliot.h"

#define SMALL_BODIES 64
#define SMALL_FORCES 64

typedef struct small_scene {
    foliot_scene scene;
    foliot_body_definition body[SMALL_BODIES];
    foliot_force_definition force[SMALL_FORCES];
    double spawn[1][3];
} small_scene;

static inline small_scene small(foliot_integrator integrator, double dt)
{
    small_scene s = {.scene = foliot_scene_default()};
    s.scene.name = "small";
    s.scene.integrator = integrator;
    s.scene.dt = dt;
    return s;
}

// Index of a new body at (x, 0, 0) with velocity (v, 0, 0).
static inline uint32_t small_body(small_scene *s, double mass, double x, double v)
{
    uint32_t i = s->scene.body_count++;
    check_lt(i, SMALL_BODIES);
    s->body[i] = foliot_body_definition_default();
    s->body[i].mass = mass;
    s->body[i].position[0] = x;
    s->body[i].velocity[0] = v;
    return i;
}

static inline foliot_force_definition *small_force(small_scene *s, foliot_force_kind kind)
{
    uint32_t i = s->scene.force_count++;
    check_lt(i, SMALL_FORCES);
    s->force[i] = foliot_force_definition_default(kind);
    return &s->force[i];
}

// Isotropic damping, length 0; to the origin where b is FOLIOT_NO_BODY.
static inline foliot_force_definition *small_spring(small_scene *s, uint32_t a, uint32_t b,
                                                    double stiffness, double damping)
{
    foliot_force_definition *force = small_force(s, FOLIOT_FORCE_SPRING);
    force->a = a;
    force->b = b;
    force->as.spring.stiffness = stiffness;
    force->as.spring.damping = damping;
    force->as.spring.damping_kind = FOLIOT_DAMPING_ISOTROPIC;
    return force;
}

static inline foliot_world *small_world(small_scene *s)
{
    foliot_world *world = NULL;
    foliot_error problem = {.text = ""};
    s->scene.bodies = s->body;
    s->scene.forces = s->force;
    if (s->scene.players.limit) {
        s->scene.players.positions = (const double(*)[3])s->spawn;
        s->scene.players.position_count = 1;
    }
    if (foliot_scene_check(&s->scene, &problem) != FOLIOT_STATUS_OK)
        fail_msg("%s", problem.text);
    assert_int_equal(foliot_world_create(&s->scene, &world, NULL), FOLIOT_STATUS_OK);
    return world;
}

static inline void small_steps(foliot_world *world, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
}

static inline double small_energy(const foliot_world *world)
{
    foliot_invariants now = foliot_world_get_invariants(world, NULL);
    return now.kinetic + now.potential;
}

static inline double small_absolute(double x)
{
    return x < 0 ? -x : x;
}

#endif
