// SPDX-License-Identifier: MIT
// stream.c: a player's inputs in lockstep, from their arrival until their tick is closed. Each tick
// is taken once: a different version of it later is a violation. A tick without inputs leaves the
// controls as they were.
#include <string.h>

#include "base/assert.h"
#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

// -- receiving

static bool same_inputs(const foliot_input *a, const foliot_input *b, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(a[i].axes, b[i].axes, sizeof a->axes) != 0 || a[i].buttons != b[i].buttons)
            return false;
    return true;
}

// Said again, or said otherwise.
static void receive_again(foliot__session *s, foliot__peer *peer, uint64_t tick,
                          const foliot_input *inputs, uint32_t count)
{
    foliot_input before[FOLIOT__INPUTS_A_TICK];
    const foliot__stream *stream = &s->lockstep->streams[peer->player];
    uint32_t had = foliot__tick_log_read(&stream->log, tick, before, FOLIOT__INPUTS_A_TICK);
    if (had != count || !same_inputs(before, inputs, count))
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_contradicted);
    else
        s->server->counters.inputs_repeated += count;
}

static void queue_inputs(foliot__input_queue *queue, uint64_t tick, const foliot_input *inputs,
                         uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        foliot__queued_input input = {
            .tick = tick, .way = FOLIOT__INPUT_BY_TICK, .input = inputs[i]};
        bool added = foliot__input_queue_add(queue, &input);
        FOLIOT_ASSERT(added);
    }
}

// Its tick is closed: it counts in the next one, unless a newer one has been played.
static void receive_late(foliot__session *s, uint32_t player, uint64_t tick,
                         const foliot_input *inputs, uint32_t count)
{
    foliot__stream *stream = &s->lockstep->streams[player];
    foliot_server_counters *counters = &s->server->counters;
    foliot__input_queue *queue = &s->players[player].input.queue;
    if (tick + 1 < stream->newest_given ||
        count > FOLIOT__LATE_HELD - queue->counts[FOLIOT__INPUT_BY_TICK]) {
        counters->inputs_superseded += count;
        return;
    }
    queue_inputs(queue, tick, inputs, count);
    stream->late_changes += count;
    stream->newest_given = tick + 1;
    counters->inputs_late += count;
    counters->inputs += count;
}

static void receive_in_time(foliot__session *s, uint64_t tick, const foliot_input *inputs,
                            uint32_t count)
{
    s->server->counters.inputs += count;
    foliot__early_add(s, tick, inputs, count);
}

static void receive_tick(foliot__session *s, foliot__peer *peer, uint64_t tick,
                         const foliot_input *inputs, uint32_t count)
{
    foliot__stream *stream = &s->lockstep->streams[peer->player];
    foliot_server_counters *counters = &s->server->counters;
    if (count > FOLIOT__INPUTS_A_TICK || tick > s->tick + FOLIOT__TICKS_AHEAD_MAX) {
        counters->inputs_refused += count;
        return;
    }
    if (tick < stream->log.first) {
        counters->inputs_stale += count;
        if (count && tick + FOLIOT__LONG_AGO < s->tick)
            foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_long_ago);
        return;
    }
    if (foliot__tick_log_has(&stream->log, tick)) {
        receive_again(s, peer, tick, inputs, count);
        return;
    }
    if (foliot__tick_log_put(&stream->log, tick, inputs, count) != FOLIOT_STATUS_OK)
        counters->inputs_refused += count;
    else if (tick < stream->given && count)
        receive_late(s, peer->player, tick, inputs, count);
    else
        receive_in_time(s, tick, inputs, count);
}

static bool only_own_controls(const foliot__block *block, uint32_t player)
{
    for (uint32_t i = 0; i < block->count; i++)
        if (block->inputs[i].player != player || block->inputs[i].kind != FOLIOT_INPUT_CONTROL)
            return false;
    return true;
}

void foliot__stream_receive(foliot__session *s, foliot__peer *peer, const foliot__block *block,
                            uint64_t first)
{
    foliot__stream *stream = &s->lockstep->streams[peer->player];
    if (!only_own_controls(block, peer->player)) {
        foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_other_player);
        return;
    }
    if (!stream->begun) {
        uint64_t oldest = s->tick > FOLIOT__STREAM_PAST ? s->tick - FOLIOT__STREAM_PAST : 0;
        foliot__tick_log_clear(&stream->log, first > oldest ? first : oldest);
        stream->begun = true;
        stream->given = s->tick + s->step.running; // the tick that is closed next
    }
    uint32_t at = 0;
    for (uint32_t age = 0; age < block->ticks && peer->state == FOLIOT__PEER_IN; age++) {
        uint32_t from = at;
        while (at < block->count && block->ages[at] == age)
            at++;
        receive_tick(s, peer, first + age, block->inputs + from, at - from);
    }
}

// -- closing

void foliot__stream_restart(foliot__session *s, uint32_t player)
{
    foliot__stream *stream = &s->lockstep->streams[player];
    stream->begun = false;
    foliot__input_queue_drop(&s->players[player].input.queue, FOLIOT__INPUT_BY_TICK);
    foliot__tick_log_clear(&stream->log, 0);
}

// A player who watches gives no word for every tick.
static bool steps(const foliot__session *s, uint32_t player)
{
    int64_t peer = s->players[player].peer;
    return peer < 0 || foliot__peer_is_stepper(&s->server->peers[peer]);
}

// What a player who steps was shown when its controls for this tick changed.
static uint64_t shown_now(const foliot__session *s, const foliot__player_slot *player)
{
    const struct foliot__shown_at *at = &player->input.shown_at[s->tick % FOLIOT__SHOWN_TICKS];
    return foliot__shown_of(s->tick, at->tick == s->tick ? at->before : player->input.shown_before);
}

void foliot__stream_close(foliot__session *s, uint32_t player)
{
    foliot__stream *stream = &s->lockstep->streams[player];
    foliot__input_queue *queue = &s->players[player].input.queue;
    foliot_input inputs[FOLIOT__INPUTS_A_TICK];
    if (stream->begun) {
        // It began with the tick that was closed next, and all since were: what is left of an
        // earlier player's was cleared.
        FOLIOT_ASSERT(stream->given == s->tick);
        uint32_t here = foliot__tick_log_read(&stream->log, s->tick, inputs, FOLIOT__INPUTS_A_TICK);
        FOLIOT_ASSERT(here <= FOLIOT__INPUTS_A_TICK);
        queue_inputs(queue, s->tick, inputs, here);
        if (here)
            stream->newest_given = s->tick + 1;
        stream->given = s->tick + 1;
        if (!foliot__tick_log_has(&stream->log, s->tick) && steps(s, player)) {
            stream->missing++;
            s->server->counters.ticks_missing++;
        }
        if (s->tick > FOLIOT__STREAM_PAST)
            foliot__tick_log_forget(&stream->log, s->tick - FOLIOT__STREAM_PAST);
    }
    foliot__input_queue_show(queue, shown_now(s, &s->players[player]));
}
