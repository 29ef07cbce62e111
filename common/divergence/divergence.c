// SPDX-License-Identifier: MIT
// divergence.c: distances between values, and the report of a divergence as text and as JSON. All
// callers use the same report.
#include "divergence/divergence.h"

#include "base/bytes.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

// -- values

// Bit patterns in the order of the numbers: neighbours differ by one, -0 and 0 too.
static uint64_t ordered(foliot_value_type type, uint64_t bits)
{
    const uint64_t top = (uint64_t)1 << 63, top32 = (uint64_t)1 << 31;
    switch (type) {
    case FOLIOT_VALUE_F64:
        return bits & top ? ~bits : bits | top;
    case FOLIOT_VALUE_F32:
        bits &= UINT32_MAX;
        return bits & top32 ? ~bits & UINT32_MAX : bits | top32;
    case FOLIOT_VALUE_I64:
        return bits ^ top;
    default:
        return bits;
    }
}

uint64_t foliot_value_get_distance(foliot_value_type type, uint64_t a, uint64_t b)
{
    a = ordered(type, a);
    b = ordered(type, b);
    return a > b ? a - b : b - a;
}

uint64_t foliot_value_advance(foliot_value_type type, uint64_t bits, int64_t by)
{
    uint64_t order = ordered(type, bits) + (uint64_t)by;
    const uint64_t top = (uint64_t)1 << 63, top32 = (uint64_t)1 << 31;
    switch (type) {
    case FOLIOT_VALUE_F64:
        return order & top ? order & ~top : ~order;
    case FOLIOT_VALUE_F32:
        order &= UINT32_MAX;
        return order & top32 ? order & ~top32 : ~order & UINT32_MAX;
    case FOLIOT_VALUE_I64:
        return order ^ top;
    default:
        return order;
    }
}

// -- the text

typedef struct text {
    char *bytes;
    size_t capacity, length;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...)
{
    va_list list;
    bool room = t->length < t->capacity;
    va_start(list, format);
    int count = vsnprintf(room ? t->bytes + t->length : NULL, room ? t->capacity - t->length : 0,
                          format, list);
    va_end(list);
    t->length += count > 0 ? (size_t)count : 0;
}

static void say_part(text *t, const foliot_divergence *d)
{
    if (!d->part_known)
        say(t, "not known");
    else if (d->index == FOLIOT_PART_ALONE)
        say(t, "%s", d->group);
    else
        say(t, "%s %" PRIu64, d->group, d->index);
}

static void say_field(text *t, const foliot_divergence *d)
{
    if (d->field_name)
        say(t, "%s", d->field_name);
    else
        say(t, "%" PRIu32, d->field);
}

static double real_of(foliot_value_type type, uint64_t bits)
{
    if (type == FOLIOT_VALUE_F64)
        return foliot__f64_of(bits);
    uint32_t half = (uint32_t)bits;
    float value;
    memcpy(&value, &half, sizeof value);
    return (double)value;
}

static void say_value(text *t, const char *label, foliot_value_type type, uint64_t bits)
{
    say(t, "  %-10s 0x%0*" PRIx64, label, type == FOLIOT_VALUE_F32 ? 8 : 16, bits);
    if (type == FOLIOT_VALUE_F64 || type == FOLIOT_VALUE_F32)
        say(t, "  %-24.*g %a\n", type == FOLIOT_VALUE_F64 ? 17 : 9, real_of(type, bits),
            real_of(type, bits));
    else if (type == FOLIOT_VALUE_I64)
        say(t, "  %" PRId64 "\n", (int64_t)bits);
    else
        say(t, "  %" PRIu64 "\n", bits);
}

static void say_number(text *t, foliot_value_type type, uint64_t bits)
{
    if (type == FOLIOT_VALUE_F64 || type == FOLIOT_VALUE_F32)
        say(t, "%.*g", type == FOLIOT_VALUE_F64 ? 17 : 9, real_of(type, bits));
    else if (type == FOLIOT_VALUE_I64)
        say(t, "%" PRId64, (int64_t)bits);
    else
        say(t, "%" PRIu64, bits);
}

void foliot__divergence_brief(const foliot_divergence *d, const char *expected, const char *actual,
                              char *out, size_t capacity)
{
    text t = {.bytes = out, .capacity = capacity};
    say_part(&t, d);
    say(&t, " ");
    say_field(&t, d);
    say(&t, ": %s ", expected);
    say_number(&t, d->type, d->expected);
    say(&t, ", %s ", actual);
    say_number(&t, d->type, d->actual);
}

static const foliot_divergence_labels nameless;

size_t foliot_divergence_print_text(const foliot_divergence *d,
                                    const foliot_divergence_labels *names, char *bytes,
                                    size_t capacity)
{
    text t = {bytes, capacity, 0};
    names = names ? names : &nameless;
    if (names->title)
        say(&t, "%s: ", names->title);
    say(&t, "DIVERGED at tick %" PRIu64, d->tick);
    if (names->dt > 0)
        say(&t, " (time %.9g)", (double)d->tick * names->dt);
    say(&t, "\n  %-10s %s\n", "stage", d->stage_known ? d->stage_name : "not known");
    if (d->part_known) {
        bool body = d->body != FOLIOT_NO_BODY;
        char clean[FOLIOT_NAME_BYTES];
        say(&t, "  %-10s ", body ? "body" : "part");
        if (body)
            say(&t, "%" PRIu32, d->body);
        else
            say_part(&t, d);
        if (names->part && names->part[0])
            say(&t, " \"%s\"", foliot__text_clean(clean, sizeof clean, names->part));
        say(&t, "\n");
    }
    if (d->not_repeated) {
        say(&t, "  %-10s %s\n", "repeated",
            "the server's own step, from its saved state, gives another state: something that "
            "affects steps is not saved. `foliot-lab synctest` finds it");
        return t.length;
    }
    if (!d->field_known) {
        say(&t, "  %-10s not known%s%s\n", d->part_known ? "field" : "part, field",
            names->unknown ? " " : "", names->unknown ? names->unknown : "");
        return t.length;
    }
    say(&t, "  %-10s ", "field");
    say_field(&t, d);
    say(&t, "\n");
    say_value(&t, names->expected ? names->expected : "expected", d->type, d->expected);
    say_value(&t, names->actual ? names->actual : "actual", d->type, d->actual);
    bool real = d->type == FOLIOT_VALUE_F64 || d->type == FOLIOT_VALUE_F32;
    if (real)
        say(&t, "  %-10s %" PRIu64 " ulp%s\n", "distance", d->ulps, d->ulps == 1 ? "" : "s");
    else
        say(&t, "  %-10s %" PRIu64 "\n", "distance", d->ulps);
    if (d->fields > 1)
        say(&t, "  %-10s %" PRIu32 " fields of %" PRIu32 " %s differ there in all\n", "", d->fields,
            d->parts, d->parts == 1 ? "part" : "parts");
    return t.length;
}

size_t foliot_divergence_print_part(const foliot_divergence *d, char *bytes, size_t capacity)
{
    text t = {bytes, capacity, 0};
    say_part(&t, d);
    return t.length;
}

// -- the JSON

static void put_bits(foliot__json *json, const char *key, bool known, uint64_t bits)
{
    char digits[24];
    snprintf(digits, sizeof digits, "0x%016" PRIx64, bits);
    foliot__json_text(json, key, known ? digits : NULL);
}

// `body` is a body's name or number. For a value outside of bodies, `field` names its place.
static void put_place(foliot__json *json, const foliot_divergence *d, const char *name)
{
    char words[160];
    text t = {words, sizeof words, 0};
    bool body = d->part_known && d->body != FOLIOT_NO_BODY;
    if (body && (!name || !name[0]))
        foliot__json_count(json, "body", d->body);
    else
        foliot__json_text(json, "body", body ? name : NULL);
    if (!body && d->part_known) {
        say_part(&t, d);
        say(&t, " ");
    }
    if (d->field_known)
        say_field(&t, d);
    foliot__json_text(json, "field", d->field_known ? words : NULL);
}

void foliot__divergence_put(foliot__json *json, const foliot_divergence *d,
                            const foliot_divergence_labels *names)
{
    static const foliot_divergence none = {.body = FOLIOT_NO_BODY};
    if (d)
        foliot__json_count(json, "first_bad_tick", d->tick);
    else
        foliot__json_null(json, "first_bad_tick");
    d = d ? d : &none;
    foliot__json_text(json, "stage", d->stage_known ? d->stage_name : NULL);
    put_place(json, d, names ? names->part : NULL);
    if (d->field_known)
        foliot__json_count(json, "ulps", d->ulps);
    else
        foliot__json_null(json, "ulps");
}

void foliot__divergence_put_bits(foliot__json *json, const foliot_divergence *d,
                                 const foliot_divergence_labels *names)
{
    bool known = d && d->field_known;
    names = names ? names : &nameless;
    put_bits(json, names->expected ? names->expected : "expected", known, known ? d->expected : 0);
    put_bits(json, names->actual ? names->actual : "actual", known, known ? d->actual : 0);
}

size_t foliot__print_stream(void (*write)(FILE *out, const void *what), const void *what,
                            char *bytes, size_t capacity)
{
    char *whole = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&whole, &length);
    if (!out)
        return 0;
    write(out, what);
    bool fine = fclose(out) == 0 && whole;
    if (fine && capacity > 0)
        snprintf(bytes, capacity, "%s", whole);
    free(whole);
    return fine ? length : 0;
}

typedef struct labelled {
    const foliot_divergence *divergence;
    const foliot_divergence_labels *names;
} labelled;

static void write_json(FILE *out, const void *what)
{
    const labelled *l = what;
    const foliot_divergence *d = l->divergence;
    foliot__json json = foliot__json_to(out);
    foliot__json_object(&json, NULL);
    if (l->names && l->names->title)
        foliot__json_text(&json, "title", l->names->title);
    foliot__divergence_put(&json, d, l->names);
    foliot__divergence_put_bits(&json, d, l->names);
    foliot__json_bool(&json, "not_repeated", d->not_repeated);
    foliot__json_count(&json, "parts", d->parts);
    foliot__json_count(&json, "fields", d->fields);
    foliot__json_close(&json);
}

size_t foliot_divergence_print_json(const foliot_divergence *d,
                                    const foliot_divergence_labels *names, char *bytes,
                                    size_t capacity)
{
    return foliot__print_stream(write_json, &(labelled){d, names}, bytes, capacity);
}
