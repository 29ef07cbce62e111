// SPDX-License-Identifier: MIT
// solver.c: the contacts' part of the stage `solve` of a substep, and the table that it works in.
// Manifolds are found once a tick, and again within it where an impact changed a path or a body
// left its fat bounds. Contacts are solved by a substep of soft, warm-started, relaxed impulses
// (Catto, "Soft Constraints", GDC 2011, and "Solver2D", 2024), for any scheme.
//
// The scheme has moved a body from x0 to x with the mean velocity u = (x - x0) / h, and has changed
// its velocity to v. Impulses P of the last substep are added to velocities in full, and to
// positions by the share c that the scheme gives a force (integrator/scheme.h). So a body at rest
// stays where it is under every scheme. In the soft phase the velocity of a solver body is U = u +
// c P / m: contacts and joints see where the substep will end, and remove overlaps and errors as
// damped springs would. Their changes count in full. Then positions move by h (U - u). In the
// relaxing phase the solver bodies have the resulting velocities: the spring's share is taken out
// again, and friction and normal impulses are corrected. Restitution is applied to impacts, one by
// one, in ccd/restitution.c.
//
// Impulses are binary32, positions and velocities binary64. Only increments are added, so a body
// that nothing has pushed keeps its bits.
#include "sim/solver/solver.h"

#include "sim/state/contact_cache.h"
#include "sim/solver/solver_kernel.h"
#include "sim/joint/joint.h"
#include "sim/integrator/scheme.h"
#include "sim/state/workspace.h"

#include <string.h>

#define HERTZ_A_TICK 0.75 // highest frequency of a contact's spring, in terms of ticks ...
#define HERTZ_A_STEP 0.25 // ... and of substeps
#define DAMPING_RATIO 12
#define STILL_HERTZ 2       // times the frequency where one of the two cannot move
#define ITERATIONS 4        // of the soft phase in a tick, at least
#define PAIRS_SHARED 256    // with fewer, the work is finished before another thread wakes up
#define LOADED_ITERATIONS 2 // times as many where light bodies carry heavy ones
#define LOADED_HERTZ 2      // and times the frequency
#define RELAXING 2          // iterations of the relaxing phase for each of them
// A joint takes back most of what a contact gives a light limb under a heavy trunk, so such
// contacts need more iterations. With too few, some of the overlap correction stays in the velocity
// and rocks the doll; so the correction is softer, too.
#define RELAXING_JOINED 6
#define JOINED_HERTZ 0.5
// Fast joints.
#define JOINT_HERTZ 60
#define JOINT_DAMPING 5

// -- the table

// At worst every pair is a block of one column, and every colour has a block that is not full of
// every kind.
static uint64_t spare_blocks(uint64_t contacts)
{
    uint64_t kinds = FOLIOT__KINDS + FOLIOT__KINDS_CARRIED;
    uint64_t most = FOLIOT__COLOURS * FOLIOT__REGIONS * kinds;
    return contacts < most ? contacts : most;
}

static uint64_t lay_out(foliot__solver *s, char *base, size_t slots, uint64_t contacts)
{
    foliot__carver from = {base, 0};
    uint64_t spare = spare_blocks(contacts);
    uint64_t words = contacts * foliot__block_words(FOLIOT__POINTS, 1) +
                     spare * foliot__block_words(FOLIOT__POINTS, FOLIOT__BLOCK);
    foliot__ccd_carve(&s->ccd, &from, slots, contacts);
    FOLIOT__CARVE(&from, s->counts, 1);
    s->found = foliot__carve_v3(&from, slots);
    FOLIOT__CARVE(&from, s->bodies, slots + 1);
    FOLIOT__CARVE(&from, s->masses, slots + 1);
    FOLIOT__CARVE(&from, s->given, slots / 8);
    FOLIOT__CARVE(&from, s->begun, slots / 8);
    FOLIOT__CARVE(&from, s->active, slots / 8);
    FOLIOT__CARVE(&from, s->speculative_distance, slots);
    FOLIOT__CARVE(&from, s->travel, slots);
    FOLIOT__CARVE(&from, s->load, slots);
    FOLIOT__CARVE(&from, s->colours_taken, slots);
    FOLIOT__CARVE(&from, s->manifolds, contacts);
    FOLIOT__CARVE(&from, s->warm, contacts);
    FOLIOT__CARVE(&from, s->kind, contacts);
    FOLIOT__CARVE(&from, s->live, contacts);
    FOLIOT__CARVE(&from, s->colour, contacts);
    FOLIOT__CARVE(&from, s->rank, contacts);
    FOLIOT__CARVE(&from, s->first_row, contacts / FOLIOT__GRAIN_PAIRS + 1);
    FOLIOT__CARVE(&from, s->blocks, contacts + spare);
    FOLIOT__CARVE(&from, s->arena, words);
    FOLIOT__CARVE(&from, s->colour_begin, FOLIOT__COLOURS + 2);
    FOLIOT__CARVE(&from, s->watched, contacts);
    uint64_t hits = contacts < FOLIOT_HIT_EVENTS_MAX ? contacts : FOLIOT_HIT_EVENTS_MAX;
    FOLIOT__CARVE(&from, s->brief, hits);
    FOLIOT__CARVE(&from, s->keys, 2 * hits);
    FOLIOT__CARVE(&from, s->buckets, 1u << FOLIOT__BRIEF_BUCKET_BITS);
    return from.at;
}

uint64_t foliot__contact_workspace_bytes(const foliot_world_config *config)
{
    foliot__solver s;
    return lay_out(&s, NULL, foliot__slots_of(config->bodies_max), config->contacts_max);
}

foliot__solver foliot__solver_of(const foliot__step *step)
{
    foliot_world *world = step->world;
    foliot__solver s;
    lay_out(&s, (char *)foliot__contact_workspace(world), world->capacity.slots,
            world->capacity.contacts);
    s.ccd.collider.world = s.world = world;
    s.ccd.collider.step = s.step = step;
    s.ccd.collider.workers = s.workers = step->workers;
    return s;
}

void foliot__contact_prepare(foliot_world *world)
{
    foliot__contact_events_begin(world); // all else is rebuilt in every tick
}

// -- phases

static foliot__softness softness_of(double hertz, double damping_ratio, double h)
{
    double omega = 2 * 3.14159265358979323846 * hertz;
    double a1 = 2 * damping_ratio + h * omega, a2 = h * omega * a1, a3 = 1 / (1 + a2);
    return (foliot__softness){(float)(omega / a1), (float)(a2 * a3), (float)a3};
}

// The solver bodies begin at rest: joints are solved from nothing in every substep, and only the
// contacts' impulses are applied again.
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

static void plan_active(foliot__solver *s, foliot__loop_body *part)
{
    foliot__parallel_enqueue(s->workers, 0, s->counts->active, FOLIOT__GRAIN_ACTIVE, part, s);
}

// -- kinematic bodies, which contacts see with their present pose and velocity

// Since the contacts were found: at the end of the substep `found_now`, where it has begun at the
// substep's start. In the soft phase, which moves bodies, it is as fast as the bodies on it.
static void place_kinematics(const foliot__solver *s, foliot__v3 at, bool begins)
{
    const foliot_world *world = s->world;
    float h = (float)s->step->dt;
    for (uint32_t i = 0; world->counts.kinematic > 0 && i < s->step->count; i++) {
        if (!foliot__is_kinematic(world, i))
            continue;
        foliot__solver_body *body = &s->bodies[i];
        vec3 moved = vec3_sub(foliot__v3_get(at, i), foliot__v3_get(s->found, i));
        vec3 v = foliot__v3_get(foliot__velocity(world), i);
        vec3 w = foliot__v3_get(foliot__angular_velocity(world), i);
        double spin[3];
        vec3_store(w, spin);
        vec3 rate = vec3_scale(w, begins ? foliot__cayley_rate(spin, s->step->dt) : 1);
        body->moved[0] = (float)moved.x, body->moved[1] = (float)moved.y;
        body->moved[2] = (float)moved.z;
        body->v[0] = (float)v.x, body->v[1] = (float)v.y, body->v[2] = (float)v.z;
        body->w[0] = (float)rate.x, body->w[1] = (float)rate.y, body->w[2] = (float)rate.z;
        for (int k = 0; k < 3; k++) {
            float turn = h * (float)spin[k];
            if (!begins)
                body->turned[k] += turn;
            else if (s->counts->found_now)
                body->turned[k] = -turn;
        }
        body->follows = 1;
    }
}

// At the end of the substep.
static void advance_kinematics(void *context, uint32_t begin, uint32_t end)
{
    const foliot__solver *s = context;
    (void)begin, (void)end; // in one
    place_kinematics(s, foliot__position(s->world), false);
}

// The soft phase moves bodies, and the relaxing phase corrects velocities.
static void solve_phases(foliot__solver *s)
{
    foliot_world *world = s->world;
    const foliot__solver_kernel *kernel = foliot__solver_of_cpu();
    foliot__joint_solver fast = {s, foliot__joint_blocks_of(world), NULL};
    bool exact = foliot__has_exact_joints(world), joints = exact || fast.joints.count > 0;
    double h = s->step->dt;
    double hertz = foliot__smaller(HERTZ_A_TICK / world->scene.dt, HERTZ_A_STEP / h);
    if (exact)
        hertz *= JOINED_HERTZ;
    double loaded = s->counts->loaded ? LOADED_HERTZ : 1;
    foliot__iteration relaxing = {
        .solver = s,
        .phase = {.h = (float)h,
                  .per_h = (float)(1 / h),
                  .moving = softness_of(loaded * hertz, DAMPING_RATIO, h),
                  .still = softness_of(STILL_HERTZ * hertz, DAMPING_RATIO, h),
                  .joint = softness_of(foliot__smaller(JOINT_HERTZ, HERTZ_A_STEP / h),
                                       JOINT_DAMPING, h)}};
    foliot__iteration soft = relaxing;
    soft.phase.soft = true;
    soft.phase.ahead = soft.phase.h / 2;
    uint32_t soft_count = (ITERATIONS + world->scene.substeps - 1) / world->scene.substeps;
    if (s->counts->loaded)
        soft_count *= LOADED_ITERATIONS;
    uint32_t relaxing_count = exact ? RELAXING_JOINED : s->counts->blocks > 0 ? RELAXING : 1;
    relaxing_count *= soft_count;
    place_kinematics(s, s->ccd.collider.paths.start, true);
    foliot__fast_joints_begin(&fast);
    if (joints) {
        plan_active(s, clear_range);
        foliot__plan_colours(s, kernel->warm, s);
        plan_active(s, kernel->remember_given);
        plan_active(s, kernel->load);
        foliot__parallel_wait(s->workers);
        foliot__joints_remember_smooth(world, s->bodies, s->colours_taken);
        plan_active(s, kernel->begin_soft);
        // They move positions in full under every scheme: the relaxing phase finds the velocities.
        foliot__fast_joints_warm(&fast);
    } else {
        plan_active(s, kernel->load_and_begin);
    }
    for (uint32_t k = 0; k < soft_count + relaxing_count; k++) {
        foliot__iteration *iteration = k < soft_count ? &soft : &relaxing;
        if (k == soft_count) {
            plan_active(s, kernel->advance);
            if (world->counts.kinematic > 0)
                foliot__parallel_enqueue(s->workers, 0, 1, 1, advance_kinematics, s);
            foliot__fast_joints_move(&fast);
        }
        if (exact) {
            foliot__parallel_wait(s->workers);
            foliot__joints_solve(world, s->bodies, iteration->phase.h, iteration->phase.soft);
        }
        foliot__fast_joints_iterate(&fast, &iteration->phase);
        foliot__plan_colours(s, kernel->iterate, iteration);
    }
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
            foliot__store_contacts(s);
        foliot__find_known_brief(s);
        foliot__prepare_contacts(s);
    }
    if (s->counts->active > 0)
        solve_phases(s);
    foliot__note_brief(s);
    if (s->step->last) {
        foliot__store_contacts(s);
        foliot__report_brief(s);
    }
}

void foliot__solve_contacts(const foliot__step *step)
{
    if (!foliot__uses_contact_solver(step->world))
        return;
    foliot__solver s = foliot__solver_of(step);
    bool many = s.ccd.collider.counts->pairs >= PAIRS_SHARED && !s.workers;
    if (many)
        foliot__workers_run(step->host, solve, &s);
    else
        solve(s.workers, &s);
}
