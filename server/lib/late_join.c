// SPDX-License-Identifier: MIT
// late_join.c: newcomers in lockstep. They are sent a saved state, in parts and never more of it on its way than a
// window, then the ticks since, and from then on what everybody is sent. Players notice nothing of it.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "internal.h"

// -- saving ---------------------------------------------------------------------------------------------------

static bool in_use(const foliot__session *s, uint32_t keyframe)
{
    const foliot_server *server = s->server;
    for (uint32_t i = 0; i < server->peers_max; i++) {
        const foliot__peer *p = &server->peers[i];
        if (p->state == FOLIOT__PEER_IN && p->session == s && !p->lockstep.bulk_sent && p->lockstep.keyframe == keyframe)
            return true;
    }
    return false;
}

static bool grow(foliot__keyframe *k, size_t length)
{
    if (length <= k->capacity)
        return true;
    uint8_t *bytes = realloc(k->bytes, length);
    if (!bytes)
        return false;
    k->bytes = bytes;
    k->capacity = length;
    return true;
}

// Over which one to save, with what the players have given so far: their slots are not the worker's to read.
void foliot__keyframe_prepare(foliot__session *s, foliot__keyframe *k)
{
    size_t head = 4 * (size_t)s->player_limit;
    k->valid = false;
    k->players = s->player_limit;
    if (!grow(k, head + 1))
        return;
    foliot__writer w = foliot__writer_of(k->bytes, head);
    for (uint32_t p = 0; p < s->player_limit; p++)
        foliot__write_u32(&w, s->players[p].input_sequence);
    s->lockstep->saving = k;
}

// Before a step: whether it saves.
void foliot__keyframe_choose(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    foliot__keyframe *oldest = NULL;
    l->saving = NULL;
    if ((s->tick + 1) % l->keyframe_ticks != 0)
        return;
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        foliot__keyframe *k = &l->keyframes[i];
        if (!in_use(s, i) && (!oldest || (oldest->valid && (!k->valid || k->tick < oldest->tick))))
            oldest = k;
    }
    if (oldest)
        foliot__keyframe_prepare(s, oldest);
    else
        s->server->counters.keyframes_unsaved++;
}

// On the worker that has stepped.
void foliot__keyframe_save(foliot__session *s)
{
    foliot__keyframe *k = s->lockstep->saving;
    const foliot_simulation *simulation = &s->lockstep->simulation;
    size_t length = 0, head = 4 * (size_t)s->player_limit;
    if (!k || foliot_simulation_save(simulation, NULL, 0, &length) != FOLIOT_OK || length + head > UINT32_MAX ||
        !grow(k, head + length + 1))
        return;
    k->valid = foliot_simulation_save(simulation, k->bytes + head, length, &length) == FOLIOT_OK;
    k->length = head + length;
    k->tick = foliot_simulation_tick(simulation);
}

// When the step is taken in.
bool foliot__keyframe_saved(foliot__session *s)
{
    foliot__keyframe *k = s->lockstep->saving;
    s->lockstep->saving = NULL;
    if (k && k->valid)
        s->server->counters.keyframes_saved++;
    return k && k->valid;
}

const foliot__keyframe *foliot__keyframe_before(const foliot__session *s, uint64_t tick)
{
    const foliot__lockstep *l = s->lockstep;
    const foliot__keyframe *best = NULL, *oldest = NULL;
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        const foliot__keyframe *k = &l->keyframes[i];
        if (!k->valid || k == l->saving || k->tick < l->log.first)
            continue;
        if (k->tick <= tick && (!best || k->tick > best->tick))
            best = k;
        if (!oldest || k->tick < oldest->tick)
            oldest = k;
    }
    return best ? best : oldest;
}

// -- sending --------------------------------------------------------------------------------------------------

bool foliot__late_join_begin(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    const foliot__keyframe *k = foliot__keyframe_before(s, foliot__lockstep_visible(s, peer));
    foliot__lockstep_peer *p = &peer->lockstep;
    if (!k)
        return false;
    *p = (foliot__lockstep_peer){.start = k->tick, .acked = k->tick, .stepped = k->tick, .compared = k->tick,
                                 .keyframe = (uint32_t)(k - l->keyframes),
                                 .sum_start = l->sums[k->tick & (l->log.capacity - 1)]};
    if (peer->player != FOLIOT__NO_PLAYER)
        foliot__stream_restart(&l->streams[peer->player]);
    s->server->counters.keyframes_sent++;
    foliot__late_join_pump(s, peer);
    return true;
}

static void send_part(foliot__session *s, foliot__peer *peer, const foliot__keyframe *k)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__message m = {.kind = FOLIOT__KEYFRAME_PART};
    size_t left = k->length - p->sent;
    m.as.keyframe_part.tick = k->tick;
    m.as.keyframe_part.players = k->players;
    m.as.keyframe_part.offset = (uint32_t)p->sent;
    m.as.keyframe_part.total = (uint32_t)k->length;
    m.as.keyframe_part.bytes = k->bytes + p->sent;
    m.as.keyframe_part.length = (uint32_t)(left < FOLIOT__KEYFRAME_PART_BYTES ? left : FOLIOT__KEYFRAME_PART_BYTES);
    foliot__server_send(s->server, peer->id, &m);
    p->sent += m.as.keyframe_part.length;
    s->server->counters.keyframe_bytes_sent += m.as.keyframe_part.length;
}

// The ticks from the state until now, reliably: they are all needed, and many.
static void send_ticks(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    uint64_t end = foliot__lockstep_visible(s, peer), from = peer->lockstep.start;
    uint8_t block[FOLIOT__SCENE_PART_BYTES];
    while (from < end) {
        uint64_t next;
        size_t length = foliot__block_of_oldest(&l->log, from, end, &l->block, block, sizeof block, &next);
        if (length == SIZE_MAX)
            break;
        foliot__message m = {.kind = FOLIOT__TICKS_PART};
        m.as.ticks_part.first = from;
        m.as.ticks_part.ticks = (uint32_t)(next - from);
        m.as.ticks_part.block = block;
        m.as.ticks_part.length = (uint32_t)length;
        foliot__server_send(s->server, peer->id, &m);
        from = next;
    }
    peer->lockstep.bulk = from;
    peer->lockstep.bulk_sent = true;
}

// It has heard nothing for so long that what it lacks is forgotten.
static bool fell_behind(const foliot__session *s, const foliot__peer *peer)
{
    return peer->lockstep.bulk_sent && peer->lockstep.acked < s->lockstep->log.first;
}

void foliot__late_join_pump(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    if (fell_behind(s, peer)) {
        s->server->counters.behind++;
        foliot__server_event(s->server, FOLIOT_SERVER_BEHIND, s, peer->player, s->lockstep->log.first - p->acked,
                             peer->name);
        foliot__late_join_begin(s, peer);
        return;
    }
    if (p->bulk_sent)
        return;
    const foliot__keyframe *k = &s->lockstep->keyframes[p->keyframe];
    while (p->sent < k->length && p->sent - p->heard < FOLIOT__KEYFRAME_WINDOW)
        send_part(s, peer, k);
    if (p->sent == k->length)
        send_ticks(s, peer);
}

void foliot__late_join_heard(foliot__session *s, foliot__peer *peer, const foliot__keyframe_heard *heard)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    if (heard->tick == p->start && heard->offset > p->heard && heard->offset <= p->sent)
        p->heard = heard->offset;
    foliot__late_join_pump(s, peer);
}
