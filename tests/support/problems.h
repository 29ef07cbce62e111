// SPDX-License-Identifier: MIT
// problems.h: the reference problems of mechanics as scenes, with what is known of them exactly.
// Used by the tests of the integrators and by their benches.
//
// A problem holds its scene, bodies and callbacks; it is filled in place, because the scene points
// into it.
#ifndef FOLIOT_TESTS_PROBLEMS_H
#define FOLIOT_TESTS_PROBLEMS_H

#include "foliot/foliot.h"

#define PROBLEM_BODIES 8
#define PROBLEM_FORCES 4

typedef struct problem {
    foliot_scene scene;
    foliot_body_definition bodies[PROBLEM_BODIES];
    foliot_force_definition forces[PROBLEM_FORCES];
    foliot_callback callback;
    foliot_host host;
} problem;

// One body of mass 1 at the origin and no force. dt as given.
void problem_body(problem *p, foliot_integrator integrator, double dt);
foliot_force_definition *problem_force(problem *p, foliot_force_kind kind);

// x'' = -k x - b v (mass 1), x(0) = x0, v(0) = 0: a spring to the origin, and linear drag.
void problem_oscillator(problem *p, foliot_integrator integrator, double dt, double k, double x0);
void problem_damped_oscillator(problem *p, foliot_integrator integrator, double dt, double k,
                               double b, double x0);
// The position (and velocity) of that oscillator at `time`, from the closed form.
double damped_oscillator_exact(double k, double b, double x0, double time, double *velocity);

// q'' = -sin q, q = 1, p = 0, by a callback; q and p after 10, from binary128.
void problem_pendulum(problem *p, foliot_integrator integrator, double dt);
extern const double pendulum_1[2], pendulum_10[2];
// Kepler's orbit, GM = 1, semi-major axis 1, from perihelion: energy -1/2, period 2 pi. Exact at
// any time.
void problem_kepler(problem *p, foliot_integrator integrator, double dt, double e);
void kepler_exact(double e, double time, double position[2], double velocity[2]);
// Henon and Heiles' potential by a callback; q = (0.1, 0), p = (0, 0.5): energy 0.13.
void problem_henon_heiles(problem *p, foliot_integrator integrator, double dt);
extern const double henon_heiles_10[4]; // q1 q2 p1 p2 after 10, from binary128
// Sun, Jupiter, Saturn, Uranus, Neptune, Pluto on 5 September 1994 (Hairer, Lubich and Wanner,
// Geometric Numerical Integration, I.2.4; Ahnerts Kalender 1994). AU, days, solar masses.
void problem_outer_solar_system(problem *p, foliot_integrator integrator, double dt);
extern const double outer_solar_system_200000[6][3]; // positions after 200,000 days, from binary128
// Chenciner and Montgomery's figure-eight, collinear form refined to 28 digits; its period.
void problem_figure_eight(problem *p, foliot_integrator integrator, double dt);
#define FIGURE_EIGHT_PERIOD 6.3259139829262116775890003340

// A world of the problem; asserts that the scene is admitted. Free with foliot_world_destroy.
foliot_world *problem_world(problem *p);
// True if the scene is admitted by the scheme.
bool problem_admitted(problem *p);
void problem_step(problem *p, foliot_world *world, uint64_t steps);
double problem_energy(problem *p, const foliot_world *world);

#endif
