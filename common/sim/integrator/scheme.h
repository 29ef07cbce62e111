// SPDX-License-Identifier: MIT
// scheme.h: an integrator is a row of data (foliot_integrator_get_info) and one function.
#ifndef FOLIOT_SIM_INTEGRATOR_SCHEME_H
#define FOLIOT_SIM_INTEGRATOR_SCHEME_H

#include "sim/force/force.h"
#include "sim/state/state.h"

typedef struct foliot__scheme {
    uint8_t scratch_vectors; // vector fields of scratch that a step uses; forces use none of them
    // Advances position, velocity and what state the scheme has of its own, over step->dt. The step
    // turns the bodies afterwards. Leaves world->acceleration_valid true only if it is. Holds rods
    // where the row says so (rattle.c).
    void (*advance)(const foliot__step *step);
    // One step back to the same bits; NULL but for reversible-leapfrog. `step` is the step that is
    // undone: its own time, time_end and dt.
    void (*retreat)(const foliot__step *step);
} foliot__scheme;

// NULL for a number that names none.
const foliot__scheme *foliot__scheme_of(foliot_integrator id);

// One function a scheme (or a family, which looks up its table by the world's integrator).
void foliot__advance_splitting(const foliot__step *step);      // splitting.c: all kick/drift tables
void foliot__advance_explicit_euler(const foliot__step *step); // runge_kutta.c
void foliot__advance_improved_euler(const foliot__step *step);
void foliot__advance_velocity_verlet_corrected(const foliot__step *step);
void foliot__advance_midpoint(const foliot__step *step);
void foliot__advance_heun(const foliot__step *step);
void foliot__advance_rk4(const foliot__step *step);
void foliot__advance_verlet(const foliot__step *step); // verlet.c
void foliot__advance_time_corrected_verlet(const foliot__step *step);
void foliot__advance_implicit_euler(const foliot__step *step); // implicit.c
void foliot__advance_implicit_midpoint(const foliot__step *step);
void foliot__advance_kinematic(const foliot__step *step); // kinematic.c
void foliot__advance_kinematic_average(const foliot__step *step);
void foliot__advance_kinematic_strang(const foliot__step *step);
void foliot__advance_lattice(const foliot__step *step); // lattice.c
void foliot__retreat_lattice(const foliot__step *step);

#endif
