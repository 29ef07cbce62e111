// SPDX-License-Identifier: MIT
// rewind.c: see rewind.h. Allocated memory is reused by the next rewind.
#include "divergence/rewind.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "simulation/simulation.h"

void foliot__rewind_begin(foliot__rewind *r, const foliot_simulation_kind *kind, const void *setup,
                          size_t setup_bytes, const uint8_t *state, size_t state_bytes,
                          uint64_t tick)
{
    r->tick = tick;
    r->tick_count = r->input_count = r->stepped = r->given = r->commanded = 0;
    foliot_command_list_clear(&r->commands);
    r->before.length = r->after.length = r->held.length = 0;
    r->assumes_held = false;
    r->active = true;
    r->finished = false;
    r->status = FOLIOT_STATUS_OK;
    if (!r->trace)
        r->status = foliot_step_trace_create(&r->trace);
    if (r->status == FOLIOT_STATUS_OK && !r->simulation.self)
        r->status = foliot_simulation_create(kind, setup, setup_bytes, &r->simulation);
    if (r->status == FOLIOT_STATUS_OK)
        r->status = foliot_simulation_restore(&r->simulation, state, state_bytes);
    r->from = r->status == FOLIOT_STATUS_OK ? foliot_simulation_get_tick(&r->simulation) : 0;
    if (r->status == FOLIOT_STATUS_OK && r->from >= tick)
        r->status = FOLIOT_STATUS_NOT_FOUND;
}

void foliot__rewind_give(foliot__rewind *r, const foliot_tick_inputs *tick)
{
    const uint32_t count = tick->input_count, wanted = r->input_count + count;
    if (!foliot__array_reserve(&r->inputs, &r->input_capacity, wanted, 2 * (size_t)wanted,
                               sizeof *r->inputs) ||
        !foliot__array_grow(&r->counts, r->tick_count, &r->tick_capacity, 2, sizeof *r->counts))
        r->status = FOLIOT_STATUS_MEMORY;
    for (uint32_t i = 0; i < tick->command_count && r->status == FOLIOT_STATUS_OK; i++)
        r->status = foliot_command_list_append(&r->commands, &tick->commands[i]);
    if (r->status != FOLIOT_STATUS_OK)
        return;
    if (count)
        memcpy(r->inputs + r->input_count, tick->inputs, count * sizeof *tick->inputs);
    r->input_count += count;
    r->counts[r->tick_count++] = (struct foliot__rewind_counts){count, tick->command_count};
}

void foliot__rewind_hold(foliot__rewind *r, const uint8_t *state, size_t state_bytes)
{
    if (!foliot__buffer_reserve(&r->held, state_bytes))
        return; // the search does without
    memcpy(r->held.bytes, state, state_bytes);
    r->held.length = state_bytes;
}

void foliot__rewind_assume_held(foliot__rewind *r)
{
    r->assumes_held = true;
}

static void trace_last_step(foliot__rewind *r, const foliot_tick_inputs *tick)
{
    r->status = foliot__simulation_save(&r->simulation, &r->before);
    foliot_step_trace_reset(r->trace, r->tick);
    if (r->status == FOLIOT_STATUS_OK)
        r->status = foliot_step_trace_step(r->trace, &r->simulation, tick);
    if (r->status == FOLIOT_STATUS_OK)
        r->status = foliot__simulation_save(&r->simulation, &r->after);
    r->digest = foliot_simulation_get_digest(&r->simulation);
    if (r->status == FOLIOT_STATUS_OK) {
        bool held = r->held.length > 0;
        if (!held || foliot_simulation_restore(&r->simulation, r->held.bytes, r->held.length) ==
                         FOLIOT_STATUS_OK) {
            if (held || r->assumes_held)
                r->status = foliot_step_trace_capture_held(r->trace, &r->simulation);
        }
    }
}

// The inputs of the tick that is stepped next.
static foliot_tick_inputs next_inputs(const foliot__rewind *r)
{
    const struct foliot__rewind_counts *counts = &r->counts[r->stepped];
    return (foliot_tick_inputs){
        .inputs = r->inputs ? r->inputs + r->given : NULL,
        .input_count = counts->inputs,
        .commands = counts->commands ? r->commands.commands + r->commanded : NULL,
        .command_count = counts->commands,
    };
}

bool foliot__rewind_advance(foliot__rewind *r, uint32_t steps)
{
    if (r->status == FOLIOT_STATUS_OK && r->tick_count != r->tick - r->from)
        r->status = FOLIOT_STATUS_NOT_FOUND; // not all inputs were given
    for (; r->status == FOLIOT_STATUS_OK && !r->finished && steps > 0; steps--) {
        const foliot_tick_inputs tick = next_inputs(r);
        r->finished = r->stepped + 1 == r->tick_count;
        if (r->finished) {
            trace_last_step(r, &tick);
            break;
        }
        r->status = foliot_simulation_step_tick(&r->simulation, &tick);
        r->given += tick.input_count;
        r->commanded += tick.command_count;
        r->stepped++;
    }
    return r->finished || r->status != FOLIOT_STATUS_OK;
}

void foliot__rewind_describe(const foliot__rewind *r, foliot_divergence_report *found)
{
    const foliot_tick_inputs last = foliot__rewind_last(r);
    found->before = r->before.bytes;
    found->before_bytes = r->before.length;
    found->after = r->after.bytes;
    found->after_bytes = r->after.length;
    found->inputs = last.inputs;
    found->input_count = last.input_count;
    found->commands = last.commands;
    found->command_count = last.command_count;
}

foliot_tick_inputs foliot__rewind_last(const foliot__rewind *r)
{
    return r->finished ? next_inputs(r) : (foliot_tick_inputs){0};
}

void foliot__rewind_drop_trace(foliot__rewind *r)
{
    foliot_step_trace_destroy(r->trace);
    r->trace = NULL;
    foliot__buffer_free(&r->held);
}

void foliot__rewind_release(foliot__rewind *r)
{
    foliot__rewind_drop_trace(r);
    foliot_simulation_destroy(&r->simulation);
}

void foliot__rewind_free(foliot__rewind *r)
{
    foliot__rewind_release(r);
    free(r->inputs);
    foliot_command_list_destroy(&r->commands);
    free(r->counts);
    foliot__buffer_free(&r->before);
    foliot__buffer_free(&r->after);
    *r = (foliot__rewind){0};
}
