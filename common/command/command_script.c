// SPDX-License-Identifier: MIT
// command_script.c: reads lines of commands. It refuses everything that the format does not define,
// and reports the place.

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/line_script.h"
#include "command/command_json.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)

typedef struct reader {
    foliot__line_script lines;
    uint32_t tick_count; // commands of the last line's tick
    foliot__command_script script;
    foliot__command_line parsed;
} reader;

static bool append_command(reader *r, const foliot__command_line *line)
{
    foliot__command_script *s = &r->script;
    size_t bytes = foliot_command_encode(&line->command, NULL, 0), needed = s->bytes.length + bytes;
    if (!foliot__array_grow(&s->commands, s->count, &s->capacity, 64, sizeof *s->commands) ||
        (needed > s->bytes.capacity && !foliot__buffer_reserve(&s->bytes, 2 * needed + 1024)))
        return foliot__line_script_no_memory(&r->lines);
    s->commands[s->count] = (foliot__scripted_command){
        .tick = line->tick,
        .at = s->bytes.length,
        .sequence = s->count + 1,
        .source = line->command.source,
    };
    s->count++;
    s->bytes.length +=
        foliot_command_encode(&line->command, s->bytes.bytes + s->bytes.length, bytes);
    return true;
}

static bool read_line(void *user, const char *text, size_t length)
{
    reader *r = user;
    const foliot__command_script *s = &r->script;
    size_t blanks = 0;
    while (blanks < length && strchr(" \t\r", text[blanks]) && text[blanks])
        blanks++;
    if (blanks == length || text[blanks] == '#')
        return true;
    if (!foliot__command_line_parse(text, length, true, &r->parsed))
        return foliot__line_script_refuse(&r->lines, r->parsed.problem_at, "%s", r->parsed.problem);
    uint64_t before = s->count ? s->commands[s->count - 1].tick : 0;
    if (r->parsed.tick < before)
        return foliot__line_script_refuse(&r->lines, 0, "ticks must not decrease");
    r->tick_count = s->count && r->parsed.tick == before ? r->tick_count + 1 : 1;
    if (r->tick_count > FOLIOT_COMMANDS_MAX)
        return foliot__line_script_refuse(&r->lines, 0, "a tick has at most %d commands",
                                          FOLIOT_COMMANDS_MAX);
    return append_command(r, &r->parsed);
}

foliot_status foliot__command_script_parse(const char *text, size_t length, const char *name,
                                           foliot__command_script *script, char *message,
                                           size_t message_bytes)
{
    reader r = {.lines = {.name = name,
                          .bytes_max = FILE_BYTES_MAX,
                          .message = message,
                          .message_bytes = message_bytes}};
    foliot_status status = foliot__line_script_parse(&r.lines, text, length, read_line, &r);
    if (status == FOLIOT_STATUS_OK)
        *script = r.script;
    else
        foliot__command_script_free(&r.script);
    return status;
}

foliot_status foliot__command_script_read(const char *file, foliot__command_script *script,
                                          char *message, size_t message_bytes)
{
    return foliot__command_script_parse(NULL, 0, file, script, message, message_bytes);
}

foliot_status foliot__command_script_at(const foliot__command_script *script, uint64_t tick,
                                        foliot_command_list *list)
{
    uint32_t i =
        foliot__array_lower_bound(script->commands, script->count, sizeof *script->commands, tick);
    foliot_command_list_clear(list);
    for (; i < script->count && script->commands[i].tick == tick; i++) {
        const foliot__scripted_command *command = &script->commands[i];
        size_t taken;
        foliot_status status = foliot_command_list_decode(
            list, script->bytes.bytes + command->at, script->bytes.length - command->at, &taken);
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
    foliot__buffer_free(&script->bytes);
    *script = (foliot__command_script){0};
}
