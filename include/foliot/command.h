// SPDX-License-Identifier: MIT
// command.h: what enters a world at the start of a tick: inputs of players and commands of the
// game.
//
// Commands are inputs: they are ordered, recorded, replayed, relayed and digested like the controls
// of players, so that a recording replays without the game that was played. They come from the
// host, from an administrator or from a session's rules (rules.h); never from a client.
//
// A world accepts commands if its scene sets `limits: {commands_max}`. Within a tick all inputs act
// first, then the commands in the order of their sequence.
//
// A command that cannot act (its body is gone, a number is out of range, a table is full) is
// refused in the same way on every machine: nothing changes, FOLIOT_EVENT_COMMAND_REFUSED gives the
// reason, and counters.commands_refused counts it.
//
// Numbers: vectors are x, y, z in world axes, orientations w, x, y, z from body to world axes;
// units are those of the scene. Places and lengths are binary64, all else is binary32. A field is
// used only if its bit is set in `fields`.
#ifndef FOLIOT_COMMAND_H
#define FOLIOT_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// -- inputs
//
// An input is one player's joining, leaving or controls in one tick. Nothing but inputs and
// commands enters a world from outside. The inputs of one tick are ordered by (player, sequence); a
// world refuses any other order with FOLIOT_STATUS_INVALID.

#define FOLIOT_PLAYERS_MAX 1024
#define FOLIOT_NO_PLAYER UINT32_MAX // a spectator, or nobody
#define FOLIOT_AXIS_COUNT 4

// Recordings and packets contain the value: never reuse one.
typedef enum foliot_input_kind {
    FOLIOT_INPUT_CONTROL = 0, // axes and buttons, held until the player's next one
    FOLIOT_INPUT_JOIN = 1,    // the player's body is spawned
    FOLIOT_INPUT_LEAVE = 2,   // the player's body is despawned
} foliot_input_kind;

typedef struct foliot_input {
    uint32_t player;   // 0 .. players.limit - 1
    uint32_t sequence; // the player's own count, growing from input to input
    uint8_t kind;      // foliot_input_kind
    // Thrust along x, y and z, then turning; -127..127, and -128 is read as -127. The scene's
    // `players.control` says in which frame and how strongly (foliot_control_kind, scene.h).
    int8_t axes[FOLIOT_AXIS_COUNT];
    uint16_t buttons; // bits of enum foliot_button (scene.h)
} foliot_input;

// -- commands

#define FOLIOT_COMMANDS_MAX 65536           // in a tick
#define FOLIOT_COMMAND_TICK_BYTES_MAX 65536 // that a session's commands of one tick may take
#define FOLIOT_VAR_KEY_BYTES 64             // of a session variable's key, with its closing zero
#define FOLIOT_VAR_TEXT_BYTES 256           // of a text value, with its closing zero
#define FOLIOT_VARS_MAX 256                 // session variables of a world

// Names a body for good: slot and generation together. Zero names none.
typedef struct foliot_body_id {
    uint64_t value; // (generation + 1) << 32 | slot
} foliot_body_id;
// The slot, below the body count of the world; FOLIOT_NO_BODY for zero.
static inline uint32_t foliot_body_id_get_slot(foliot_body_id id)
{
    return id.value != 0 ? (uint32_t)id.value : UINT32_MAX;
}

// Names a joint: its index in the table of constraints, and how many joints used that row before.
// Zero names none.
typedef struct foliot_joint_id {
    uint64_t value; // (generation + 1) << 32 | index
} foliot_joint_id;
// The index, below the joint count of the world; UINT32_MAX for zero.
static inline uint32_t foliot_joint_id_get_index(foliot_joint_id id)
{
    return id.value != 0 ? (uint32_t)id.value : UINT32_MAX;
}

// The issuer of a command. Recordings contain the value: never reuse one.
typedef enum foliot_command_source {
    FOLIOT_COMMAND_SOURCE_HOST = 0,
    FOLIOT_COMMAND_SOURCE_ADMIN = 1,
    FOLIOT_COMMAND_SOURCE_RULES = 2,
} foliot_command_source;

// The kinds, one line each, in the order of their numbers. Recordings contain the numbers: new
// kinds go to the end. Each kind has a list of fields, from which the C structs, the bytes, the
// text form and the script's functions follow.
#define FOLIOT_COMMAND_KINDS(X)                                                                    \
    X(spawn)      /* a body from a prototype; event SPAWNED gives its id */                        \
    X(despawn)    /* its contacts and joints go with it; what rested on it wakes */                \
    X(impulse)    /* wakes the body */                                                             \
    X(set_motion) /* pose and velocity */                                                          \
    X(target)     /* a kinematic body arrives there at the end of the tick, carrying others */     \
    X(set_body)   /* properties of a body */                                                       \
    X(joint)      /* makes a joint; event JOINT_MADE gives its id */                               \
    X(set_joint)  /* properties of a joint */                                                      \
    X(break_joint)                                                                                 \
    X(control) /* which body a player's controls drive */                                          \
    X(gravity) /* of the world */                                                                  \
    X(var)     /* sets or removes a session variable */                                            \
    X(end)     /* the session ends after this tick */

// F(kind, type, name, count, need). The types: u32, i32, i64, f32, f64, real (binary64, in fewer
// bytes where binary32 is exact), body, joint, text (lent, ends with a zero). A list's order is
// that of the bits of foliot_command.fields: new fields go to its end. `need` is required, or
// optional.
// clang-format off
#define FOLIOT_COMMAND_spawn(F, K)                                                                 \
    F(K, u32, prototype, 1, required)         /* index in the scene's prototypes */                \
    F(K, real, position, 3, required)                                                              \
    F(K, f32, orientation, 4, optional)       /* default: the prototype's; normalised */           \
    F(K, f32, velocity, 3, optional)          /* default: the prototype's */                       \
    F(K, f32, angular_velocity, 3, optional)                                                       \
    F(K, f32, mass_scale, 1, optional)        /* of mass and inertia, 2^-20 .. 2^20 */             \
    F(K, u32, tag, 1, optional)               /* default: the prototype's */                       \
    F(K, u32, ticket, 1, optional)            /* comes back in the event */
#define FOLIOT_COMMAND_despawn(F, K)                                                               \
    F(K, body, body, 1, required)
#define FOLIOT_COMMAND_impulse(F, K)                                                               \
    F(K, body, body, 1, required)                                                                  \
    F(K, f32, linear, 3, optional)            /* N s, say */                                       \
    F(K, f32, angular, 3, optional)           /* N m s */                                          \
    F(K, real, point, 3, optional)            /* where `linear` acts; default: centre of mass */
#define FOLIOT_COMMAND_set_motion(F, K)                                                            \
    F(K, body, body, 1, required)                                                                  \
    F(K, real, position, 3, optional)                                                              \
    F(K, f32, orientation, 4, optional)                                                            \
    F(K, f32, velocity, 3, optional)                                                               \
    F(K, f32, angular_velocity, 3, optional)                                                       \
    F(K, u32, teleport, 1, optional)          /* 1: clients do not interpolate to the new pose */
#define FOLIOT_COMMAND_target(F, K)                                                                \
    F(K, body, body, 1, required)                                                                  \
    F(K, real, position, 3, optional)                                                              \
    F(K, f32, orientation, 4, optional)
#define FOLIOT_COMMAND_set_body(F, K)                                                              \
    F(K, body, body, 1, required)                                                                  \
    F(K, f32, friction, 1, optional)                                                               \
    F(K, f32, restitution, 1, optional)                                                            \
    F(K, f32, gravity_scale, 1, optional)                                                          \
    F(K, f32, linear_damping, 1, optional)                                                         \
    F(K, f32, angular_damping, 1, optional)                                                        \
    F(K, u32, category, 1, optional)                                                               \
    F(K, u32, mask, 1, optional)                                                                   \
    F(K, i32, group, 1, optional)                                                                  \
    F(K, u32, motion, 1, optional)            /* foliot_body_motion */                             \
    F(K, u32, tag, 1, optional)
#define FOLIOT_COMMAND_joint(F, K)                                                                 \
    F(K, u32, kind, 1, required)              /* foliot_constraint_kind: all but rod */            \
    F(K, body, a, 1, required)                                                                     \
    F(K, body, b, 1, optional)                /* default: the world; then anchor_b is a point of it */\
    F(K, real, anchor_a, 3, optional)         /* in body axes, from the centre of mass */          \
    F(K, real, anchor_b, 3, optional)         /* default: where anchor_a is now */                 \
    F(K, f32, axis, 3, optional)              /* hinge: in a's axes; default z */                  \
    F(K, real, length, 1, optional)           /* distance; default: that of now */                 \
    F(K, real, length_min, 1, optional)       /* distance; default 0 */                            \
    F(K, f32, angle_min, 1, optional)                                                              \
    F(K, f32, angle_max, 1, optional)                                                              \
    F(K, f32, motor_speed, 1, optional)                                                            \
    F(K, f32, motor_torque, 1, optional)                                                           \
    F(K, f32, break_force, 1, optional)                                                            \
    F(K, f32, break_torque, 1, optional)                                                           \
    F(K, u32, collides, 1, optional)          /* 1: contacts between the two bodies */             \
    F(K, u32, ticket, 1, optional)
#define FOLIOT_COMMAND_set_joint(F, K)                                                             \
    F(K, joint, joint, 1, required)                                                                \
    F(K, real, length, 1, optional)                                                                \
    F(K, real, length_min, 1, optional)                                                            \
    F(K, f32, angle_min, 1, optional)                                                              \
    F(K, f32, angle_max, 1, optional)                                                              \
    F(K, f32, motor_speed, 1, optional)                                                            \
    F(K, f32, motor_torque, 1, optional)                                                           \
    F(K, f32, break_force, 1, optional)                                                            \
    F(K, f32, break_torque, 1, optional)
#define FOLIOT_COMMAND_break_joint(F, K)                                                           \
    F(K, joint, joint, 1, required)
#define FOLIOT_COMMAND_control(F, K)                                                               \
    F(K, u32, player, 1, required)                                                                 \
    F(K, body, body, 1, optional)             /* default: none */
#define FOLIOT_COMMAND_gravity(F, K)                                                               \
    F(K, f32, acceleration, 3, required)
#define FOLIOT_COMMAND_var(F, K)                                                                   \
    F(K, text, key, 1, required)              /* 1 .. 63 bytes of UTF-8 */                         \
    F(K, i64, integer, 1, optional)           /* the value: one of these three; none removes it */ \
    F(K, f64, number, 1, optional)            /* finite */                                         \
    F(K, text, text, 1, optional)             /* 0 .. 255 bytes of UTF-8 */
#define FOLIOT_COMMAND_end(F, K)                                                                   \
    F(K, text, reason, 1, optional)           /* 0 .. 255 bytes of UTF-8 */                        \
    F(K, text, next, 1, optional)             /* the scene that the server hosts next for all */

// clang-format on

typedef enum foliot_command_kind {
#define FOLIOT_COMMAND_ENUM(name) FOLIOT_COMMAND_##name,
    FOLIOT_COMMAND_KINDS(FOLIOT_COMMAND_ENUM)
#undef FOLIOT_COMMAND_ENUM
        FOLIOT_COMMAND_KIND_COUNT
} foliot_command_kind;

// Numbers of the bits: FOLIOT_COMMAND_BIT_spawn_velocity. FOLIOT_COMMAND_HAS(spawn, velocity) is
// the bit itself.
#define FOLIOT_COMMAND_BIT(kind, type, name, count, need) FOLIOT_COMMAND_BIT_##kind##_##name,
enum { FOLIOT_COMMAND_spawn(FOLIOT_COMMAND_BIT, spawn) };
enum { FOLIOT_COMMAND_despawn(FOLIOT_COMMAND_BIT, despawn) };
enum { FOLIOT_COMMAND_impulse(FOLIOT_COMMAND_BIT, impulse) };
enum { FOLIOT_COMMAND_set_motion(FOLIOT_COMMAND_BIT, set_motion) };
enum { FOLIOT_COMMAND_target(FOLIOT_COMMAND_BIT, target) };
enum { FOLIOT_COMMAND_set_body(FOLIOT_COMMAND_BIT, set_body) };
enum { FOLIOT_COMMAND_joint(FOLIOT_COMMAND_BIT, joint) };
enum { FOLIOT_COMMAND_set_joint(FOLIOT_COMMAND_BIT, set_joint) };
enum { FOLIOT_COMMAND_break_joint(FOLIOT_COMMAND_BIT, break_joint) };
enum { FOLIOT_COMMAND_control(FOLIOT_COMMAND_BIT, control) };
enum { FOLIOT_COMMAND_gravity(FOLIOT_COMMAND_BIT, gravity) };
enum { FOLIOT_COMMAND_var(FOLIOT_COMMAND_BIT, var) };
enum { FOLIOT_COMMAND_end(FOLIOT_COMMAND_BIT, end) };
#undef FOLIOT_COMMAND_BIT
#define FOLIOT_COMMAND_HAS(kind, name) (1u << (unsigned)FOLIOT_COMMAND_BIT_##kind##_##name)

typedef uint32_t foliot_command_u32;
typedef int32_t foliot_command_i32;
typedef int64_t foliot_command_i64;
typedef float foliot_command_f32;
typedef double foliot_command_f64;
typedef double foliot_command_real;
typedef foliot_body_id foliot_command_body;
typedef foliot_joint_id foliot_command_joint;
typedef const char *foliot_command_text;

// The fields of each kind.
#define FOLIOT_COMMAND_MEMBER_1(type, name) foliot_command_##type name;
#define FOLIOT_COMMAND_MEMBER_3(type, name) foliot_command_##type name[3];
#define FOLIOT_COMMAND_MEMBER_4(type, name) foliot_command_##type name[4];
#define FOLIOT_COMMAND_MEMBER(kind, type, name, count, need)                                       \
    FOLIOT_COMMAND_MEMBER_##count(type, name)
typedef struct foliot_spawn_command {
    FOLIOT_COMMAND_spawn(FOLIOT_COMMAND_MEMBER, spawn)
} foliot_spawn_command;
typedef struct foliot_despawn_command {
    FOLIOT_COMMAND_despawn(FOLIOT_COMMAND_MEMBER, despawn)
} foliot_despawn_command;
typedef struct foliot_impulse_command {
    FOLIOT_COMMAND_impulse(FOLIOT_COMMAND_MEMBER, impulse)
} foliot_impulse_command;
typedef struct foliot_set_motion_command {
    FOLIOT_COMMAND_set_motion(FOLIOT_COMMAND_MEMBER, set_motion)
} foliot_set_motion_command;
typedef struct foliot_target_command {
    FOLIOT_COMMAND_target(FOLIOT_COMMAND_MEMBER, target)
} foliot_target_command;
typedef struct foliot_set_body_command {
    FOLIOT_COMMAND_set_body(FOLIOT_COMMAND_MEMBER, set_body)
} foliot_set_body_command;
typedef struct foliot_joint_command {
    FOLIOT_COMMAND_joint(FOLIOT_COMMAND_MEMBER, joint)
} foliot_joint_command;
typedef struct foliot_set_joint_command {
    FOLIOT_COMMAND_set_joint(FOLIOT_COMMAND_MEMBER, set_joint)
} foliot_set_joint_command;
typedef struct foliot_break_joint_command {
    FOLIOT_COMMAND_break_joint(FOLIOT_COMMAND_MEMBER, break_joint)
} foliot_break_joint_command;
typedef struct foliot_control_command {
    FOLIOT_COMMAND_control(FOLIOT_COMMAND_MEMBER, control)
} foliot_control_command;
typedef struct foliot_gravity_command {
    FOLIOT_COMMAND_gravity(FOLIOT_COMMAND_MEMBER, gravity)
} foliot_gravity_command;
typedef struct foliot_var_command {
    FOLIOT_COMMAND_var(FOLIOT_COMMAND_MEMBER, var)
} foliot_var_command;
typedef struct foliot_end_command {
    FOLIOT_COMMAND_end(FOLIOT_COMMAND_MEMBER, end)
} foliot_end_command;
#undef FOLIOT_COMMAND_MEMBER
#undef FOLIOT_COMMAND_MEMBER_1
#undef FOLIOT_COMMAND_MEMBER_3
#undef FOLIOT_COMMAND_MEMBER_4

// One command. Texts are lent: to keep a command, copy them (foliot_command_list).
typedef struct foliot_command {
    uint32_t kind;     // foliot_command_kind
    uint32_t sequence; // grows from command to command of a session; set when the tick is closed
    uint32_t fields;   // bits of the fields that are given
    uint32_t source;   // foliot_command_source
    union {
        foliot_spawn_command spawn;
        foliot_despawn_command despawn;
        foliot_impulse_command impulse;
        foliot_set_motion_command set_motion;
        foliot_target_command target;
        foliot_set_body_command set_body;
        foliot_joint_command joint;
        foliot_set_joint_command set_joint;
        foliot_break_joint_command break_joint;
        foliot_control_command control;
        foliot_gravity_command gravity;
        foliot_var_command var;
        foliot_end_command end;
    } as;
} foliot_command;

// A command of `kind` with no fields set; source HOST, sequence 0.
foliot_command foliot_command_default(foliot_command_kind kind);

// Why a world refused a command: the reason of FOLIOT_EVENT_COMMAND_REFUSED.
#define FOLIOT_COMMAND_REASONS(X)                                                                  \
    X(none, "")                                                                                    \
    X(body, "the body is gone")                                                                    \
    X(joint, "the joint is gone")                                                                  \
    X(field, "a required field is missing")                                                        \
    X(range, "a number is not finite or out of range")                                             \
    X(prototype, "the scene has no such prototype")                                                \
    X(full, "no slot is free")                                                                     \
    X(overlap, "the body would start inside another")                                              \
    X(motion, "the body's kind of motion does not allow it")                                       \
    X(player, "the player has not joined")                                                         \
    X(key, "the key or text is not valid")                                                         \
    X(kind, "this world does not know the command")                                                \
    X(ended, "the session has ended")
typedef enum foliot_command_reason {
#define FOLIOT_COMMAND_REASON_ENUM(name, text) FOLIOT_COMMAND_REASON_##name,
    FOLIOT_COMMAND_REASONS(FOLIOT_COMMAND_REASON_ENUM)
#undef FOLIOT_COMMAND_REASON_ENUM
        FOLIOT_COMMAND_REASON_COUNT
} foliot_command_reason;
const char *foliot_command_reason_get_text(foliot_command_reason reason);

// -- the lists as data: for encoders, text forms, scripts and documents

typedef enum foliot_command_type {
    FOLIOT_COMMAND_TYPE_u32,
    FOLIOT_COMMAND_TYPE_i32,
    FOLIOT_COMMAND_TYPE_i64,
    FOLIOT_COMMAND_TYPE_f32,
    FOLIOT_COMMAND_TYPE_f64,
    FOLIOT_COMMAND_TYPE_body,
    FOLIOT_COMMAND_TYPE_joint,
    FOLIOT_COMMAND_TYPE_text,
    FOLIOT_COMMAND_TYPE_real,
} foliot_command_type;

typedef struct foliot_command_field {
    const char *name;
    foliot_command_type type;
    uint32_t count; // values: 1, 3 or 4
    size_t offset;  // of the first, in foliot_command
    bool required;
} foliot_command_field;

typedef struct foliot_command_kind_info {
    const char *name;
    const foliot_command_field *fields;
    uint32_t field_count;
    uint32_t required; // bits
} foliot_command_kind_info;
// NULL beyond the last kind.
const foliot_command_kind_info *foliot_command_kind_get_info(uint32_t kind);
uint32_t foliot_command_kind_find(const char *name); // FOLIOT_COMMAND_KIND_COUNT if unknown

// Whether the command is well formed, independent of any world: a known kind, its required fields,
// no unknown ones, all numbers finite, texts within their bounds and valid UTF-8. If not, *reason
// (may be NULL) says why.
bool foliot_command_valid(const foliot_command *command, foliot_command_reason *reason);

// Everything that enters a simulation in one tick.
typedef struct foliot_tick_inputs {
    const struct foliot_input *inputs; // ordered by (player, sequence)
    uint32_t input_count;
    const foliot_command *commands; // ordered by sequence
    uint32_t command_count;
} foliot_tick_inputs;

// -- canonical bytes, as in recordings, packets and keyframes: docs/reference/commands.md

// Appends the bytes of one command without its sequence and source; as snprintf, returns how many
// bytes it takes and writes them only if they fit. The command is valid.
size_t foliot_command_encode(const foliot_command *command, uint8_t *bytes, size_t capacity);

// -- lists that own their commands

// Commands with copies of their texts. Zeroed memory is an empty list.
typedef struct foliot_command_list {
    foliot_command *commands;
    uint32_t count, capacity;
    char *text; // commands point into it
    size_t text_bytes, text_capacity;
    size_t encoded_bytes; // of all canonical bytes
} foliot_command_list;
// Copies the command and its texts. The list is unchanged after FOLIOT_STATUS_MEMORY,
// FOLIOT_STATUS_INVALID (not foliot_command_valid) and FOLIOT_STATUS_FULL (it has
// FOLIOT_COMMANDS_MAX). Earlier pointers into the list are void.
FOLIOT_MUST_CHECK foliot_status foliot_command_list_append(foliot_command_list *list,
                                                           const foliot_command *command);
// Reads one command from `bytes`, appends it and sets *taken to its length. For hostile bytes
// FOLIOT_STATUS_TRUNCATED or FOLIOT_STATUS_CORRUPT (also: not the canonical form, or not
// foliot_command_valid); FOLIOT_STATUS_NEWER for an unknown kind or field.
FOLIOT_MUST_CHECK foliot_status foliot_command_list_decode(foliot_command_list *list,
                                                           const uint8_t *bytes, size_t length,
                                                           size_t *taken);
void foliot_command_list_clear(foliot_command_list *list);   // keeps the memory
void foliot_command_list_destroy(foliot_command_list *list); // frees it; the list is empty again

// -- text

// One JSON object: {"command": "spawn", "prototype": 0, "position": [0, 0, 5]}. As snprintf.
size_t foliot_command_print_json(const foliot_command *command, char *text, size_t capacity);
// Reads such an object and appends it. FOLIOT_STATUS_INVALID: the text of *error
// names the byte; FOLIOT_STATUS_FULL; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_command_list_parse_json(foliot_command_list *list,
                                                               const char *json, size_t length,
                                                               foliot_error *error);

#ifdef __cplusplus
}
#endif

#endif
