// SPDX-License-Identifier: MIT
// command_script.c: reads lines of commands. It refuses everything that the format does not define,
// and reports the place.
#include "command/command_script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "command/command_json.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)

typedef struct reader {
    const char *name;
    unsigned line;
    char *message;
    size_t message_bytes;
    uint32_t tick_count; // commands of the last line's tick
    foliot__command_script script;
    foliot__command_line parsed;
} reader;

static foliot_status complain(reader *r, size_t column, const char *problem)
{
    snprintf(r->message, r->message_bytes, "%s:%u:%zu: %s", r->name, r->line, column + 1, problem);
    return FOLIOT_STATUS_INVALID;
}

// Room for one more command of `bytes` bytes.
static bool reserve(foliot__command_script *s, size_t bytes)
{
    void *commands =
        foliot__array_with_room(s->commands, s->count, &s->capacity, 64, sizeof *s->commands);
    if (!commands)
        return false;
    s->commands = commands;
    if (s->length + bytes > s->bytes_capacity) {
        size_t capacity = 2 * (s->length + bytes) + 1024;
        uint8_t *larger = realloc(s->bytes, capacity);
        if (!larger)
            return false;
        s->bytes = larger;
        s->bytes_capacity = capacity;
    }
    return true;
}

static foliot_status append_command(reader *r, const foliot__command_line *line)
{
    foliot__command_script *s = &r->script;
    size_t bytes = foliot_command_encode(&line->command, NULL, 0);
    if (!reserve(s, bytes)) {
        snprintf(r->message, r->message_bytes, "%s: no memory for so many commands", r->name);
        return FOLIOT_STATUS_MEMORY;
    }
    s->commands[s->count] = (foliot__scripted_command){
        .tick = line->tick,
        .at = s->length,
        .sequence = s->count + 1,
        .source = line->command.source,
    };
    s->count++;
    s->length += foliot_command_encode(&line->command, s->bytes + s->length, bytes);
    return FOLIOT_STATUS_OK;
}

static foliot_status read_line(reader *r, const char *text, size_t length)
{
    const foliot__command_script *s = &r->script;
    size_t blanks = 0;
    while (blanks < length && strchr(" \t\r", text[blanks]) && text[blanks])
        blanks++;
    if (blanks == length || text[blanks] == '#')
        return FOLIOT_STATUS_OK;
    if (!foliot__command_line_parse(text, length, true, &r->parsed))
        return complain(r, r->parsed.problem_at, r->parsed.problem);
    uint64_t before = s->count ? s->commands[s->count - 1].tick : 0;
    if (r->parsed.tick < before)
        return complain(r, 0, "ticks must not fall");
    r->tick_count = s->count && r->parsed.tick == before ? r->tick_count + 1 : 1;
    if (r->tick_count > FOLIOT_COMMANDS_MAX)
        return complain(r, 0, "a tick has at most 65536 commands");
    return append_command(r, &r->parsed);
}

foliot_status foliot__command_script_parse(const char *text, size_t length, const char *name,
                                           foliot__command_script *script, char *message,
                                           size_t message_bytes)
{
    reader r = {.name = name, .message = message, .message_bytes = message_bytes};
    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - (text + at)) : length - at;
        r.line++;
        foliot_status status = read_line(&r, text + at, line);
        if (status != FOLIOT_STATUS_OK) {
            foliot__command_script_free(&r.script);
            return status;
        }
        at += line + 1;
    }
    *script = r.script;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__command_script_read(const char *file, foliot__command_script *script,
                                          char *message, size_t message_bytes)
{
    size_t length = 0;
    char *text = foliot__file_slurp_told(file, FILE_BYTES_MAX, &length, message, message_bytes);
    if (!text)
        return FOLIOT_STATUS_IO;
    foliot_status status =
        foliot__command_script_parse(text, length, file, script, message, message_bytes);
    free(text);
    return status;
}

foliot_status foliot__command_script_at(const foliot__command_script *script, uint64_t tick,
                                        foliot_command_list *list)
{
    uint32_t low = 0, high = script->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (script->commands[middle].tick < tick)
            low = middle + 1;
        else
            high = middle;
    }
    foliot_command_list_clear(list);
    for (; low < script->count && script->commands[low].tick == tick; low++) {
        const foliot__scripted_command *command = &script->commands[low];
        size_t taken;
        foliot_status status = foliot_command_list_decode(list, script->bytes + command->at,
                                                          script->length - command->at, &taken);
        if (status != FOLIOT_STATUS_OK)
            return status;
        list->commands[list->count - 1].sequence = command->sequence;
        list->commands[list->count - 1].source = command->source;
    }
    return FOLIOT_STATUS_OK;
}

void foliot__command_script_free(foliot__command_script *script)
{
    free(script->commands);
    free(script->bytes);
    *script = (foliot__command_script){0};
}
