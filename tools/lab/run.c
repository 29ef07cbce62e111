// SPDX-License-Identifier: MIT
// run.c: runs one scene with one integrator from its first tick, and reports the result.
#include "lab.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/watchdog.h"
#include "foliot/recording.h"

#define TICKS_DEFAULT 600
#define BODIES_SHOWN 20
#define FROZEN_MAX 64

typedef struct frozen {
    uint64_t tick;
    uint32_t slot;
} frozen;

// A command that the world refused.
#define REFUSED_MAX 5
typedef struct refused {
    uint64_t tick; // that it was given to
    uint32_t sequence, reason;
} refused;

// All zero: no table is wanted, and nothing is written.
typedef struct csv_table {
    FILE *out;
    const char *file;
    uint64_t every; // ticks from one state to the next
} csv_table;

// Everything about one run.
typedef struct run {
    const lab_context *context;
    const lab_run_options *options;
    const char *file;
    foliot_scene *scene;
    foliot_world *world;
    foliot_hosted_world hosted; // the same, to be recorded
    lab_inputs *inputs;
    lab_commands *commands;
    lab_orders *orders;
    lab_rules *rules;
    lab_said said;
    foliot_recording *recording;
    csv_table csv;
    double jitter; // share of dt; 0: none
    foliot__rng rng;
    uint64_t ticks;
    double energy_start, energy, energy_error_max;
    uint64_t step_ns;
    frozen frozen[FROZEN_MAX];
    uint32_t frozen_count;
    refused refused[REFUSED_MAX]; // the first ones
    uint32_t refused_count;
    bool interrupted, had_contacts;
    bool conserves; // energy, so far
} run;

// -- the options

static int read_options(run *r)
{
    const lab_run_options *o = r->options;
    double dt = 0;
    if (o->dt && !lab_parse_step(o->dt, &dt))
        return foliot__options_wrong(
            r->context->program, r->context->arguments,
            "--dt expects a number above 0 or a ratio such as 1/60, not '%s'", o->dt);
    if (o->every_given && !o->csv)
        return foliot__options_wrong(
            r->context->program, r->context->arguments,
            "--every sets how often --csv writes a row: it requires --csv");
    if (o->json && o->csv && strcmp(o->csv, "-") == 0)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "--json and --csv - both write to stdout");
    int code = lab_scene_open(r->context, r->file, o->integrator, dt, &r->scene);
    if (code)
        return code;
    if (o->ticks_given && o->time_given)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "--ticks and --time exclude each other");
    r->ticks = o->ticks_given ? o->ticks : TICKS_DEFAULT;
    if (o->time_given && o->time < 0)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "--time expects a number, 0 or greater, not '%g'", o->time);
    if (o->time_given && !lab_ticks(o->time, r->scene->dt, &r->ticks)) {
        uint64_t nearest = r->ticks + (r->ticks == 0); // a run of no tick is not meant
        char unit[FOLIOT_NAME_BYTES], time[FOLIOT__REAL_TEXT_BYTES], step[FOLIOT__REAL_TEXT_BYTES];
        char whole[FOLIOT__REAL_TEXT_BYTES];
        snprintf(whole, sizeof whole, "%.12g", (double)nearest * r->scene->dt);
        return foliot__options_wrong(
            r->context->program, r->context->arguments,
            "--time %s is not a multiple of dt = %s %s; the nearest is %s (%" PRIu64 " tick%s)",
            foliot__real_text(time, o->time), foliot__real_text(step, r->scene->dt),
            foliot__text_clean(unit, sizeof unit, r->scene->units.time), whole, nearest,
            nearest == 1 ? "" : "s");
    }
    // "0.2,seed=7": dt varies by up to that share of it.
    const char *text = r->options->jitter;
    if (!text)
        return 0;
    char share[64];
    uint64_t seed = 1;
    size_t length = strcspn(text, ",");
    snprintf(share, sizeof share, "%.*s", (int)(length < 63 ? length : 63), text);
    const char *rest = text + length;
    bool good = foliot__parse_real(share, &r->jitter) && r->jitter >= 0 && r->jitter < 1;
    if (good && *rest)
        good = strncmp(rest, ",seed=", 6) == 0 && foliot__parse_count(rest + 6, &seed);
    if (!good)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "--dt-jitter expects a share from 0 to below 1 and a seed: "
                                     "0.2,seed=7");
    const foliot_integrator_info *info = foliot_integrator_get_info(r->scene->integrator);
    if (!info->lab_only)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "--dt-jitter varies dt, and %s is for a fixed one: use "
                                     "--integrator time-corrected-verlet",
                                     info->name);
    if (r->options->record)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "a recording has one dt: --record and --dt-jitter exclude "
                                     "each other");
    r->rng = foliot__rng_seeded(seed);
    return 0;
}

// -- recording

// The lab writes the recording between ticks itself: it has no deadline, and no queue can fill.
static int record_open(run *r)
{
    if (!r->options->record)
        return 0;
    foliot_recording_config config = foliot_recording_config_default();
    config.threaded = false;
    config.rules = lab_rules_recorded(r->rules);
    r->hosted = (foliot_hosted_world){.world = r->world, .scene = r->scene};
    const foliot_simulation simulation = {.kind = &foliot_world_kind, .self = &r->hosted};
    foliot_status status =
        foliot_recording_open(r->options->record, &simulation, &config, &r->recording);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    r->recording = NULL;
    return status == FOLIOT_STATUS_IO
               ? lab_cannot_write(r->context, r->options->record)
               : lab_fail(r->context, FOLIOT__EXIT_ERROR, "recording %s: %s", r->options->record,
                          foliot_status_get_text(status));
}

static int record_tick(run *r, const foliot_tick_inputs *in, const foliot_order *orders,
                       uint32_t order_count)
{
    const foliot_simulation simulation = {.kind = &foliot_world_kind, .self = &r->hosted};
    foliot_status status =
        foliot_recording_append(r->recording, &simulation, in, orders, order_count);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_recording_drain(r->recording);
    if (status == FOLIOT_STATUS_OK)
        return 0;
    foliot_recording_state state = foliot_recording_get_state(r->recording);
    if (status == FOLIOT_STATUS_IO && state.stopped_errno)
        errno = state.stopped_errno;
    else if (status != FOLIOT_STATUS_IO)
        return lab_fail(r->context, FOLIOT__EXIT_ERROR, "recording %s: %s", r->options->record,
                        foliot_status_get_text(status));
    return lab_cannot_write(r->context, r->options->record);
}

static int record_close(run *r)
{
    if (!r->recording)
        return 0;
    foliot_recording_state state;
    foliot_status status = foliot_recording_close(r->recording, &state);
    r->recording = NULL;
    if (status == FOLIOT_STATUS_OK)
        return 0;
    errno = state.stopped_errno ? state.stopped_errno : EIO;
    return lab_cannot_write(r->context, r->options->record);
}

// -- the states as a table, with as many digits as a double has

// Whether the world's current tick is one of those that are written.
static bool csv_due(const csv_table *csv, const foliot_world *world)
{
    return csv->out && foliot_world_get_tick(world) % csv->every == 0;
}

static void write_name(FILE *out, const char *name)
{
    if (!strpbrk(name, ",\"")) {
        fputs(name, out);
        return;
    }
    fputc('"', out);
    for (; *name; name++)
        fprintf(out, *name == '"' ? "\"\"" : "%c", *name);
    fputc('"', out);
}

static void write_reals(FILE *out, const double *values, int count)
{
    for (int i = 0; i < count; i++)
        fprintf(out, ",%.17g", values[i]);
}

static int csv_close(csv_table *csv, const lab_context *context)
{
    if (!csv->out)
        return 0;
    bool failed = ferror(csv->out) != 0;
    failed |= (csv->out == stdout ? fflush(stdout) : fclose(csv->out)) != 0;
    csv->out = NULL;
    return failed ? lab_cannot_write(context, csv->file) : 0;
}

// -- stepping

static bool conserves_energy(const run *r)
{
    char text[LAB_SINKS_BYTES];
    return !lab_energy_sinks(r->scene, r->inputs != NULL, r->had_contacts, text);
}

static void observe_tick(run *r)
{
    if (!r->had_contacts && lab_has_contacts(r->world)) {
        r->had_contacts = true;
        r->conserves = conserves_energy(r);
    }
    // Only if it is printed: it costs a pass over all bodies and forces. If energy is not conserved
    // there is no error to follow.
    if (r->conserves || csv_due(&r->csv, r->world)) {
        r->energy = lab_energy(r->world);
        double error = lab_energy_error(r->energy_start, r->energy);
        // Written so that a NaN stays: an energy that is not a number is not a small error.
        if (!(error <= r->energy_error_max))
            r->energy_error_max = error;
    }
    uint32_t count;
    const foliot_event *events = foliot_world_get_events(r->world, &count);
    uint64_t tick = foliot_world_get_tick(r->world);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].kind == FOLIOT_EVENT_FROZEN && r->frozen_count < FROZEN_MAX)
            r->frozen[r->frozen_count++] = (frozen){tick, foliot_body_id_get_slot(events[i].body)};
        if (events[i].kind == FOLIOT_EVENT_COMMAND_REFUSED && r->refused_count < REFUSED_MAX)
            r->refused[r->refused_count++] =
                (refused){tick - 1, events[i].sequence, events[i].reason};
    }
    // A row for each body that lives, if the tick is due.
    char name[FOLIOT_NAME_BYTES + 16];
    if (!csv_due(&r->csv, r->world))
        return;
    for (uint32_t i = 0; i < foliot_world_get_body_count(r->world); i++) {
        if (foliot_world_get_body_id(r->world, i).value == 0)
            continue;
        foliot_body_state body =
            foliot_world_get_body_state(r->world, foliot_world_get_body_id(r->world, i));
        fprintf(r->csv.out, "%" PRIu64 ",%.17g,%.17g,", foliot_world_get_tick(r->world),
                foliot_world_get_time(r->world), r->energy);
        write_name(r->csv.out, lab_body_name(r->scene, r->world, i, name));
        write_reals(r->csv.out, body.position, 3);
        write_reals(r->csv.out, body.velocity, 3);
        write_reals(r->csv.out, body.orientation, 4);
        write_reals(r->csv.out, body.angular_velocity, 3);
        fputc('\n', r->csv.out);
    }
}

static int run_ticks(run *r)
{
    foliot__progress progress = foliot__progress_begin("running", r->ticks);
    int code = 0;
    for (uint64_t tick = 0; tick < r->ticks && code == 0 && !r->interrupted; tick++) {
        foliot_tick_inputs in;
        const foliot_order *orders;
        uint32_t order_count;
        const char *message = "";
        if (!lab_inputs_at(r->inputs, tick, &in.inputs, &in.input_count, &message) ||
            !lab_commands_at(r->commands, tick, &in, &message) ||
            !lab_orders_at(r->orders, tick, &orders, &order_count, &message) ||
            !lab_rules_at(r->rules, &in, &message)) {
            code = lab_fail(r->context, FOLIOT__EXIT_CORRUPT, "%s", message);
            break;
        }
        foliot__watchdog_begin_work();
        uint64_t begin = lab_now_ns();
        foliot_status status;
        if (r->jitter > 0) {
            double u = 2 * foliot__rng_unit(&r->rng) - 1;
            status = foliot_world_step_dt(r->world, r->scene->dt * (1 + r->jitter * u), NULL);
        } else {
            status = foliot_world_step_tick(r->world, &in, NULL);
        }
        r->step_ns += lab_now_ns() - begin;
        foliot__watchdog_end_work();
        if (status != FOLIOT_STATUS_OK) {
            code = lab_fail(r->context, FOLIOT__EXIT_ERROR, "tick %" PRIu64 ": %s", tick,
                            foliot_status_get_text(status));
            break;
        }
        if (!lab_say(&r->said, r->rules && !r->orders ? r->scene : NULL, tick + 1, &in, orders,
                     order_count)) {
            code = lab_fail(r->context, FOLIOT__EXIT_ERROR, "no memory");
            break;
        }
        lab_rules_tick(r->rules, r->world, &in, r->said.orders, r->said.count);
        if (r->recording && (code = record_tick(r, &in, r->said.orders, r->said.count)) != 0)
            break;
        observe_tick(r);
        foliot__progress_at(&progress, tick + 1);
        r->interrupted = lab_interrupted();
    }
    foliot__progress_end(&progress);
    return code;
}

// -- the report, for people

typedef struct units {
    char time[FOLIOT_NAME_BYTES], length[FOLIOT_NAME_BYTES], mass[FOLIOT_NAME_BYTES];
    char energy[4 * FOLIOT_NAME_BYTES], momentum[4 * FOLIOT_NAME_BYTES];
    char angular[4 * FOLIOT_NAME_BYTES];
} units;

// A compound unit in parentheses, so that an exponent refers to all of it.
static void unit_of(char text[FOLIOT_NAME_BYTES], const char *unit)
{
    char clean[FOLIOT_NAME_BYTES];
    foliot__text_clean(clean, sizeof clean, unit);
    snprintf(text, FOLIOT_NAME_BYTES, strpbrk(clean, "/ *") ? "(%.*s)" : "%.*s",
             FOLIOT_NAME_BYTES - 3, clean);
}

static units units_of(const foliot_scene *scene)
{
    units u;
    unit_of(u.time, scene->units.time);
    unit_of(u.length, scene->units.length);
    unit_of(u.mass, scene->units.mass);
    if (!strcmp(u.time, "s") && !strcmp(u.length, "m") && !strcmp(u.mass, "kg")) {
        strcpy(u.energy, "J");
        strcpy(u.momentum, "N s");
        strcpy(u.angular, "J s");
        return u;
    }
    snprintf(u.energy, sizeof u.energy, "%s %s\u00b2/%s\u00b2", u.mass, u.length, u.time);
    snprintf(u.momentum, sizeof u.momentum, "%s %s/%s", u.mass, u.length, u.time);
    snprintf(u.angular, sizeof u.angular, "%s %s\u00b2/%s", u.mass, u.length, u.time);
    return u;
}

static void print_vector(const char *label, const double *v, const char *unit)
{
    printf("  %-18s %14.7g %14.7g %14.7g  %s\n", label, v[0], v[1], v[2], unit);
}

static void print_bodies(const run *r, const units *u)
{
    uint32_t shown = 0, alive = 0;
    char name[FOLIOT_NAME_BYTES + 16];
    char position[FOLIOT_NAME_BYTES + 16];
    snprintf(position, sizeof position, "position, %s", u->length);
    printf("\n  %-20s %14s\n", "body", position);
    for (uint32_t i = 0; i < foliot_world_get_body_count(r->world); i++) {
        if (foliot_world_get_body_id(r->world, i).value == 0)
            continue;
        foliot_body_state body =
            foliot_world_get_body_state(r->world, foliot_world_get_body_id(r->world, i));
        if ((body.flags & FOLIOT_BODY_STATIC) || alive++ >= BODIES_SHOWN)
            continue;
        printf("  %-20s %14.7g %14.7g %14.7g%s\n", lab_body_name(r->scene, r->world, i, name),
               body.position[0], body.position[1], body.position[2],
               body.flags & FOLIOT_BODY_FROZEN ? "  frozen" : "");
        shown++;
    }
    if (alive > shown)
        printf("  ... and %u more (--json and --csv show all)\n", alive - shown);
}

// Warnings: what went wrong, with counts.
static void print_warnings(const run *r)
{
    const foliot_world_counters *c = foliot_world_get_counters(r->world);
    char name[FOLIOT_NAME_BYTES + 16];
    for (uint32_t i = 0; i < r->frozen_count && i < 5; i++)
        printf("  frozen             %s left the range of numbers (2^40) at tick %" PRIu64 "\n",
               lab_body_name(r->scene, r->world, r->frozen[i].slot, name), r->frozen[i].tick);
    for (uint32_t i = 0; i < r->refused_count; i++)
        printf("  command refused    number %" PRIu32 " in tick %" PRIu64 ": %s\n",
               r->refused[i].sequence, r->refused[i].tick,
               foliot_command_reason_get_text((foliot_command_reason)r->refused[i].reason));
    if (c->commands_refused > REFUSED_MAX)
        printf("  commands refused   %" PRIu64 " in all\n", c->commands_refused);
    if (lab_rules_problem(r->rules)[0])
        printf("  rules stopped      %s\n", lab_rules_problem(r->rules));
    if (lab_rules_lost(r->rules))
        printf("  commands lost      %" PRIu64 ": ticks had no room for them\n",
               lab_rules_lost(r->rules));
    if (c->frozen_bodies > 5)
        printf("  frozen             %" PRIu64 " bodies in all\n", c->frozen_bodies);
    if (c->solver_failures)
        printf("  solver             missed its tolerance in %" PRIu64 " steps\n",
               c->solver_failures);
    if (c->contacts_dropped)
        printf("  contacts dropped   %" PRIu64 ": the table was full\n", c->contacts_dropped);
    if (c->inputs_refused)
        printf("  inputs refused     %" PRIu64 "\n", c->inputs_refused);
    if (r->interrupted)
        printf("  interrupted        at tick %" PRIu64 " of %" PRIu64 "\n",
               foliot_world_get_tick(r->world), r->ticks);
}

static void print_account(const run *r)
{
    units u = units_of(r->scene);
    foliot_invariants now = foliot_world_get_invariants(r->world, NULL);
    char digest[FOLIOT_DIGEST_TEXT_BYTES], name[FOLIOT_NAME_BYTES];
    foliot_digest_print(foliot_world_get_digest(r->world), digest);
    char step_size[FOLIOT__REAL_TEXT_BYTES];
    printf("%s, %s, dt = %s %s", foliot__text_clean(name, sizeof name, r->scene->name),
           foliot_integrator_get_info(r->scene->integrator)->name,
           lab_step_text(step_size, r->scene->dt), u.time);
    if (r->scene->substeps > 1)
        printf(" in %u substeps", r->scene->substeps);
    printf(": %" PRIu64 " ticks, %.10g %s\n\n", foliot_world_get_tick(r->world),
           foliot_world_get_time(r->world), u.time);
    printf("  %-18s %14.7g at the start, %.7g at the end  %s%s\n", "energy", r->energy_start,
           r->energy, u.energy, now.potential_complete ? "" : " (some forces have no potential)");
    // The integrator's error if energy is conserved; otherwise the loss or gain, and its cause.
    char text[LAB_SINKS_BYTES];
    const char *sinks = lab_energy_sinks(r->scene, r->inputs != NULL, r->had_contacts, text);
    double lost = r->energy_start - r->energy;
    if (!sinks) {
        printf("  %-18s %14.3g at most, %.3g at the end%s\n", "energy error", r->energy_error_max,
               lab_energy_error(r->energy_start, r->energy),
               r->energy_start != 0 ? " (relative)" : " (absolute: the energy was 0)");
    } else {
        printf("  %-18s %14.7g  %s", lost < 0 ? "energy gained" : "energy dissipated", fabs(lost),
               u.energy);
        if (r->energy_start != 0)
            printf(", %.3g %%", 100 * lab_energy_error(r->energy_start, r->energy));
        printf("; not conserved here: %s\n", sinks);
    }
    print_vector("momentum", now.momentum, u.momentum);
    print_vector("angular momentum", now.angular_momentum, u.angular);
    const foliot_world_counters *c = foliot_world_get_counters(r->world);
    printf("  %-18s %14" PRIu64 "\n", "force evaluations", c->force_evaluations);
    if (c->solver_iterations)
        printf("  %-18s %14" PRIu64 "\n", "solver iterations", c->solver_iterations);
    printf("  %-18s %s\n", "digest", digest);
    double seconds = (double)r->step_ns * 1e-9, ticks = (double)foliot_world_get_tick(r->world);
    if (seconds > 0 && ticks != 0) {
        double rate = ticks / seconds, simulated = foliot_world_get_time(r->world) / seconds;
        if (strcmp(u.time, "s") == 0)
            printf("  %-18s %.4g ticks/s, %.4g x real time\n", "speed", rate, simulated);
        else
            printf("  %-18s %.4g ticks/s, %.4g %s a second\n", "speed", rate, simulated, u.time);
    }
    print_warnings(r);
    print_bodies(r, &u);
}

// -- the report, for scripts

static void json_account(const run *r)
{
    char text[LAB_SINKS_BYTES];
    const char *sinks = lab_energy_sinks(r->scene, r->inputs != NULL, r->had_contacts, text);
    foliot_invariants now = foliot_world_get_invariants(r->world, NULL);
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(foliot_world_get_digest(r->world), digest);
    foliot__json json = foliot__json_to(stdout);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "scene", r->scene->name);
    foliot__json_text(&json, "integrator", foliot_integrator_get_info(r->scene->integrator)->name);
    foliot__json_real(&json, "dt", r->scene->dt);
    foliot__json_count(&json, "ticks", foliot_world_get_tick(r->world));
    foliot__json_real(&json, "time", foliot_world_get_time(r->world));
    foliot__json_count(&json, "force_evaluations",
                       foliot_world_get_counters(r->world)->force_evaluations);
    foliot__json_text(&json, "digest", digest);
    foliot__json_real(&json, "energy_start", r->energy_start);
    foliot__json_real(&json, "energy", r->energy);
    foliot__json_real(&json, "energy_error_max", sinks ? NAN : r->energy_error_max);
    foliot__json_real(&json, "energy_dissipated", sinks ? r->energy_start - r->energy : NAN);
    foliot__json_text(&json, "energy_sinks", sinks);
    foliot__json_reals(&json, "momentum", now.momentum, 3);
    foliot__json_reals(&json, "angular_momentum", now.angular_momentum, 3);
    foliot__json_array(&json, "bodies");
    for (uint32_t i = 0; i < foliot_world_get_body_count(r->world); i++) {
        if (foliot_world_get_body_id(r->world, i).value == 0)
            continue;
        foliot_body_state body =
            foliot_world_get_body_state(r->world, foliot_world_get_body_id(r->world, i));
        char name[FOLIOT_NAME_BYTES + 16];
        bool nameless =
            i < r->scene->body_count && !(r->scene->bodies[i].name && r->scene->bodies[i].name[0]);
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "name",
                          nameless ? NULL : lab_body_name(r->scene, r->world, i, name));
        foliot__json_reals(&json, "position", body.position, 3);
        foliot__json_reals(&json, "velocity", body.velocity, 3);
        foliot__json_reals(&json, "orientation", body.orientation, 4);
        foliot__json_reals(&json, "angular_velocity", body.angular_velocity, 3);
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_bool(&json, "potential_complete", now.potential_complete);
    const foliot_world_counters *c = foliot_world_get_counters(r->world);
    uint64_t broken = 0;
    for (uint32_t i = 0; i < r->scene->constraint_count; i++) {
        foliot_joint joint = {.broken = true}; // a command's joint may have its place
        (void)!foliot_world_get_joint(r->world, foliot_world_get_joint_id(r->world, i), &joint);
        broken += joint.broken;
    }
    foliot__json_count(&json, "frozen_bodies", c->frozen_bodies);
    char name[FOLIOT_NAME_BYTES + 16];
    foliot__json_array(&json, "frozen");
    for (uint32_t i = 0; i < r->frozen_count; i++) {
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "body",
                          lab_body_name(r->scene, r->world, r->frozen[i].slot, name));
        foliot__json_count(&json, "index", r->frozen[i].slot);
        foliot__json_count(&json, "tick", r->frozen[i].tick);
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_count(&json, "solver_iterations", c->solver_iterations);
    foliot__json_count(&json, "solver_failures", c->solver_failures);
    foliot__json_count(&json, "constraints_broken", broken);
    foliot__json_count(&json, "contacts_dropped", c->contacts_dropped);
    foliot__json_count(&json, "events_dropped", c->events_dropped);
    foliot__json_count(&json, "inputs_refused", c->inputs_refused);
    foliot__json_count(&json, "commands_refused", c->commands_refused);
    if (lab_rules_problem(r->rules)[0])
        foliot__json_text(&json, "rules_problem", lab_rules_problem(r->rules));
    if (r->interrupted)
        foliot__json_bool(&json, "interrupted", true);
    foliot__json_line(&json);
}

// -- the whole

static int open_run(run *r)
{
    const lab_run_options *o = r->options;
    if (o->players && o->inputs)
        return foliot__options_wrong(r->context->program, r->context->arguments,
                                     "--players and --inputs exclude each other");
    int code = o->players ? lab_inputs_draw(r->context, (uint32_t)o->players, o->seed, r->scene,
                                            &r->inputs)
                          : lab_inputs_open(r->context, o->inputs, r->scene, &r->inputs);
    if (code == 0)
        code = lab_commands_open(r->context, o->commands, r->scene, &r->commands);
    if (code == 0)
        code = lab_orders_open(r->context, o->orders, r->scene, &r->orders);
    if (code == 0 && !o->no_rules)
        code = lab_rules_open(r->context, r->scene, &r->rules);
    if (code)
        return code;
    foliot_status status = foliot_world_create(r->scene, &r->world, NULL);
    if (status != FOLIOT_STATUS_OK)
        return lab_fail(r->context, FOLIOT__EXIT_ERROR, "%s: %s", r->file,
                        foliot_status_get_text(status));
    code = record_open(r);
    if (code || !o->csv)
        return code;
    FILE *out = strcmp(o->csv, "-") == 0 ? stdout : fopen(o->csv, "w");
    if (!out)
        return lab_cannot_write(r->context, o->csv);
    r->csv = (csv_table){.out = out, .file = o->csv, .every = o->every};
    fputs("tick,time,energy,body,position.x,position.y,position.z,velocity.x,velocity.y,velocity.z,"
          "orientation.w,orientation.x,orientation.y,orientation.z,angular_velocity.x,"
          "angular_velocity.y,angular_velocity.z\n",
          out);
    return 0;
}

int lab_run(const lab_context *context, const char *file, const lab_run_options *options)
{
    run r = {.context = context, .options = options, .file = file};
    int code = read_options(&r);
    if (code == 0)
        code = open_run(&r);
    if (code == 0) {
        lab_catch_signals();
        r.energy_start = lab_energy(r.world);
        r.conserves = conserves_energy(&r);
        observe_tick(&r);
        code = run_ticks(&r);
        r.energy = lab_energy(r.world);
    }
    int written = csv_close(&r.csv, context), recorded = record_close(&r);
    code = code ? code : written ? written : recorded;
    if (code == 0) {
        if (r.options->json)
            json_account(&r);
        else if (!r.options->csv || strcmp(r.options->csv, "-") != 0)
            print_account(&r);
    }
    lab_inputs_close(r.inputs);
    lab_commands_close(r.commands);
    lab_orders_close(r.orders);
    lab_rules_close(r.rules);
    lab_said_free(&r.said);
    foliot_world_destroy(r.world);
    foliot_scene_destroy(r.scene);
    return code == 0 && r.interrupted ? FOLIOT__EXIT_ERROR : code;
}
