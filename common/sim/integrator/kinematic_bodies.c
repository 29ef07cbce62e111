// SPDX-License-Identifier: MIT
// kinematic_bodies.c: kinematic bodies and damping, after the scheme. Schemes may move what has no
// inverse mass along its velocity between their stages, so that forces see it move; here it gets
// its place. Positions are computed from the tick's start, so that a tick's rounding does not
// depend on its substeps. (kinematic.c is another thing: a family of schemes.)
#include "sim/integrator/kinematic_bodies.h"

#include "foliot/math.h"
#include "sim/math/vec3.h"
#include "sim/state/filter.h"

// q turned by the angular velocity w for dt, exactly.
static void turn(foliot_world *world, uint32_t i, double dt)
{
    double *const at[4] = {foliot__orientation_w(world), foliot__orientation_x(world),
                           foliot__orientation_y(world), foliot__orientation_z(world)};
    foliot__v3 spin = foliot__angular_velocity(world);
    const double w[3] = {spin.x[i], spin.y[i], spin.z[i]};
    double speed = foliot__vec3_length(w), half = speed * dt / 2;
    if (!(speed > 0))
        return;
    double scale = foliot_sin(half) / speed;
    const double by[4] = {foliot_cos(half), w[0] * scale, w[1] * scale, w[2] * scale};
    double q[4] = {at[0][i], at[1][i], at[2][i], at[3][i]};
    foliot__quat_multiply(by, q, q);
    foliot__quat_normalise(q, q);
    for (int k = 0; k < 4; k++)
        at[k][i] = q[k];
}

// The velocity is that of the tick's start: some schemes report none for a body without inverse
// mass.
static void move(const foliot__step *step, uint32_t i)
{
    foliot_world *world = step->world;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 from = foliot__before_position(world), speed = foliot__before_velocity(world);
    double elapsed = (step->index + 1) * step->dt;
    x.x[i] = from.x[i] + speed.x[i] * elapsed;
    x.y[i] = from.y[i] + speed.y[i] * elapsed;
    x.z[i] = from.z[i] + speed.z[i] * elapsed;
    v.x[i] = speed.x[i];
    v.y[i] = speed.y[i];
    v.z[i] = speed.z[i];
    if (world->rotates)
        turn(world, i, step->dt);
}

static void damp(const foliot__step *step, uint32_t i)
{
    foliot_world *world = step->world;
    double linear = foliot__linear_damping(world)[i], angular = foliot__angular_damping(world)[i];
    if (linear == 0 && angular == 0)
        return;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    double slower = 1 / (1 + linear * step->dt), calmer = 1 / (1 + angular * step->dt);
    v.x[i] *= slower;
    v.y[i] *= slower;
    v.z[i] *= slower;
    w.x[i] *= calmer;
    w.y[i] *= calmer;
    w.z[i] *= calmer;
    foliot__velocity_changed(world, i); // verlet starts anew from it
}

void foliot__kinematic_and_damped(const foliot__step *step)
{
    foliot_world *world = step->world;
    if (world->kinematic_count == 0 && world->damped_count == 0)
        return;
    for (uint32_t i = 0; i < step->count; i++)
        if (foliot__inverse_mass(world)[i] > 0) {
            damp(step, i);
        } else if (foliot__is_kinematic(world, i)) {
            if (foliot__is_carrier(world, i))
                world->acceleration_valid = 0;
            move(step, i);
        }
}
