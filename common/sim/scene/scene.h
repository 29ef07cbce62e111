// SPDX-License-Identifier: MIT
// scene.h: functions on scenes for the rest of common/sim and the scene reader, besides
// foliot/scene.h.
#ifndef FOLIOT_SIM_SCENE_SCENE_H
#define FOLIOT_SIM_SCENE_SCENE_H

#include "foliot/scene.h"

// Which joints are fast: the scene's `joints`, and how many there may be.
typedef enum foliot__fast_joints {
    FOLIOT__FAST_JOINTS_NONE,
    FOLIOT__FAST_JOINTS_LARGE, // those of islands of many joints, or of several loops
    FOLIOT__FAST_JOINTS_ALL,
} foliot__fast_joints;

// Some pair of shapes of this scene can touch: a moving sphere, box or capsule and any other shape
// that is not a point, players' bodies included. The one place that says so.
bool foliot__scene_collides(const foliot_scene *scene);
// Some body, prototype or player is a sensor.
bool foliot__scene_senses(const foliot_scene *scene);
foliot__fast_joints foliot__scene_fast_joints(const foliot_scene *scene);
// Its JOIN gives a player a body.
bool foliot__scene_spawns(const foliot_scene *scene);
// Some body turns, or may once a command has changed how it moves.
bool foliot__scene_rotates(const foliot_scene *scene);

// A ball, hinge or weld, or a distance that holds a body elsewhere than at its centre: joint.h's
// business.
bool foliot__constraint_is_joint(const foliot_constraint_definition *constraint);
bool foliot__scene_joins(const foliot_scene *scene);
// NULL where the joint fits its bodies; else a sentence, and the key that it is about.
const char *foliot__joint_fault(const foliot_scene *scene,
                                const foliot_constraint_definition *joint, const char **key);
// How far apart its anchors are as the scene starts.
double foliot__joint_span(const foliot_scene *scene, const foliot_constraint_definition *joint);

// Between the world's axes and those of a body as it is defined.
void foliot__body_to_world(const foliot_body_definition *body, const double arm[3],
                           double point[3]);
void foliot__world_to_body(const foliot_body_definition *body, const double point[3],
                           double arm[3]);
void foliot__direction_to_body(const foliot_body_definition *body, const double v[3],
                               double out[3]);
// Integrator steps a tick: the scene's own number, or the fitting one.
uint32_t foliot__scene_substeps(const foliot_scene *scene);

// A body with this definition turns: it moves, and it has a shape or its own principal moments.
bool foliot__body_rotates(const foliot_body_definition *body);
double foliot__norm2(const double *v, unsigned count); // the square of its length

// The feature of the scene ("contacts") that an integrator of the registry does not support; NULL
// if it supports all. The integrator that the scene names is ignored.
const char *foliot__scene_objection(const foliot_scene *scene, foliot_integrator integrator);
// Names of the integrators that admit the scene and can be hosted, separated by commas; "none".
void foliot__scene_fitting(const foliot_scene *scene, char *text, size_t bytes);

// As foliot_scene_decode, with `spare` more bytes in the scene's block, which go to *block: the
// scene reader keeps there what the canonical bytes do not have.
foliot_status foliot__scene_decode_into(const uint8_t *bytes, size_t length, size_t spare,
                                        foliot_scene **scene, char **block);

// Names in order of (hash, text), for look-up in O(log n). Sorted rather than hashed into buckets:
// no choice of names makes it slow, and the order is the same everywhere.
typedef struct foliot__name_entry {
    uint64_t hash;
    const char *name;
    uint32_t index;
} foliot__name_entry;

uint64_t foliot__name_hash(const char *name); // FNV-1a, 64 bits
// Sorts `entries`; `spare` has as many. Entries of equal name stay in order of index.
void foliot__names_sort(foliot__name_entry *entries, foliot__name_entry *spare, uint32_t count);
// Index stored with the first entry of that name, FOLIOT_NO_BODY if there is none.
uint32_t foliot__names_find(const foliot__name_entry *entries, uint32_t count, const char *name);

#endif
