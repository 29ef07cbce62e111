// SPDX-License-Identifier: MIT
// force_energy.c: conserved quantities: potentials in force order, the world's invariants in body
// order. For reports and tests; no step uses them.
#include "sim/force/force.h"

#include "sim/force/force_workspace.h"

// Energy and momentum count for bodies that move or sleep. The inverse mass of a sleeping body is
// 0.
static bool has_energy(const foliot_world *world, uint32_t i)
{
    return foliot__inverse_mass(world)[i] > 0 || (foliot__flags(world)[i] & FOLIOT_BODY_ASLEEP);
}

static double spring_energy(const foliot_world *world, const foliot_force_definition *f)
{
    foliot__v3 x = foliot__position(world);
    if (!foliot__spring_holds(world, f))
        return 0;
    const double *p = f->as.spring.point;
    bool fixed = f->b == FOLIOT_NO_BODY;
    double dx = (fixed ? p[0] : x.x[f->b]) - x.x[f->a], dy = (fixed ? p[1] : x.y[f->b]) - x.y[f->a];
    double dz = (fixed ? p[2] : x.z[f->b]) - x.z[f->a];
    double stretch = foliot__sqrt((dx * dx + dy * dy) + dz * dz) - f->as.spring.length;
    return 0.5 * f->as.spring.stiffness * stretch * stretch;
}

static double newton_energy(const foliot_world *world, const foliot_force_definition *f)
{
    const double *mass = foliot__mass(world);
    foliot__v3 x = foliot__position(world);
    const double *inverse = foliot__inverse_mass(world);
    const uint32_t *flags = foliot__flags(world);
    double softening2 = f->as.newton.softening * f->as.newton.softening, energy = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!has_energy(world, i))
            continue;
        const double x_i = x.x[i], y_i = x.y[i], z_i = x.z[i];
        const double strength = f->as.newton.constant * mass[i];
        for (uint32_t j = i + 1; j < world->body_count; j++) {
            double dx = x.x[j] - x_i, dy = x.y[j] - y_i, dz = x.z[j] - z_i;
            double r = foliot__sqrt(((dx * dx + dy * dy) + dz * dz) + softening2);
            if (inverse[j] > 0 || (flags[j] & FOLIOT_BODY_ASLEEP))
                energy -= strength * mass[j] / r;
        }
    }
    return energy;
}

static double attractor_energy(const foliot_world *world, const foliot_force_definition *f)
{
    const double *mass = foliot__mass(world);
    const double *p = f->as.attractor.point;
    foliot__v3 x = foliot__position(world);
    double energy = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        double dx = x.x[i] - p[0], dy = x.y[i] - p[1], dz = x.z[i] - p[2];
        if (has_energy(world, i))
            energy -=
                f->as.attractor.strength * mass[i] / foliot__sqrt((dx * dx + dy * dy) + dz * dz);
    }
    return energy;
}

static double uniform_energy(const foliot_world *world, const foliot_force_definition *f)
{
    const double *mass = foliot__mass(world), *scale = foliot__gravity_scales(world, f);
    const double *g = f->as.uniform.acceleration;
    foliot__v3 x = foliot__position(world);
    double energy = 0;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (has_energy(world, i))
            energy -= mass[i] * (scale ? scale[i] : 1) *
                      ((g[0] * x.x[i] + g[1] * x.y[i]) + g[2] * x.z[i]);
    return energy;
}

static double constant_energy(const foliot_world *world, const foliot_force_definition *f,
                              double time)
{
    foliot__v3 x = foliot__position(world);
    const double *force = f->as.constant.force;
    if (!(time >= f->as.constant.start && time < f->as.constant.end) || !has_energy(world, f->a))
        return 0;
    return -((force[0] * x.x[f->a] + force[1] * x.y[f->a]) + force[2] * x.z[f->a]);
}

static double callback_energy(const foliot_world *world, const foliot_host *host,
                              const foliot_force_definition *f, double time, bool *complete)
{
    const foliot_callback *callback = foliot__callback_of(host, f);
    if (!callback || (!callback->potential && !callback->velocity_dependent))
        *complete = false;
    if (!callback || !callback->potential)
        return 0;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot_callback_arguments at = {
        world->body_count,           x.x, x.y, x.z, v.x, v.y, v.z, foliot__mass(world),
        foliot__inverse_mass(world), time};
    return callback->potential(callback->user, &at);
}

// The bodies' own constant forces. A player's thrust has no potential.
static double own_energy(const foliot_world *world)
{
    foliot__v3 x = foliot__position(world), f = foliot__constant(world);
    double energy = 0;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (has_energy(world, i))
            energy -= (f.x[i] * x.x[i] + f.y[i] * x.y[i]) + f.z[i] * x.z[i];
    return energy;
}

double foliot__force_potential(const foliot_world *world, const foliot_host *host, bool *complete)
{
    double time = foliot_world_get_time(world), energy = 0;
    *complete = true;
    for (uint32_t k = 0; k < world->force_count; k++) {
        const foliot_force_definition *f = &foliot__force(world)[k];
        switch (f->kind) {
        case FOLIOT_FORCE_UNIFORM:
            energy += uniform_energy(world, f);
            break;
        case FOLIOT_FORCE_CONSTANT:
            energy += constant_energy(world, f, time);
            break;
        case FOLIOT_FORCE_SPRING:
            energy += spring_energy(world, f);
            break;
        case FOLIOT_FORCE_NEWTON:
            energy += newton_energy(world, f);
            break;
        case FOLIOT_FORCE_ATTRACTOR:
            energy += attractor_energy(world, f);
            break;
        case FOLIOT_FORCE_CALLBACK:
            energy += callback_energy(world, host, f, time, complete);
            break;
        default: // drag has none
            break;
        }
    }
    return energy + own_energy(world);
}

// -- invariants

foliot_invariants foliot_world_get_invariants(const foliot_world *world, const foliot_host *host)
{
    const double *mass = foliot__mass(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot_invariants sum = {0};
    for (uint32_t i = 0; i < world->body_count; i++) {
        if (!has_energy(world, i))
            continue;
        vec3 velocity = foliot__v3_get(v, i), p = vec3_scale(velocity, mass[i]);
        vec3 about = vec3_cross(foliot__v3_get(x, i), p);
        sum.kinetic += 0.5 * vec3_dot(p, velocity);
        vec3_store(vec3_add(vec3_of(sum.angular_momentum), about), sum.angular_momentum);
        vec3_store(vec3_add(vec3_of(sum.momentum), p), sum.momentum);
        if (world->scene.rotates) {
            // Spin: L = R I R^T w and its energy w . L / 2, R the rotation of the body's unit
            // quaternion.
            foliot__v3 inertia = foliot__inertia(world);
            const double moments[3] = {inertia.x[i], inertia.y[i], inertia.z[i]};
            vec3 spin = foliot__v3_get(foliot__angular_velocity(world), i);
            vec3 total = vec3_of(sum.angular_momentum);
            mat3 axes = quat_axes(foliot__quat_get(world, i));
            for (int c = 0; c < 3; c++) {
                double in_body = vec3_dot(axes.row[c], spin), momentum = moments[c] * in_body;
                sum.kinetic += 0.5 * momentum * in_body;
                total = vec3_add(total, vec3_scale(axes.row[c], momentum));
            }
            vec3_store(total, sum.angular_momentum);
        }
    }
    sum.potential = foliot__force_potential(world, host, &sum.potential_complete);
    return sum;
}
