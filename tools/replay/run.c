// SPDX-License-Identifier: MIT
// run.c: see run.h.
#include "run.h"

#include "base/rng.h"
#include "tape/replay.h"

#include <stdlib.h>
#include <string.h>

static uint64_t linked(uint64_t before, foliot_digest digest)
{
    uint64_t seed = before ^ digest.high;
    uint64_t hash = foliot__splitmix64(&seed);
    seed = hash ^ digest.low;
    return foliot__splitmix64(&seed);
}

// Every second checkpoint is dropped when they are all in use; the space between them doubles.
static void thin_out(run *r)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->checkpoint_count; i++) {
        if (i % 2 == 0)
            r->checkpoint[kept++] = r->checkpoint[i];
        else
            foliot_world_destroy(r->checkpoint[i]);
    }
    r->checkpoint_count = kept;
    r->spacing *= 2;
}

static foliot_status keep_checkpoint(run *r)
{
    foliot_world *copy;
    uint64_t tick = foliot_replay_tick(r->replay);
    if ((tick - r->first_tick) % r->spacing != 0)
        return FOLIOT_OK;
    if (r->checkpoint_count == RUN_CHECKPOINTS)
        thin_out(r);
    if ((tick - r->first_tick) % r->spacing != 0)
        return FOLIOT_OK;
    foliot_status status = foliot__replay_new_world(r->replay, &copy);
    if (status != FOLIOT_OK)
        return status;
    foliot_world_copy(copy, foliot_replay_world(r->replay));
    r->checkpoint[r->checkpoint_count++] = copy;
    return FOLIOT_OK;
}

static foliot_status take_fault(run *r, const perturb_request *request)
{
    if (!request)
        return FOLIOT_OK;
    r->fault = request->fault;
    r->fault.body = tool_find_body(foliot_replay_about(r->replay)->scene, request->body);
    r->observer.perturbation = &r->fault;
    r->host = foliot__observing_host(&r->host, &r->observer);
    return r->fault.body == FOLIOT_NO_BODY ? FOLIOT_INVALID : FOLIOT_OK;
}

static foliot_status replay_all(run *r)
{
    uint64_t last = foliot_replay_about(r->replay)->last_tick;
    foliot_status status = FOLIOT_OK;
    for (uint64_t tick = r->first_tick; status == FOLIOT_OK; tick++) {
        uint64_t before = tick > r->first_tick ? r->chain[tick - r->first_tick - 1] : 0;
        r->chain[tick - r->first_tick] =
            linked(before, foliot_world_digest(foliot_replay_world(r->replay)));
        r->last_tick = tick;
        status = keep_checkpoint(r);
        if (tick == last)
            break;
        if (status == FOLIOT_OK)
            status = foliot_replay_step(r->replay);
    }
    // What is whole has been replayed; the damage is told by whoever opened the file.
    return status == FOLIOT_MEMORY || status == FOLIOT_FLOATING_POINT ? status : FOLIOT_OK;
}

foliot_status run_open(run *r, foliot_replay *replay, const perturb_request *request)
{
    *r = (run){.replay = replay, .spacing = 64};
    foliot_replay_scan(replay);
    const foliot_replay_summary *about = foliot_replay_about(replay);
    r->first_tick = r->last_tick = about->first_tick;
    r->chain = malloc(sizeof *r->chain * (size_t)(about->last_tick - about->first_tick + 1));
    if (!r->chain)
        return FOLIOT_MEMORY;
    foliot_status status = take_fault(r, request);
    if (status != FOLIOT_OK)
        return status;
    foliot_replay_host(replay, &r->host);
    status = foliot_replay_seek(replay, r->first_tick);
    return status == FOLIOT_OK ? replay_all(r) : status;
}

void run_close(run *r)
{
    for (uint32_t i = 0; i < r->checkpoint_count; i++)
        foliot_world_destroy(r->checkpoint[i]);
    foliot__tick_states_free(&r->states);
    free(r->chain);
}

static void clear_states(run *r)
{
    for (int s = 0; s < FOLIOT_STAGE_COUNT; s++) {
        r->states.stage[s].taken = false;
        r->states.stage[s].body_count = 0;
    }
    r->states.status = FOLIOT_OK;
}

// From the last checkpoint before it.
foliot_status run_states(run *r, uint64_t tick)
{
    if (tick < r->first_tick || tick > r->last_tick || r->checkpoint_count == 0)
        return FOLIOT_NOT_FOUND;
    clear_states(r);
    foliot_status status = FOLIOT_OK;
    foliot_world *world = r->replay->world;
    uint64_t start = tick > r->first_tick ? tick - 1 : tick;
    uint64_t k = (start - r->first_tick) / r->spacing;
    foliot_world_copy(world, r->checkpoint[k < r->checkpoint_count ? k : r->checkpoint_count - 1]);
    while (status == FOLIOT_OK && foliot_world_tick(world) < start)
        status = foliot_replay_step(r->replay);
    if (status != FOLIOT_OK)
        return status;
    if (tick == r->first_tick) {
        foliot__state_take(&r->states.stage[FOLIOT_STAGE_finish], world, &r->states.status);
        return r->states.status;
    }
    foliot__observer observer = {.states = &r->states, .perturbation = r->observer.perturbation};
    foliot_host host = foliot__observing_host(&r->host, &observer);
    status = foliot__replay_locate(r->replay, start);
    if (status == FOLIOT_OK)
        status = foliot__replay_step_world(r->replay, world, &host);
    return status == FOLIOT_OK ? r->states.status : status;
}

foliot_status run_stage_hashes(run *r, uint64_t tick, uint32_t *bodies,
                               uint64_t hashes[FOLIOT_STAGE_COUNT])
{
    foliot_status status = run_states(r, tick);
    *bodies = 0;
    for (int s = 0; s < FOLIOT_STAGE_COUNT; s++) {
        const foliot__state *state = &r->states.stage[s];
        hashes[s] = foliot__state_hash(state, 0, state->body_count);
        if (state->body_count > *bodies)
            *bodies = state->body_count;
    }
    return status;
}

void run_group_hashes(const run *r, unsigned stage, uint32_t first, uint32_t group,
                      uint64_t hashes[FOLIOT__TREE_FANOUT])
{
    for (uint32_t i = 0; i < FOLIOT__TREE_FANOUT; i++)
        hashes[i] = foliot__state_hash(&r->states.stage[stage], first + i * group, group);
}

void run_fields(const run *r, unsigned stage, uint32_t body, uint64_t fields[FOLIOT_FIELD_COUNT])
{
    const foliot__state *state = &r->states.stage[stage];
    for (uint32_t f = 0; f < FOLIOT_FIELD_COUNT; f++)
        fields[f] =
            body < state->body_count ? state->bits[(size_t)body * FOLIOT_FIELD_COUNT + f] : 0;
}
