// SPDX-License-Identifier: MIT
// world.h: the complete state of a simulation in one block of memory, and the step that advances it
// by one tick.
//
// Memory: the caller owns the block. foliot_world_config_get_bytes says how large it is; it is
// aligned to FOLIOT_WORLD_ALIGNMENT. The block holds no pointers: memcpy copies a world, free ends
// it. foliot_world_create does this on the heap. A step never allocates, reads no clock, and calls
// no function of libm.
//
// Bodies and joints are named by ids (command.h), which are never used twice.
// foliot_world_get_body_id lists those of a world by slot. Every function accepts any id and any
// number as a slot, player, variable or field: what is gone or never was reads as nothing, or gives
// a status.
//
// Numbers are IEEE-754 binary64. Vectors are x, y, z in world axes, quaternions w, x, y, z from
// body to world axes; units are those of the scene (scene.h).
//
// Threads: different worlds are independent. One world may be read by several threads while none
// steps or restores it. foliot_host lends a step the threads to run on; results never depend on
// their number.
#ifndef FOLIOT_WORLD_H
#define FOLIOT_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/digest.h"
#include "foliot/scene.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FOLIOT_WORLD_ALIGNMENT 64 // bytes
#define FOLIOT_CALLBACKS_MAX 16

typedef struct foliot_world foliot_world;

// The stages of a step, in order. `force` to `solve` are repeated in every substep.
#define FOLIOT_STAGE_LIST(X)                                                                       \
    X(input)                                                                                       \
    X(force)                                                                                       \
    X(integrate)                                                                                   \
    X(collide)                                                                                     \
    X(solve)                                                                                       \
    X(finish)
typedef enum foliot_stage {
#define FOLIOT_STAGE_ENUM(name) FOLIOT_STAGE_##name,
    FOLIOT_STAGE_LIST(FOLIOT_STAGE_ENUM)
#undef FOLIOT_STAGE_ENUM
        FOLIOT_STAGE_COUNT
} foliot_stage;
const char *foliot_stage_get_name(foliot_stage stage);

// The state of a body: one line a field, in the order of the digest. X(type, name, text). The types
// are f64 (binary64), i64 and u32. `previous` is x(t - dt) under verlet; `lattice` are the integers
// of reversible-leapfrog. Both are zero under other integrators.
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
    FOLIOT_BODY_FROZEN =
        1u << 2, // stopped: its state was not finite, or beyond FOLIOT_POSITION_MAX
    FOLIOT_BODY_ASLEEP = 1u << 3,    // skipped until something wakes it
    FOLIOT_BODY_PLAYER = 1u << 4,    // spawned by a JOIN input
    FOLIOT_BODY_STARTED = 1u << 5,   // verlet: `previous` is valid
    FOLIOT_BODY_KINEMATIC = 1u << 6, // moves by its velocity, without reacting to contacts
    FOLIOT_BODY_SENSOR = 1u << 7,    // collides with nothing
    FOLIOT_BODY_TARGETED = 1u << 8,  // kinematic: was sent to a pose; stops unless sent again
};

// The state of one body as a value.
typedef struct foliot_body_state {
    double position[3]; // of the centre of mass
    double velocity[3];
    double orientation[4];      // w, x, y, z; unit length
    double angular_velocity[3]; // world axes, radians per unit of time
    uint32_t flags;             // of enum foliot_body_flags
} foliot_body_state;

// The events of a step. The list has a total order and is kept until the next step.
typedef enum foliot_event_kind {
    FOLIOT_EVENT_SPAWNED,         // body; by a JOIN: player, else by a command
    FOLIOT_EVENT_DESPAWNED,       // body; player: it was that of a player who left
    FOLIOT_EVENT_FROZEN,          // body: its state was not finite, or out of range
    FOLIOT_EVENT_JOINT_MADE,      // joint; by a command
    FOLIOT_EVENT_JOINT_BROKEN,    // joint, the scene's included; reason: foliot_break
    FOLIOT_EVENT_COMMAND_REFUSED, // reason: foliot_command_reason
    FOLIOT_EVENT_INPUT_REFUSED,   // player: an input of it was not applied
    FOLIOT_EVENT_ENDED,           // the session ends: foliot_world_get_end
} foliot_event_kind;
// The cause of a break: its break_force, or its break_torque alone.
typedef enum foliot_break {
    FOLIOT_BREAK_FORCE = 0,
    FOLIOT_BREAK_TORQUE = 1,
    FOLIOT_BREAK_COMMAND = 2, // a command broke it, or removed its body
} foliot_break;
typedef struct foliot_event {
    foliot_event_kind kind;
    uint32_t player;       // FOLIOT_NO_PLAYER: none
    foliot_body_id body;   // zero: none
    foliot_joint_id joint; // zero: none
    uint32_t reason;       // as the kind says
    // Ticket (0: none), sequence and foliot_command_source of the command that spawned the body,
    // made the joint or was refused. All 0: no command.
    uint32_t ticket, sequence, source;
} foliot_event;
// Maximum per step; if the scene has commands_max, twice that and the number of constraints are
// added. Further events are counted in counters.events_dropped.
#define FOLIOT_EVENTS_MAX 256

// Counts since tick 0. They are not part of the state.
typedef struct foliot_world_counters {
    uint64_t force_evaluations; // of all forces, as integrators count them
    uint64_t solver_iterations; // Newton iterations of the implicit integrators
    uint64_t solver_failures;   // steps in which Newton did not reach its tolerance
    uint64_t frozen_bodies;     // whose state was not finite or out of range
    uint64_t contacts_dropped;  // the contact table was full
    uint64_t hits_deferred;     // too many hits in one step: resolved at its end, not at their time
    uint64_t events_dropped;    // beyond FOLIOT_EVENTS_MAX or FOLIOT_HIT_EVENTS_MAX
    uint64_t inputs_refused;    // as the REFUSED event
    uint64_t commands_refused;  // as the COMMAND_REFUSED event
    uint64_t first_frozen_tick; // valid if frozen_bodies > 0
    foliot_body_id first_frozen_body;
} foliot_world_counters;

// A force that the host (the program that embeds the library) computes. `acceleration` adds (never
// sets) to ax, ay, az the accelerations of bodies 0 .. count - 1, from its arguments alone, with
// + - * / sqrt and the functions of digest.h. Positions, velocities and masses come as one array a
// component. Static and dead bodies have inverse_mass 0. It is called from the thread that steps.
typedef struct foliot_callback_arguments {
    uint32_t count;
    const double *x, *y, *z, *vx, *vy, *vz, *mass, *inverse_mass;
    double time; // in the unit of the scene
} foliot_callback_arguments;
typedef struct foliot_callback {
    void (*acceleration)(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                         double *az);
    double (*potential)(void *user, const foliot_callback_arguments *at); // energy; may be NULL
    void *user;
    // The implicit and the kick-drift integrators treat velocity-dependent forces separately;
    // reversible-leapfrog, which refuses all damping, leaves them out. If false, the callback is
    // given velocities of 0.
    bool velocity_dependent;
} foliot_callback;

// Resources that the host lends to one step. Each part may be absent (NULL or 0).
typedef struct foliot_host {
    // Runs task(context, i) for every i < count, in any order, on any threads, and returns when all
    // are done.
    void (*run)(void *user, uint32_t count, void (*task)(void *context, uint32_t index),
                void *context);
    void *run_user;
    uint32_t threads; // that `run` has
    // A thread that waits for another part of the step calls this every few microseconds;
    // sched_yield(), say. Without it the thread spins, which is slow where threads outnumber
    // processors. It is given run_user.
    void (*yield)(void *user);
    const foliot_callback *callbacks; // for forces of the kind FOLIOT_FORCE_CALLBACK
    uint32_t callback_count;          // at most FOLIOT_CALLBACKS_MAX
    // Called after every stage of the last substep: for divergence tools and fault injection.
    void (*after_stage)(void *user, foliot_world *world, foliot_stage stage);
    void *stage_user;
} foliot_host;

// -- creation

// Capacities, on which the size of the block depends. They may be raised before the world is made.
typedef struct foliot_world_config {
    uint32_t bodies_max; // slots
    uint32_t forces_max;
    uint32_t constraints_max;
    uint32_t contacts_max;
    uint32_t players_max;
    uint32_t spawns_max;
    uint32_t springs_max; // of the forces
    uint32_t joints_max;  // of the constraints: ball, hinge, weld, distance with an anchor off the
                          // centre
    bool gravitates;      // some force is pairwise gravity
    bool calls_back;      // some force is a callback of the host
    bool sleeps;          // bodies may fall asleep
    uint32_t commands_max;
    uint32_t joints_added_max; // of the joints: that commands may make
    uint32_t prototypes_max;
    bool senses;      // some body or prototype is a sensor
    bool fast_joints; // some joints may be solved with the contacts (foliot_joint_solver)
    foliot_integrator integrator;
} foliot_world_config;

// The capacities that this scene needs.
foliot_world_config foliot_world_config_default(const foliot_scene *scene);
// The size of the block; 0 if the config is invalid, or if the size does not fit a size_t.
size_t foliot_world_config_get_bytes(const foliot_world_config *config);
// Makes a world in the caller's block of `bytes` bytes. The scene is copied. FOLIOT_STATUS_FULL if
// the block is too small; FOLIOT_STATUS_INVALID and FOLIOT_STATUS_REFUSED as foliot_scene_check.
FOLIOT_MUST_CHECK foliot_status foliot_world_init(void *block, size_t bytes,
                                                  const foliot_world_config *config,
                                                  const foliot_scene *scene, foliot_world **world);
// The same on the heap, with the default config. The caller owns the world and frees it with
// foliot_world_destroy (NULL is allowed), and with nothing else. FOLIOT_STATUS_MEMORY besides. The
// path of *error names the field of the scene that is wrong.
FOLIOT_MUST_CHECK foliot_status foliot_world_create(const foliot_scene *scene, foliot_world **world,
                                                    foliot_error *error);
void foliot_world_destroy(foliot_world *world);
size_t foliot_world_get_bytes(const foliot_world *world); // of its block
// Makes the world at `block` equal to `from`; both blocks have the same size. A memcpy of the whole
// block does the same; this omits data that each step recomputes.
void foliot_world_copy(void *block, const foliot_world *from);

// -- time

// Advances by one tick. `inputs` are those of this tick, ordered by (player, sequence); `host` may
// be NULL. On an error the world is unchanged: FOLIOT_STATUS_INVALID for disordered inputs or a
// callback that the host does not lend; FOLIOT_STATUS_FLOATING_POINT if the rounding mode or
// flush-to-zero was changed.
FOLIOT_MUST_CHECK foliot_status foliot_world_step(foliot_world *world, const foliot_input *inputs,
                                                  uint32_t count, const foliot_host *host);
// The same with commands, which act after the inputs. FOLIOT_STATUS_INVALID besides: more commands
// than the scene's commands_max, or sequences that do not grow.
FOLIOT_MUST_CHECK foliot_status foliot_world_step_tick(foliot_world *world,
                                                       const foliot_tick_inputs *tick,
                                                       const foliot_host *host);
// Goes back by one tick, to the same bits; reversible-leapfrog only. `before` are the controls that
// players held before the inputs of the tick that is undone: one for each player whose controls it
// changed, ordered by player. A tick with joins or leaves cannot be undone; restore an earlier
// capture instead. FOLIOT_STATUS_UNSUPPORTED under other integrators, FOLIOT_STATUS_INVALID at tick
// 0 and for disordered controls; errors as foliot_world_step besides.
FOLIOT_MUST_CHECK foliot_status foliot_world_step_back(foliot_world *world,
                                                       const foliot_input *before, uint32_t count,
                                                       const foliot_host *host);
// As foliot_world_step without inputs and with another dt: for time-corrected-verlet in the lab.
FOLIOT_MUST_CHECK foliot_status foliot_world_step_dt(foliot_world *world, double dt,
                                                     const foliot_host *host);

uint64_t foliot_world_get_tick(const foliot_world *world); // steps since the scene's start
double foliot_world_get_dt(const foliot_world *world);     // of a tick, in the scene's unit
double foliot_world_get_time(const foliot_world *world);   // in the scene's unit

// -- state

// Bodies lie in slots, which are reused; foliot_body_id_get_slot is that of an id. For arrays of
// your own.
uint32_t foliot_world_get_body_count(const foliot_world *world); // slots up to the last one in use
// The id of the body in a slot; zero for a free slot, and beyond the last one.
foliot_body_id foliot_world_get_body_id(const foliot_world *world, uint32_t slot);
// A body that is gone reads as flags 0, and every other field 0.
foliot_body_state foliot_world_get_body_state(const foliot_world *world, foliot_body_id body);
// The properties of a body besides its state. FOLIOT_STATUS_NOT_FOUND: it is gone.
typedef struct foliot_body {
    foliot_shape shape;
    double mass;             // static bodies: 0
    uint32_t category, mask; // which bodies it collides with (scene.h)
    int32_t group;
    uint32_t prototype; // its index in the scene; FOLIOT_NO_BODY: the scene's own, or of a JOIN
    uint32_t tag;
} foliot_body;
FOLIOT_MUST_CHECK foliot_status foliot_world_get_body(const foliot_world *world, foliot_body_id id,
                                                      foliot_body *body);
// The body that the player drives; zero if there is none.
foliot_body_id foliot_world_get_player_body(const foliot_world *world, uint32_t player);
uint32_t foliot_world_get_players_max(const foliot_world *world);
// The controls that the player holds: axes and buttons as a CONTROL input of sequence 0; zeros if
// not joined.
foliot_input foliot_world_get_player_controls(const foliot_world *world, uint32_t player);
// The constraints of the scene, by their index in it, and then the joints that commands made.
uint32_t foliot_world_get_joint_count(const foliot_world *world);
// Zero beyond the last one. A broken joint keeps its id until a command's joint takes its place.
foliot_joint_id foliot_world_get_joint_id(const foliot_world *world, uint32_t index);
typedef struct foliot_joint {
    // As it is now: a command may have changed it. Its `a` and `b` are slots.
    foliot_constraint_definition definition;
    foliot_body_id a, b; // b zero: the world itself; zero too: the body is gone
    bool broken;
    // In the last step, in N; for a joint the mean over the step; for a broken one the force or
    // torque that broke it. Not part of the state: 0 before the first step, and not restored with a
    // world.
    double force;
} foliot_joint;
// FOLIOT_STATUS_NOT_FOUND: there is no such joint, or another one has its place.
FOLIOT_MUST_CHECK foliot_status foliot_world_get_joint(const foliot_world *world,
                                                       foliot_joint_id id, foliot_joint *joint);
void foliot_world_get_gravity(const foliot_world *world, double gravity[3]);
foliot_integrator foliot_world_get_integrator(const foliot_world *world);

// -- session variables: a small store that commands write and clients receive

typedef enum foliot_var_type {
    FOLIOT_VAR_INTEGER = 1,
    FOLIOT_VAR_NUMBER = 2,
    FOLIOT_VAR_TEXT = 3,
} foliot_var_type;
typedef struct foliot_var {
    char key[FOLIOT_VAR_KEY_BYTES];
    foliot_var_type type;
    uint32_t changed; // low half of the tick that the last change began
    int64_t integer;  // of its type; else 0
    double number;
    char text[FOLIOT_VAR_TEXT_BYTES]; // "" if it has another type
} foliot_var;
// They are ordered by key, bytewise. False beyond the last one; then *var is unchanged.
bool foliot_world_get_var_at(const foliot_world *world, uint32_t index, foliot_var *var);
// False if no variable has that key; then *var is unchanged.
bool foliot_world_get_var(const foliot_world *world, const char *key, foliot_var *var);
// The reason of the `end` command; lent. NULL while the session continues. `next` may be "".
const char *foliot_world_get_end(const foliot_world *world, const char **next);
// Both belong to the world: counters stay current, events are valid until the next step.
const foliot_world_counters *foliot_world_get_counters(const foliot_world *world);
const foliot_event *foliot_world_get_events(const foliot_world *world, uint32_t *count);

// The bits of one field of the state: f64 as its bit pattern, u32 in the low half; 0 where there is
// none. For tools. The new value is not checked. FOLIOT_STATUS_NOT_FOUND: the body is gone;
// FOLIOT_STATUS_INVALID: no such field.
uint64_t foliot_world_get_field(const foliot_world *world, foliot_body_id body, foliot_field field);
FOLIOT_MUST_CHECK foliot_status foliot_world_set_field(foliot_world *world, foliot_body_id body,
                                                       foliot_field field, uint64_t bits);

// Sums over all bodies, in the order of their slots.
typedef struct foliot_invariants {
    double kinetic, potential; // energy; potential of the forces that have one
    double momentum[3];
    double angular_momentum[3]; // about the origin, spin included
    bool potential_complete;    // every force that depends on position has a potential
} foliot_invariants;
// `host` lends the potentials of callbacks; may be NULL.
foliot_invariants foliot_world_get_invariants(const foliot_world *world, const foliot_host *host);

// -- state as bytes

// The digest of the state at this tick. docs/reference/state.md gives the bytes that it hashes.
foliot_digest foliot_world_get_digest(const foliot_world *world);
// Writes the state as canonical little-endian bytes, the same on every machine. `bytes` NULL asks
// for the length alone. FOLIOT_STATUS_FULL if `capacity` is too small.
FOLIOT_MUST_CHECK foliot_status foliot_world_capture(const foliot_world *world, uint8_t *bytes,
                                                     size_t capacity, size_t *length);
// Restores a captured state into a world made from the same scene. Hostile bytes give
// FOLIOT_STATUS_TRUNCATED or FOLIOT_STATUS_CORRUPT; then the world is unchanged.
FOLIOT_MUST_CHECK foliot_status foliot_world_restore(foliot_world *world, const uint8_t *bytes,
                                                     size_t length);

#ifdef __cplusplus
}
#endif

#endif
