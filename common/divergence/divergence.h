// SPDX-License-Identifier: MIT
// divergence.h: writes a divergence into the JSON object of a caller, and draws players for the
// harness.
#ifndef FOLIOT_DIVERGENCE_DIVERGENCE_H
#define FOLIOT_DIVERGENCE_DIVERGENCE_H

#include "base/json.h"
#include "foliot/command.h"
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

// -- players drawn from a seed

// For the harness; and the sentence that it and the loader of modules have for a wrong count of
// ticks.

typedef struct foliot__harness_players foliot__harness_players;

// NULL without memory; free with free.
foliot__harness_players *foliot__harness_players_create(uint32_t count, uint64_t seed);
// The inputs of one tick; ticks must be drawn in order.
uint32_t foliot__harness_players_draw(foliot__harness_players *players, uint64_t tick,
                                      foliot_input *inputs, uint32_t capacity);

// FOLIOT_STATUS_MISCOUNTED in full, with the ticks before and after the step and the right one.
#define FOLIOT__MISCOUNTED                                                                         \
    "after one step from tick %" PRIu64 ", `tick` of the simulation returns %" PRIu64              \
    ": it must return %" PRIu64

#endif
