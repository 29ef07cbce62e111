// SPDX-License-Identifier: MIT
// joint_block.h: fast joints, eight in a block. They are soft constraints, solved one after the
// other in the sweeps of the contact solver, so a net, a bridge or a chain of any length costs as
// much as it has joints. joint_blocks.c lays the blocks out and keeps the impulses;
// solver/joint_simd.c computes.
//
// The eight joints of a block share no body that can move. Blocks stand by colour, then by kind.
// Joints without a colour stand last; the columns of their blocks are solved one after the other.
#ifndef FOLIOT_SIM_JOINT_JOINT_BLOCK_H
#define FOLIOT_SIM_JOINT_JOINT_BLOCK_H

#include "sim/state/workspace.h"

#define FOLIOT__NONE UINT32_MAX
#define FOLIOT__JOINT_COLUMNS 8
#define FOLIOT__JOINT_COLOURS 64 // and one more for those without a free colour
#define FOLIOT__JOINT_COLOUR_COUNT (FOLIOT__JOINT_COLOURS + 1)

// The parts of a block, in this order.
typedef enum foliot__joint_parts {
    FOLIOT__JOINT_HEAD = 0,
    FOLIOT__JOINT_POINT = 1, // the anchors stay together
    FOLIOT__JOINT_TURN = 2,  // no rotation, or one about an axis
    FOLIOT__JOINT_LIMIT = 4, // one row: the limits and the motor of a hinge, or a length
} foliot__joint_parts;

// One row a quantity, one column a joint. A side that cannot move has an inverse mass of 0; its
// slot is that of the spare solver body if it is the world.
typedef float foliot__joint_row[FOLIOT__JOINT_COLUMNS] __attribute__((aligned(32)));

typedef struct foliot__joint_head {
    uint32_t joint[FOLIOT__JOINT_COLUMNS]; // its place among the fast joints, or FOLIOT__NONE
    uint32_t a[FOLIOT__JOINT_COLUMNS], b[FOLIOT__JOINT_COLUMNS];  // slots
    uint32_t constraint[FOLIOT__JOINT_COLUMNS];                   // its row of the table
    foliot__joint_row mass_a, mass_b, inertia_a[6], inertia_b[6]; // inverse: xx yy zz xy xz yz
} foliot__joint_head;

// Impulses act on b, and with the other sign on a; all vectors but the anchors are in world axes.
// `mass` is a symmetric matrix, xx yy zz xy xz yz: the impulse for a unit of speed. `sum` is that
// of the impulses of the tick's earlier substeps.
typedef struct foliot__joint_point {
    foliot__joint_row anchor_a[3], anchor_b[3]; // in the bodies' axes
    foliot__joint_row arm_a[3], arm_b[3];
    foliot__joint_row error[3]; // from a's anchor to b's
    foliot__joint_row mass[6], impulse[3], sum[3];
} foliot__joint_point;

typedef struct foliot__joint_turn {
    // A weld has the orientation of b in a's axes as it was made; a hinge its axis and a side in
    // a's axes, and its axis in b's.
    foliot__joint_row own[9];
    foliot__joint_row error[3];
    foliot__joint_row mass[6], impulse[3], sum[3];
} foliot__joint_turn;

typedef struct foliot__joint_limit_row {
    foliot__joint_row along[3]; // direction of the force on b; 0 of a hinge
    foliot__joint_row turn_a[3], turn_b[3];
    foliot__joint_row mass;
    foliot__joint_row side; // 1: bounded from below; -1: from above; 0: held from both sides
    foliot__joint_row gap;  // how far it is from there; negative: beyond it
    foliot__joint_row speed, strength; // of a motor: the impulse that it has in a substep
    foliot__joint_row impulse, drive;  // at the bound, and the motor's
    foliot__joint_row sum;             // of the first
} foliot__joint_limit_row;

typedef struct foliot__joint_block {
    uint32_t at; // in bytes, in the arena
    uint8_t kind, parts;
    bool alone; // the columns share bodies
} foliot__joint_block;

#define FOLIOT__JOINT_BLOCK_BYTES /* at most */                                                    \
    (sizeof(foliot__joint_head) + sizeof(foliot__joint_point) + sizeof(foliot__joint_turn) +       \
     sizeof(foliot__joint_limit_row))

// Kinds of blocks.
typedef enum foliot__joint_kind {
    FOLIOT__JOINT_BALL,
    FOLIOT__JOINT_WELD,
    FOLIOT__JOINT_HINGE,
    FOLIOT__JOINT_BOUNDED, // a hinge with limits or a motor
    FOLIOT__JOINT_LENGTH,
    FOLIOT__JOINT_KINDS,
} foliot__joint_kind;

// A part of a block; the block has it.
static inline foliot__joint_point *foliot__joint_point_of(foliot__joint_head *t)
{
    return (foliot__joint_point *)(void *)(t + 1);
}

static inline foliot__joint_turn *foliot__joint_turn_of(foliot__joint_head *t)
{
    return (foliot__joint_turn *)(void *)(foliot__joint_point_of(t) + 1);
}

static inline foliot__joint_limit_row *foliot__joint_limit_of(foliot__joint_head *t, unsigned parts)
{
    char *at = (char *)(t + 1);
    at += parts & FOLIOT__JOINT_POINT ? sizeof(foliot__joint_point) : 0;
    at += parts & FOLIOT__JOINT_TURN ? sizeof(foliot__joint_turn) : 0;
    return (foliot__joint_limit_row *)(void *)at;
}

// The blocks of a world.
typedef struct foliot__joint_blocks {
    foliot__joint_block *blocks;
    uint32_t *colour_begin; // block at which each colour begins; those without; the end
    char *arena;
    uint32_t count;
    const uint64_t *taken; // by slot: not 0 if the body has a fast joint
    vec3 *spin;            // by slot: an angular momentum
} foliot__joint_blocks;

static inline foliot__joint_head *foliot__joint_head_of(const foliot__joint_blocks *all, uint32_t k)
{
    return (foliot__joint_head *)(void *)(all->arena + all->blocks[k].at);
}

// Whether this world may have fast joints: its scene decides.
static inline bool foliot__may_have_fast_joints(const foliot_world *world)
{
    return world->scene.fast_joints != 0;
}

foliot__joint_blocks foliot__joint_blocks_of(const foliot_world *world);
// Limits are not computed in lanes: their geometry at the present poses, `h` is the length of the
// substep.
void foliot__joint_limits_measure(foliot_world *world, double h);

#endif
