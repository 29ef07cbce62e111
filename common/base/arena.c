// SPDX-License-Identifier: MIT
// arena.c: a list of chunks, the newest first. Large requests have a chunk of their own.
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define ALIGNMENT 16u
#define CHUNK_BYTES (256u * 1024)

struct foliot__arena_chunk {
    struct foliot__arena_chunk *older;
    size_t capacity, used; // bytes behind this header
};
#define HEADER_BYTES ((sizeof(struct foliot__arena_chunk) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT)

static struct foliot__arena_chunk *chunk_of(size_t bytes)
{
    size_t capacity = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    struct foliot__arena_chunk *chunk = malloc(HEADER_BYTES + capacity);
    if (chunk)
        *chunk = (struct foliot__arena_chunk){NULL, capacity, 0};
    return chunk;
}

void *foliot__arena_take(foliot__arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    struct foliot__arena_chunk *chunk = arena->newest;
    if (!chunk || chunk->capacity - chunk->used < bytes) {
        chunk = chunk_of(bytes);
        if (!chunk)
            return NULL;
        chunk->older = arena->newest;
        arena->newest = chunk;
    }
    char *taken = (char *)chunk + HEADER_BYTES + chunk->used;
    chunk->used += bytes;
    return taken;
}

void foliot__arena_free(foliot__arena *arena)
{
    for (struct foliot__arena_chunk *chunk = arena->newest, *older; chunk; chunk = older) {
        older = chunk->older;
        free(chunk);
    }
    arena->newest = NULL;
}
