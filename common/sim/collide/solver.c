// SPDX-License-Identifier: MIT
// solver.c: one substep of soft, warm-started, relaxed impulses (Catto, "Soft Constraints", GDC 2011,
// and "Solver2D", 2024), for any scheme.
//
// The scheme has moved a body from x0 to x with the mean velocity u = (x - x0) / h, and its velocity
// to v. Impulses P of the last substep are given to velocities in full, to positions by the share c
// that the scheme gives a force (response.h), so that what rests stays where it was under every
// scheme. In the soft phase the movers are U = u + c P / m: contacts and joints see where the substep
// will end, and pull overlaps and errors out as damped springs would. What they add counts in full.
// Then positions move by h (U - u), and in the relaxing phase the movers are the velocities that
// result: what the pull has added is taken out again, and friction and pushes are set right.
//
// Impulses are binary32, positions and velocities binary64: they get differences, and what nothing
// has pushed keeps its bits.
#include "sim/collide/collide.h"

#include "base/cpu.h"
#include "sim/collide/solver_kernel.h"
#include "sim/integrator/response.h"
#include "sim/joint.h"

#include <string.h>

#define HERTZ_A_TICK 0.75   // of a touch's spring: its fastest, against ticks ...
#define HERTZ_A_STEP 0.25   // ... and against substeps
#define DAMPING_RATIO 12
#define STILL_HERTZ 2       // times as stiff where one of the two cannot move
#define STEPS_SWEPT 4       // visits of the soft phase in a tick, at least
#define PAIRS_SHARED 256    // fewer are done before another thread has woken up
#define RELAXING 2          // visits of the relaxing phase for each of them
// A joint takes back most of what a touch gives a light limb under a heavy trunk: what such a touch pushes is
// found in more visits than others need. Too few leave some of the pull out of an overlap in it, which
// rocks the doll; so it pulls less, too.
#define RELAXING_JOINED 6
#define JOINED_HERTZ 0.5

const foliot__solver_kernel *foliot__solver_of_cpu(void)
{
#if defined(__x86_64__)
    if (foliot__cpu_simd() == FOLIOT__SIMD_AVX512)
        return &foliot__solver_avx512;
    if (foliot__cpu_simd() != FOLIOT__SIMD_BASE)
        return &foliot__solver_avx2;
#endif
    return &foliot__solver_base;
}

// -- for impact.c -----------------------------------------------------------------------------------------

double foliot__pair_friction(const foliot_world *world, uint32_t a, uint32_t b)
{
    const double *friction = foliot__friction(world);
    return foliot__sqrt(friction[a] * friction[b]);
}

// -- phases -----------------------------------------------------------------------------------------------

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

// The movers at the begin of the soft phase.
static void load(void *context, uint32_t first, uint32_t end)
{
    const foliot__collider *c = context;
    const foliot_world *world = c->world;
    foliot__v3 x = foliot__position(world), w = foliot__angular_velocity(world);
    double per_h = 1 / c->step->dt;
    for (uint32_t k = first; k < end; k++) {
        uint32_t i = c->touched[k];
        foliot__mover *m = &c->movers[i];
        const double from[3] = {c->start.x[i], c->start.y[i], c->start.z[i]};
        const double to[3] = {x.x[i], x.y[i], x.z[i]}, spin[3] = {w.x[i], w.y[i], w.z[i]};
        const double found[3] = {c->found.x[i], c->found.y[i], c->found.z[i]};
        for (int n = 0; n < 3; n++) {
            m->v[n] = (float)((to[n] - from[n]) * per_h);
            m->w[n] = (float)spin[n];
            m->moved[n] = (float)(from[n] - found[n]);
        }
    }
}

// Joints are solved afresh in every substep: only what contacts pushed is given again.
static void still(void *context, uint32_t from, uint32_t to)
{
    const foliot__collider *c = context;
    for (uint32_t k = from; k < to; k++) {
        foliot__mover *m = &c->movers[c->touched[k]];
        memset(m->v, 0, sizeof m->v);
        memset(m->w, 0, sizeof m->w);
    }
}

static void take_given(void *context, uint32_t from, uint32_t to)
{
    const foliot__collider *c = context;
    for (uint32_t k = from; k < to; k++)
        memcpy(&c->given[c->touched[k]], &c->movers[c->touched[k]], sizeof(foliot__kick));
}

static void begin(void *context, uint32_t from, uint32_t to)
{
    const foliot__collider *c = context;
    float share = (float)foliot__response(c->world);
    for (uint32_t k = from; k < to; k++) {
        uint32_t i = c->touched[k];
        foliot__mover *m = &c->movers[i];
        const foliot__kick *given = &c->given[i];
        for (int n = 0; n < 3; n++) {
            m->v[n] += share * given->v[n];
            m->w[n] += share * given->w[n];
        }
        memcpy(&c->begun[i], m, sizeof c->begun[i]);
    }
}

// Rotates by the small vector `turn`.
static void rotate(const foliot_world *world, uint32_t i, const double turn[3])
{
    double *qw = &foliot__orientation_w(world)[i], *qx = &foliot__orientation_x(world)[i];
    double *qy = &foliot__orientation_y(world)[i], *qz = &foliot__orientation_z(world)[i];
    double w = *qw, x = *qx, y = *qy, z = *qz;
    double a = turn[0] / 2, b = turn[1] / 2, d = turn[2] / 2;
    double nw = w - ((a * x + b * y) + d * z), nx = x + ((a * w + b * z) - d * y);
    double ny = y + ((b * w + d * x) - a * z), nz = z + ((d * w + a * y) - b * x);
    double length = foliot__sqrt((nw * nw + nx * nx) + (ny * ny + nz * nz));
    *qw = nw / length;
    *qx = nx / length;
    *qy = ny / length;
    *qz = nz / length;
}

// Positions move by what was given; the movers become velocities, where the relaxing phase begins.
static void advance(void *context, uint32_t from, uint32_t to)
{
    const foliot__collider *c = context;
    const foliot_world *world = c->world;
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world);
    foliot__v3 w = foliot__angular_velocity(world);
    float h = (float)c->step->dt, share = (float)foliot__response(world);
    for (uint32_t k = from; k < to; k++) {
        uint32_t i = c->touched[k];
        foliot__mover *m = &c->movers[i];
        foliot__kick *given = &c->given[i], *begun = &c->begun[i];
        double moves[3], turns[3];
        bool turning = false;
        for (int n = 0; n < 3; n++) {
            float dv = m->v[n] - begun->v[n], dw = m->w[n] - begun->w[n];
            moves[n] = (double)(h * (share * given->v[n] + dv));
            turns[n] = (double)(h * (share * given->w[n] + dw));
            turning |= turns[n] != 0;
            m->turned[n] += h * m->w[n];
            given->v[n] += dv;
            given->w[n] += dw;
        }
        x.x[i] += moves[0];
        x.y[i] += moves[1];
        x.z[i] += moves[2];
        if (turning)
            rotate(world, i, turns);
        const double at[3] = {x.x[i], x.y[i], x.z[i]}, velocity[3] = {v.x[i], v.y[i], v.z[i]};
        const double found[3] = {c->found.x[i], c->found.y[i], c->found.z[i]};
        const double spin[3] = {w.x[i], w.y[i], w.z[i]};
        for (int n = 0; n < 3; n++) {
            m->moved[n] = (float)(at[n] - found[n]);
            m->v[n] = (float)velocity[n] + given->v[n];
            m->w[n] = (float)spin[n] + given->w[n];
        }
        memcpy(begun, m, sizeof *begun);
    }
}

static void store(void *context, uint32_t from, uint32_t to)
{
    const foliot__collider *c = context;
    foliot_world *world = c->world;
    foliot__v3 v = foliot__velocity(world), w = foliot__angular_velocity(world);
    for (uint32_t k = from; k < to; k++) {
        uint32_t i = c->touched[k];
        const foliot__mover *m = &c->movers[i];
        foliot__kick *given = &c->given[i];
        const foliot__kick *begun = &c->begun[i];
        bool pushed = false;
        for (int n = 0; n < 3; n++) {
            given->v[n] += m->v[n] - begun->v[n];
            given->w[n] += m->w[n] - begun->w[n];
            pushed |= given->v[n] != 0 || given->w[n] != 0;
        }
        if (!pushed)
            continue;
        v.x[i] += (double)given->v[0];
        v.y[i] += (double)given->v[1];
        v.z[i] += (double)given->v[2];
        w.x[i] += (double)given->w[0];
        w.y[i] += (double)given->w[1];
        w.z[i] += (double)given->w[2];
        foliot__velocity_changed(world, i);
    }
}

// -- a substep ---------------------------------------------------------------------------------------------

typedef struct visiting {
    const foliot__collider *c;
    const foliot__phase *phase;
} visiting;

static void visit_part(void *context, uint32_t from, uint32_t to)
{
    const visiting *v = context;
    foliot__solver_of_cpu()->visit(v->c, v->phase, from, to);
}

static void visit(foliot__collider *c, foliot__phase *phase, bool soft)
{
    phase->soft = soft;
    if (foliot__has_joints(c->world))
        foliot__joints_solve(c, phase->h, soft);
    visiting v = {c, phase};
    foliot__share_colours(c, visit_part, &v);
}

static void keep_part(void *context, uint32_t from, uint32_t to)
{
    foliot__solver_of_cpu()->keep(context, from, to);
}

// What the manifolds have pushed so far in the tick, to the world's table.
static void keep(foliot__collider *c)
{
    foliot__crew_share(c->crew, 0, c->counts[FOLIOT__COUNT_BLOCKS], FOLIOT__GRAIN_BLOCKS, keep_part, c);
    foliot__keep_contacts(c);
}

static void share_touched(foliot__collider *c, foliot__crew_part *part)
{
    foliot__crew_share(c->crew, 0, c->counts[FOLIOT__COUNT_TOUCHED], FOLIOT__GRAIN_BODIES, part, c);
}

static void solve_touched(foliot__collider *c)
{
    foliot_world *world = c->world;
    foliot__phase phase = phase_of(c);
    uint32_t sweeps = (STEPS_SWEPT + world->substeps - 1) / world->substeps;
    bool joints = foliot__has_joints(world);
    if (joints) {
        share_touched(c, still);
        foliot__share_colours(c, foliot__warm_part, c);
        share_touched(c, take_given);
    }
    share_touched(c, load);
    if (joints)
        foliot__joints_smooth(c);
    share_touched(c, begin);
    for (uint32_t k = 0; k < sweeps; k++)
        visit(c, &phase, true);
    share_touched(c, advance);
    for (uint32_t k = 0; k < (joints ? RELAXING_JOINED : RELAXING) * sweeps; k++)
        visit(c, &phase, false);
    share_touched(c, store);
    world->acceleration_valid = 0;
}

static void solve(foliot__crew *crew, void *context)
{
    foliot__collider *c = context;
    c->crew = crew;
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
    bool many = c->counts[FOLIOT__COUNT_PAIRS] >= PAIRS_SHARED && !c->crew;
    if (many)
        foliot__crew_run(c->step->host, solve, c);
    else
        solve(c->crew, c);
}
