// SPDX-License-Identifier: MIT
// ring.h: a bounded lock-free ring of bytes from one thread to another. The writing side never
// waits.
#ifndef FOLIOT_RECORDING_RING_H
#define FOLIOT_RECORDING_RING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `put` and `taken` count bytes since the start; each is changed by one side alone. Bytes that are
// put into an empty ring go to its beginning, so that it touches only the memory of its peak fill.
typedef struct foliot__ring {
    uint8_t *bytes;
    size_t capacity;
    uint64_t origin; // the count at which its memory begins; changed by the putting side while the
                     // ring is empty
    _Atomic uint64_t put, taken;
} foliot__ring;

bool foliot__ring_init(foliot__ring *ring, size_t capacity);
void foliot__ring_free(foliot__ring *ring);

size_t foliot__ring_used(const foliot__ring *ring);
// The writing side: puts both parts completely, or nothing (false).
bool foliot__ring_put(foliot__ring *ring, const void *first, size_t first_count, const void *second,
                      size_t second_count);
// The reading side: copies without removing; `count` bytes must be there.
void foliot__ring_peek(const foliot__ring *ring, void *out, size_t count);
// The longest piece that lies in one stretch from `skip` on, at most `count`.
const uint8_t *foliot__ring_piece(const foliot__ring *ring, size_t skip, size_t count,
                                  size_t *length);
void foliot__ring_drop(foliot__ring *ring, size_t count);

#endif
