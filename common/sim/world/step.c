// SPDX-License-Identifier: MIT
// step.c: the one function that advances time. Stages in their order, nothing else; each stage's
// work is in its own file. The door checks everything, so that a refused step leaves the world as
// it was.
#include "sim/state/body.h"
#include "sim/collide/contact_event.h"
#include "sim/constraint/constraint.h"
#include "sim/state/clock.h"
#include "sim/solver/contact_solver.h"
#include "sim/state/parallel_for.h"
#include "sim/force/force.h"
#include "sim/joint/joint.h"
#include "sim/integrator/rotation.h"
#include "sim/integrator/scheme.h"
#include "sim/world/player.h"
#include "sim/island/sleep.h"
#include "sim/state/state.h"
#include "sim/world/state_io.h"

#include <string.h>

#define BODIES_SHARED 128 // fewer are not worth the call

static const foliot_host no_host;

const char *foliot_stage_get_name(foliot_stage stage)
{
    static const char *const names[] = {
#define NAME(name) #name,
        FOLIOT_STAGE_LIST(NAME)
#undef NAME
    };
    return (unsigned)stage < FOLIOT_STAGE_COUNT ? names[stage] : "none";
}

static bool sound(double x)
{
    return x >= -FOLIOT_POSITION_MAX && x <= FOLIOT_POSITION_MAX; // false for NaN
}

// Whether a substep leaves where it began in `previous`: with several, that may lie beyond what the
// last one came back to.
static bool has_previous(const foliot_world *world)
{
    return world->state_fields >> FOLIOT_FIELD_previous_x & 1;
}

static bool body_sound(const foliot_world *world, uint32_t i)
{
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world),
               p = foliot__previous(world);
    if (!(sound(x.x[i]) && sound(x.y[i]) && sound(x.z[i]) && sound(v.x[i]) && sound(v.y[i]) &&
          sound(v.z[i])))
        return false;
    if (has_previous(world) && !(sound(p.x[i]) && sound(p.y[i]) && sound(p.z[i])))
        return false;
    if (!world->rotates)
        return true;
    foliot__v3 w = foliot__angular_velocity(world);
    return sound(w.x[i]) && sound(w.y[i]) && sound(w.z[i]) &&
           sound(foliot__orientation_w(world)[i]) && sound(foliot__orientation_x(world)[i]) &&
           sound(foliot__orientation_y(world)[i]) && sound(foliot__orientation_z(world)[i]);
}

typedef int64_t bit_lane __attribute__((vector_size(8 * FOLIOT__LANES), may_alias));

// Negative if some |value| is beyond FOLIOT_POSITION_MAX, infinite or NaN: all of these have
// greater bits than the bound, as integers. One subtraction a value, in lanes.
static int64_t excess(const double *values, uint32_t rows)
{
    const double bound = FOLIOT_POSITION_MAX;
    const bit_lane *bits = (const bit_lane *)(const void *)values;
    int64_t bound_bits, any = 0;
    memcpy(&bound_bits, &bound, sizeof bound_bits);
    bit_lane signs = {0};
    for (uint32_t n = 0; n < rows / FOLIOT__LANES; n++)
        signs |= bound_bits - (bits[n] & INT64_MAX);
    for (int k = 0; k < FOLIOT__LANES; k++)
        any |= signs[k];
    return any;
}

static int64_t excess3(foliot__v3 v, uint32_t rows)
{
    return excess(v.x, rows) | excess(v.y, rows) | excess(v.z, rows);
}

// As body_sound of every body, but faster: nearly always all are.
static bool all_sound(const foliot_world *world)
{
    uint32_t rows = foliot__lanes(world);
    int64_t signs = excess3(foliot__position(world), rows) | excess3(foliot__velocity(world), rows);
    if (has_previous(world))
        signs |= excess3(foliot__previous(world), rows);
    if (world->rotates)
        signs |= excess3(foliot__angular_velocity(world), rows) |
                 excess(foliot__orientation_w(world), rows) |
                 excess(foliot__orientation_x(world), rows) |
                 excess(foliot__orientation_y(world), rows) |
                 excess(foliot__orientation_z(world), rows);
    return signs >= 0;
}

static void clamp_speed(foliot_world *world, uint32_t i)
{
    foliot__v3 v = foliot__velocity(world);
    double speed2 = (v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i];
    if (!(speed2 > world->speed_max * world->speed_max))
        return;
    double scale = world->speed_max / foliot__sqrt(speed2);
    v.x[i] *= scale;
    v.y[i] *= scale;
    v.z[i] *= scale;
    foliot__velocity_changed(world, i);
}

static void remember(foliot_world *world)
{
    size_t bytes = sizeof(double) * world->body_count;
    foliot__v3 x = foliot__position(world), x0 = foliot__before_position(world);
    foliot__v3 v = foliot__velocity(world), v0 = foliot__before_velocity(world);
    memcpy(x0.x, x.x, bytes);
    memcpy(x0.y, x.y, bytes);
    memcpy(x0.z, x.z, bytes);
    memcpy(v0.x, v.x, bytes);
    memcpy(v0.y, v.y, bytes);
    memcpy(v0.z, v.z, bytes);
}

static void finish(foliot_world *world)
{
    bool all = all_sound(world);
    for (uint32_t i = 0; i < world->body_count && !all; i++)
        if (!body_sound(world, i))
            foliot__body_freeze(world, i);
    if (world->speed_max < FOLIOT_POSITION_MAX)
        for (uint32_t i = 0; i < world->body_count; i++)
            clamp_speed(world, i);
    foliot__definition_refresh(world);
}

static void stage_done(const foliot_host *host, foliot_world *world, foliot_stage stage, bool last)
{
    if (last && host->after_stage)
        host->after_stage(host->stage_user, world, stage);
}

// force, integrate, collide, solve: one integrator step.
static void substep(const foliot__step *step, const foliot__scheme *scheme, bool first, bool last)
{
    foliot_world *world = step->world;
    foliot__contact_begin(step);
    foliot__joints_begin(step, first);
    stage_done(step->host, world, FOLIOT_STAGE_force, last);
    scheme->advance(step);
    foliot__rotate(
        step, foliot_integrator_get_info((foliot_integrator)world->integrator)->rotation_order);
    stage_done(step->host, world, FOLIOT_STAGE_integrate, last);
    foliot__collide(step);
    stage_done(step->host, world, FOLIOT_STAGE_collide, last);
    foliot__solve_distances(step);
    foliot__solve_contacts(step);
    if (!world->collides)
        foliot__joints_alone(step);
    foliot__joints_finish(step);
    stage_done(step->host, world, FOLIOT_STAGE_solve, last);
}

typedef struct advancing {
    foliot_world *world;
    double dt;
    const foliot_host *host;
} advancing;

static void lead(foliot__workers *workers, void *context)
{
    const advancing *a = context;
    foliot_world *world = a->world;
    double dt = a->dt;
    const foliot__scheme *scheme = foliot__scheme_of((foliot_integrator)world->integrator);
    for (uint32_t s = 0; s < world->substeps; s++) {
        foliot__step step = {.world = world,
                             .host = a->host,
                             .workers = workers,
                             .dt = dt / world->substeps,
                             .time = foliot__substep_time(world, s),
                             .count = world->body_count,
                             .index = s,
                             .last = s + 1 == world->substeps};
        step.left = dt / world->substeps * (world->substeps - 1 - s);
        step.time_end = world->sums_time ? step.time + step.dt : foliot__substep_time(world, s + 1);
        substep(&step, scheme, s == 0, step.last);
        if (world->sums_time)
            world->lab_time = step.time_end;
    }
}

// With a crew a tick is one call of the host's runner. What the host has called back is not for
// other threads than its own, and a small world is done before another thread has woken up.
static void advance(foliot_world *world, double dt, const foliot_host *host)
{
    advancing a = {world, dt, host};
    bool calls_back = host->after_stage || host->callback_count > 0;
    if (world->collides && world->body_count >= BODIES_SHARED && !calls_back)
        foliot__workers_run(host, lead, &a);
    else
        lead(NULL, &a);
}

// Nothing moves: time alone goes on.
static void pass_over(const foliot_host *host, foliot_world *world)
{
    for (int stage = FOLIOT_STAGE_force; stage < FOLIOT_STAGE_finish; stage++)
        stage_done(host, world, (foliot_stage)stage, true);
}

static foliot_status tick(foliot_world *world, double dt, const foliot_input *inputs,
                          uint32_t count, const foliot_host *host)
{
    if (!foliot__floating_point_sound())
        return FOLIOT_STATUS_FLOATING_POINT;
    if (!foliot__inputs_ordered(world, inputs, count))
        return FOLIOT_STATUS_INVALID;
    if (!host)
        host = &no_host;
    if (!foliot__force_callbacks_present(world, host))
        return FOLIOT_STATUS_INVALID;
    world->event_count = 0;
    foliot__touches_begin(world);
    foliot__players_apply(world, inputs, count);
    foliot__sleep_begin(world);
    foliot__players_push(world);
    remember(world);
    stage_done(host, world, FOLIOT_STAGE_input, true);
    if (foliot__sleep_everywhere(world))
        pass_over(host, world);
    else
        advance(world, dt, host);
    foliot__sleep_end(world);
    finish(world);
    world->tick++;
    stage_done(host, world, FOLIOT_STAGE_finish, true);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_world_step(foliot_world *world, const foliot_input *inputs, uint32_t count,
                                const foliot_host *host)
{
    return tick(world, world->dt, inputs, count, host);
}

foliot_status foliot_world_step_dt(foliot_world *world, double dt, const foliot_host *host)
{
    if (!world->sums_time)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!(dt > 0 && dt < FOLIOT_POSITION_MAX))
        return FOLIOT_STATUS_INVALID;
    return tick(world, dt, NULL, 0, host);
}

foliot_status foliot_world_step_back(foliot_world *world, const foliot_input *before,
                                     uint32_t count, const foliot_host *host)
{
    const foliot__scheme *scheme = foliot__scheme_of((foliot_integrator)world->integrator);
    if (!scheme->retreat)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!foliot__floating_point_sound())
        return FOLIOT_STATUS_FLOATING_POINT;
    if (!host)
        host = &no_host;
    if (world->tick == 0 || !foliot__inputs_ordered(world, before, count) ||
        !foliot__force_callbacks_present(world, host))
        return FOLIOT_STATUS_INVALID;
    world->event_count = 0;
    foliot__touches_begin(world);
    foliot__players_push(world);
    remember(world);
    world->tick--;
    for (uint32_t s = world->substeps; s-- > 0;) {
        foliot__step step = {.world = world,
                             .host = host,
                             .dt = world->dt / world->substeps,
                             .time = foliot__substep_time(world, s),
                             .time_end = foliot__substep_time(world, s + 1),
                             .count = world->body_count};
        scheme->retreat(&step);
    }
    foliot__players_apply(world, before, count);
    foliot__players_push(world);
    return FOLIOT_STATUS_OK;
}
