// SPDX-License-Identifier: MIT
// step.c: the one function that advances time. It runs the stages in their order; the work of a
// stage is in its own file, but for the stage `finish`. All arguments are checked first, so a
// refused step leaves the world unchanged.
#include "foliot/world.h"

#include <string.h>

#include "sim/state/contact_cache.h"
#include "sim/collide/sensor.h"
#include "sim/constraint/constraint.h"
#include "sim/force/force.h"
#include "sim/integrator/rotation.h"
#include "sim/integrator/scheme.h"
#include "sim/island/sleep.h"
#include "sim/joint/joint.h"
#include "sim/solver/solver.h"
#include "sim/state/body.h"
#include "sim/state/parallel_for.h"
#include "sim/state/state.h"
#include "sim/state/workspace.h"
#include "sim/world/stage.h"
#include "sim/world/state_io.h"

#define BODIES_SHARED 128 // with fewer bodies a call of other threads costs more than it saves

static const foliot_host no_host;
static const foliot_tick_inputs no_inputs;

const char *foliot_stage_get_name(foliot_stage stage)
{
    static const char *const names[] = {
#define NAME(name) #name,
        FOLIOT_STAGE_LIST(NAME)
#undef NAME
    };
    return (unsigned)stage < FOLIOT_STAGE_COUNT ? names[stage] : "none";
}

static void stage_done(const foliot_host *host, foliot_world *world, foliot_stage stage)
{
    if (host->after_stage)
        host->after_stage(host->stage_user, world, stage);
}

// -- a substep: force, integrate, collide, solve

static void substep_stage_done(const foliot__step *step, foliot_stage stage)
{
    if (step->last)
        stage_done(step->host, step->world, stage);
}

typedef struct advance_task {
    foliot_world *world;
    double dt;
    const foliot_host *host;
} advance_task;

static void run_substeps(foliot__workers *workers, void *context)
{
    const advance_task *task = context;
    foliot_world *world = task->world;
    double dt = task->dt;
    const foliot__scheme *scheme = foliot__scheme_of((foliot_integrator)world->scheme.integrator);
    for (uint32_t s = 0; s < world->scene.substeps; s++) {
        foliot__step step = {.world = world,
                             .host = task->host,
                             .workers = workers,
                             .dt = dt / world->scene.substeps,
                             .time = foliot__substep_time(world, s),
                             .count = world->body_count,
                             .index = s,
                             .last = s + 1 == world->scene.substeps};
        step.left = dt / world->scene.substeps * (world->scene.substeps - 1 - s);
        step.time_end =
            world->scheme.sums_time ? step.time + step.dt : foliot__substep_time(world, s + 1);

        foliot__paths_begin(&step);
        foliot__joints_begin(&step, s == 0);
        substep_stage_done(&step, FOLIOT_STAGE_force);

        scheme->advance(&step);
        foliot__rotate(&step, world->scheme.rotation_order);
        foliot__kinematic_and_damped(&step);
        substep_stage_done(&step, FOLIOT_STAGE_integrate);

        foliot__collide(&step);
        substep_stage_done(&step, FOLIOT_STAGE_collide);

        foliot__solve_distances(&step);
        foliot__solve_contacts(&step);
        foliot__joints_alone(&step);
        foliot__joints_finish(&step);
        foliot__sensors_sweep(world);
        substep_stage_done(&step, FOLIOT_STAGE_solve);

        if (world->scheme.sums_time)
            world->lab.time = step.time_end;
    }
}

// -- the ends of a tick
//
// After a step every number of a body is finite and within FOLIOT_POSITION_MAX. A body that breaks
// this is frozen where it last kept it, and no other body is touched.

// Whether a substep leaves its start in `previous`. With several substeps a body may have been out
// of range there and be back in range now.
static bool has_previous(const foliot_world *world)
{
    return world->scene.state_fields >> FOLIOT_FIELD_previous_x & 1;
}

static bool body_in_range(const foliot_world *world, uint32_t i)
{
    foliot__v3 x = foliot__position(world), v = foliot__velocity(world),
               p = foliot__previous(world);
    if (!(foliot__is_coordinate(x.x[i]) && foliot__is_coordinate(x.y[i]) &&
          foliot__is_coordinate(x.z[i]) && foliot__is_coordinate(v.x[i]) &&
          foliot__is_coordinate(v.y[i]) && foliot__is_coordinate(v.z[i])))
        return false;
    if (has_previous(world) && !(foliot__is_coordinate(p.x[i]) && foliot__is_coordinate(p.y[i]) &&
                                 foliot__is_coordinate(p.z[i])))
        return false;
    if (!world->scene.rotates)
        return true;
    foliot__v3 w = foliot__angular_velocity(world);
    return foliot__is_coordinate(w.x[i]) && foliot__is_coordinate(w.y[i]) &&
           foliot__is_coordinate(w.z[i]) &&
           foliot__is_coordinate(foliot__orientation_w(world)[i]) &&
           foliot__is_coordinate(foliot__orientation_x(world)[i]) &&
           foliot__is_coordinate(foliot__orientation_y(world)[i]) &&
           foliot__is_coordinate(foliot__orientation_z(world)[i]);
}

typedef int64_t bit_lane __attribute__((vector_size(8 * FOLIOT__LANES), may_alias));

// Negative if some |value| is beyond FOLIOT_POSITION_MAX, infinite or NaN. As integers, the bits of
// all of these are greater than those of the bound, so one subtraction a value is enough.
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

// The same of every body, but faster. Nearly always all are in range.
static bool all_in_range(const foliot_world *world)
{
    uint32_t rows = foliot__lanes(world);
    int64_t signs = excess3(foliot__position(world), rows) | excess3(foliot__velocity(world), rows);
    if (has_previous(world))
        signs |= excess3(foliot__previous(world), rows);
    if (world->scene.rotates)
        signs |= excess3(foliot__angular_velocity(world), rows) |
                 excess(foliot__orientation_w(world), rows) |
                 excess(foliot__orientation_x(world), rows) |
                 excess(foliot__orientation_y(world), rows) |
                 excess(foliot__orientation_z(world), rows);
    return signs >= 0;
}

static void keep_start(foliot_world *world)
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

static void freeze_out_of_range(foliot_world *world)
{
    if (all_in_range(world))
        return;
    for (uint32_t i = 0; i < world->body_count; i++)
        if (!body_in_range(world, i))
            foliot__body_freeze(world, i);
}

static void clamp_speeds(foliot_world *world)
{
    if (world->scene.speed_max < FOLIOT_POSITION_MAX)
        for (uint32_t i = 0; i < world->body_count; i++) {
            foliot__v3 v = foliot__velocity(world);
            double speed2 = (v.x[i] * v.x[i] + v.y[i] * v.y[i]) + v.z[i] * v.z[i];
            if (!(speed2 > world->scene.speed_max * world->scene.speed_max) ||
                foliot__flags(world)[i] & FOLIOT_BODY_KINEMATIC)
                continue;
            double scale = world->scene.speed_max / foliot__sqrt(speed2);
            v.x[i] *= scale;
            v.y[i] *= scale;
            v.z[i] *= scale;
            foliot__velocity_changed(world, i);
        }
}

// -- a tick: input, substeps, finish

static foliot_status check_step(const foliot_world *world, const foliot_tick_inputs *tick,
                                const foliot_host *host)
{
    if (!foliot__floating_point_standard())
        return FOLIOT_STATUS_FLOATING_POINT;
    if (!foliot__inputs_ordered(world, tick->inputs, tick->input_count) ||
        !foliot__commands_ordered(world, tick->commands, tick->command_count) ||
        !foliot__force_callbacks_present(world, host))
        return FOLIOT_STATUS_INVALID;
    return FOLIOT_STATUS_OK;
}

static foliot_status run_tick(foliot_world *world, double dt, const foliot_tick_inputs *tick,
                              const foliot_host *host)
{
    host = host ? host : &no_host;
    foliot_status status = check_step(world, tick, host);
    if (status != FOLIOT_STATUS_OK)
        return status;

    world->reported.event_count = 0;
    foliot__contact_events_begin(world);
    foliot__sensors_begin(world);
    foliot__players_apply(world, tick->inputs, tick->input_count);
    foliot__commands_apply(world, tick->commands, tick->command_count);
    foliot__world_prepare_changed(world);
    world->input.commands = tick->command_count;
    foliot__targets_begin(world);
    foliot__sleep_begin(world);
    foliot__players_push(world);
    keep_start(world);
    stage_done(host, world, FOLIOT_STAGE_input);

    bool asleep = foliot__sleep_everywhere(world);
    if (asleep) {
        // Nothing moves: only time advances.
        for (int stage = FOLIOT_STAGE_force; stage < FOLIOT_STAGE_finish; stage++)
            stage_done(host, world, (foliot_stage)stage);
    } else {
        foliot__sensors_follow(world);
        // With workers a tick is one call of the host's runner. Callbacks of the host run only on
        // its own thread, and a small world finishes before another thread has woken up.
        advance_task task = {world, dt, host};
        bool calls_back = host->after_stage || host->callback_count > 0;
        if (foliot__uses_contact_solver(world) && world->body_count >= BODIES_SHARED && !calls_back)
            foliot__workers_run(host, run_substeps, &task);
        else
            run_substeps(NULL, &task);
    }

    foliot__targets_end(world);
    foliot__sleep_end(world);
    freeze_out_of_range(world);
    clamp_speeds(world);
    foliot__sensors_end(world, !asleep);
    foliot__definition_refresh(world);
    world->tick++;
    stage_done(host, world, FOLIOT_STAGE_finish);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_world_step(foliot_world *world, const foliot_input *inputs, uint32_t count,
                                const foliot_host *host)
{
    const foliot_tick_inputs tick = {.inputs = inputs, .input_count = count};
    return run_tick(world, world->scene.dt, &tick, host);
}

foliot_status foliot_world_step_tick(foliot_world *world, const foliot_tick_inputs *tick,
                                     const foliot_host *host)
{
    return run_tick(world, world->scene.dt, tick, host);
}

foliot_status foliot_world_step_dt(foliot_world *world, double dt, const foliot_host *host)
{
    if (!world->scheme.sums_time)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!(dt > 0 && dt < FOLIOT_POSITION_MAX))
        return FOLIOT_STATUS_INVALID;
    return run_tick(world, dt, &no_inputs, host);
}

foliot_status foliot_world_step_back(foliot_world *world, const foliot_input *before,
                                     uint32_t count, const foliot_host *host)
{
    const foliot__scheme *scheme = foliot__scheme_of((foliot_integrator)world->scheme.integrator);
    if (!scheme->retreat)
        return FOLIOT_STATUS_UNSUPPORTED;
    host = host ? host : &no_host;
    const foliot_tick_inputs tick = {.inputs = before, .input_count = count};
    foliot_status status = check_step(world, &tick, host);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (world->tick == 0)
        return FOLIOT_STATUS_INVALID;

    world->reported.event_count = 0;
    foliot__contact_events_begin(world);
    foliot__players_push(world);
    keep_start(world);
    world->tick--;
    for (uint32_t s = world->scene.substeps; s-- > 0;) {
        foliot__step step = {.world = world,
                             .host = host,
                             .dt = world->scene.dt / world->scene.substeps,
                             .time = foliot__substep_time(world, s),
                             .time_end = foliot__substep_time(world, s + 1),
                             .count = world->body_count};
        scheme->retreat(&step);
    }
    foliot__players_apply(world, before, count);
    foliot__world_prepare_changed(world);
    foliot__players_push(world);
    return FOLIOT_STATUS_OK;
}
