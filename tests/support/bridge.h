// SPDX-License-Identifier: MIT
// bridge.h: a network between a transport in memory, which clients reach, and queues, which a
// server has: what a web server does between its sockets and a server, on the same virtual clock.
#ifndef FOLIOT_TESTS_BRIDGE_H
#define FOLIOT_TESTS_BRIDGE_H

#include "foliot/transport.h"

#define BRIDGE_PEERS 8

typedef struct bridge {
    foliot_queues *queues;
    foliot_transport *listener;
    foliot_peer_id near[BRIDGE_PEERS], far[BRIDGE_PEERS]; // in the queues; of the listener
    bool stopped[BRIDGE_PEERS];                           // it takes nothing: a page that hangs
    unsigned count;
    // For those that connect from now on; 0, NULL: as the listener has them.
    uint64_t address_key;
    const foliot_peer_identity *identity;
} bridge;

void bridge_open(bridge *b, foliot_hub *hub, uint16_t port, foliot_queues *queues, uint64_t now_ns);
void bridge_carry(bridge *b, uint64_t now_ns); // all that there is, both ways
void bridge_close(bridge *b);

#endif
