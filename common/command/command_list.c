// SPDX-License-Identifier: MIT
// command_list.c: lists of commands that own their texts. A list never holds more than
// FOLIOT_COMMANDS_MAX commands, and a command at most two texts, so that its memory is bounded.
#include "command/command.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

// `from` and `to` are the pools of texts before and after.
static void rebase_texts(foliot_command *command, const char *from, char *to)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(command->kind);
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].type != FOLIOT_COMMAND_TYPE_text || !(command->fields >> i & 1))
            continue;
        const char **text = foliot__command_room(command, &info->fields[i]);
        *text = to + (*text - from);
    }
}

// The pool moves as it grows: the texts of all commands are pointed into the new one. The caller
// frees the old one, which the command to append may point into.
static bool reserve_text(foliot_command_list *list, size_t bytes, char **old)
{
    *old = NULL;
    size_t needed = list->text_bytes + bytes;
    if (needed <= list->text_capacity)
        return true;
    size_t capacity = needed + needed / 2 + 256;
    char *text = malloc(capacity);
    if (!text)
        return false;
    if (list->text_bytes)
        memcpy(text, list->text, list->text_bytes);
    for (uint32_t i = 0; i < list->count; i++)
        rebase_texts(&list->commands[i], list->text, text);
    *old = list->text;
    list->text = text;
    list->text_capacity = capacity;
    return true;
}

// Copies the texts of the list's command to the end of the pool, where there is room.
static void copy_texts(foliot_command_list *list, foliot_command *command)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(command->kind);
    for (uint32_t i = 0; i < info->field_count; i++) {
        if (info->fields[i].type != FOLIOT_COMMAND_TYPE_text || !(command->fields >> i & 1))
            continue;
        const char **text = foliot__command_room(command, &info->fields[i]);
        size_t bytes = strlen(*text) + 1;
        *text = memcpy(list->text + list->text_bytes, *text, bytes);
        list->text_bytes += bytes;
    }
}

// `bytes` as it is encoded.
static foliot_status append_valid(foliot_command_list *list, const foliot_command *command,
                                  size_t bytes)
{
    if (list->count == FOLIOT_COMMANDS_MAX)
        return FOLIOT_STATUS_FULL;
    foliot_command copy = *command; // it may stand in this list
    const foliot_command_kind_info *info = foliot_command_kind_get_info(copy.kind);
    size_t text_bytes = 0;
    for (uint32_t i = 0; i < info->field_count; i++)
        if (info->fields[i].type == FOLIOT_COMMAND_TYPE_text && copy.fields >> i & 1)
            text_bytes +=
                strlen(*(const char *const *)foliot__command_value(&copy, &info->fields[i])) + 1;
    char *old = NULL;
    void *commands = foliot__array_with_room(list->commands, list->count, &list->capacity, 16,
                                             sizeof *list->commands);
    if (commands)
        list->commands = commands;
    if (!commands || (text_bytes && !reserve_text(list, text_bytes, &old)))
        return FOLIOT_STATUS_MEMORY;
    if (text_bytes)
        copy_texts(list, &copy);
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

// A command has one form: what was read is as long as what would be written.
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
