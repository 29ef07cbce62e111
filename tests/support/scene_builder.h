// SPDX-License-Identifier: MIT
// scene_builder.h: scenes of balls, planes and links built in C, a few lines a scene.
#ifndef FOLIOT_TESTS_SCENE_BUILDER_H
#define FOLIOT_TESTS_SCENE_BUILDER_H

#include <stdint.h>

#include "foliot/foliot.h"

typedef struct scene_builder {
    foliot_scene scene; // gravity and the rest may be set before builder_create_world
    foliot_body_definition *bodies;
    uint32_t body_capacity;
    foliot_constraint_definition *constraints;
    uint32_t constraint_capacity;
} scene_builder;

// 60 Hz, no gravity.
scene_builder builder_new(foliot_integrator integrator);
void builder_free(scene_builder *y);

// The body's index; what was made may be changed in y->bodies until builder_create_world.
uint32_t builder_add_ball(scene_builder *y, double mass, double radius, double px, double py,
                          double pz);
uint32_t builder_add_box(scene_builder *y, double mass, double hx, double hy, double hz, double px,
                         double py, double pz);
uint32_t builder_add_capsule(scene_builder *y, double mass, double radius, double half_length,
                             double px, double py,
                             double pz); // along z
uint32_t builder_add_point(scene_builder *y, double mass, double px, double py,
                           double pz); // mass 0: static
uint32_t builder_add_plane(scene_builder *y, double nx, double ny, double nz, double offset);
// A link of that kind between two bodies at their present distance; b FOLIOT_NO_BODY: to the point
// at.
uint32_t builder_add_link(scene_builder *y, foliot_constraint_kind kind, uint32_t a, uint32_t b,
                          const double at[3]);
// Sets velocity of the body made last.
void builder_set_velocity(scene_builder *y, double vx, double vy, double vz);
void builder_set_spin(scene_builder *y, double wx, double wy, double wz);
// Turns the body made last by `angle` about a unit axis through its centre.
void builder_turn(scene_builder *y, double ax, double ay, double az, double angle);
void builder_set_material(scene_builder *y, double friction,
                          double restitution); // of all bodies so far

// A world that must be made; free with foliot_world_destroy.
foliot_world *builder_create_world(scene_builder *y);
void run_ticks(foliot_world *world, uint32_t ticks);
// Steps one tick with the command; the reason for which it was refused.
foliot_command_reason step_command(foliot_world *world, const foliot_command *command);
// Runs the test with each integrator that has contacts, and prints its name first.
void builder_with_every_scheme(void (*test)(foliot_integrator id));

#endif
