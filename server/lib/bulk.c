// SPDX-License-Identifier: MIT
// bulk.c: what newcomers are sent reliably and in quantity: the scene, a saved state, the ticks
// since. So many bytes a second for all of them together, in turn by address and then by peer, so
// that neither a tick nor another newcomer waits for whoever comes again and again.
#include "lockstep.h"
#include "peer.h"
#include "session.h"

#define BYTES_A_SECOND 8e6
#define BYTES_AT_ONCE (256.0 * 1024) // after a while of nothing
#define EVERY_NS 1000000u

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
        peer->lockstep.begun_ns = server->now_ns; // from now on it waits for a state
    return m.as.scene_part.length;
}

static bool wants_bulk(const foliot__peer *peer)
{
    return peer->state == FOLIOT__PEER_IN &&
           (peer->scene_sent < peer->session->setup.length ||
            (foliot__peer_steps(peer) && foliot__late_join_wants(peer->session, peer)));
}

// The peers that want something are the first `count` of server->order; the one whose turn it is is
// taken.
static uint32_t next(foliot_server *server, uint32_t count)
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
    bool asked =
        server->bulk.waits && server->bulk.bytes > 0; // by a new peer, or one that acknowledged
    if (server->bulk.ns != 0 && server->now_ns - server->bulk.ns < EVERY_NS && !asked)
        return;
    double more = server->bulk.ns == 0
                      ? BYTES_AT_ONCE
                      : (double)(server->now_ns - server->bulk.ns) * 1e-9 * BYTES_A_SECOND;
    server->bulk.bytes =
        server->bulk.bytes + more < BYTES_AT_ONCE ? server->bulk.bytes + more : BYTES_AT_ONCE;
    server->bulk.ns = server->now_ns;
    for (uint32_t i = 0; i < server->peers_used; i++)
        if (wants_bulk(&server->peers[i]))
            server->order[count++] = i;
    while (count > 0 && server->bulk.bytes > 0) {
        uint32_t i = next(server, count);
        foliot__peer *peer = &server->peers[server->order[i]];
        size_t sent = peer->scene_sent < peer->session->setup.length
                          ? send_scene(server, peer)
                          : foliot__late_join_send(peer->session, peer);
        server->bulk.bytes -= (double)sent;
        foliot__address_of(server, peer)->bulk_turn = peer->bulk_turn = ++server->bulk.turn;
        if (sent == 0 || !wants_bulk(peer))
            server->order[i] = server->order[--count];
    }
    server->bulk.waits = count > 0; // for bytes
}

uint64_t foliot__bulk_wake_ns(const foliot_server *server)
{
    return server->bulk.waits ? server->bulk.ns + (server->bulk.bytes > 0 ? 1 : 4) * EVERY_NS
                              : UINT64_MAX;
}
