// SPDX-License-Identifier: MIT
// address.c: what the peers of one address have had so far, for budgets that a new connection does
// not fill again. The addresses heard last are remembered: an address that was forgotten has all
// its budgets again.
#include "internal.h"

foliot__address *foliot__address_of(foliot_server *server, foliot__peer *peer)
{
    uint64_t host = foliot_transport_get_peer_address_key(server->config.transport, peer->id);
    foliot__address *oldest = &server->addresses[0];
    // Linear scan on purpose, and seldom: no hash that an attacker could degrade.
    if (server->addresses[peer->address].host != host ||
        server->addresses[peer->address].used_ns == 0) {
        for (peer->address = 0; peer->address < FOLIOT__ADDRESSES; peer->address++) {
            foliot__address *a = &server->addresses[peer->address];
            if (a->host == host && a->used_ns != 0)
                break;
            if (a->used_ns < oldest->used_ns)
                oldest = a;
        }
        if (peer->address == FOLIOT__ADDRESSES) {
            peer->address = (uint32_t)(oldest - server->addresses);
            *oldest = (foliot__address){.host = host};
        }
    }
    foliot__address *address = &server->addresses[peer->address];
    address->used_ns = server->now_ns ? server->now_ns : 1;
    return address;
}
