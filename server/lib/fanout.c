// SPDX-License-Identifier: MIT
// fanout.c: snapshots to peers. Encoded once for each baseline that some peer has, sent to all who have it.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

foliot_status foliot__fanout_init(foliot__session *session)
{
    session->format = foliot_snapshot_format_of(session->scene);
    for (int i = 0; i < FOLIOT__SNAPSHOTS_KEPT; i++) {
        foliot_snapshot *s = &session->snapshots[i];
        s->capacity = session->format.bodies_max;
        s->tick = UINT64_MAX;
        s->bodies = calloc(s->capacity ? s->capacity : 1, sizeof *s->bodies);
        if (!s->bodies)
            return FOLIOT_MEMORY;
    }
    return foliot_snapshot_coder_create(&session->format, &session->coder);
}

void foliot__fanout_close(foliot__session *session)
{
    for (int i = 0; i < FOLIOT__SNAPSHOTS_KEPT; i++)
        free(session->snapshots[i].bodies);
    foliot_snapshot_coder_destroy(session->coder);
    foliot_snapshot_pieces_close(&session->pieces);
}

static foliot_snapshot *place(const foliot__session *session, uint64_t tick)
{
    uint64_t index = tick / session->snapshot_every % FOLIOT__SNAPSHOTS_KEPT;
    return (foliot_snapshot *)(uintptr_t)&session->snapshots[index];
}

foliot_snapshot *foliot__fanout_next(foliot__session *session, uint64_t tick)
{
    return place(session, tick);
}

const foliot_snapshot *foliot__fanout_find(const foliot__session *session, uint64_t tick)
{
    const foliot_snapshot *s = place(session, tick);
    return s->tick == tick ? s : NULL;
}

// The pieces of the last encode to these peers.
static void send_pieces(foliot__session *session, const foliot_peer_id *peers, uint32_t count,
                        foliot_delivery delivery)
{
    foliot_server *server = session->server;
    const foliot_snapshot_pieces *p = &session->pieces;
    uint8_t packet[FOLIOT_PACKET_BYTES_MAX] = {FOLIOT__SNAPSHOT_PACKET};
    for (uint32_t i = 0; i < p->count; i++) {
        size_t length = p->offsets[i + 1] - p->offsets[i];
        memcpy(packet + 1, p->bytes + p->offsets[i], length);
        uint32_t sent = foliot_transport_send_many(server->config.transport, peers, count, delivery, packet,
                                                   length + 1);
        server->counters.snapshot_pieces_sent += sent;
        server->counters.snapshot_bytes_sent += (length + 1) * sent;
    }
    server->counters.snapshots_sent += count;
}

// A snapshot against no baseline: encoded once for all who need it in a row.
static bool encode_complete(foliot__session *session, const foliot_snapshot *snapshot)
{
    if (session->pieces_complete && session->pieces_tick == snapshot->tick)
        return true;
    session->pieces_complete =
        foliot_snapshot_encode(session->coder, snapshot, NULL, &session->pieces) == FOLIOT_OK;
    session->pieces_tick = snapshot->tick;
    return session->pieces_complete;
}

void foliot__fanout_greet(foliot__session *session, foliot__peer *peer)
{
    const foliot_snapshot *newest = foliot__fanout_find(session, session->newest_snapshot);
    if (!newest || !encode_complete(session, newest))
        return;
    session->server->counters.snapshots_complete++;
    send_pieces(session, &peer->id, 1, FOLIOT_RELIABLE);
    // It will arrive: what is sent against it from now on can be read as soon as it has.
    peer->has_baseline = true;
    peer->baseline_tick = newest->tick;
    peer->complete_ns = 0;
}

// A newcomer is sent the newest snapshot whole, unreliably, until one has arrived: on a network that loses
// packets this is faster than waiting for what was sent reliably to be sent again.
static void repeat_complete(foliot__session *session, foliot__peer *peer, const foliot_snapshot *newest)
{
    foliot_server *server = session->server;
    if (peer->acknowledged || !newest || server->now_ns - peer->complete_ns < FOLIOT__COMPLETE_EVERY_NS)
        return;
    peer->complete_ns = server->now_ns;
    if (!encode_complete(session, newest) || session->pieces.count > FOLIOT__COMPLETE_PIECES_MAX)
        return;
    server->counters.snapshots_complete++;
    send_pieces(session, &peer->id, 1, FOLIOT_UNRELIABLE);
}

// Sorting by baseline, then by index: groups come out in a total order.
static int by_baseline(const void *a, const void *b, void *context)
{
    const foliot__peer *peers = context;
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    uint64_t x = peers[i].baseline_tick, y = peers[j].baseline_tick;
    return x < y ? -1 : x > y ? 1 : i < j ? -1 : i > j;
}

static void send_group(foliot__session *session, const foliot_snapshot *newest, uint64_t baseline_tick,
                       uint32_t count)
{
    foliot_server *server = session->server;
    const foliot_snapshot *baseline = foliot__fanout_find(session, baseline_tick);
    if (!baseline || baseline->tick >= newest->tick)
        return;
    session->pieces_complete = false;
    if (foliot_snapshot_encode(session->coder, newest, baseline, &session->pieces) != FOLIOT_OK)
        return;
    server->counters.snapshot_encodes++;
    send_pieces(session, server->group, count, FOLIOT_UNRELIABLE);
}

static void send_status(foliot__session *session, foliot__peer *peer)
{
    foliot_server *server = session->server;
    if (peer->heard_ns == 0 || server->now_ns - peer->status_ns < FOLIOT__STATUS_EVERY_NS)
        return;
    peer->status_ns = server->now_ns;
    const foliot__player_slot *player =
        peer->player == FOLIOT__NO_PLAYER ? NULL : &session->players[peer->player];
    int64_t slack_ns = (int64_t)(foliot__session_due_ns(session, peer->newest_tick) - peer->heard_ns);
    int64_t slack_us = slack_ns / 1000;
    foliot__status_packet status = {
        .tick = (uint32_t)session->tick,
        .sequence = player ? player->next_sequence - 1 : 0,
        .slack_us = (int32_t)(slack_us < -1000000000 ? -1000000000 : slack_us > 1000000000 ? 1000000000 : slack_us),
        .late_changes = player ? (uint32_t)player->late_changes : 0,
        .echo_us = peer->echo_us,
        .held_us = (uint32_t)((server->now_ns - peer->heard_ns) / 1000),
    };
    uint8_t bytes[FOLIOT__STATUS_PACKET_BYTES];
    foliot__status_packet_encode(&status, bytes);
    foliot_transport_send(server->config.transport, peer->id, FOLIOT_UNRELIABLE, bytes, sizeof bytes);
}

// A baseline that is about to be overwritten is none any more: the peer starts anew.
static void renew_old_baseline(foliot__session *session, foliot__peer *peer)
{
    if (foliot__fanout_find(session, peer->baseline_tick))
        return;
    peer->has_baseline = false;
    foliot__fanout_greet(session, peer); // gives it another one
}

void foliot__fanout_broadcast(foliot__session *session)
{
    foliot_server *server = session->server;
    const foliot_snapshot *newest = foliot__fanout_find(session, session->newest_snapshot);
    uint32_t count = 0, grouped = 0;
    for (uint32_t i = 0; i < server->peers_max; i++) {
        foliot__peer *peer = &server->peers[i];
        if (peer->state != FOLIOT__PEER_IN || peer->session != session)
            continue;
        send_status(session, peer);
        if (peer->has_baseline)
            renew_old_baseline(session, peer);
        repeat_complete(session, peer, newest);
        if (peer->has_baseline && peer->acknowledged)
            server->order[count++] = i;
    }
    qsort_r(server->order, count, sizeof *server->order, by_baseline, server->peers);
    for (uint32_t i = 0; newest && i < count; i++) {
        const foliot__peer *peer = &server->peers[server->order[i]];
        server->group[grouped++] = peer->id;
        bool last = i + 1 == count ||
                    server->peers[server->order[i + 1]].baseline_tick != peer->baseline_tick;
        if (last) {
            send_group(session, newest, peer->baseline_tick, grouped);
            grouped = 0;
        }
    }
}
