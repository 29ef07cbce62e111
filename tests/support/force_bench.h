// SPDX-License-Identifier: MIT
// force_bench.h: a scene under construction, its world and a step of it, for the tests that call
// the functions of force.h between steps.
#ifndef FOLIOT_TESTS_FORCE_BENCH_H
#define FOLIOT_TESTS_FORCE_BENCH_H

#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "foliot/foliot.h"
#include "sim/force/force.h"
#include "sim/force/force_workspace.h"

#define BODIES_MAX 64
#define FORCES_MAX 16

// A scene under construction, its world, and a step of it.
typedef struct bench {
    foliot_scene scene;
    foliot_body_definition body[BODIES_MAX];
    foliot_force_definition force[FORCES_MAX];
    foliot_world *world;
    foliot_host host;
    foliot__step step;
} bench;

static foliot__rng rng;

static inline double uniform(double low, double high)
{
    return low + (high - low) * foliot__rng_unit(&rng);
}

static inline void begin(bench *b, uint32_t bodies)
{
    memset(b, 0, sizeof *b);
    rng = foliot__rng_seeded(7);
    b->scene = foliot_scene_default();
    b->scene.name = "test";
    b->scene.dt = 0.01;
    b->scene.bodies = b->body;
    b->scene.body_count = bodies;
    b->scene.forces = b->force;
    for (uint32_t i = 0; i < bodies; i++) {
        b->body[i] = foliot_body_definition_default();
        b->body[i].mass = uniform(0.5, 2);
        for (int c = 0; c < 3; c++) {
            b->body[i].position[c] = uniform(-2, 2);
            b->body[i].velocity[c] = uniform(-1, 1);
        }
    }
}

static inline void hold(bench *b, uint32_t body)
{
    b->body[body].is_static = true;
    memset(b->body[body].velocity, 0, sizeof b->body[body].velocity);
}

static inline foliot_force_definition *add(bench *b, foliot_force_kind kind)
{
    foliot_force_definition *force = &b->force[b->scene.force_count++];
    *force = foliot_force_definition_default(kind);
    return force;
}

static inline foliot_force_definition *add_spring(bench *b, uint32_t from, uint32_t to,
                                                  double stiffness, double damping, double length,
                                                  foliot_damping kind)
{
    foliot_force_definition *force = add(b, FOLIOT_FORCE_SPRING);
    force->a = from;
    force->b = to;
    force->as.spring.stiffness = stiffness;
    force->as.spring.damping = damping;
    force->as.spring.length = length;
    force->as.spring.damping_kind = kind;
    return force;
}

static inline void make(bench *b)
{
    foliot_error problem;
    if (foliot_scene_check(&b->scene, &problem) != FOLIOT_STATUS_OK)
        fail_msg("%s", problem.text);
    assert_int_equal(foliot_world_create(&b->scene, &b->world, NULL), FOLIOT_STATUS_OK);
    b->step = (foliot__step){.world = b->world,
                             .host = &b->host,
                             .dt = b->scene.dt,
                             .time_end = b->scene.dt,
                             .count = b->world->body_count};
}

static inline void end(bench *b)
{
    foliot_world_destroy(b->world);
}

// A vector field outside the world.
typedef struct field {
    double x[BODIES_MAX], y[BODIES_MAX], z[BODIES_MAX];
} field;

static inline foliot__v3 of(field *f)
{
    return (foliot__v3){f->x, f->y, f->z};
}

static inline double *component(foliot__v3 f, int c)
{
    return c == 0 ? f.x : c == 1 ? f.y : f.z;
}

static inline field random_field(bench *b, double size)
{
    field f = {0};
    for (uint32_t i = 0; i < b->world->body_count; i++)
        for (int c = 0; c < 3; c++)
            component(of(&f), c)[i] = uniform(-size, size);
    return f;
}

static inline field copy_of(foliot__v3 from, uint32_t count)
{
    field f = {0};
    for (int c = 0; c < 3; c++)
        memcpy(component(of(&f), c), component(from, c), sizeof(double) * count);
    return f;
}

static inline field moved(foliot__v3 at, foliot__v3 along, double s, uint32_t count)
{
    field f = {0};
    for (int c = 0; c < 3; c++)
        for (uint32_t i = 0; i < count; i++)
            component(of(&f), c)[i] = component(at, c)[i] + s * component(along, c)[i];
    return f;
}

static inline field positions_part(bench *b, double time)
{
    field a;
    foliot__force_position(&b->step, foliot__position(b->world), time, of(&a));
    return a;
}

// -- callbacks

// A cubic well (x^4 / 4 in each coordinate), and a magnetic field along z: a = v x (0, 0, *user).
static inline void well(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                        double *az)
{
    double k = *(const double *)user;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] -= k * at->x[i] * at->x[i] * at->x[i] + at->vx[i]; // vx is 0 for it
        ay[i] -= k * at->y[i] * at->y[i] * at->y[i];
        az[i] -= k * at->z[i] * at->z[i] * at->z[i];
    }
}

static inline double well_potential(void *user, const foliot_callback_arguments *at)
{
    double k = *(const double *)user, sum = 0;
    for (uint32_t i = 0; i < at->count; i++)
        if (at->inverse_mass[i] > 0)
            sum += at->mass[i] * k / 4 *
                   ((at->x[i] * at->x[i] * at->x[i] * at->x[i] +
                     at->y[i] * at->y[i] * at->y[i] * at->y[i]) +
                    at->z[i] * at->z[i] * at->z[i] * at->z[i]);
    return sum;
}

static inline void magnet(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                          double *az)
{
    double k = *(const double *)user;
    (void)az;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] += k * at->vy[i];
        ay[i] -= k * at->vx[i];
    }
}

static inline void friction(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                            double *az)
{
    double k = *(const double *)user;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] -= k * at->vx[i];
        ay[i] -= k * at->vy[i];
        az[i] -= k * at->vz[i];
    }
}

// -- one of each kind

static inline void everything(bench *b)
{
    begin(b, 9);
    hold(b, 4);
    b->scene.gravity[1] = -1.25;
    foliot_force_definition *f = add(b, FOLIOT_FORCE_CONSTANT);
    f->a = 3;
    f->as.constant.force[0] = 0.75;
    add_spring(b, 0, 1, 3, 0.2, 0.5, FOLIOT_DAMPING_ALONG);
    add_spring(b, 1, 4, 5, 0.3, 0.25, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(b, 2, FOLIOT_NO_BODY, 4, 0.1, 0.75, FOLIOT_DAMPING_ALONG)->as.spring.point[1] = 0.3;
    add_spring(b, 5, 6, 2, 0.7, 0, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(b, 7, FOLIOT_NO_BODY, 2, 0.4, 0, FOLIOT_DAMPING_ISOTROPIC);
    add_spring(b, 4, 3, 1, 0.6, 0.5, FOLIOT_DAMPING_ISOTROPIC); // the static end first
    add_spring(b, 1, 2, 2, 1.1, 0.5,
               FOLIOT_DAMPING_ALONG); // dampers that share bodies do not commute
    b->body[6].force[1] = 0.35;
    f = add(b, FOLIOT_FORCE_NEWTON);
    f->as.newton.constant = 0.8;
    f->as.newton.softening = 0.1;
    f = add(b, FOLIOT_FORCE_ATTRACTOR);
    f->as.attractor.strength = 1.5;
    f->as.attractor.point[2] = 3;
    f = add(b, FOLIOT_FORCE_DRAG);
    f->as.drag.linear = 0.15;
    f->as.drag.quadratic = 0.25;
    add(b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 0;
    add(b, FOLIOT_FORCE_CALLBACK)->as.callback.callback = 1;
    make(b);
}

#endif
