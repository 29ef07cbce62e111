// SPDX-License-Identifier: MIT
// kinematic_bodies.c: kinematic bodies and damping, after the scheme. Schemes may move what has no
// inverse mass along its velocity between their stages, so that forces see it move; here it gets
// its place. Positions are computed from the tick's start, so that a tick's rounding does not
// depend on its substeps. (kinematic.c is another thing: a family of schemes.)
#include "sim/integrator/scheme.h"

#include "foliot/digest.h"
#include "sim/state/state.h"

// q turned by the angular velocity w for dt, exactly.
static void turn(foliot_world *world, uint32_t i, double dt)
{
    vec3 w = foliot__v3_get(foliot__angular_velocity(world), i);
    double speed = vec3_length(w), half = speed * dt / 2;
    if (!(speed > 0))
        return;
    vec3 part = vec3_scale(w, foliot_sin(half) / speed);
    const quat by = {foliot_cos(half), part.x, part.y, part.z};
    foliot__quat_put(world, i, quat_normalise(quat_multiply(by, foliot__quat_get(world, i))));
}

double foliot__cayley_rate(const double spin[3], double dt)
{
    double angle2 = foliot__vec3_dot(spin, spin) * dt * dt;
    return 1 + angle2 * (1. / 12 + angle2 / 120);
}

static void damp(const foliot__step *step, uint32_t i)
{
    foliot_world *world = step->world;
    double linear = foliot__linear_damping(world)[i], angular = foliot__angular_damping(world)[i];
    if (linear == 0 && angular == 0)
        return;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    foliot__v3_put(v, i, vec3_scale(foliot__v3_get(v, i), 1 / (1 + linear * step->dt)));
    foliot__v3_put(w, i, vec3_scale(foliot__v3_get(w, i), 1 / (1 + angular * step->dt)));
    foliot__velocity_changed(world, i); // verlet starts again from it
}

void foliot__kinematic_and_damped(const foliot__step *step)
{
    foliot_world *world = step->world;
    if (world->counts.kinematic == 0 && world->counts.damped == 0)
        return;
    for (uint32_t i = 0; i < step->count; i++)
        if (foliot__inverse_mass(world)[i] > 0) {
            damp(step, i);
        } else if (foliot__is_kinematic(world, i)) {
            if (foliot__is_carrier(world, i))
                world->acceleration_valid = 0;
            // The velocity is that of the tick's start: some schemes report none for a body without
            // inverse mass.
            vec3 from = foliot__v3_get(foliot__before_position(world), i);
            vec3 speed = foliot__v3_get(foliot__before_velocity(world), i);
            double elapsed = (step->index + 1) * step->dt;
            foliot__v3_put(foliot__position(world), i, vec3_add(from, vec3_scale(speed, elapsed)));
            foliot__v3_put(foliot__velocity(world), i, speed);
            if (world->scene.rotates)
                turn(world, i, step->dt);
        }
}
