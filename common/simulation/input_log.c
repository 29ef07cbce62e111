// SPDX-License-Identifier: MIT
// input_log.c: the inputs of a world, tick by tick. A closed tick never changes. Knows nothing of
// peers.
#include "simulation/input_log.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

void foliot__input_log_init(foliot__input_log *log, uint64_t first_tick)
{
    *log = (foliot__input_log){.first_tick = first_tick};
}

void foliot__input_log_free(foliot__input_log *log)
{
    free(log->ends);
    free(log->inputs);
    *log = (foliot__input_log){0};
}

void foliot__input_log_clear(foliot__input_log *log, uint64_t first_tick)
{
    log->first_tick = first_tick;
    log->tick_count = log->input_count = log->forgotten = 0;
}

uint64_t foliot__input_log_open_tick(const foliot__input_log *log)
{
    return log->first_tick + log->tick_count;
}

// Where the inputs of closed tick number `index` begin, as an index into `inputs`.
static size_t tick_start(const foliot__input_log *log, size_t index)
{
    return index == 0 ? 0 : log->ends[index - 1] - log->forgotten;
}

static bool is_after(const foliot_input *a, const foliot_input *b)
{
    return a->player != b->player ? a->player > b->player : a->sequence > b->sequence;
}

foliot_status foliot__input_log_append(foliot__input_log *log, const foliot_input *input)
{
    if (!foliot__array_grow(&log->inputs, (uint32_t)log->input_count, &log->input_capacity, 64,
                            sizeof *log->inputs))
        return FOLIOT_STATUS_MEMORY;
    foliot_input *inputs = log->inputs;
    // Insertion from the back: inputs mostly arrive in order, and a tick holds few.
    size_t open = tick_start(log, log->tick_count), at = log->input_count;
    while (at > open && is_after(&inputs[at - 1], input))
        at--;
    if (at > open && inputs[at - 1].player == input->player &&
        inputs[at - 1].sequence == input->sequence)
        return FOLIOT_STATUS_INVALID;
    memmove(&inputs[at + 1], &inputs[at], sizeof *inputs * (log->input_count - at));
    inputs[at] = *input;
    log->input_count++;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot__input_log_close_tick(foliot__input_log *log)
{
    if (!foliot__array_grow(&log->ends, (uint32_t)log->tick_count, &log->tick_capacity, 64,
                            sizeof *log->ends))
        return FOLIOT_STATUS_MEMORY;
    log->ends[log->tick_count++] = log->input_count + log->forgotten;
    return FOLIOT_STATUS_OK;
}

bool foliot__input_log_at(const foliot__input_log *log, uint64_t tick, const foliot_input **inputs,
                          uint32_t *count)
{
    if (tick < log->first_tick || tick - log->first_tick >= log->tick_count)
        return false;
    size_t index = (size_t)(tick - log->first_tick);
    size_t start = tick_start(log, index);
    *inputs = log->inputs ? log->inputs + start : NULL;
    *count = (uint32_t)(log->ends[index] - log->forgotten - start);
    return true;
}

void foliot__input_log_forget(foliot__input_log *log, uint64_t tick)
{
    if (tick <= log->first_tick)
        return;
    size_t ticks = (size_t)(tick - log->first_tick);
    FOLIOT_ASSERT(ticks <= log->tick_count);
    size_t inputs = tick_start(log, ticks);
    if (inputs)
        memmove(log->inputs, log->inputs + inputs,
                sizeof *log->inputs * (log->input_count - inputs));
    memmove(log->ends, log->ends + ticks, sizeof *log->ends * (log->tick_count - ticks));
    log->input_count -= inputs;
    log->forgotten += inputs;
    log->tick_count -= ticks;
    log->first_tick = tick;
}
