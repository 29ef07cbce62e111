// SPDX-License-Identifier: MIT
// harness_inputs.h: players drawn from a seed, for the harness.
#ifndef FOLIOT_RECORDING_HARNESS_INPUTS_H
#define FOLIOT_RECORDING_HARNESS_INPUTS_H

#include "foliot/input.h"

typedef struct foliot__harness_players foliot__harness_players;

// NULL without memory; free with free.
foliot__harness_players *foliot__harness_players_create(uint32_t count, uint64_t seed);
// The inputs of one tick; ticks must be drawn in order.
uint32_t foliot__harness_players_draw(foliot__harness_players *players, uint64_t tick,
                                      foliot_input *inputs, uint32_t capacity);

#endif
