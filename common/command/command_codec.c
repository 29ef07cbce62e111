// SPDX-License-Identifier: MIT
// command_codec.c: canonical bytes of commands. Each command has one encoding: a decoded command
// encodes to the same bytes. docs/reference/commands.md
#include "command/command.h"

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
