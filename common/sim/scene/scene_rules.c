// SPDX-License-Identifier: MIT
// scene_rules.c: how the check of a scene reports a problem and its place. Only the first problem
// is kept.
#include "sim/math/floating_point.h"

#include "sim/scene/scene_rules.h"

#include <stdarg.h>
#include <stdio.h>

double foliot__norm2(const double *v, unsigned count)
{
    double sum = 0;
    for (unsigned k = 0; k < count; k++)
        sum += v[k] * v[k];
    return sum;
}

// -- problems

void foliot__complain(foliot__checker *c, foliot_status status, foliot__scene_place at,
                      const char *key, const char *format, ...)
{
    if (c->status != FOLIOT_STATUS_OK)
        return;
    c->status = status;
    if (!c->error)
        return;
    *c->error = (foliot_error){.status = status};
    char *path = c->error->path, *text = c->error->text;
    const size_t path_bytes = sizeof c->error->path, text_bytes = sizeof c->error->text;
    const char *dot = at.list && *key ? "." : "";
    if (at.list && at.index != FOLIOT__NOWHERE)
        snprintf(path, path_bytes, "%s[%u]%s%s", at.list, (unsigned)at.index, dot, key);
    else
        snprintf(path, path_bytes, "%s%s%s", at.list ? at.list : "", dot, key);
    int used = snprintf(text, text_bytes, "%s%s", path, *path ? ": " : "");
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + used, text_bytes - (size_t)used, format, arguments);
    va_end(arguments);
}

// -- ranges

bool foliot__in_range(foliot__range kind, double x)
{
    if (!(x - x == 0))
        return false;
    switch (kind) {
#define RANGE_CASE(kind_, condition, text)                                                         \
    case FOLIOT__##kind_:                                                                          \
        return condition;
        FOLIOT__RANGE_LIST(RANGE_CASE)
#undef RANGE_CASE
    }
    return false;
}

const char *foliot__range_text(foliot__range kind)
{
    static const char *const texts[] = {
#define RANGE_TEXT(kind_, condition, text) text,
        FOLIOT__RANGE_LIST(RANGE_TEXT)
#undef RANGE_TEXT
    };
    return texts[kind];
}

void foliot__check_rules(foliot__checker *c, foliot__scene_place at, const foliot__rule *rules,
                         const void *definition)
{
    for (const foliot__rule *r = rules; r->key && c->status == FOLIOT_STATUS_OK; r++) {
        const double *values = (const double *)(const void *)((const char *)definition + r->offset);
        for (unsigned k = 0; k < r->count; k++) {
            if (foliot__in_range(r->kind, values[k]))
                continue;
            char key[48];
            snprintf(key, sizeof key, r->count > 1 ? "%s[%u]" : "%s", r->key, k);
            foliot__complain(c, FOLIOT_STATUS_INVALID, at, key, "%s", foliot__range_text(r->kind));
        }
    }
}

// -- names

// Length in bytes of the UTF-8 character at `s` whose code is put into *code; 0 if it is none.
static unsigned utf8_next(const unsigned char *s, uint32_t *code)
{
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    unsigned count = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    *code = s[0] & (0x7fu >> count);
    for (unsigned k = 1; k < count; k++) {
        if ((s[k] & 0xc0) != 0x80)
            return 0;
        *code = *code << 6 | (s[k] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    bool surrogate = *code >= 0xd800 && *code <= 0xdfff;
    return *code < least[count] || *code > 0x10ffff || surrogate ? 0 : count;
}

// NULL where the name may be shown on a terminal and fits; else what is wrong with it.
const char *foliot__name_fault(const char *name)
{
    size_t length = 0;
    while (length < FOLIOT_NAME_BYTES && name[length])
        length++;
    if (length == FOLIOT_NAME_BYTES)
        return "must be at most 63 bytes long";
    for (const unsigned char *at = (const unsigned char *)name; *at;) {
        uint32_t code;
        unsigned bytes = utf8_next(at, &code);
        if (bytes == 0)
            return "must be UTF-8";
        if (code < 0x20 || (code >= 0x7f && code < 0xa0))
            return "must not contain control characters";
        at += bytes;
    }
    return NULL;
}
