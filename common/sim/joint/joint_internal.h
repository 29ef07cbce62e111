// SPDX-License-Identifier: MIT
// joint_internal.h: the table `joint_workspace`. All of it is cache that lives for one tick: the
// only thing that joints keep between ticks is whether they are broken.
//
//   joint.c            the phases of a tick, and breaking
//   joint_islands.c    where the arrays lie; which bodies are joined: islands, trees and loops
//   joint_jacobian.c   poses and free rotation; rows, errors, the limit of the free row; goals
//   joint_solve.c      an island: its trees, the joints that close loops, limits
//   joint_stability.c  damping of light bodies, substeps that turn too far, energy
#ifndef FOLIOT_SIM_JOINT_JOINT_INTERNAL_H
#define FOLIOT_SIM_JOINT_JOINT_INTERNAL_H

#include "sim/joint/joint.h"
#include "sim/joint/joint_block.h"

#define FOLIOT__ROWS 6 // of one joint, its free row included

// The state of a joint's limit row: the angle of a hinge or the length of a rope. The row's
// impulse is a decreasing step function of its speed. From low to high speed, it is any impulse
// that keeps the row at `low`, the motor's torque, any impulse that keeps it at `drive`, the
// motor's torque in the other direction, and any impulse that keeps it at `high`.
typedef enum foliot__limit_state {
    FOLIOT__LIMIT_FREE,   // slower than the motor's speed: all its torque; without a motor: nothing
    FOLIOT__LIMIT_BRAKED, // faster: all its torque against
    FOLIOT__LIMIT_LOW,    // held at this speed, whatever impulse it takes
    FOLIOT__LIMIT_DRIVEN,
    FOLIOT__LIMIT_HIGH,
} foliot__limit_state;

// Where a joint holds its bodies: fixed by the constraint.
typedef struct foliot__joint_frame {
    vec3 anchor_a, anchor_b; // in the bodies' axes
    vec3 axis, side[2];      // of a hinge, in a's axes: a right-handed frame
    vec3 axis_b;             // and in b's
    double arm_length;       // of both arms: errors are small or great against it
    quat start;              // b's orientation in a's axes as the scene starts
} foliot__joint_frame;

// The limit row: the angle of a hinge, or the length of a rope.
typedef struct foliot__joint_limit {
    uint32_t state; // foliot__limit_state
    bool present;
    bool counted;            // a hinge whose angle is counted beyond one turn: of the state
    bool followed;           // `value` was measured in this tick: the next one is the nearest to it
    double least, greatest;  // of the value: an angle or a length
    double speed, strength;  // of the motor; strength 0: none
    double low, drive, high; // speeds that the row may gain; drive infinite without a motor
    double value_before;     // at the substep's start
    double value;            // and now
} foliot__joint_limit;

// Friction of the rows that turn (joint_stability.c).
typedef struct foliot__joint_friction {
    double moment;             // 0: none
    double goal[FOLIOT__ROWS]; // the speed that ends the rotation
    double sum[FOLIOT__ROWS];  // the impulses so far
} foliot__joint_friction;

// joint_solve.c's.
typedef struct foliot__joint_factor {
    double soft[FOLIOT__ROWS]; // speed that a row gives way by for a unit of impulse
    double half[FOLIOT__ROWS];
    double g[FOLIOT__ROWS][6], h[FOLIOT__ROWS][6], k[FOLIOT__ROWS][FOLIOT__ROWS];
} foliot__joint_factor;

typedef struct foliot__joint {
    uint32_t index;          // of the table `constraint`
    uint32_t kind;           // foliot_constraint_kind
    uint32_t slot_a, slot_b; // slot_b FOLIOT_NO_BODY: the world
    uint32_t a, b;           // rows of `bodies`; FOLIOT__NONE: does not move
    uint32_t child, parent;  // likewise: the tree's order. A joint without child closes a loop
    uint32_t rows;           // that hold always
    uint32_t active;         // `rows`, and the limit row where it is held, or those of friction
    foliot__joint_frame frame;
    foliot__joint_limit limit;
    double error[FOLIOT__ROWS];
    double ja[FOLIOT__ROWS][6], jb[FOLIOT__ROWS][6];  // speed of a row per velocity of a body
    double goal[FOLIOT__ROWS], impulse[FOLIOT__ROWS]; // of the present solution
    double impulse_sum[FOLIOT__ROWS];                 // of the substep so far
    vec3 force, torque;                               // and of the tick, on b, in the world's axes
    foliot__joint_friction friction;
    foliot__joint_factor factor;
} foliot__joint;

// The pose of a body.
typedef struct foliot__pose {
    vec3 x;
    quat q;
} foliot__pose;

typedef struct foliot__joint_body {
    uint32_t slot, joint; // that leads to the parent; FOLIOT__NONE at a root that floats
    double mass;
    mat3 inertia;         // world axes, at the pose of the rows
    mat3 stiffness;       // of the forces on it against rotation (joint_stability.c)
    double swing;         // the part of it that a substep cannot resolve, as a moment of inertia
    double factor[6][6];  // of the mass of all that hangs on it
    double impulse_in[6]; // impulses from outside the tree, then what is left of them
    double change[6];     // of velocity: the solution
    double moved[6];      // velocity beyond the smooth motion's, of positions
    double smooth[6];     // the solver body's velocity before any impulse
    double given[6];      // impulse and angular impulse of the scheme in this substep
    foliot__pose start;   // at the substep's start
    vec3 spin;            // angular momentum there, and half of what the scheme's torque adds
    mat3 inertia_start;
    bool free;       // its orientation follows from these (joint_jacobian.c)
    double taken[6]; // of a rough island: the velocity that it continues with; then the scheme's
} foliot__joint_body;

// Bodies and joints of one island stand together, parents before children.
typedef struct foliot__island {
    uint32_t body, bodies; // first, count
    uint32_t joint, joints;
    uint32_t loops;  // of its joints, those at the end of its range
    bool unfactored; // rows have changed since the factors were made
    bool rough;      // this substep turned so far that positions were found without SHAKE
    bool damped;     // friction is known for this substep
    bool touches;    // a contact may push one of its bodies: the contact solver solves it
    bool hangs;      // on something outside, which moves with the velocity `carried`
    bool follows;    // and all that it hangs on does so, without a rotation
    double carried[3];
    bool unchecked; // the solver's velocities may still hold energy that joints have added
} foliot__island;

// joint_blocks.c: joints of islands that no array below lists.
typedef struct foliot__joint_fast {
    uint32_t *count, *index; // constraints, ascending
    uint32_t *limit;         // row of `joints` of one with a limit, or FOLIOT__NONE
    uint8_t *kind, *colour;
    uint64_t *taken; // bit c: a joint of colour c has the body; by slot
    foliot__joint_block *blocks;
    uint32_t *colour_begin;
    char *arena;
    vec3 *spin; // of the bodies, as joint_block.h says
} foliot__joint_fast;

typedef struct foliot__joints {
    foliot__joint_table table;
    foliot__joint_fast fast;
    foliot__joint *joints; // by island, tree joints then loops; both in the order of their search
    foliot__joint_body *bodies;
    foliot__island *islands;
    uint32_t *body_of;     // by slot: row of `bodies`, or FOLIOT__NONE
    uint32_t *head, *next; // for the search: the joints of a slot
    uint32_t *listed, *taken, *waiting;
    double *loop[5]; // FOLIOT__ROWS a joint: for the loops' solver
} foliot__joints;

// joint_blocks.c: after the islands are found; at a tick's start; and at its end.
void foliot__joint_blocks_make(const foliot_world *world, foliot__joints *j);
void foliot__joint_blocks_begin(foliot_world *world, foliot__joints *j);
void foliot__joint_blocks_end(foliot_world *world, foliot__joints *j, double duration);

// joint_islands.c: the table, laid out.
foliot__joints foliot__joints_of(const foliot_world *world);
// Fills joints, bodies, islands and the pairs that do not collide.
void foliot__joints_find_islands(foliot_world *world, foliot__joints *j);

// joint_jacobian.c: the orientation at the substep's end of a body that rotates freely with its
// `spin` and what `moved` adds to it.
quat foliot__joint_body_rotate(const foliot_world *world, const foliot__joint_body *body, double h);
foliot__pose foliot__pose_of(const foliot_world *world, uint32_t slot);
// Moves the pose by `velocity` for a time h; and the velocity that leads from one to the other.
void foliot__pose_move(foliot__pose *pose, const double velocity[6], double h);
void foliot__pose_velocity(const foliot__pose *from, const foliot__pose *to, double h,
                           double velocity[6]);

// joint_jacobian.c
void foliot__joint_define(const foliot_world *world, uint32_t index, foliot__joint *joint);
// Fills ja, jb from the poses.
void foliot__joint_linearise(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b);
// A tick starts from the present state alone: the counted angle, or the one nearest to the middle
// of the limits. Later in the tick the angle has no jumps.
void foliot__joint_begin_angle(const foliot_world *world, foliot__joint *joint);
// Half turns of a counted angle, for the next tick.
void foliot__joint_end_angle(foliot_world *world, foliot__joint *joint);
// Fills error and value.
void foliot__joint_measure(foliot__joint *joint, const foliot__pose *a, const foliot__pose *b);
// The largest of the errors that hold always, as a share of the arms.
double foliot__joint_error_max(const foliot__joint *joint);
// Mass properties in world axes at this pose.
void foliot__joint_body_set_mass(const foliot_world *world, foliot__joint_body *body,
                                 const foliot__pose *pose);

// joint_stability.c: sets `friction.moment` of the joints from the impulses of the substep so far,
// `share` of which a lasting force gives to positions. True if there is any: the island must be
// solved again.
bool foliot__island_damp(foliot__joints *j, const foliot__island *island, double h, double share);

// joint_jacobian.c: rows and masses of an island after `moved` has moved its bodies for a time h.
void foliot__island_linearise(foliot__joints *j, const foliot_world *world, foliot__island *island,
                              double h);
// The first sets goals that move positions at the substep's end to where the joints hold, and
// returns the largest present error as a share of the arms. The second sets goals for velocities
// (in `change`) that keep the joints.
double foliot__island_target_positions(foliot__joints *j, const foliot_world *world,
                                       const foliot__island *island, double h);
void foliot__island_target_velocities(foliot__joints *j, const foliot_world *world,
                                      const foliot__island *island, double h);
// The velocity of a joint's body that is not in its island: NULL if it does not move.
const double *foliot__joint_outside_velocity(const foliot_world *world, uint32_t slot,
                                             double out[6]);
// joint_stability.c: sets `moved` and `taken` in a substep that turns too far for foliot__joints_*.
void foliot__island_solve_fallback(foliot__joints *j, const foliot_world *world,
                                   foliot__island *island, double h);
void foliot__island_clear_impulses(foliot__joints *j, const foliot__island *island);

// joint_stability.c: sets `hangs`, `follows` and `carried`.
void foliot__island_find_frame(const foliot__joints *j, const foliot_world *world,
                               foliot__island *island);
// Twice the energy of a body of the island that a substep keeps. `share` is what a lasting force
// gives to positions.
double foliot__joint_body_energy(const foliot__island *island, const foliot__joint_body *body,
                                 const double velocity[6], double share);
// Twice what moving outsides have added to it through the joints in the substep. False if that is
// not known.
bool foliot__island_outside_work(const foliot__joints *j, const foliot_world *world,
                                 const foliot__island *island, double *work2);
// Sets `taken` to the velocities of the island as one body with its momentum, or of what it hangs
// on. False if it hangs on several that move apart, or on one that turns.
bool foliot__island_move_as_one(foliot__joints *j, const foliot_world *world,
                                const foliot__island *island);
// Sets `change` between `taken` and `smooth`, or beyond it, so that twice the energy is `goal2`.
void foliot__island_blend(foliot__joints *j, const foliot__island *island, double share,
                          double goal2);

// joint_solve.c: changes the speeds of the bodies so that every row gains its `goal`, and every
// limit row stands where its limits let it. `h` is the length of the substep, which makes a
// torque an impulse.
void foliot__island_solve(foliot__joints *j, foliot__island *island, double h);

static inline double foliot__dot6(const double a[6], const double b[6])
{
    return ((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]) +
           ((a[3] * b[3] + a[4] * b[4]) + a[5] * b[5]);
}

#endif
