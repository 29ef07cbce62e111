// SPDX-License-Identifier: MIT
// solver.h: the contact solver, which the files of solver/ share. All of it is cache that lives for
// one tick, in the last part of the table `contact_workspace`. The impulses that the next step
// starts from are in the table `contact`.
//
//   solver.c          a substep of the stage `solve`, and where the arrays lie
//   solver_prepare.c  manifolds in colours and blocks; impulses to the table `contact` and back
//   brief_contact.c   what begins or happens between the ends of two ticks, for events
//   solver_kernel.h   the parts of that in vectors: solver_simd.c; solver_lanes.h has the pairs
#ifndef FOLIOT_SIM_SOLVER_SOLVER_H
#define FOLIOT_SIM_SOLVER_SOLVER_H

#include "foliot/query.h"
#include "sim/ccd/impact.h"
#include "sim/collide/manifold.h"
#include "sim/state/solver_body.h"

#define FOLIOT__COLOURS                                                                            \
    64                  // of contacts that share no body; one more for those without a free colour
#define FOLIOT__KINDS 9 // of blocks
#define FOLIOT__KINDS_CARRIED 6 // and more with kinematic bodies
#define FOLIOT__REGIONS 2       // of a colour

// The inverse mass of a body, at the pose at which the contacts were found.
typedef struct foliot__solver_mass {
    float inverse_mass;
    float xx, yy, zz, xy, xz, yz; // inverse inertia, world axes
    float friction;
} __attribute__((aligned(32))) foliot__solver_mass;

// Delta velocities of eight bodies, or velocities: v, then w.
typedef struct foliot__delta_velocity {
    float row[6][8];
} __attribute__((aligned(64))) foliot__delta_velocity;

// Accumulated impulses of a manifold: at the points along the normal, friction's in world axes, and
// the twist impulse about the normal.
typedef struct foliot__warm {
    float impulse[8];
} __attribute__((aligned(32))) foliot__warm;

typedef struct foliot__solver_counts {
    uint32_t live, blocks, active;
    uint32_t watched, brief, known; // brief_contact.c
    uint32_t found_now;             // 1: contacts were found in this substep
    uint32_t loaded;                // 1: light bodies carry heavy ones
} foliot__solver_counts;

struct foliot__solver_block; // solver_kernel.h

// A manifold that may begin to press in this tick.
typedef struct foliot__approach {
    uint32_t manifold; // until it has a place, its index among the live ones
    uint32_t impulses; // where in the arena its first point's impulse is
    uint32_t columns;  // of its block; until it has a place, 0 if its own bodies will not meet
    uint32_t brief;    // its row of `brief`
} foliot__approach;
#define FOLIOT__NOT_BRIEF UINT32_MAX // it has not pressed yet

// A pair that began to press in this tick. The impulse is the sum of the substeps'.
typedef struct foliot__brief {
    foliot_hit_event hit;
    uint32_t points;  // that press
    uint32_t substep; // in which it began
    bool hits;        // it approached fast enough for a hit event
} foliot__brief;
#define FOLIOT__BRIEF_BUCKET_BITS 10

typedef struct foliot__solver {
    foliot_world *world;
    const foliot__step *step;
    foliot__workers *workers; // whose threads share the loops; NULL: there are none
    foliot__ccd ccd;
    foliot__solver_counts *counts;
    // One entry a slot, unless stated:
    foliot__v3 found;              // positions at which contacts were found
    foliot__solver_body *bodies;   // and one more that never moves
    foliot__solver_mass *masses;   // the same rows
    foliot__delta_velocity *given; // by impulses in the last substep, and before that within the
                                   // present one; by eight
    foliot__delta_velocity *begun; // velocities of the solver bodies where a phase began; by eight
    uint32_t *active; // bodies that contacts or joints may push, by eight: foliot__active_first,
                      // ascending
    float *speculative_distance; // how far it may still move in this tick, and the margin
    float *travel; // how far it moves from the substep's start to the tick's end, or FOLIOT__FAR
    float *load;   // mass of the heaviest body that stands on it, or its own; 0: it is
                   // not held
    uint64_t *colours_taken; // bit c: a manifold of colour c has the body
    // `contacts` entries, unless stated:
    foliot__manifold *manifolds; // of pairs
    foliot__warm *warm;          // of manifolds
    uint8_t *kind;               // of manifolds
    uint32_t *live;              // manifolds that take part
    uint8_t *colour;             // of the live
    uint32_t *rank;              // of the live, among those of the same colour and kind
    uint32_t *first_row; // in the table `contact`, of each FOLIOT__GRAIN_PAIRS live; before, how
                         // many of them were idle
    struct foliot__solver_block *blocks; // in the order of iteration
    uint32_t *arena;                     // the data of the blocks
    uint32_t *colour_begin;              // block at which each colour begins, and the end
    foliot__approach *watched; // manifolds; while they are prepared, in chunks as first_row
    foliot__brief *brief;      // of the tick; as many as there may be hit events
    uint64_t *keys;            // twice as many
    uint32_t *buckets;         // of `brief`: FOLIOT__BRIEF_BUCKET_BITS
} foliot__solver;

// solver.c: bytes of the table `contact_workspace`, and its preparation at init and restore.
uint64_t foliot__contact_workspace_bytes(const foliot_world_config *config);
void foliot__contact_prepare(foliot_world *world);
// step.c: applies impulses and position corrections. Clears world->acceleration_valid if a position
// changed.
void foliot__solve_contacts(const foliot__step *step);
foliot__solver foliot__solver_of(const foliot__step *step);

// A row of `active`: the first of eight slots, and a bit for each of these that is active.
static inline uint32_t foliot__active_first(uint32_t row)
{
    return row >> 8 << 3;
}

static inline uint32_t foliot__active_bits(uint32_t row)
{
    return row & 0xff;
}

// How many indices a chunk of a shared loop has.
#define FOLIOT__GRAIN_BLOCKS 2
#define FOLIOT__GRAIN_ACTIVE (FOLIOT__GRAIN_BODIES / 8)
// solver_prepare.c: enqueues `part` on all blocks, colour after colour; those without a colour in
// one chunk.
void foliot__plan_colours(foliot__solver *s, foliot__loop_body *part, void *context);
// The inverse moments of a body as the solver uses them: binary32 resolves no greater ratio than
// 2^16 in world axes, so a thinner rod has as much.
vec3 foliot__solver_inverse_moments(const foliot_world *world, uint32_t i);
// The inverse inertia of a moving body with orientation q, in world axes: R diag(inverse) R^t.
void foliot__solver_set_inertia(const foliot_world *world, uint32_t i, quat q,
                                foliot__solver_mass *mass);
// Manifolds at the present poses, in blocks, with their earlier impulses.
void foliot__prepare_contacts(foliot__solver *s);
// The manifolds' impulses so far in the tick go to the world's table.
void foliot__store_contacts(foliot__solver *s);

// brief_contact.c: before contacts are prepared; for a pair that these know, its row of `brief`;
// after they are prepared; after a substep; and after the tick's last one, when the table `contact`
// is stored.
void foliot__find_known_brief(foliot__solver *s);
uint32_t foliot__brief_of(const foliot__solver *s, uint32_t a, uint32_t b);
void foliot__watch_approaches(foliot__solver *s);
void foliot__note_brief(foliot__solver *s);
void foliot__report_brief(foliot__solver *s);

// The smaller inradius of two bodies, of which at least one can move; one that cannot move does not
// count.
static inline float foliot__inradius_min(const foliot__solver *s, uint32_t a, uint32_t b)
{
    const float *inradius = s->ccd.collider.inradius;
    float of_a = s->masses[a].inverse_mass > 0 ? inradius[a] : FOLIOT__FAR;
    float of_b = s->masses[b].inverse_mass > 0 ? inradius[b] : FOLIOT__FAR;
    return of_a < of_b ? of_a : of_b;
}

_Static_assert(FOLIOT__POINTS == 4, "the gap of each point is read");
static inline float foliot__least_gap(const foliot__manifold *m)
{
    const foliot__manifold_point *p = m->point;
    float least = p[0].gap;
    if (m->count > 1)
        least = p[1].gap < least ? p[1].gap : least;
    if (m->count > 2)
        least = p[2].gap < least ? p[2].gap : least;
    if (m->count > 3)
        least = p[3].gap < least ? p[3].gap : least;
    return least;
}

#endif
