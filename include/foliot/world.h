// SPDX-License-Identifier: MIT
// world.h: the complete simulation state in one flat block, and the one function that advances
// time.
//
// The caller owns the block: ask foliot_world_config_get_bytes, give that many bytes aligned to 64,
// copy it with memcpy, throw it away with free. It holds no pointers. A step never allocates, reads
// no clock and calls no libm. State is IEEE-754 binary64 throughout.
#ifndef FOLIOT_WORLD_H
#define FOLIOT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/digest.h"
#include "foliot/input.h"
#include "foliot/scene.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_WORLD_ALIGNMENT 64
#define FOLIOT_CALLBACKS_MAX 16

typedef struct foliot_world foliot_world;

// The stages of a step, in order. With substeps, force to solve are repeated.
#define FOLIOT_STAGE_LIST(X) X(input) X(force) X(integrate) X(collide) X(solve) X(finish)
typedef enum foliot_stage {
#define FOLIOT_STAGE_ENUM(name) FOLIOT_STAGE_##name,
    FOLIOT_STAGE_LIST(FOLIOT_STAGE_ENUM)
#undef FOLIOT_STAGE_ENUM
        FOLIOT_STAGE_COUNT
} foliot_stage;
const char *foliot_stage_get_name(foliot_stage stage);

// The moving truth of a body: one line a field, in digest order. X(type, name, text). The types are
// f64 (binary64), i64 and u32. `previous` is verlet's x(t - dt), `lattice` reversible-leapfrog's
// integers; both are zero in worlds of other schemes.
#define FOLIOT_BODY_STATE(X)                                                                       \
    X(f64, position_x, "position.x")                                                               \
    X(f64, position_y, "position.y")                                                               \
    X(f64, position_z, "position.z")                                                               \
    X(f64, velocity_x, "velocity.x")                                                               \
    X(f64, velocity_y, "velocity.y")                                                               \
    X(f64, velocity_z, "velocity.z")                                                               \
    X(f64, orientation_w, "orientation.w")                                                         \
    X(f64, orientation_x, "orientation.x")                                                         \
    X(f64, orientation_y, "orientation.y")                                                         \
    X(f64, orientation_z, "orientation.z")                                                         \
    X(f64, angular_velocity_x, "angular_velocity.x")                                               \
    X(f64, angular_velocity_y, "angular_velocity.y")                                               \
    X(f64, angular_velocity_z, "angular_velocity.z")                                               \
    X(f64, previous_x, "previous.x")                                                               \
    X(f64, previous_y, "previous.y")                                                               \
    X(f64, previous_z, "previous.z")                                                               \
    X(i64, lattice_position_x, "lattice_position.x")                                               \
    X(i64, lattice_position_y, "lattice_position.y")                                               \
    X(i64, lattice_position_z, "lattice_position.z")                                               \
    X(i64, lattice_velocity_x, "lattice_velocity.x")                                               \
    X(i64, lattice_velocity_y, "lattice_velocity.y")                                               \
    X(i64, lattice_velocity_z, "lattice_velocity.z")                                               \
    X(u32, flags, "flags")

typedef enum foliot_field {
#define FOLIOT_FIELD_ENUM(type, name, text) FOLIOT_FIELD_##name,
    FOLIOT_BODY_STATE(FOLIOT_FIELD_ENUM)
#undef FOLIOT_FIELD_ENUM
        FOLIOT_FIELD_COUNT
} foliot_field;
const char *foliot_field_get_name(foliot_field field); // "position.x"
foliot_field foliot_field_find(const char *name);      // FOLIOT_FIELD_COUNT if unknown

enum foliot_body_flags {
    FOLIOT_BODY_ALIVE = 1u << 0,  // the slot is in use
    FOLIOT_BODY_STATIC = 1u << 1, // never moves
    FOLIOT_BODY_FROZEN = 1u << 2, // was stopped: not finite, or beyond FOLIOT_POSITION_MAX
    FOLIOT_BODY_ASLEEP = 1u << 3,
    FOLIOT_BODY_PLAYER = 1u << 4,
    FOLIOT_BODY_STARTED = 1u << 5, // verlet: `previous` is valid
};

// One body's state as a value.
typedef struct foliot_body_state {
    double position[3];
    double velocity[3];
    double orientation[4];
    double angular_velocity[3];
    uint32_t flags;
} foliot_body_state;

// What happened in a step: polled, in a total order, kept until the next step.
typedef enum foliot_event_kind {
    FOLIOT_EVENT_SPAWN,   // a: body slot
    FOLIOT_EVENT_DESPAWN, // a: body slot
    FOLIOT_EVENT_FROZEN,  // a: body slot
    FOLIOT_EVENT_BREAK,   // a: constraint index, b: foliot_break
    FOLIOT_EVENT_REFUSED, // a: player whose input was not applied
} foliot_event_kind;
// What a constraint broke of: its break_force, or its break_torque alone.
typedef enum foliot_break {
    FOLIOT_BREAK_FORCE = 0,
    FOLIOT_BREAK_TORQUE = 1,
} foliot_break;
typedef struct foliot_event {
    uint32_t kind; // foliot_event_kind
    uint32_t a, b;
} foliot_event;
#define FOLIOT_EVENTS_MAX 256 // a step; more are counted in counters.events_dropped

// Counts since tick 0. Not truth.
typedef struct foliot_world_counters {
    uint64_t force_evaluations; // of all forces, as the schemes count them (E/step)
    uint64_t solver_iterations; // Newton iterations of the implicit schemes
    uint64_t solver_failures;   // steps in which Newton did not reach its tolerance
    uint64_t frozen_bodies;
    uint64_t contacts_dropped; // the contact table was full
    uint64_t hits_deferred;    // too many impacts in one step: taken at its end instead of in time
    uint64_t events_dropped;
    uint64_t inputs_refused;
    uint64_t first_frozen_tick; // valid if frozen_bodies > 0
    uint32_t first_frozen_body;
} foliot_world_counters;

// A force that the embedder computes. It must add (never set) accelerations of the bodies [0,
// count) at positions x, y, z and velocities vx, vy, vz (structure of arrays) to ax, ay, az, from
// its arguments alone, with + - * / sqrt and foliot_* functions. Static and dead bodies have
// inverse_mass 0. A callback that is not velocity_dependent sees velocities of 0.
typedef struct foliot_callback_arguments {
    uint32_t count;
    const double *x, *y, *z, *vx, *vy, *vz, *mass, *inverse_mass;
    double time;
} foliot_callback_arguments;
typedef struct foliot_callback {
    void (*acceleration)(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                         double *az);
    double (*potential)(void *user, const foliot_callback_arguments *at); // may be NULL
    void *user;
    // The implicit and the kick/drift schemes treat these apart; reversible-leapfrog, which refuses
    // all that damps, leaves them out.
    bool velocity_dependent;
} foliot_callback;

// What the host lends for the time of one step. All of it may be absent (NULL).
typedef struct foliot_host {
    // Runs task(context, i) for every i < count, in any order, on any threads; returns when all are
    // done.
    void (*run)(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                void *context);
    void *run_user;
    uint32_t threads; // how many the runner has; results never depend on it
    // Called, if it is given, by a thread that waits for another's part of the step, every few
    // microseconds: sched_yield(), say. Without it the thread spins, which is slow where threads
    // outnumber processors.
    void (*yield)(void *user); // run_user
    const foliot_callback *callbacks;
    uint32_t callback_count;
    // Called after every stage of the last substep: for divergence tools and fault injection.
    void (*after_stage)(void *user, foliot_world *world, foliot_stage stage);
    void *stage_user;
} foliot_host;

// -- making worlds

// Capacities: what the size of the block depends on. From the scene; may be raised before use.
typedef struct foliot_world_config {
    uint32_t bodies_max;
    uint32_t forces_max;
    uint32_t constraints_max;
    uint32_t contacts_max;
    uint32_t players_max;
    uint32_t spawns_max;
    uint32_t springs_max; // of the forces
    uint32_t
        joints_max; // of the constraints: ball, hinge, weld, distance with an anchor off the centre
    bool gravitates; // some force is pairwise gravity
    bool calls_back; // some force is the host's
    bool sleeps;     // bodies may fall asleep
    foliot_integrator integrator;
} foliot_world_config;

foliot_world_config foliot_world_config_default(const foliot_scene *scene);
size_t
foliot_world_config_get_bytes(const foliot_world_config *config); // 0 if the config is invalid
// Fills the block. FOLIOT_STATUS_FULL if it is too small, else as foliot_scene_check.
foliot_status foliot_world_init(void *block, size_t bytes, const foliot_world_config *config,
                                const foliot_scene *scene, foliot_world **world);
// The two together on the heap, for programs; free with foliot_world_destroy.
foliot_status foliot_world_create(const foliot_scene *scene, foliot_world **world);
void foliot_world_destroy(foliot_world *world);
size_t foliot_world_get_bytes(const foliot_world *world); // bytes of its block
// The world at `block` made equal to `from`; both blocks have the same size. A memcpy of the whole
// block does the same; this leaves out what a step makes anew.
void foliot_world_copy(void *block, const foliot_world *from);

// -- time

// One tick. Inputs are those of this tick, ordered by (player, sequence); `host` may be NULL.
// FOLIOT_STATUS_OK; FOLIOT_STATUS_INVALID for disordered inputs or a force whose callback the host
// has not lent, and FOLIOT_STATUS_FLOATING_POINT for a changed rounding mode, leave the world as it
// was.
foliot_status foliot_world_step(foliot_world *world, const foliot_input *inputs, uint32_t count,
                                const foliot_host *host);
// One tick back to the very bits of the tick before, reversible-leapfrog only. `before` are the
// controls that players held before the inputs of the tick that is undone, one a player whose
// controls it changed, ordered by player. A tick with joins or leaves cannot be undone this way:
// restore a keyframe. FOLIOT_STATUS_UNSUPPORTED for other schemes, FOLIOT_STATUS_INVALID at tick 0
// and for disordered controls.
foliot_status foliot_world_step_back(foliot_world *world, const foliot_input *before,
                                     uint32_t count, const foliot_host *host);
// As foliot_world_step with another dt, for time-corrected-verlet in the lab.
foliot_status foliot_world_step_dt(foliot_world *world, double dt, const foliot_host *host);

uint64_t foliot_world_get_tick(const foliot_world *world);
double foliot_world_get_dt(const foliot_world *world);
double foliot_world_get_time(const foliot_world *world);

// -- looking

uint32_t foliot_world_get_body_count(const foliot_world *world); // slots up to the last one in use
bool foliot_world_get_body_alive(const foliot_world *world, uint32_t slot);
foliot_body_state foliot_world_get_body_state(const foliot_world *world, uint32_t slot);
double foliot_world_get_body_mass(const foliot_world *world, uint32_t slot); // 0 for static bodies
foliot_shape foliot_world_get_body_shape(const foliot_world *world, uint32_t slot);
// How often the slot was given away: a body is named for good by its slot and its generation.
uint32_t foliot_world_get_body_generation(const foliot_world *world, uint32_t slot);
uint32_t foliot_world_get_player_body(const foliot_world *world,
                                      uint32_t player); // FOLIOT_NO_BODY if none
uint32_t foliot_world_get_players_max(const foliot_world *world);
// What the player holds: axes and buttons as a CONTROL input of sequence 0; zeros if not joined.
foliot_input foliot_world_get_player_controls(const foliot_world *world, uint32_t player);
bool foliot_world_get_constraint_broken(const foliot_world *world, uint32_t constraint);
// What it holds with: the force of the last step, of a joint in the mean over the step; of one that
// broke, the force or torque that broke it. Not truth: 0 before the first step, and not restored
// with a world.
double foliot_world_get_constraint_force(const foliot_world *world, uint32_t constraint);
foliot_integrator foliot_world_get_integrator(const foliot_world *world);
const foliot_world_counters *foliot_world_get_counters(const foliot_world *world);
const foliot_event *foliot_world_get_events(const foliot_world *world, uint32_t *count);

// Bits of a field of truth (f64 as its bit pattern, u32 in the low half). For tools.
uint64_t foliot_world_get_field(const foliot_world *world, uint32_t slot, foliot_field field);
void foliot_world_set_field(foliot_world *world, uint32_t slot, foliot_field field, uint64_t bits);

// Invariants, summed in body order. `host` for the callbacks' potentials; may be NULL.
typedef struct foliot_invariants {
    double kinetic, potential; // potential of the forces that have one
    double momentum[3];
    double angular_momentum[3]; // about the origin, spin included
    bool potential_complete;    // every position-dependent force has a potential
} foliot_invariants;
foliot_invariants foliot_world_get_invariants(const foliot_world *world, const foliot_host *host);

// -- truth as bytes

// Digest of the truth at this tick (docs/DETERMINISM.md gives the bytes).
foliot_digest foliot_world_get_digest(const foliot_world *world);
// The truth as canonical little-endian bytes. `bytes` NULL asks for the size.
foliot_status foliot_world_capture(const foliot_world *world, uint8_t *bytes, size_t capacity,
                                   size_t *length);
// Puts captured truth into a world made from the same scene. On an error the world is unchanged.
foliot_status foliot_world_restore(foliot_world *world, const uint8_t *bytes, size_t length);

#ifdef __cplusplus
}
#endif

#endif
