// SPDX-License-Identifier: MIT
// solver_kernel.h: contact pairs eight at a time. The eight pairs of a block share no body that can
// move, so each gives the result that it would give alone, and the order of the blocks is the order
// of the solver.
#ifndef FOLIOT_SIM_SOLVER_SOLVER_KERNEL_H
#define FOLIOT_SIM_SOLVER_SOLVER_KERNEL_H

#include "base/cpu.h"
#include "sim/joint/joint_block.h"
#include "sim/solver/solver.h"

#define FOLIOT__BLOCK 8
#define FOLIOT__NOTHING                                                                            \
    UINT32_MAX // in an unused column, which has zero masses and refers to the spare solver body

// Softness of a contact (Catto, "Soft Constraints", GDC 2011): the share of the overlap that is
// corrected per unit of time, the share of the impulse that is applied, and the share of the
// accumulated impulse that is removed.
typedef struct foliot__softness {
    float rate, mass, leak;
} foliot__softness;

// One of the two phases of a substep.
typedef struct foliot__phase {
    float h, per_h;
    float ahead;                    // half of h in the soft phase, in which bodies still move; or 0
    bool soft;                      // overlaps are resolved; else only velocities are corrected
    foliot__softness moving, still; // two that move; one of the two cannot
    foliot__softness joint;         // of fast joints
} foliot__phase;

// One iteration over all blocks.
typedef struct foliot__iteration {
    const foliot__solver *solver;
    foliot__phase phase;
} foliot__iteration;

// One row a quantity, one column a pair: FOLIOT__BLOCK columns, or one for a pair without a colour.
// A block is the head and as many points as its kind has.
#define FOLIOT__BLOCK_HEAD(X)                                                                      \
    X(normal, 3)                                                                                   \
    X(tangent, 3) /* a direction across the normal; the other one is normal x tangent */           \
    X(arm_a, 3)   /* from the centres to the middle of the points */                               \
    X(arm_b, 3)                                                                                    \
    X(mass_a, 1) /* inverse */                                                                     \
    X(mass_b, 1)                                                                                   \
    X(inertia_a, 6) /* inverse inertia: xx, yy, zz, xy, xz, yz */                                  \
    X(inertia_b, 6)                                                                                \
    X(friction, 1)                                                                                 \
    X(push_max, 1) /* speed at which an overlap is pushed out at most */                           \
    X(share_a, 1)  /* of sliding: how far the place of contact moves on a; the rest moves on b */  \
    X(flat, 1)     /* 1: it is fixed to b, and turns with b; 0: b is round, and rolls over it */   \
    X(friction_mass,                                                                               \
      3) /* what the two directions of sliding weigh: inverse of a symmetric matrix */             \
    X(twist_mass, 1)                                                                               \
    X(friction_impulse, 2) /* accumulated */                                                       \
    X(twist_impulse, 1)
#define FOLIOT__BLOCK_POINT(X)                                                                     \
    X(turn_a, 3) /* arm x normal */                                                                \
    X(turn_b, 3)                                                                                   \
    X(gap, 1) /* when it was found */                                                              \
    X(mass, 1)                                                                                     \
    X(lever, 1)          /* distance from the middle */                                            \
    X(normal_impulse, 1) /* accumulated along the normal */

#define FOLIOT__ROWS(name, rows) +rows
enum {
    FOLIOT__HEAD_ROWS =
        3 FOLIOT__BLOCK_HEAD(FOLIOT__ROWS), // and slots of a and b, and the manifold
    FOLIOT__POINT_ROWS = 0 FOLIOT__BLOCK_POINT(FOLIOT__ROWS),
};
#undef FOLIOT__ROWS

// The first body of a pair: impulses move it; it is static; or it is kinematic, with a velocity
// that no impulse changes.
typedef enum foliot__side {
    FOLIOT__SIDE_MOVES,
    FOLIOT__SIDE_STILL,
    FOLIOT__SIDE_CARRIES,
} foliot__side;

// The place of a block in the arena, in units of 4 bytes, and its kind.
typedef struct foliot__solver_block {
    uint32_t at;
    uint8_t points, columns;
    uint8_t side;  // foliot__side: kind of the first body of every pair
    bool swapped;  // which is the manifold's second
    bool followed; // by a block of the same kind and colour, so that both are solved at once
} foliot__solver_block;

static inline uint32_t foliot__block_words(uint32_t points, uint32_t columns)
{
    return (FOLIOT__HEAD_ROWS + FOLIOT__POINT_ROWS * points) * columns;
}

// The names of a block: the manifold of each column, then slots a and b. Three rows at its start.
static inline uint32_t *foliot__block_names(const foliot__solver *s,
                                            const foliot__solver_block *block)
{
    return (uint32_t *)(void *)(s->arena + block->at);
}

// The fast joints, and the poses from which their geometry follows.
typedef struct foliot__joint_solver {
    const foliot__solver *s;
    foliot__joint_blocks joints;
    const foliot__phase *phase;
} foliot__joint_solver;

// fast_joints.c, in the order of a substep: before anything is applied; the impulses of the last
// one; one iteration, `phase` must live until the loops have run; after the soft phase has moved
// bodies.
void foliot__fast_joints_begin(foliot__joint_solver *fast);
void foliot__fast_joints_warm(foliot__joint_solver *fast);
void foliot__fast_joints_iterate(foliot__joint_solver *fast, const foliot__phase *phase);
void foliot__fast_joints_move(foliot__joint_solver *fast);

typedef struct foliot__joint_geometry {
    const foliot__joint_solver *solver;
    foliot__v3 x;
    double *q[4];
} foliot__joint_geometry;

// Bodies of loops; the context is the solver, unless stated.
typedef struct foliot__solver_kernel {
    // -- on blocks [begin, end)

    // Fills in the blocks whose manifolds are named, accumulated impulses from s->warm.
    foliot__loop_body *prepare;
    // Adds the accumulated impulses to the solver bodies.
    foliot__loop_body *warm;
    // The context is a foliot__iteration.
    foliot__loop_body *iterate;
    // Copies the accumulated impulses to s->warm.
    foliot__loop_body *store_impulses;

    // -- on rows [begin, end) of the list of active bodies

    // Stores the delta velocities that contacts gave the solver bodies; begin_tick also sets how
    // far the bodies have turned since the contacts were found.
    foliot__loop_body *remember_given, *begin_tick;
    // The solver bodies at the beginning of a substep; with the stored delta velocities, for the
    // soft phase; both together.
    foliot__loop_body *load, *begin_soft, *load_and_begin;
    foliot__loop_body
        *advance; // moves poses by the result of the soft phase; the relaxing phase begins
    foliot__loop_body *store; // velocities
} foliot__solver_kernel;

// joint_simd.c: on blocks [begin, end) of fast joints; the context is a foliot__joint_solver, of
// the first a foliot__joint_geometry.
typedef struct foliot__joint_kernel {
    foliot__loop_body *prepare, *warm, *iterate;
} foliot__joint_kernel;

extern const foliot__joint_kernel foliot__joints_base;
extern const foliot__joint_kernel foliot__joints_avx2;
extern const foliot__joint_kernel foliot__joints_avx512;
extern const foliot__solver_kernel foliot__solver_base;
extern const foliot__solver_kernel foliot__solver_avx2; // x86-64 alone
extern const foliot__solver_kernel foliot__solver_avx512;
// The kernel for the widest vectors of this machine.
static inline const foliot__solver_kernel *foliot__solver_of_cpu(void)
{
    return FOLIOT__KERNEL_OF_CPU(&foliot__solver);
}

#endif
