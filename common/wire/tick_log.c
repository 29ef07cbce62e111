// SPDX-License-Identifier: MIT
// tick_log.c: a ring of ticks, each a list of inputs out of one pool, and a ring of their commands.
#include "wire/tick_log.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/bytes.h"

#define RUN_BYTES_MAX 3 // a varint of at most 2^20: a run never covers more ticks

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

// -- the ring of commands

void foliot__command_log_init(foliot__command_log *log, uint32_t capacity, size_t bytes_max)
{
    *log = (foliot__command_log){.capacity = capacity, .bytes_max = bytes_max};
}

static void drop_commands(foliot__command_log *log, foliot__tick_commands *c)
{
    free(c->bytes);
    log->bytes -= c->total;
    *c = (foliot__tick_commands){0};
}

void foliot__command_log_clear(foliot__command_log *log)
{
    for (uint32_t i = 0; log->ring && i < log->capacity; i++)
        drop_commands(log, &log->ring[i]);
}

void foliot__command_log_free(foliot__command_log *log)
{
    foliot__command_log_clear(log);
    free(log->ring);
    log->ring = NULL;
}

const foliot__tick_commands *foliot__command_log_find(const foliot__command_log *log, uint64_t tick)
{
    const foliot__tick_commands *c = log->ring ? &log->ring[tick % log->capacity] : NULL;
    return c && c->due && c->tick == tick ? c : NULL;
}

void foliot__command_log_forget(foliot__command_log *log, uint64_t tick)
{
    foliot__tick_commands *c = log->ring ? &log->ring[tick % log->capacity] : NULL;
    if (c && c->due && c->tick == tick)
        drop_commands(log, c);
}

// The place of a tick that has commands; an older one there is dropped. NULL: no memory, or the
// place is a newer tick's.
static foliot__tick_commands *place_of(foliot__command_log *log, uint64_t tick)
{
    if (!log->ring)
        log->ring = calloc(log->capacity, sizeof *log->ring);
    foliot__tick_commands *c = log->ring ? &log->ring[tick % log->capacity] : NULL;
    if (!c || (c->due && c->tick > tick))
        return NULL;
    if (!c->due || c->tick != tick) {
        drop_commands(log, c);
        c->due = true;
        c->tick = tick;
    }
    return c;
}

static bool reserve(foliot__command_log *log, foliot__tick_commands *c, uint32_t total)
{
    if (log->bytes + total > log->bytes_max)
        return false;
    c->bytes = malloc(total);
    if (!c->bytes)
        return false;
    c->total = total;
    log->bytes += total;
    return true;
}

// -- bytes of a tick

static void write_commands(foliot__writer *w, const foliot_command_list *list)
{
    foliot__write_varint(w, list->commands[0].sequence);
    for (uint32_t i = 0; i < list->count; i++) {
        const foliot_command *c = &list->commands[i];
        size_t room = w->bytes ? w->capacity - w->at - 1 : 0;
        foliot__write_u8(w, (uint8_t)c->source);
        w->at += foliot_command_encode(c, w->bytes ? w->bytes + w->at : NULL, room);
    }
}

foliot_status foliot__command_log_put(foliot__command_log *log, uint64_t tick,
                                      const foliot_command_list *list)
{
    foliot__writer count = foliot__writer_of(NULL, 0);
    foliot__tick_commands *c = place_of(log, tick);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    write_commands(&count, list);
    if (!reserve(log, c, (uint32_t)count.at))
        return FOLIOT_STATUS_MEMORY;
    foliot__writer w = foliot__writer_of(c->bytes, c->total);
    write_commands(&w, list);
    FOLIOT_ASSERT(w.status == FOLIOT_STATUS_OK && w.at == c->total);
    c->have = c->total;
    return FOLIOT_STATUS_OK;
}

bool foliot__command_log_receive(foliot__command_log *log, const foliot__commands_part *part)
{
    if (part->total == 0 || part->length == 0 || part->length > part->total ||
        part->offset > part->total - part->length)
        return false;
    foliot__tick_commands *c = place_of(log, part->tick);
    if (!c || (c->total != 0 && c->total != part->total) || c->have != part->offset ||
        (c->total == 0 && !reserve(log, c, part->total)))
        return false;
    memcpy(c->bytes + c->have, part->bytes, part->length);
    c->have += part->length;
    return true;
}

foliot_status foliot__tick_commands_read(const foliot__tick_commands *commands,
                                         foliot_command_list *list)
{
    foliot__reader r = foliot__reader_of(commands->bytes, commands->have);
    uint32_t sequence = (uint32_t)foliot__read_varint(&r, UINT32_MAX), before = list->count;
    while (r.status == FOLIOT_STATUS_OK && r.at < r.length) {
        size_t taken = 0;
        uint8_t source = foliot__read_u8(&r);
        if (source > FOLIOT_COMMAND_SOURCE_RULES || r.status != FOLIOT_STATUS_OK)
            return FOLIOT_STATUS_CORRUPT;
        foliot_status status =
            foliot_command_list_decode(list, r.bytes + r.at, r.length - r.at, &taken);
        if (status != FOLIOT_STATUS_OK)
            return status;
        r.at += taken;
        foliot_command *c = &list->commands[list->count - 1];
        c->source = source;
        c->sequence = sequence + (list->count - 1 - before);
    }
    return r.status;
}

foliot_status foliot__command_log_read(const foliot__command_log *log, uint64_t tick,
                                       foliot_command_list *list)
{
    const foliot__tick_commands *commands = foliot__command_log_find(log, tick);
    foliot_command_list_clear(list);
    foliot_status status = commands ? foliot__tick_commands_read(commands, list) : FOLIOT_STATUS_OK;
    if (status != FOLIOT_STATUS_OK)
        foliot_command_list_clear(list);
    return status;
}

// -- which ticks

// How many ticks from `tick` on, up to `end`, have commands, or have none.
static uint64_t run_length(const foliot__command_log *log, uint64_t tick, uint64_t end, bool with)
{
    uint64_t length = 0;
    while (tick + length < end && (foliot__command_log_find(log, tick + length) != NULL) == with)
        length++;
    return length;
}

// Back from `end` so far that its runs fit: each takes RUN_BYTES_MAX at most.
static uint64_t first_that_fits(const foliot__command_log *log, uint64_t from, uint64_t end)
{
    uint32_t turns = 0;
    uint64_t tick = end;
    bool with = false;
    while (tick > from) {
        bool has = foliot__command_log_find(log, tick - 1) != NULL;
        if (has != with && (turns += 1) > FOLIOT__COMMAND_RUNS_BYTES / RUN_BYTES_MAX - 2)
            return tick;
        with = has;
        tick--;
    }
    return from;
}

size_t foliot__command_runs(const foliot__command_log *log, uint64_t *from, uint64_t *end,
                            bool newest, uint8_t bytes[FOLIOT__COMMAND_RUNS_BYTES])
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT__COMMAND_RUNS_BYTES);
    if (!log->ring)
        return 0;
    if (newest)
        *from = first_that_fits(log, *from, *end);
    for (uint64_t tick = *from; tick < *end;) {
        uint64_t without = run_length(log, tick, *end, false),
                 with = run_length(log, tick + without, *end, true);
        if (with == 0)
            break;
        if (w.at + 2 * RUN_BYTES_MAX > w.capacity) {
            *end = tick + without;
            break;
        }
        foliot__write_varint(&w, without);
        foliot__write_varint(&w, with);
        tick += without + with;
    }
    return w.at;
}

bool foliot__command_runs_read(foliot__command_log *log, uint64_t from, uint64_t end,
                               const uint8_t *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    uint64_t tick = from;
    while (r.status == FOLIOT_STATUS_OK && r.at < length) {
        tick += foliot__read_varint(&r, end - tick);
        uint64_t with = foliot__read_varint(&r, end - tick);
        if (r.status != FOLIOT_STATUS_OK || with == 0)
            return false;
        for (; with > 0; with--)
            place_of(log, tick++);
    }
    return r.status == FOLIOT_STATUS_OK;
}
