// SPDX-License-Identifier: MIT
// input_log.h: the inputs of a world, tick by tick: the input record of a run. Inputs are put to
// the open tick in any order; closing it sorts them by (player, sequence) and makes them final.
#ifndef FOLIOT_SIMULATION_INPUT_LOG_H
#define FOLIOT_SIMULATION_INPUT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "foliot/command.h"
#include "foliot/status.h"

// All zero but `first_tick` is an empty log whose open tick is first_tick.
typedef struct foliot__input_log {
    uint64_t first_tick;  // the oldest tick kept
    size_t tick_count;    // closed ticks kept
    size_t *ends;         // of each closed tick: the index after its last input
    foliot_input *inputs; // closed ones, then those of the open tick
    size_t input_count;
    uint32_t tick_capacity, input_capacity;
    size_t forgotten; // closed inputs dropped from the front; `ends` keeps counting
} foliot__input_log;

void foliot__input_log_init(foliot__input_log *log, uint64_t first_tick);
void foliot__input_log_free(foliot__input_log *log);
// Forgets everything; keeps the memory.
void foliot__input_log_clear(foliot__input_log *log, uint64_t first_tick);

// The tick that is open: one beyond the last closed.
uint64_t foliot__input_log_open_tick(const foliot__input_log *log);
// Puts one input into the open tick. FOLIOT_STATUS_INVALID if the open tick holds that (player,
// sequence) already, FOLIOT_STATUS_MEMORY.
foliot_status foliot__input_log_append(foliot__input_log *log, const foliot_input *input);
foliot_status foliot__input_log_close_tick(foliot__input_log *log);
// Inputs of a closed tick, in order; false if it is not kept. Valid until the next append or close.
bool foliot__input_log_at(const foliot__input_log *log, uint64_t tick, const foliot_input **inputs,
                          uint32_t *count);
// Drops closed ticks before `tick`.
void foliot__input_log_forget(foliot__input_log *log, uint64_t tick);

#endif
