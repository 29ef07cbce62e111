// SPDX-License-Identifier: MIT
// raw_client.c: see raw_client.h.
#include "raw_client.h"

#include <string.h>

#include "status.h"

void raw_client_connect_again(raw_client *c, uint64_t now_ns)
{
    demand(foliot_transport_connect(c->wire, "127.0.0.1", RAW_CLIENT_PORT, now_ns, &c->peer));
}

void raw_client_connect(raw_client *c, foliot_hub *hub, uint64_t now_ns)
{
    foliot_transport_config config = foliot_transport_config_default();
    *c = (raw_client){.next_order = 1};
    config.peers_max = 8;
    demand(foliot_transport_create_memory(hub, &config, now_ns, &c->wire));
    raw_client_connect_again(c, now_ns);
}

bool raw_client_receive(raw_client *c, uint64_t now_ns)
{
    foliot_transport_event event;
    foliot__message m;
    bool welcomed = false;
    while (foliot_transport_poll(c->wire, now_ns, &event)) {
        c->connected |= event.kind == FOLIOT_TRANSPORT_CONNECTED;
        c->lost |= event.kind == FOLIOT_TRANSPORT_DISCONNECTED;
        if (event.kind != FOLIOT_TRANSPORT_RECEIVED ||
            !foliot__message_is_control(event.bytes, event.length) ||
            foliot__message_decode(event.bytes, event.length, &m) != FOLIOT_STATUS_OK ||
            m.kind != FOLIOT__WELCOME)
            continue;
        c->welcome = m.as.welcome;
        c->welcomed = welcomed = true;
        c->next_order = c->welcome.orders + 1;
    }
    return welcomed;
}

foliot_status raw_client_send(raw_client *c, const foliot__message *m)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    demand(foliot__message_encode(m, bytes, sizeof bytes, &length));
    return foliot_transport_send(c->wire, c->peer, FOLIOT_DELIVERY_RELIABLE, bytes, length);
}

void raw_client_hello(raw_client *c, foliot__token token)
{
    foliot__message m = {.kind = FOLIOT__HELLO_MESSAGE};
    m.as.hello.protocol = FOLIOT_PROTOCOL;
    m.as.hello.token = token;
    m.as.hello.fingerprint = foliot_get_fingerprint();
    strcpy(m.as.hello.name, "guest");
    strcpy(m.as.hello.simulation, foliot_world_kind.name);
    m.as.hello.rules = foliot_world_kind.version;
    demand(raw_client_send(c, &m));
}

foliot_status raw_client_acknowledge(raw_client *c)
{
    uint8_t bytes[FOLIOT_SNAPSHOT_PIECE_BYTES];
    foliot__input_packet packet = {.newest_snapshot = FOLIOT__NO_TICK,
                                   .tick = (uint32_t)c->welcome.tick};
    size_t length = foliot__input_packet_encode(&packet, bytes);
    return foliot_transport_send(c->wire, c->peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
}
