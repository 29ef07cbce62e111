// SPDX-License-Identifier: MIT
// parts.c: the state of a simulation that is no world, as its module's table names it: parts and
// fields. Without parts, the captured bytes.

#include "base/json.h"
#include "base/text.h"
#include "tool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static char *captured_hex(const foliot_simulation *s)
{
    size_t length = 0;
    if (foliot_simulation_capture(s, NULL, 0, &length) != FOLIOT_STATUS_OK)
        return NULL;
    uint8_t *bytes = malloc(length + 1);
    char *text = malloc(2 * length + 1);
    if (!bytes || !text ||
        foliot_simulation_capture(s, bytes, length, &length) != FOLIOT_STATUS_OK) {
        free(bytes);
        free(text);
        return NULL;
    }
    for (size_t i = 0; i < length; i++)
        snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    text[2 * length] = 0;
    free(bytes);
    return text;
}

static uint32_t part_count(const foliot_simulation *s)
{
    return s->kind->part_count ? s->kind->part_count(s->self) : 0;
}

// -- JSON

static void put_field(foliot__json *json, const foliot_simulation_field *field, uint32_t index)
{
    char number[16];
    double real;
    uint32_t low = (uint32_t)field->bits;
    float narrow;
    snprintf(number, sizeof number, "%" PRIu32, index);
    const char *name = field->name ? field->name : number;
    memcpy(&real, &field->bits, sizeof real);
    memcpy(&narrow, &low, sizeof narrow);
    if (field->type == FOLIOT_VALUE_F64 || field->type == FOLIOT_VALUE_F32)
        foliot__json_real(json, name, field->type == FOLIOT_VALUE_F64 ? real : (double)narrow);
    else if (field->type == FOLIOT_VALUE_I64)
        foliot__json_integer(json, name, (int64_t)field->bits);
    else
        foliot__json_count(json, name, field->bits);
}

static void put_part(foliot__json *json, const foliot_simulation *s, uint32_t part)
{
    foliot_simulation_part about;
    foliot_simulation_field *fields = foliot__part_fields(s->kind, s->self, part, &about);
    if (!fields)
        return;
    foliot__json_object(json, NULL);
    foliot__json_text(json, "part", about.group);
    if (about.index == FOLIOT_PART_ALONE)
        foliot__json_null(json, "index");
    else
        foliot__json_count(json, "index", about.index);
    foliot__json_object(json, "fields");
    for (uint32_t i = 0; i < about.field_count; i++)
        put_field(json, &fields[i], i);
    foliot__json_close(json);
    foliot__json_close(json);
    free(fields);
}

void parts_put_json(const foliot_simulation *s)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot__json json = foliot__json_to(stdout);
    foliot_digest_print(foliot_simulation_get_digest(s), digest);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "simulation", s->kind->name);
    foliot__json_count(&json, "tick", foliot_simulation_get_tick(s));
    foliot__json_text(&json, "digest", digest);
    foliot__json_array(&json, "parts");
    for (uint32_t i = 0; i < part_count(s); i++)
        put_part(&json, s, i);
    foliot__json_close(&json);
    if (!s->kind->part_count) {
        char *hex = captured_hex(s);
        foliot__json_text(&json, "bytes", hex);
        free(hex);
    }
    foliot__json_close(&json);
    foliot__json_line(&json);
}

// -- text

// A module's own text, made safe for a terminal.
static void print_line(const char *line, size_t length)
{
    char text[512], clean[512];
    snprintf(text, sizeof text, "%.*s", (int)(length < sizeof text ? length : sizeof text - 1),
             line);
    puts(foliot__text_clean(clean, sizeof clean, text));
}

void parts_print_text(const foliot_simulation *s)
{
    char digest[FOLIOT_DIGEST_TEXT_BYTES], number[FOLIOT__FIELD_TEXT_BYTES];
    foliot_digest_print(foliot_simulation_get_digest(s), digest);
    printf("tick %" PRIu64 ", digest %s\n", foliot_simulation_get_tick(s), digest);
    for (uint32_t i = 0; i < part_count(s); i++) {
        foliot_simulation_part about;
        foliot_simulation_field *fields = foliot__part_fields(s->kind, s->self, i, &about);
        char title[160];
        if (about.index == FOLIOT_PART_ALONE)
            snprintf(title, sizeof title, "%s", about.group);
        else
            snprintf(title, sizeof title, "%s %" PRIu64, about.group, about.index);
        print_line(title, strlen(title));
        for (uint32_t k = 0; fields && k < about.field_count; k++)
            printf("  %-16s  %s\n", fields[k].name ? fields[k].name : "",
                   foliot__field_text(&fields[k], number));
        free(fields);
    }
    char *hex = s->kind->part_count ? NULL : captured_hex(s);
    for (size_t at = 0; hex && hex[at]; at += strnlen(hex + at, 64))
        printf("  %.64s\n", hex + at);
    free(hex);
}

// -- comma-separated values

void parts_put_csv(const foliot_simulation *s)
{
    char number[FOLIOT__FIELD_TEXT_BYTES];
    for (uint32_t i = 0; i < part_count(s); i++) {
        foliot_simulation_part about;
        foliot_simulation_field *fields = foliot__part_fields(s->kind, s->self, i, &about);
        for (uint32_t k = 0; fields && k < about.field_count; k++) {
            printf("%" PRIu64 ",%s,", foliot_simulation_get_tick(s), about.group);
            if (about.index != FOLIOT_PART_ALONE)
                printf("%" PRIu64, about.index);
            printf(",%s,%s\n", fields[k].name ? fields[k].name : "",
                   foliot__field_text(&fields[k], number));
        }
        free(fields);
    }
}
