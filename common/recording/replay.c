// SPDX-License-Identifier: MIT
// replay.c: replays an open recording with the same step as a live world. `content` is the block
// that holds the next inputs. Everything before a damage replays, nothing after it.
#include "recording/replay.h"

#include "base/array.h"
#include "recording/block_content.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static foliot_status restore_segment(foliot_replay *replay, foliot_simulation *simulation)
{
    if (replay->segment.keyframe.packed)
        return FOLIOT_STATUS_UNSUPPORTED;
    foliot_status status = foliot_simulation_restore(
        simulation, replay->segment.keyframe.state.bytes, replay->segment.keyframe.state.length);
    if (status == FOLIOT_STATUS_OK &&
        foliot_simulation_get_tick(simulation) == replay->segment.tick)
        return FOLIOT_STATUS_OK;
    foliot_damage damage;
    foliot__damage_set(
        &damage, FOLIOT_STATUS_CORRUPT, replay->content.number, replay->content.offset,
        "the keyframe of tick %" PRIu64 " does not fit this %s (%s)", replay->segment.tick,
        replay->scene ? "scene" : "simulation",
        foliot_status_get_text(status == FOLIOT_STATUS_OK ? FOLIOT_STATUS_CORRUPT : status));
    foliot__replay_damaged(replay, &damage);
    return FOLIOT_STATUS_CORRUPT;
}

// -- about it

void foliot_replay_set_host(foliot_replay *replay, const foliot_host *host)
{
    replay->host = host ? *host : (foliot_host){0};
    foliot_hosted_world *hosted = foliot__replay_hosted(replay);
    if (hosted)
        hosted->host = replay->host;
    if (replay->callbacks_named && !foliot__replay_callbacks_missing(replay)) {
        replay->callbacks_named = false;
        replay->damage = (foliot_damage){0};
    }
}

bool foliot__replay_callbacks_missing(const foliot_replay *replay)
{
    for (uint32_t i = 0; replay->scene && i < replay->scene->force_count; i++)
        if (replay->scene->forces[i].kind == FOLIOT_FORCE_CALLBACK &&
            replay->scene->forces[i].as.callback.callback >= replay->host.callback_count)
            return true;
    return false;
}

const foliot_replay_summary *foliot_replay_get_summary(const foliot_replay *replay)
{
    return &replay->about;
}

const foliot_damage *foliot_replay_get_damage(const foliot_replay *replay)
{
    return &replay->damage;
}

const foliot_world *foliot_replay_get_world(const foliot_replay *replay)
{
    return foliot_simulation_get_world(&replay->simulation);
}

const foliot_simulation *foliot_replay_get_simulation(const foliot_replay *replay)
{
    return &replay->simulation;
}

uint64_t foliot_replay_get_tick(const foliot_replay *replay)
{
    return replay->simulation.self ? foliot_simulation_get_tick(&replay->simulation)
                                   : replay->about.first_tick;
}

// -- blocks

foliot_status foliot__replay_load(foliot_replay *replay)
{
    foliot__recording_content *content = &replay->content;
    foliot_damage damage = {0};
    replay->held_valid = false;
    foliot_status status = foliot__block_reader_next(&replay->reader, content, &damage);
    if (status == FOLIOT_STATUS_OK && content->has_keyframe) {
        // Nothing is stepped from keyframes of an unknown kind, but they are shown.
        if (!replay->simulation.self &&
            foliot__recording_content_unpack(content, foliot__replay_state_bytes_max(replay)) ==
                FOLIOT_STATUS_MEMORY)
            status = FOLIOT_STATUS_MEMORY;
        else
            status = foliot__replay_check_keyframe(replay, content, &damage);
    }
    if (status == FOLIOT_STATUS_OK) {
        if (content->has_keyframe) {
            // The segment's buffers serve the next block.
            foliot__block_keyframe before = replay->segment.keyframe;
            replay->segment = (foliot__replay_segment){true, content->tick, content->keyframe};
            content->keyframe = before;
        }
        return FOLIOT_STATUS_OK;
    }
    // The reader has ended: `content` covers no tick until a keyframe is loaded.
    content->first_tick = content->tick = UINT64_MAX;
    if (status != FOLIOT_STATUS_NOT_FOUND && damage.status != FOLIOT_STATUS_OK)
        foliot__replay_damaged(replay, &damage);
    return status;
}

// The last keyframe at or before `tick`; -1 if there is none. A resumed file has two of one tick.
static int64_t keyframe_before(const foliot_replay *replay, uint64_t tick)
{
    uint32_t next = replay->index_count;
    if (tick < UINT64_MAX)
        next = foliot__array_lower_bound(replay->index, replay->index_count, sizeof *replay->index,
                                         tick + 1);
    return (int64_t)next - 1;
}

// Loads the keyframe block number `k` of the index.
static foliot_status load_keyframe(foliot_replay *replay, int64_t k)
{
    if (k < 0)
        return FOLIOT_STATUS_NOT_FOUND;
    foliot_damage damage = {0};
    foliot_status status = foliot__block_reader_seek(&replay->reader, replay->index[k][1],
                                                     replay->index[k][0], &damage);
    if (status != FOLIOT_STATUS_OK) {
        foliot__replay_damaged(replay, &damage);
        return status;
    }
    status = foliot__replay_load(replay);
    if (status != FOLIOT_STATUS_OK || replay->content.has_keyframe)
        return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_CORRUPT : status;
    foliot__damage_set(&damage, FOLIOT_STATUS_CORRUPT, replay->content.number,
                       replay->content.offset,
                       "the index names a keyframe here, and there is none");
    foliot__replay_damaged(replay, &damage);
    return FOLIOT_STATUS_CORRUPT;
}

static bool covers_tick(const foliot__recording_content *content, uint64_t tick)
{
    return content->first_tick <= tick && tick < content->tick;
}

foliot_status foliot__replay_locate(foliot_replay *replay, uint64_t tick)
{
    const foliot__recording_content *content = &replay->content;
    if (covers_tick(content, tick))
        return FOLIOT_STATUS_OK;
    int64_t k = keyframe_before(replay, tick);
    foliot_status status = FOLIOT_STATUS_OK;
    if (tick < content->first_tick || (k >= 0 && replay->index[k][0] > content->tick))
        status = load_keyframe(replay, k);
    while (status == FOLIOT_STATUS_OK && !covers_tick(content, tick))
        status = foliot__replay_load(replay);
    return status;
}

foliot_status foliot__replay_rewind(foliot_replay *replay)
{
    foliot_status status = load_keyframe(replay, replay->index_count ? 0 : -1);
    if (replay->header.tick == 0) {
        foliot_simulation simulation;
        foliot_status created = foliot__replay_new(replay, &simulation);
        if (created != FOLIOT_STATUS_OK)
            return created;
        foliot_simulation_destroy(&replay->simulation);
        replay->simulation = simulation;
        return status;
    }
    if (status == FOLIOT_STATUS_OK)
        status = restore_segment(replay, &replay->simulation);
    if (status == FOLIOT_STATUS_UNSUPPORTED && replay->segment.keyframe.packed) {
        foliot_damage damage;
        foliot__damage_set(
            &damage, FOLIOT_STATUS_UNSUPPORTED, replay->content.number, replay->content.offset,
            "the keyframe of tick %" PRIu64 " is compressed, and this build has no zstd to read it",
            replay->segment.tick);
        foliot__replay_damaged(replay, &damage);
    }
    return status == FOLIOT_STATUS_NOT_FOUND ? FOLIOT_STATUS_CORRUPT : status;
}

// -- through time

// The world refused a step: a callback is missing, or the recorded inputs are wrong.
static foliot_status refused_step(foliot_replay *replay, uint64_t tick)
{
    if (foliot__replay_callbacks_missing(replay)) {
        foliot_damage missing = {.status = FOLIOT_STATUS_UNSUPPORTED};
        snprintf(missing.text, sizeof missing.text, FOLIOT__CALLBACKS_MISSING);
        replay->callbacks_named |= replay->damage.status == FOLIOT_STATUS_OK;
        foliot__replay_damaged(replay, &missing);
        return FOLIOT_STATUS_UNSUPPORTED;
    }
    foliot_damage damage;
    foliot__damage_set(&damage, FOLIOT_STATUS_CORRUPT, replay->content.number,
                       replay->content.offset,
                       "this %s refuses the inputs or commands of tick %" PRIu64,
                       replay->scene ? "scene" : "simulation", tick);
    foliot__replay_damaged(replay, &damage);
    return FOLIOT_STATUS_CORRUPT;
}

// A simulation without commands does not match a recording that has some.
static bool step_refused(foliot_status status)
{
    return status == FOLIOT_STATUS_INVALID || status == FOLIOT_STATUS_UNSUPPORTED;
}

bool foliot__replay_recorded(const foliot_replay *replay, uint64_t tick,
                             foliot__recorded_tick *recorded)
{
    const foliot__recording_content *content = &replay->content;
    foliot_tick_inputs *in = &recorded->inputs;
    *recorded = (foliot__recorded_tick){0};
    if (!foliot__input_log_at(&content->inputs, tick, &in->inputs, &in->input_count))
        return false;
    in->command_count = foliot__session_log_commands_at(&content->session, tick, &in->commands);
    recorded->order_count =
        foliot__session_log_orders_at(&content->session, tick, &recorded->orders);
    return true;
}

foliot_status foliot__replay_step_simulation(foliot_replay *replay, foliot_simulation *simulation)
{
    foliot__recorded_tick recorded;
    uint64_t tick = foliot_simulation_get_tick(simulation);
    if (!foliot__replay_recorded(replay, tick, &recorded))
        return FOLIOT_STATUS_NOT_FOUND;
    foliot_status status = foliot_simulation_step_tick(simulation, &recorded.inputs);
    return step_refused(status) ? refused_step(replay, tick) : status;
}

foliot_status foliot__replay_step_trace(foliot_replay *replay, foliot_simulation *simulation,
                                        foliot_step_trace *trace)
{
    foliot__recorded_tick recorded;
    uint64_t tick = foliot_simulation_get_tick(simulation);
    if (!foliot__replay_recorded(replay, tick, &recorded))
        return FOLIOT_STATUS_NOT_FOUND;
    foliot_step_trace_reset(trace, tick + 1);
    foliot_status status = foliot_step_trace_step(trace, simulation, &recorded.inputs);
    return step_refused(status) ? refused_step(replay, tick) : status;
}

// Compares the state with the digest that was recorded of its tick, if there is one and it is at
// hand: in the block of the step that led there, or with the keyframe of the first tick.
static foliot_status check_state(const foliot_replay *replay)
{
    uint8_t bytes[16];
    uint64_t tick = foliot_replay_get_tick(replay);
    const uint8_t *recorded = replay->segment.keyframe.digest;
    uint32_t count = foliot__recording_content_digest(&replay->content, tick, &recorded);
    if (count == 0 && replay->segment.known && replay->segment.tick == tick)
        count = sizeof replay->segment.keyframe.digest;
    if (count == 0)
        return FOLIOT_STATUS_OK;
    foliot__recording_digest_bytes(foliot_simulation_get_digest(&replay->simulation), bytes);
    return memcmp(bytes, recorded, count) == 0 ? FOLIOT_STATUS_OK : FOLIOT_STATUS_DIVERGED;
}

foliot_status foliot_replay_step(foliot_replay *replay)
{
    foliot_status status = foliot__replay_step(replay);
    return status == FOLIOT_STATUS_OK ? check_state(replay) : status;
}

foliot_status foliot__replay_step(foliot_replay *replay)
{
    if (!replay->simulation.self)
        return FOLIOT_STATUS_UNSUPPORTED;
    uint64_t tick = foliot_replay_get_tick(replay);
    if (!covers_tick(&replay->content, tick)) {
        if (tick >= replay->about.last_tick)
            return replay->about.closed ? FOLIOT_STATUS_NOT_FOUND : replay->damage.status;
        foliot_status status = foliot__replay_locate(replay, tick);
        if (status != FOLIOT_STATUS_OK)
            return status;
    }
    return foliot__replay_step_simulation(replay, &replay->simulation);
}

// The world at keyframe number `k`, or at an earlier one if that is damaged: the ticks up to it are
// whole.
static foliot_status restore_before(foliot_replay *replay, int64_t k)
{
    foliot_status status = FOLIOT_STATUS_NOT_FOUND;
    for (; k >= 0; k--) {
        status = load_keyframe(replay, k);
        if (status == FOLIOT_STATUS_OK)
            status = restore_segment(replay, &replay->simulation);
        if (status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_MEMORY ||
            status == FOLIOT_STATUS_IO)
            return status;
    }
    // At most the scene is left: it is a state at tick 0.
    status = foliot__replay_rewind(replay);
    return replay->header.tick == 0 && status != FOLIOT_STATUS_MEMORY ? FOLIOT_STATUS_OK : status;
}

foliot_status foliot_replay_seek(foliot_replay *replay, uint64_t tick)
{
    uint64_t now = foliot_replay_get_tick(replay);
    if (!replay->simulation.self)
        return FOLIOT_STATUS_UNSUPPORTED;
    if (tick < replay->about.first_tick || tick > replay->about.last_tick)
        return FOLIOT_STATUS_NOT_FOUND;
    int64_t k = keyframe_before(replay, tick);
    foliot_status status = FOLIOT_STATUS_OK;
    if (tick < now || (k >= 0 && replay->index[k][0] > now))
        status = restore_before(replay, k);
    while (status == FOLIOT_STATUS_OK && foliot_replay_get_tick(replay) < tick)
        status = foliot_replay_step(replay);
    if (status == FOLIOT_STATUS_OK)
        status = check_state(replay);
    if (status == FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_OK;
    // Returns to the tick where the replay was. Digests on the way were checked before, or wrong.
    foliot_status back = restore_before(replay, keyframe_before(replay, now));
    while (back == FOLIOT_STATUS_OK && foliot_replay_get_tick(replay) < now)
        back = foliot__replay_step(replay);
    return status;
}

// -- backwards

// Follows the players' controls through the closed ticks [content.first_tick, end) of the block.
static void apply_held_inputs(foliot_replay *replay, foliot__recording_held *held, uint64_t end)
{
    const foliot_input *inputs;
    uint32_t count;
    for (uint64_t tick = replay->content.first_tick; tick < end; tick++)
        if (foliot__input_log_at(&replay->content.inputs, tick, &inputs, &count))
            for (uint32_t i = 0; i < count; i++) {
                const foliot_input *input = &inputs[i];
                foliot__recording_held *h = &held[input->player];
                if (input->kind == FOLIOT_INPUT_JOIN && !h->joined) {
                    *h = (foliot__recording_held){.joined = true};
                } else if (input->kind == FOLIOT_INPUT_LEAVE) {
                    *h = (foliot__recording_held){0};
                } else if (input->kind == FOLIOT_INPUT_CONTROL && h->joined) {
                    memcpy(h->axes, input->axes, sizeof h->axes);
                    h->buttons = input->buttons;
                }
            }
}

// Makes `content` cover `tick`, with `held` as the players' controls at its start: from the
// segment's keyframe on.
static foliot_status locate_held(foliot_replay *replay, uint64_t tick)
{
    if (covers_tick(&replay->content, tick) && replay->held_valid)
        return FOLIOT_STATUS_OK;
    foliot_status status = foliot__replay_probe(replay);
    if (status == FOLIOT_STATUS_OK)
        status = load_keyframe(replay, keyframe_before(replay, tick));
    if (status == FOLIOT_STATUS_OK)
        status = restore_segment(replay, &replay->probe);
    if (status != FOLIOT_STATUS_OK)
        return status;
    const foliot_world *world = foliot_simulation_get_world(&replay->probe);
    for (uint32_t p = 0; p < FOLIOT_PLAYERS_MAX; p++) {
        foliot_input held = foliot_world_get_player_controls(world, p);
        replay->held[p] = (foliot__recording_held){
            .joined = foliot_world_get_player_body(world, p).value != 0, .buttons = held.buttons};
        memcpy(replay->held[p].axes, held.axes, sizeof held.axes);
    }
    while (status == FOLIOT_STATUS_OK && !covers_tick(&replay->content, tick)) {
        apply_held_inputs(replay, replay->held, replay->content.tick);
        status = foliot__replay_load(replay);
    }
    replay->held_valid = status == FOLIOT_STATUS_OK;
    return status;
}

// The inverse step, if the tick has no spawn, despawn or command; else FOLIOT_STATUS_UNSUPPORTED.
static foliot_status step_inverse(foliot_replay *replay, uint64_t tick)
{
    foliot_status status = locate_held(replay, tick);
    const foliot_input *inputs = NULL;
    uint32_t count = 0, before_count = 0;
    if (status != FOLIOT_STATUS_OK)
        return status;
    foliot__input_log_at(&replay->content.inputs, tick, &inputs, &count);
    const foliot_command *commands;
    if (foliot__session_log_commands_at(&replay->content.session, tick, &commands) > 0)
        return FOLIOT_STATUS_UNSUPPORTED; // has no inverse; only a forged file gets here
    for (uint32_t i = 0; i < count; i++)
        if (inputs[i].kind != FOLIOT_INPUT_CONTROL)
            return FOLIOT_STATUS_UNSUPPORTED;
    foliot__recording_held *held = malloc(sizeof replay->held);
    foliot_input *before = malloc(sizeof *before * (count + 1));
    if (held && before) {
        memcpy(held, replay->held, sizeof replay->held);
        apply_held_inputs(replay, held, tick);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t p = inputs[i].player;
            if ((i && inputs[i - 1].player == p) || !held[p].joined)
                continue;
            before[before_count] = (foliot_input){.player = p, .buttons = held[p].buttons};
            memcpy(before[before_count++].axes, held[p].axes, sizeof held[p].axes);
        }
        status = foliot_world_step_back(foliot__replay_hosted(replay)->world, before, before_count,
                                        &replay->host);
    } else {
        status = FOLIOT_STATUS_MEMORY;
    }
    free(held);
    free(before);
    return status;
}

foliot_status foliot_replay_step_back(foliot_replay *replay)
{
    uint64_t tick = foliot_replay_get_tick(replay);
    if (tick <= replay->about.first_tick)
        return FOLIOT_STATUS_NOT_FOUND;
    const foliot_world *world = foliot_replay_get_world(replay);
    if (!world)
        return foliot_replay_seek(replay, tick - 1);
    const foliot_integrator_info *integrator =
        foliot_integrator_get_info(foliot_world_get_integrator(world));
    foliot_status status = FOLIOT_STATUS_UNSUPPORTED;
    if (integrator->reversible == FOLIOT_REVERSIBILITY_EXACT)
        status = step_inverse(replay, tick - 1);
    if (status == FOLIOT_STATUS_UNSUPPORTED)
        return foliot_replay_seek(replay, tick - 1);
    return status == FOLIOT_STATUS_OK ? check_state(replay) : status;
}

// -- the recorded data

foliot_status foliot_replay_get_inputs(foliot_replay *replay, uint64_t tick,
                                       const foliot_input **inputs, uint32_t *count)
{
    if (tick < replay->about.first_tick || tick >= replay->about.last_tick)
        return FOLIOT_STATUS_NOT_FOUND;
    foliot_status status = foliot__replay_locate(replay, tick);
    if (status == FOLIOT_STATUS_OK)
        foliot__input_log_at(&replay->content.inputs, tick, inputs, count);
    return status;
}

foliot_status foliot_replay_get_commands(foliot_replay *replay, uint64_t tick,
                                         const foliot_command **commands, uint32_t *count)
{
    const foliot_input *inputs;
    foliot_status status = foliot_replay_get_inputs(replay, tick, &inputs, count);
    if (status == FOLIOT_STATUS_OK)
        *count = foliot__session_log_commands_at(&replay->content.session, tick, commands);
    return status;
}

foliot_status foliot_replay_get_orders(foliot_replay *replay, uint64_t tick,
                                       const foliot_order **orders, uint32_t *count)
{
    const foliot_input *inputs;
    foliot_status status = foliot_replay_get_inputs(replay, tick, &inputs, count);
    if (status == FOLIOT_STATUS_OK)
        *count = foliot__session_log_orders_at(&replay->content.session, tick, orders);
    return status;
}

// Whether there is a keyframe of exactly this tick; it is the segment's then.
static bool load_segment(foliot_replay *replay, uint64_t tick)
{
    int64_t k = keyframe_before(replay, tick);
    if (k < 0 || replay->index[k][0] != tick)
        return false;
    return (replay->segment.known && replay->segment.tick == tick) ||
           load_keyframe(replay, k) == FOLIOT_STATUS_OK;
}

uint32_t foliot_replay_get_digest(foliot_replay *replay, uint64_t tick, uint8_t bytes[16])
{
    if (tick == replay->about.first_tick) {
        if (!load_segment(replay, tick))
            return 0;
        memcpy(bytes, replay->segment.keyframe.digest, 16);
        return 16;
    }
    if (tick < replay->about.first_tick || tick > replay->about.last_tick ||
        foliot__replay_locate(replay, tick - 1) != FOLIOT_STATUS_OK)
        return 0;
    const uint8_t *recorded;
    uint32_t count = foliot__recording_content_digest(&replay->content, tick, &recorded);
    if (count)
        memcpy(bytes, recorded, count);
    return count;
}

const uint8_t *foliot_replay_get_keyframe(foliot_replay *replay, uint64_t tick, size_t *length)
{
    if (!load_segment(replay, tick) || replay->segment.keyframe.packed)
        return NULL;
    *length = replay->segment.keyframe.state.length;
    return replay->segment.keyframe.state.bytes;
}

const uint8_t *foliot_replay_get_rules_state(foliot_replay *replay, uint64_t tick, size_t *length)
{
    if (!load_segment(replay, tick) || !replay->segment.keyframe.has_rules)
        return NULL;
    *length = replay->segment.keyframe.rules.length;
    return replay->segment.keyframe.rules.bytes;
}
