// SPDX-License-Identifier: MIT
// rewind.h: recomputes a tick that a run has passed, from a state saved before it and the inputs
// and commands since, and traces that tick stage by stage. It has its own simulation, so the
// run continues.
#ifndef FOLIOT_DIVERGENCE_REWIND_H
#define FOLIOT_DIVERGENCE_REWIND_H

#include "base/pack.h"
#include "foliot/divergence.h"

typedef struct foliot__rewind {
    foliot_simulation simulation;
    foliot_step_trace *trace;
    uint64_t tick;        // to recompute: the state that this tick's step gave
    uint64_t from;        // of the saved state
    foliot_input *inputs; // of [from, tick)
    foliot_command_list commands;
    struct foliot__rewind_counts { // of a tick
        uint32_t inputs, commands;
    } * counts;
    uint32_t tick_count, tick_capacity, input_count, input_capacity;
    uint32_t stepped, given, commanded; // ticks, inputs and commands so far
    foliot__buffer before, after;       // saved states of tick - 1 and of tick
    foliot__buffer held;                // what the run itself had saved of that tick
    foliot_digest digest;               // of `after`
    foliot_status status;               // the first error
    bool active, finished, assumes_held;
} foliot__rewind;

// To `tick`, from a state saved of an earlier one. Then all that entered each tick from there on is
// given, in order.
void foliot__rewind_begin(foliot__rewind *r, const foliot_simulation_kind *kind, const void *setup,
                          size_t setup_bytes, const uint8_t *state, size_t state_bytes,
                          uint64_t tick);
void foliot__rewind_give(foliot__rewind *r, const foliot_tick_inputs *tick);
// The state that the run itself had at that tick, as saved bytes. The trace shows where the
// repeated step gives another one. foliot__rewind_assume_held: the step is known to give the same.
void foliot__rewind_hold(foliot__rewind *r, const uint8_t *state, size_t state_bytes);
void foliot__rewind_assume_held(foliot__rewind *r);
// Takes at most `steps` steps. True when finished, with success or not (`status`).
bool foliot__rewind_advance(foliot__rewind *r, uint32_t steps);
// Inputs and commands of the last step; none if no step was taken.
foliot_tick_inputs foliot__rewind_last(const foliot__rewind *r);
// Points a report to them, and to the states before and after that step.
void foliot__rewind_describe(const foliot__rewind *r, foliot_divergence_report *found);
// Frees the trace, which is larger than the simulation: the search is over. The inputs of the
// last step, and the states around it, stay. foliot__rewind_release frees the simulation too.
void foliot__rewind_drop_trace(foliot__rewind *r);
void foliot__rewind_release(foliot__rewind *r);
void foliot__rewind_free(foliot__rewind *r);

#endif
