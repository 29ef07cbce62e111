// SPDX-License-Identifier: MIT
// impairment.c: the text form of an impairment, as --impair takes it. One table of keys.
#include "foliot/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct unit {
    const char *name;
    double factor;
} unit;

static const unit share_units[] = {{"%", 0.01}, {"", 1}, {NULL, 0}};
static const unit time_units[] = {{"ms", 1}, {"s", 1000}, {"us", 1e-3}, {"", 1}, {NULL, 0}};
static const unit rate_units[] = {{"mbit", 1e6}, {"kbit", 1e3}, {"gbit", 1e9},
                                  {"bit", 1},    {"", 1},       {NULL, 0}};
static const unit size_units[] = {{"k", 1024}, {"m", 1048576}, {"", 1}, {NULL, 0}};
static const unit plain_units[] = {{"", 1}, {NULL, 0}};

typedef struct key {
    const char *name;
    const unit *units;
    double low, high;
    size_t offset; // of a double
    const char *wants;
} key;

#define AT(member) offsetof(foliot_impairment, member)
static const key keys[] = {
    {"loss", share_units, 0, 1, AT(loss), "a share such as 5% or 0.05, at most 100%"},
    {"duplicate", share_units, 0, 1, AT(duplicate), "a share such as 1%, at most 100%"},
    {"reorder", share_units, 0, 1, AT(reorder), "a share such as 2%, at most 100%"},
    {"delay", time_units, 0, 60000, AT(delay_ms), "a time such as 50ms, at most 60s"},
    {"burst", plain_units, 1, 1000, AT(burst), "a mean run of losses, 1 to 1000"},
    {"mtu", plain_units, 100, 65535, AT(mtu_bytes), "bytes of a datagram, 100 to 65535"},
    {"rate", rate_units, 1000, 1e12, AT(rate_bits), "bits a second such as 1mbit, at least 1kbit"},
};

// A number without sign and exponent, and its unit.
static bool measure(const char *text, const unit *units, double *value)
{
    size_t digits = strspn(text, "0123456789.");
    char *end;
    double number = strtod(text, &end);
    if (digits == 0 || end != text + digits)
        return false;
    for (; units->name; units++)
        if (strcasecmp(end, units->name) == 0) {
            *value = number * units->factor;
            return true;
        }
    return false;
}

static const char *take_jitter(foliot_impairment *i, const char *value)
{
    char low[32] = "0";
    const char *dash = strchr(value, '-'), *high = dash ? dash + 1 : value;
    if (dash && (size_t)(dash - value) < sizeof low)
        snprintf(low, sizeof low, "%.*s", (int)(dash - value), value);
    bool good = measure(low, time_units, &i->jitter_ms_min) &&
                measure(high, time_units, &i->jitter_ms_max) &&
                i->jitter_ms_min <= i->jitter_ms_max && i->jitter_ms_max <= 60000;
    return good ? NULL : "a range such as 0-100ms, at most 60s";
}

static const char *take_kind(foliot_impairment *i, const char *value)
{
    static const char *const kinds[] = {"uniform", "normal", "correlated"};
    for (int k = 0; k < 3; k++)
        if (strcmp(value, kinds[k]) == 0) {
            i->jitter_kind = (foliot_jitter_kind)k;
            return NULL;
        }
    return "uniform, normal or correlated";
}

// NULL, or what was expected instead.
static const char *take(foliot_impairment *i, const char *name, const char *value)
{
    double number;
    char *end;
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
        if (strcmp(name, keys[k].name) == 0) {
            if (!measure(value, keys[k].units, &number) || number < keys[k].low ||
                number > keys[k].high)
                return keys[k].wants;
            memcpy((char *)i + keys[k].offset, &number, sizeof number);
            return NULL;
        }
    if (strcmp(name, "jitter") == 0)
        return take_jitter(i, value);
    if (strcmp(name, "jitter-kind") == 0)
        return take_kind(i, value);
    if (strcmp(name, "queue") == 0) {
        if (!measure(value, size_units, &number) || number < 1500 || number > 1e9)
            return "bytes such as 64k, at least 1500";
        i->queue_bytes = (uint32_t)number;
        return NULL;
    }
    if (strcmp(name, "seed") == 0) {
        i->seed = strtoull(value, &end, 0);
        return *value >= '0' && *value <= '9' && *end == 0 ? NULL : "a whole number";
    }
    return "a key of loss, burst, delay, jitter, jitter-kind, duplicate, reorder, rate, mtu, "
           "queue, seed";
}

foliot_status foliot_impairment_parse(const char *text, foliot_impairment *impairment,
                                      char *problem, size_t problem_bytes)
{
    foliot_impairment result = {.burst = 1, .seed = 1};
    char copy[512], *rest = copy, *name;
    const char *seen[16];
    size_t seen_count = 0;
    if (!problem)
        problem_bytes = 0;
    if (strlen(text) >= sizeof copy) {
        snprintf(problem, problem_bytes, "an impairment has fewer than %zu characters",
                 sizeof copy);
        return FOLIOT_STATUS_INVALID;
    }
    strcpy(copy, text);
    while ((name = strsep(&rest, ",")) != NULL) {
        char *equals = strchr(name, '='), *value = equals ? equals + 1 : name + strlen(name);
        if (equals)
            *equals = 0;
        const char *wants = take(&result, name, value);
        for (size_t i = 0; i < seen_count && !wants; i++)
            wants = strcmp(seen[i], name) == 0 ? "every key once" : NULL;
        if (wants) {
            snprintf(problem, problem_bytes, "%s%s%s: expected %s", name, equals ? "=" : "", value,
                     wants);
            return FOLIOT_STATUS_INVALID;
        }
        seen[seen_count++] = name; // there are fewer keys than room
    }
    *impairment = result;
    return FOLIOT_STATUS_OK;
}
