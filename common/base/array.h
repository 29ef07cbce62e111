// SPDX-License-Identifier: MIT
// array.h: arrays that grow by doubling, and bisection. Knows nothing of their content.
#ifndef FOLIOT_BASE_ARRAY_H
#define FOLIOT_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// In all of these `array` is the address of the pointer to the items, which changes when they move.
// False: there is no memory, and the array stays as it was.

// Room for exactly `count` items.
bool foliot__array_resize(void *array, size_t count, size_t item_bytes);
// Room for `wanted` items. An array that is too small gets room for `room`, which is no less.
bool foliot__array_reserve(void *array, uint32_t *capacity, size_t wanted, size_t room,
                           size_t item_bytes);

// Room for one more than `count`. The array doubles; at first it has room for `least`.
static inline bool foliot__array_grow(void *array, uint32_t count, uint32_t *capacity,
                                      uint32_t least, size_t item_bytes)
{
    return foliot__array_reserve(array, capacity, (size_t)count + 1,
                                 *capacity ? 2 * (size_t)*capacity : least, item_bytes);
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
