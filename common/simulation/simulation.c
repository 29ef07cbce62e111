// SPDX-License-Identifier: MIT
// simulation.c: calls through a simulation's table, with defaults for its optional members. Knows
// nothing of any particular simulation.
#include "simulation/simulation.h"

#include <stdlib.h>
#include <string.h>

static const char *const one_stage[] = {"finish"};

bool foliot_simulation_kind_valid(const foliot_simulation_kind *kind)
{
    bool needed = kind->name && kind->create && kind->destroy && kind->tick && kind->step &&
                  kind->capture && kind->restore;
    bool named = needed && kind->name[0] && strlen(kind->name) < FOLIOT_KIND_NAME_BYTES;
    bool parts = !kind->part_count == !kind->fields && !kind->part_count == !kind->part;
    bool stages = !kind->stages == !kind->watch && !kind->stages == (kind->stage_count == 0) &&
                  kind->stage_count <= FOLIOT_SIMULATION_STAGES_MAX;
    bool orders = !kind->order || kind->step_tick;
    return named && parts && stages && orders && !(kind->watch && !kind->part_count);
}

foliot_status foliot_simulation_create(const foliot_simulation_kind *kind, const void *setup,
                                       size_t setup_bytes, foliot_simulation *simulation)
{
    void *self = NULL;
    if (!foliot_simulation_kind_valid(kind) || setup_bytes > FOLIOT_SETUP_BYTES_MAX)
        return FOLIOT_STATUS_INVALID;
    foliot_status status = kind->create(kind->user, setup, setup_bytes, &self);
    if (status == FOLIOT_STATUS_OK)
        *simulation = (foliot_simulation){kind, self, setup, setup_bytes};
    return status;
}

void foliot_simulation_destroy(foliot_simulation *simulation)
{
    if (simulation->kind && simulation->self)
        simulation->kind->destroy(simulation->self);
    *simulation = (foliot_simulation){0};
}

uint64_t foliot_simulation_get_tick(const foliot_simulation *simulation)
{
    return simulation->kind->tick(simulation->self);
}

static bool ordered(const foliot_input *inputs, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const foliot_input *before = &inputs[i - 1], *now = &inputs[i];
        if (before->player > now->player ||
            (before->player == now->player && before->sequence >= now->sequence))
            return false;
    }
    return true;
}

static bool commands_ordered(const foliot_tick_inputs *tick)
{
    for (uint32_t i = 1; i < tick->command_count; i++)
        if (tick->commands[i].sequence <= tick->commands[i - 1].sequence)
            return false;
    return true;
}

foliot_status foliot_simulation_step_tick(foliot_simulation *simulation,
                                          const foliot_tick_inputs *tick)
{
    const foliot_simulation_kind *kind = simulation->kind;
    if (!ordered(tick->inputs, tick->input_count) || !commands_ordered(tick))
        return FOLIOT_STATUS_INVALID;
    if (tick->command_count > 0 && !kind->step_tick)
        return FOLIOT_STATUS_UNSUPPORTED;
    uint64_t before = kind->tick(simulation->self);
    foliot_status status = tick->command_count > 0
                               ? kind->step_tick(simulation->self, tick)
                               : kind->step(simulation->self, tick->inputs, tick->input_count);
    // Replays step until `tick` is the one wanted: a count that does not grow would never end them.
    if (status == FOLIOT_STATUS_OK && kind->tick(simulation->self) != before + 1)
        return FOLIOT_STATUS_MISCOUNTED;
    return status;
}

foliot_status foliot_simulation_step(foliot_simulation *simulation, const foliot_input *inputs,
                                     uint32_t count)
{
    const foliot_tick_inputs tick = {.inputs = inputs, .input_count = count};
    return foliot_simulation_step_tick(simulation, &tick);
}

foliot_digest foliot_simulation_get_digest(const foliot_simulation *simulation)
{
    const foliot_simulation_kind *kind = simulation->kind;
    if (kind->digest)
        return kind->digest(simulation->self);
    size_t length = kind->capture(simulation->self, NULL, 0);
    uint8_t *bytes = malloc(length + 1);
    foliot_digest digest = {0, 0};
    if (bytes && kind->capture(simulation->self, bytes, length) == length)
        digest = foliot_digest_compute(bytes, length);
    free(bytes);
    return digest;
}

foliot_digest foliot_simulation_kind_get_fingerprint(const foliot_simulation_kind *kind)
{
    return kind->fingerprint ? kind->fingerprint() : foliot_get_fingerprint();
}

foliot_status foliot_simulation_capture(const foliot_simulation *simulation, void *bytes,
                                        size_t capacity, size_t *length)
{
    size_t needed = simulation->kind->capture(simulation->self, bytes, bytes ? capacity : 0);
    *length = needed;
    if (needed > FOLIOT_SIMULATION_BYTES_MAX)
        return FOLIOT_STATUS_INVALID;
    return !bytes || needed <= capacity ? FOLIOT_STATUS_OK : FOLIOT_STATUS_FULL;
}

foliot_status foliot__simulation_save(const foliot_simulation *simulation, foliot__buffer *state)
{
    size_t needed = 0;
    foliot_status status = foliot_simulation_capture(simulation, NULL, 0, &needed);
    if (status != FOLIOT_STATUS_OK)
        return status;
    // Never NULL, with which a simulation would only count.
    if (!foliot__buffer_reserve(state, needed + 1))
        return FOLIOT_STATUS_MEMORY;
    return foliot_simulation_capture(simulation, state->bytes, needed, &state->length);
}

foliot_status foliot_simulation_restore(foliot_simulation *simulation, const void *bytes,
                                        size_t length)
{
    if (length > FOLIOT_SIMULATION_BYTES_MAX)
        return FOLIOT_STATUS_INVALID;
    return simulation->kind->restore(simulation->self, bytes, length);
}

foliot_status foliot_simulation_copy(foliot_simulation *simulation, const foliot_simulation *from)
{
    if (!simulation->kind->copy) {
        foliot__buffer state = {0};
        foliot_status status = foliot__simulation_save(from, &state);
        if (status == FOLIOT_STATUS_OK)
            status = foliot_simulation_restore(simulation, state.bytes, state.length);
        foliot__buffer_free(&state);
        return status;
    }
    simulation->kind->copy(simulation->self, from->self);
    return FOLIOT_STATUS_OK;
}

uint32_t foliot_simulation_kind_get_stage_count(const foliot_simulation_kind *kind)
{
    return kind->stages ? kind->stage_count : 1;
}

const char *foliot_simulation_kind_get_stage_name(const foliot_simulation_kind *kind,
                                                  uint32_t stage)
{
    if (stage >= foliot_simulation_kind_get_stage_count(kind))
        return NULL;
    return (kind->stages ? kind->stages : one_stage)[stage];
}
