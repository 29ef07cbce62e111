// SPDX-License-Identifier: MIT
// json.h: a streaming JSON writer. Every value takes its key, NULL inside an array. The writer adds
// commas and escapes; wrong nesting is an assertion. Write errors stay in the stream: ferror().
#ifndef FOLIOT_BASE_JSON_H
#define FOLIOT_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FOLIOT__JSON_DEPTH_MAX 32

typedef struct foliot__json {
    FILE *out;
    uint32_t depth;
    uint32_t is_array; // bit d: the value open at depth d is an array
    uint32_t filled;   // bit d: it has a value already
} foliot__json;

foliot__json foliot__json_to(FILE *out);
void foliot__json_object(foliot__json *json, const char *key);
void foliot__json_array(foliot__json *json, const char *key);
void foliot__json_close(foliot__json *json); // the innermost object or array

// NULL gives null. Bytes that are no UTF-8 become U+FFFD; control characters, DEL and C1 are
// escaped.
void foliot__json_text(foliot__json *json, const char *key, const char *value);
// 17 significant digits; NaN and infinities, which JSON does not have, give null.
void foliot__json_real(foliot__json *json, const char *key, double value);
// A measured value, such as a time: it has fewer digits than 17. Beyond 1e15 it is a real.
void foliot__json_decimals(foliot__json *json, const char *key, double value, int decimals);
void foliot__json_reals(foliot__json *json, const char *key, const double *values, uint32_t count);
void foliot__json_count(foliot__json *json, const char *key, uint64_t value);
void foliot__json_count_if(foliot__json *json, const char *key, bool known, // else null
                           uint64_t value);
void foliot__json_integer(foliot__json *json, const char *key, int64_t value);
void foliot__json_bool(foliot__json *json, const char *key, bool value);
void foliot__json_null(foliot__json *json, const char *key);

// Closes what is open and ends the line, so that another value may follow: JSON lines.
void foliot__json_line(foliot__json *json);

#endif
