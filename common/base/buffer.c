// SPDX-License-Identifier: MIT
// buffer.c: the buffers that records are written into, apart from pack.c: a build without msgpack-c
// has them, too.
#include <stdlib.h>
#include <string.h>

#include "base/pack.h"

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
