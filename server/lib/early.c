// SPDX-License-Identifier: MIT
// early.c: inputs for ticks that are not closed, handed on to players who predict: they guess less.
// A closed tick says what was; this only says it sooner. Each input is sent once, in at most one
// packet a tick, and never to spectators, who may have to see the world later. They take a bounded
// share of the traffic: with many players some are not handed on. Invariant: nothing here changes
// what a tick is closed with.
#include <string.h>

#include "lockstep.h"
#include "peer.h"
#include "session.h"

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

// The first inputs that a packet holds. *taken is their number; 0: no packet.
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

// Whether something in the packet is news to the peer.
static bool wants(const foliot__session *s, const foliot__peer *peer, uint32_t count)
{
    const foliot__early_queue *q = &s->lockstep->early;
    if (peer->state != FOLIOT__PEER_IN || !foliot__peer_is_stepper(peer) ||
        !peer->lockstep.bulk_sent || peer->player == FOLIOT__NO_PLAYER ||
        peer->lockstep.early_until_ns <= s->server->now_ns)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (q->inputs[i].player != peer->player)
            return true;
    return false;
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
    drop_front(q, closed); // the relay of the tick says it
    if (q->count == 0 || q->sent_before > closes || foliot__session_has_ended(s))
        return;
    size_t length = encode_first(s, &taken, bytes);
    for (foliot__peer *peer = s->peers; length > 0 && peer; peer = peer->next)
        if (wants(s, peer, taken))
            server->group[peers++] = peer->id;
    if ((double)(length * peers) > q->bytes)
        return; // they wait, and are closed perhaps
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
