// SPDX-License-Identifier: MIT
// scene.h: the description that a world is built from, as a value; its text form; the integrators.
//
// foliot_scene_read reads the text form (YAML). The binary form, canonical bytes, is what
// recordings and the wire carry. docs/reference/scenes.md is the reference of both.
//
// Units: any consistent set. `units` of a scene are labels for people. "N" and
// "m" below stand for the units of force and length that follow from them. Angles are in radians.
//
// Frames: the world is right-handed; only gravity distinguishes an axis. A body's frame has its
// origin in the centre of mass and the principal axes of inertia. Orientations are unit quaternions
// in the order w, x, y, z that turn body axes into world axes.
//
// Ownership: the caller owns what a definition points to; functions that take a scene copy what
// they need unless they say "lent".
#ifndef FOLIOT_SCENE_H
#define FOLIOT_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/digest.h"
#include "foliot/status.h"

#ifdef __cplusplus
extern "C" {
#endif

// -- integrators
//
// The integrators (time-stepping schemes), by number and by name, with their properties.
//
// Scenes, the lab and the library share this one table. docs/explanation/integrators.md gives the
// formulas and their sources. All of it is constant data; any thread may read it.

// The value is the integrator's number in canonical scenes and recordings: never reuse one.
typedef enum foliot_integrator {
    FOLIOT_INTEGRATOR_NONE = 0,
    FOLIOT_INTEGRATOR_EXPLICIT_EULER = 1,
    FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER = 2,
    FOLIOT_INTEGRATOR_IMPLICIT_EULER = 3,
    FOLIOT_INTEGRATOR_VERLET = 4,
    FOLIOT_INTEGRATOR_TIME_CORRECTED_VERLET = 5,
    FOLIOT_INTEGRATOR_VELOCITY_VERLET = 6,
    FOLIOT_INTEGRATOR_VELOCITY_VERLET_CORRECTED = 7,
    FOLIOT_INTEGRATOR_LEAPFROG = 8,
    FOLIOT_INTEGRATOR_MIDPOINT = 9,
    FOLIOT_INTEGRATOR_HEUN = 10,
    FOLIOT_INTEGRATOR_IMPROVED_EULER = 11,
    FOLIOT_INTEGRATOR_RK4 = 12,
    FOLIOT_INTEGRATOR_IMPLICIT_MIDPOINT = 13,
    FOLIOT_INTEGRATOR_KINEMATIC = 14,
    FOLIOT_INTEGRATOR_KINEMATIC_AVERAGE = 15,
    FOLIOT_INTEGRATOR_KINEMATIC_STRANG = 16,
    FOLIOT_INTEGRATOR_YOSHIDA4 = 17,
    FOLIOT_INTEGRATOR_PEFRL4 = 18,
    FOLIOT_INTEGRATOR_YOSHIDA6 = 19,
    FOLIOT_INTEGRATOR_BLANES_MOAN6 = 20,
    FOLIOT_INTEGRATOR_KAHAN_LI8 = 21,
    FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG = 22,
    FOLIOT_INTEGRATOR_COUNT
} foliot_integrator;

typedef enum foliot_reversibility {
    FOLIOT_REVERSIBILITY_NONE,
    FOLIOT_REVERSIBILITY_ROUNDED, // as a map, up to rounding
    FOLIOT_REVERSIBILITY_EXACT,   // backward steps return to the same bits
} foliot_reversibility;

// The properties of an integrator.
typedef struct foliot_integrator_info {
    foliot_integrator id;
    const char *name;       // "velocity-verlet"
    const char *aliases;    // separated by blanks, may be empty
    uint8_t order;          // of the global error in position, under smooth forces of position
    uint8_t order_damped;   // on the damped oscillator x'' = -k x - b v; 0: damping is refused
    uint8_t rotation_order; // of free rigid-body rotation; 0: bodies do not rotate
    bool symplectic;
    foliot_reversibility reversible;
    uint8_t evaluations; // of all forces in a step; 0: as many as its solver needs
    bool contacts;       // admitted in a scene with contacts or position-level constraints
    bool rods;           // admitted in a scene with rods
    bool lab_only;       // needs a varying dt: foliot_world_step_dt alone steps it
    const char *summary; // one sentence
} foliot_integrator_info;

// NULL for a number that names no integrator.
const foliot_integrator_info *foliot_integrator_get_info(foliot_integrator id);
// By name or alias; FOLIOT_INTEGRATOR_NONE if it is unknown.
foliot_integrator foliot_integrator_find(const char *name);
// The known name of which `name` is a likely misspelling, for error messages; NULL if none is
// close.
const char *foliot_integrator_find_nearest(const char *name);

// -- the scene

#define FOLIOT_SCENE_FORMAT 1        // of the text form: `foliot: 1`
#define FOLIOT_SCENE_BYTES_FORMAT 1  // of canonical bytes
#define FOLIOT_NAME_BYTES 64         // of any name, with its closing zero
#define FOLIOT_BODIES_MAX (1u << 20) // slots of one world
#define FOLIOT_FORCES_MAX (1u << 23)
#define FOLIOT_CONSTRAINTS_MAX (1u << 22)
#define FOLIOT_SUBSTEPS_MAX 1024
#define FOLIOT_SUBSTEPS_AUTO UINT32_MAX // 4 where shapes can touch or joints hold, else 1
#define FOLIOT_POSITION_MAX 0x1p40      // a body with a coordinate beyond it is frozen
#define FOLIOT_PROTOTYPES_MAX 4096
#define FOLIOT_HALF_TURNS_MAX 60  // of a hinge's limits to either side
#define FOLIOT_NO_BODY UINT32_MAX // no body, or the world itself as a constraint's partner

typedef enum foliot_shape_kind {
    FOLIOT_SHAPE_POINT = 0,   // collides with nothing
    FOLIOT_SHAPE_SPHERE = 1,  // radius
    FOLIOT_SHAPE_PLANE = 2,   // static bodies only: normal . x = offset, solid below
    FOLIOT_SHAPE_BOX = 3,     // half extents
    FOLIOT_SHAPE_CAPSULE = 4, // radius, half_length of the inner segment along the body's z
} foliot_shape_kind;

typedef struct foliot_shape {
    uint32_t kind;    // foliot_shape_kind
    double radius;    // sphere, capsule: > 0
    double half[3];   // box: > 0 each; capsule: half[2] = half length of the segment, >= 0
    double normal[3]; // plane: unit length
    double offset;    // plane
} foliot_shape;

// How a body moves.
typedef enum foliot_body_motion {
    FOLIOT_MOTION_DYNAMIC = 0, // by forces and impulses
    FOLIOT_MOTION_STATIC = 1,  // never
    FOLIOT_MOTION_KINEMATIC =
        2, // by its velocity, without reacting to contacts; it carries and pushes other bodies
} foliot_body_motion;

// A body as a scene starts it. The all-zero definition is invalid.
typedef struct foliot_body_definition {
    const char *name;  // unique in the scene; NULL or "" for a body without one
    double mass;       // > 0; ignored for static bodies
    double inertia[3]; // principal moments in the body's axes; all 0: those of the solid shape with
                       // the body's mass. A point does not rotate
    double position[3];         // of the centre of mass, world axes
    double velocity[3];         // of the centre of mass, world axes
    double orientation[4];      // w, x, y, z; body to world; normalised on entry
    double angular_velocity[3]; // world axes, radians per unit of time
    double force[3];            // world axes; acts at the centre of mass at all times
    double friction;            // Coulomb coefficient, >= 0
    double restitution;         // 0..1
    foliot_shape shape;
    bool is_static;       // never moves
    bool is_kinematic;    // its velocity or a command moves it; `mass` and `force` are ignored
    bool is_sensor;       // collides with nothing; reports bodies that enter and leave it (query.h)
    double gravity_scale; // of the scene's gravity
    // Velocity is divided by 1 + damping x dt in every substep; >= 0, 1 / unit of time.
    double linear_damping, angular_damping;
    // Two bodies collide if each one's category shares a bit with the other's mask, and if one of
    // them is a dynamic body. Bodies of one group other than 0 always do if it is positive, and
    // never if it is negative. The category has at least one bit.
    uint32_t category, mask;
    int32_t group;
    uint32_t tag; // a number for the game: owner, colour, hit points
} foliot_body_definition;

typedef enum foliot_force_kind {
    FOLIOT_FORCE_UNIFORM =
        0, // acceleration[3] of every body (the scene's `gravity` is one of these)
    FOLIOT_FORCE_CONSTANT =
        1,                   // force[3] on body a from time `start` until `end` (a pulse if finite)
    FOLIOT_FORCE_SPRING = 2, // body a to body b, or to `point` if b is FOLIOT_NO_BODY
    FOLIOT_FORCE_DRAG = 3,   // -(linear + quadratic |v|) v on every body
    FOLIOT_FORCE_NEWTON =
        4, // pairwise, m1 m2 constant / (r^2 + softening^2)^(3/2) r (Plummer softening)
    FOLIOT_FORCE_ATTRACTOR = 5, // a = -strength (x - point) / |x - point|^3 on every body
    FOLIOT_FORCE_CALLBACK = 6,  // foliot_host.callbacks[callback] (world.h)
} foliot_force_kind;

typedef enum foliot_damping {
    FOLIOT_DAMPING_ALONG = 0,     // -c (v . u) u, u the unit vector along the spring
    FOLIOT_DAMPING_ISOTROPIC = 1, // -c v
} foliot_damping;

// A force. The kind decides which member of `as` is used. Vectors are in world axes.
typedef struct foliot_force_definition {
    uint32_t kind; // foliot_force_kind
    uint32_t a, b; // indices into the scene's bodies, FOLIOT_NO_BODY where the kind has none
    union {
        struct {
            double acceleration[3];
        } uniform;
        struct {
            double force[3];
            double start, end; // end may be infinite: for ever
        } constant;
        struct {
            double point[3];
            double stiffness, damping, length; // N/m >= 0, N s/m >= 0, m >= 0
            uint32_t damping_kind;             // foliot_damping
        } spring;
        struct {
            double linear, quadratic; // N s/m, N s^2/m^2; >= 0
        } drag;
        struct {
            double constant, softening;
        } newton;
        struct {
            double point[3];
            double strength;
        } attractor;
        struct {
            uint32_t callback; // < FOLIOT_CALLBACKS_MAX
        } callback;
    } as;
} foliot_force_definition;

typedef enum foliot_constraint_kind {
    FOLIOT_CONSTRAINT_DISTANCE =
        0, // length_min <= |xb - xa| <= length, by position correction (Jakobsen)
    FOLIOT_CONSTRAINT_ROD = 1,   // |xb - xa| = length, by SHAKE/RATTLE inside the integrator
    FOLIOT_CONSTRAINT_BALL = 2,  // anchors of two bodies coincide
    FOLIOT_CONSTRAINT_HINGE = 3, // and an axis is shared
    FOLIOT_CONSTRAINT_WELD = 4,  // and both turn as one
} foliot_constraint_kind;

// A constraint between body a and body b. Members that its kind does not use are ignored.
typedef struct foliot_constraint_definition {
    uint32_t kind; // foliot_constraint_kind
    uint32_t a, b; // indices into the scene's bodies; b may be FOLIOT_NO_BODY: then anchor_b is a
                   // point of the world
    double length, length_min; // distance, rod
    double stiffness;   // distance: share of the error removed by one iteration, 0..1; default 1
    double break_force; // N, > 0; infinite: never breaks
    double anchor_a[3], anchor_b[3];  // in body axes, from the centre of mass. A distance with an
                                      // anchor other than 0 is a joint, solved with the contacts
    double axis[3];                   // hinge: in a's axes, unit length
    double angle_min, angle_max;      // hinge limits, radians about the axis, b against a, 0 at the
                                      // start of the scene; min > max: no limits. Beyond pi turns
                                      // are counted, to FOLIOT_HALF_TURNS_MAX x pi
    double motor_speed, motor_torque; // hinge: radians per unit of time, N m; torque 0: no motor
    double break_torque;              // hinge, weld: N m, > 0; infinite: never breaks that way
    bool collides; // ball, hinge, weld: contacts between the two bodies; default false
} foliot_constraint_definition;

typedef enum foliot_control_kind {
    FOLIOT_CONTROL_NONE = 0,
    FOLIOT_CONTROL_THRUST = 1, // axes 0..2 push along world x, y, z; axis 3 turns about world z
    FOLIOT_CONTROL_VESSEL = 2, // axes 0..2 push along the body's x, y, z as at the tick's start;
                               // axis 3 turns about the body's z
} foliot_control_kind;

enum foliot_button {
    FOLIOT_BUTTON_PULL = 1u << 0,
    FOLIOT_BUTTON_PUSH = 1u << 1,
    FOLIOT_BUTTON_JUMP = 1u << 2,
};

// The players of a scene. A player has one body, spawned by its JOIN input.
typedef struct foliot_players_definition {
    bool bodiless;                // a JOIN spawns no body: the session's rules do, by commands
    uint32_t limit;               // 0: a scene without players; at most FOLIOT_PLAYERS_MAX
    foliot_body_definition body;  // its name and position are not used
    const double (*positions)[3]; // player p spawns at positions[p % position_count]
    uint32_t position_count;      // >= 1 if limit > 0
    uint32_t control;             // foliot_control_kind
    double force, torque;         // at full deflection of an axis, N and N m
    // For buttons, with any control but NONE; 0 switches an effect off. While FOLIOT_BUTTON_PULL or
    // _PUSH is held, every body whose centre is at a distance d < reach is drawn to the player's
    // centre, or driven away, by that force times 1 - d / reach; the player feels the reaction.
    // FOLIOT_BUTTON_JUMP, when pressed while standing on something, adds the speed `jump` against
    // gravity.
    double reach, pull, push, jump; // m, N, N, m per unit of time
} foliot_players_definition;

// The first step of verlet.
typedef enum foliot_verlet_start {
    FOLIOT_VERLET_START_TAYLOR = 0, // x + v dt + a dt^2 / 2
    FOLIOT_VERLET_START_RK4 = 1,
} foliot_verlet_start;

// The factor by which time-corrected-verlet multiplies the acceleration.
typedef enum foliot_verlet_form {
    FOLIOT_VERLET_FORM_MEAN = 0,   // dt (dt + dt_previous) / 2
    FOLIOT_VERLET_FORM_SQUARE = 1, // dt^2
} foliot_verlet_form;

// The language in which a session's rules are written (rules.h).
typedef enum foliot_script_kind {
    FOLIOT_SCRIPT_NONE = 0,
    FOLIOT_SCRIPT_LUA = 1,
    FOLIOT_SCRIPT_MODULE = 2, // a shared library with foliot_rules_entry
} foliot_script_kind;
#define FOLIOT_SCRIPT_BYTES_MAX (1u << 20)

// Bounds of a session's history (query.h).
#define FOLIOT_HISTORY_TICKS_MIN 2u
#define FOLIOT_HISTORY_TICKS_MAX 250u
#define FOLIOT_HISTORY_POSES_MAX 262144u // ticks times slots

// The rules of a session. The canonical bytes have `digest` and `history_ticks` alone; the other
// members are zero in a decoded scene.
typedef struct foliot_script_definition {
    foliot_digest digest;   // of the rules' text, or of the module's name; zero: none
    uint32_t history_ticks; // that the rules may look back; 0: none, at no cost
    uint32_t kind;          // foliot_script_kind
    const char *name;       // the file as the scene names it
    const char *text;       // Lua: followed by a zero
    size_t bytes;
} foliot_script_definition;

// Labels for people, such as "m", "s", "kg".
typedef struct foliot_units {
    const char *length, *time, *mass;
} foliot_units;

// How ball joints, hinges, welds and anchored distances are solved.
typedef enum foliot_joint_solver {
    // Exactly where few bodies hang together: at most FOLIOT_EXACT_JOINTS_MAX joints, of which at
    // most FOLIOT_EXACT_LOOPS_MAX close a loop; and everywhere if the scene and its commands have
    // no more joints than that. Fast elsewhere.
    FOLIOT_JOINT_SOLVER_AUTO = 0,
    FOLIOT_JOINT_SOLVER_EXACT = 1, // always; the cost of nets grows with the cube of their loops
    FOLIOT_JOINT_SOLVER_FAST = 2,  // always as soft constraints, with the contacts
} foliot_joint_solver;
#define FOLIOT_EXACT_JOINTS_MAX 64u
#define FOLIOT_EXACT_LOOPS_MAX 4u

typedef struct foliot_scene {
    const char *name;
    foliot_units units;
    double dt;      // of one tick, in units of time; > 0, finite
    double pace_hz; // ticks in a real second; 0: no default, the server must set it
    uint32_t
        substeps; // steps of the integrator in a tick, 1..FOLIOT_SUBSTEPS_MAX or _AUTO (default)
    foliot_integrator integrator;
    uint32_t start;                 // foliot_verlet_start
    uint32_t form;                  // foliot_verlet_form
    double tolerance;               // implicit integrators: of Newton's update, relative
    uint32_t iterations_max;        // implicit integrators: of Newton's method
    uint32_t constraint_iterations; // of position correction in a step
    uint64_t seed;
    double gravity[3];   // acceleration, world axes
    double speed_max;    // of any body; infinite: no limit
    uint32_t bodies_max; // slots, at least body_count + players.limit; 0: exactly that
    bool sleep; // bodies that have been at rest for a while are skipped until something wakes them
    const foliot_body_definition *bodies;
    uint32_t body_count;
    const foliot_force_definition *forces; // in the order of evaluation, after `gravity`
    uint32_t force_count;
    const foliot_constraint_definition *constraints; // in the order of solving
    uint32_t constraint_count;
    foliot_players_definition players;
    uint32_t commands_max; // in a tick, 0..FOLIOT_COMMANDS_MAX; 0: the world takes no commands
    uint32_t joints_max;   // that commands may add to the scene's constraints
    const foliot_body_definition *prototypes; // that commands spawn bodies from; with names
    uint32_t prototype_count;
    foliot_script_definition script;
    uint32_t joint_solver; // foliot_joint_solver
} foliot_scene;

// The documented defaults of every key: integrator semi-implicit-euler, automatic substeps, no
// gravity. The caller sets name, dt and bodies. An all-zero scene is invalid.
foliot_scene foliot_scene_default(void);
foliot_body_definition foliot_body_definition_default(void); // a point of mass 1 at the origin
foliot_force_definition foliot_force_definition_default(foliot_force_kind kind);
foliot_constraint_definition foliot_constraint_definition_default(foliot_constraint_kind kind);
foliot_players_definition foliot_players_definition_default(void); // limit 0, thrust of 10 N

// Checks every range and every combination (an integrator that does not admit the scene's contacts,
// say). FOLIOT_STATUS_INVALID, or FOLIOT_STATUS_REFUSED for a combination; the path of *error names
// the field, as in "forces[3].stiffness".
FOLIOT_MUST_CHECK foliot_status foliot_scene_check(const foliot_scene *scene, foliot_error *error);

// Writes the scene as canonical bytes: little-endian, doubles exact, the same on every machine.
// `bytes` NULL asks for the length alone. FOLIOT_STATUS_FULL if `capacity` is too small.
FOLIOT_MUST_CHECK foliot_status foliot_scene_encode(const foliot_scene *scene, uint8_t *bytes,
                                                    size_t capacity, size_t *length);
// Reads canonical bytes into one heap block that holds the scene and all that it points to; the
// caller frees it with foliot_scene_destroy. For hostile bytes FOLIOT_STATUS_TRUNCATED,
// FOLIOT_STATUS_CORRUPT or FOLIOT_STATUS_NEWER; FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_scene_decode(const uint8_t *bytes, size_t length,
                                                    foliot_scene **scene);
void foliot_scene_destroy(foliot_scene *scene); // NULL is allowed

// The index of the body or prototype of that name, FOLIOT_NO_BODY if there is none.
uint32_t foliot_scene_find_body(const foliot_scene *scene, const char *name);
uint32_t foliot_scene_find_prototype(const foliot_scene *scene, const char *name);

// -- scenes from text
//
// Reads scenes from YAML or JSON text, under a strict schema.
//
// docs/reference/scenes.md lists every key. An unknown key, a value out of its range or a second
// value for one key is an error with its line, column and path. The functions share no state:
// several threads may read at the same time.

// Reads a file; CSV files named in it are searched in its folder. On success *scene has passed
// foliot_scene_check and belongs to the caller, who frees it with foliot_scene_destroy.
// FOLIOT_STATUS_INVALID or FOLIOT_STATUS_REFUSED: a bad scene; FOLIOT_STATUS_IO: no such file;
// FOLIOT_STATUS_MEMORY.
FOLIOT_MUST_CHECK foliot_status foliot_scene_read(const char *file, foliot_scene **scene,
                                                  foliot_error *error);
// The same from `length` bytes of memory. `name` stands for the file in messages. `folder` is where
// CSV files are searched; NULL: naming one is an error.
FOLIOT_MUST_CHECK foliot_status foliot_scene_parse(const char *text, size_t length,
                                                   const char *name, const char *folder,
                                                   foliot_scene **scene, foliot_error *error);

#ifdef __cplusplus
}
#endif

#endif
