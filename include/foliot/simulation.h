// SPDX-License-Identifier: MIT
// simulation.h: any deterministic simulation, as lockstep, recordings and the harness see it: a
// table of functions (the kind) and an instance; and modules that have one.
//
// foliot_world_kind is the table for worlds of world.h. docs/how-to/own-simulation.md and
// examples/lockstep.c show how to write another.
//
// Threads: an instance is used by one thread at a time; different instances may be used at the same
// time. The table is constant and outlives all its instances.
#ifndef FOLIOT_SIMULATION_H
#define FOLIOT_SIMULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/rules.h"
#include "foliot/status.h"
#include "foliot/world.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_KIND_NAME_BYTES 64              // of a kind's name, with its zero
#define FOLIOT_SIMULATION_BYTES_MAX (1u << 29) // that an instance may save
#define FOLIOT_SETUP_BYTES_MAX (1u << 28)
#define FOLIOT_SIMULATION_STAGES_MAX 15
#define FOLIOT_ORDER_COMMANDS_MAX 16 // that one order may become

// How the bits of a field are interpreted: to print them, and for the distance of two values.
typedef enum foliot_value_type {
    FOLIOT_VALUE_U64, // unsigned integers of any width
    FOLIOT_VALUE_I64, // signed ones, sign-extended
    FOLIOT_VALUE_F32, // binary32 in the low half
    FOLIOT_VALUE_F64,
} foliot_value_type;

// A part of the state by name: "tank" 3, "row" 12. One that is alone in its group has the index
// FOLIOT_PART_ALONE.
typedef struct foliot_simulation_part {
    const char *group; // lives as long as the kind; NULL: "part"
    uint64_t index;
    uint32_t field_count;
} foliot_simulation_part;
#define FOLIOT_PART_ALONE UINT64_MAX

// One number of a part.
typedef struct foliot_simulation_field {
    const char *name; // lives as long as the kind; NULL: its number
    foliot_value_type type;
    bool undigested; // shown in reports, but not in the digest: a constant, a cache
    uint64_t bits;
} foliot_simulation_field;

// The functions and constants that all instances of one simulation share. The members up to
// `restore` are required; the others are optional. No function may read a clock, draw from a random
// source, or depend on anything but its arguments and `self`.
typedef struct foliot_simulation_kind {
    const char *name; // "com.example.tanks"; "foliot.world" is foliot_world_kind's
    uint32_t version; // of its rules. A change that gives other bits for the same inputs needs
                      // another version
    // Makes an instance at its first tick from setup bytes alone (a map, a seed, a scene). Hostile
    // bytes give a status.
    foliot_status (*create)(void *user, const void *setup, size_t setup_bytes, void **self);
    void (*destroy)(void *self);
    uint64_t (*tick)(const void *self); // steps since tick 0, one more after each;
                                        // part of the captured bytes
    // Advances by one tick. Inputs are ordered by (player, sequence). On an error the instance is
    // unchanged.
    foliot_status (*step)(void *self, const foliot_input *inputs, uint32_t count);
    // The same with commands, ordered by sequence, which act after the inputs. NULL: the simulation
    // has no commands, and a tick with any is refused.
    foliot_status (*step_tick)(void *self, const foliot_tick_inputs *tick);
    // Writes the complete state as bytes that are the same on every machine; equal states give
    // equal bytes. Returns their number, and writes them only if they fit (`bytes` NULL and
    // `capacity` 0 asks for the number).
    size_t (*capture)(const void *self, void *bytes, size_t capacity);
    // Restores captured bytes into any instance of the same setup, whatever its history. Hostile
    // bytes give a status and leave it unchanged.
    foliot_status (*restore)(void *self, const void *bytes, size_t length);

    void *user;                                // given to `create`
    foliot_digest (*digest)(const void *self); // of the state; NULL: of the captured bytes, slower
    foliot_digest (*fingerprint)(void);        // of the build; NULL: foliot_get_fingerprint
    // The state as parts (units, bodies, rows of a map) of a few numbers each, which a divergence
    // report can name. NULL: the words of the captured bytes. Parts may be read between the stages
    // of a step.
    uint32_t (*part_count)(const void *self);
    void (*part)(const void *self, uint32_t part, foliot_simulation_part *about);
    // Writes all `field_count` fields of a part.
    void (*fields)(const void *self, uint32_t part, foliot_simulation_field *values);
    // Sets the bits of a field, for the perturbation test. NULL: only captured bytes are perturbed.
    void (*set_field)(void *self, uint32_t part, uint32_t field, uint64_t bits);
    // The names of the stages of a step, in order. `watch` sets a function that all later steps
    // call after each stage, and that may read parts; NULL removes it. Both NULL: a step is one
    // stage.
    const char *const *stages;
    uint32_t stage_count; // at most FOLIOT_SIMULATION_STAGES_MAX
    void (*watch)(void *self, void (*after_stage)(void *user, uint32_t stage), void *user);
    // Turns a player's order (rules.h) into commands, on the server only, between two steps: writes
    // at most `capacity` commands (FOLIOT_ORDER_COMMANDS_MAX) for the next step, and returns their
    // number. The commands are recorded and sent to all clients that step; the order is recorded
    // too, but a replay does not need it. Joins and leaves are also passed, with names. It must not
    // change the state. Needs `step_tick`. NULL: orders of the kind GAME are counted as refused.
    // Chat passes to all in either case.
    uint32_t (*order)(const void *self, const foliot_order *order, foliot_command *commands,
                      uint32_t capacity);
    // Makes `self` equal to `from`, an instance of the same setup: for prediction, several times a
    // second. It cannot fail. NULL: by capture and restore, slower.
    void (*copy)(void *self, const void *from);
} foliot_simulation_kind;

// An instance, by value. The creator of `self` destroys it. `setup` is the setup of `self`; it is
// lent and must outlive the instance.
typedef struct foliot_simulation {
    const foliot_simulation_kind *kind;
    void *self;
    const void *setup;
    size_t setup_bytes;
} foliot_simulation;

// FOLIOT_STATUS_INVALID if the table lacks a required member; else the status of `create`.
FOLIOT_MUST_CHECK foliot_status foliot_simulation_create(const foliot_simulation_kind *kind,
                                                         const void *setup, size_t setup_bytes,
                                                         foliot_simulation *simulation);
void foliot_simulation_destroy(foliot_simulation *simulation); // its `self`
bool foliot_simulation_kind_valid(const foliot_simulation_kind *kind);

uint64_t foliot_simulation_get_tick(const foliot_simulation *simulation);
// Returns the status of `step`; FOLIOT_STATUS_INVALID for inputs out of order;
// FOLIOT_STATUS_MISCOUNTED if `tick` has not grown by exactly one after a step that succeeded.
FOLIOT_MUST_CHECK foliot_status foliot_simulation_step(foliot_simulation *simulation,
                                                       const foliot_input *inputs, uint32_t count);
// Returns the status of `step_tick`, or of `step` for a tick without commands;
// FOLIOT_STATUS_INVALID for inputs or commands out of order; FOLIOT_STATUS_UNSUPPORTED for commands
// to a kind without `step_tick`; FOLIOT_STATUS_MISCOUNTED as above.
FOLIOT_MUST_CHECK foliot_status foliot_simulation_step_tick(foliot_simulation *simulation,
                                                            const foliot_tick_inputs *tick);
// The digest of the whole state. A kind without `digest` needs memory; zero if there is none.
foliot_digest foliot_simulation_get_digest(const foliot_simulation *simulation);
foliot_digest foliot_simulation_kind_get_fingerprint(const foliot_simulation_kind *kind);
// `bytes` NULL asks for the length alone. FOLIOT_STATUS_FULL if `capacity` is too small.
FOLIOT_MUST_CHECK foliot_status foliot_simulation_capture(const foliot_simulation *simulation,
                                                          void *bytes, size_t capacity,
                                                          size_t *length);
// Returns the status of `restore`; FOLIOT_STATUS_INVALID beyond FOLIOT_SIMULATION_BYTES_MAX.
FOLIOT_MUST_CHECK foliot_status foliot_simulation_restore(foliot_simulation *simulation,
                                                          const void *bytes, size_t length);

// Makes `simulation` equal to `from`; both are of one kind and one setup. FOLIOT_STATUS_MEMORY, and
// the statuses of `restore`, if the kind has no `copy`.
FOLIOT_MUST_CHECK foliot_status foliot_simulation_copy(foliot_simulation *simulation,
                                                       const foliot_simulation *from);

// "finish" where a step is one stage. NULL beyond the last.
const char *foliot_simulation_kind_get_stage_name(const foliot_simulation_kind *kind,
                                                  uint32_t stage);
uint32_t foliot_simulation_kind_get_stage_count(const foliot_simulation_kind *kind); // at least 1

// -- worlds as simulations

// A world with what its host lends to every step: the `self` of foliot_world_kind. To make one from
// any world:
//     foliot_hosted_world hosted = {.world = world, .scene = scene};
//     foliot_simulation simulation = {.kind = &foliot_world_kind, .self = &hosted};
typedef struct foliot_hosted_world {
    foliot_world *world;
    // The scene that the world was made from, with every change (integrator, dt, seed) that the
    // host made. Lent. NULL: the simulation has the setup.
    foliot_scene *scene;
    foliot_host host;
    void (*after_stage)(void *user, uint32_t stage); // set by `watch`
    void *stage_user;
} foliot_hosted_world;

// "foliot.world". Its setup is the canonical scene (foliot_scene_encode). `user` may be a const
// foliot_host * in a copy of the table. Its parts are the number of slots, the bodies by slot, and
// the rest of the state: the world itself, players, constraints, contacts. An instance that
// `create` made owns its world.
extern const foliot_simulation_kind foliot_world_kind;

// The world of a simulation; NULL where it has none, or is of another kind.
const foliot_world *foliot_simulation_get_world(const foliot_simulation *simulation);

// -- modules
//
// A simulation of your own as a module: a shared object that foliot-server,
// foliot-client, foliot-replay and foliot-lab load with --simulation FILE.
//
// A module exports one object:
//     const foliot_simulation_module foliot_simulation_entry = FOLIOT_SIMULATION_MODULE(
//         .kind = &my_kind, .describe = my_describe);
// It is linked with the libfoliot of the same ABI if it calls the library; a module that only fills
// tables is linked with nothing. examples/modules/ring.c is one. A module runs with all rights of
// the program that loads it: load none that you would not run.
//
// A module must not depend on the program that loads it. It stays loaded until the program ends.

#define FOLIOT_SIMULATION_ABI 2u // grows with every change of what modules share with their host
#define FOLIOT_SIMULATION_CONFIG_BYTES_MAX (1u << 24)

// Properties of a simulation that a host needs besides its state. They depend on the setup alone.
typedef struct foliot_simulation_terms {
    double pace_hz;               // ticks in a real second, 0.01 .. 100000
    uint32_t player_limit;        // 0 .. FOLIOT_PLAYERS_MAX; 0: it can only be watched
    char name[FOLIOT_NAME_BYTES]; // of the session, unless the host has another; ends with a zero
} foliot_simulation_terms;

typedef struct foliot_simulation_module {
    uint32_t abi;          // FOLIOT_SIMULATION_ABI
    uint32_t module_bytes; // sizeof, here and below
    uint32_t kind_bytes, part_bytes, field_bytes, terms_bytes;
    uint32_t input_bytes, tick_bytes, command_bytes, order_bytes;
    const foliot_simulation_kind *kind; // lives as long as the module. Without `fingerprint` the
                                        // loader uses a known-answer run: 64 ticks of the setup
                                        // that no configuration gives
    // Required. FOLIOT_STATUS_INVALID for a setup that `create` would refuse.
    foliot_status (*describe)(const void *setup, size_t setup_bytes,
                              foliot_simulation_terms *terms);
    // Converts a configuration file (the file that a host names; no bytes if it names none) into
    // the setup. As snprintf: returns the setup's length, and writes it if it fits into `capacity`.
    // SIZE_MAX: the configuration is wrong, and `problem` receives a sentence. NULL: the file's
    // bytes are the setup.
    size_t (*configure)(const void *config, size_t config_bytes, void *setup, size_t capacity,
                        char *problem, size_t problem_bytes);
    // Draws the state as lines of UTF-8 text, for a terminal of `columns` by `rows`; the rest is
    // cut. As snprintf. NULL: programs list parts and fields instead.
    size_t (*draw)(const void *self, uint32_t columns, uint32_t rows, char *text, size_t capacity);
} foliot_simulation_module;

// The object that a module exports; `...` sets kind and functions.
#define FOLIOT_SIMULATION_MODULE(...)                                                              \
    {                                                                                              \
        .abi = FOLIOT_SIMULATION_ABI, .module_bytes = sizeof(foliot_simulation_module),            \
        .kind_bytes = sizeof(foliot_simulation_kind),                                              \
        .part_bytes = sizeof(foliot_simulation_part),                                              \
        .field_bytes = sizeof(foliot_simulation_field),                                            \
        .terms_bytes = sizeof(foliot_simulation_terms), .input_bytes = sizeof(foliot_input),       \
        .tick_bytes = sizeof(foliot_tick_inputs), .command_bytes = sizeof(foliot_command),         \
        .order_bytes = sizeof(foliot_order), __VA_ARGS__                                           \
    }

// Declared here, so that it is exported from C++ as well, where a const object is otherwise local
// to its file.
extern const foliot_simulation_module foliot_simulation_entry;

#ifdef __cplusplus
}
#endif

#endif
