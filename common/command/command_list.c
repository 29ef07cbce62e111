// SPDX-License-Identifier: MIT
// command_list.c: lists of commands that own their texts. A list never holds more than
// FOLIOT_COMMANDS_MAX commands, and a command at most two texts, so that its memory is bounded.
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

// The command's next text from field *i on, *i being behind it then; NULL after the last one.
static const char **next_text(foliot_command *command, uint32_t *i)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(command->kind);
    while (*i < info->field_count) {
        const foliot_command_field *field = &info->fields[(*i)++];
        if (field->type == FOLIOT_COMMAND_TYPE_text && command->fields >> (*i - 1) & 1)
            return foliot__command_room(command, field);
    }
    return NULL;
}

// `bytes` as it is encoded. The command may stand in this list.
static foliot_status append_valid(foliot_command_list *list, const foliot_command *command,
                                  size_t bytes)
{
    if (list->count == FOLIOT_COMMANDS_MAX)
        return FOLIOT_STATUS_FULL;
    foliot_command copy = *command;
    const char **text;
    size_t text_bytes = 0;
    for (uint32_t i = 0; (text = next_text(&copy, &i));)
        text_bytes += strlen(*text) + 1;
    if (!foliot__array_grow(&list->commands, list->count, &list->capacity, 16,
                            sizeof *list->commands))
        return FOLIOT_STATUS_MEMORY;

    // The pool of texts moves as it grows: all commands then point into the new one. The old one
    // stays until the texts of the new command are copied, since they may lie in it.
    char *old = NULL;
    size_t needed = list->text_bytes + text_bytes;
    if (text_bytes && needed > list->text_capacity) {
        size_t capacity = needed + needed / 2 + 256;
        char *pool = malloc(capacity);
        if (!pool)
            return FOLIOT_STATUS_MEMORY;
        if (list->text_bytes)
            memcpy(pool, list->text, list->text_bytes);
        for (uint32_t k = 0; k < list->count; k++)
            for (uint32_t i = 0; (text = next_text(&list->commands[k], &i));)
                *text = pool + (*text - list->text);
        old = list->text;
        list->text = pool;
        list->text_capacity = capacity;
    }
    for (uint32_t i = 0; (text = next_text(&copy, &i));) {
        size_t length = strlen(*text) + 1;
        *text = memcpy(list->text + list->text_bytes, *text, length);
        list->text_bytes += length;
    }
    free(old);
    list->commands[list->count++] = copy;
    list->encoded_bytes += bytes;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_command_list_append(foliot_command_list *list, const foliot_command *command)
{
    if (!foliot_command_valid(command, NULL))
        return FOLIOT_STATUS_INVALID;
    return append_valid(list, command, foliot_command_encode(command, NULL, 0));
}

// A command has one form: its encoding has the length of the bytes that were read.
foliot_status foliot__command_list_append_decoded(foliot_command_list *list,
                                                  const foliot_command *command, size_t bytes)
{
    return append_valid(list, command, bytes);
}

foliot_status foliot_command_list_decode(foliot_command_list *list, const uint8_t *bytes,
                                         size_t length, size_t *taken)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    foliot_command command;
    foliot__command_texts texts;
    foliot__command_decode(&r, &command, &texts);
    foliot_status status =
        r.status == FOLIOT_STATUS_OK ? append_valid(list, &command, r.at) : r.status;
    if (status == FOLIOT_STATUS_OK)
        *taken = r.at;
    return status;
}

void foliot_command_list_clear(foliot_command_list *list)
{
    list->count = 0;
    list->text_bytes = 0;
    list->encoded_bytes = 0;
}

void foliot_command_list_destroy(foliot_command_list *list)
{
    free(list->commands);
    free(list->text);
    *list = (foliot_command_list){0};
}
