// SPDX-License-Identifier: MIT
// stream.c: a player's inputs in lockstep, from their arrival until their tick is closed. Each tick
// is accepted once: a different version of it later is a violation. A tick without inputs leaves
// the controls as they were. Inputs for ticks that are not closed are relayed to players who
// predict: each once, in at most one packet a tick, within a share of the traffic, and never to
// spectators, who may have to see the world later. Early relaying does not change the inputs that a
// tick is closed with.
#include <string.h>

#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

#include "base/assert.h"

// -- receiving

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

// Its tick is closed: it counts in the next one, unless a newer one has been applied.
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
    if (foliot__tick_log_has(&stream->log, tick)) { // repeated, or contradicted
        foliot_input before[FOLIOT__INPUTS_A_TICK];
        uint32_t had = foliot__tick_log_read(&stream->log, tick, before, FOLIOT__INPUTS_A_TICK);
        bool same = had == count;
        for (uint32_t i = 0; same && i < count; i++)
            same = memcmp(before[i].axes, inputs[i].axes, sizeof inputs->axes) == 0 &&
                   before[i].buttons == inputs[i].buttons;
        if (!same)
            foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_contradicted);
        else
            counters->inputs_repeated += count;
        return;
    }
    if (foliot__tick_log_put(&stream->log, tick, inputs, count) != FOLIOT_STATUS_OK) {
        counters->inputs_refused += count;
    } else if (tick < stream->given && count) {
        receive_late(s, peer->player, tick, inputs, count);
    } else {
        counters->inputs += count;
        foliot__early_add(s, tick, inputs, count);
    }
}

void foliot__stream_receive(foliot__session *s, foliot__peer *peer, const foliot__block *block,
                            uint64_t first)
{
    foliot__stream *stream = &s->lockstep->streams[peer->player];
    for (uint32_t i = 0; i < block->count; i++)
        if (block->inputs[i].player != peer->player ||
            block->inputs[i].kind != FOLIOT_INPUT_CONTROL) {
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

void foliot__stream_close(foliot__session *s, uint32_t player)
{
    foliot__stream *stream = &s->lockstep->streams[player];
    foliot__input_queue *queue = &s->players[player].input.queue;
    foliot_input inputs[FOLIOT__INPUTS_A_TICK];
    if (stream->begun) {
        // The stream began with the tick that was closed next, and has all later ones: the remains
        // of an earlier player were cleared.
        FOLIOT_ASSERT(stream->given == s->tick);
        uint32_t here = foliot__tick_log_read(&stream->log, s->tick, inputs, FOLIOT__INPUTS_A_TICK);
        FOLIOT_ASSERT(here <= FOLIOT__INPUTS_A_TICK);
        queue_inputs(queue, s->tick, inputs, here);
        if (here)
            stream->newest_given = s->tick + 1;
        stream->given = s->tick + 1;
        int64_t peer = s->players[player].peer; // one that watches sends no word for every tick
        if (!foliot__tick_log_has(&stream->log, s->tick) &&
            (peer < 0 || foliot__peer_is_stepper(&s->server->peers[peer]))) {
            stream->missing++;
            s->server->counters.ticks_missing++;
        }
        if (s->tick > FOLIOT__STREAM_PAST)
            foliot__tick_log_forget(&stream->log, s->tick - FOLIOT__STREAM_PAST);
    }
    // The tick that a stepping player was shown when its controls for this tick changed.
    const foliot__player_input *input = &s->players[player].input;
    const struct foliot__shown_at *at = &input->shown_at[s->tick % FOLIOT__SHOWN_TICKS];
    foliot__input_queue_show(
        queue, foliot__shown_of(s->tick, at->tick == s->tick ? at->before : input->shown_before));
}

// -- handing on early

void foliot__early_ask(foliot__session *s, foliot__peer *peer)
{
    s->server->counters.early_asked++;
    if (foliot__peer_floods(s, peer))
        return;
    peer->lockstep.early_until_ns = s->lockstep->early.until_ns =
        s->server->now_ns + FOLIOT__EARLY_ASKED_NS;
}

void foliot__early_allow(foliot__session *s, size_t bytes)
{
    foliot__early_queue *q = &s->lockstep->early;
    q->bytes += FOLIOT__EARLY_SHARE * (double)bytes;
    if (q->bytes > FOLIOT__EARLY_BYTES_MAX)
        q->bytes = FOLIOT__EARLY_BYTES_MAX;
}

// Ordered by tick, then by player: few wait at once.
void foliot__early_add(foliot__session *s, uint64_t tick, const foliot_input *inputs,
                       uint32_t count)
{
    foliot__early_queue *q = &s->lockstep->early;
    for (uint32_t i = 0; i < count && s->server->now_ns < q->until_ns; i++) {
        uint32_t at = q->count;
        if (q->count == FOLIOT__EARLY_QUEUE) {
            s->server->counters.early_dropped += count - i;
            return;
        }
        for (; at > 0 && (q->ticks[at - 1] > tick || (q->ticks[at - 1] == tick &&
                                                      q->inputs[at - 1].player > inputs[i].player));
             at--) {
            q->ticks[at] = q->ticks[at - 1];
            q->inputs[at] = q->inputs[at - 1];
        }
        q->ticks[at] = tick;
        q->inputs[at] = inputs[i];
        q->count++;
    }
}

static void drop_front(foliot__early_queue *q, uint32_t count)
{
    q->count -= count;
    memmove(q->inputs, q->inputs + count, q->count * sizeof *q->inputs);
    memmove(q->ticks, q->ticks + count, q->count * sizeof *q->ticks);
}

// Encodes the first inputs, as many as fit into a packet. *taken is their number; 0: no packet.
static size_t encode_first(foliot__session *s, uint32_t *taken,
                           uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    foliot__early_queue *q = &s->lockstep->early;
    foliot__block *block = &s->lockstep->block;
    uint8_t body[FOLIOT__EARLY_BLOCK_BYTES];
    uint64_t first = q->ticks[0];
    uint32_t count = 0;
    size_t length = SIZE_MAX;
    while (count < q->count && q->ticks[count] - first < FOLIOT__EARLY_TICKS_MAX) {
        block->ages[count] = (uint32_t)(q->ticks[count] - first);
        block->inputs[count] = q->inputs[count];
        count++;
    }
    for (; count > 0 && length == SIZE_MAX; count /= 2) {
        block->count = *taken = count;
        block->ticks = block->ages[count - 1] + 1;
        length = foliot__block_encode(block, body, sizeof body);
    }
    if (length == SIZE_MAX)
        *taken = 0;
    const foliot__early packet = {
        .first = (uint32_t)first, .ticks = block->ticks, .block = body, .block_length = length};
    return *taken ? foliot__early_encode(&packet, bytes) : 0;
}

void foliot__early_update(foliot__session *s)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    foliot_server *server = s->server;
    foliot__early_queue *q = s->lockstep ? &s->lockstep->early : NULL;
    uint32_t closed = 0, peers = 0, taken;
    if (!q || q->count == 0)
        return;
    uint64_t closes = s->lockstep->log.end;
    while (closed < q->count && q->ticks[closed] < closes)
        closed++;
    drop_front(q, closed); // the relay of the tick has them
    if (q->count == 0 || q->sent_before > closes || foliot__session_has_ended(s))
        return;
    size_t length = encode_first(s, &taken, bytes);
    for (foliot__peer *peer = s->peers; length > 0 && peer; peer = peer->next) {
        if (peer->state != FOLIOT__PEER_IN || !foliot__peer_is_stepper(peer) ||
            !peer->lockstep.transfer.bulk_sent || peer->player == FOLIOT_NO_PLAYER ||
            peer->lockstep.early_until_ns <= server->now_ns)
            continue;
        bool news = false; // to this peer
        for (uint32_t i = 0; i < taken && !news; i++)
            news = q->inputs[i].player != peer->player;
        if (news)
            server->group[peers++] = peer->id;
    }
    if ((double)(length * peers) > q->bytes)
        return; // they wait; their tick may be closed before
    if (peers > 0) {
        q->bytes -= (double)(length * peers);
        uint32_t sent = foliot_transport_send_many(server->config.transport, server->group, peers,
                                                   FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
        server->counters.early_sent += sent;
        server->counters.early_bytes_sent += length * sent;
        q->sent_before = closes + 1;
    }
    drop_front(q, taken ? taken : 1);
}
