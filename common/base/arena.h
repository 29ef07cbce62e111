// SPDX-License-Identifier: MIT
// arena.h: memory in chunks that is freed all at once. Blocks never move before that.
#ifndef FOLIOT_BASE_ARENA_H
#define FOLIOT_BASE_ARENA_H

#include <stddef.h>

typedef struct foliot__arena {
    struct foliot__arena_chunk *newest; // NULL: empty; an all-zero arena is empty
} foliot__arena;

// `bytes` aligned to 16, not cleared. NULL if there is no memory.
void *foliot__arena_take(foliot__arena *arena, size_t bytes);
void foliot__arena_free(foliot__arena *arena);

#endif
