// SPDX-License-Identifier: MIT
// unpack.h: reads msgpack from a cursor, bounds-checked, in place, without memory of its own. Every
// encoding of a value is accepted (a writer may choose longer ones). A value of the wrong type sets
// FOLIOT_STATUS_CORRUPT, a missing byte FOLIOT_STATUS_TRUNCATED; the first error stays.
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
