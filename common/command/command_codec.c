// SPDX-License-Identifier: MIT
// command_codec.c: canonical bytes of commands, and lists of commands. Each command has one
// encoding: a decoded command encodes to the same bytes. docs/reference/commands.md
#include "command/command.h"

#include <stdlib.h>

#include "base/array.h"
#include "base/assert.h"
#include "base/text.h"

#define WIDE 0x80u // of the byte of the kind

static uint64_t zigzag_of(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t zigzag_to(uint64_t value)
{
    uint64_t bits = value >> 1 ^ (value & 1 ? UINT64_MAX : 0);
    int64_t result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

// Slot + 1, so that no id is a single zero; then the generation.
static void write_id(foliot__writer *w, uint64_t id)
{
    if (id == 0) {
        foliot__write_u8(w, 0);
        return;
    }
    foliot__write_varint(w, (id & UINT32_MAX) + 1);
    foliot__write_varint(w, (id >> 32) - 1);
}

// Most are one byte long.
static uint64_t read_varint(foliot__reader *r, uint64_t most)
{
    if (foliot__reader_left(r) > 0 && r->bytes[r->at] < 0x80 && r->bytes[r->at] <= most)
        return r->bytes[r->at++];
    return foliot__read_varint(r, most);
}

static uint64_t read_id(foliot__reader *r)
{
    uint64_t slot = read_varint(r, (uint64_t)UINT32_MAX + 1);
    if (slot == 0 || r->status != FOLIOT_STATUS_OK)
        return 0;
    uint64_t generation = read_varint(r, UINT32_MAX - 1);
    return foliot__command_id((uint32_t)(slot - 1), (uint32_t)generation);
}

static void write_f32(foliot__writer *w, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    foliot__write_u32(w, bits);
}

// All components at once.
static void read_f32(foliot__reader *r, float *values, uint32_t count)
{
    const uint8_t *b = foliot__read_bytes(r, 4 * (size_t)count);
    for (uint32_t i = 0; b && i < count; i++, b += 4) {
        uint32_t bits = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        memcpy(&values[i], &bits, sizeof bits);
    }
}

// Whether some real of the command needs binary64: then all of them have it, and the kind's byte
// has the bit WIDE.
static bool is_wide(const foliot_command *command, const foliot_command_kind_info *info)
{
    for (uint32_t f = 0; f < info->field_count; f++) {
        const foliot_command_field *field = &info->fields[f];
        const double *value = foliot__command_value(command, field);
        bool real = command->fields >> f & 1 && field->type == FOLIOT_COMMAND_TYPE_real;
        for (uint32_t i = 0; real && i < field->count; i++)
            if ((double)(float)value[i] != value[i])
                return true;
    }
    return false;
}

static void write_field(foliot__writer *w, const foliot_command_field *field, const void *value,
                        bool wide)
{
    for (uint32_t i = 0; i < field->count; i++)
        switch (field->type) {
        case FOLIOT_COMMAND_TYPE_u32:
            foliot__write_varint(w, ((const uint32_t *)value)[i]);
            break;
        case FOLIOT_COMMAND_TYPE_i32:
            foliot__write_varint(w, zigzag_of(((const int32_t *)value)[i]));
            break;
        case FOLIOT_COMMAND_TYPE_i64:
            foliot__write_varint(w, zigzag_of(((const int64_t *)value)[i]));
            break;
        case FOLIOT_COMMAND_TYPE_f32:
            write_f32(w, ((const float *)value)[i]);
            break;
        case FOLIOT_COMMAND_TYPE_f64:
            foliot__write_f64(w, ((const double *)value)[i]);
            break;
        case FOLIOT_COMMAND_TYPE_real:
            if (wide)
                foliot__write_f64(w, ((const double *)value)[i]);
            else
                write_f32(w, (float)((const double *)value)[i]);
            break;
        case FOLIOT_COMMAND_TYPE_body:
            write_id(w, ((const foliot_body_id *)value)[i].value);
            break;
        case FOLIOT_COMMAND_TYPE_joint:
            write_id(w, ((const foliot_joint_id *)value)[i].value);
            break;
        case FOLIOT_COMMAND_TYPE_text: {
            const char *text = ((const char *const *)value)[i];
            size_t length = strlen(text);
            foliot__write_varint(w, length);
            foliot__write_bytes(w, text, length);
            break;
        }
        }
}

static void read_field(foliot__reader *r, uint32_t kind, const foliot_command_field *field,
                       void *room, foliot__command_texts *texts, bool wide)
{
    if (field->type == FOLIOT_COMMAND_TYPE_f32) {
        read_f32(r, room, field->count);
        return;
    }
    for (uint32_t i = 0; i < field->count; i++)
        switch (field->type) {
        case FOLIOT_COMMAND_TYPE_u32:
            ((uint32_t *)room)[i] = (uint32_t)read_varint(r, UINT32_MAX);
            break;
        case FOLIOT_COMMAND_TYPE_i32:
            ((int32_t *)room)[i] = (int32_t)zigzag_to(read_varint(r, UINT32_MAX));
            break;
        case FOLIOT_COMMAND_TYPE_i64:
            ((int64_t *)room)[i] = zigzag_to(read_varint(r, UINT64_MAX));
            break;
        case FOLIOT_COMMAND_TYPE_f32: // above
            break;
        case FOLIOT_COMMAND_TYPE_f64:
            ((double *)room)[i] = foliot__read_f64(r);
            break;
        case FOLIOT_COMMAND_TYPE_real:
            if (wide) {
                ((double *)room)[i] = foliot__read_f64(r);
            } else {
                float narrow = 0;
                read_f32(r, &narrow, 1);
                ((double *)room)[i] = (double)narrow;
            }
            break;
        case FOLIOT_COMMAND_TYPE_body:
            ((foliot_body_id *)room)[i].value = read_id(r);
            break;
        case FOLIOT_COMMAND_TYPE_joint:
            ((foliot_joint_id *)room)[i].value = read_id(r);
            break;
        case FOLIOT_COMMAND_TYPE_text: {
            // The form of the text is checked with that of the command.
            size_t bytes_max = foliot__command_text_bytes(kind, field);
            size_t length = (size_t)read_varint(r, bytes_max - 1);
            const uint8_t *bytes = foliot__read_bytes(r, length);
            FOLIOT_ASSERT(texts->count < FOLIOT__COMMAND_TEXTS_MAX);
            char *text = texts->bytes[texts->count++];
            if (!bytes || memchr(bytes, 0, length)) {
                foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
                length = 0;
            }
            if (length)
                memcpy(text, bytes, length);
            text[length] = 0;
            ((const char **)room)[i] = text;
            break;
        }
        }
}

static void write_command(foliot__writer *w, const foliot_command *command)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(command->kind);
    if (!info)
        return;
    bool wide = is_wide(command, info);
    foliot__write_u8(w, (uint8_t)(command->kind | (wide ? WIDE : 0)));
    foliot__write_varint(w, command->fields);
    for (uint32_t i = 0; i < info->field_count; i++)
        if (command->fields >> i & 1)
            write_field(w, &info->fields[i], foliot__command_value(command, &info->fields[i]),
                        wide);
}

size_t foliot_command_encode(const foliot_command *command, uint8_t *bytes, size_t capacity)
{
    foliot__writer count = foliot__writer_of(NULL, 0);
    write_command(&count, command);
    if (bytes && count.at <= capacity) {
        foliot__writer w = foliot__writer_of(bytes, capacity);
        write_command(&w, command);
    }
    return count.at;
}

void foliot__command_decode(foliot__reader *r, foliot_command *command,
                            foliot__command_texts *texts)
{
    uint8_t head = foliot__read_u8(r), kind = head & (uint8_t)~WIDE;
    bool wide = head & WIDE;
    const foliot_command_kind_info *info = foliot_command_kind_get_info(kind);
    *command = foliot_command_default(info ? kind : 0);
    texts->count = 0;
    if (!info)
        foliot__reader_fail(r, FOLIOT_STATUS_NEWER);
    command->fields = (uint32_t)read_varint(r, UINT32_MAX);
    if (info && command->fields >> info->field_count != 0)
        foliot__reader_fail(r, FOLIOT_STATUS_NEWER);
    for (uint32_t i = 0; info && i < info->field_count && r->status == FOLIOT_STATUS_OK; i++)
        if (command->fields >> i & 1)
            read_field(r, kind, &info->fields[i], foliot__command_room(command, &info->fields[i]),
                       texts, wide);
    if (info && wide && !is_wide(command, info)) // a command has one form
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    if (r->status == FOLIOT_STATUS_OK && !foliot_command_valid(command, NULL))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

// -- lists

// Lists of commands that own their texts. A list never holds more than
// FOLIOT_COMMANDS_MAX commands, and a command at most two texts, so that its memory is bounded.

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
