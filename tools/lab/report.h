// SPDX-License-Identifier: MIT
// report.h: a comparison as pictures: one SVG page, or a self-contained HTML report.
#ifndef FOLIOT_TOOLS_LAB_REPORT_H
#define FOLIOT_TOOLS_LAB_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

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

// One page with four plots, or with the one that --picture names; false if there was no memory.
bool report_svg(FILE *out, const comparison *comparison);
bool report_html(FILE *out, const comparison *comparison);

// plot.c: line plots as SVG: linear or logarithmic axes with labelled ticks, a legend, colours that
// stay apart for the colour-blind (Okabe and Ito 2008). Draws into a stream; knows nothing of
// physics.

typedef enum plot_style {
    PLOT_LINE,       // a line through the points
    PLOT_LINE_MARKS, // and a mark on each
    PLOT_DOTS,       // small dots without a line
    PLOT_GUIDE,      // a thin grey dashed line, not in the legend
} plot_style;

// Non-finite points break the line; on a logarithmic axis so do those that are not positive.
typedef struct plot_series {
    const char *label;
    const double *x, *y;
    uint32_t count;
    uint32_t look; // colour, dashes and mark: the same number, the same look in every plot
    plot_style style;
} plot_series;

// An axis with low == high is fitted to the data; on a logarithmic one to within floor..ceiling, if
// those are given. Points outside are cut off.
typedef struct plot_axis {
    const char *label;
    bool log;
    double low, high;
    double floor, ceiling;
} plot_axis;

typedef struct plot_panel {
    const char *id; // unique on its page, a word
    const char *title, *subtitle;
    plot_axis x, y;
    const plot_series *series;
    uint32_t count;
    bool legend; // on the right, inside the width
} plot_panel;

void plot_page_begin(FILE *out, double width, double height, const char *title);
void plot_page_text(FILE *out, double x, double y, double size, const char *colour, bool bold,
                    const char *text);
void plot_page_end(FILE *out);
// One plot, `left`, `top`, `width` and `height` its frame on the page, in pixels.
void plot_draw(FILE *out, const plot_panel *plot, double left, double top, double width,
               double height);
// The legend alone, for several plots that share their looks; `marks`: with them.
void plot_legend(FILE *out, const plot_series *series, uint32_t count, bool marks, double left,
                 double top);

// &, <, > and quotes escaped: for text inside SVG and HTML.
void plot_escape(FILE *out, const char *text);

#endif
