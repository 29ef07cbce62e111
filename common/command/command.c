// SPDX-License-Identifier: MIT
// command.c: the kinds of commands as data, and the form that a command must have. Knows no
// world: whether a body is there or a number fits is decided where a command acts.
#include "command/command.h"

#include <string.h>

#include "base/text.h"

#define NEED_required true
#define NEED_optional false

#define FIELD(kind, type, name, count, need)                                                       \
    {#name, FOLIOT_COMMAND_TYPE_##type, count, offsetof(foliot_command, as.kind.name), NEED_##need},
#define FIELDS(kind)                                                                               \
    static const foliot_command_field fields_of_##kind[] = {FOLIOT_COMMAND_##kind(FIELD, kind)};
FOLIOT_COMMAND_KINDS(FIELDS)
#undef FIELDS
#undef FIELD

// As the list has it: one line a kind, the bits of its required fields from the same list.
#define REQUIRED_BIT(kind, type, name, count, need)                                                \
    | (NEED_##need ? FOLIOT_COMMAND_HAS(kind, name) : 0)
#define KIND(kind)                                                                                 \
    {#kind, fields_of_##kind, sizeof fields_of_##kind / sizeof fields_of_##kind[0],                \
     0 FOLIOT_COMMAND_##kind(REQUIRED_BIT, kind)},
static const foliot_command_kind_info kinds[] = {FOLIOT_COMMAND_KINDS(KIND)};
#undef KIND
#undef REQUIRED_BIT

static const char *const reasons[] = {
#define REASON(name, text) text,
    FOLIOT_COMMAND_REASONS(REASON)
#undef REASON
};

const char *foliot_command_reason_get_text(foliot_command_reason reason)
{
    return (uint32_t)reason < FOLIOT_COMMAND_REASON_COUNT ? reasons[reason] : "unknown";
}

const foliot_command_kind_info *foliot_command_kind_get_info(uint32_t kind)
{
    return kind < FOLIOT_COMMAND_KIND_COUNT ? &kinds[kind] : NULL;
}

uint32_t foliot_command_kind_find(const char *name)
{
    uint32_t kind = 0;
    while (kind < FOLIOT_COMMAND_KIND_COUNT && strcmp(kinds[kind].name, name) != 0)
        kind++;
    return kind;
}

foliot_command foliot_command_default(foliot_command_kind kind)
{
    foliot_command command;
    memset(&command, 0, sizeof command); // padding too
    command.kind = kind;
    return command;
}

size_t foliot__command_text_bytes(uint32_t kind, const foliot_command_field *field)
{
    bool key = kind == FOLIOT_COMMAND_var && strcmp(field->name, "key") == 0;
    return key ? FOLIOT_VAR_KEY_BYTES : FOLIOT_VAR_TEXT_BYTES;
}

const char *const *foliot__command_words(uint32_t kind, const foliot_command_field *field)
{
    // In the order of foliot_body_motion and of foliot_constraint_kind.
    static const char *const motions[] = {"dynamic", "static", "kinematic", NULL};
    static const char *const joints[] = {"distance", "rod", "ball", "hinge", "weld", NULL};
    if (kind == FOLIOT_COMMAND_set_body && strcmp(field->name, "motion") == 0)
        return motions;
    if (kind == FOLIOT_COMMAND_joint && strcmp(field->name, "kind") == 0)
        return joints;
    return NULL;
}

bool foliot__command_is_flag(uint32_t kind, const foliot_command_field *field)
{
    return (kind == FOLIOT_COMMAND_set_motion && strcmp(field->name, "teleport") == 0) ||
           (kind == FOLIOT_COMMAND_joint && strcmp(field->name, "collides") == 0);
}

const char *foliot__command_source_name(uint32_t source)
{
    static const char *const names[FOLIOT__COMMAND_SOURCES] = {"host", "admin", "rules"};
    return source < FOLIOT__COMMAND_SOURCES ? names[source] : NULL;
}

static foliot_command_reason check_field(const foliot_command *command,
                                         const foliot_command_field *field)
{
    const void *value = foliot__command_value(command, field);
    const float *f32 = value;
    const double *f64 = value;
    const foliot_body_id *id = value; // a joint's has the same form
    const char *text;
    size_t length;
    switch (field->type) {
    case FOLIOT_COMMAND_TYPE_f32:
        for (uint32_t i = 0; i < field->count; i++)
            if (f32[i] - f32[i] != 0) // inf - inf and nan - nan are not zeros
                return FOLIOT_COMMAND_REASON_range;
        break;
    case FOLIOT_COMMAND_TYPE_f64:
    case FOLIOT_COMMAND_TYPE_real:
        for (uint32_t i = 0; i < field->count; i++)
            if (f64[i] - f64[i] != 0)
                return FOLIOT_COMMAND_REASON_range;
        break;
    case FOLIOT_COMMAND_TYPE_body:
    case FOLIOT_COMMAND_TYPE_joint:
        if (id->value != 0 && id->value >> 32 == 0)
            return field->type == FOLIOT_COMMAND_TYPE_body ? FOLIOT_COMMAND_REASON_body
                                                           : FOLIOT_COMMAND_REASON_joint;
        break;
    case FOLIOT_COMMAND_TYPE_text:
        text = *(const char *const *)value;
        if (!text ||
            !foliot__utf8_text(text, foliot__command_text_bytes(command->kind, field), &length))
            return FOLIOT_COMMAND_REASON_key;
        break;
    default: // every whole number
        break;
    }
    return FOLIOT_COMMAND_REASON_none;
}

static foliot_command_reason check_form(const foliot_command *command)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(command->kind);
    if (!info || command->fields >> info->field_count != 0)
        return FOLIOT_COMMAND_REASON_kind;
    if ((command->fields & info->required) != info->required)
        return FOLIOT_COMMAND_REASON_field;
    foliot_command_reason reason = FOLIOT_COMMAND_REASON_none;
    for (uint32_t i = 0; i < info->field_count && reason == FOLIOT_COMMAND_REASON_none; i++)
        if (command->fields >> i & 1)
            reason = check_field(command, &info->fields[i]);
    if (reason != FOLIOT_COMMAND_REASON_none || command->kind != FOLIOT_COMMAND_var)
        return reason;
    // A session variable has a name, and one value or none.
    uint32_t values = command->fields & ~FOLIOT_COMMAND_HAS(var, key);
    bool valid = command->as.var.key[0] != 0 && (values & (values - 1)) == 0;
    return valid ? FOLIOT_COMMAND_REASON_none : FOLIOT_COMMAND_REASON_key;
}

bool foliot_command_valid(const foliot_command *command, foliot_command_reason *reason)
{
    foliot_command_reason found = check_form(command);
    if (reason)
        *reason = found;
    return found == FOLIOT_COMMAND_REASON_none;
}
