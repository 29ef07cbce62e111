// SPDX-License-Identifier: MIT
// report.c: the curves of a comparison and their text. It measures nothing.
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define LABEL_BYTES 96
#define ERROR_FLOOR 1e-17      // below it is rounding of the energy itself
#define ERROR_CEILING 1e3      // above it a scheme has failed
#define PORTRAIT_LINE_MAX 1200 // points; more are drawn as dots
#define PORTRAIT_ROOM 0.35

#define PICTURE_WIDTH 940.0
#define PICTURE_HEIGHT 500.0

typedef enum picture {
    PICTURE_ENERGY,
    PICTURE_WORK,
    PICTURE_ORDER,
    PICTURE_PORTRAIT,
    PICTURE_COUNT
} picture;

static const char *const picture_names[PICTURE_COUNT] = {"energy", "work", "order", "portrait"};

// Curves of one plot with the memory that they point into.
typedef struct curves {
    plot_series series[COMPARE_INTEGRATORS_MAX];
    char labels[COMPARE_INTEGRATORS_MAX][LABEL_BYTES];
    double x[COMPARE_INTEGRATORS_MAX][COMPARE_STEPS_MAX];
    double y[COMPARE_INTEGRATORS_MAX][COMPARE_STEPS_MAX];
    uint32_t count;
    plot_panel panel;
    char title[160], subtitle[240], x_label[160], y_label[160];
} curves;

static const char *name_of(foliot_integrator id)
{
    return foliot_integrator_get_info(id)->name;
}

static plot_series *add_series(curves *c, const comparison *of, uint32_t integrator,
                               plot_style style)
{
    plot_series *s = &c->series[c->count];
    char *label = c->labels[c->count++];
    snprintf(label, LABEL_BYTES, "%s", name_of(of->integrators[integrator]));
    *s = (plot_series){.label = label, .look = integrator, .style = style};
    return s;
}

static void unit_names(const comparison *of, char *length, char *time)
{
    foliot__text_clean(length, FOLIOT_NAME_BYTES, of->scene->units.length);
    foliot__text_clean(time, FOLIOT_NAME_BYTES, of->scene->units.time);
}

static void fill_portrait(curves *c, const comparison *of, const char *length, const char *time)
{
    // The last one is drawn on top: people name the best last.
    for (uint32_t i = 0; i < of->integrator_count; i++) {
        const trial *t = comparison_trial(of, i, of->shown);
        if (!t->ran)
            continue;
        plot_series *s =
            add_series(c, of, i, t->ticks <= PORTRAIT_LINE_MAX ? PLOT_LINE : PLOT_DOTS);
        s->x = t->x;
        s->y = t->v;
        s->count = t->point_count;
    }
    char name[FOLIOT_NAME_BYTES + 16];
    const trial_reference *r = &of->reference;
    const char *own = of->scene->bodies[r->body].name;
    if (own && own[0])
        foliot__text_clean(name, sizeof name, own);
    else
        snprintf(name, sizeof name, "body %u", (unsigned)r->body);
    snprintf(c->title, sizeof c->title, "Phase portrait of %s", name);
    char step[FOLIOT__REAL_TEXT_BYTES];
    snprintf(c->subtitle, sizeof c->subtitle, "dt = %s %s",
             lab_step_text(step, of->steps[of->shown]), time);
    snprintf(c->x_label, sizeof c->x_label, "%c, %s", "xyz"[r->axis], length);
    // "a/(year/2pi)": a unit of time that is a quotient itself keeps its parentheses.
    bool compound = strpbrk(time, "/ *") != NULL;
    snprintf(c->y_label, sizeof c->y_label, "velocity along %c, %s/%s%s%s", "xyz"[r->axis], length,
             compound ? "(" : "", time, compound ? ")" : "");
    double x = PORTRAIT_ROOM * (r->x_range[1] - r->x_range[0]);
    double v = PORTRAIT_ROOM * (r->v_range[1] - r->v_range[0]);
    c->panel.x = (plot_axis){.low = r->x_range[0] - x, .high = r->x_range[1] + x};
    c->panel.y = (plot_axis){.low = r->v_range[0] - v, .high = r->v_range[1] + v};
}

static void fill_curves(curves *c, const comparison *of, picture which)
{
    char length[FOLIOT_NAME_BYTES], time[FOLIOT_NAME_BYTES];
    *c = (curves){0};
    unit_names(of, length, time);
    if (which == PICTURE_ENERGY) {
        for (uint32_t i = 0; i < of->integrator_count; i++) {
            const trial *t = comparison_trial(of, i, of->shown);
            if (!t->ran)
                continue;
            plot_series *s = add_series(c, of, i, PLOT_LINE);
            s->x = t->bin_time;
            s->y = t->bin_error;
            s->count = t->bin_count;
        }
        snprintf(c->title, sizeof c->title,
                 of->sinks ? "Energy change over time" : "Energy error over time");
        char step[FOLIOT__REAL_TEXT_BYTES];
        snprintf(c->subtitle, sizeof c->subtitle,
                 "dt = %s %s; the largest in each 1/%d of the run%s%s",
                 lab_step_text(step, of->steps[of->shown]), time, TRIAL_BINS,
                 of->sinks ? "; not conserved: " : "", of->sinks ? of->sinks : "");
        snprintf(c->x_label, sizeof c->x_label, "time, %s", time);
        snprintf(c->y_label, sizeof c->y_label, "|E \u2212 E\u2080| / |E\u2080|");
        c->panel.y = (plot_axis){.log = true, .floor = ERROR_FLOOR, .ceiling = ERROR_CEILING};
        c->panel.x = (plot_axis){.high = of->time};
    } else if (which == PICTURE_PORTRAIT) {
        fill_portrait(c, of, length, time);
    } else {
        for (uint32_t i = 0; i < of->integrator_count; i++) {
            plot_series *s = NULL;
            for (uint32_t k = 0; k < of->step_count; k++) {
                const trial *t = comparison_trial(of, i, k);
                if (!t->ran || t->frozen_bodies)
                    continue;
                if (!s)
                    s = add_series(c, of, i, PLOT_LINE_MARKS);
                uint32_t row = c->count - 1;
                c->x[row][s->count] = which == PICTURE_WORK ? (double)t->evaluations : t->dt;
                c->y[row][s->count] = t->position_error;
                s->x = c->x[row];
                s->y = c->y[row];
                s->count++;
            }
            if (s && which == PICTURE_ORDER && of->orders[i] == of->orders[i])
                snprintf(c->labels[c->count - 1], LABEL_BYTES, "%s (order %.2f)",
                         name_of(of->integrators[i]), of->orders[i]);
        }
        bool work = which == PICTURE_WORK;
        snprintf(c->title, sizeof c->title, work ? "Work against precision" : "Order");
        snprintf(c->subtitle, sizeof c->subtitle, "position error after %.6g %s; %s", of->time,
                 time, work ? "further down and left is better" : "the slope is the order");
        snprintf(c->x_label, sizeof c->x_label, work ? "force evaluations" : "dt, %s", time);
        snprintf(c->y_label, sizeof c->y_label, "position error, %s", length);
        c->panel.x = (plot_axis){.log = true};
        c->panel.y = (plot_axis){.log = true,
                                 .floor = 1e-17 * of->reference.extent,
                                 .ceiling = 1e3 * of->reference.extent};
    }
    c->panel.id = picture_names[which];
    c->panel.title = c->title;
    c->panel.subtitle = c->subtitle;
    c->panel.x.label = c->x_label;
    c->panel.y.label = c->y_label;
    c->panel.series = c->series;
    c->panel.count = c->count;
}

static void headline(const comparison *of, char *text, size_t bytes)
{
    char name[FOLIOT_NAME_BYTES], time[FOLIOT_NAME_BYTES];
    snprintf(text, bytes, "%s: integrators over %.6g %s",
             foliot__text_clean(name, sizeof name, of->scene->name), of->time,
             foliot__text_clean(time, sizeof time, of->scene->units.time));
}

// -- one page of SVG

bool report_svg(FILE *out, const comparison *of)
{
    static const picture pictures[] = {PICTURE_ENERGY, PICTURE_WORK, PICTURE_PORTRAIT,
                                       PICTURE_ORDER};
    const double width = 560, height = 430, top = 64, side = 250;
    curves *c = malloc(sizeof *c);
    if (!c)
        return false;
    if (of->options->picture) {
        picture which = 0;
        while (which < PICTURE_COUNT && strcmp(picture_names[which], of->options->picture) != 0)
            which++;
        char head[FOLIOT_NAME_BYTES + 160], name[FOLIOT_NAME_BYTES];
        fill_curves(c, of, which);
        snprintf(head, sizeof head, "%s: %s",
                 foliot__text_clean(name, sizeof name, of->scene->name), c->title);
        c->panel.title = head;
        c->panel.legend = true;
        plot_page_begin(out, PICTURE_WIDTH, PICTURE_HEIGHT, head);
        plot_draw(out, &c->panel, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT);
        plot_page_end(out);
        free(c);
        return true;
    }
    char title[200], line[320];
    headline(of, title, sizeof title);
    plot_page_begin(out, 2 * width + side, top + 2 * height + 12, title);
    plot_page_text(out, 20, 32, 20, NULL, true, title);
    snprintf(line, sizeof line, "Positions against %s.", of->reference.text);
    plot_page_text(out, 20, 52, 12, "#59636e", false, line);
    for (int k = 0; k < 4; k++) {
        fill_curves(c, of, pictures[k]);
        plot_draw(out, &c->panel, k % 2 * width, top + k / 2 * height, width, height);
    }
    // The picture filled last has the measured orders in its labels.
    plot_legend(out, c->series, c->count, true, 2 * width + 8, top + 62);
    plot_page_end(out);
    free(c);
    return true;
}

// -- HTML

static const char style[] =
    "body{font:16px/1.5 system-ui,Helvetica,Arial,sans-serif;color:#1f2328;max-width:60em;"
    "margin:2em auto;padding:0 1em}\n"
    "h1{font-size:1.7em;line-height:1.2}h2{margin-top:2em;font-size:1.25em}\n"
    "table{border-collapse:collapse;font-size:.9em;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.25em .8em;text-align:right;border-bottom:1px solid #e3e6ea}\n"
    "th:first-child,td:first-child{text-align:left;white-space:nowrap}th{border-bottom:2px solid "
    "#9aa3ad}\n"
    "svg{max-width:100%;height:auto}code{background:#f3f4f6;padding:.1em .3em;border-radius:3px}\n"
    ".wide{overflow-x:auto}.note{color:#59636e}\n";

static const char *const explanations[] = {
    "The distance of the total energy from its first value. The error of a symplectic scheme stays "
    "within a band; that of the others grows. A flat curve at the bottom is the rounding error of "
    "the sum.",
    "The cost of precision: each mark is one run, placed by its force evaluations and by the final "
    "distance of the bodies from the reference. At equal cost the lower mark is more accurate.",
    "The same errors over dt. On logarithmic axes a scheme of order p is a line of slope p, until "
    "rounding or the reference's own error makes it flat.",
    "Position and velocity of one body along the axis on which it moves most. A scheme that gains "
    "energy spirals outwards, one that loses it inwards; a symplectic scheme stays on a closed "
    "curve "
    "where the true motion does.",
};

static const char dissipation[] =
    "The distance of the total energy from its first value. This scene does not conserve energy, "
    "so the change is not an error by itself: schemes that agree with each other and with the "
    "reference are "
    "right, whatever they lose.";

static void html_text(FILE *out, const char *before, const char *text, const char *after)
{
    fputs(before, out);
    plot_escape(out, text);
    fputs(after, out);
}

bool report_html(FILE *out, const comparison *of)
{
    curves *c = malloc(sizeof *c);
    if (!c)
        return false;
    char title[200], length[FOLIOT_NAME_BYTES], time[FOLIOT_NAME_BYTES];
    unit_names(of, length, time);
    headline(of, title, sizeof title);
    fputs("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width\">\n",
          out);
    html_text(out, "<title>", title, "</title>\n");
    fprintf(out, "<style>\n%s</style>\n", style);
    html_text(out, "<h1>", title, "</h1>\n");
    fprintf(out, "<p>Bodies: %u, forces: %u, constraints: %u. ", of->scene->body_count,
            of->scene->force_count, of->scene->constraint_count);
    html_text(out, "Positions are compared with ", of->reference.text, ". ");
    fprintf(out, "foliot %s, %s.</p>\n", foliot_get_version(), foliot_get_build());
    for (int which = PICTURE_ENERGY; which < PICTURE_COUNT; which++) {
        fill_curves(c, of, (picture)which);
        c->panel.legend = true;
        html_text(out, "<h2>", c->title, "</h2>\n");
        fprintf(out, "<p>%s</p>\n",
                which == PICTURE_ENERGY && of->sinks ? dissipation : explanations[which]);
        plot_page_begin(out, PICTURE_WIDTH, PICTURE_HEIGHT, c->title);
        plot_draw(out, &c->panel, 0, 0, PICTURE_WIDTH, PICTURE_HEIGHT);
        plot_page_end(out);
    }
    fputs("<h2>The schemes</h2>\n<table>\n<tr><th>integrator</th><th>order</th><th>measured</th>"
          "<th>symplectic</th><th>evaluations a step</th></tr>\n",
          out);
    for (uint32_t i = 0; i < of->integrator_count; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info(of->integrators[i]);
        fprintf(out, "<tr><td>%s</td><td>%u</td>", info->name, info->order);
        if (of->orders[i] == of->orders[i])
            fprintf(out, "<td>%.2f</td>", of->orders[i]);
        else
            fputs("<td>\u2013</td>", out);
        fprintf(out, "<td>%s</td>", info->symplectic ? "yes" : "no");
        if (info->evaluations)
            fprintf(out, "<td>%u</td></tr>\n", info->evaluations);
        else
            fputs("<td>solver</td></tr>\n", out);
    }
    fputs("</table>\n", out);
    for (uint32_t i = 0; i < of->integrator_count; i++)
        if (!comparison_trial(of, i, 0)->ran) {
            fprintf(out, "<p class=\"note\">%s was not run: ", name_of(of->integrators[i]));
            html_text(out, "", comparison_trial(of, i, 0)->refusal, "</p>\n");
        }
    fputs("<h2>Every run</h2>\n<div class=\"wide\"><table>\n<tr><th>integrator</th>", out);
    html_text(out, "<th>dt, ", time, "</th><th>force evaluations</th>");
    fprintf(out, "<th>energy %s, largest</th><th>at the end</th>", of->sinks ? "change" : "error");
    html_text(out, "<th>position error, ", length, "</th><th>milliseconds</th></tr>\n");
    for (uint32_t i = 0; i < of->integrator_count; i++)
        for (uint32_t k = 0; k < of->step_count; k++) {
            const trial *t = comparison_trial(of, i, k);
            if (!t->ran)
                continue;
            char step[FOLIOT__REAL_TEXT_BYTES];
            fprintf(out,
                    "<tr><td>%s%s</td><td>%s</td><td>%" PRIu64 "</td><td>%.2e</td><td>%.2e</td>"
                    "<td>%.2e</td><td>%.3g</td></tr>\n",
                    name_of(t->integrator), t->frozen_bodies ? " (froze)" : "",
                    lab_step_text(step, t->dt), t->evaluations, t->energy_error_max,
                    t->energy_error_end, t->position_error, t->seconds * 1e3);
        }
    fputs("</table></div>\n", out);
    fputs("</html>\n", out);
    free(c);
    return true;
}
