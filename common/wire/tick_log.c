// SPDX-License-Identifier: MIT
// tick_log.c: a ring of ticks, each a list of inputs out of one pool.
#include "wire/tick_log.h"

#include <stdlib.h>

foliot_status foliot__tick_log_init(foliot__tick_log *log, uint32_t ticks, uint32_t inputs)
{
    *log = (foliot__tick_log){.capacity = 1, .node_count = inputs};
    while (log->capacity < ticks)
        log->capacity *= 2;
    log->ticks = calloc(log->capacity, sizeof *log->ticks);
    log->nodes = calloc(inputs, sizeof *log->nodes);
    if (!log->ticks || !log->nodes) {
        foliot__tick_log_free(log);
        return FOLIOT_STATUS_MEMORY;
    }
    foliot__tick_log_clear(log, 0);
    return FOLIOT_STATUS_OK;
}

void foliot__tick_log_free(foliot__tick_log *log)
{
    free(log->ticks);
    free(log->nodes);
    *log = (foliot__tick_log){0};
}

void foliot__tick_log_clear(foliot__tick_log *log, uint64_t first)
{
    for (uint32_t i = 0; i < log->capacity; i++)
        log->ticks[i] = (struct foliot__logged_tick){.node = FOLIOT__NO_NODE};
    for (uint32_t i = 0; i < log->node_count; i++)
        log->nodes[i].next = i + 1 < log->node_count ? i + 1 : FOLIOT__NO_NODE;
    log->free_node = log->node_count ? 0 : FOLIOT__NO_NODE;
    log->used = 0;
    log->first = log->next = log->end = first;
}

static struct foliot__logged_tick *place(const foliot__tick_log *log, uint64_t tick)
{
    return &log->ticks[tick & (log->capacity - 1)];
}

bool foliot__tick_log_has(const foliot__tick_log *log, uint64_t tick)
{
    return tick >= log->first && tick < log->end && place(log, tick)->here;
}

foliot_status foliot__tick_log_put(foliot__tick_log *log, uint64_t tick, const foliot_input *inputs,
                                   uint32_t count)
{
    if (tick < log->first || foliot__tick_log_has(log, tick))
        return FOLIOT_STATUS_AGAIN;
    if (tick - log->first >= log->capacity || count > log->node_count - log->used)
        return FOLIOT_STATUS_FULL;
    uint32_t *link = &place(log, tick)->node;
    place(log, tick)->count = count;
    place(log, tick)->here = true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t node = log->free_node;
        log->free_node = log->nodes[node].next;
        log->nodes[node].input = inputs[i];
        *link = node;
        link = &log->nodes[node].next;
    }
    *link = FOLIOT__NO_NODE;
    log->used += count;
    if (tick >= log->end)
        log->end = tick + 1;
    while (log->next < log->end && place(log, log->next)->here)
        log->next++;
    return FOLIOT_STATUS_OK;
}

uint32_t foliot__tick_log_read(const foliot__tick_log *log, uint64_t tick, foliot_input *inputs,
                               uint32_t capacity)
{
    if (!foliot__tick_log_has(log, tick))
        return 0;
    uint32_t at = 0;
    for (uint32_t node = place(log, tick)->node; node != FOLIOT__NO_NODE && at < capacity;
         node = log->nodes[node].next)
        inputs[at++] = log->nodes[node].input;
    return place(log, tick)->count;
}

void foliot__tick_log_rewrite(foliot__tick_log *log, uint64_t tick, const foliot_input *inputs)
{
    if (!foliot__tick_log_has(log, tick))
        return;
    for (uint32_t node = place(log, tick)->node; node != FOLIOT__NO_NODE;
         node = log->nodes[node].next)
        log->nodes[node].input = *inputs++;
}

static void drop(foliot__tick_log *log, uint64_t tick)
{
    struct foliot__logged_tick *t = place(log, tick);
    for (uint32_t node = t->node; t->here && node != FOLIOT__NO_NODE;) {
        uint32_t next = log->nodes[node].next;
        log->nodes[node].next = log->free_node;
        log->free_node = node;
        log->used--;
        node = next;
    }
    *t = (struct foliot__logged_tick){.node = FOLIOT__NO_NODE};
}

void foliot__tick_log_forget(foliot__tick_log *log, uint64_t tick)
{
    if (tick <= log->first)
        return;
    for (uint64_t t = log->first; t < log->end && t < tick; t++)
        drop(log, t);
    log->first = tick;
    if (log->end < tick)
        log->end = tick;
    if (log->next < tick)
        log->next = tick;
    while (log->next < log->end && place(log, log->next)->here)
        log->next++;
}
