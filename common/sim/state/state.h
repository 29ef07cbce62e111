// SPDX-License-Identifier: MIT
// state.h: the layout of a world's block. For files of common/sim only.
//
// The block is a header (struct foliot_world) and tables at offsets from its start: structure of
// arrays, each table aligned to 64 bytes, body tables padded to a multiple of FOLIOT__LANES slots
// whose inverse mass is 0 and whose values are 0, so that loops may run over whole lanes. No
// pointers.
//
// State determines the future steps and is digested. Cache is rebuilt from state and has no
// influence on results.
#ifndef FOLIOT_SIM_STATE_STATE_H
#define FOLIOT_SIM_STATE_STATE_H

#include "sim/math/vec3.h"

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "foliot/query.h"
#include "foliot/world.h"

#define FOLIOT__LANES 8 // doubles in the widest lane we use (AVX-512); a multiple of every other
#define FOLIOT__BLOCK_MAGIC 0x31544f494c4f46u

// A vector field over bodies, structure of arrays.
typedef struct foliot__v3 {
    double *x, *y, *z;
} foliot__v3;

typedef double foliot__f64;
typedef float foliot__f32;
typedef int64_t foliot__i64;
typedef uint32_t foliot__u32;

// State that changes only at spawns, despawns and breaks: digested through `definition_digest`.
#define FOLIOT__BODY_DEFINITION(X)                                                                 \
    X(f64, mass)                                                                                   \
    X(f64, inertia_x)                                                                              \
    X(f64, inertia_y)                                                                              \
    X(f64, inertia_z)                                                                              \
    X(f64, constant_x) /* the body's own constant force */                                         \
    X(f64, constant_y)                                                                             \
    X(f64, constant_z)                                                                             \
    X(f64, friction)                                                                               \
    X(f64, restitution)                                                                            \
    X(f64, radius)                                                                                 \
    X(f64, half_x) /* box half extents; plane: normal */                                           \
    X(f64, half_y)                                                                                 \
    X(f64, half_z)                                                                                 \
    X(f64, plane_offset)                                                                           \
    X(u32, shape_kind)                                                                             \
    X(u32, generation)                                                                             \
    X(f64, gravity_scale)                                                                          \
    X(f64, linear_damping)                                                                         \
    X(f64, angular_damping)                                                                        \
    X(u32, category)                                                                               \
    X(u32, mask)                                                                                   \
    X(u32, group)                                                                                  \
    X(u32, prototype) /* index + 1; 0: the scene's body, or a player's */

// Rebuilt from state, or meaningless between steps.
#define FOLIOT__BODY_CACHE(X)                                                                      \
    X(f64, before_position_x) /* at the tick's start: for faults */                                \
    X(f64, before_position_y)                                                                      \
    X(f64, before_position_z)                                                                      \
    X(f64, before_velocity_x)                                                                      \
    X(f64, before_velocity_y)                                                                      \
    X(f64, before_velocity_z)                                                                      \
    X(f64, inverse_mass) /* 0: static, frozen, dead, padding */                                    \
    X(f64, inverse_inertia_x)                                                                      \
    X(f64, inverse_inertia_y)                                                                      \
    X(f64, inverse_inertia_z)                                                                      \
    X(f64, acceleration_x) /* of the position-dependent forces, see foliot__acceleration_now */    \
    X(f64, acceleration_y)                                                                         \
    X(f64, acceleration_z)                                                                         \
    X(f64, applied_x) /* force that is constant over the tick: the body's own and its player's */  \
    X(f64, applied_y)                                                                              \
    X(f64, applied_z)                                                                              \
    X(f64, torque_x) /* constant over the tick, world axes */                                      \
    X(f64, torque_y)                                                                               \
    X(f64, torque_z)

// State of a player: its body and the controls that it holds.
typedef struct foliot__player {
    uint32_t body; // slot, FOLIOT_NO_BODY if not joined
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons;
    uint16_t joined;
} foliot__player;

// The impulses between two bodies in the last substep, from which the next one warm-starts: one
// line per word, in digest order. Points ascend by feature (which features of the two shapes meet
// there).
#define FOLIOT__CONTACT_ROW(X)                                                                     \
    X(u32, a) /* slots, a < b */                                                                   \
    X(u32, b)                                                                                      \
    X(u32, feature_0) /* FOLIOT__NO_FEATURE: no such point */                                      \
    X(u32, feature_1)                                                                              \
    X(u32, feature_2)                                                                              \
    X(u32, feature_3)                                                                              \
    X(f32, normal_impulse_0) /* impulse along the normal, of each point */                         \
    X(f32, normal_impulse_1)                                                                       \
    X(f32, normal_impulse_2)                                                                       \
    X(f32, normal_impulse_3)                                                                       \
    X(f32, friction_impulse_x) /* friction's, on b from a, world axes */                           \
    X(f32, friction_impulse_y)                                                                     \
    X(f32, friction_impulse_z)                                                                     \
    X(f32, twist_impulse) /* and about the normal */
#define FOLIOT__NO_FEATURE UINT32_MAX
#define FOLIOT__COLD_FEATURE                                                                       \
    (FOLIOT__NO_FEATURE - 4) // and the three that follow: a push, but no guess of the next one
typedef struct foliot__contact_row {
#define MEMBER(type, name) foliot__##type name;
    FOLIOT__CONTACT_ROW(MEMBER)
#undef MEMBER
} foliot__contact_row;
#define FOLIOT__CONTACT_WORDS 14
#define FOLIOT__IMPULSE_MAX 0x1p100f // beyond it a row cannot have come from a step
_Static_assert(sizeof(foliot__contact_row) == 4 * FOLIOT__CONTACT_WORDS, "all words have 4 bytes");

// The impulses of a fast joint (joint/joint_block.h) in the last substep, on b, from which the next
// tick starts: one line per word, in digest order.
#define FOLIOT__JOINT_IMPULSE(X)                                                                   \
    X(f32, force_x) /* world axes */                                                               \
    X(f32, force_y)                                                                                \
    X(f32, force_z)                                                                                \
    X(f32, torque_x) /* of what keeps its axes together */                                         \
    X(f32, torque_y)                                                                               \
    X(f32, torque_z)                                                                               \
    X(f32, bound) /* at the limit that it is at, or along the line of a distance */                \
    X(f32, motor)
typedef struct foliot__joint_warm {
#define MEMBER(type, name) foliot__##type name;
    FOLIOT__JOINT_IMPULSE(MEMBER)
#undef MEMBER
} foliot__joint_warm;
#define FOLIOT__JOINT_IMPULSES 8
_Static_assert(sizeof(foliot__joint_warm) == 4 * FOLIOT__JOINT_IMPULSES, "all words have 4 bytes");

// Two bodies in contact when the step began, the one with the lower slot first.
typedef struct foliot__contact_before {
    foliot_body_id a, b;
} foliot__contact_before;

// Two slots that pressed within the step alone, neither before nor at its end.
typedef struct foliot__brief_contact {
    uint32_t a, b;   // a < b
    uint32_t points; // that pressed first
    uint32_t unused;
    double point[3], normal[3];
    double impulse; // on b along the normal, over the step
} foliot__brief_contact;

// A sensor and a body that overlap at the end of a step.
typedef struct foliot__sensed_pair {
    uint32_t sensor, body; // slots
    uint32_t sensor_generation, body_generation;
} foliot__sensed_pair;

// The last known pose of a body in the step, and how far it may move from there before it can meet
// a sensor.
typedef struct foliot__sensed_path {
    double x[3], q[4];
    double share; // of the substep, at which it had this pose
    double slack;
} foliot__sensed_path;

// State that commands change, in the session's section of the digest.
typedef struct foliot__session_section {
    double gravity[3];
    uint32_t var_count;   // this and the three that follow are digested as one array
    uint32_t ended;       // 1: an `end` command came
    uint32_t joint_count; // rows of `constraint` beyond the scene's that were ever in use
    uint32_t reserved;    // 0
    char end_reason[FOLIOT_VAR_TEXT_BYTES];
    char end_next[FOLIOT_VAR_TEXT_BYTES];
} foliot__session_section;

// The definition of a joint that a command made, as bytes
#define FOLIOT__JOINT_RECORD_BYTES 200
#define FOLIOT__TARGET_DOUBLES 7 // position, orientation

// All tables of the block: X(C type, name, entries). Entry counts are fields of foliot__capacity.
#define FOLIOT__OTHER_TABLES(X)                                                                    \
    X(double, scratch, scratch) /* `scratch_vectors` vector fields for the integrator */           \
    X(foliot_force_definition, force, forces)                                                      \
    X(foliot_constraint_definition, constraint, constraints)                                       \
    X(uint8_t, constraint_state, constraints) /* state, in the definition digest: see below */     \
    X(double, constraint_force, constraints)  /* cache: of the last step, for break_force */       \
    X(double, joint_start,                                                                         \
      joint_starts) /* fixed by the scene: b's turn against a, four a constraint */                \
    X(foliot__joint_warm, joint_impulse, joint_impulses) /* state, of fast joints */               \
    X(foliot__player, players, players)                                                            \
    X(foliot__contact_row, contact,                                                                \
      contacts)                       /* state: what pushed in the last step, ascending (a, b) */  \
    X(double, spawn_position, spawns) /* x, y, z by turns */                                       \
    X(uint32_t, tag, slots)           /* state of the session: of each body */                     \
    X(uint32_t, driven, players)      /* ... of each player: slot, FOLIOT_NO_BODY */               \
    X(char, var_key, var_key_bytes)   /* ... ascending by key */                                   \
    X(char, var_text, var_text_bytes)                                                              \
    X(uint32_t, var_type, vars)                                                                    \
    X(uint32_t, var_changed, vars)                                                                 \
    X(uint64_t, var_value, vars)                /* an integer, or the bits of a number */          \
    X(uint8_t, joint_bytes, joint_record_bytes) /* ... of added joints */                          \
    X(double, target, targets)                  /* cache: of a kinematic body, in one tick */      \
    X(foliot_body_definition, prototypes, prototypes) /* fixed by the scene; names NULL */         \
    X(foliot__sensed_pair, sensed, sensed)            /* cache: overlaps with sensors */           \
    X(foliot__sensed_pair, sensed_before, sensed)                                                  \
    X(foliot__sensed_pair, sensed_passed, sensed)      /* overlapped within the step alone */      \
    X(foliot__sensed_path, sensed_paths, sensed_paths) /* cache: of a step */                      \
    X(foliot_event, events, events)                                                                \
    X(foliot_hit_event, impacts, impacts)                                                          \
    X(foliot__contact_before, contacts_before, contacts)                                           \
    X(foliot__brief_contact, brief_contacts, briefs)       /* ascending (a, b) */                  \
    X(uint32_t, listed_begin, listed_begins)               /* cache: in listed_rows, by slot */    \
    X(uint32_t, listed_rows, listed_rows)                  /* rows of `contact`, by slot */        \
    X(uint8_t, force_workspace, force_workspace_bytes)     /* owned by force.c */                  \
    X(uint8_t, contact_workspace, contact_workspace_bytes) /* owned by collide/ */                 \
    X(uint8_t, constraint_workspace, constraint_workspace_bytes) /* owned by constraint.c */       \
    X(uint8_t, joint_workspace, joint_workspace_bytes)           /* owned by joint/ */             \
    X(uint8_t, sleep_workspace, sleep_workspace_bytes)           /* owned by sleep.c */

typedef struct foliot__capacity {
    uint32_t slots; // padded to FOLIOT__LANES
    uint32_t forces, constraints, joints, joint_starts, joint_impulses, contacts, players, spawns,
        events, impacts, briefs;
    uint32_t vars, targets; // 0 where no commands come
    uint32_t prototypes;
    uint32_t sensed_paths;               // slots, where there are sensors
    uint32_t sensed;                     // overlaps with sensors; 0 where there are no sensors
    uint32_t listed_begins, listed_rows; // 0 where no commands come
    uint32_t joints_added, joint_record_bytes, var_key_bytes, var_text_bytes;
    uint64_t scratch; // doubles
    uint64_t force_workspace_bytes, contact_workspace_bytes, constraint_workspace_bytes;
    uint64_t joint_workspace_bytes, sleep_workspace_bytes;
} foliot__capacity;

enum {
#define ENUM_STATE(type, name, text) FOLIOT__TABLE_##name,
#define ENUM_BODY(type, name) FOLIOT__TABLE_##name,
#define ENUM_OTHER(type, name, entries) FOLIOT__TABLE_##name,
    FOLIOT_BODY_STATE(ENUM_STATE) FOLIOT__BODY_DEFINITION(ENUM_BODY) FOLIOT__BODY_CACHE(ENUM_BODY)
        FOLIOT__OTHER_TABLES(ENUM_OTHER) FOLIOT__TABLE_COUNT
#undef ENUM_STATE
#undef ENUM_BODY
#undef ENUM_OTHER
};

// Bodies that are alive and kinematic, with damping, with a gravity scale other than 1, with a
// filter other than the default one. Stages that serve none of them are skipped.
typedef struct foliot__body_counts {
    uint32_t kinematic, damped, scaled, filtered;
} foliot__body_counts;

// Values that the scene fixes; no step or command changes them.
typedef struct foliot__world_scene {
    double dt;
    double speed_max; // infinite: no clamp
    uint32_t substeps;
    uint32_t body_count;       // the first slots; never reused
    uint32_t constraint_count; // the first rows; never reused
    uint32_t prototype_count;
    uint32_t commands_max; // 0: the world takes no commands
    uint32_t joints;       // of the constraints: joint.h's
    uint32_t
        fast_joints;   // foliot__fast_joints (scene.h): which of them are solved with the contacts
    uint32_t rotates;  // some body has an inertia
    uint32_t collides; // some pair of shapes can collide
    uint32_t sleeps;   // bodies at rest are left out
    uint32_t state_fields; // bit f: field f is digested in this world (see foliot__state_fields)
} foliot__world_scene;

// The integrator and its settings.
typedef struct foliot__world_scheme {
    double tolerance;
    uint32_t integrator; // foliot_integrator
    uint32_t start, form;
    uint32_t iterations_max, constraint_iterations;
    uint32_t scratch_vectors;
    uint32_t rotation_order; // of the splitting that turns the bodies; 0: none
    uint32_t sums_time;      // the integrator takes steps of any dt: time is lab.time
} foliot__world_scheme;

// The scene's foliot_players_definition.
typedef struct foliot__world_player {
    uint32_t limit, control, spawn_count;
    uint32_t bodiless; // a JOIN spawns no body
    double force, torque, reach, pull, push, jump;
    foliot_body_definition spawn; // its name is NULL
} foliot__world_player;

// Digests of the parts of the state that few ticks change. A dirty one is computed again before it
// is used.
typedef struct foliot__world_digests {
    foliot_digest definition; // of body definitions and broken constraints
    foliot_digest session;    // of foliot__session_section, tags, variables and bindings
    uint32_t definition_dirty, session_dirty;
} foliot__world_digests;

// Rows of the tables `events`, `impacts`, `contacts_before` and `brief_contacts`.
typedef struct foliot__world_reported {
    uint32_t event_count, impact_count, contacts_before_count, brief_count;
} foliot__world_reported;

// Rows of the tables `sensed`, `sensed_before` and `sensed_passed` (sensor.c).
typedef struct foliot__world_sensors {
    uint32_t count, before_count, passed_count;
    uint32_t valid; // 1: the table `sensed` is that of the present state
} foliot__world_sensors;

// sleep.c's.
typedef struct foliot__world_sleep {
    uint32_t contacts_aside; // rows that are kept away from the solver in this tick
    uint32_t changed_places; // where commands and players changed something
} foliot__world_sleep;

// For the stage `input`. All but `commands` are 0 after it.
typedef struct foliot__world_input {
    uint32_t contact_searches, contacts_listed; // contact_cache.c
    uint32_t links_changed, forces_changed;     // for foliot__world_prepare_changed
    uint32_t commands;                          // commands that the last step was given
} foliot__world_input;

struct foliot_world {
    uint64_t magic;
    uint64_t block_bytes;
    foliot__capacity capacity;
    uint64_t offset[FOLIOT__TABLE_COUNT];

    // Fixed by the scene.
    uint32_t bodies_max; // slots that may be in use
    foliot__world_scene scene;
    foliot__world_scheme scheme;
    foliot__world_player player;

    // State (state_io.c lists these fields, in this order), and values derived from it directly.
    uint64_t tick;
    foliot__rng rng;
    struct {
        double time; // time-corrected-verlet: sum of the dts
        double dt;   // and the last one; 0 before the first step
    } lab;
    uint32_t body_count;    // slots up to the last one ever in use
    uint32_t contact_count; // rows of the table `contact`
    foliot__world_digests digests;
    foliot__session_section session;
    double gravity[3]; // that of `session`
    uint32_t force_count, constraint_count;

    // Cache.
    foliot__body_counts counts;
    uint32_t joints_ready; // joint_workspace is sorted: moving bodies and broken joints have not
                           // changed since
    uint32_t acceleration_valid; // table `acceleration` is that of the present positions ...
    double acceleration_time;    // ... at this time
    foliot__world_reported reported;
    foliot__world_sensors sensors;
    foliot__world_sleep sleep;
    foliot__world_input input;
    uint32_t past; // the world is a view of a history: past.h
    foliot_world_counters counters;
};

// foliot__mass(world): the table, as a pointer into the block. One function a table.
#define ACCESS(type, name)                                                                         \
    static inline type *foliot__##name(const foliot_world *world)                                  \
    {                                                                                              \
        return (type *)(void *)((char *)(uintptr_t)world + world->offset[FOLIOT__TABLE_##name]);   \
    }
#define ACCESS_STATE(type, name, text) ACCESS(foliot__##type, name)
#define ACCESS_BODY(type, name) ACCESS(foliot__##type, name)
#define ACCESS_OTHER(type, name, entries) ACCESS(type, name)
FOLIOT_BODY_STATE(ACCESS_STATE)
FOLIOT__BODY_DEFINITION(ACCESS_BODY)
FOLIOT__BODY_CACHE(ACCESS_BODY)
FOLIOT__OTHER_TABLES(ACCESS_OTHER)
#undef ACCESS
#undef ACCESS_STATE
#undef ACCESS_BODY
#undef ACCESS_OTHER

// A constraint's byte is FOLIOT__CONSTRAINT_BROKEN, or twice the number of half turns of a hinge
// whose limits lie beyond a half turn, in two's complement. Its angle is the one nearest to that
// number of half turns.
#define FOLIOT__CONSTRAINT_BROKEN 1u

static inline bool foliot__constraint_is_broken(const foliot_world *world, uint32_t index)
{
    return foliot__constraint_state(world)[index] & FOLIOT__CONSTRAINT_BROKEN;
}

// The vector fields by name.
#define VECTOR(name)                                                                               \
    static inline foliot__v3 foliot__##name(const foliot_world *world)                             \
    {                                                                                              \
        return (foliot__v3){foliot__##name##_x(world), foliot__##name##_y(world),                  \
                            foliot__##name##_z(world)};                                            \
    }
VECTOR(position)
VECTOR(velocity)
VECTOR(angular_velocity)
VECTOR(previous)
VECTOR(inertia)
VECTOR(inverse_inertia)
VECTOR(constant)
VECTOR(acceleration)
VECTOR(applied)
VECTOR(torque)
VECTOR(before_position)
VECTOR(before_velocity)
#undef VECTOR

static inline vec3 foliot__v3_get(foliot__v3 field, uint32_t slot)
{
    return (vec3){field.x[slot], field.y[slot], field.z[slot]};
}

static inline void foliot__v3_put(foliot__v3 field, uint32_t slot, vec3 v)
{
    field.x[slot] = v.x;
    field.y[slot] = v.y;
    field.z[slot] = v.z;
}

static inline void foliot__v3_add(foliot__v3 field, uint32_t slot, vec3 v)
{
    foliot__v3_put(field, slot, vec3_add(foliot__v3_get(field, slot), v));
}

static inline quat foliot__quat_get(const foliot_world *world, uint32_t slot)
{
    return (quat){foliot__orientation_w(world)[slot], foliot__orientation_x(world)[slot],
                  foliot__orientation_y(world)[slot], foliot__orientation_z(world)[slot]};
}

static inline void foliot__quat_put(foliot_world *world, uint32_t slot, quat q)
{
    foliot__orientation_w(world)[slot] = q.w;
    foliot__orientation_x(world)[slot] = q.x;
    foliot__orientation_y(world)[slot] = q.y;
    foliot__orientation_z(world)[slot] = q.z;
}

static inline void foliot__put_vector(foliot__v3 field, uint32_t slot, const double v[3])
{
    field.x[slot] = v[0];
    field.y[slot] = v[1];
    field.z[slot] = v[2];
}

static inline void foliot__orientation_of(const foliot_world *world, uint32_t slot, double q[4])
{
    q[0] = foliot__orientation_w(world)[slot];
    q[1] = foliot__orientation_x(world)[slot];
    q[2] = foliot__orientation_y(world)[slot];
    q[3] = foliot__orientation_z(world)[slot];
}

// Rows of tables of bytes: those of variables and of made joints.
static inline char *foliot__var_key_at(const foliot_world *world, uint32_t index)
{
    return foliot__var_key(world) + (size_t)index * FOLIOT_VAR_KEY_BYTES;
}

static inline char *foliot__var_text_at(const foliot_world *world, uint32_t index)
{
    return foliot__var_text(world) + (size_t)index * FOLIOT_VAR_TEXT_BYTES;
}

static inline uint8_t *foliot__joint_bytes_at(const foliot_world *world, uint32_t row)
{
    return foliot__joint_bytes(world) + (size_t)row * FOLIOT__JOINT_RECORD_BYTES;
}

// Scratch vector field number k < world->scheme.scratch_vectors, for the integrator's own use in a
// step.
static inline foliot__v3 foliot__scratch_vector(const foliot_world *world, uint32_t k)
{
    size_t slots = world->capacity.slots;
    double *x = foliot__scratch(world) + 3 * slots * k;
    return (foliot__v3){x, x + slots, x + 2 * slots};
}

// Slots in use, rounded up to whole lanes.
static inline uint32_t foliot__lanes(const foliot_world *world)
{
    return (world->body_count + FOLIOT__LANES - 1) / FOLIOT__LANES * FOLIOT__LANES;
}

// One integrator step (a substep of a tick), as every stage sees it.
typedef struct foliot__step {
    foliot_world *world;
    const foliot_host *host;         // never NULL: an empty one where the caller gave none
    struct foliot__workers *workers; // that share its loops (parallel_for.h); NULL: none
    double dt;                       // of this substep
    double time;                     // at its start
    double time_end;                 // at its end: the next one's `time` to the bit
    double left;                     // of the tick, after it
    uint32_t index;                  // among the tick's
    bool last;
    uint32_t count; // slots in use; foliot__lanes(world) of them are valid rows
} foliot__step;

// A velocity was changed by code other than the integrator: a scheme's memory of it is void.
static inline void foliot__velocity_changed(foliot_world *world, uint32_t slot)
{
    foliot__flags(world)[slot] &= ~(uint32_t)FOLIOT_BODY_STARTED;
}

// Mass properties that follow from flags and definition: inverse mass, inverse inertia. After any
// change.
void foliot__body_refresh(foliot_world *world, uint32_t slot);

// Time at the start of substep `s` of the present tick.
double foliot__substep_time(const foliot_world *world, uint32_t s);

// Appends to the step's events. Without room the event is dropped and counted. An event about no
// player has FOLIOT_NO_PLAYER.
void foliot__event(foliot_world *world, const foliot_event *event);

// The id of the body that is in a slot in use, or was there last.
static inline foliot_body_id foliot__body_id(const foliot_world *world, uint32_t slot)
{
    uint64_t count = (uint64_t)foliot__generation(world)[slot] +
                     ((foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE) != 0);
    return (foliot_body_id){count << 32 | slot};
}

// The slot of a body; FOLIOT_NO_BODY if it is gone.
static inline uint32_t foliot__body_slot(const foliot_world *world, foliot_body_id id)
{
    uint32_t slot = foliot_body_id_get_slot(id);
    bool here = slot < world->body_count && (foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE) &&
                id.value >> 32 == (uint64_t)foliot__generation(world)[slot] + 1;
    return here ? slot : FOLIOT_NO_BODY;
}

// The slot that the player's controls drive, FOLIOT_NO_BODY if there is none: the body that its
// JOIN spawned, or the one that a command chose.
static inline uint32_t foliot__player_body(const foliot_world *world, uint32_t p)
{
    return foliot__driven(world)[p];
}

// Strength of the pull on bodies near the player, from the buttons held. Negative: a push. 0: none.
static inline double foliot__player_grip(const foliot_world *world, uint32_t p)
{
    const foliot__player *player = &foliot__players(world)[p];
    if (world->player.reach == 0 || foliot__player_body(world, p) == FOLIOT_NO_BODY)
        return 0;
    return (player->buttons & FOLIOT_BUTTON_PULL ? world->player.pull : 0) -
           (player->buttons & FOLIOT_BUTTON_PUSH ? world->player.push : 0);
}

// -- the integers of reversible-leapfrog: position and velocity in units of 2^-40
//
// The integrator is integrator/lattice.c; bodies are put onto the lattice where they are written.
// Rounding is odd, R(-x) = -R(x), so that running back is also running with -dt.

#define FOLIOT__LATTICE_UNIT 0x1p-40
#define FOLIOT__LATTICE_PER_UNIT 0x1p40
// Coordinates and velocities beyond it are a fault. Two of them add up without overflow.
#define FOLIOT__LATTICE_MAX 0x1p22
#define FOLIOT__LATTICE_END 0x1p62 // the same in lattice units

// To nearest, halves away from zero. |x| <= 2^62.
static inline int64_t foliot__lattice_rounded(double x)
{
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole; // exact
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

// *value += R(increment), or -= for `back`. False, and *value unchanged, where the result is off
// the lattice or the increment is NaN.
static inline bool foliot__lattice_add(int64_t *value, double increment, bool back)
{
    if (!(increment > -FOLIOT__LATTICE_END && increment < FOLIOT__LATTICE_END))
        return false;
    int64_t by = foliot__lattice_rounded(increment);
    int64_t sum = *value + (back ? -by : by);
    if (sum <= -(INT64_C(1) << 62) || sum >= INT64_C(1) << 62)
        return false;
    *value = sum;
    return true;
}

// The double nearest to a lattice value.
static inline double foliot__lattice_nearest(int64_t value)
{
    return (double)value * FOLIOT__LATTICE_UNIT;
}

// Puts a body onto the lattice: sets the integers nearest to its position and velocity, and makes
// those two equal to the integers. Does nothing in worlds of other integrators.
void foliot__lattice_enter(foliot_world *world, uint32_t slot);

// -- valid ranges of the numbers of bodies and joints, whatever their source. No range contains
// NaN.

static inline bool foliot__within(double x, double low, double high)
{
    return x >= low && x <= high;
}

// Positions, velocities, and what else is bounded as they are.
static inline bool foliot__is_coordinate(double x)
{
    return foliot__within(x, -FOLIOT_POSITION_MAX, FOLIOT_POSITION_MAX);
}

static inline bool foliot__are_coordinates(const double *values, unsigned count)
{
    for (unsigned k = 0; k < count; k++)
        if (!foliot__is_coordinate(values[k]))
            return false;
    return true;
}

// -- which bodies let each other through

typedef struct foliot__filter {
    uint32_t category, mask, group;
} foliot__filter;

static inline foliot__filter foliot__filter_of(const foliot_world *world, uint32_t slot)
{
    return (foliot__filter){foliot__category(world)[slot], foliot__mask(world)[slot],
                            foliot__group(world)[slot]};
}

// Whether two filters let their bodies collide (scene.h).
static inline bool foliot__filters_match(foliot__filter a, foliot__filter b)
{
    if (a.group != 0 && a.group == b.group)
        return (int32_t)a.group > 0;
    return (a.category & b.mask) && (b.category & a.mask);
}

// The same of two bodies, from the tick's commands on.
static inline bool foliot__may_touch(const foliot_world *world, uint32_t i, uint32_t j)
{
    return world->counts.filtered == 0 ||
           foliot__filters_match(foliot__filter_of(world, i), foliot__filter_of(world, j));
}

// A kinematic body that is not frozen.
static inline bool foliot__is_kinematic(const foliot_world *world, uint32_t slot)
{
    return (foliot__flags(world)[slot] & (FOLIOT_BODY_KINEMATIC | FOLIOT_BODY_FROZEN)) ==
           FOLIOT_BODY_KINEMATIC;
}

// ... that is on its way.
static inline bool foliot__is_carrier(const foliot_world *world, uint32_t slot)
{
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    return foliot__is_kinematic(world, slot) &&
           (v.x[slot] != 0 || v.y[slot] != 0 || v.z[slot] != 0 || w.x[slot] != 0 ||
            w.y[slot] != 0 || w.z[slot] != 0);
}

// -- the definition of a joint that a command made, as the bytes that the state holds
//
// The rows of the tables `constraint` and `joint_start` beyond the scene's are decoded from them. A
// row whose joint is broken may be used again; its generation then grows.

typedef struct foliot__joint_record {
    uint32_t generation; // how many joints had this row before
    foliot_constraint_definition definition;
    double start[4]; // b's orientation against a's as the joint was made
} foliot__joint_record;

// Whether all numbers but axis and stiffness are in their ranges: of a command and of captured
// bytes.
bool foliot__joint_numbers_valid(const foliot_constraint_definition *definition);

// `row` counts from the first one beyond the scene's.
void foliot__joint_record_write(foliot_world *world, uint32_t row,
                                const foliot__joint_record *record);
// From FOLIOT__JOINT_RECORD_BYTES bytes.
foliot__joint_record foliot__joint_record_read(const uint8_t *bytes);
uint32_t foliot__joint_record_generation(const foliot_world *world, uint32_t row);
// Puts it into the tables `constraint` and `joint_start`.
void foliot__joint_record_load(foliot_world *world, uint32_t row);

#endif
