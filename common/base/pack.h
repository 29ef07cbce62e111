// SPDX-License-Identifier: MIT
// pack.h: records as msgpack: written into a buffer that grows or is of a fixed size, and read from
// a cursor.
#ifndef FOLIOT_BASE_PACK_H
#define FOLIOT_BASE_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

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

// -- reading

// Reads msgpack from a cursor, bounds-checked, in place, without allocation. Every
// encoding of a value is accepted (a writer may choose longer ones). A value of the wrong type sets
// FOLIOT_STATUS_CORRUPT, a missing byte FOLIOT_STATUS_TRUNCATED; the first error stays.
//
// Packing uses msgpack-c (above); reading does not, for three reasons. Its unpacker builds a tree
// of objects on the heap, sized by counts that hostile bytes choose; this one returns pointers into
// the payload and checks every count against the bytes left. It reads one value after the other
// with one sticky status, so that a decoder is straight-line code. And the reader needs nothing but
// libc, so that it builds for every target of the determinism matrix.

uint64_t foliot__unpack_uint(foliot__reader *r);
int64_t foliot__unpack_int(foliot__reader *r); // FOLIOT_STATUS_CORRUPT beyond int64
double foliot__unpack_f64(foliot__reader *r);  // float 64 alone: reals are exact
// Counts are checked against the bytes left: each element takes at least one.
uint32_t foliot__unpack_array(foliot__reader *r);
uint32_t foliot__unpack_map(foliot__reader *r); // pairs
const uint8_t *foliot__unpack_bin(foliot__reader *r, uint32_t *length);
const char *foliot__unpack_str(foliot__reader *r, uint32_t *length); // not closed by a zero
// One value of any kind, nested or not.
void foliot__unpack_skip(foliot__reader *r);

#endif
