// SPDX-License-Identifier: MIT
// compare.c: runs every integrator at every step, and prints one table.
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"

#define TICKS_DEFAULT 600
// Errors show the order while they are within these shares of the motion, and at least this many
// times the reference's own error.
#define ERROR_SHARE_MIN 1e-13
#define ERROR_SHARE_MAX 0.1
#define ERROR_OVER_REFERENCE 10

__attribute__((format(printf, 2, 3))) static int report_mistake(const comparison *c,
                                                                const char *format, ...)
{
    char message[512], clean[512];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    return foliot__options_wrong(c->context->program, c->context->arguments, "%s",
                                 foliot__text_clean(clean, sizeof clean, message));
}

// -- lists on the command line

// The next word of a list separated by commas; false at its end.
static bool next_word(const char **list, char *word, size_t bytes)
{
    if (!*list)
        return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), *list);
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return true;
}

static int read_integrators(comparison *c)
{
    const char *list = c->options->integrators;
    char word[96], message[256];
    if (!list)
        return report_mistake(c, "name the integrators: --integrators semi-implicit-euler,rk4,...");
    foliot_integrator own = c->scene->integrator;
    for (int id = 1; strcmp(list, "all") == 0 && id < FOLIOT_INTEGRATOR_COUNT; id++) {
        c->scene->integrator = (foliot_integrator)id;
        if (foliot_scene_check(c->scene, NULL) == FOLIOT_STATUS_OK)
            c->integrators[c->integrator_count++] = (foliot_integrator)id;
    }
    c->scene->integrator = own;
    if (strcmp(list, "all") == 0)
        return 0;
    while (next_word(&list, word, sizeof word)) {
        foliot_integrator id;
        if (!lab_integrator(word, &id, message, sizeof message))
            return report_mistake(c, "%s", message);
        for (uint32_t i = 0; i < c->integrator_count; i++)
            if (c->integrators[i] == id)
                return report_mistake(c, "--integrators names %s twice",
                                      foliot_integrator_get_info(id)->name);
        if (c->integrator_count == COMPARE_INTEGRATORS_MAX)
            return report_mistake(c, "--integrators names too many: %s", word);
        c->integrators[c->integrator_count++] = id;
    }
    return 0;
}

static int compare_falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static int read_steps(comparison *c)
{
    const char *list = c->options->steps;
    char word[96];
    if (!list)
        return report_mistake(c, "give the steps: --dt H1,H2,...");
    while (next_word(&list, word, sizeof word)) {
        double dt;
        if (!lab_parse_step(word, &dt))
            return report_mistake(
                c, "--dt expects numbers above 0 or ratios such as 1/60, not '%s'", word);
        if (c->step_count == COMPARE_STEPS_MAX)
            return report_mistake(c, "--dt gives more than 32 steps: '%s' is too many", word);
        c->steps[c->step_count++] = dt;
    }
    qsort(c->steps, c->step_count, sizeof c->steps[0], compare_falling);
    for (uint32_t k = 1; k < c->step_count; k++)
        if (!(c->steps[k] < c->steps[k - 1]))
            return report_mistake(c, "--dt gives the same step twice");
    return 0;
}

static int read_time(comparison *c)
{
    c->time = c->options->time;
    if (!c->options->time_given) {
        // A multiple of the longest step, about 600 of the scene's own.
        double count = round(TICKS_DEFAULT * c->scene->dt / c->steps[0]);
        c->time = fmax(1, count) * c->steps[0];
    }
    if (!(c->time > 0))
        return report_mistake(c, "--time expects a number above 0, not '%g'", c->time);
    for (uint32_t k = 0; k < c->step_count; k++) {
        uint64_t ticks;
        if (lab_ticks(c->time, c->steps[k], &ticks) && ticks > 0)
            continue;
        char time[FOLIOT__REAL_TEXT_BYTES], dt[FOLIOT__REAL_TEXT_BYTES];
        char nearest[FOLIOT__REAL_TEXT_BYTES];
        ticks += ticks == 0;
        snprintf(nearest, sizeof nearest, "%.12g", (double)ticks * c->steps[k]);
        return report_mistake(
            c, "--time %s is not a multiple of dt = %s; the nearest is %s (%" PRIu64 " tick%s)",
            foliot__real_text(time, c->time), foliot__real_text(dt, c->steps[k]), nearest, ticks,
            ticks == 1 ? "" : "s");
    }
    return 0;
}

static int read_options(comparison *c)
{
    const char *dot = c->options->out ? strrchr(c->options->out, '.') : ".svg";
    if (!dot || (strcmp(dot, ".svg") != 0 && strcmp(dot, ".html") != 0))
        return report_mistake(c, "--out expects a name that ends in .svg or .html, not '%s'",
                              c->options->out);
    if (c->options->picture && strcmp(dot, ".svg") != 0)
        return report_mistake(c, "--picture chooses what an .svg shows; an .html shows all");
    int code = lab_scene_open(c->context, c->file, NULL, 0, &c->scene);
    if (code == 0)
        code = read_integrators(c);
    if (code == 0)
        code = read_steps(c);
    if (code == 0)
        code = read_time(c);
    if (code)
        return code;
    double wanted = c->scene->dt;
    bool known = !c->options->show || lab_parse_step(c->options->show, &wanted);
    for (uint32_t k = 0; k < c->step_count && known; k++)
        if (fabs(log(c->steps[k] / wanted)) < fabs(log(c->steps[c->shown] / wanted)))
            c->shown = k;
    if (c->options->show && !(known && fabs(c->steps[c->shown] - wanted) <= 1e-12 * wanted))
        return report_mistake(c, "--show expects one of the steps, not '%s'", c->options->show);
    const char *name = c->options->body;
    uint32_t *body = &c->reference.body;
    *body = FOLIOT_NO_BODY;
    if (name) {
        *body = foliot_scene_find_body(c->scene, name);
        if (*body == FOLIOT_NO_BODY)
            return report_mistake(c, "--body: the scene has no body '%s'", name);
        return 0;
    }
    bool moves = false;
    for (uint32_t i = 0; i < c->scene->body_count; i++)
        moves = moves || !c->scene->bodies[i].is_static;
    if (!moves)
        return lab_fail(c->context, FOLIOT__EXIT_SCENE, "%s: no body of the scene moves", c->file);
    return 0;
}

// -- running

static int report_failure(const comparison *c, foliot_status status)
{
    if (status == FOLIOT_STATUS_AGAIN)
        return lab_fail(c->context, FOLIOT__EXIT_ERROR, "interrupted");
    return lab_fail(c->context, FOLIOT__EXIT_ERROR, "%s", foliot_status_get_text(status));
}

static int run_trials(comparison *c)
{
    trial_view view = {c->reference.body, c->reference.axis};
    uint32_t ran = 0;
    bool had_contacts = false;
    c->trials = calloc((size_t)c->integrator_count * c->step_count + 1, sizeof *c->trials);
    if (!c->trials)
        return report_failure(c, FOLIOT_STATUS_MEMORY);
    for (uint32_t i = 0; i < c->integrator_count; i++)
        for (uint32_t k = 0; k < c->step_count; k++) {
            trial *t = comparison_trial(c, i, k);
            uint64_t ticks;
            lab_ticks(c->time, c->steps[k], &ticks);
            foliot_status status =
                trial_run(c->scene, c->integrators[i], c->steps[k], ticks, &view, t);
            if (status != FOLIOT_STATUS_OK)
                return report_failure(c, status);
            if (t->ran)
                t->position_error = reference_distance(&c->reference, c->scene, t->final, t->slots);
            ran += t->ran;
            had_contacts = had_contacts || t->had_contacts;
        }
    c->sinks = lab_energy_sinks(c->scene, false, had_contacts, c->sinks_text);
    if (ran == 0)
        return lab_fail(c->context, FOLIOT__EXIT_SCENE, "%s: %s", c->file, c->trials[0].refusal);
    return 0;
}

static bool error_is_telling(const comparison *c, const trial *t)
{
    double low = ERROR_SHARE_MIN * c->reference.extent;
    if (c->reference.uncertainty > 0)
        low = fmax(low, ERROR_OVER_REFERENCE * c->reference.uncertainty);
    return t->ran && !t->frozen_bodies && t->position_error > low &&
           t->position_error < ERROR_SHARE_MAX * c->reference.extent;
}

// -- results

static void print_table(const comparison *c)
{
    char name[FOLIOT_NAME_BYTES], time[FOLIOT_NAME_BYTES], length[FOLIOT_NAME_BYTES];
    foliot__text_clean(time, sizeof time, c->scene->units.time);
    foliot__text_clean(length, sizeof length, c->scene->units.length);
    printf("%s: %.10g %s; positions against %s\n\n",
           foliot__text_clean(name, sizeof name, c->scene->name), c->time, time, c->reference.text);
    printf("%-26s %11s %12s %13s %12s %14s %9s\n", "integrator", "dt", "evaluations",
           c->sinks ? "energy change" : "energy error", "at the end", "position error", "ms");
    for (uint32_t i = 0; i < c->integrator_count; i++)
        for (uint32_t k = 0; k < c->step_count; k++) {
            const trial *t = comparison_trial(c, i, k);
            char step[FOLIOT__REAL_TEXT_BYTES];
            if (t->ran)
                printf("%-26s %11s %12" PRIu64 " %13.2e %12.2e %14.2e %9.3g%s\n",
                       foliot_integrator_get_info(t->integrator)->name, lab_step_text(step, t->dt),
                       t->evaluations, t->energy_error_max, t->energy_error_end, t->position_error,
                       t->seconds * 1e3, t->frozen_bodies ? "  froze" : "");
        }
    if (c->sinks)
        printf("\nEnergy is not conserved in this scene: %s. The loss is not an error.\n",
               c->sinks);
    printf("\n%-26s %9s %9s\n", "order", "table", "measured");
    for (uint32_t i = 0; i < c->integrator_count; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info(c->integrators[i]);
        if (!comparison_trial(c, i, 0)->ran)
            printf("%-26s not run: %s\n", info->name, comparison_trial(c, i, 0)->refusal);
        else if (c->orders[i] == c->orders[i])
            printf("%-26s %9u %9.2f\n", info->name, info->order, c->orders[i]);
        else
            printf("%-26s %9u %9s\n", info->name, info->order, "-");
    }
}

static void print_json(const comparison *c)
{
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "scene", c->scene->name);
    foliot__json_real(&json, "time", c->time);
    foliot__json_text(&json, "energy_sinks", c->sinks);
    foliot__json_object(&json, "reference");
    foliot__json_text(&json, "text", c->reference.text);
    foliot__json_text(&json, "integrator",
                      c->reference.integrator[0] ? c->reference.integrator : NULL);
    foliot__json_real(&json, "dt", c->reference.dt > 0 ? c->reference.dt : NAN);
    foliot__json_real(&json, "uncertainty", c->reference.uncertainty);
    foliot__json_close(&json);
    foliot__json_array(&json, "runs");
    for (uint32_t i = 0; i < c->integrator_count * c->step_count; i++) {
        const trial *t = &c->trials[i];
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "integrator", foliot_integrator_get_info(t->integrator)->name);
        foliot__json_real(&json, "dt", t->dt);
        foliot__json_count(&json, "ticks", t->ticks);
        if (!t->ran) {
            foliot__json_text(&json, "refused", t->refusal);
        } else {
            foliot__json_count(&json, "force_evaluations", t->evaluations);
            foliot__json_real(&json, "energy_error_max", t->energy_error_max);
            foliot__json_real(&json, "energy_error_end", t->energy_error_end);
            foliot__json_real(&json, "position_error", t->position_error);
            foliot__json_count(&json, "solver_iterations", t->solver_iterations);
            foliot__json_count(&json, "solver_failures", t->solver_failures);
            foliot__json_count(&json, "frozen_bodies", t->frozen_bodies);
        }
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_array(&json, "orders");
    for (uint32_t i = 0; i < c->integrator_count; i++) {
        const foliot_integrator_info *info = foliot_integrator_get_info(c->integrators[i]);
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "integrator", info->name);
        foliot__json_count(&json, "order", info->order);
        foliot__json_real(&json, "measured", c->orders[i]);
        foliot__json_close(&json);
    }
    foliot__json_line(&json);
}

static int write_report(const comparison *c)
{
    const char *file = c->options->out;
    if (!file)
        return 0;
    FILE *out = fopen(file, "w");
    bool html = strcmp(strrchr(file, '.'), ".html") == 0;
    bool good = out && (html ? report_html(out, c) : report_svg(out, c)) && !ferror(out);
    int reason = errno;
    if (out && fclose(out) != 0) {
        reason = errno;
        good = false;
    }
    if (good) {
        fprintf(stderr, "%s is written\n", file);
        return 0;
    }
    int code = reason == ENOSPC || reason == EDQUOT ? FOLIOT__EXIT_AGAIN : FOLIOT__EXIT_ERROR;
    return lab_fail(c->context, code, "cannot write %s: %s", file, strerror(reason));
}

int lab_compare(const lab_context *context, const char *file, const lab_compare_options *options)
{
    comparison c = {.context = context, .options = options, .file = file};
    lab_catch_signals();
    int code = read_options(&c);
    if (code == 0) {
        double finest = c.steps[c.step_count - 1];
        uint32_t body = c.reference.body;
        char message[512];
        foliot_status status = FOLIOT_STATUS_OK;
        if (!options->reference)
            status = reference_make(c.scene, finest, c.time, &c.reference);
        else if (!reference_read(options->reference, c.scene, c.time, &c.reference, message,
                                 sizeof message))
            code = lab_fail(context, FOLIOT__EXIT_ERROR, "%s", message);
        if (code == 0 && status == FOLIOT_STATUS_OK)
            status = reference_watch(c.scene, finest, c.time, body, &c.reference);
        if (code == 0 && status != FOLIOT_STATUS_OK)
            code = report_failure(&c, status);
    }
    if (code == 0)
        code = run_trials(&c);
    if (code == 0) {
        // The slope between the two finest steps whose errors show the order.
        for (uint32_t i = 0; i < c.integrator_count; i++) {
            c.orders[i] = NAN;
            for (uint32_t k = c.step_count; k-- > 1;) {
                const trial *fine = comparison_trial(&c, i, k),
                            *coarse = comparison_trial(&c, i, k - 1);
                if (!error_is_telling(&c, fine) || !error_is_telling(&c, coarse))
                    continue;
                c.orders[i] =
                    log(coarse->position_error / fine->position_error) / log(coarse->dt / fine->dt);
                break;
            }
        }
        if (options->json)
            print_json(&c);
        else
            print_table(&c);
        code = write_report(&c);
    }
    for (uint32_t i = 0; c.trials && i < c.integrator_count * c.step_count; i++)
        trial_free(&c.trials[i]);
    free(c.trials);
    reference_free(&c.reference);
    foliot_scene_destroy(c.scene);
    return code;
}
