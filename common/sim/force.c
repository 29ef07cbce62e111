// SPDX-License-Identifier: MIT
// force.c: forces as accelerations, in the scene's order.
#include "sim/force.h"

#include <string.h>

size_t foliot__force_workspace_bytes(const foliot_world_config *config)
{
    (void)config;
    return 0;
}

void foliot__force_prepare(foliot_world *world)
{
    (void)world;
}

typedef struct site {
    const foliot__step *step;
    foliot__v3 x, v, a;
    double time;
} site;

static void add(const site *s, uint32_t i, double fx, double fy, double fz)
{
    double inverse = foliot__inverse_mass(s->step->world)[i];
    s->a.x[i] += fx * inverse;
    s->a.y[i] += fy * inverse;
    s->a.z[i] += fz * inverse;
}

static void uniform(const site *s, const double g[3])
{
    const double *inverse = foliot__inverse_mass(s->step->world);
    for (uint32_t i = 0; i < s->step->count; i++)
        if (inverse[i] > 0) {
            s->a.x[i] += g[0];
            s->a.y[i] += g[1];
            s->a.z[i] += g[2];
        }
}

static void spring(const site *s, const foliot_force_definition *f)
{
    uint32_t a = f->a, b = f->b;
    const double *p = f->as.spring.point;
    double dx = (b == FOLIOT_NO_BODY ? p[0] : s->x.x[b]) - s->x.x[a];
    double dy = (b == FOLIOT_NO_BODY ? p[1] : s->x.y[b]) - s->x.y[a];
    double dz = (b == FOLIOT_NO_BODY ? p[2] : s->x.z[b]) - s->x.z[a];
    double scale = f->as.spring.stiffness;
    if (f->as.spring.length > 0) {
        double distance = foliot__sqrt((dx * dx + dy * dy) + dz * dz);
        scale = distance > 0 ? scale * (distance - f->as.spring.length) / distance : 0;
    }
    add(s, a, scale * dx, scale * dy, scale * dz);
    if (b != FOLIOT_NO_BODY)
        add(s, b, -scale * dx, -scale * dy, -scale * dz);
}

static void newton(const site *s, double constant, double softening)
{
    const double *mass = foliot__mass(s->step->world);
    for (uint32_t i = 0; i < s->step->count; i++)
        for (uint32_t j = i + 1; j < s->step->count; j++) {
            double dx = s->x.x[j] - s->x.x[i], dy = s->x.y[j] - s->x.y[i], dz = s->x.z[j] - s->x.z[i];
            double r2 = ((dx * dx + dy * dy) + dz * dz) + softening * softening;
            double f = constant * mass[i] * mass[j] / (r2 * foliot__sqrt(r2));
            if (mass[i] == 0 || mass[j] == 0)
                continue;
            add(s, i, f * dx, f * dy, f * dz);
            add(s, j, -f * dx, -f * dy, -f * dz);
        }
}

static void attractor(const site *s, const double p[3], double strength)
{
    const double *inverse = foliot__inverse_mass(s->step->world);
    for (uint32_t i = 0; i < s->step->count; i++) {
        double dx = s->x.x[i] - p[0], dy = s->x.y[i] - p[1], dz = s->x.z[i] - p[2];
        double r2 = (dx * dx + dy * dy) + dz * dz;
        double f = -strength / (r2 * foliot__sqrt(r2));
        if (inverse[i] == 0)
            continue;
        s->a.x[i] += f * dx;
        s->a.y[i] += f * dy;
        s->a.z[i] += f * dz;
    }
}

static void callback(const site *s, uint32_t index, bool velocity_dependent)
{
    if (index >= s->step->host->callback_count)
        return;
    const foliot_callback *c = &s->step->host->callbacks[index];
    if (c->velocity_dependent != velocity_dependent)
        return;
    foliot_world *world = s->step->world;
    foliot_callback_arguments at = {s->step->count, s->x.x, s->x.y, s->x.z, s->v.x, s->v.y, s->v.z,
                                    foliot__mass(world), foliot__inverse_mass(world), s->time};
    c->acceleration(c->user, &at, s->a.x, s->a.y, s->a.z);
}

void foliot__force_position(const foliot__step *step, foliot__v3 x, double time, foliot__v3 a)
{
    foliot_world *world = step->world;
    site s = {step, x, foliot__velocity(world), a, time};
    memset(a.x, 0, sizeof(double) * foliot__lanes(world));
    memset(a.y, 0, sizeof(double) * foliot__lanes(world));
    memset(a.z, 0, sizeof(double) * foliot__lanes(world));
    world->counters.force_evaluations++;
    for (uint32_t k = 0; k < world->force_count; k++) {
        const foliot_force_definition *f = &foliot__force(world)[k];
        switch (f->kind) {
        case FOLIOT_FORCE_UNIFORM:
            uniform(&s, f->as.uniform.acceleration);
            break;
        case FOLIOT_FORCE_CONSTANT:
            if (time >= f->as.constant.start && time < f->as.constant.end)
                add(&s, f->a, f->as.constant.force[0], f->as.constant.force[1],
                    f->as.constant.force[2]);
            break;
        case FOLIOT_FORCE_SPRING:
            spring(&s, f);
            break;
        case FOLIOT_FORCE_NEWTON:
            newton(&s, f->as.newton.constant, f->as.newton.softening);
            break;
        case FOLIOT_FORCE_ATTRACTOR:
            attractor(&s, f->as.attractor.point, f->as.attractor.strength);
            break;
        case FOLIOT_FORCE_CALLBACK:
            callback(&s, f->as.callback.callback, false);
            break;
        default:
            break;
        }
    }
}

void foliot__force_add_velocity_part(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time,
                                     foliot__v3 a)
{
    foliot_world *world = step->world;
    site s = {step, x, v, a, time};
    for (uint32_t k = 0; k < world->force_count; k++) {
        const foliot_force_definition *f = &foliot__force(world)[k];
        if (f->kind == FOLIOT_FORCE_CALLBACK)
            callback(&s, f->as.callback.callback, true);
        for (uint32_t i = 0; f->kind == FOLIOT_FORCE_DRAG && i < step->count; i++) {
            double speed = foliot__sqrt((v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i]);
            double b = -(f->as.drag.linear + f->as.drag.quadratic * speed);
            add(&s, i, b * v.x[i], b * v.y[i], b * v.z[i]);
        }
        if (f->kind == FOLIOT_FORCE_SPRING && f->b == FOLIOT_NO_BODY) {
            double c = -f->as.spring.damping;
            add(&s, f->a, c * v.x[f->a], c * v.y[f->a], c * v.z[f->a]);
        }
    }
}

void foliot__force_add_applied(const foliot__step *step, foliot__v3 a)
{
    const double *inverse = foliot__inverse_mass(step->world);
    foliot__v3 f = foliot__applied(step->world);
    for (uint32_t i = 0; i < step->count; i++) {
        a.x[i] += f.x[i] * inverse[i];
        a.y[i] += f.y[i] * inverse[i];
        a.z[i] += f.z[i] * inverse[i];
    }
}

void foliot__force_total(const foliot__step *step, foliot__v3 x, foliot__v3 v, double time, foliot__v3 a)
{
    foliot__force_position(step, x, time, a);
    foliot__force_add_applied(step, a);
    foliot__force_add_velocity_part(step, x, v, time, a);
}

foliot__v3 foliot__acceleration_now(const foliot__step *step, double time)
{
    foliot_world *world = step->world;
    foliot__v3 a = foliot__acceleration(world);
    if (!world->acceleration_valid || world->acceleration_time != time) {
        foliot__force_position(step, foliot__position(world), time, a);
        world->acceleration_valid = 1;
        world->acceleration_time = time;
    }
    return a;
}
