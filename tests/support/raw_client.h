// SPDX-License-Identifier: MIT
// raw_client.h: a client that speaks the protocol's bytes itself, over the transport in memory: it
// says what it likes, when it likes, and chooses what it receives.
#ifndef FOLIOT_TESTS_RAW_CLIENT_H
#define FOLIOT_TESTS_RAW_CLIENT_H

#include "foliot/transport.h"
#include "wire/message.h"

#define RAW_CLIENT_PORT 7777 // of the servers that it connects to

typedef struct raw_client {
    foliot_transport *wire; // to be destroyed by who opened it
    foliot_peer_id peer;
    bool connected, welcomed, lost;
    foliot__welcome welcome; // the last
    uint32_t next_order;     // its sequence number
} raw_client;

// Makes a separate wire, and asks for a connection.
void raw_client_connect(raw_client *c, foliot_hub *hub, uint64_t now_ns);
// One connection more over the same wire.
void raw_client_connect_again(raw_client *c, uint64_t now_ns);
// Reads what has come. True: a welcome was in it.
bool raw_client_receive(raw_client *c, uint64_t now_ns);
foliot_status raw_client_send(raw_client *c, const foliot__message *m);
// A hello of who steps, with a token, or with one of zeros.
void raw_client_hello(raw_client *c, foliot__token token);
// An empty input packet, which acknowledges the welcome.
foliot_status raw_client_acknowledge(raw_client *c);

#endif
