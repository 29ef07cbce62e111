// SPDX-License-Identifier: MIT
// lattice.c: reversible-leapfrog. Drift-kick-drift whose increments are rounded to a lattice of
// 2^-40 of the unit and added as integers: adding is undone by subtracting, so a step back returns
// to the very bits (Levesque and Verlet 1993, J. Stat. Phys. 72, 519; integers as in Earn and
// Tremaine 1992, Physica D 56, 1).
//
// Invariant: position and velocity are the lattice's integers times 2^-40, rounded to nearest;
// nothing else decides the increments but the time and the player's push of that tick. Rounding is
// odd, R(-x) = -R(x), so that running back is also running with -dt. Nothing depends on velocity
// here: scene check refuses drag, dampers, speed_max, contacts and constraints.
#include "sim/integrator/scheme.h"
#include "sim/state/state.h"

// The two vector fields of integers, and marks of the bodies that left the lattice in this step.
typedef struct lattice {
    int64_t *x[3], *v[3];
    double *fault;
} lattice;

static void drift(const foliot__step *step, const lattice *l, bool back)
{
    double half = step->dt / 2;
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < step->count; i++)
            if (!foliot__lattice_add(&l->x[k][i], (double)l->v[k][i] * half, back))
                l->fault[i] = 1;
    foliot__v3 x = foliot__position(step->world);
    for (uint32_t i = 0; i < step->count; i++) {
        x.x[i] = foliot__lattice_nearest(l->x[0][i]);
        x.y[i] = foliot__lattice_nearest(l->x[1][i]);
        x.z[i] = foliot__lattice_nearest(l->x[2][i]);
    }
    step->world->acceleration_valid = 0;
}

static void run_leapfrog(const foliot__step *step, bool back)
{
    lattice l =
        (lattice){{foliot__lattice_position_x(step->world), foliot__lattice_position_y(step->world),
                   foliot__lattice_position_z(step->world)},
                  {foliot__lattice_velocity_x(step->world), foliot__lattice_velocity_y(step->world),
                   foliot__lattice_velocity_z(step->world)},
                  foliot__scratch_vector(step->world, 1).x};
    for (uint32_t i = 0; i < step->count; i++)
        l.fault[i] = 0;
    drift(step, &l, back);
    foliot_world *world = step->world;
    foliot__v3 a = foliot__scratch_vector(world, 0);
    foliot__force_position(step, foliot__position(world), step->time + step->dt / 2, a);
    foliot__force_add_applied(step, a);
    const double *const by[3] = {a.x, a.y, a.z};
    double scale = step->dt * FOLIOT__LATTICE_PER_UNIT;
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < step->count; i++)
            if (!foliot__lattice_add(&l.v[k][i], by[k][i] * scale, back))
                l.fault[i] = 1;
    drift(step, &l, back);
    // A body that left the lattice gets a velocity beyond every bound: the stage `finish` freezes
    // it.
    foliot__v3 v = foliot__velocity(step->world);
    for (uint32_t i = 0; i < step->count; i++) {
        v.x[i] = l.fault[i] != 0 ? DBL_MAX : foliot__lattice_nearest(l.v[0][i]);
        v.y[i] = foliot__lattice_nearest(l.v[1][i]);
        v.z[i] = foliot__lattice_nearest(l.v[2][i]);
    }
}

void foliot__advance_lattice(const foliot__step *step)
{
    run_leapfrog(step, false);
}

// step->time and step->time_end are those of the step that is undone.
void foliot__retreat_lattice(const foliot__step *step)
{
    run_leapfrog(step, true);
}
