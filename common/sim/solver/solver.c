// SPDX-License-Identifier: MIT
// solver.c: one substep of soft, warm-started, relaxed impulses (Catto, "Soft Constraints", GDC
// 2011, and "Solver2D", 2024), for any scheme.
//
// The scheme has moved a body from x0 to x with the mean velocity u = (x - x0) / h, and has changed
// its velocity to v. Impulses P of the last substep are added to velocities in full, and to
// positions by the share c that the scheme gives a force (response.h). So a body at rest stays
// where it is under every scheme. In the soft phase the velocity of a solver body is U = u + c P /
// m: contacts and joints see where the substep will end, and remove overlaps and errors as damped
// springs would. Their changes count in full. Then positions move by h (U - u). In the relaxing
// phase the solver bodies have the resulting velocities: the spring's share is taken out again, and
// friction and normal impulses are corrected.
//
// Impulses are binary32, positions and velocities binary64. Only increments are added, so a body
// that nothing has pushed keeps its bits.
#include "sim/solver/solver.h"

#include "sim/solver/solver_kernel.h"
#include "sim/joint/joint.h"
#include "sim/integrator/scheme.h"
#include "sim/state/joint_table.h"

#include <string.h>

#define HERTZ_A_TICK 0.75 // highest frequency of a contact's spring, in terms of ticks ...
#define HERTZ_A_STEP 0.25 // ... and of substeps
#define DAMPING_RATIO 12
#define STILL_HERTZ 2    // times the frequency where one of the two cannot move
#define STEPS_SWEPT 4    // iterations of the soft phase in a tick, at least
#define PAIRS_SHARED 256 // with fewer, the work is done before another thread wakes up
#define LOADED_SWEEPS 2  // times as many iterations where light bodies carry heavy ones
#define LOADED_HERTZ 2   // and times the frequency
#define RELAXING 2       // iterations of the relaxing phase for each of them
// A joint takes back most of what a contact gives a light limb under a heavy trunk, so such
// contacts need more iterations. With too few, some of the overlap correction stays in the velocity
// and rocks the doll; so the correction is softer, too.
#define RELAXING_JOINED 6
#define JOINED_HERTZ 0.5

// -- phases

static foliot__softness softness_of(double hertz, double h)
{
    double omega = 2 * 3.14159265358979323846 * hertz;
    double a1 = 2 * DAMPING_RATIO + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    return (foliot__softness){(float)(omega / a1), (float)(a2 * a3), (float)a3};
}

static foliot__phase phase_of(const foliot__solver *s)
{
    double h = s->step->dt;
    double hertz = foliot__smaller(HERTZ_A_TICK / s->world->scene.dt, HERTZ_A_STEP / h);
    if (foliot__has_joints(s->world))
        hertz *= JOINED_HERTZ;
    double loaded = s->counts->loaded ? LOADED_HERTZ : 1;
    return (foliot__phase){.h = (float)h,
                           .per_h = (float)(1 / h),
                           .moving = softness_of(loaded * hertz, h),
                           .still = softness_of(STILL_HERTZ * hertz, h)};
}

// Joints are solved anew in every substep: only the contacts' impulses are applied again.
static void clear_range(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    for (uint32_t k = begin; k < end; k++)
        for (uint32_t bits = foliot__active_bits(s->active[k]); bits; bits &= bits - 1) {
            uint32_t i = foliot__active_first(s->active[k]) + (uint32_t)__builtin_ctz(bits);
            memset(s->bodies[i].v, 0, sizeof s->bodies[i].v);
            memset(s->bodies[i].w, 0, sizeof s->bodies[i].w);
        }
}

// -- a substep

static void iterate(foliot__solver *s, foliot__iteration *iteration)
{
    const foliot__phase *phase = &iteration->phase;
    if (foliot__has_joints(s->world)) {
        foliot__parallel_wait(s->workers);
        foliot__joints_solve(s->world, s->bodies, phase->h, phase->soft);
    }
    foliot__plan_colours(s, foliot__solver_of_cpu()->iterate, iteration);
}

// Stores what the manifolds have pushed so far in the tick.
static void store_impulses(foliot__solver *s)
{
    foliot__parallel_enqueue(s->workers, 0, s->counts->blocks, FOLIOT__GRAIN_BLOCKS,
                             foliot__solver_of_cpu()->store_impulses, s);
    foliot__store_contacts(s);
}

static void plan_active(foliot__solver *s, foliot__loop_body *part)
{
    foliot__parallel_enqueue(s->workers, 0, s->counts->active, FOLIOT__GRAIN_ACTIVE, part, s);
}

// -- kinematic bodies, which contacts see where they are and as they move

// Since the contacts were found: at the end of the substep `found_now`, where it has begun at the
// substep's start. In the soft phase, by which bodies move, it is as fast as what it carries.
static void place_kinematic(const foliot__solver *s, uint32_t i, foliot__v3 at, bool begins)
{
    foliot__v3 v = foliot__velocity(s->world), w = foliot__angular_velocity(s->world);
    float h = (float)s->step->dt;
    foliot__solver_body *body = &s->bodies[i];
    const double moved[3] = {at.x[i] - s->found.x[i], at.y[i] - s->found.y[i],
                             at.z[i] - s->found.z[i]};
    const double speed[3] = {v.x[i], v.y[i], v.z[i]}, spin[3] = {w.x[i], w.y[i], w.z[i]};
    double rate = begins ? foliot__cayley_rate(spin, s->step->dt) : 1;
    for (int k = 0; k < 3; k++) {
        float turn = h * (float)spin[k];
        body->moved[k] = (float)moved[k];
        body->v[k] = (float)speed[k];
        body->w[k] = (float)(spin[k] * rate);
        if (!begins)
            body->turned[k] += turn;
        else if (s->counts->found_now)
            body->turned[k] = -turn;
    }
    body->follows = 1;
}

static void place_kinematics(const foliot__solver *s, foliot__v3 at, bool begins)
{
    for (uint32_t i = 0; s->world->counts.kinematic > 0 && i < s->step->count; i++)
        if (foliot__is_kinematic(s->world, i))
            place_kinematic(s, i, at, begins);
}

// Where the substep ends.
static void advance_kinematics(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    (void)begin, (void)end; // in one
    place_kinematics(s, foliot__position(s->world), false);
}

static void begin_with_joints(foliot__solver *s)
{
    const foliot__solver_kernel *kernel = foliot__solver_of_cpu();
    plan_active(s, clear_range);
    foliot__plan_colours(s, kernel->warm, s);
    plan_active(s, kernel->remember_given);
    plan_active(s, kernel->load);
    foliot__parallel_wait(s->workers);
    foliot__joints_remember_smooth(s->world, s->bodies, s->colours_taken);
    plan_active(s, kernel->begin_soft);
}

static void solve_active(foliot__solver *s)
{
    foliot_world *world = s->world;
    const foliot__solver_kernel *kernel = foliot__solver_of_cpu();
    foliot__iteration soft = {s, phase_of(s)}, relaxing = soft;
    uint32_t sweeps = (STEPS_SWEPT + world->scene.substeps - 1) / world->scene.substeps;
    if (s->counts->loaded)
        sweeps *= LOADED_SWEEPS;
    bool joints = foliot__has_joints(world);
    soft.phase.soft = true;
    soft.phase.ahead = soft.phase.h / 2;
    place_kinematics(s, s->ccd.collider.paths.start, true);
    if (joints)
        begin_with_joints(s);
    else
        plan_active(s, kernel->load_and_begin);
    for (uint32_t k = 0; k < sweeps; k++)
        iterate(s, &soft);
    plan_active(s, kernel->advance);
    if (world->counts.kinematic > 0)
        foliot__parallel_enqueue(s->workers, 0, 1, 1, advance_kinematics, s);
    for (uint32_t k = 0; k < (joints ? RELAXING_JOINED : RELAXING) * sweeps; k++)
        iterate(s, &relaxing);
    plan_active(s, kernel->store);
    foliot__parallel_wait(s->workers);
    world->acceleration_valid = 0;
}

static void solve(foliot__workers *workers, void *context)
{
    foliot__solver *s = context;
    s->workers = workers;
    s->counts->found_now = s->ccd.collider.counts->stale;
    if (s->ccd.collider.counts->stale) {
        if (s->step->index > 0)
            store_impulses(s);
        foliot__find_known_brief(s);
        foliot__prepare_contacts(s);
    }
    if (s->counts->active > 0)
        solve_active(s);
    foliot__note_brief(s);
    if (s->step->last) {
        store_impulses(s);
        foliot__report_brief(s);
    }
}

void foliot__solve(foliot__solver *s)
{
    bool many = s->ccd.collider.counts->pairs >= PAIRS_SHARED && !s->workers;
    if (many)
        foliot__workers_run(s->step->host, solve, s);
    else
        solve(s->workers, s);
}
