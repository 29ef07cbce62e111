// SPDX-License-Identifier: MIT
// unpack.h: reads msgpack from a cursor, bounds-checked, in place, without allocation. Every
// encoding of a value is accepted (a writer may choose longer ones). A value of the wrong type sets
// FOLIOT_STATUS_CORRUPT, a missing byte FOLIOT_STATUS_TRUNCATED; the first error stays.
//
// Packing uses msgpack-c (pack.h); reading does not, for three reasons. Its unpacker builds a tree
// of objects on the heap, sized by counts that hostile bytes choose; this one returns pointers into
// the payload and checks every count against the bytes left. It reads one value after the other
// with one sticky status, so that a decoder is straight-line code. And the reader needs nothing but
// libc, so that it builds for every target of the determinism matrix.
#ifndef FOLIOT_BASE_UNPACK_H
#define FOLIOT_BASE_UNPACK_H

#include "base/bytes.h"

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
