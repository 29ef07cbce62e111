// SPDX-License-Identifier: MIT
// report.h: a comparison as pictures: one SVG page, or a self-contained HTML report.
#ifndef FOLIOT_TOOLS_LAB_REPORT_H
#define FOLIOT_TOOLS_LAB_REPORT_H

#include "trial.h"

#define COMPARE_INTEGRATORS_MAX 32
#define COMPARE_STEPS_MAX 32

typedef struct comparison {
    const lab_context *context;
    const lab_compare_options *options;
    const char *file;
    foliot_scene *scene;
    foliot_integrator integrators[COMPARE_INTEGRATORS_MAX];
    uint32_t integrator_count;
    double steps[COMPARE_STEPS_MAX]; // falling
    uint32_t step_count;
    uint32_t shown; // step of the plots over time
    double time;
    trial_reference reference;
    trial *trials; // [integrator * step_count + step]
    char sinks_text[LAB_SINKS_BYTES];
    const char *sinks;                      // lab_energy_sinks: NULL where energy is conserved
    double orders[COMPARE_INTEGRATORS_MAX]; // measured; NaN if no errors show it
} comparison;

static inline trial *comparison_trial(const comparison *c, uint32_t integrator, uint32_t step)
{
    return &c->trials[integrator * c->step_count + step];
}

// Is there a picture of that name?
bool report_picture(const char *name);
// One page with four plots, or with the one that --picture names; false if there was no memory.
bool report_svg(FILE *out, const comparison *comparison);
bool report_html(FILE *out, const comparison *comparison);

#endif
