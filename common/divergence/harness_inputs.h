// SPDX-License-Identifier: MIT
// harness_inputs.h: players drawn from a seed, for the harness, and what it and the loader of
// modules say of a wrong count of ticks.
#ifndef FOLIOT_DIVERGENCE_HARNESS_INPUTS_H
#define FOLIOT_DIVERGENCE_HARNESS_INPUTS_H

#include "foliot/command.h"

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
