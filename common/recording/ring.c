// SPDX-License-Identifier: MIT
// ring.c: see ring.h. Release on the side that changes a count, acquire on the side that trusts it.
#include "recording/ring.h"

#include <stdlib.h>
#include <string.h>

bool foliot__ring_init(foliot__ring *ring, size_t capacity)
{
    ring->bytes = malloc(capacity);
    ring->capacity = capacity;
    ring->origin = 0;
    atomic_init(&ring->put, 0);
    atomic_init(&ring->taken, 0);
    return ring->bytes != NULL;
}

void foliot__ring_free(foliot__ring *ring)
{
    free(ring->bytes);
    ring->bytes = NULL;
}

size_t foliot__ring_used(const foliot__ring *ring)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_acquire);
    return (size_t)(atomic_load_explicit(&ring->put, memory_order_acquire) - taken);
}

static void copy_in(foliot__ring *ring, uint64_t at, const uint8_t *bytes, size_t count)
{
    size_t start = (size_t)((at - ring->origin) % ring->capacity);
    size_t straight = count < ring->capacity - start ? count : ring->capacity - start;
    if (straight)
        memcpy(ring->bytes + start, bytes, straight);
    if (count > straight)
        memcpy(ring->bytes, bytes + straight, count - straight);
}

bool foliot__ring_put(foliot__ring *ring, const void *first, size_t first_count, const void *second,
                      size_t second_count)
{
    size_t used = foliot__ring_used(ring), left = ring->capacity - used;
    if (first_count > left || second_count > left - first_count)
        return false;
    uint64_t at = atomic_load_explicit(&ring->put, memory_order_relaxed);
    if (used == 0)
        ring->origin = at; // the taking side reads it after it has seen this put
    copy_in(ring, at, first, first_count);
    copy_in(ring, at + first_count, second, second_count);
    atomic_store_explicit(&ring->put, at + first_count + second_count, memory_order_release);
    return true;
}

const uint8_t *foliot__ring_piece(const foliot__ring *ring, size_t skip, size_t count,
                                  size_t *length)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    size_t start = (size_t)((taken + skip - ring->origin) % ring->capacity);
    *length = count < ring->capacity - start ? count : ring->capacity - start;
    return ring->bytes + start;
}

void foliot__ring_peek(const foliot__ring *ring, void *out, size_t count)
{
    size_t length;
    const uint8_t *piece = foliot__ring_piece(ring, 0, count, &length);
    memcpy(out, piece, length);
    if (length < count)
        memcpy((uint8_t *)out + length, ring->bytes, count - length);
}

void foliot__ring_drop(foliot__ring *ring, size_t count)
{
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    atomic_store_explicit(&ring->taken, taken + count, memory_order_release);
}
