// SPDX-License-Identifier: MIT
// commands.c: draws every field's value from all that its type can hold, edges among them.
#include "commands.h"

#include <string.h>

static char texts[2][FOLIOT_VAR_TEXT_BYTES];

static uint64_t draw_bits(foliot__rng *rng)
{
    uint64_t bits = foliot__rng_u64(rng), shift = foliot__rng_u64(rng) % 64;
    return bits >> shift;
}

static float draw_f32(foliot__rng *rng)
{
    static const float edges[] = {0.0f, -0.0f, 1.0f, 0.1f, -0x1.fffffcp127f, 0x1p-149f, 1e20f};
    uint32_t bits = (uint32_t)foliot__rng_u64(rng);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value - value == 0 && bits % 4 ? value : edges[bits % 7];
}

static double draw_f64(foliot__rng *rng)
{
    uint64_t bits = foliot__rng_u64(rng);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value - value == 0 ? value : -0.0;
}

// 1 to `bytes` - 1 bytes: plain letters, what JSON escapes, and characters of two to four bytes.
static void draw_text(foliot__rng *rng, char *text, size_t bytes)
{
    static const char *const parts[] = {"a",
                                        "\"",
                                        "\\",
                                        "\n",
                                        "\x1b",
                                        "\xc3\xa9",
                                        "\x7f",
                                        "\xe2\x80\xae",
                                        "\xe2\x82\xac",
                                        "\xf0\x9f\x98\x80",
                                        "/",
                                        "\xf3\xa0\x80\x81"};
    size_t wanted = 1 + foliot__rng_u64(rng) % (bytes - 1), used = 0;
    for (;;) {
        const char *part = parts[foliot__rng_u64(rng) % 12];
        if (used + strlen(part) > wanted)
            break;
        memcpy(text + used, part, strlen(part));
        used += strlen(part);
    }
    if (used == 0)
        text[used++] = 'k';
    text[used] = 0;
}

static void draw_value(foliot__rng *rng, const foliot_command_field *field, uint8_t *room,
                       uint32_t *text)
{
    uint64_t bits = draw_bits(rng);
    int32_t i32 = (int32_t)(uint32_t)(bits & 1 ? bits : ~bits);
    int64_t i64 = (int64_t)(bits & 1 ? bits : ~bits);
    float f32;
    double f64;
    switch (field->type) {
    case FOLIOT_COMMAND_TYPE_u32:
        memcpy(room, &bits, 4);
        break;
    case FOLIOT_COMMAND_TYPE_i32:
        memcpy(room, &i32, 4);
        break;
    case FOLIOT_COMMAND_TYPE_i64:
        memcpy(room, &i64, 8);
        break;
    case FOLIOT_COMMAND_TYPE_f32:
        f32 = draw_f32(rng);
        memcpy(room, &f32, 4);
        break;
    case FOLIOT_COMMAND_TYPE_f64:
        f64 = draw_f64(rng);
        memcpy(room, &f64, 8);
        break;
    case FOLIOT_COMMAND_TYPE_real: // half of them exact in binary32
        f64 = bits & 1 ? draw_f64(rng) : (double)draw_f32(rng);
        memcpy(room, &f64, 8);
        break;
    case FOLIOT_COMMAND_TYPE_body:
    case FOLIOT_COMMAND_TYPE_joint:
        bits = bits >> 32 ? bits : 0; // an id, or none
        memcpy(room, &bits, 8);
        break;
    case FOLIOT_COMMAND_TYPE_text: {
        const char *at = texts[*text];
        bool key = strcmp(field->name, "key") == 0;
        draw_text(rng, texts[(*text)++], key ? FOLIOT_VAR_KEY_BYTES : FOLIOT_VAR_TEXT_BYTES);
        memcpy(room, &at, sizeof at);
        break;
    }
    }
}

foliot_command draw_command(foliot__rng *rng, uint32_t kind)
{
    const foliot_command_kind_info *info = foliot_command_kind_get_info(kind);
    foliot_command command = foliot_command_default(kind);
    uint32_t text = 0, value = (uint32_t)(foliot__rng_u64(rng) % 4);
    command.fields =
        info->required | ((uint32_t)foliot__rng_u64(rng) & ((1u << info->field_count) - 1));
    if (kind == FOLIOT_COMMAND_var) // at most one value
        command.fields = info->required | (value ? 1u << value : 0);
    command.sequence = (uint32_t)foliot__rng_u64(rng);
    command.source = (uint32_t)(foliot__rng_u64(rng) % 3);
    for (uint32_t i = 0; i < info->field_count; i++) {
        const foliot_command_field *field = &info->fields[i];
        size_t size = field->type == FOLIOT_COMMAND_TYPE_f32    ? 4
                      : field->type == FOLIOT_COMMAND_TYPE_real ? 8
                                                                : 0; // of vectors alone
        for (uint32_t k = 0; k < field->count && command.fields >> i & 1; k++)
            draw_value(rng, field, (uint8_t *)&command + field->offset + k * size, &text);
    }
    return command;
}

bool commands_equal(const foliot_command *a, const foliot_command *b)
{
    uint8_t bytes[2][1024];
    size_t length = foliot_command_encode(a, bytes[0], sizeof bytes[0]);
    return a->sequence == b->sequence && a->source == b->source &&
           foliot_command_encode(b, bytes[1], sizeof bytes[1]) == length &&
           memcmp(bytes[0], bytes[1], length) == 0;
}
