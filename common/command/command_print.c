// SPDX-License-Identifier: MIT
// command_print.c: commands as JSON, which reads back as the same command, to the bit.
#include "command/command_json.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

// As snprintf: `at` counts what does not fit, too.
typedef struct printer {
    char *text;
    size_t capacity, at;
} printer;

static void put_bytes(printer *p, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++, p->at++)
        if (p->at + 1 < p->capacity)
            p->text[p->at] = bytes[i];
}

static void put(printer *p, const char *text)
{
    put_bytes(p, text, strlen(text));
}

__attribute__((format(printf, 2, 3))) static void put_format(printer *p, const char *format, ...)
{
    char text[64];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    put(p, text);
}

// An embedder may have chosen a locale whose point is a comma.
static void put_real(printer *p, char *text)
{
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    put(p, text);
}

static void put_id(printer *p, uint64_t id)
{
    if (id)
        put_format(p, "[%" PRIu32 ", %" PRIu32 "]", (uint32_t)id, (uint32_t)(id >> 32) - 1);
    else
        put(p, "null");
}

static void put_value(printer *p, uint32_t kind, const foliot_command_field *field,
                      const void *value, uint32_t i)
{
    switch (field->type) {
    case FOLIOT_COMMAND_TYPE_u32: {
        uint32_t number = ((const uint32_t *)value)[i], word = 0;
        const char *const *words = foliot__command_words(kind, field);
        while (words && words[word] && word < number)
            word++;
        if (words && words[word])
            put_format(p, "\"%s\"", words[word]);
        else if (foliot__command_is_flag(kind, field) && number <= 1)
            put(p, number ? "true" : "false");
        else
            put_format(p, "%" PRIu32, number);
        break;
    }
    case FOLIOT_COMMAND_TYPE_i32:
        put_format(p, "%" PRId32, ((const int32_t *)value)[i]);
        break;
    case FOLIOT_COMMAND_TYPE_i64:
        put_format(p, "%" PRId64, ((const int64_t *)value)[i]);
        break;
    case FOLIOT_COMMAND_TYPE_f32: {
        // The shortest of 6 to 9 digits that reads back as the same number.
        char text[FOLIOT__REAL_TEXT_BYTES];
        float number = ((const float *)value)[i];
        for (int digits = 6; digits <= 9; digits++) {
            snprintf(text, sizeof text, "%.*g", digits, (double)number);
            if ((float)strtod(text, NULL) == number)
                break;
        }
        put_real(p, text);
        break;
    }
    case FOLIOT_COMMAND_TYPE_f64:
    case FOLIOT_COMMAND_TYPE_real: {
        char text[FOLIOT__REAL_TEXT_BYTES];
        foliot__real_text(text, ((const double *)value)[i]);
        put_real(p, text);
        break;
    }
    case FOLIOT_COMMAND_TYPE_body:
        put_id(p, ((const foliot_body_id *)value)[i].value);
        break;
    case FOLIOT_COMMAND_TYPE_joint:
        put_id(p, ((const foliot_joint_id *)value)[i].value);
        break;
    case FOLIOT_COMMAND_TYPE_text: {
        const char *text = ((const char *const *)value)[i];
        put(p, "\"");
        while (*text) {
            uint32_t c;
            size_t length = foliot__utf8_decode(text, &c);
            if (length == 0) { // foliot_command_valid refuses it
                put(p, "?");
                text++;
                continue;
            }
            if (c == '"' || c == '\\')
                put_format(p, "\\%c", (char)c);
            else if (foliot__printable(c))
                put_bytes(p, text, length);
            else if (c > 0xffff)
                put_format(p, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
                           (unsigned)(0xdc00 + (c & 0x3ff)));
            else
                put_format(p, "\\u%04x", (unsigned)c);
            text += length;
        }
        put(p, "\"");
        break;
    }
    }
}

static void put_field(printer *p, const foliot_command *command, const foliot_command_field *field)
{
    const void *value = foliot__command_value(command, field);
    put_format(p, ", \"%s\": ", field->name);
    put(p, field->count > 1 ? "[" : "");
    for (uint32_t i = 0; i < field->count; i++) {
        put(p, i ? ", " : "");
        put_value(p, command->kind, field, value, i);
    }
    put(p, field->count > 1 ? "]" : "");
}

// From the kind's name on, to the end of the object.
static size_t put_command(printer *p, const foliot_command *command)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(command->kind);
    if (info)
        put_format(p, "\"command\": \"%s\"", info->name);
    for (uint32_t i = 0; info && i < info->field_count; i++)
        if (command->fields >> i & 1)
            put_field(p, command, &info->fields[i]);
    put(p, "}");
    if (p->capacity)
        p->text[p->at < p->capacity ? p->at : p->capacity - 1] = 0;
    return p->at;
}

size_t foliot_command_print_json(const foliot_command *command, char *text, size_t capacity)
{
    printer p = {.text = text, .capacity = capacity};
    put(&p, "{");
    return put_command(&p, command);
}

size_t foliot__command_line_print(const foliot_command *command, uint64_t tick, char *text,
                                  size_t capacity)
{
    printer p = {.text = text, .capacity = capacity};
    const char *source = foliot__command_source_name(command->source);
    put_format(&p, "{\"tick\": %" PRIu64 ", \"sequence\": %" PRIu32, tick, command->sequence);
    put_format(&p, ", \"source\": \"%s\", ", source ? source : "unknown");
    return put_command(&p, command);
}
