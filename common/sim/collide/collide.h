// SPDX-License-Identifier: MIT
// collide.h: the collider, which the files of collide/ share: the paths of bodies through a
// substep, the broad phase's grid and the pairs that may be in contact. All of it is cache that
// lives for one tick, in the first part of the table `contact_workspace`. ccd/ and solver/ have the
// other parts.
//
//   collider.c        where its arrays lie; where a body is on its path, and how it turns; the
//   table
//                     of pairs; how long the pairs stay valid
//   broadphase.c      bounds of every body's motion -> pairs whose bounds meet, ascending (a, b)
//   path_simd.c       paths of bodies from the motion that the scheme has made
//   manifold.c        contact points of a pair
//   contact_event.c   what a step reports of contacts
//   query.c           rays, casts, overlaps: independent of steps
#ifndef FOLIOT_SIM_COLLIDE_COLLIDE_H
#define FOLIOT_SIM_COLLIDE_COLLIDE_H

#include "sim/state/workspace.h"
#include "sim/state/parallel_for.h"
#include "sim/state/state.h"

// In units of the body's inradius:
#define FOLIOT__SPECULATIVE_MARGIN 0x1p-5 // contacts are found this much further away
#define FOLIOT__FAT_MARGIN                                                                         \
    0x1p-4 // a body may leave its path by this much before pairs are found again
#define FOLIOT__LEVELS 64
#define FOLIOT__FAR 0x1p60f  // a gap that is never closed
#define FOLIOT__FAR_TURN 2.0 // radians in a substep: more than contacts can follow

// A body's bounds over the step, and where it stands in the grid.
typedef struct foliot__bounds {
    double min[3], max[3];
    uint32_t body;
    uint32_t row; // 14 bits of cell in z, 14 in y
    uint32_t x;   // of min[0], 30 bits
    uint32_t unused;
} foliot__bounds;

typedef struct foliot__level {
    uint32_t begin, end; // rows of the sorted bounds
    double cell;         // at least the size of the bounds of every body of the level
    double origin[3];
    double per_cell, per_x;
} foliot__level;

typedef struct foliot__body_pair {
    uint32_t a, b; // a < b
} foliot__body_pair;

// The region that a body's centre may reach, from `at` on, before the broad phase runs again.
typedef struct foliot__fat_bounds {
    vec3 at;
    float displacement[3], margin;
} foliot__fat_bounds;

struct foliot__sweep; // sweep.h

// Paths of bodies: x(t) = position - end_velocity (dt - t) + acceleration (dt - t)^2 / 2 from
// `since` on. One entry a slot.
typedef struct foliot__paths {
    foliot__v3 start;             // positions at the substep's start
    double *start_orientation[4]; // orientations where the path begins, w x y z
    foliot__v3 start_velocity;    // until the paths are found; it shares memory with `acceleration`
    foliot__v3 acceleration;
    foliot__v3 end_velocity; // as the positions show it
    double *since;
    double *restitution_threshold; // speed that the step's acceleration gives: slower impacts do
                                   // not bounce
    double *displacement_max;      // of the surface; infinite where the body bounces
    uint32_t *revision;            // how often impacts have changed the path
    bool *sweep_valid;             // whether its sweep is that of the present path
    bool *struck;                  // whether an impact has changed the path in this substep
    struct foliot__sweep *sweeps;
} foliot__paths;

// The broad phase's: bodies by size and place. One entry a slot.
typedef struct foliot__body_grid {
    foliot__bounds *bounds, *sorted;
    float *low[3], *high[3]; // of the sorted, rounded outwards; and a few rows more
    uint64_t *keys, *keys_spare;
    uint32_t *order, *order_spare;
    uint32_t *pairs_of_a, *pairs_of_b; // pairs of each body; they share memory with the orders
    uint32_t *planes;
    foliot__level *levels; // FOLIOT__LEVELS
} foliot__body_grid;

typedef struct foliot__collide_counts {
    uint32_t sorted, planes, pairs;
    uint32_t full;     // 1: the table of pairs is full of pairs that differ
    uint32_t stale;    // 1: manifolds must be found again before they are solved
    uint64_t levels;   // bit l: some body is in level l; the others are not written
    double found_left; // what was left of the tick when the bounds of all bodies were set
} foliot__collide_counts;

typedef struct foliot__collider {
    foliot_world *world;
    const foliot__step *step;
    foliot__workers *workers; // whose threads share the loops; NULL: there are none
    foliot__collide_counts *counts;
    float *inradius;        // radius of the largest centred ball inside the body
    float *bounding_radius; // radius of the ball around it
    foliot__paths paths;
    foliot__body_grid grid;
    foliot__fat_bounds *fat_bounds;
    foliot__body_pair *pairs, *pairs_spare; // `contacts` entries
} foliot__collider;

// collider.c: the first part of the table `contact_workspace`.
void foliot__collider_carve(foliot__collider *c, foliot__carver *from, size_t slots,
                            size_t contacts);
foliot__collider foliot__collider_of(const foliot__step *step);
// step.c: before the scheme moves anything, remembers where paths start.
void foliot__paths_begin(const foliot__step *step);
// path_simd.c: fills sizes and paths of slots [begin, end), rounded up to eight, from the motion
// that the scheme has made: inradius and bounding radius, in a tick's first substep; acceleration,
// end velocity, restitution threshold, displacement, since and revision. The context is a collider.
foliot__loop_body foliot__find_paths_base, foliot__find_paths_avx2, foliot__find_paths_avx512;
// Appends a pair; counted if there is no room. The pairs must be put in order
// afterwards.
void foliot__add_pair(foliot__collider *c, uint32_t a, uint32_t b);
// Sorts the pairs: ascending (a, b).
void foliot__sort_pairs(foliot__collider *c);
// Sorts the pairs and drops repeats.
void foliot__order_pairs(foliot__collider *c);

// Body i may continue as it does now, for its pairs are those of this path.
void foliot__fat_bounds_reset(const foliot__collider *c, uint32_t i);
void foliot__fat_bounds_reset_all(foliot__collider *c);
// Whether some body has left its fat bounds, or has turned too far for its contacts.
bool foliot__fat_bounds_left(foliot__collider *c);

// broadphase.c: fills bounds, planes and pairs. Pairs that cannot touch in this step may be among
// them.
void foliot__find_pairs(foliot__collider *c);
// The bounds of a body's path from time `since` to the end.
foliot__bounds foliot__bounds_of(const foliot__collider *c, uint32_t body, double since);
// Calls meet(context, body) for every body of the grid whose bounds meet `box`, in no order to rely
// on.
void foliot__query(const foliot__collider *c, const foliot__bounds *box,
                   void (*meet)(void *context, uint32_t body), void *context);

// How many indices a chunk of a shared loop has.
#define FOLIOT__GRAIN_BODIES 64
#define FOLIOT__GRAIN_PAIRS 64

static inline bool foliot__bounds_meet(const foliot__bounds *a, const foliot__bounds *b)
{
    // Without branches, because these cannot be predicted.
    return (a->min[0] <= b->max[0]) & (b->min[0] <= a->max[0]) & (a->min[1] <= b->max[1]) &
           (b->min[1] <= a->max[1]) & (a->min[2] <= b->max[2]) & (b->min[2] <= a->max[2]);
}

static inline bool foliot__is_solid(const foliot_world *world, uint32_t slot)
{
    return (foliot__flags(world)[slot] & (FOLIOT_BODY_ALIVE | FOLIOT_BODY_SENSOR)) ==
               FOLIOT_BODY_ALIVE &&
           foliot__shape_kind(world)[slot] != FOLIOT_SHAPE_POINT;
}

#endif
