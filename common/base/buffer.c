// SPDX-License-Identifier: MIT
// buffer.c: arrays that grow, and the buffers that records are written into, apart from pack.c: a
// build without msgpack-c has them, too.
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/pack.h"

bool foliot__array_resize(void *array, size_t count, size_t item_bytes)
{
    void *items;
    memcpy(&items, array, sizeof items);
    items = count > SIZE_MAX / item_bytes ? NULL : realloc(items, count ? count * item_bytes : 1);
    if (items)
        memcpy(array, &items, sizeof items);
    return items != NULL;
}

bool foliot__array_reserve(void *array, uint32_t *capacity, size_t wanted, size_t room,
                           size_t item_bytes)
{
    if (wanted <= *capacity)
        return true;
    if (room > UINT32_MAX || !foliot__array_resize(array, room, item_bytes))
        return false;
    *capacity = (uint32_t)room;
    return true;
}

bool foliot__buffer_reserve(foliot__buffer *buffer, size_t capacity)
{
    if (capacity <= buffer->capacity)
        return true;
    uint8_t *bytes = buffer->fixed ? NULL : realloc(buffer->bytes, capacity);
    if (!bytes) {
        buffer->failed = true;
        return false;
    }
    buffer->bytes = bytes;
    buffer->capacity = capacity;
    return true;
}

void foliot__buffer_free(foliot__buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (foliot__buffer){0};
}

void foliot__pack_raw(foliot__buffer *buffer, const void *bytes, size_t count)
{
    size_t needed = buffer->length + count;
    if (needed > buffer->capacity && !foliot__buffer_reserve(buffer, needed + needed / 2 + 256))
        return;
    if (count)
        memcpy(buffer->bytes + buffer->length, bytes, count);
    buffer->length = needed;
}
