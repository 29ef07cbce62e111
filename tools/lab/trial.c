// SPDX-License-Identifier: MIT
// trial.c: runs and measures; draws nothing, prints nothing but progress.
#include "trial.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/terminal.h"

static void append_point(trial *t, const foliot_world *world, const trial_view *view, uint64_t tick)
{
    uint64_t stride = t->ticks / TRIAL_POINTS + 1;
    if (!t->x || tick % stride || t->point_count > TRIAL_POINTS)
        return;
    foliot_body_state body =
        foliot_world_get_body_state(world, foliot_world_get_body_id(world, view->body));
    t->x[t->point_count] = body.position[view->axis];
    t->v[t->point_count] = body.velocity[view->axis];
    t->point_count++;
}

static foliot_status run_and_measure(trial *t, foliot_world *world, const trial_view *view)
{
    const foliot_integrator_info *info = foliot_integrator_get_info(t->integrator);
    char what[96], step[FOLIOT__REAL_TEXT_BYTES];
    snprintf(what, sizeof what, "%s, dt = %s", info->name, lab_step_text(step, t->dt));
    foliot__progress progress = foliot__progress_begin(what, t->ticks);
    double start = lab_energy(world);
    foliot_status status = FOLIOT_STATUS_OK;
    uint64_t ns = 0;
    append_point(t, world, view, 0);
    for (uint64_t tick = 1; tick <= t->ticks && status == FOLIOT_STATUS_OK; tick++) {
        uint64_t begin = lab_now_ns();
        status = foliot_world_step(world, NULL, 0, NULL);
        ns += lab_now_ns() - begin;
        if (status != FOLIOT_STATUS_OK)
            break;
        double error = lab_energy_error(start, lab_energy(world));
        t->energy_error_end = error;
        if (!(error <= t->energy_error_max))
            t->energy_error_max = error;
        uint32_t bin = (uint32_t)((double)(tick - 1) / (double)t->ticks * TRIAL_BINS);
        if (t->ticks < TRIAL_BINS)
            bin = (uint32_t)(tick - 1);
        if (bin >= t->bin_count) {
            bin = t->bin_count++;
            t->bin_error[bin] = 0;
        } else {
            bin = t->bin_count - 1;
        }
        if (!(error <= t->bin_error[bin]))
            t->bin_error[bin] = error;
        t->bin_time[bin] = foliot_world_get_time(world);
        append_point(t, world, view, tick);
        t->had_contacts = t->had_contacts || lab_has_contacts(world);
        foliot__progress_at(&progress, tick);
        if (lab_interrupted())
            status = FOLIOT_STATUS_AGAIN;
    }
    foliot__progress_end(&progress);
    t->seconds = (double)ns * 1e-9;
    return status;
}

foliot_status trial_run(foliot_scene *scene, foliot_integrator integrator, double dt,
                        uint64_t ticks, const trial_view *view, trial *t)
{
    *t = (trial){.integrator = integrator, .dt = dt, .ticks = ticks, .position_error = NAN};
    foliot_integrator own_integrator = scene->integrator;
    double own_dt = scene->dt;
    scene->integrator = integrator;
    scene->dt = dt;
    foliot_error error;
    foliot_status status = foliot_scene_check(scene, &error);
    if (status == FOLIOT_STATUS_OK) {
        foliot_world *world;
        status = foliot_world_create(scene, &world, NULL);
        if (status == FOLIOT_STATUS_OK) {
            t->bin_time = malloc(TRIAL_BINS * sizeof *t->bin_time);
            t->bin_error = malloc(TRIAL_BINS * sizeof *t->bin_error);
            t->final = calloc(3 * ((size_t)scene->body_count + 1), sizeof *t->final);
            bool portrait = view->body != FOLIOT_NO_BODY;
            t->x = portrait ? malloc((TRIAL_POINTS + 1) * sizeof *t->x) : NULL;
            t->v = portrait ? malloc((TRIAL_POINTS + 1) * sizeof *t->v) : NULL;
            t->slots = scene->body_count;
            status = (t->bin_time && t->bin_error && t->final && (!portrait || (t->x && t->v)))
                         ? run_and_measure(t, world, view)
                         : FOLIOT_STATUS_MEMORY;
            const foliot_world_counters *c = foliot_world_get_counters(world);
            t->evaluations = c->force_evaluations;
            t->solver_iterations = c->solver_iterations;
            t->solver_failures = c->solver_failures;
            t->frozen_bodies = c->frozen_bodies;
            if (t->final)
                for (uint32_t i = 0; i < scene->body_count; i++) {
                    foliot_body_state body =
                        foliot_world_get_body_state(world, foliot_world_get_body_id(world, i));
                    memcpy(t->final + 3 * (size_t)i, body.position, sizeof body.position);
                }
            foliot_world_destroy(world);
            t->ran = status == FOLIOT_STATUS_OK;
        }
    } else {
        snprintf(t->refusal, sizeof t->refusal, "%s", error.text);
        status = FOLIOT_STATUS_OK;
    }
    scene->integrator = own_integrator;
    scene->dt = own_dt;
    return status;
}

void trial_free(trial *t)
{
    free(t->bin_time);
    free(t->bin_error);
    free(t->x);
    free(t->v);
    free(t->final);
    *t = (trial){0};
}
