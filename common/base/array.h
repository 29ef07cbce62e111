// SPDX-License-Identifier: MIT
// array.h: arrays that grow by doubling. Knows nothing of what is in them.
#ifndef FOLIOT_BASE_ARRAY_H
#define FOLIOT_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

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

#endif
