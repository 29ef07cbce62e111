// SPDX-License-Identifier: MIT
// pack.h: records as msgpack, into a buffer that grows or is of a fixed size. Only writers need it.
#ifndef FOLIOT_BASE_PACK_H
#define FOLIOT_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// All zero is an empty one that grows. `fixed`: the bytes are the caller's, and do not grow.
// `failed`: there was no memory or no room, and something is missing.
typedef struct foliot__buffer {
    uint8_t *bytes;
    size_t length, capacity;
    bool fixed, failed;
} foliot__buffer;

bool foliot__buffer_reserve(foliot__buffer *buffer, size_t capacity);
void foliot__buffer_free(foliot__buffer *buffer);
void foliot__pack_raw(foliot__buffer *buffer, const void *bytes, size_t count);

void foliot__pack_uint(foliot__buffer *buffer, uint64_t value);
void foliot__pack_int(foliot__buffer *buffer, int64_t value);
void foliot__pack_f64(foliot__buffer *buffer, double value);
void foliot__pack_array(foliot__buffer *buffer, uint32_t count);
void foliot__pack_map(foliot__buffer *buffer, uint32_t pairs);
void foliot__pack_str(foliot__buffer *buffer, const char *text);
void foliot__pack_bin(foliot__buffer *buffer, const void *bytes, uint32_t count);
void foliot__pack_u64_fixed(foliot__buffer *buffer, uint64_t value); // always nine bytes

#endif
