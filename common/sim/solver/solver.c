// SPDX-License-Identifier: MIT
// solver.c: one substep of soft, warm-started, relaxed impulses (Catto, "Soft Constraints", GDC
// 2011, and "Solver2D", 2024), for any scheme.
//
// The scheme has moved a body from x0 to x with the mean velocity u = (x - x0) / h, and its
// velocity to v. Impulses P of the last substep are given to velocities in full, to positions by
// the share c that the scheme gives a force (response.h), so that what rests stays where it was
// under every scheme. In the soft phase the movers are U = u + c P / m: contacts and joints see
// where the substep will end, and pull overlaps and errors out as damped springs would. What they
// add counts in full. Then positions move by h (U - u), and in the relaxing phase the movers are
// the velocities that result: what the pull has added is taken out again, and friction and pushes
// are set right.
//
// Impulses are binary32, positions and velocities binary64: they get differences, and what nothing
// has pushed keeps its bits.
#include "sim/collide/collide.h"

#include "sim/solver/solver_kernel.h"
#include "sim/joint/joint.h"
#include "sim/state/joint_table.h"

#include <string.h>

#define HERTZ_A_TICK 0.75 // of a touch's spring: its fastest, against ticks ...
#define HERTZ_A_STEP 0.25 // ... and against substeps
#define DAMPING_RATIO 12
#define STILL_HERTZ 2    // times as stiff where one of the two cannot move
#define STEPS_SWEPT 4    // visits of the soft phase in a tick, at least
#define PAIRS_SHARED 256 // fewer are done before another thread has woken up
#define RELAXING 2       // visits of the relaxing phase for each of them
// A joint takes back most of what a touch gives a light limb under a heavy trunk: what such a touch
// pushes is found in more visits than others need. Too few leave some of the pull out of an overlap
// in it, which rocks the doll; so it pulls less, too.
#define RELAXING_JOINED 6
#define JOINED_HERTZ 0.5

// -- phases

static foliot__softness softness_of(double hertz, double h)
{
    double omega = 2 * 3.14159265358979323846 * hertz;
    double a1 = 2 * DAMPING_RATIO + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    return (foliot__softness){(float)(omega / a1), (float)(a2 * a3), (float)a3};
}

static foliot__phase phase_of(const foliot__collider *c)
{
    double h = c->step->dt;
    double hertz = foliot__smaller(HERTZ_A_TICK / c->world->dt, HERTZ_A_STEP / h);
    if (foliot__has_joints(c->world))
        hertz *= JOINED_HERTZ;
    return (foliot__phase){.h = (float)h,
                           .per_h = (float)(1 / h),
                           .moving = softness_of(hertz, h),
                           .still = softness_of(STILL_HERTZ * hertz, h)};
}

// Joints are solved afresh in every substep: only what contacts pushed is given again.
static void still_part(void *context, uint32_t begin, uint32_t end)
{
    const foliot__collider *c = context;
    for (uint32_t k = begin; k < end; k++)
        for (uint32_t bits = foliot__touched_bits(c->touched[k]); bits; bits &= bits - 1) {
            uint32_t i = foliot__touched_first(c->touched[k]) + (uint32_t)__builtin_ctz(bits);
            memset(c->movers[i].v, 0, sizeof c->movers[i].v);
            memset(c->movers[i].w, 0, sizeof c->movers[i].w);
        }
}

// -- a substep

typedef struct visiting {
    const foliot__collider *c;
    foliot__phase phase;
} visiting;

static void visit_part(void *context, uint32_t from, uint32_t to)
{
    const visiting *v = context;
    foliot__solver_of_cpu()->visit(v->c, &v->phase, from, to);
}

static void visit(foliot__collider *c, visiting *v)
{
    if (foliot__has_joints(c->world)) {
        foliot__parallel_wait(c->workers);
        foliot__joints_solve(c->world, c->movers, v->phase.h, v->phase.soft);
    }
    foliot__plan_colours(c, visit_part, v);
}

static void keep_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->keep(context, from, to);
}

// What the manifolds have pushed so far in the tick, to the world's table.
static void keep(foliot__collider *c)
{
    foliot__parallel_enqueue(c->workers, 0, c->counts[FOLIOT__COUNT_BLOCKS], FOLIOT__GRAIN_BLOCKS, keep_part,
                      c);
    foliot__keep_contacts(c);
}

static void load_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->load_and_begin(context, from, to);
}

static void advance_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->advance(context, from, to);
}

static void store_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->store(context, from, to);
}

static void smooth_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->load(context, from, to);
}

static void take_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->take_given(context, from, to);
}

static void begin_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->begin_soft(context, from, to);
}

static void plan_touched(foliot__collider *c, foliot__loop_body *part)
{
    foliot__parallel_enqueue(c->workers, 0, c->counts[FOLIOT__COUNT_TOUCHED], FOLIOT__GRAIN_TOUCHED, part, c);
}

static void begin_joined(foliot__collider *c)
{
    plan_touched(c, still_part);
    foliot__plan_colours(c, foliot__warm_part, c);
    plan_touched(c, take_part);
    plan_touched(c, smooth_part);
    foliot__parallel_wait(c->workers);
    foliot__joints_smooth(c->world, c->movers);
    plan_touched(c, begin_part);
}

static void solve_touched(foliot__collider *c)
{
    foliot_world *world = c->world;
    visiting soft = {c, phase_of(c)}, relaxing = soft;
    uint32_t sweeps = (STEPS_SWEPT + world->substeps - 1) / world->substeps;
    bool joints = foliot__has_joints(world);
    soft.phase.soft = true;
    if (joints)
        begin_joined(c);
    else
        plan_touched(c, load_part);
    for (uint32_t k = 0; k < sweeps; k++)
        visit(c, &soft);
    plan_touched(c, advance_part);
    for (uint32_t k = 0; k < (joints ? RELAXING_JOINED : RELAXING) * sweeps; k++)
        visit(c, &relaxing);
    plan_touched(c, store_part);
    foliot__parallel_wait(c->workers);
    world->acceleration_valid = 0;
}

static void solve(foliot__workers *workers, void *context)
{
    foliot__collider *c = context;
    c->workers = workers;
    if (c->counts[FOLIOT__COUNT_STALE]) {
        if (c->step->index > 0)
            keep(c);
        foliot__prepare_contacts(c);
    }
    if (c->counts[FOLIOT__COUNT_TOUCHED] > 0)
        solve_touched(c);
    if (c->step->last)
        keep(c);
}

void foliot__solve(foliot__collider *c)
{
    bool many = c->counts[FOLIOT__COUNT_PAIRS] >= PAIRS_SHARED && !c->workers;
    if (many)
        foliot__workers_run(c->step->host, solve, c);
    else
        solve(c->workers, c);
}
