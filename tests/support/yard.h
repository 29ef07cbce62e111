// SPDX-License-Identifier: MIT
// yard.h: scenes of balls, planes and links built in C, a few lines a scene.
#ifndef FOLIOT_TESTS_YARD_H
#define FOLIOT_TESTS_YARD_H

#include <stdint.h>

#include "foliot/foliot.h"

typedef struct yard {
    foliot_scene scene; // gravity and the rest may be set before yard_open
    foliot_body_definition *bodies;
    uint32_t body_capacity;
    foliot_constraint_definition *constraints;
    uint32_t constraint_capacity;
} yard;

// 60 Hz, no gravity.
yard yard_new(foliot_integrator integrator);
void yard_free(yard *y);

// The body's index; what was made may be changed in y->bodies until yard_open.
uint32_t yard_ball(yard *y, double mass, double radius, double px, double py, double pz);
uint32_t yard_box(yard *y, double mass, double hx, double hy, double hz, double px, double py,
                  double pz);
uint32_t yard_capsule(yard *y, double mass, double radius, double half_length, double px, double py,
                      double pz);                                           // along z
uint32_t yard_point(yard *y, double mass, double px, double py, double pz); // mass 0: static
uint32_t yard_plane(yard *y, double nx, double ny, double nz, double offset);
// Of that kind between two bodies at the distance that they have; b FOLIOT_NO_BODY: to the point
// at.
uint32_t yard_link(yard *y, foliot_constraint_kind kind, uint32_t a, uint32_t b,
                   const double at[3]);
// Sets velocity of the body made last.
void yard_moves(yard *y, double vx, double vy, double vz);
void yard_spins(yard *y, double wx, double wy, double wz);
// Turns the body made last by `angle` about a unit axis through its centre.
void yard_turn(yard *y, double ax, double ay, double az, double angle);
void yard_material(yard *y, double friction, double restitution); // of all bodies so far

// A world that must be made; free with foliot_world_destroy.
foliot_world *yard_open(yard *y);
void yard_run(foliot_world *world, uint32_t ticks);

#endif
