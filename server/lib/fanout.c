// SPDX-License-Identifier: MIT
// fanout.c: snapshots to watchers. Without interest a snapshot is encoded once for each baseline,
// and sent to all peers that have this baseline; with interest each watcher gets its own packet.
#include "fanout.h"
#include "peer.h"
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "net/transport.h"

#define PEERS_AT_A_TIME 64u // fewer than the transport sends in one call
#define SNAPSHOTS_KEPT 128  // as baselines, next to those not yet shown to spectators
// A newcomer gets the same complete snapshot again and again, at first after this time, then after
// twice as much and so on, until it acknowledges any; a newer one once the first is old, and a
// reliable copy if all that took too long.
#define COMPLETE_FIRST_NS 12000000u
#define COMPLETE_EVERY_NS_MAX 200000000u
#define COMPLETE_OLD_NS 120000000u
#define COMPLETE_SHARED_NS 50000000u // several newcomers get the same one
#define COMPLETE_RELIABLE_NS 600000000u
#define COMPLETE_PIECES_MAX                                                                        \
    32 // pieces of a snapshot that is sent like that: larger ones go reliably at once

foliot_status foliot__fanout_init(foliot__session *session)
{
    session->snapshots.kept = SNAPSHOTS_KEPT + session->delay_ticks / session->snapshots.every;
    session->snapshots.ring = calloc(session->snapshots.kept, sizeof *session->snapshots.ring);
    if (!session->snapshots.ring)
        return FOLIOT_STATUS_MEMORY;
    for (uint32_t i = 0; i < session->snapshots.kept; i++) {
        foliot_snapshot *s = &session->snapshots.ring[i];
        s->capacity = session->snapshots.format.bodies_max;
        s->tick = UINT64_MAX;
        s->bodies = calloc(s->capacity ? s->capacity : 1, sizeof *s->bodies);
        if (!s->bodies)
            return FOLIOT_STATUS_MEMORY;
    }
    return foliot_snapshot_coder_create(&session->snapshots.format, &session->snapshots.coder);
}

bool foliot__fanout_is_recent(const foliot__session *session)
{
    return session->snapshots.coder &&
           session->tick - session->snapshots.newest < session->snapshots.every;
}

foliot_status foliot__fanout_refresh(foliot__session *session)
{
    if (foliot__fanout_is_recent(session) &&
        foliot__fanout_find(session, session->snapshots.newest))
        return FOLIOT_STATUS_OK;
    session->snapshots.newest = session->tick;
    session->snapshots.broadcast_ns = session->server->now_ns; // for new peers
    return foliot_snapshot_quantise(&session->snapshots.format, session->world,
                                    foliot__fanout_next(session, session->tick));
}

void foliot__fanout_close(foliot__session *session)
{
    for (uint32_t i = 0; session->snapshots.ring && i < session->snapshots.kept; i++)
        free(session->snapshots.ring[i].bodies);
    free(session->snapshots.ring);
    foliot_snapshot_coder_destroy(session->snapshots.coder);
    foliot_snapshot_pieces_destroy(&session->snapshots.pieces);
    foliot_snapshot_pieces_destroy(&session->snapshots.complete);
    foliot__interest_map_destroy(session->interest);
    session->interest = NULL;
    session->snapshots.ring = NULL; // it may be opened again
    session->snapshots.coder = NULL;
    session->snapshots.pieces = session->snapshots.complete = (foliot_snapshot_pieces){0};
    session->snapshots.complete_tick = FOLIOT__NO_TICK;
}

static foliot_snapshot *snapshot_place(const foliot__session *session, uint64_t tick)
{
    uint64_t index = tick / session->snapshots.every % session->snapshots.kept;
    return (foliot_snapshot *)(uintptr_t)&session->snapshots.ring[index];
}

foliot_snapshot *foliot__fanout_next(foliot__session *session, uint64_t tick)
{
    return snapshot_place(session, tick);
}

const foliot_snapshot *foliot__fanout_find(const foliot__session *session, uint64_t tick)
{
    const foliot_snapshot *s = snapshot_place(session, tick);
    return s->tick == tick ? s : NULL;
}

static uint64_t delay_of(const foliot__session *session, const foliot__peer *peer)
{
    return peer->player == FOLIOT_NO_PLAYER ? session->delay_ticks : 0;
}

// A session that is younger than the delay shows nothing: a client would take a first state that
// stands still for the clock.
static bool shows_snapshots(const foliot__session *session, const foliot__peer *peer)
{
    return session->snapshots.newest >= session->clock.first_tick + delay_of(session, peer);
}

uint64_t foliot__fanout_shown(const foliot__session *session, const foliot__peer *peer)
{
    uint64_t delay = delay_of(session, peer), first = session->clock.first_tick;
    if (delay == 0)
        return session->snapshots.newest;
    if (!shows_snapshots(session, peer))
        return first;
    uint64_t tick = session->snapshots.newest - delay;
    tick -= tick % session->snapshots.every;
    return tick > first ? tick : first; // the first may be of any tick
}

// Sends one snapshot to these peers.
static void send_pieces(foliot__session *session, const foliot_snapshot_pieces *p,
                        const foliot_peer_id *peers, uint32_t count, foliot_delivery delivery)
{
    foliot_server *server = session->server;
    uint8_t packet[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    for (uint32_t i = 0; i < p->count; i++) {
        size_t length = p->offsets[i + 1] - p->offsets[i];
        memcpy(packet + 1, p->bytes + p->offsets[i], length);
        uint32_t sent = foliot_transport_send_many(server->config.transport, peers, count, delivery,
                                                   packet, length + 1);
        server->counters.snapshot_pieces_sent += sent;
        server->counters.snapshot_bytes_sent += (length + 1) * sent;
    }
    server->counters.snapshots_sent += count;
}

static uint64_t ticks_ns(const foliot__session *session, uint64_t ticks)
{
    return (uint64_t)((double)ticks * 1e9 / session->clock.pace_hz);
}

// The complete snapshot that this newcomer is being sent, unless it is too old.
static const foliot_snapshot *complete_for(const foliot__session *session, const foliot__peer *peer)
{
    uint64_t tick = peer->snapshots.complete_tick, shown = foliot__fanout_shown(session, peer),
             shared = session->snapshots.complete_tick;
    if (peer->snapshots.complete_ns == 0 || ticks_ns(session, shown - tick) > COMPLETE_OLD_NS) {
        tick = shown;
        if (shared <= shown && ticks_ns(session, shown - shared) < COMPLETE_SHARED_NS)
            tick = shared;
    }
    return foliot__fanout_find(session, tick);
}

// A copy of a snapshot that was sent before does not count as another one.
static void count_sent(foliot__peer *peer, uint64_t tick)
{
    if (peer->snapshots.sent > 0 && tick <= peer->snapshots.sent_tick)
        return;
    peer->snapshots.sent++;
    peer->snapshots.sent_tick = tick;
}

static void send_complete(foliot__session *session, foliot__peer *peer)
{
    const foliot_snapshot *snapshot = complete_for(session, peer);
    if (!snapshot)
        return;
    if (session->snapshots.complete_tick != snapshot->tick) {
        // Against no baseline: encoded once for all consecutive peers that need it.
        bool encoded = foliot_snapshot_encode(session->snapshots.coder, snapshot, NULL,
                                              &session->snapshots.complete) == FOLIOT_STATUS_OK;
        session->snapshots.complete_tick = encoded ? snapshot->tick : FOLIOT__NO_TICK;
        if (!encoded)
            return;
    }
    bool small = session->snapshots.complete.count <= COMPLETE_PIECES_MAX;
    bool late = session->server->now_ns - peer->snapshots.greeted_ns > COMPLETE_RELIABLE_NS;
    session->server->counters.snapshots_complete++;
    count_sent(peer, snapshot->tick);
    if (small)
        send_pieces(session, &session->snapshots.complete, &peer->id, 1,
                    FOLIOT_DELIVERY_UNRELIABLE);
    if (!peer->snapshots.complete_reliable && (!small || late)) {
        send_pieces(session, &session->snapshots.complete, &peer->id, 1, FOLIOT_DELIVERY_RELIABLE);
        peer->snapshots.complete_reliable = true;
    }
    // Its copies most likely arrive before an acknowledgement could: deltas need not wait.
    peer->snapshots.baseline = small ? FOLIOT__BASELINE_SENT : FOLIOT__BASELINE_NONE;
    peer->snapshots.baseline_tick = peer->snapshots.complete_tick = snapshot->tick;
    peer->snapshots.complete_ns = session->server->now_ns;
}

void foliot__fanout_greet(foliot__session *session, foliot__peer *peer)
{
    peer->snapshots.greeted_ns = session->server->now_ns;
    peer->snapshots.complete_ns = 0;
    peer->snapshots.complete_reliable = false;
    peer->snapshots.complete_every_ns = COMPLETE_FIRST_NS;
    if (session->interest)
        return;
    if (shows_snapshots(session, peer))
        send_complete(session, peer);
}

// Moves the peers of the first one's group to the front: they have the same baseline and see the
// same tick. Returns their number.
static uint32_t gather_group(const foliot__session *session, uint32_t *order, uint32_t count)
{
    const foliot__peer *peers = session->server->peers, *first = &peers[order[0]];
    uint32_t gathered = 1;
    for (uint32_t i = 1; i < count; i++) {
        uint32_t other = order[i];
        if (peers[other].snapshots.baseline_tick != first->snapshots.baseline_tick ||
            foliot__fanout_shown(session, &peers[other]) != foliot__fanout_shown(session, first))
            continue;
        order[i] = order[gathered];
        order[gathered++] = other;
    }
    return gathered;
}

static void send_status(foliot__session *session, foliot__peer *peer)
{
    foliot_server *server = session->server;
    if (peer->input.arrived_ns == 0 ||
        server->now_ns - peer->snapshots.status_ns < FOLIOT__STATUS_EVERY_NS)
        return;
    peer->snapshots.status_ns = server->now_ns;
    const foliot__player_slot *player =
        peer->player == FOLIOT_NO_PLAYER ? NULL : &session->players[peer->player];
    int64_t slack_ns =
        (int64_t)(foliot__session_closes_ns(session, peer->input.tick) - peer->input.arrived_ns);
    int64_t slack_us = slack_ns / 1000;
    foliot__status_packet status = {
        .sent = peer->snapshots.sent,
        .tick = (uint32_t)peer->snapshots.sent_tick,
        .sequence = player ? player->input.next_sequence - 1 : 0,
        .slack_us = (int32_t)(slack_us < -1000000000  ? -1000000000
                              : slack_us > 1000000000 ? 1000000000
                                                      : slack_us),
        .late_changes = player ? (uint32_t)player->input.late_changes : 0,
        .echo_us = peer->input.echo_us,
        .held_us = (uint32_t)((server->now_ns - peer->input.arrived_ns) / 1000),
    };
    uint8_t bytes[FOLIOT__STATUS_PACKET_BYTES];
    foliot__status_packet_encode(&status, bytes);
    foliot__server_send_packet(server, peer->id, FOLIOT_DELIVERY_UNRELIABLE, bytes, sizeof bytes);
}

// All peers of a group lack the same bodies. The snapshot is sent to a few of them at a time, so
// that a peer's status and its snapshot leave in one datagram.
static void send_group(foliot__session *session, const uint32_t *order, uint32_t count)
{
    foliot_server *server = session->server;
    const foliot__peer *first = &server->peers[order[0]];
    const foliot_snapshot *newest =
        foliot__fanout_find(session, foliot__fanout_shown(session, first));
    const foliot_snapshot *baseline = foliot__fanout_find(session, first->snapshots.baseline_tick);
    bool encoded = newest && baseline && baseline->tick < newest->tick &&
                   foliot_snapshot_encode(session->snapshots.coder, newest, baseline,
                                          &session->snapshots.pieces) == FOLIOT_STATUS_OK;
    server->counters.snapshot_encodes += encoded;
    for (uint32_t from = 0; from < count; from += PEERS_AT_A_TIME) {
        uint32_t some = count - from < PEERS_AT_A_TIME ? count - from : PEERS_AT_A_TIME;
        for (uint32_t i = 0; i < some; i++) {
            foliot__peer *peer = &server->peers[order[from + i]];
            send_status(session, peer);
            server->group[i] = peer->id;
            if (encoded)
                count_sent(peer, foliot__fanout_shown(session, peer));
        }
        if (encoded)
            send_pieces(session, &session->snapshots.pieces, server->group, some,
                        FOLIOT_DELIVERY_UNRELIABLE);
    }
}

// Lags measure the host and are ignored while it catches up, and for snapshots sent late.
void foliot__fanout_acknowledge(const foliot__session *session, foliot__peer *peer, uint64_t tick)
{
    bool late = session->clock.running_late ||
                tick + delay_of(session, peer) <= session->clock.newest_late ||
                session->server->now_ns >= foliot__session_due_ns(session, session->tick + 1);
    uint64_t sent_ns = session->snapshots.broadcast_ns -
                       ticks_ns(session, foliot__fanout_shown(session, peer) - tick);
    uint64_t arrived_ns = session->server->arrived_ns;
    if (!late)
        foliot__rate_adaptation_acknowledge(&peer->rate, session->server->now_ns,
                                            arrived_ns > sent_ns ? arrived_ns - sent_ns : 0,
                                            ticks_ns(session, session->snapshots.every));
}

// -- to watchers with interest

static const foliot_snapshot *find_for(const void *user, uint64_t tick)
{
    return foliot__fanout_find(user, tick);
}

void foliot__fanout_captured(foliot__session *session, uint64_t before)
{
    const foliot_snapshot *now = foliot__fanout_find(session, session->snapshots.newest);
    if (session->interest && now)
        foliot__interest_map_update(session->interest, now, foliot__fanout_find(session, before));
}

// Tags, prototypes and joints of the bodies in the packet are sent before it.
static void send_partial(foliot__session *session, foliot__peer *peer)
{
    foliot_server *server = session->server;
    foliot__game *game = &session->game;
    uint8_t packet[FOLIOT_PACKET_BYTES_MAX];
    uint64_t shown = foliot__fanout_shown(session, peer);
    bool behind = delay_of(session, peer) > 0;
    const foliot_snapshot *snapshot = foliot__fanout_find(session, shown);
    if (!shows_snapshots(session, peer) || !snapshot || shown % session->snapshots.every != 0) {
        if (peer->interest)
            foliot__interest_keep_news(session->interest, peer->interest, behind);
        return;
    }
    const foliot__session_state *known = behind ? &game->shown : &game->now;
    if (!peer->interest) {
        if (foliot__interest_view_create(session->interest, &peer->interest) != FOLIOT_STATUS_OK)
            return; // the next tick tries again
        foliot__interest_begin_records(session->interest, peer->interest, known);
    }
    foliot__interest_look look = {
        .snapshot = snapshot,
        .own = peer->player == FOLIOT_NO_PLAYER
                   ? FOLIOT_NO_BODY
                   : foliot_body_id_get_slot(
                         foliot_world_get_player_body(session->world, peer->player)),
        .overhead = foliot__transport_overhead(server->config.transport, peer->id),
        .now_ns = server->now_ns,
        .round_trip_ns = foliot_transport_get_round_trip_ns(server->config.transport, peer->id),
        .find = find_for,
        .user = session};
    bool sends = foliot__rate_adaptation_sends(&peer->rate, shown, session->snapshots.every);
    server->counters.snapshots_thinned += !sends;
    foliot__interest_look_at(peer->interest, &look);
    size_t length =
        sends ? foliot__interest_pack(session->interest, peer->interest, &look, packet) : 0;
    foliot__update_target to = {
        .session = session, .route = FOLIOT__UPDATE_NEAR, .tick = shown, .peer = peer};
    foliot__update_begin(&game->writer, game->now.slots_max, foliot__update_emit, &to);
    foliot__interest_write_records(session->interest, peer->interest, &look, length > 0, behind,
                                   known, &game->writer);
    if (length == 0)
        return;
    foliot__server_send_packet(server, peer->id, FOLIOT_DELIVERY_UNRELIABLE, packet, length);
    count_sent(peer, shown);
    server->counters.interest_packets_sent++;
    server->counters.interest_bytes_sent += length;
}

void foliot__fanout_receive_partial(foliot__session *session, foliot__peer *peer,
                                    const foliot__partial_acknowledge *packet)
{
    session->server->counters.interest_acknowledgements++;
    if (!peer->interest)
        return;
    uint64_t newest = foliot__interest_acknowledge(session->interest, peer->interest, packet);
    if (newest != UINT64_MAX && newest <= foliot__fanout_shown(session, peer))
        foliot__fanout_acknowledge(session, peer, newest);
    if (newest != UINT64_MAX)
        peer->snapshots.baseline = FOLIOT__BASELINE_ACKNOWLEDGED;
    if (packet->has_focus && peer->player == FOLIOT_NO_PLAYER)
        foliot__interest_focus(peer->interest, packet->focus);
}

void foliot__fanout_broadcast(foliot__session *session)
{
    foliot_server *server = session->server;
    uint32_t *order = server->order, count = 0;
    for (foliot__peer *peer = session->peers; peer; peer = peer->next) {
        foliot__peer_snapshots *has = &peer->snapshots;
        if (peer->state != FOLIOT__PEER_IN || !foliot__peer_watches(peer))
            continue;
        if (session->interest) {
            send_status(session, peer);
            send_partial(session, peer);
            continue;
        }
        if (!shows_snapshots(session, peer)) {
            has->greeted_ns = server->now_ns;
        } else if (has->baseline == FOLIOT__BASELINE_ACKNOWLEDGED) {
            // A baseline that was overwritten is gone: the peer starts again.
            if (!foliot__fanout_find(session, has->baseline_tick)) {
                has->baseline = FOLIOT__BASELINE_NONE;
                foliot__fanout_greet(session, peer);
            }
        } else if (server->now_ns - has->complete_ns >= has->complete_every_ns) {
            // Copies go out before an acknowledgement can arrive: the pieces of all of them add up.
            has->complete_every_ns *= 2;
            if (has->complete_every_ns > COMPLETE_EVERY_NS_MAX)
                has->complete_every_ns = COMPLETE_EVERY_NS_MAX;
            send_complete(session, peer);
        }
        bool sends = has->baseline != FOLIOT__BASELINE_NONE &&
                     foliot__rate_adaptation_sends(&peer->rate, foliot__fanout_shown(session, peer),
                                                   session->snapshots.every);
        server->counters.snapshots_thinned += has->baseline != FOLIOT__BASELINE_NONE && !sends;
        if (sends)
            order[count++] = (uint32_t)(peer - server->peers);
        else
            send_status(session, peer);
    }
    for (uint32_t group; count > 0; order += group, count -= group) {
        group = gather_group(session, order, count);
        send_group(session, order, group);
    }
    if (session->interest)
        foliot__interest_clear_news(session->interest);
}
