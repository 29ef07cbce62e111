// SPDX-License-Identifier: MIT
// divergence.h: writes a divergence into the JSON object of a caller.
#ifndef FOLIOT_DIVERGENCE_DIVERGENCE_H
#define FOLIOT_DIVERGENCE_DIVERGENCE_H

#include "base/json.h"
#include "foliot/divergence.h"

// The keys first_bad_tick, stage, body, field, ulps into an open object. NULL: none, and all of
// them are null.
void foliot__divergence_put(foliot__json *json, const foliot_divergence *divergence,
                            const foliot_divergence_labels *names);
// Place and values on one line: `body 3 position.x: EXPECTED 11, ACTUAL 1`. For divergences with a
// known field.
void foliot__divergence_brief(const foliot_divergence *divergence, const char *expected,
                              const char *actual, char *out, size_t capacity);
// Both sides' bits, under the names that the sides have.
void foliot__divergence_put_bits(foliot__json *json, const foliot_divergence *divergence,
                                 const foliot_divergence_labels *names);
// Copies what `write` puts into the stream, as snprintf does. Returns the whole length; 0 without
// memory.
size_t foliot__print_stream(void (*write)(FILE *out, const void *what), const void *what,
                            char *bytes, size_t capacity);

#endif
