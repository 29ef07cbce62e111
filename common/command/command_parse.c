// SPDX-License-Identifier: MIT
// command_parse.c: commands from JSON. Refuses what the lists do not define, and reports the place.
#include "command/command_json.h"

#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text.h"

#define KEY_BYTES 64

typedef struct parser {
    foliot__json_reader r;
    foliot__command_line *line;
    bool in_file, failed;
    bool tick_given, source_given, sequence_given;
} parser;

// A problem of the value at `at`. The first one stays.
__attribute__((format(printf, 3, 4))) static bool complain(parser *p, size_t at, const char *format,
                                                           ...)
{
    if (p->failed)
        return false;
    va_list list;
    va_start(list, format);
    vsnprintf(p->line->problem, sizeof p->line->problem, format, list);
    va_end(list);
    p->line->problem_at = at;
    p->failed = true;
    return false;
}

static bool parse_whole(parser *p, const char *name, int64_t least, uint64_t most, uint64_t *bits)
{
    char text[FOLIOT__JSON_NUMBER_BYTES];
    size_t at = foliot__json_place(&p->r);
    if (!foliot__json_number(&p->r, text))
        return complain(p, at, "'%s' must be a whole number", name);
    bool negative = text[0] == '-';
    uint64_t value;
    // The most negative number has no positive one.
    uint64_t bound = negative ? (uint64_t) - (least + (least < 0)) + (least < 0) : most;
    if (!foliot__parse_count(text + negative, &value) || value > bound || (negative && value == 0))
        return complain(p, at, "'%s' must be a whole number from %" PRId64 " to %" PRIu64, name,
                        least, most);
    *bits = negative ? UINT64_C(0) - value : value;
    return true;
}

static bool parse_number(parser *p, const char *name, double *value)
{
    char text[FOLIOT__JSON_NUMBER_BYTES];
    size_t at = foliot__json_place(&p->r);
    if (!foliot__json_number(&p->r, text))
        return complain(p, at, "'%s' must be a number", name);
    // strtod reads the point of the embedder's locale.
    const char *locale_point = localeconv()->decimal_point;
    char *point = strchr(text, '.');
    if (point && locale_point[0] && !locale_point[1])
        *point = locale_point[0];
    if (!foliot__parse_real(text, value))
        return complain(p, at, "'%s' must be finite", name);
    return true;
}

// A number, or one of the field's words.
static bool parse_u32(parser *p, const foliot_command_field *field, uint32_t *value)
{
    uint32_t kind = p->line->command.kind;
    const char *const *words = foliot__command_words(kind, field);
    size_t at = foliot__json_place(&p->r);
    char first = foliot__json_peek(&p->r), word[KEY_BYTES];
    if (foliot__command_is_flag(kind, field) && (first == 't' || first == 'f')) {
        *value = first == 't';
        return foliot__json_word(&p->r, first == 't' ? "true" : "false");
    }
    if (words && first == '"') {
        if (!foliot__json_text_value(&p->r, word, sizeof word))
            return false;
        for (*value = 0; words[*value] && strcmp(words[*value], word) != 0;)
            ++*value;
        return words[*value] || complain(p, at, "'%s' has no such word", field->name);
    }
    uint64_t bits;
    if (!parse_whole(p, field->name, 0, UINT32_MAX, &bits))
        return false;
    *value = (uint32_t)bits;
    return true;
}

// null, [3, 0], or {"slot": 3, "generation": 0}, a joint's with "index"; each part once.
static bool parse_id(parser *p, const foliot_command_field *field, uint64_t *id)
{
    const char *first = field->type == FOLIOT_COMMAND_TYPE_body ? "slot" : "index";
    uint64_t parts[2] = {0, 0};
    size_t at = foliot__json_place(&p->r);
    char open = foliot__json_peek(&p->r);
    bool good = false;
    if (open == 'n') {
        *id = 0;
        return foliot__json_word(&p->r, "null");
    }
    if (open == '{') {
        uint32_t given = 0;
        char key[KEY_BYTES];
        foliot__json_enter(&p->r, '{');
        while (foliot__json_more(&p->r)) {
            if (!foliot__json_key(&p->r, key, sizeof key))
                return false;
            uint32_t part = strcmp(key, first) == 0 ? 0 : strcmp(key, "generation") == 0 ? 1 : 2;
            if (part == 2 || (given >> part & 1)) {
                given = 0;
                break;
            }
            given |= 1u << part;
            if (!parse_whole(p, field->name, 0, UINT32_MAX - part, &parts[part]))
                return false;
        }
        if (p->r.problem)
            return false;
        good = given == 3 ||
               complain(p, at, "'%s' is {\"%s\": n, \"generation\": n}", field->name, first);
    } else if (open == '[') {
        foliot__json_enter(&p->r, '[');
        good = foliot__json_more(&p->r) && parse_whole(p, field->name, 0, UINT32_MAX, &parts[0]) &&
               foliot__json_more(&p->r) &&
               parse_whole(p, field->name, 0, UINT32_MAX - 1, &parts[1]) &&
               !foliot__json_more(&p->r) && !p->r.problem;
    }
    if (!good)
        return !p->r.problem && complain(p, at, "'%s' is [%s, generation]", field->name, first);
    *id = foliot__command_id((uint32_t)parts[0], (uint32_t)parts[1]);
    return true;
}

static bool parse_value(parser *p, const foliot_command_field *field, void *room, uint32_t i)
{
    uint64_t bits;
    bool good;
    switch (field->type) {
    case FOLIOT_COMMAND_TYPE_u32:
        return parse_u32(p, field, (uint32_t *)room + i);
    case FOLIOT_COMMAND_TYPE_i32:
        good = parse_whole(p, field->name, INT32_MIN, INT32_MAX, &bits);
        ((int32_t *)room)[i] = good ? (int32_t)(uint32_t)bits : 0;
        return good;
    case FOLIOT_COMMAND_TYPE_i64:
        good = parse_whole(p, field->name, INT64_MIN, INT64_MAX, &bits);
        ((int64_t *)room)[i] = good ? (int64_t)bits : 0;
        return good;
    case FOLIOT_COMMAND_TYPE_f32: {
        float *value = (float *)room + i;
        double wide;
        size_t at = foliot__json_place(&p->r);
        if (!parse_number(p, field->name, &wide))
            return false;
        *value = (float)wide;
        if (*value - *value != 0)
            return complain(p, at, "'%s' is too large for binary32", field->name);
        return true;
    }
    case FOLIOT_COMMAND_TYPE_f64:
    case FOLIOT_COMMAND_TYPE_real:
        return parse_number(p, field->name, (double *)room + i);
    case FOLIOT_COMMAND_TYPE_body:
        return parse_id(p, field, &((foliot_body_id *)room)[i].value);
    case FOLIOT_COMMAND_TYPE_joint:
        return parse_id(p, field, &((foliot_joint_id *)room)[i].value);
    case FOLIOT_COMMAND_TYPE_text: {
        foliot__command_texts *texts = &p->line->texts;
        char *text = texts->bytes[texts->count++]; // a field comes once: there is room
        ((const char **)room)[i] = text;
        return foliot__json_text_value(&p->r, text,
                                       foliot__command_text_bytes(p->line->command.kind, field));
    }
    }
    return false;
}

static bool parse_field(parser *p, const foliot_command_field *field)
{
    void *room = foliot__command_room(&p->line->command, field);
    size_t at = foliot__json_place(&p->r);
    if (field->count == 1)
        return parse_value(p, field, room, 0);
    bool good = foliot__json_enter(&p->r, '[');
    for (uint32_t i = 0; good && i < field->count; i++)
        good = foliot__json_more(&p->r) && parse_value(p, field, room, i);
    good = good && !foliot__json_more(&p->r) && !p->r.problem;
    return good ||
           complain(p, at, "'%s' must be an array of %u numbers", field->name, field->count);
}

static bool parse_source(parser *p)
{
    char word[KEY_BYTES];
    size_t at = foliot__json_place(&p->r);
    if (!foliot__json_text_value(&p->r, word, sizeof word))
        return false;
    for (uint32_t i = 0; i < FOLIOT__COMMAND_SOURCES; i++) {
        if (strcmp(word, foliot__command_source_name(i)) != 0)
            continue;
        p->line->command.source = i;
        return true;
    }
    return complain(p, at, "a source is host, admin or rules");
}

static bool first_time(parser *p, size_t at, const char *key, bool *given)
{
    bool again = *given;
    *given = true;
    return !again || complain(p, at, "'%s' is given twice", key);
}

// Parses tick, source or sequence; *known says whether it was one.
static bool parse_line_key(parser *p, size_t at, const char *key, bool *known)
{
    uint64_t sequence;
    *known = true;
    if (p->in_file && strcmp(key, "tick") == 0)
        return first_time(p, at, key, &p->tick_given) &&
               parse_whole(p, key, 0, UINT64_MAX, &p->line->tick);
    if (p->in_file && strcmp(key, "source") == 0)
        return first_time(p, at, key, &p->source_given) && parse_source(p);
    if (p->in_file && strcmp(key, "sequence") == 0) {
        if (!first_time(p, at, key, &p->sequence_given) ||
            !parse_whole(p, key, 0, UINT32_MAX, &sequence))
            return false;
        p->line->command.sequence = (uint32_t)sequence;
        return true;
    }
    *known = false;
    return true;
}

static bool parse_key(parser *p, const foliot_command_kind_info *info)
{
    foliot_command *command = &p->line->command;
    char key[KEY_BYTES], clean[KEY_BYTES];
    bool known;
    size_t at = foliot__json_place(&p->r);
    if (!foliot__json_key(&p->r, key, sizeof key))
        return false;
    if (strcmp(key, "command") == 0) {
        foliot__json_skip(&p->r); // read before; find_kind found it once
        return !p->r.problem;
    }
    if (!parse_line_key(p, at, key, &known) || known)
        return known && !p->failed && !p->r.problem;
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (strcmp(info->fields[i].name, key) != 0)
            continue;
        if (command->fields >> i & 1)
            return complain(p, at, "'%s' is given twice", key);
        command->fields |= 1u << i;
        return parse_field(p, &info->fields[i]);
    }
    return complain(p, at, "'%s' has no field '%s'", info->name,
                    foliot__text_clean(clean, sizeof clean, key));
}

// Finds the kind first, because it gives the meaning of the other keys, which have no order.
static const foliot_command_kind_info *find_kind(parser *p)
{
    const foliot_command_kind_info *info = NULL;
    char key[KEY_BYTES], name[KEY_BYTES], clean[KEY_BYTES];
    foliot__json_enter(&p->r, '{');
    while (!p->failed && foliot__json_more(&p->r)) {
        size_t at = foliot__json_place(&p->r);
        if (!foliot__json_key(&p->r, key, sizeof key))
            break;
        if (strcmp(key, "command") != 0) {
            foliot__json_skip(&p->r);
            continue;
        }
        if (info)
            complain(p, at, "'command' is given twice");
        at = foliot__json_place(&p->r);
        if (!foliot__json_text_value(&p->r, name, sizeof name))
            break;
        uint32_t kind = foliot_command_kind_find(name);
        info = foliot_command_kind_get_info(kind);
        if (!info)
            complain(p, at, "there is no command '%s'",
                     foliot__text_clean(clean, sizeof clean, name));
        p->line->command = foliot_command_default(info ? kind : 0);
    }
    if (foliot__json_end(&p->r) && !info)
        complain(p, 0, "'command' is missing");
    return p->failed || p->r.problem ? NULL : info;
}

bool foliot__command_line_parse(const char *json, size_t length, bool in_file,
                                foliot__command_line *line)
{
    parser p = {.r = foliot__json_reader_of(json, length), .line = line, .in_file = in_file};
    line->texts.count = 0;
    line->tick = 0;
    const foliot_command_kind_info *info = find_kind(&p);
    if (info) {
        p.r = foliot__json_reader_of(json, length);
        foliot__json_enter(&p.r, '{');
        while (!p.failed && foliot__json_more(&p.r))
            parse_key(&p, info);
    }
    if (p.r.problem)
        complain(&p, p.r.at, "%s", p.r.problem);
    if (p.failed)
        return false;
    // All keys are read: some may be missing, or not fit together.
    foliot_command_reason reason;
    if (p.in_file && !p.tick_given)
        return complain(&p, 0, "'tick' is missing");
    for (uint32_t i = 0; i < info->field_count; i++)
        if (info->fields[i].required && !(line->command.fields >> i & 1))
            return complain(&p, 0, "'%s' needs '%s'", info->name, info->fields[i].name);
    if (!foliot_command_valid(&line->command, &reason))
        return complain(&p, 0, "%s", foliot_command_reason_get_text(reason));
    return true;
}

foliot_status foliot_command_list_parse_json(foliot_command_list *list, const char *json,
                                             size_t length, foliot_error *error)
{
    foliot__command_line line;
    if (!foliot__command_line_parse(json, length, false, &line))
        return foliot_error_set(error, FOLIOT_STATUS_INVALID, "byte %zu: %s", line.problem_at + 1,
                                line.problem);
    foliot_status status = foliot_command_list_append(list, &line.command);
    if (status != FOLIOT_STATUS_OK)
        foliot_error_set(error, status, "%s", foliot_status_get_text(status));
    return status;
}
