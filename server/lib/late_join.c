// SPDX-License-Identifier: MIT
// late_join.c: bulk data for newcomers: the scene, and in lockstep a saved state, in parts within a
// window, then the ticks since. All newcomers share a budget of bytes a second, in turn by address
// and then by peer, so that no tick or newcomer waits for a client that joins repeatedly.
#include "lockstep.h"
#include "peer.h"
#include "player.h"
#include "session.h"

#include "base/assert.h"

#define PART_HEAD_BYTES 64 // that a message costs in addition to its bytes
#define SCENE_NS_MAX 60000000000u
#define PROGRESS_ROUND_TRIPS 4
// Bytes of a state in flight before any is acknowledged: ENet's limit of bytes in flight.
#define FIRST_WINDOW (4 * (size_t)foliot__lockstep_limits_now()->heard_bytes)
// A healing state must not delay a search or snapshots: bytes in flight, three parts, since a
// client that keeps another state acknowledges each part; and the latest time at which it begins.
#define HEAL_WINDOW (FOLIOT__KEYFRAME_PART_BYTES + 2 * 8192u)
#define HEAL_BEGINS_NS 1000000000u
// All newcomers together.
#define BYTE_NS 125.0                // 8 MB a second
#define BYTES_AT_ONCE (256.0 * 1024) // after a pause
#define EVERY_NS 1000000u

bool foliot__late_join_possible(const foliot__session *s, bool spectates)
{
    return foliot__keyframe_before(s, foliot__lockstep_shown(s, spectates)) != NULL;
}

// The peer begins again with this state.
static void adopt_state(const foliot__session *s, foliot__lockstep_peer *p,
                        const foliot__keyframe *k)
{
    const foliot__lockstep *l = s->lockstep;
    const foliot__state_transfer *before = &p->transfer;
    *p = (foliot__lockstep_peer){.start = k->tick,
                                 .acked = k->tick,
                                 .commanded = k->tick,
                                 .echo_ms = p->echo_ms,
                                 .stamp = p->stamp,
                                 .transfer = {.joining = true,
                                              .goes_on = true,
                                              .bulk = k->tick,
                                              .keyframe = (uint32_t)(k - l->keyframes),
                                              .sent = before->sent,
                                              .acknowledged = before->acknowledged,
                                              .progress = before->progress,
                                              .begun_ns = before->begun_ns,
                                              .progress_ns = before->progress_ns},
                                 .check = {.stepped = k->tick,
                                           .compared = k->tick,
                                           .sum_start = l->sums[k->tick & (l->log.capacity - 1)]}};
}

// NULL: there is none to send.
static const foliot__keyframe *next_state(const foliot__session *s, const foliot__peer *peer)
{
    const foliot__keyframe *k = foliot__keyframe_before(s, foliot__lockstep_visible(s, peer));
    const foliot__lockstep_peer *p = &peer->lockstep;
    return k && p->transfer.heal != FOLIOT__HEAL_NONE && k->tick <= p->transfer.heal_after ? NULL
                                                                                           : k;
}

// The bytes of a state that are sent: compressed, if that saves any.
static const uint8_t *bytes_to_send(const foliot__keyframe *k, size_t *length)
{
    *length = k->packed_length ? k->packed_length : k->length;
    return k->packed_length ? k->packed : k->bytes;
}

// When the peer must have acknowledged more of its state. A part that was lost three times on a
// path with a round trip of seconds, and all that waits behind it, takes longer than PROGRESS_NS.
static uint64_t progress_deadline(const foliot__session *s, const foliot__peer *peer)
{
    uint64_t resends_ns = PROGRESS_ROUND_TRIPS *
                          foliot_transport_get_round_trip_ns(s->server->config.transport, peer->id);
    return s->server->now_ns + FOLIOT__PROGRESS_NS +
           (resends_ns < FOLIOT__PROGRESS_NS ? resends_ns : FOLIOT__PROGRESS_NS);
}

static size_t send_part(foliot__session *s, foliot__peer *peer, const foliot__keyframe *k)
{
    foliot__state_transfer *t = &peer->lockstep.transfer;
    foliot__message m = {.kind = FOLIOT__KEYFRAME_PART};
    size_t total;
    const uint8_t *bytes = bytes_to_send(k, &total);
    size_t left = total - t->sent;
    m.as.keyframe_part.tick = k->tick;
    m.as.keyframe_part.players = k->players;
    m.as.keyframe_part.offset = (uint32_t)t->sent;
    m.as.keyframe_part.total = (uint32_t)total;
    m.as.keyframe_part.state_bytes = (uint32_t)k->length;
    m.as.keyframe_part.bytes = bytes + t->sent;
    m.as.keyframe_part.length =
        (uint32_t)(left < FOLIOT__KEYFRAME_PART_BYTES ? left : FOLIOT__KEYFRAME_PART_BYTES);
    foliot__server_send(s->server, peer->id, &m);
    if (t->sent == t->acknowledged && t->sent > 0) // nothing was on its way: the time begins now
        t->progress_ns = progress_deadline(s, peer);
    t->sent += m.as.keyframe_part.length;
    s->server->counters.keyframe_bytes_sent += m.as.keyframe_part.length;
    return m.as.keyframe_part.length;
}

// Sends some of the many ticks from the state until now, reliably: all of them are needed.
static size_t send_ticks(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__state_transfer *t = &p->transfer;
    uint64_t end = foliot__lockstep_visible(s, peer), next = t->bulk;
    uint8_t block[FOLIOT__SCENE_PART_BYTES], runs[FOLIOT__COMMAND_RUNS_BYTES];
    size_t length = 0;
    uint64_t first = t->bulk, last = end;
    foliot__command_runs(&l->commands, &first, &last, false, runs); // for fewer ticks, perhaps
    if (t->bulk < end)
        length =
            foliot__block_of_oldest(&l->log, t->bulk, last, &l->block, block, sizeof block, &next);
    if (t->bulk < end && length != SIZE_MAX) {
        foliot__message m = {.kind = FOLIOT__TICKS_PART};
        m.as.ticks_part.first = t->bulk;
        m.as.ticks_part.ticks = (uint32_t)(next - t->bulk);
        m.as.ticks_part.block = block;
        m.as.ticks_part.length = (uint32_t)length;
        m.as.ticks_part.commands = runs;
        m.as.ticks_part.commands_length =
            (uint32_t)foliot__command_runs(&l->commands, &first, &next, false, runs);
        foliot__server_send(s->server, peer->id, &m);
        t->bulk = next;
    }
    if (t->bulk == end || length == SIZE_MAX) {
        t->joining = false;
        t->bulk_sent = true;
        p->word_ns = s->server->now_ns;
        p->patience_ns = FOLIOT__SILENT_NS + (t->sent - t->acknowledged) * 1000000000u /
                                                 FOLIOT__PROGRESS_BYTES_A_SECOND;
    }
    return length == SIZE_MAX ? 0 : length + PART_HEAD_BYTES;
}

// Whether the peer is to be sent part of a state or of the ticks since.
static bool wants_state(const foliot__session *s, const foliot__peer *peer)
{
    const foliot__lockstep_peer *p = &peer->lockstep;
    const foliot__state_transfer *t = &p->transfer;
    size_t total;
    if (peer->role == FOLIOT__PEER_CLOSING)
        return false;
    if (!t->joining && t->heal == FOLIOT__HEAL_NONE)
        return !t->bulk_sent;
    if (!t->joining) // a peer that heals has something to show first
        return next_state(s, peer) && (!foliot__peer_watches(peer) ||
                                       peer->snapshots.baseline == FOLIOT__BASELINE_ACKNOWLEDGED ||
                                       s->server->now_ns - p->check.diverged_ns >= HEAL_BEGINS_NS);
    bytes_to_send(&s->lockstep->keyframes[t->keyframe], &total);
    // During the search for its divergence, it keeps the diverged state.
    if (t->heal == FOLIOT__HEAL_HELD && t->sent + FOLIOT__KEYFRAME_PART_BYTES >= total)
        return false;
    // The window grows with the peer's acknowledgements. Bytes in flight cannot be called back: if
    // a state is withdrawn because the path is slow, the next one queues behind all of them.
    size_t window = t->heal != FOLIOT__HEAL_NONE ? HEAL_WINDOW : FIRST_WINDOW + 2 * t->acknowledged;
    window = window < FOLIOT__KEYFRAME_WINDOW ? window : FOLIOT__KEYFRAME_WINDOW;
    return t->sent == total || t->sent - t->acknowledged < window;
}

// Sends part of a state, or of the ticks since. Returns the number of bytes; 0: not now.
static size_t send_state(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep *l = s->lockstep;
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__state_transfer *t = &p->transfer;
    uint64_t now = s->server->now_ns;
    if (!t->joining) {
        const foliot__keyframe *k = next_state(s, peer);
        if (!k)
            return 0;
        bool goes_on = t->goes_on;
        // Bytes sent before the state take time too, on a slow path.
        uint64_t scene_ns =
            (uint64_t)s->setup.length * 1000000000u / FOLIOT__PROGRESS_BYTES_A_SECOND;
        t->joining = true;
        t->keyframe = (uint32_t)(k - l->keyframes);
        t->sent = t->acknowledged = t->progress = 0;
        t->begun_ns = now;
        t->progress_ns =
            progress_deadline(s, peer) + (scene_ns < SCENE_NS_MAX ? scene_ns : SCENE_NS_MAX);
        if (t->heal == FOLIOT__HEAL_NONE)
            adopt_state(s, p, k);
        if (peer->player != FOLIOT_NO_PLAYER && !goes_on)
            foliot__stream_restart(s, peer->player);
        s->server->counters.keyframes_sent++;
    }
    const foliot__keyframe *k = &l->keyframes[t->keyframe];
    size_t total;
    bytes_to_send(k, &total);
    bool last = t->sent + FOLIOT__KEYFRAME_PART_BYTES >= total;
    if (t->heal == FOLIOT__HEAL_HELD && last)
        return 0;
    if (t->heal != FOLIOT__HEAL_NONE && last)
        adopt_state(s, p, k);
    FOLIOT_ASSERT(k->valid && (t->heal != FOLIOT__HEAL_NONE || k->tick == p->start) &&
                  t->sent <= total);
    return t->sent < total ? send_part(s, peer, k) : send_ticks(s, peer);
}

void foliot__late_join_check(foliot__session *s, foliot__peer *peer)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__state_transfer *t = &p->transfer;
    uint64_t now = s->server->now_ns;
    if (t->joining && t->heal == FOLIOT__HEAL_HELD && t->sent == t->acknowledged)
        t->progress_ns =
            progress_deadline(s, peer); // it waits for the server, not the server for it
    if (!t->joining && !t->bulk_sent && peer->scene_sent == s->setup.length &&
        now - t->begun_ns >= FOLIOT__PROGRESS_NS)
        foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_BUSY, "the session had no state for it");
    else if ((t->bulk_sent &&
              (p->acked < s->lockstep->log.first || p->commanded < s->lockstep->log.first)) ||
             (t->joining && t->heal == FOLIOT__HEAL_NONE && t->bulk < s->lockstep->log.first))
        foliot__keyframe_withdraw(s, peer); // ticks that it lacks are forgotten
    else if (t->joining && now >= t->progress_ns) {
        s->server->counters.keyframes_stalled++;
        if (s->world && t->acknowledged > 0)
            foliot__peer_want(peer, FOLIOT__KIND_WATCHER, FOLIOT__KIND_SLOW);
        else
            foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_SLOW,
                              "it acknowledged too little of the session's state");
    } else if (t->bulk_sent && now - p->word_ns >= p->patience_ns) {
        s->server->counters.peers_silent++;
        foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_SILENT,
                          "it sends only pings of its transport");
    }
}

void foliot__late_join_acknowledge(foliot__session *s, foliot__peer *peer,
                                   const foliot__keyframe_acknowledge *message)
{
    foliot__lockstep_peer *p = &peer->lockstep;
    foliot__state_transfer *t = &p->transfer;
    uint64_t tick = t->heal != FOLIOT__HEAL_NONE && t->joining
                        ? s->lockstep->keyframes[t->keyframe].tick
                        : p->start;
    if (message->tick != tick || message->offset <= t->acknowledged || message->offset > t->sent)
        return;
    t->acknowledged = message->offset;
    s->server->bulk.waits = true;
    if (t->acknowledged - t->progress < FOLIOT__PROGRESS_BYTES)
        return;
    t->progress = t->acknowledged;
    t->progress_ns = progress_deadline(s, peer);
}

// -- all newcomers

static size_t send_scene(foliot_server *server, foliot__peer *peer)
{
    const foliot__session *session = peer->session;
    size_t left = session->setup.length - peer->scene_sent;
    foliot__message m = {.kind = FOLIOT__SCENE_PART};
    m.as.scene_part.offset = (uint32_t)peer->scene_sent;
    m.as.scene_part.total = (uint32_t)session->setup.length;
    m.as.scene_part.bytes = session->setup.bytes + peer->scene_sent;
    m.as.scene_part.length =
        (uint32_t)(left < FOLIOT__SCENE_PART_BYTES ? left : FOLIOT__SCENE_PART_BYTES);
    foliot__server_send(server, peer->id, &m);
    peer->scene_sent += m.as.scene_part.length;
    if (peer->scene_sent == session->setup.length)
        peer->lockstep.transfer.begun_ns = server->now_ns; // from now on it waits for a state
    return m.as.scene_part.length;
}

static bool wants_bulk(const foliot__peer *peer)
{
    return peer->state == FOLIOT__PEER_IN &&
           (peer->scene_sent < peer->session->setup.length ||
            (foliot__peer_steps(peer) && wants_state(peer->session, peer)));
}

// Returns which of the first `count` of server->order is next: by address, then by peer.
static uint32_t next_in_turn(foliot_server *server, uint32_t count)
{
    uint32_t best = 0;
    uint64_t best_address = UINT64_MAX, best_peer = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        foliot__peer *peer = &server->peers[server->order[i]];
        uint64_t address = foliot__address_of(server, peer)->bulk_turn;
        if (address > best_address || (address == best_address && peer->bulk_turn >= best_peer))
            continue;
        best = i;
        best_address = address;
        best_peer = peer->bulk_turn;
    }
    return best;
}

void foliot__bulk_update(foliot_server *server)
{
    uint32_t count = 0;
    foliot__bucket *budget = &server->bulk.budget;
    bool asked =
        server->bulk.waits && budget->tokens > 0; // by a new peer, or one that acknowledged
    if (budget->filled_ns != 0 && server->now_ns - budget->filled_ns < EVERY_NS && !asked)
        return;
    foliot__bucket_fill(budget, BYTES_AT_ONCE, BYTE_NS, server->now_ns);
    for (uint32_t i = 0; i < server->peers_used; i++)
        if (wants_bulk(&server->peers[i]))
            server->order[count++] = i;
    while (count > 0 && budget->tokens > 0) {
        uint32_t i = next_in_turn(server, count);
        foliot__peer *peer = &server->peers[server->order[i]];
        size_t sent = peer->scene_sent < peer->session->setup.length
                          ? send_scene(server, peer)
                          : send_state(peer->session, peer);
        budget->tokens -= (double)sent;
        foliot__address_of(server, peer)->bulk_turn = peer->bulk_turn = ++server->bulk.turn;
        if (sent == 0 || !wants_bulk(peer))
            server->order[i] = server->order[--count];
    }
    server->bulk.waits = count > 0; // for bytes
}

uint64_t foliot__bulk_wake_ns(const foliot_server *server)
{
    const foliot__bucket *budget = &server->bulk.budget;
    return server->bulk.waits ? budget->filled_ns + (budget->tokens > 0 ? 1 : 4) * EVERY_NS
                              : UINT64_MAX;
}
