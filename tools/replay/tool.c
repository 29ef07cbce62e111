// SPDX-License-Identifier: MIT
// tool.c: opening, naming and reporting, for all commands.
#include "tool.h"

#include "base/clock.h"
#include "base/text.h"
#ifndef FOLIOT_REPLAY_CORE
#include "module/module.h"
#endif
#include "recording/replay.h"
#include "sim/selftest/fingerprint.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINES_BYTES_MAX ((size_t)1 << 28)

int tool_exit_of(foliot_status status)
{
    switch (status) {
    case FOLIOT_STATUS_OK:
        return FOLIOT__EXIT_FINE;
    case FOLIOT_STATUS_CORRUPT:
        return FOLIOT__EXIT_CORRUPT;
    case FOLIOT_STATUS_TRUNCATED:
        return FOLIOT__EXIT_UNFINISHED;
    case FOLIOT_STATUS_NEWER:
    case FOLIOT_STATUS_UNSUPPORTED:
        return FOLIOT__EXIT_NOT_VERIFIABLE;
    case FOLIOT_STATUS_DIVERGED:
        return FOLIOT__EXIT_DIVERGED;
    default:
        return FOLIOT__EXIT_ERROR;
    }
}

int tool_exit_of_part(foliot_status status)
{
    return status == FOLIOT_STATUS_TRUNCATED ? FOLIOT__EXIT_FINE : tool_exit_of(status);
}

static const char *command_name = "";

void tool_set_command(const char *name)
{
    command_name = name;
}

void tool_complain(const char *what, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    fprintf(stderr, "foliot-replay %s: %s: ", command_name, what);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
}

static const char *read_all(FILE *from, char **text, size_t *length)
{
    size_t capacity = 0, count;
    do {
        if (*length + 1 >= capacity) {
            char *larger = realloc(*text, capacity = capacity ? 2 * capacity : 65536);
            if (!larger)
                return strerror(ENOMEM);
            *text = larger;
        }
        count = fread(*text + *length, 1, capacity - *length - 1, from);
        if (memchr(*text + *length, 0, count))
            return "it is not text: a byte in it is zero";
        *length += count;
        if (*length > LINES_BYTES_MAX)
            return strerror(EFBIG);
    } while (count > 0);
    return ferror(from) ? strerror(errno) : NULL;
}

char *tool_read_lines(const char *file, size_t *length)
{
    char *text = NULL;
    const char *problem;
    FILE *from = strcmp(file, "-") == 0 ? stdin : fopen(file, "r");
    *length = 0;
    problem = from ? read_all(from, &text, length) : strerror(errno);
    if (from && from != stdin)
        fclose(from);
    if (problem) {
        tool_complain(file, "%s", problem);
        free(text);
        return NULL;
    }
    *length = foliot__text_plain(text, *length);
    text[*length] = 0;
    return text;
}

// -- other simulations than worlds

const char *tool_simulation_file;

#ifdef FOLIOT_REPLAY_CORE
const foliot_simulation_kind *tool_kind(void)
{
    return NULL;
}

const char *tool_plant(const char *text, perturb_request *request)
{
    return text ? foliot__perturb_parse(text, request) : NULL;
}
#else
const foliot__module *tool_module;
static const foliot_simulation_kind *faulty; // the module's with a fault

const foliot_simulation_kind *tool_kind(void)
{
    return faulty ? faulty : tool_module ? &tool_module->kind : NULL;
}

const char *tool_plant(const char *text, perturb_request *request)
{
    const char *wrong = NULL;
    if (text && tool_module)
        faulty = foliot__module_perturb(tool_module, text, &wrong);
    else if (text)
        wrong = foliot__perturb_parse(text, request);
    return wrong;
}

int tool_load_simulation(void)
{
    char problem[512];
    if (!tool_simulation_file)
        return 0;
    tool_module = foliot__module_load(tool_simulation_file, problem, sizeof problem);
    if (tool_module)
        return 0;
    tool_complain(tool_simulation_file, "%s", problem);
    return FOLIOT__EXIT_ERROR;
}

foliot_simulation_terms tool_terms(const foliot_replay_summary *about)
{
    foliot_simulation_terms terms = {0};
    char problem[512];
    if (!tool_module || !foliot__module_describe(tool_module, about->setup, about->setup_bytes,
                                                 &terms, problem, sizeof problem))
        terms = (foliot_simulation_terms){0};
    return terms;
}
#endif

foliot_digest tool_fingerprint(const foliot_replay_summary *about)
{
    return tool_kind()             ? foliot_simulation_kind_get_fingerprint(tool_kind())
           : about && about->scene ? foliot__fingerprint_of_scene(about->scene)
                                   : foliot_get_fingerprint();
}

bool tool_fingerprint_fits(const foliot_replay_summary *about, foliot_digest other)
{
    return tool_kind() ? foliot_digest_equal(tool_fingerprint(about), other)
                       : foliot__fingerprint_fits(about->scene, other);
}

static foliot_replay *open_file(const char *file, bool look, int *exit_code)
{
    foliot_replay *replay = NULL;
    foliot_damage damage = {0};
    const foliot_simulation_kind *kind = tool_kind() ? tool_kind() : &foliot_world_kind;
    foliot_status status = look && !tool_kind() ? foliot__replay_look(file, &replay, &damage)
                                                : foliot_replay_open(file, kind, &replay, &damage);
    *exit_code = tool_exit_of(status);
    if (status == FOLIOT_STATUS_OK)
        return replay;
    tool_complain(file, "%s", damage.text[0] ? damage.text : foliot_status_get_text(status));
    return NULL;
}

foliot_replay *tool_open(const char *file, int *exit_code)
{
    return open_file(file, false, exit_code);
}

foliot_replay *tool_look(const char *file, int *exit_code)
{
    return open_file(file, true, exit_code);
}

void tool_tell_damage(const char *file, const foliot_replay *replay)
{
    const foliot_damage *damage = foliot_replay_get_damage(replay);
    if (damage->status == FOLIOT_STATUS_TRUNCATED)
        tool_complain(file, TOOL_UNFINISHED ": it has ticks up to %" PRIu64,
                      foliot_replay_get_summary(replay)->last_tick);
    else if (damage->status != FOLIOT_STATUS_OK)
        tool_complain(file, "%s", damage->text);
}

void tool_tell_divergence(const char *file, uint64_t tick)
{
    tool_complain(file, "diverges at tick %" PRIu64 "; `foliot-replay verify` has details", tick);
}

const char *tool_body_name(const foliot_scene *scene, uint32_t body)
{
    const char *name = body < scene->body_count ? scene->bodies[body].name : NULL;
    return name && name[0] ? name : NULL;
}

void tool_body_label(const char *name, uint32_t body, char label[BODY_LABEL_BYTES])
{
    char clean[FOLIOT_NAME_BYTES];
    if (name && name[0])
        snprintf(label, BODY_LABEL_BYTES, "%" PRIu32 " \"%s\"", body,
                 foliot__text_clean(clean, sizeof clean, name));
    else
        snprintf(label, BODY_LABEL_BYTES, "%" PRIu32, body);
}

uint32_t tool_find_body(const foliot_scene *scene, const char *text)
{
    uint32_t body = foliot_scene_find_body(scene, text);
    if (body != FOLIOT_NO_BODY || text[0] < '0' || text[0] > '9')
        return body;
    char *end;
    errno = 0;
    unsigned long long index = strtoull(text, &end, 10);
    return *end || errno || index >= FOLIOT_NO_BODY ? FOLIOT_NO_BODY : (uint32_t)index;
}

foliot_divergence_labels tool_names(const char *title, const foliot_replay_summary *about,
                                    const foliot_divergence *d, const char *expected,
                                    const char *actual)
{
    bool body = d && d->part_known && d->body != FOLIOT_NO_BODY && about->scene;
    return (foliot_divergence_labels){
        .title = title,
        .part = body ? tool_body_name(about->scene, d->body) : NULL,
        .expected = expected,
        .actual = actual,
        .unknown = about->scene || about->kind[0] == 0
                       ? "from digests alone; `foliot-replay compare` with another build finds them"
                       : "from digests alone; `foliot-replay compare --simulation YOURS "
                         "--with-simulation THEIRS` finds them",
        .dt = about->dt,
    };
}

void tool_report(FILE *out, const foliot_divergence *d, const foliot_divergence_labels *names)
{
    char text[2048];
    foliot_divergence_print_text(d, names, text, sizeof text);
    fputs(text, out);
}

double tool_now(void)
{
    return 1e-9 * (double)foliot__clock_now_ns();
}

void tool_digest_text(const uint8_t *bytes, uint32_t count, char text[33])
{
    foliot__hex_print(text, bytes, count < 16 ? count : 16);
}
