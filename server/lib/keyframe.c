// SPDX-License-Identifier: MIT
// keyframe.c: saved states of a lockstep session, for newcomers and for searches. A state is not
// overwritten while it is being sent, but a peer that does not acknowledge it cannot hold it: there
// is always one for newcomers, and a slot for the next.
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "lockstep.h"
#include "peer.h"
#include "session.h"

#define HEAD_START_BYTES 16384.0 // of a rate: a peer that has just begun is not slow yet

static bool reserve(uint8_t **bytes, size_t *capacity, size_t length)
{
    if (length <= *capacity)
        return true;
    uint8_t *larger = realloc(*bytes, length);
    if (!larger)
        return false;
    *bytes = larger;
    *capacity = length;
    return true;
}

static bool reserve_bytes(foliot__keyframe *k, size_t length)
{
    return reserve(&k->bytes, &k->capacity, length);
}

// Writes the players' sequence numbers, which the worker may not read; the next save goes to `k`.
void foliot__keyframe_prepare(foliot__session *s, foliot__keyframe *k)
{
    size_t head = 4 * (size_t)s->player_limit;
    k->valid = false;
    k->players = s->player_limit;
    if (!reserve_bytes(k, head + 1))
        return;
    foliot__writer w = foliot__writer_of(k->bytes, head);
    for (uint32_t p = 0; p < s->player_limit; p++)
        foliot__write_u32(&w, s->players[p].input.sequence);
    s->lockstep->saving = k;
}

// Counts the peers that are being sent each state, and the rate of the fastest one. A peer whose
// address is also sent a newer state counts half: one address must not hold several.
static void count_pins(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    enum { FORGET, FIND_NEWEST, COUNT, PASSES };
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        l->keyframes[i].pins = 0;
        l->keyframes[i].rate = 0;
    }
    for (int pass = FORGET; pass < PASSES; pass++)
        for (foliot__peer *peer = s->peers; peer; peer = peer->next) {
            const foliot__lockstep_peer *p = &peer->lockstep;
            if (peer->state != FOLIOT__PEER_IN || !foliot__peer_steps(peer) || !p->transfer.joining)
                continue;
            foliot__keyframe *k = &l->keyframes[p->transfer.keyframe];
            foliot__address *address = foliot__address_of(s->server, peer);
            if (pass == FORGET) {
                address->pinned_tick = 0;
            } else if (pass == FIND_NEWEST) {
                if (k->tick > address->pinned_tick)
                    address->pinned_tick = k->tick;
            } else {
                double age = (double)(s->server->now_ns - p->transfer.begun_ns) * 1e-9 + 1;
                double rate = (double)(p->transfer.acknowledged + HEAD_START_BYTES) / age *
                              (k->tick < address->pinned_tick ? 0.5 : 1);
                k->pins++;
                k->rate = rate > k->rate ? rate : k->rate;
            }
        }
}

void foliot__keyframe_withdraw(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    uint64_t lacks = s->lockstep->log.first > p->acked ? s->lockstep->log.first - p->acked : 0;
    p->transfer.joining = false;
    if (p->transfer.heal != FOLIOT__HEAL_NONE) // a healing peer continues with another one
        return;
    p->transfer.bulk_sent = false;
    p->transfer.begun_ns = s->server->now_ns;
    s->server->counters.behind++;
    foliot__server_event(s->server, FOLIOT_SERVER_BEHIND, s, peer->player, lacks, peer->name);
    if (++peer->misbehaviour.restarts <= FOLIOT__RESTARTS_MAX)
        return;
    if (s->world)
        foliot__peer_want(peer, FOLIOT__KIND_WATCHER, FOLIOT__KIND_SLOW);
    else
        foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_SLOW,
                          "it is too slow for the session's state");
}

// Returns the slot of the next state. It never overwrites one that newcomers need: the newest one
// that spectators may see, and all later ones. States that are being sent are overwritten last, the
// slowest first: a peer that acknowledges nothing blocks nothing.
static foliot__keyframe *place_to_save(foliot__session *s, bool withdraws)
{
    foliot__lockstep *l = s->lockstep;
    const foliot__keyframe *needed = foliot__keyframe_before(s, foliot__lockstep_shown(s, true));
    foliot__keyframe *oldest = NULL, *slowest = NULL;
    count_pins(s);
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        foliot__keyframe *k = &l->keyframes[i];
        if (k->valid && needed && k->tick >= needed->tick)
            continue;
        if (k->pins == 0 && (!oldest || (oldest->valid && (!k->valid || k->tick < oldest->tick))))
            oldest = k;
        if (k->pins > 0 && (!slowest || k->rate < slowest->rate))
            slowest = k;
    }
    if (oldest || !slowest || !withdraws)
        return oldest;
    s->server->counters.keyframes_taken_back++;
    for (foliot__peer *peer = s->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN && foliot__peer_steps(peer) &&
            peer->lockstep.transfer.joining &&
            &l->keyframes[peer->lockstep.transfer.keyframe] == slowest)
            foliot__keyframe_withdraw(s, peer);
    return slowest;
}

// Before a step: whether it saves.
void foliot__keyframe_choose(foliot__session *s)
{
    foliot__lockstep *l = s->lockstep;
    l->saving = NULL;
    bool due = (s->tick + 1) % l->keyframe_ticks == 0;
    bool wanted =
        l->keyframe_wanted && s->server->now_ns - l->keyframe_ns >= FOLIOT__KEYFRAME_LEAST_NS;
    if (!due && !wanted)
        return;
    // A state that is requested early takes no state away from anybody.
    foliot__keyframe *place = place_to_save(s, due);
    if (!place && !due)
        return;
    l->keyframe_wanted = false;
    l->keyframe_ns = s->server->now_ns;
    if (place)
        foliot__keyframe_prepare(s, place);
    else
        s->server->counters.keyframes_unsaved++;
}

// On the worker that has stepped.
void foliot__keyframe_save(foliot__session *s)
{
    foliot__keyframe *k = s->lockstep->saving;
    const foliot_simulation *simulation = &s->simulation;
    size_t length = 0, head = 4 * (size_t)s->player_limit;
    if (!k || foliot_simulation_capture(simulation, NULL, 0, &length) != FOLIOT_STATUS_OK ||
        length + head > UINT32_MAX || !reserve_bytes(k, head + length + 1))
        return;
    k->valid =
        foliot_simulation_capture(simulation, k->bytes + head, length, &length) == FOLIOT_STATUS_OK;
    k->length = head + length;
    k->tick = foliot_simulation_get_tick(simulation);
    if (!k->valid)
        return;
    // Compressed once for all peers that are sent it.
    length = foliot__keyframe_compress(&s->lockstep->encoder, k->bytes, k->length);
    k->packed_length = 0;
    if (length == 0 || !reserve(&k->packed, &k->packed_capacity, length))
        return;
    memcpy(k->packed, s->lockstep->encoder.packed, length);
    k->packed_length = length;
}

// When the step has finished.
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
    const foliot__keyframe *best = NULL;
    for (uint32_t i = 0; i < l->keyframe_count; i++) {
        const foliot__keyframe *k = &l->keyframes[i];
        if (k->valid && k != l->saving && k->tick >= l->log.first && k->tick <= tick &&
            (!best || k->tick > best->tick))
            best = k;
    }
    return best;
}
