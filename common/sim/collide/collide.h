// SPDX-License-Identifier: MIT
// collide.h: what the files of collide/ share. All of it is cache that lives for one step, in the
// table `contact_workspace`; what the next step starts from is truth (the tables contact_*).
//
//   broadphase.c      bounds of every body's motion -> pairs whose bounds meet, ascending (a, b)
//   impact.c          impacts on the way, in the order of time
//   ride.c            where a body is on its way
//   time_of_impact.c  when two that turn come to touch
//   blow.c            what an impact does
//   touch.c           what a step tells of contacts
//   manifold.h        where the shapes of a pair touch
//   solver_prepare.c  manifolds in colours and blocks
//   solver.c          a substep's impulses, then positions, then velocities
//   solver_kernel.h   what of that goes through vectors: solver_lanes.h pairs, solver_bodies.h
//   bodies contact.c         the stages, and what is kept for the next step
#ifndef FOLIOT_SIM_COLLIDE_COLLIDE_H
#define FOLIOT_SIM_COLLIDE_COLLIDE_H

#include "sim/state/parallel_for.h"
#include "sim/state/solver_body.h"
#include "sim/state/state.h"

// Of the radius of a ball inside the body:
#define FOLIOT__MARGIN 0x1p-5 // contacts reach this much further
#define FOLIOT__SLACK 0x1p-4  // a body may leave its way by this much before pairs are found anew
#define FOLIOT__LEVELS 64
#define FOLIOT__COLOURS 64   // of contacts that share no body; one more for those that find none
#define FOLIOT__KINDS 9      // of blocks
#define FOLIOT__REGIONS 2    // of a colour
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
    double cell;         // at least the extent of every body of the level
    double origin[3];
    double per_cell, per_x;
} foliot__level;

typedef struct foliot__pair {
    uint32_t a, b; // a < b
} foliot__pair;

typedef struct foliot__impact {
    double time; // after the step's start
    uint32_t a, b;
    uint32_t age_a, age_b; // of the paths that it was computed from
} foliot__impact;

// What impulses have given eight bodies in a substep, or where their movers began a phase: v, then
// w.
typedef struct foliot__kicks {
    float row[6][8];
} __attribute__((aligned(64))) foliot__kicks;

// Where a body's centre may go, from `at` on, without new pairs being looked for.
typedef struct foliot__roam {
    double at[3];
    float way[3], slack;
} foliot__roam;

// Accumulated impulses of a manifold: at the points along the normal, friction's in world axes, and
// the twist about the normal.
typedef struct foliot__warm {
    float impulse[8];
} __attribute__((aligned(32))) foliot__warm;

struct foliot__block; // solver_kernel.h
struct foliot__manifold;
struct foliot__ride; // impact.h

// The table, laid out. `slots` rows unless said.
typedef struct foliot__collider {
    foliot_world *world;
    const foliot__step *step;
    foliot__workers *workers; // who shares the loops; NULL: nobody
    uint32_t *counts;   // by FOLIOT__COUNT_*
    // Paths: x(t) = x_end - v_end (dt - t) + acceleration (dt - t)^2 / 2 from `since` on.
    foliot__v3 start;        // positions at the step's start
    double *begin_q[4];      // orientations where the path began, w x y z
    foliot__v3 acceleration; // until collide: velocities at the step's start
    foliot__v3 path;         // velocities at the end, as the positions tell them
    double *since;
    double *rest; // speed that the step's acceleration gives: slower impacts do not bounce
    uint32_t *age;
    uint32_t
        *held;    // 1 + the tick's last substep in which an impact stopped it for the rest; 0: none
    bool *riding; // whether its ride is that of the present path
    struct foliot__ride *rides;
    uint32_t *changed;    // bodies whose path an impact has changed
    uint32_t *changed_at; // and where each stands in that list
    foliot__bounds *changed_bounds;
    foliot__bounds *bounds, *sorted;
    float *low[3], *high[3]; // of the sorted, rounded outwards; and a few rows more
    uint64_t *keys, *keys_spare;
    uint32_t *order, *order_spare;
    uint32_t *planes;
    foliot__level *levels; // FOLIOT__LEVELS
    double *way;           // the longest that its own path may be; infinite where it bounces
    float *core;           // radius of a ball inside the body
    float *extent;         // radius of the ball around it
    float *reach;          // how far it may still go in this tick towards others, and the margin
    foliot__roam *roam;
    foliot__v3 found;      // where bodies were when their contacts were found
    foliot__mover *movers; // by slot, and one more that never moves
    foliot__ease *eases;   // the same rows
    foliot__kicks
        *given; // by impulses in the last substep, and before that within the present one; by eight
    foliot__kicks *begun; // the movers at a phase's begin; by eight
    uint32_t *touched; // bodies that contacts or joints may push, by eight: foliot__touched_first,
                       // ascending
    // `contacts` rows
    foliot__pair *pairs, *pairs_spare;
    foliot__impact *impacts;
    struct foliot__manifold *manifolds; // of pairs
    foliot__warm *warm;                 // of manifolds
    uint32_t *live;                     // manifolds that take part
    uint8_t *colour;                    // of the live
    uint8_t *kind;                      // of manifolds
    struct foliot__block *blocks;       // in the order of visits
    uint32_t *arena;                    // what they hold
    uint32_t *colours;                  // block at which each colour begins, and the end
} foliot__collider;

enum {
    FOLIOT__COUNT_SORTED,
    FOLIOT__COUNT_PLANES,
    FOLIOT__COUNT_PAIRS,
    FOLIOT__COUNT_FULL, // 1: of pairs that differ
    FOLIOT__COUNT_CHANGED,
    FOLIOT__COUNT_REMEMBERED, // of the changed: since an earlier substep
    FOLIOT__COUNT_IMPACTS,
    FOLIOT__COUNT_LIVE,
    FOLIOT__COUNT_BLOCKS,
    FOLIOT__COUNT_TOUCHED,
    FOLIOT__COUNT_STALE, // 1: manifolds must be found anew before they are solved
    FOLIOT__COUNT_HELD,  // bodies stopped for the rest of the step
    FOLIOT__COUNT_LOST,  // impacts for which the queue had no room
};

foliot__collider foliot__collider_of(const foliot__step *step);
// contact.c: fills acceleration, path, rest, way, since and age from the motion that the scheme has
// made.
void foliot__find_paths(foliot__collider *c);

// broadphase.c: fills bounds, planes and pairs. Pairs that cannot touch in this step may be among
// them.
void foliot__find_pairs(foliot__collider *c);
// The bounds of a body's path from time `since` to the end.
foliot__bounds foliot__bounds_of(const foliot__collider *c, uint32_t body, double since);
// Calls meet(context, body) for every body of the grid whose bounds meet `box`, in no order to rely
// on.
void foliot__query(const foliot__collider *c, const foliot__bounds *box,
                   void (*meet)(void *context, uint32_t body), void *context);
// Appends a pair; counted if there is no room. The pairs must be put in order afterwards.
void foliot__add_pair(foliot__collider *c, uint32_t a, uint32_t b);
// Ascending (a, b), each once.
void foliot__order_pairs(foliot__collider *c);

// impact.c: finds and applies impacts until the step's end.
void foliot__run_impacts(foliot__collider *c);

// contact.c: what the manifolds pushed, to the world's table; and from there to c->warm.
void foliot__keep_contacts(foliot__collider *c);
void foliot__match_contacts(foliot__collider *c, uint32_t begin, uint32_t end); // of the live

// A row of `touched`: the first of eight slots, and a bit for each of these that is touched.
static inline uint32_t foliot__touched_first(uint32_t row)
{
    return row >> 8 << 3;
}

static inline uint32_t foliot__touched_bits(uint32_t row)
{
    return row & 0xff;
}

// How many indices of a shared loop go at once.
#define FOLIOT__GRAIN_BLOCKS 2
#define FOLIOT__GRAIN_BODIES 64
#define FOLIOT__GRAIN_TOUCHED (FOLIOT__GRAIN_BODIES / 8)
#define FOLIOT__GRAIN_PAIRS 64
// solver_prepare.c: plans part on all blocks, colour after colour; those without a colour in one
// piece.
void foliot__plan_colours(foliot__collider *c, foliot__loop_body *part, void *context);
// Gives the movers what blocks [begin, end) have accumulated; the context is a collider.
void foliot__warm_part(void *collider, uint32_t begin, uint32_t end);

// solver_prepare.c: manifolds at the present poses, in blocks, with what they pushed before.
void foliot__prepare_contacts(foliot__collider *c);

// solver.c: one substep.
void foliot__solve(foliot__collider *c);

// The smaller core of two, of which one moves at least; what cannot move has no say.
static inline float foliot__core_of(const foliot__collider *c, uint32_t a, uint32_t b)
{
    float core_a = c->eases[a].inverse_mass > 0 ? c->core[a] : FOLIOT__FAR;
    float core_b = c->eases[b].inverse_mass > 0 ? c->core[b] : FOLIOT__FAR;
    return core_a < core_b ? core_a : core_b;
}

// Speed at which an overlap of two bodies is pushed out at most: an eighth of the smaller one in a
// tick.
static inline float foliot__push_max(const foliot__collider *c, uint32_t a, uint32_t b)
{
    return foliot__core_of(c, a, b) * 0.125f / (float)c->world->dt;
}

static inline bool foliot__bounds_meet(const foliot__bounds *a, const foliot__bounds *b)
{
    // Without branches: nobody could foresee them.
    return (a->min[0] <= b->max[0]) & (b->min[0] <= a->max[0]) & (a->min[1] <= b->max[1]) &
           (b->min[1] <= a->max[1]) & (a->min[2] <= b->max[2]) & (b->min[2] <= a->max[2]);
}

static inline bool foliot__is_solid(const foliot_world *world, uint32_t slot)
{
    return (foliot__flags(world)[slot] & FOLIOT_BODY_ALIVE) &&
           foliot__shape_kind(world)[slot] != FOLIOT_SHAPE_POINT;
}

static inline double foliot__dot(const double a[3], const double b[3])
{
    return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline double foliot__larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double foliot__smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
