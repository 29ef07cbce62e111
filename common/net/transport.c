// SPDX-License-Identifier: MIT
// transport.c: checks at the door, then the maker's function.
#include "net/transport.h"

#include <stdlib.h>

foliot_transport_config foliot_transport_config_default(void)
{
    return (foliot_transport_config){.peers_max = 1, .timeout_ms = 10000};
}

foliot_status foliot_transport_set_impairment(foliot_transport *transport,
                                              const foliot_impairment *send,
                                              const foliot_impairment *receive)
{
    if (!transport->maker->impair)
        return FOLIOT_STATUS_UNSUPPORTED;
    transport->maker->impair(transport, send, receive);
    return FOLIOT_STATUS_OK;
}

void foliot_transport_destroy(foliot_transport *transport)
{
    if (transport)
        transport->maker->destroy(transport);
}

foliot_status foliot_transport_connect(foliot_transport *transport, const char *host, uint16_t port,
                                       uint64_t now_ns, foliot_peer_id *peer)
{
    return transport->maker->connect(transport, host, port, now_ns, peer);
}

void foliot_transport_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                                 bool at_once)
{
    transport->maker->disconnect(transport, peer, reason, at_once);
}

bool foliot_transport_poll(foliot_transport *transport, uint64_t now_ns,
                           foliot_transport_event *event)
{
    if (!transport->maker->poll(transport, now_ns, event))
        return false;
    foliot_transport_counters *counters = &transport->counters;
    if (event->kind == FOLIOT_TRANSPORT_CONNECTED)
        counters->connects++;
    if (event->kind == FOLIOT_TRANSPORT_DISCONNECTED)
        counters->disconnects++;
    if (event->kind == FOLIOT_TRANSPORT_RECEIVED) {
        counters->packets_received++;
        counters->bytes_received += event->length;
    }
    return true;
}

uint32_t foliot_transport_send_many(foliot_transport *transport, const foliot_peer_id *peers,
                                    uint32_t count, foliot_delivery delivery, const uint8_t *bytes,
                                    size_t length)
{
    size_t limit =
        delivery == FOLIOT_DELIVERY_RELIABLE ? FOLIOT_RELIABLE_BYTES_MAX : FOLIOT_PACKET_BYTES_MAX;
    uint32_t taken = 0;
    if (length > 0 && length <= limit)
        taken = transport->maker->send(transport, peers, count, delivery, bytes, length);
    transport->counters.packets_sent += taken;
    transport->counters.bytes_sent += length * taken;
    transport->counters.packets_refused += count - taken;
    return taken;
}

foliot_status foliot_transport_send(foliot_transport *transport, foliot_peer_id peer,
                                    foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    size_t limit =
        delivery == FOLIOT_DELIVERY_RELIABLE ? FOLIOT_RELIABLE_BYTES_MAX : FOLIOT_PACKET_BYTES_MAX;
    if (foliot_transport_send_many(transport, &peer, 1, delivery, bytes, length) == 1)
        return FOLIOT_STATUS_OK;
    return length == 0 || length > limit ? FOLIOT_STATUS_FULL : FOLIOT_STATUS_NOT_FOUND;
}

void foliot_transport_flush(foliot_transport *transport, uint64_t now_ns)
{
    transport->maker->flush(transport, now_ns);
}

uint64_t foliot_transport_get_wake_ns(const foliot_transport *transport)
{
    return transport->maker->wake_ns(transport);
}

int foliot_transport_get_descriptor(const foliot_transport *transport)
{
    return transport->maker->descriptor(transport);
}

uint16_t foliot_transport_get_port(const foliot_transport *transport)
{
    return transport->maker->port(transport);
}

void foliot_transport_get_peer_address(const foliot_transport *transport, foliot_peer_id peer,
                                       char *text, size_t bytes)
{
    transport->maker->peer_address(transport, peer, text, bytes);
}

uint64_t foliot__transport_get_peer_address_key(const foliot_transport *transport,
                                                foliot_peer_id peer)
{
    return transport->maker->peer_host(transport, peer);
}

bool foliot_transport_get_peer_identity(const foliot_transport *transport, foliot_peer_id peer,
                                        foliot_peer_identity *identity)
{
    *identity = (foliot_peer_identity){0};
    return !transport->maker->peer_identity ||
           transport->maker->peer_identity(transport, peer, identity);
}

uint32_t foliot__transport_show_token(foliot_transport *transport, const char *text,
                                      const uint8_t return_secret[FOLIOT_RETURN_SECRET_BYTES],
                                      uint64_t now_s, uint64_t now_ns,
                                      foliot_peer_identity *identity)
{
    return transport->maker->show_token
               ? transport->maker->show_token(transport, text, return_secret, now_s, now_ns,
                                              identity)
               : FOLIOT_DISCONNECT_SECURITY;
}

void foliot__transport_end_shown(foliot_transport *transport, const foliot_peer_identity *identity)
{
    if (transport->maker->end_shown && identity->shown)
        transport->maker->end_shown(transport, identity);
}

foliot_status foliot_transport_set_keys(foliot_transport *transport, const uint8_t *keys,
                                        uint32_t count)
{
    if (!transport->maker->set_keys || transport->config.security != FOLIOT_SECURITY_TOKEN ||
        !transport->config.bind || count == 0 || count > FOLIOT_KEYS_MAX)
        return FOLIOT_STATUS_INVALID;
    transport->maker->set_keys(transport, keys, count);
    return FOLIOT_STATUS_OK;
}

uint32_t foliot__transport_show_password(foliot_transport *transport, const char *password,
                                         foliot_peer_identity *identity)
{
    return transport->maker->show_password
               ? transport->maker->show_password(transport, password, identity)
               : FOLIOT_DISCONNECT_SECURITY;
}

foliot_security foliot__transport_get_security(const foliot_transport *transport)
{
    return transport->config.security;
}

uint64_t foliot_transport_get_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    return transport->maker->round_trip_ns(transport, peer);
}

uint32_t foliot_transport_get_backlog(const foliot_transport *transport, foliot_peer_id peer)
{
    return transport->maker->backlog ? transport->maker->backlog(transport, peer) : 0;
}

const foliot_transport_counters *foliot_transport_get_counters(const foliot_transport *transport)
{
    if (transport->maker
            ->count) // the caller's constness is of what he sees, not of what is counted
        transport->maker->count((foliot_transport *)(uintptr_t)transport);
    return &transport->counters;
}

uint32_t foliot__transport_overhead(const foliot_transport *transport, foliot_peer_id peer)
{
    return transport->maker->overhead ? transport->maker->overhead(transport, peer)
                                      : FOLIOT__TRANSPORT_OVERHEAD;
}

uint32_t foliot__transport_count_leaving(foliot_transport *transport)
{
    return transport->maker->count_leaving ? transport->maker->count_leaving(transport) : 0;
}
