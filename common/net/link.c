// SPDX-License-Identifier: MIT
// link.c: the model of a bad network. Every packet draws the same numbers in the same order, so
// that a seed and a sequence of packets give the same fates whatever options are zero.
#include "net/link.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "foliot/transport.h"

#define HELD_PACKETS 2    // that pass before a held one continues
#define HELD_NS 50000000u // or this time, when nothing else comes
#define QUEUE_BYTES_DEFAULT 65536

void foliot__impaired_link_init(foliot__impaired_link *link, const foliot_impairment *impairment,
                                foliot_transport_counters *counters)
{
    *link = (foliot__impaired_link){.impairment = *impairment, .counters = counters, .walk = 0.5};
    link->rng = foliot__rng_seeded(impairment->seed);
}

void foliot__impaired_link_close(foliot__impaired_link *link)
{
    for (size_t i = 0; i < link->count; i++)
        free(link->heap[i].bytes);
    for (unsigned i = 0; i < link->held_count; i++)
        free(link->held[i].bytes);
    free(link->heap);
    *link = (foliot__impaired_link){0};
}

bool foliot__impairment_none(const foliot_impairment *i)
{
    return i->loss <= 0 && i->duplicate <= 0 && i->reorder <= 0 && i->delay_ms <= 0 &&
           i->jitter_ms_max <= 0 && i->rate_bits <= 0 && i->mtu_bytes <= 0;
}

// Gilbert's model (1960): runs of losses of mean length `burst`, the overall share being `loss`.
static bool lost(foliot__impaired_link *link, double draw)
{
    const foliot_impairment *i = &link->impairment;
    if (i->burst <= 1 || i->loss >= 1)
        return draw < i->loss;
    double leave = 1 / i->burst, enter = leave * i->loss / (1 - i->loss);
    link->in_burst = link->in_burst ? draw >= leave : draw < enter;
    return link->in_burst;
}

static double jitter_ms(foliot__impaired_link *link, double u1, double u2)
{
    const foliot_impairment *i = &link->impairment;
    double width = i->jitter_ms_max - i->jitter_ms_min;
    switch (i->jitter_kind) {
    case FOLIOT_JITTER_NORMAL:
        // A standard normal value from two uniform ones (Box and Muller 1958).
        return fabs(i->jitter_ms_min +
                    width * (sqrt(-2 * log(1 - u1)) * cos(6.283185307179586 * u2)));
    case FOLIOT_JITTER_CORRELATED:
        link->walk = fmin(1, fmax(0, link->walk + 0.2 * (u1 - 0.5)));
        return i->jitter_ms_min + width * link->walk;
    case FOLIOT_JITTER_UNIFORM:
    default:
        return i->jitter_ms_min + width * u1;
    }
}

// Computes when the last bit of a packet sent at `at_ns` has left the rate limit's queue; false if
// the queue is full. A packet sent later than now uses its share of the rate now, so that it delays
// no other packet until then.
static bool leave_queue(foliot__impaired_link *link, uint64_t now_ns, uint64_t at_ns, size_t length,
                        uint64_t *left_ns)
{
    const foliot_impairment *i = &link->impairment;
    *left_ns = at_ns;
    if (i->rate_bits <= 0)
        return true;
    uint64_t start = link->busy_until_ns > now_ns ? link->busy_until_ns : now_ns;
    uint64_t length_ns = (uint64_t)((double)length * 8e9 / i->rate_bits);
    uint64_t waits_ns = start > at_ns ? start - at_ns : 0;
    double waiting_bytes = (double)waits_ns * 1e-9 * i->rate_bits / 8;
    if (waiting_bytes + (double)length > (i->queue_bytes ? i->queue_bytes : QUEUE_BYTES_DEFAULT))
        return false;
    link->busy_until_ns = start + length_ns;
    *left_ns = link->busy_until_ns > at_ns + length_ns ? link->busy_until_ns : at_ns + length_ns;
    return true;
}

bool foliot__impaired_link_fate(foliot__impaired_link *link, uint64_t now_ns, uint64_t at_ns,
                                size_t length, uint64_t *due_ns)
{
    double loss_draw = foliot__rng_unit(&link->rng);
    double u1 = foliot__rng_unit(&link->rng);
    double u2 = foliot__rng_unit(&link->rng);
    uint64_t left_ns;
    double jitter = jitter_ms(link, u1, u2);
    if (lost(link, loss_draw)) {
        link->counters->packets_lost++;
        return false;
    }
    if (!leave_queue(link, now_ns, at_ns, length, &left_ns)) {
        link->counters->packets_queue_full++;
        return false;
    }
    *due_ns = left_ns + (uint64_t)((link->impairment.delay_ms + jitter) * 1e6);
    if (link->impairment.jitter_kind == FOLIOT_JITTER_CORRELATED && *due_ns < link->last_due_ns)
        *due_ns = link->last_due_ns;
    if (at_ns == now_ns)
        link->last_due_ns = *due_ns;
    return true;
}

static bool before(const foliot__packet *a, const foliot__packet *b)
{
    return a->due_ns < b->due_ns || (a->due_ns == b->due_ns && a->order < b->order);
}

static void swap(foliot__packet *a, foliot__packet *b)
{
    foliot__packet t = *a;
    *a = *b;
    *b = t;
}

static foliot_status insert(foliot__impaired_link *link, foliot__packet packet)
{
    if (!foliot__array_grow(&link->heap, link->count, &link->capacity, 64, sizeof *link->heap)) {
        free(packet.bytes);
        return FOLIOT_STATUS_MEMORY;
    }
    packet.order = link->order++;
    size_t at = link->count++;
    link->heap[at] = packet;
    for (; at > 0 && before(&link->heap[at], &link->heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&link->heap[at], &link->heap[(at - 1) / 2]);
    return FOLIOT_STATUS_OK;
}

static foliot_status packet_of(uint64_t due_ns, uint64_t tag, const uint8_t *bytes, size_t length,
                               foliot__packet *packet)
{
    *packet = (foliot__packet){.due_ns = due_ns, .tag = tag, .length = length};
    packet->bytes = malloc(length ? length : 1);
    if (!packet->bytes)
        return FOLIOT_STATUS_MEMORY;
    memcpy(packet->bytes, bytes, length);
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__impaired_link_schedule(foliot__impaired_link *link, uint64_t due_ns,
                                             uint64_t tag, const uint8_t *bytes, size_t length)
{
    foliot__packet packet;
    foliot_status status = packet_of(due_ns, tag, bytes, length, &packet);
    return status == FOLIOT_STATUS_OK ? insert(link, packet) : status;
}

// Packets that were held back continue when enough others have passed.
static void release_held(foliot__impaired_link *link, uint64_t now_ns, bool passed)
{
    for (unsigned i = 0; i < link->held_count;) {
        if (passed && link->held_left[i] > 0)
            link->held_left[i]--;
        if (link->held[i].due_ns > now_ns && link->held_left[i] > 0) {
            i++;
            continue;
        }
        if (insert(link, link->held[i]) != FOLIOT_STATUS_OK) // no memory: as a network loses one
            link->counters->packets_lost++;
        link->held_count--;
        memmove(&link->held[i], &link->held[i + 1], (link->held_count - i) * sizeof link->held[0]);
        memmove(&link->held_left[i], &link->held_left[i + 1], link->held_count - i);
    }
}

foliot_status foliot__impaired_link_push(foliot__impaired_link *link, uint64_t now_ns, uint64_t tag,
                                         const uint8_t *bytes, size_t length)
{
    double duplicate_draw = foliot__rng_unit(&link->rng);
    double reorder_draw = foliot__rng_unit(&link->rng);
    uint64_t due_ns;
    bool arrives = foliot__impaired_link_fate(link, now_ns, now_ns, length, &due_ns);
    foliot_status status = FOLIOT_STATUS_OK;
    if (arrives && reorder_draw < link->impairment.reorder && link->held_count < FOLIOT__HELD_MAX) {
        foliot__packet packet;
        status = packet_of(due_ns + HELD_NS, tag, bytes, length, &packet);
        if (status != FOLIOT_STATUS_OK)
            return status;
        link->held_left[link->held_count] = HELD_PACKETS;
        link->held[link->held_count++] = packet;
        link->counters->packets_reordered++;
        return FOLIOT_STATUS_OK;
    }
    if (arrives)
        status = foliot__impaired_link_schedule(link, due_ns, tag, bytes, length);
    release_held(link, now_ns, arrives);
    if (status != FOLIOT_STATUS_OK || duplicate_draw >= link->impairment.duplicate)
        return status;
    link->counters->packets_duplicated++; // the copy may be lost like any other
    return foliot__impaired_link_fate(link, now_ns, now_ns, length, &due_ns)
               ? foliot__impaired_link_schedule(link, due_ns, tag, bytes, length)
               : FOLIOT_STATUS_OK;
}

static void sift_down(foliot__impaired_link *link)
{
    for (size_t at = 0;;) {
        size_t child = 2 * at + 1;
        if (child >= link->count)
            return;
        if (child + 1 < link->count && before(&link->heap[child + 1], &link->heap[child]))
            child++;
        if (!before(&link->heap[child], &link->heap[at]))
            return;
        swap(&link->heap[child], &link->heap[at]);
        at = child;
    }
}

bool foliot__impaired_link_pop(foliot__impaired_link *link, uint64_t now_ns, foliot__packet *packet)
{
    release_held(link, now_ns, false);
    if (link->count == 0 || link->heap[0].due_ns > now_ns)
        return false;
    *packet = link->heap[0];
    link->heap[0] = link->heap[--link->count];
    sift_down(link);
    return true;
}

uint64_t foliot__impaired_link_next_ns(const foliot__impaired_link *link)
{
    uint64_t next = link->count ? link->heap[0].due_ns : UINT64_MAX;
    for (unsigned i = 0; i < link->held_count; i++)
        if (link->held[i].due_ns < next)
            next = link->held[i].due_ns;
    return next;
}

// -- the text form of an impairment, as --impair takes it. One table of keys.

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

// NULL, or what was expected instead.
static const char *read_value(foliot_impairment *i, const char *name, const char *value)
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
    if (strcmp(name, "jitter") == 0) {
        char low[32] = "0";
        const char *dash = strchr(value, '-'), *high = dash ? dash + 1 : value;
        if (dash && (size_t)(dash - value) < sizeof low)
            snprintf(low, sizeof low, "%.*s", (int)(dash - value), value);
        bool good = measure(low, time_units, &i->jitter_ms_min) &&
                    measure(high, time_units, &i->jitter_ms_max) &&
                    i->jitter_ms_min <= i->jitter_ms_max && i->jitter_ms_max <= 60000;
        return good ? NULL : "a range such as 0-100ms, at most 60s";
    }
    if (strcmp(name, "jitter-kind") == 0) {
        static const char *const kinds[] = {"uniform", "normal", "correlated"};
        for (int k = 0; k < 3; k++)
            if (strcmp(value, kinds[k]) == 0) {
                i->jitter_kind = (foliot_jitter_kind)k;
                return NULL;
            }
        return "uniform, normal or correlated";
    }
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
                                      foliot_error *error)
{
    foliot_impairment result = {.burst = 1, .seed = 1};
    char copy[512], *rest = copy, *name;
    const char *seen[16];
    size_t seen_count = 0;
    if (strlen(text) >= sizeof copy)
        return foliot_error_set(error, FOLIOT_STATUS_INVALID,
                                "an impairment has fewer than %zu characters", sizeof copy);
    strcpy(copy, text);
    while ((name = strsep(&rest, ",")) != NULL) {
        char *equals = strchr(name, '='), *value = equals ? equals + 1 : name + strlen(name);
        if (equals)
            *equals = 0;
        const char *wants = read_value(&result, name, value);
        for (size_t i = 0; i < seen_count && !wants; i++)
            wants = strcmp(seen[i], name) == 0 ? "every key once" : NULL;
        if (wants)
            return foliot_error_set(error, FOLIOT_STATUS_INVALID, "%s%s%s: expected %s", name,
                                    equals ? "=" : "", value, wants);
        seen[seen_count++] = name; // there are fewer keys than room
    }
    *impairment = result;
    return FOLIOT_STATUS_OK;
}
