// SPDX-License-Identifier: MIT
// scheme.c: the functions that run each integrator, and what follows every one of them in a
// substep: kinematic bodies and damping. The properties of an integrator are in its row of
// scene/integrator_info.c.
#include "sim/integrator/scheme.h"

#include "foliot/digest.h"

static const foliot__scheme schemes[FOLIOT_INTEGRATOR_COUNT] = {
    [FOLIOT_INTEGRATOR_EXPLICIT_EULER] = {1, foliot__advance_explicit_euler, NULL},
    [FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_IMPLICIT_EULER] = {12, foliot__advance_implicit_euler, NULL},
    [FOLIOT_INTEGRATOR_VERLET] = {8, foliot__advance_verlet, NULL},
    [FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET] = {8, foliot__advance_time_corrected_verlet, NULL},
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED] = {4, foliot__advance_velocity_verlet_corrected,
                                                     NULL},
    [FOLIOT_INTEGRATOR_LEAPFROG] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_MIDPOINT] = {3, foliot__advance_midpoint, NULL},
    [FOLIOT_INTEGRATOR_HEUN] = {4, foliot__advance_heun, NULL},
    [FOLIOT_INTEGRATOR_IMPROVED_EULER] = {1, foliot__advance_improved_euler, NULL},
    [FOLIOT_INTEGRATOR_RK4] = {5, foliot__advance_rk4, NULL},
    [FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT] = {12, foliot__advance_implicit_midpoint, NULL},
    [FOLIOT_INTEGRATOR_KINEMATIC] = {3, foliot__advance_kinematic, NULL},
    [FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE] = {3, foliot__advance_kinematic_average, NULL},
    [FOLIOT_INTEGRATOR_KINEMATIC_STRANG] = {2, foliot__advance_kinematic_strang, NULL},
    [FOLIOT_INTEGRATOR_YOSHIDA4] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_PEFRL4] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_YOSHIDA6] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_BLANES_MOAN6] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_KAHAN_LI8] = {1, foliot__advance_splitting, NULL},
    [FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG] = {2, foliot__advance_lattice, foliot__retreat_lattice},
};

const foliot__scheme *foliot__scheme_of(foliot_integrator id)
{
    bool known = id > FOLIOT_INTEGRATOR_NONE && id < FOLIOT_INTEGRATOR_COUNT;
    return known ? &schemes[id] : NULL;
}

// -- kinematic bodies and damping
//
// Schemes may move what has no inverse mass along its velocity between their stages, so that forces
// see it move; here it gets its place. Positions are computed from the tick's start, so that a
// tick's rounding does not depend on its substeps. (kinematic.c is another thing: a family of
// schemes.)

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
            vec3 w = foliot__v3_get(foliot__angular_velocity(world), i);
            double spin = vec3_length(w), half = spin * step->dt / 2;
            if (!world->scene.rotates || !(spin > 0))
                continue;
            vec3 part = vec3_scale(w, foliot_sin(half) / spin);
            const quat by = {foliot_cos(half), part.x, part.y, part.z};
            foliot__quat_put(world, i,
                             quat_normalise(quat_multiply(by, foliot__quat_get(world, i))));
        }
}
