// SPDX-License-Identifier: MIT
// json.c: writes JSON (RFC 8259) directly, without a tree. It keeps two bits for each level of
// nesting.
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/assert.h"
#include "base/text.h"

#define DECIMALS_BELOW 1e15 // where a double still has decimals

foliot__json foliot__json_to(FILE *out)
{
    return (foliot__json){.out = out};
}

static void quote(FILE *out, const char *text)
{
    fputc('"', out);
    while (*text) {
        uint32_t c;
        size_t length = foliot__utf8_decode(text, &c);
        if (length == 0)
            fputs("\\ufffd", out);
        else if (c == '"' || c == '\\')
            fprintf(out, "\\%c", (char)c);
        else if (c == '\n')
            fputs("\\n", out);
        else if (c == '\t')
            fputs("\\t", out);
        else if (!foliot__printable(c) && c > 0xffff)
            fprintf(out, "\\u%04x\\u%04x", (unsigned)(0xd7c0 + (c >> 10)),
                    (unsigned)(0xdc00 + (c & 0x3ff)));
        else if (!foliot__printable(c))
            fprintf(out, "\\u%04x", (unsigned)c);
        else
            fwrite(text, 1, length, out);
        text += length ? length : 1;
    }
    fputc('"', out);
}

// The comma and the key before a value.
static void write_separator(foliot__json *json, const char *key)
{
    uint32_t bit = UINT32_C(1) << (json->depth & 31);
    bool in_object = json->depth > 0 && !(json->is_array & bit);
    FOLIOT_ASSERT(in_object == (key != NULL));
    FOLIOT_ASSERT(json->depth > 0 || !(json->filled & bit));
    if (json->filled & bit)
        fputc(',', json->out);
    json->filled |= bit;
    if (key) {
        quote(json->out, key);
        fputc(':', json->out);
    }
}

static void open(foliot__json *json, const char *key, bool array)
{
    write_separator(json, key);
    FOLIOT_ASSERT(json->depth + 1 < FOLIOT__JSON_DEPTH_MAX);
    json->depth++;
    uint32_t bit = UINT32_C(1) << json->depth;
    json->filled &= ~bit;
    json->is_array = array ? json->is_array | bit : json->is_array & ~bit;
    fputc(array ? '[' : '{', json->out);
}

void foliot__json_object(foliot__json *json, const char *key)
{
    open(json, key, false);
}

void foliot__json_array(foliot__json *json, const char *key)
{
    open(json, key, true);
}

void foliot__json_close(foliot__json *json)
{
    FOLIOT_ASSERT(json->depth > 0);
    fputc(json->is_array >> json->depth & 1 ? ']' : '}', json->out);
    json->depth--;
}

void foliot__json_text(foliot__json *json, const char *key, const char *value)
{
    if (!value) {
        foliot__json_null(json, key);
        return;
    }
    write_separator(json, key);
    quote(json->out, value);
}

static void write_real(foliot__json *json, const char *key, char *text)
{
    // An embedder may have chosen a locale whose point is a comma.
    char *comma = strchr(text, ',');
    if (comma)
        *comma = '.';
    write_separator(json, key);
    fputs(text, json->out);
}

void foliot__json_real(foliot__json *json, const char *key, double value)
{
    char text[40];
    if (value - value != 0) {
        foliot__json_null(json, key);
        return;
    }
    snprintf(text, sizeof text, "%.17g", value);
    write_real(json, key, text);
}

void foliot__json_decimals(foliot__json *json, const char *key, double value, int decimals)
{
    char text[40];
    if (!(fabs(value) < DECIMALS_BELOW)) {
        foliot__json_real(json, key, value);
        return;
    }
    snprintf(text, sizeof text, "%.*f", decimals, value);
    write_real(json, key, text);
}

void foliot__json_reals(foliot__json *json, const char *key, const double *values, uint32_t count)
{
    foliot__json_array(json, key);
    for (uint32_t i = 0; i < count; i++)
        foliot__json_real(json, NULL, values[i]);
    foliot__json_close(json);
}

void foliot__json_count(foliot__json *json, const char *key, uint64_t value)
{
    write_separator(json, key);
    fprintf(json->out, "%" PRIu64, value);
}

void foliot__json_count_if(foliot__json *json, const char *key, bool known, uint64_t value)
{
    if (known)
        foliot__json_count(json, key, value);
    else
        foliot__json_null(json, key);
}

void foliot__json_integer(foliot__json *json, const char *key, int64_t value)
{
    write_separator(json, key);
    fprintf(json->out, "%" PRId64, value);
}

void foliot__json_bool(foliot__json *json, const char *key, bool value)
{
    write_separator(json, key);
    fputs(value ? "true" : "false", json->out);
}

void foliot__json_null(foliot__json *json, const char *key)
{
    write_separator(json, key);
    fputs("null", json->out);
}

void foliot__json_line(foliot__json *json)
{
    while (json->depth > 0)
        foliot__json_close(json);
    fputc('\n', json->out);
    json->filled = 0;
}
