// SPDX-License-Identifier: MIT
// array.h: arrays that grow by doubling, and bisection. Knows nothing of their content.
#ifndef FOLIOT_BASE_ARRAY_H
#define FOLIOT_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The array of `*capacity` items of which `count` are in use, with room for one more: the same, or
// moved to twice the room, at first `least` items. NULL: there is no memory, and the array stays as
// it was.
static inline void *foliot__array_with_room(void *items, uint32_t count, uint32_t *capacity,
                                            uint32_t least, size_t item_bytes)
{
    if (count < *capacity)
        return items;
    size_t wanted = *capacity ? 2 * (size_t)*capacity : least;
    if (wanted > UINT32_MAX || wanted > SIZE_MAX / item_bytes)
        return NULL;
    void *larger = realloc(items, wanted * item_bytes);
    if (larger)
        *capacity = (uint32_t)wanted;
    return larger;
}

// The first of items in ascending order whose key is not below `key`; `count` if there is none. An
// item begins with its key, as with a tick.
static inline uint32_t foliot__array_lower_bound(const void *items, uint32_t count,
                                                 size_t item_bytes, uint64_t key)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        uint64_t found;
        memcpy(&found, (const char *)items + item_bytes * middle, sizeof found);
        if (found < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

#endif
