// SPDX-License-Identifier: MIT
// perturb.c: see perturb.h. A table of functions around the module's own. It changes one number or
// byte after one step, and nothing else.
#include "module/perturb.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/divergence.h"

static struct {
    foliot_simulation_kind kind;
    const foliot_simulation_kind *inner;
    uint64_t tick;
    char part[FOLIOT_KIND_NAME_BYTES + 24], field[FOLIOT_KIND_NAME_BYTES];
    int64_t by;
} planted;

static _Thread_local uint64_t count;
static _Thread_local const char *problem;

void foliot__module_perturb_begin(void)
{
    count = 0;
    problem = NULL;
}

uint64_t foliot__module_perturb_count(void)
{
    return count;
}

const char *foliot__module_perturb_problem(void)
{
    return problem;
}

static bool parse_number(const char *text, int64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno;
}

// -- by field

static bool is_part(const foliot_simulation_part *about)
{
    char name[FOLIOT_KIND_NAME_BYTES + 24];
    const char *group = about->group ? about->group : "part";
    if (about->index == FOLIOT_PART_ALONE)
        return strcmp(group, planted.part) == 0;
    return snprintf(name, sizeof name, "%s %" PRIu64, group, about->index) < (int)sizeof name &&
           strcmp(name, planted.part) == 0;
}

static bool is_field(const foliot_simulation_field *field, uint32_t index)
{
    char number[16];
    snprintf(number, sizeof number, "%" PRIu32, index);
    return strcmp(field->name ? field->name : number, planted.field) == 0;
}

static const char *change_field(void *self, uint32_t part)
{
    const foliot_simulation_kind *kind = planted.inner;
    foliot_simulation_part about;
    foliot_simulation_field *fields = foliot__part_fields(kind, self, part, &about);
    const char *wrong = fields ? "the part has no such field" : "no memory";
    for (uint32_t i = 0; fields && i < about.field_count; i++) {
        if (!is_field(&fields[i], i))
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

// -- by byte

static const char *change_byte(void *self)
{
    const foliot_simulation_kind *kind = planted.inner;
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

// -- the table

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
    return strcmp(planted.part, "byte") == 0 ? change_byte(self) : "there is no such part then";
}

static foliot_status perturbed(void *self, foliot_status stepped)
{
    if (stepped != FOLIOT_STATUS_OK || planted.inner->tick(self) != planted.tick)
        return stepped;
    const char *wrong = change(self);
    problem = wrong ? wrong : problem;
    count += !wrong;
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

// The last two parts are split off from the back: the name of a part may hold colons.
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
        return "does not begin with a tick of 1 or later; a module's fault comes after a whole "
               "step";
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
