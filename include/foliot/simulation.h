// SPDX-License-Identifier: MIT
// simulation.h: any deterministic simulation, as lockstep, recordings and the harness see it: a
// table of functions and an instance. Our own world is one of them (foliot_world_kind);
// docs/LOCKSTEP.md shows how to write another.
#ifndef FOLIOT_SIMULATION_H
#define FOLIOT_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/digest.h"
#include "foliot/input.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_KIND_NAME_BYTES 64              // of a kind's name, with its zero
#define FOLIOT_SIMULATION_BYTES_MAX (1u << 29) // that an instance may save
#define FOLIOT_SETUP_BYTES_MAX (1u << 28)
#define FOLIOT_SIMULATION_STAGES_MAX 15

// What the bits of a field mean: for printing them and for the distance of two.
typedef enum foliot_value_type {
    FOLIOT_VALUE_U64, // unsigned integers of any width
    FOLIOT_VALUE_I64, // signed ones, sign-extended
    FOLIOT_VALUE_F32, // binary32 in the low half
    FOLIOT_VALUE_F64,
} foliot_value_type;

// A part of the truth by name: "tank" 3, "row" 12. One that is alone in its group has the index
// FOLIOT_PART_ALONE.
typedef struct foliot_simulation_part {
    const char *group; // lives as long as the kind; NULL: "part"
    uint64_t index;
    uint32_t field_count;
} foliot_simulation_part;
#define FOLIOT_PART_ALONE UINT64_MAX

// One number of a part, as its simulation tells it.
typedef struct foliot_simulation_field {
    const char *name; // lives as long as the kind; NULL: its number
    foliot_value_type type;
    bool undigested; // shown in reports, but not truth: a constant, a cache
    uint64_t bits;
} foliot_simulation_field;

// What all instances of one simulation share. The first eight members must be there; the rest make
// reports better. No function may read a clock, draw from a random source or depend on anything but
// its arguments and `self`.
typedef struct foliot_simulation_kind {
    const char *name; // "com.example.tanks"; "foliot.world" is ours
    uint32_t version; // of its rules: a change that gives other bits for the same inputs is another
                      // version
    // An instance at its first tick, made of setup bytes alone (a map, a seed, a scene). Hostile
    // bytes are a status.
    foliot_status (*create)(void *user, const void *setup, size_t setup_bytes, void **self);
    void (*destroy)(void *self);
    uint64_t (*tick)(const void *self); // steps taken since tick 0; part of what is saved
    // One tick. Inputs are ordered by (player, sequence). On an error the instance is as it was.
    foliot_status (*step)(void *self, const foliot_input *inputs, uint32_t count);
    // All that decides the future, as bytes that are the same on every machine. Answers how many
    // there are; writes them only if they fit (`bytes` NULL and `capacity` 0: a question). Equal
    // states save equal bytes.
    size_t (*capture)(const void *self, void *bytes, size_t capacity);
    // Into any instance of the same setup, whatever it has lived through. Hostile bytes are a
    // status, and leave it as it was.
    foliot_status (*restore)(void *self, const void *bytes, size_t length);

    void *user; // handed to `create`
    foliot_digest (*digest)(
        const void *self);              // of the truth; NULL: of the saved bytes, which is slower
    foliot_digest (*fingerprint)(void); // of the build's arithmetic; NULL: foliot_get_fingerprint
    // The truth in parts (units, bodies, rows of a map), each a few numbers: what a divergence
    // report can name. NULL: the words of the saved bytes. They may be asked for between the stages
    // of a step.
    uint32_t (*part_count)(const void *self);
    void (*part)(const void *self, uint32_t part, foliot_simulation_part *about);
    void (*fields)(const void *self, uint32_t part,
                   foliot_simulation_field *values); // all of them, `field_count`
    // Puts bits into a field, for the perturbation test. NULL: only saved bytes are disturbed.
    void (*set_field)(void *self, uint32_t part, uint32_t field, uint64_t bits);
    // The stages of a step by name, in order. `watch` gives every step from now on a function to
    // call after each stage, between which parts can be looked at; NULL ends it. Both NULL: a step
    // is one stage.
    const char *const *stages;
    uint32_t stage_count;
    void (*watch)(void *self, void (*after_stage)(void *user, uint32_t stage), void *user);
} foliot_simulation_kind;

// An instance, by value: whoever made `self` destroys it. `setup` is what it was made of, and stays
// with its owner.
typedef struct foliot_simulation {
    const foliot_simulation_kind *kind;
    void *self;
    const void *setup;
    size_t setup_bytes;
} foliot_simulation;

// FOLIOT_STATUS_INVALID if the table lacks what must be there; else as `create`. The setup is not
// copied.
foliot_status foliot_simulation_create(const foliot_simulation_kind *kind, const void *setup,
                                       size_t setup_bytes, foliot_simulation *simulation);
void foliot_simulation_destroy(foliot_simulation *simulation); // its `self`
bool foliot_simulation_kind_valid(const foliot_simulation_kind *kind);

uint64_t foliot_simulation_get_tick(const foliot_simulation *simulation);
// As `step`, and FOLIOT_STATUS_INVALID for inputs out of order.
foliot_status foliot_simulation_step(foliot_simulation *simulation, const foliot_input *inputs,
                                     uint32_t count);
// The whole truth. Without a `digest` of its own this allocates; a digest of zeros means that there
// was no memory.
foliot_digest foliot_simulation_get_digest(const foliot_simulation *simulation);
foliot_digest foliot_simulation_kind_get_fingerprint(const foliot_simulation_kind *kind);
// `bytes` NULL asks for the length. FOLIOT_STATUS_FULL if they do not fit.
foliot_status foliot_simulation_capture(const foliot_simulation *simulation, void *bytes,
                                        size_t capacity, size_t *length);
// FOLIOT_STATUS_INVALID if there are more than FOLIOT_SIMULATION_BYTES_MAX.
foliot_status foliot_simulation_restore(foliot_simulation *simulation, const void *bytes,
                                        size_t length);

// The name of a stage: "finish" where a step is one. NULL beyond the last.
const char *foliot_simulation_kind_get_stage_name(const foliot_simulation_kind *kind,
                                                  uint32_t stage);
uint32_t foliot_simulation_kind_get_stage_count(const foliot_simulation_kind *kind); // at least 1

// XXH3-128 of bytes, for digests of one's own. The same everywhere.
foliot_digest foliot_digest_compute(const void *bytes, size_t length);

// -- our own world

// A world with what its host lends, as `self` of foliot_world_kind. Make one around any world:
//     foliot_hosted_world hosted = {.world = world, .host = host};
//     foliot_simulation simulation = {&foliot_world_kind, &hosted, scene_bytes, scene_length};
typedef struct foliot_hosted_world {
    foliot_world *world;
    foliot_host host;
    void (*after_stage)(void *user, uint32_t stage); // set by `watch`
    void *stage_user;
} foliot_hosted_world;

// "foliot.world": setup is the canonical scene (foliot_scene_encode); `user` may be a const
// foliot_host * in a copy of the table. Parts: how many slots there are, the bodies by slot, and
// then what else is truth: the world itself, players, constraints, contacts. A created instance
// frees its world too.
extern const foliot_simulation_kind foliot_world_kind;

#ifdef __cplusplus
}
#endif

#endif
