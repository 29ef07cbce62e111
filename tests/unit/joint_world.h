// SPDX-License-Identifier: MIT
// joint_world.h: worlds of joints from texts, a line at a time, and how far their joints are from
// holding.
#ifndef FOLIOT_TESTS_JOINT_WORLD_H
#define FOLIOT_TESTS_JOINT_WORLD_H

#include "check.h"
#include "slots.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/foliot.h"

#define G 9.81
#define PI 3.14159265358979323846
#define TEXT_MAX 16384

typedef struct joint_world {
    foliot_scene *scene;
    foliot_world *world;
} joint_world;

static char text[TEXT_MAX];

__attribute__((format(printf, 1, 2))) static inline void add(const char *format, ...)
{
    size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, sizeof text - used, format, arguments);
    va_end(arguments);
    check_lt(strlen(text), sizeof text - 1);
}

static inline void begin(const char *integrator, double dt, int substeps, double gravity)
{
    text[0] = 0;
    add("foliot: 1\nname: joints\ndt: %.17g\nsubsteps: %d\nintegrator: %s\ngravity: [0, 0, %.17g]\n"
        "bodies:\n",
        dt, substeps, integrator, -gravity);
}

static inline joint_world make(void)
{
    joint_world y;
    foliot_error error;
    foliot_status status = foliot_scene_parse(text, strlen(text), "joints", ".", &y.scene, &error);
    if (status != FOLIOT_STATUS_OK)
        print_error("%s\n", error.text);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(y.scene, &y.world, NULL), FOLIOT_STATUS_OK);
    return y;
}

static inline void end(joint_world *y)
{
    foliot_world_destroy(y->world);
    foliot_scene_destroy(y->scene);
}

static inline void step(joint_world *y)
{
    assert_int_equal(foliot_world_step(y->world, NULL, 0, NULL), FOLIOT_STATUS_OK);
}

static inline uint32_t named(const joint_world *y, const char *name)
{
    uint32_t body = foliot_scene_find_body(y->scene, name);
    assert_int_not_equal(body, FOLIOT_NO_BODY);
    return body;
}

static inline foliot_body_state state_of(const joint_world *y, const char *name)
{
    return slot_state(y->world, named(y, name));
}

static inline double energy(const joint_world *y)
{
    foliot_invariants now = foliot_world_get_invariants(y->world, NULL);
    return now.kinetic + now.potential;
}

// The point at `arm` in the body's axes.
static inline void point_of(const foliot_body_state *s, const double arm[3], double out[3])
{
    const double *q = s->orientation;
    double c[3] = {q[2] * arm[2] - q[3] * arm[1], q[3] * arm[0] - q[1] * arm[2],
                   q[1] * arm[1] - q[2] * arm[0]};
    double d[3] = {q[2] * c[2] - q[3] * c[1], q[3] * c[0] - q[1] * c[2], q[1] * c[1] - q[2] * c[0]};
    for (int k = 0; k < 3; k++)
        out[k] = s->position[k] + arm[k] + 2 * (q[0] * c[k] + d[k]);
}

// How far a joint's anchors are apart.
static inline double gap(const joint_world *y, uint32_t constraint)
{
    const foliot_constraint_definition *d = &y->scene->constraints[constraint];
    double a[3], b[3], sum = 0;
    foliot_body_state sa = slot_state(y->world, d->a);
    point_of(&sa, d->anchor_a, a);
    memcpy(b, d->anchor_b, sizeof b);
    if (d->b != FOLIOT_NO_BODY) {
        foliot_body_state sb = slot_state(y->world, d->b);
        point_of(&sb, d->anchor_b, b);
    }
    for (int k = 0; k < 3; k++)
        sum += (b[k] - a[k]) * (b[k] - a[k]);
    return sqrt(sum);
}

static inline double worst_gap(const joint_world *y)
{
    double worst = 0;
    for (uint32_t i = 0; i < y->scene->constraint_count; i++)
        worst = fmax(worst, gap(y, i));
    return worst;
}

// Turn about y since the start of a body that turns about y alone.
static inline double angle_y(const joint_world *y, const char *name)
{
    foliot_body_state s = state_of(y, name);
    return 2 * atan2(s.orientation[2], s.orientation[0]);
}

static inline joint_world open_joint_world(const char *path)
{
    joint_world y;
    foliot_error error;
    assert_int_equal(foliot_scene_read(path, &y.scene, &error), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_create(y.scene, &y.world, NULL), FOLIOT_STATUS_OK);
    return y;
}

#endif
