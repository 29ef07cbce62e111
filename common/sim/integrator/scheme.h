// SPDX-License-Identifier: MIT
// scheme.h: an integrator is a row of data (foliot_integrator_get_info) and one function.
#ifndef FOLIOT_SIM_INTEGRATOR_SCHEME_H
#define FOLIOT_SIM_INTEGRATOR_SCHEME_H

#include "sim/force/force.h"
#include "sim/state/state.h"

typedef struct foliot__scheme {
    uint8_t scratch_vectors; // vector fields of scratch that a step uses; forces use none of them
    // Advances position, velocity and the state of the scheme itself, over step->dt. The step
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

// -- how a scheme lets an acceleration act on the position within one step

// c in x1 = x0 + v0 dt + c a dt^2 under constant acceleration.
static inline double foliot__response(const foliot_world *world)
{
    switch ((foliot_integrator)world->scheme.integrator) {
    case FOLIOT_INTEGRATOR_EXPLICIT_EULER:
        return 0;
    case FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER:
        return 1;
    case FOLIOT_INTEGRATOR_IMPLICIT_EULER:
        return 1;
    default:
        return 0.5;
    }
}

// -- runge_kutta.c: the classic rule for other schemes (the first step of verlet)

// Six times the rule's mean slopes over the step, of position and of velocity; the world is left as
// it was. Uses the scratch vectors `scratch` .. `scratch` + 4; the results lie in the last two.
void foliot__rk4_slopes(const foliot__step *step, uint32_t scratch, foliot__v3 *dx, foliot__v3 *dv);

// -- scheme.c: after the scheme's own motion in a substep

// Kinematic bodies are where their velocities take them, under every scheme. Velocities of dynamic
// bodies are divided by 1 + damping dt.
void foliot__kinematic_and_damped(const foliot__step *step);

// A kinematic body turns exactly, by an angle of x in a step; a dynamic one turns by Cayley maps
// (rotation.c), which lag behind. The ratio of speeds at which both turn alike: tan(x/2) / (x/2).
double foliot__cayley_rate(const double spin[3], double dt);

// -- kinematic.c: the exact motion under a constant force, linear drag and a linear spring together

// u'' = f - drag u' - stiffness u with u(0) = 0 and u'(0) = v has, after the time t,
//
//     u  = v (t + lag) + f reach        u' = v (1 + loss) + f gain
//
// whatever the damping. All per unit of mass. Kept as differences from free motion, which stay
// accurate where the forces are weak.
typedef struct foliot__oscillator {
    double gain;  // integral of the response to a push: t where there is only f
    double reach; // integral of gain: t^2 / 2 where there is only f
    double lag;   // gain - t
    double loss;  // derivative of gain, less 1
} foliot__oscillator;

// stiffness >= 0, drag >= 0, t >= 0. Errors of some units in the last place of t, t^2, t and 1,
// plus that of the phase sqrt(stiffness) t (tests/unit/test_kinematic.c).
foliot__oscillator foliot__oscillator_after(double stiffness, double drag, double t);

#endif
