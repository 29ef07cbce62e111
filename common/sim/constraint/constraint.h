// SPDX-License-Identifier: MIT
// constraint.h: distance constraints by position correction (Jakobsen 2001), rods by SHAKE/RATTLE.
#ifndef FOLIOT_SIM_CONSTRAINT_CONSTRAINT_H
#define FOLIOT_SIM_CONSTRAINT_CONSTRAINT_H

#include "sim/state/state.h"

uint64_t foliot__constraint_workspace_bytes(const foliot_world_config *config);
void foliot__constraint_prepare(foliot_world *world);
void foliot__constraint_copy(foliot_world *to, const foliot_world *from);

// The stage `solve`, part one: iterations of position correction over the distance constraints, in
// index order, then velocities (and verlet's `previous`) made to agree, then breaks. After the
// integrator.
void foliot__solve_distances(const foliot__step *step);

// Rods, called by the integrators that admit them. Positions x were reached from x_before (where
// the rods held) in `duration`: moves x along the rods' directions at x_before until they hold
// (SHAKE), and adds the same displacement / duration to v.
bool foliot__has_rods(const foliot_world *world);
void foliot__shake(const foliot__step *step, foliot__v3 x_before, foliot__v3 x, foliot__v3 v,
                   double duration);
// Takes the relative velocity along every rod out of v (the second half of RATTLE).
void foliot__rattle(const foliot__step *step, foliot__v3 x, foliot__v3 v);

// -- the table `constraint_workspace`: the unbroken constraints in a form for speed. Cache: rebuilt
// from the definitions at init, at restore and whenever one breaks.

// A constraint between the centres of two bodies, or of a body and a point of the world.
typedef struct foliot__distance_link {
    uint32_t a, b;   // b FOLIOT_NO_BODY: `anchor`
    uint32_t index;  // in the table `constraint`
    uint32_t solved; // true: as part of a tree, and the iterations leave it out
    double length, length_min, stiffness;
    double anchor[3];
    double inverse_mass[2]; // of a and b, when trees were last searched for
} foliot__distance_link;

typedef enum foliot__link_mode {
    FOLIOT__LINK_SLACK,
    FOLIOT__LINK_PULLS,
    FOLIOT__LINK_PUSHES,
} foliot__link_mode;

// A body in a tree of distances with its link to the parent (constraint.c). Masses are shares
// of the tree's heaviest.
typedef struct foliot__tree_node {
    uint32_t slot;   // FOLIOT_NO_BODY: a leaf that stands for a further fixed end
    uint32_t parent; // UINT32_MAX: none; the root's link leads to a fixed end
    uint32_t link;   // UINT32_MAX: none; the tree floats
    uint32_t count;  // of the first: nodes in this tree
    foliot__link_mode mode;
    double scale; // of the first: the heaviest mass
    double mass;
    vec3 u;                 // displacement from where the integrator left it
    vec3 d;                 // unit vector to the other end
    double distance, error; // of the other end; the error is greater than 0 where too long
    double lambda;          // greater than 0 where it pulls
    vec3 move, push;        // in this iteration; on the body, by its subtree as well
    mat3 felt, mobility;    // mass of the subtree as felt here, and its inverse
    mat3 turn, z;           // see pass_up
    vec3 sum;               // of the subtree, for the first multipliers
    double weight;
} foliot__tree_node;

typedef struct foliot__links {
    uint32_t *counts;                 // distances, rods, nodes, whether trees were searched for
    foliot__distance_link *distances; // in solving order
    foliot__distance_link *rods;      // in index order
    double *impulse; // one per link of its kind: impulse applied so far in the step
    double *rod[8];  // of rods: for the solver (rattle.c)
    foliot__v3 body; // a vector a body
    // Trees of distances. A copy of the world searches for them again.
    foliot__tree_node *nodes;
    uint32_t *head, *reached; // by slot: its list in `next`, its node while searching
    uint32_t *next;           // two a link
} foliot__links;

foliot__links foliot__links_of(const foliot_world *world);

// Breaks constraint `index`: it is never looked at again. The links must be rebuilt.
void foliot__constraint_break(foliot_world *world, uint32_t index, foliot_break cause);

static inline uint32_t foliot__distance_count(const foliot__links *links)
{
    return links->counts[0];
}
static inline uint32_t foliot__rod_count(const foliot__links *links)
{
    return links->counts[1];
}

#endif
