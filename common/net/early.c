// SPDX-License-Identifier: MIT
// early.c: early datagrams to bytes and back, and the queue of those that have come.
#include "net/early.h"

#include <stdlib.h>
#include <string.h>

static void put(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (8 * i));
}

static uint32_t take(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

void foliot__early_head(uint32_t cookie, uint32_t connect_id, uint8_t bytes[FOLIOT__EARLY_HEAD_BYTES])
{
    memcpy(bytes, FOLIOT__EARLY, 8);
    put(bytes + 8, cookie);
    memcpy(bytes + 12, &connect_id, 4); // as ENet writes it: not as a number
}

bool foliot__early_parse(const uint8_t *bytes, size_t length, foliot__early *early)
{
    if (length <= FOLIOT__EARLY_HEAD_BYTES || length > FOLIOT__EARLY_BYTES_MAX || memcmp(bytes, FOLIOT__EARLY, 8) != 0)
        return false;
    *early = (foliot__early){.cookie = take(bytes + 8), .bytes = bytes + FOLIOT__EARLY_HEAD_BYTES,
                             .length = length - FOLIOT__EARLY_HEAD_BYTES};
    memcpy(&early->connect_id, bytes + 12, 4);
    return true;
}

static bool room(foliot__early_queue *queue)
{
    if (queue->first > 0 && queue->first == queue->count)
        queue->first = queue->count = 0;
    if (queue->count < queue->capacity)
        return true;
    size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
    foliot__early_entry *entries = realloc(queue->entries, capacity * sizeof *entries);
    if (!entries)
        return false;
    queue->entries = entries;
    queue->capacity = capacity;
    return true;
}

bool foliot__early_push(foliot__early_queue *queue, foliot_peer_id peer, const uint8_t *bytes, size_t length)
{
    foliot__early_entry entry = {.peer = peer, .length = length};
    if (!room(queue) || (bytes && !(entry.bytes = malloc(length))))
        return false;
    if (bytes)
        memcpy(entry.bytes, bytes, length);
    queue->entries[queue->count++] = entry;
    return true;
}

bool foliot__early_pop(foliot__early_queue *queue, foliot__early_entry *entry)
{
    if (queue->first == queue->count)
        return false;
    *entry = queue->entries[queue->first++];
    return true;
}

void foliot__early_close(foliot__early_queue *queue)
{
    foliot__early_entry entry;
    while (foliot__early_pop(queue, &entry))
        free(entry.bytes);
    free(queue->entries);
    *queue = (foliot__early_queue){0};
}
