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

#include "sim/integrator/lattice.h"

#include "base/assert.h"
#include "sim/integrator/scheme.h"

#define PER_UNIT 0x1p40
#define LATTICE_END 0x1p62 // FOLIOT__LATTICE_MAX in lattice units

// To nearest, halves away from zero. |x| <= 2^62.
static int64_t rounded(double x)
{
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole; // exact
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

// *value += R(increment), forward or back. False, and *value as it was, where that leaves the
// lattice.
static bool add(int64_t *value, double increment, bool back)
{
    if (!(increment > -LATTICE_END && increment < LATTICE_END)) // NaN as well
        return false;
    int64_t by = rounded(increment);
    int64_t sum = *value + (back ? -by : by);
    if (sum <= -(INT64_C(1) << 62) || sum >= INT64_C(1) << 62)
        return false;
    *value = sum;
    return true;
}

static double nearest(int64_t value)
{
    return (double)value * FOLIOT__LATTICE_UNIT;
}

// The two vector fields of integers, and marks of the bodies that left the lattice in this step.
typedef struct lattice {
    int64_t *x[3], *v[3];
    double *fault;
} lattice;

static lattice lattice_of(const foliot_world *world)
{
    return (lattice){{foliot__lattice_position_x(world), foliot__lattice_position_y(world),
                      foliot__lattice_position_z(world)},
                     {foliot__lattice_velocity_x(world), foliot__lattice_velocity_y(world),
                      foliot__lattice_velocity_z(world)},
                     foliot__scratch_vector(world, 1).x};
}

static void write_positions(const foliot__step *step, const lattice *l)
{
    foliot__v3 x = foliot__position(step->world);
    for (uint32_t i = 0; i < step->count; i++) {
        x.x[i] = nearest(l->x[0][i]);
        x.y[i] = nearest(l->x[1][i]);
        x.z[i] = nearest(l->x[2][i]);
    }
    step->world->acceleration_valid = 0;
}

static void drift(const foliot__step *step, const lattice *l, bool back)
{
    double half = step->dt / 2;
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < step->count; i++)
            if (!add(&l->x[k][i], (double)l->v[k][i] * half, back))
                l->fault[i] = 1;
    write_positions(step, l);
}

static void kick(const foliot__step *step, const lattice *l, bool back)
{
    foliot_world *world = step->world;
    foliot__v3 a = foliot__scratch_vector(world, 0);
    foliot__force_position(step, foliot__position(world), step->time + step->dt / 2, a);
    foliot__force_add_applied(step, a);
    const double *const by[3] = {a.x, a.y, a.z};
    double scale = step->dt * PER_UNIT;
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < step->count; i++)
            if (!add(&l->v[k][i], by[k][i] * scale, back))
                l->fault[i] = 1;
}

// A body that left the lattice gets a velocity beyond every bound: the stage `finish` freezes it.
static void write_velocities(const foliot__step *step, const lattice *l)
{
    foliot__v3 v = foliot__velocity(step->world);
    for (uint32_t i = 0; i < step->count; i++) {
        v.x[i] = l->fault[i] != 0 ? DBL_MAX : nearest(l->v[0][i]);
        v.y[i] = nearest(l->v[1][i]);
        v.z[i] = nearest(l->v[2][i]);
    }
}

static void run(const foliot__step *step, bool back)
{
    lattice l = lattice_of(step->world);
    for (uint32_t i = 0; i < step->count; i++)
        l.fault[i] = 0;
    drift(step, &l, back);
    kick(step, &l, back);
    drift(step, &l, back);
    write_velocities(step, &l);
}

void foliot__lattice_enter(foliot_world *world, uint32_t slot)
{
    if (world->integrator != FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG)
        return;
    lattice l = lattice_of(world);
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    double *const from[6] = {x.x, x.y, x.z, v.x, v.y, v.z};
    for (int k = 0; k < 6; k++) {
        int64_t *to = k < 3 ? l.x[k] : l.v[k - 3];
        to[slot] = 0;
        bool inside = add(&to[slot], from[k][slot] * PER_UNIT, false);
        FOLIOT_ASSERT(inside); // scene check and the freezing of bodies see to it
        from[k][slot] = nearest(to[slot]);
    }
}

void foliot__advance_lattice(const foliot__step *step)
{
    run(step, false);
}

// step->time and step->time_end are those of the step that is undone.
void foliot__retreat_lattice(const foliot__step *step)
{
    run(step, true);
}
