// SPDX-License-Identifier: MIT
// address.c: what the peers of one address, or of one client by its tokens, have had so far, for
// budgets that a new connection does not fill again. The addresses heard last are remembered: an
// address that was forgotten has all its budgets again.
#include "peer.h"
#include "session.h"

// Who has a token is known by its client, wherever it comes from.
static uint64_t key_of(const foliot_server *server, const foliot__peer *peer, bool *by_client)
{
    foliot_peer_identity identity;
    *by_client =
        foliot_transport_get_peer_identity(server->config.transport, peer->id, &identity) &&
        identity.security == FOLIOT_SECURITY_TOKEN && identity.token.client != 0;
    return *by_client ? identity.token.client
                      : foliot_transport_get_peer_address_key(server->config.transport, peer->id);
}

static bool is_of(const foliot__address *address, uint64_t host, bool by_client)
{
    return address->host == host && address->by_client == by_client;
}

foliot__address *foliot__address_of(foliot_server *server, foliot__peer *peer)
{
    bool by_client;
    uint64_t host = key_of(server, peer, &by_client);
    foliot__address *oldest = &server->addresses[0];
    // Linear scan on purpose, and seldom: no hash that an attacker could degrade.
    if (!is_of(&server->addresses[peer->address], host, by_client) ||
        server->addresses[peer->address].used_ns == 0) {
        for (peer->address = 0; peer->address < FOLIOT__ADDRESSES; peer->address++) {
            foliot__address *a = &server->addresses[peer->address];
            if (is_of(a, host, by_client) && a->used_ns != 0)
                break;
            if (a->used_ns < oldest->used_ns)
                oldest = a;
        }
        if (peer->address == FOLIOT__ADDRESSES) {
            peer->address = (uint32_t)(oldest - server->addresses);
            *oldest = (foliot__address){.host = host, .by_client = by_client};
        }
    }
    foliot__address *address = &server->addresses[peer->address];
    address->used_ns = server->now_ns ? server->now_ns : 1;
    return address;
}
