// SPDX-License-Identifier: MIT
// module.c: see module.h.
#include "module/module.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/rng.h"
#include "base/text.h"
#include "foliot/divergence.h"
#include "foliot/world.h"
#include "divergence/divergence.h"

#define ANSWER_TICKS 64 // of the known-answer run
#define ANSWER_PLAYERS 2

__attribute__((format(printf, 3, 4))) static void say(char *problem, size_t bytes,
                                                      const char *format, ...)
{
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    foliot__text_clean(problem, bytes, text);
}

// -- shared objects

// The size of an exported object; SIZE_MAX if the loader does not report it.
static size_t object_bytes(const void *object)
{
#ifdef __GLIBC__
    Dl_info about;
    const ElfW(Sym) *symbol = NULL;
    if (dladdr1(object, &about, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol)
        return symbol->st_size;
#endif
    (void)object;
    return SIZE_MAX;
}

const void *foliot__module_open(const char *file, const char *entry, size_t bytes, char *problem,
                                size_t problem_bytes)
{
    char path[4096];
    if (snprintf(path, sizeof path, "%s%s", strchr(file, '/') ? "" : "./", file) >=
        (int)sizeof path) {
        say(problem, problem_bytes, "the name is too long");
        return NULL;
    }
    // A pipe would block the loader for ever.
    int descriptor = foliot__file_open(path);
    if (descriptor < 0) {
        say(problem, problem_bytes, "%s", foliot__file_problem(errno));
        return NULL;
    }
    close(descriptor);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        const char *why = dlerror();
        say(problem, problem_bytes, "it cannot be loaded as a module: %s", why ? why : "");
        return NULL;
    }
    const void *object = dlsym(handle, entry);
    if (!object)
        say(problem, problem_bytes, "it exports no %s", entry);
    else if (object_bytes(object) < bytes)
        say(problem, problem_bytes, "its %s is too small to be one", entry);
    else
        return object;
    return NULL;
}

// -- the fingerprint

static foliot__module loaded;
static foliot_digest answer;
static uint64_t answer_tick; // while it is taken

uint64_t foliot__module_get_answer_tick(void)
{
    return answer_tick;
}

static foliot_digest known_answer(void)
{
    return answer;
}

// The digests of the simulation's first `ticks`. A step that refuses the inputs is an answer
// too. False and a sentence if `tick` is wrong after a step.
static bool run_answer(const foliot__module *m, uint64_t ticks, uint64_t *result, char *problem,
                       size_t problem_bytes)
{
    uint8_t *setup = NULL;
    size_t bytes = 0;
    foliot_simulation_terms terms;
    foliot_simulation simulation = {0};
    foliot__rng rng = foliot__rng_seeded(1);
    uint32_t sequences[ANSWER_PLAYERS] = {0};
    uint64_t chain = 1;
    bool counted = true;
    *result = 0;
    if (!foliot__module_configure(m, NULL, &setup, &bytes, problem, problem_bytes) ||
        !foliot__module_describe(m, setup, bytes, &terms, problem, problem_bytes) ||
        foliot_simulation_create(&m->kind, setup, bytes, &simulation) != FOLIOT_STATUS_OK) {
        free(setup);
        return true;
    }
    uint32_t players = terms.player_limit < ANSWER_PLAYERS ? terms.player_limit : ANSWER_PLAYERS;
    for (uint64_t tick = 0; tick < ticks && counted; tick++) {
        foliot_input inputs[ANSWER_PLAYERS];
        // A player joins, another later; both press keys, and the first one leaves.
        uint32_t count = 0;
        for (uint32_t p = 0; p < players; p++) {
            uint64_t joins = 5 * p, leaves = p == 0 ? ANSWER_TICKS - 8 : UINT64_MAX;
            if (tick < joins || tick > leaves || (tick != joins && tick != leaves && tick % 3 != p))
                continue;
            foliot_input *input = &inputs[count++];
            *input = (foliot_input){.player = p, .sequence = ++sequences[p]};
            input->kind = tick == joins    ? FOLIOT_INPUT_JOIN
                          : tick == leaves ? FOLIOT_INPUT_LEAVE
                                           : FOLIOT_INPUT_CONTROL;
            for (int k = 0; input->kind == FOLIOT_INPUT_CONTROL && k < FOLIOT_AXIS_COUNT; k++)
                input->axes[k] = (int8_t)(127 * ((int)foliot__rng_below(&rng, 3) - 1));
            if (input->kind == FOLIOT_INPUT_CONTROL)
                input->buttons = (uint16_t)foliot__rng_below(&rng, 16);
        }
        uint64_t before = foliot_simulation_get_tick(&simulation);
        answer_tick = tick;
        foliot_status status = foliot_simulation_step(&simulation, inputs, count);
        counted = status != FOLIOT_STATUS_MISCOUNTED;
        if (!counted)
            say(problem, problem_bytes, FOLIOT__MISCOUNTED, before,
                foliot_simulation_get_tick(&simulation), before + 1);
        chain += (uint64_t)(int64_t)status;
        chain = foliot_digest_chain(chain, foliot_simulation_get_digest(&simulation));
    }
    foliot_simulation_destroy(&simulation);
    free(setup);
    *result = chain;
    return counted;
}

// Gives a kind without a fingerprint that of its known-answer run. Others take a single step.
static bool compute_answer(foliot__module *m, char *problem, size_t problem_bytes)
{
    uint8_t bytes[24];
    uint64_t chain;
    bool own = m->kind.fingerprint != NULL;
    if (!run_answer(m, own ? 1 : ANSWER_TICKS, &chain, problem, problem_bytes))
        return false;
    if (own)
        return true;
    foliot_digest base = foliot_get_fingerprint();
    const uint64_t words[3] = {base.low, base.high, chain};
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(words[i / 8] >> 8 * (i % 8));
    answer = foliot_digest_compute(bytes, sizeof bytes);
    m->kind.fingerprint = known_answer;
    return true;
}

// -- simulations

const foliot__module *foliot__module_load(const char *file, char *problem, size_t problem_bytes)
{
    const foliot_simulation_module *entry =
        foliot__module_open(file, "foliot_simulation_entry",
                            offsetof(foliot_simulation_module, kind_bytes), problem, problem_bytes);
    if (!entry)
        return NULL;
    // The members in order: members after a wrong one may hold anything.
    const char *wrong;
    static const char *const other =
        "it was built for another ABI of simulations: build it again with this version's headers";
    if (entry->abi != FOLIOT_SIMULATION_ABI || entry->module_bytes != sizeof *entry)
        wrong = other;
    else if (object_bytes(entry) < sizeof *entry)
        wrong = "its foliot_simulation_entry is too small to be one";
    else if (entry->kind_bytes != sizeof(foliot_simulation_kind) ||
             entry->part_bytes != sizeof(foliot_simulation_part) ||
             entry->field_bytes != sizeof(foliot_simulation_field) ||
             entry->terms_bytes != sizeof(foliot_simulation_terms) ||
             entry->input_bytes != sizeof(foliot_input) ||
             entry->tick_bytes != sizeof(foliot_tick_inputs) ||
             entry->command_bytes != sizeof(foliot_command) ||
             entry->order_bytes != sizeof(foliot_order))
        wrong = other;
    else if (!entry->kind || !foliot_simulation_kind_valid(entry->kind) || !entry->describe)
        wrong = "its kind lacks a name or a function";
    else if (strcmp(entry->kind->name, foliot_world_kind.name) == 0)
        wrong = "it takes the name of foliot's own world";
    else
        wrong = NULL;
    if (wrong) {
        say(problem, problem_bytes, "%s", wrong);
        return NULL;
    }
    loaded = (foliot__module){.kind = *entry->kind, .entry = entry};
    return compute_answer(&loaded, problem, problem_bytes) ? &loaded : NULL;
}

static uint8_t *apply_config(const foliot__module *m, const char *config, size_t config_bytes,
                             size_t *setup_bytes, char *problem, size_t problem_bytes)
{
    char why[256] = "";
    size_t length = config_bytes;
    if (m->entry->configure)
        length = m->entry->configure(config, config_bytes, NULL, 0, why, sizeof why);
    why[sizeof why - 1] = 0;
    uint8_t *setup = length <= FOLIOT_SETUP_BYTES_MAX ? malloc(length + 1) : NULL;
    if (setup && !m->entry->configure) {
        memcpy(setup, config, length);
    } else if (setup && m->entry->configure(config, config_bytes, setup, length, why, sizeof why) !=
                            length) {
        free(setup);
        setup = NULL;
        length = SIZE_MAX;
    }
    why[sizeof why - 1] = 0;
    if (!setup)
        say(problem, problem_bytes, "%s",
            length == SIZE_MAX && *why        ? why
            : length == SIZE_MAX              ? "the module refuses this configuration"
            : length > FOLIOT_SETUP_BYTES_MAX ? "the module's setup is too large"
                                              : foliot_status_get_text(FOLIOT_STATUS_MEMORY));
    *setup_bytes = length;
    return setup;
}

bool foliot__module_configure(const foliot__module *module, const char *file, uint8_t **setup,
                              size_t *setup_bytes, char *problem, size_t problem_bytes)
{
    char *config = NULL;
    size_t bytes = 0;
    errno = 0;
    if (file && !(config = foliot__file_slurp(file, FOLIOT_SIMULATION_CONFIG_BYTES_MAX, &bytes))) {
        say(problem, problem_bytes, "%s",
            errno == EFBIG ? "a configuration has at most 16 MiB" : foliot__file_problem(errno));
        return false;
    }
    *setup = apply_config(module, config ? config : "", bytes, setup_bytes, problem, problem_bytes);
    free(config);
    return *setup != NULL;
}

bool foliot__module_describe(const foliot__module *module, const void *setup, size_t setup_bytes,
                             foliot_simulation_terms *terms, char *problem, size_t problem_bytes)
{
    *terms = (foliot_simulation_terms){0};
    foliot_status status = module->entry->describe(setup, setup_bytes, terms);
    if (status != FOLIOT_STATUS_OK) {
        say(problem, problem_bytes, "the module refuses this setup: %s",
            foliot_status_get_text(status));
        return false;
    }
    terms->name[sizeof terms->name - 1] = 0;
    if (terms->pace_hz >= FOLIOT__MODULE_PACE_HZ_MIN &&
        terms->pace_hz <= FOLIOT__MODULE_PACE_HZ_MAX && terms->player_limit <= FOLIOT_PLAYERS_MAX)
        return true;
    say(problem, problem_bytes,
        "the module asks for %g ticks in a second and %" PRIu32 " players: a host runs %g to %d, "
        "for up to %d",
        terms->pace_hz, terms->player_limit, FOLIOT__MODULE_PACE_HZ_MIN, FOLIOT__MODULE_PACE_HZ_MAX,
        FOLIOT_PLAYERS_MAX);
    return false;
}

// -- pictures

const char *foliot__field_text(const foliot_simulation_field *field,
                               char text[FOLIOT__FIELD_TEXT_BYTES])
{
    float narrow;
    double wide;
    uint32_t low = (uint32_t)field->bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &field->bits, sizeof wide);
    switch (field->type) {
    case FOLIOT_VALUE_I64:
        snprintf(text, FOLIOT__FIELD_TEXT_BYTES, "%" PRId64, (int64_t)field->bits);
        break;
    case FOLIOT_VALUE_F32:
        snprintf(text, FOLIOT__FIELD_TEXT_BYTES, "%.9g", (double)narrow);
        break;
    case FOLIOT_VALUE_F64:
        snprintf(text, FOLIOT__FIELD_TEXT_BYTES, "%.17g", wide);
        break;
    case FOLIOT_VALUE_U64:
    default:
        snprintf(text, FOLIOT__FIELD_TEXT_BYTES, "%" PRIu64, field->bits);
    }
    return text;
}

foliot_simulation_field *foliot__part_fields(const foliot_simulation_kind *kind, const void *self,
                                             uint32_t part, foliot_simulation_part *about)
{
    *about = (foliot_simulation_part){0};
    kind->part(self, part, about);
    about->group = about->group ? about->group : "part";
    foliot_simulation_field *fields = calloc((size_t)about->field_count + 1, sizeof *fields);
    if (fields)
        kind->fields(self, part, fields);
    return fields;
}

static char *list_parts(const foliot_simulation_kind *kind, const void *self, uint32_t rows)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    for (uint32_t i = 0; kind->part_count && i < kind->part_count(self) && i < rows; i++) {
        foliot_simulation_part about;
        char value[FOLIOT__FIELD_TEXT_BYTES];
        foliot_simulation_field *fields = foliot__part_fields(kind, self, i, &about);
        if (fields) {
            fprintf(out, "%s", about.group);
            if (about.index != FOLIOT_PART_ALONE)
                fprintf(out, " %" PRIu64, about.index);
            for (uint32_t f = 0; f < about.field_count; f++)
                fprintf(out, "  %s %s", fields[f].name ? fields[f].name : "",
                        foliot__field_text(&fields[f], value));
            fputc('\n', out);
            free(fields);
        }
    }
    return fclose(out) == 0 ? text : NULL;
}

char *foliot__module_draw(const foliot__module *module, const void *self, uint32_t columns,
                          uint32_t rows)
{
    if (!module->entry->draw)
        return list_parts(&module->kind, self, rows);
    size_t length = module->entry->draw(self, columns, rows, NULL, 0);
    char *text = length < FOLIOT_SIMULATION_CONFIG_BYTES_MAX ? calloc(1, length + 1) : NULL;
    if (text) {
        (void)module->entry->draw(self, columns, rows, text, length + 1);
        text[length] = 0;
    }
    return text;
}

// -- a planted fault: a table of functions around the module's. It changes one number or byte after
// one step, and nothing else.

static struct {
    foliot_simulation_kind kind;
    const foliot_simulation_kind *inner;
    uint64_t tick;
    char part[FOLIOT_KIND_NAME_BYTES + 24], field[FOLIOT_KIND_NAME_BYTES];
    int64_t by;
} planted;

static _Thread_local uint64_t planted_count;
static _Thread_local const char *plant_problem;

void foliot__module_perturb_begin(void)
{
    planted_count = 0;
    plant_problem = NULL;
}

uint64_t foliot__module_perturb_count(void)
{
    return planted_count;
}

const char *foliot__module_perturb_problem(void)
{
    return plant_problem;
}

static bool parse_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

static bool is_part(const foliot_simulation_part *about)
{
    char name[FOLIOT_KIND_NAME_BYTES + 24];
    const char *group = about->group ? about->group : "part";
    if (about->index == FOLIOT_PART_ALONE)
        return strcmp(group, planted.part) == 0;
    return snprintf(name, sizeof name, "%s %" PRIu64, group, about->index) < (int)sizeof name &&
           strcmp(name, planted.part) == 0;
}

static const char *change_field(void *self, uint32_t part)
{
    const foliot_simulation_kind *kind = planted.inner;
    foliot_simulation_part about;
    foliot_simulation_field *fields = foliot__part_fields(kind, self, part, &about);
    const char *wrong = fields ? "the part has no such field" : "no memory";
    for (uint32_t i = 0; fields && i < about.field_count; i++) {
        char number[16];
        snprintf(number, sizeof number, "%" PRIu32, i);
        if (strcmp(fields[i].name ? fields[i].name : number, planted.field) != 0)
            continue;
        wrong = kind->set_field ? NULL : "the simulation has no set_field: name a byte";
        if (!wrong)
            kind->set_field(self, part, i,
                            foliot_value_advance(fields[i].type, fields[i].bits, planted.by));
        break;
    }
    free(fields);
    return wrong;
}

static const char *change(void *self)
{
    const foliot_simulation_kind *kind = planted.inner;
    uint32_t parts = kind->part_count ? kind->part_count(self) : 0;
    for (uint32_t i = 0; i < parts; i++) {
        foliot_simulation_part about = {.index = i};
        kind->part(self, i, &about);
        if (is_part(&about))
            return change_field(self, i);
    }
    if (strcmp(planted.part, "byte") != 0)
        return "there is no such part at that tick";
    int64_t offset;
    size_t length = kind->capture(self, NULL, 0);
    if (!parse_number(planted.field, &offset) || offset < 0 || (uint64_t)offset >= length)
        return "the captured state has no such byte";
    uint8_t *bytes = malloc(length);
    const char *wrong = "no memory";
    if (bytes && kind->capture(self, bytes, length) == length) {
        bytes[offset] = (uint8_t)(bytes[offset] + planted.by);
        wrong = kind->restore(self, bytes, length) == FOLIOT_STATUS_OK
                    ? NULL
                    : "the simulation refuses the state with that byte";
    }
    free(bytes);
    return wrong;
}

static foliot_status perturbed(void *self, foliot_status stepped)
{
    if (stepped != FOLIOT_STATUS_OK || planted.inner->tick(self) != planted.tick)
        return stepped;
    const char *wrong = change(self);
    plant_problem = wrong ? wrong : plant_problem;
    planted_count += !wrong;
    return stepped;
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t input_count)
{
    return perturbed(self, planted.inner->step(self, inputs, input_count));
}

static foliot_status step_tick(void *self, const foliot_tick_inputs *tick)
{
    return perturbed(self, planted.inner->step_tick(self, tick));
}

// The last two parts are split off from the back: the name of a part may contain colons.
static const char *parse(const char *text)
{
    static const char form[] = "is not " FOLIOT__MODULE_PERTURB_FORM " or TICK:byte:OFFSET:N";
    char copy[256];
    int64_t tick;
    if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
        return "is too long";
    char *at_by = strrchr(copy, ':');
    if (!at_by)
        return form;
    *at_by++ = 0;
    char *at_field = strrchr(copy, ':'), *at_part = strchr(copy, ':');
    if (!at_field || at_field == at_part)
        return form;
    *at_field++ = 0;
    *at_part++ = 0;
    if (!parse_number(copy, &tick) || tick < 1)
        return "does not begin with a tick of 1 or later; a module's fault acts after a whole step";
    if (!parse_number(at_by, &planted.by) || planted.by == 0)
        return "does not end with a number other than 0";
    if (!*at_part || strlen(at_part) >= sizeof planted.part)
        return "names no part";
    if (!*at_field || strlen(at_field) >= sizeof planted.field)
        return "names no field";
    planted.tick = (uint64_t)tick;
    strcpy(planted.part, at_part);
    strcpy(planted.field, at_field);
    return NULL;
}

const foliot_simulation_kind *foliot__module_perturb(const foliot__module *module, const char *text,
                                                     const char **wrong)
{
    *wrong = parse(text);
    if (*wrong)
        return NULL;
    planted.inner = &module->kind;
    planted.kind = module->kind;
    planted.kind.step = step;
    planted.kind.step_tick = module->kind.step_tick ? step_tick : NULL;
    return &planted.kind;
}
