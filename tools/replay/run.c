// SPDX-License-Identifier: MIT
// run.c: see run.h.
#include "run.h"

#include "recording/replay.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static foliot_status keep_checkpoint(run *r)
{
    uint64_t tick = foliot_replay_get_tick(r->replay);
    if ((tick - r->first_tick) % r->spacing != 0)
        return FOLIOT_STATUS_OK;
    if (r->checkpoint_count == RUN_CHECKPOINTS) {
        // If all checkpoints are in use, every second one is dropped, and their spacing doubles.
        uint32_t kept = 0;
        for (uint32_t i = 0; i < r->checkpoint_count; i++) {
            if (i % 2 == 0)
                r->checkpoint[kept++] = r->checkpoint[i];
            else
                foliot_simulation_destroy(&r->checkpoint[i]);
        }
        r->checkpoint_count = kept;
        r->spacing *= 2;
    }
    if ((tick - r->first_tick) % r->spacing != 0)
        return FOLIOT_STATUS_OK;
    foliot_simulation fresh;
    foliot_status status = foliot__replay_new(r->replay, &fresh);
    if (status == FOLIOT_STATUS_OK)
        status = foliot_simulation_copy(&fresh, &r->replay->simulation);
    if (status == FOLIOT_STATUS_OK)
        r->checkpoint[r->checkpoint_count++] = fresh;
    else
        foliot_simulation_destroy(&fresh);
    return status;
}

static foliot_status replay_all(run *r)
{
    uint64_t last = foliot_replay_get_summary(r->replay)->last_tick;
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint64_t tick = r->first_tick; status == FOLIOT_STATUS_OK; tick++) {
        uint64_t before = tick > r->first_tick ? r->chain[tick - r->first_tick - 1] : 0;
        r->chain[tick - r->first_tick] = foliot_digest_chain(
            before, foliot_simulation_get_digest(foliot_replay_get_simulation(r->replay)));
        r->last_tick = tick;
        status = keep_checkpoint(r);
        if (tick == last)
            break;
        if (status == FOLIOT_STATUS_OK)
            status = foliot__replay_step(r->replay);
    }
    // Everything before the damage has been replayed; the caller that opened the file reports it.
    return status == FOLIOT_STATUS_MEMORY || status == FOLIOT_STATUS_FLOATING_POINT ||
                   status == FOLIOT_STATUS_MISCOUNTED
               ? status
               : FOLIOT_STATUS_OK;
}

foliot_status run_open(run *r, foliot_replay *replay, const perturb_request *request)
{
    *r = (run){.replay = replay, .spacing = 64};
    if (foliot_replay_scan(replay) == FOLIOT_STATUS_MEMORY)
        return FOLIOT_STATUS_MEMORY; // of damaged recordings the whole part is replayed
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    r->first_tick = r->last_tick = about->first_tick;
    if (about->last_tick - about->first_tick >= RUN_TICKS_MAX) {
        tool_complain("the recording", "has %" PRIu64 " ticks; at most %u can be compared",
                      about->last_tick - about->first_tick, RUN_TICKS_MAX - 1);
        return FOLIOT_STATUS_FULL;
    }
    r->chain = malloc(sizeof *r->chain * (size_t)(about->last_tick - about->first_tick + 1));
    if (!r->chain || foliot_step_trace_create(&r->trace) != FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_MEMORY;
    foliot_status status = FOLIOT_STATUS_OK;
    if (request) {
        r->fault = request->fault;
        r->fault.body = tool_find_body(foliot_replay_get_summary(r->replay)->scene, request->body);
        r->perturber.fault = &r->fault;
        r->host = foliot__perturbing_host(&r->host, &r->perturber);
        if (r->fault.body == FOLIOT_NO_BODY)
            status = FOLIOT_STATUS_INVALID;
    }
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_replay_set_host(replay, &r->host);
    status = foliot_replay_seek(replay, r->first_tick);
    return status == FOLIOT_STATUS_OK ? replay_all(r) : status;
}

void run_close(run *r)
{
    for (uint32_t i = 0; i < r->checkpoint_count; i++)
        foliot_simulation_destroy(&r->checkpoint[i]);
    foliot_step_trace_destroy(r->trace);
    free(r->chain);
}

foliot_status run_trace(run *r, uint64_t tick)
{
    if (tick < r->first_tick || tick > r->last_tick || r->checkpoint_count == 0)
        return FOLIOT_STATUS_NOT_FOUND;
    // Starts from the last checkpoint before it.
    uint64_t target = tick > r->first_tick ? tick - 1 : tick;
    foliot_replay *replay = r->replay;
    uint64_t k = (target - r->first_tick) / r->spacing;
    const foliot_simulation *from =
        &r->checkpoint[k < r->checkpoint_count ? k : r->checkpoint_count - 1];
    foliot_status status = foliot_simulation_copy(&replay->simulation, from);
    while (status == FOLIOT_STATUS_OK && foliot_replay_get_tick(replay) < target)
        status = foliot__replay_step(replay);
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot_simulation *simulation = &r->replay->simulation;
    foliot_step_trace_reset(r->trace, tick);
    if (tick > r->first_tick) {
        status = foliot__replay_locate(r->replay, tick - 1);
        if (status == FOLIOT_STATUS_OK)
            status = foliot__replay_step_trace(r->replay, simulation, r->trace);
    }
    return status == FOLIOT_STATUS_OK ? foliot_step_trace_capture_held(r->trace, simulation)
                                      : status;
}
