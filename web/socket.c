// SPDX-License-Identifier: MIT
// socket.c: a transport whose one peer is a connection of the page. Received packets are queued in
// order until the client polls. If a page stops polling, the queue does not grow beyond
// WAITING_BYTES_MAX.
#include "page.h"

#include "net/transport.h"

#include <stdlib.h>
#include <string.h>

#define WAITING_BYTES_MAX (8u << 20)

#define IMPORT(name) __attribute__((import_module("page"), import_name(#name)))
IMPORT(connect) void page_connect(void);
IMPORT(disconnect) void page_disconnect(uint32_t reason);
IMPORT(send) void page_send(uint32_t reliable, const uint8_t *bytes, size_t length);

typedef struct waiting {
    struct waiting *next;
    foliot_transport_event event;
    uint8_t bytes[];
} waiting;

enum { CLOSED, OPENING, OPEN };

static foliot_transport transport;
static waiting *first, *last, *given;
static size_t waiting_bytes;
static uint32_t generation, state;

static foliot_peer_id peer_now(void)
{
    return foliot__peer_id(0, generation);
}

static foliot_transport_event event_of(foliot_transport_event_kind kind)
{
    return (foliot_transport_event){.kind = kind, .peer = peer_now()};
}

static bool enqueue(foliot_transport_event event, const uint8_t *bytes, size_t length)
{
    if (waiting_bytes + sizeof(waiting) + length > WAITING_BYTES_MAX)
        return false;
    waiting *w = malloc(sizeof *w + length);
    if (!w)
        return false;
    w->next = NULL;
    w->event = event;
    w->event.bytes = w->bytes;
    w->event.length = length;
    if (length > 0)
        memcpy(w->bytes, bytes, length);
    waiting_bytes += sizeof *w + length;
    *(last ? &last->next : &first) = w;
    last = w;
    return true;
}

bool web_socket_opened(void)
{
    if (state != OPENING)
        return false;
    state = OPEN;
    return enqueue(event_of(FOLIOT_TRANSPORT_CONNECTED), NULL, 0);
}

bool web_socket_closed(uint32_t reason)
{
    if (state == CLOSED)
        return false;
    state = CLOSED;
    foliot_transport_event event = event_of(FOLIOT_TRANSPORT_DISCONNECTED);
    event.reason = reason;
    return enqueue(event, NULL, 0);
}

bool web_socket_received(foliot_delivery delivery, uint32_t path, const uint8_t *bytes,
                         size_t length)
{
    foliot_transport_event event = event_of(FOLIOT_TRANSPORT_RECEIVED);
    event.delivery = delivery;
    event.path = path;
    return state == OPEN && enqueue(event, bytes, length);
}

static void destroy(foliot_transport *t)
{
    (void)t;
}

static foliot_status open_connection(foliot_transport *t, const char *host, uint16_t port,
                                     uint64_t now_ns, foliot_peer_id *peer)
{
    (void)t, (void)host, (void)port, (void)now_ns;
    if (state != CLOSED)
        return FOLIOT_STATUS_FULL;
    generation++;
    state = OPENING;
    *peer = peer_now();
    page_connect();
    return FOLIOT_STATUS_OK;
}

static void close_connection(foliot_transport *t, foliot_peer_id peer, uint32_t reason,
                             bool at_once)
{
    (void)t;
    if (state == CLOSED || peer.value != peer_now().value)
        return;
    page_disconnect(reason);
    if (at_once)
        state = CLOSED;
    else
        (void)web_socket_closed(FOLIOT_DISCONNECT_NONE); // no memory: the silence ends it
}

static bool poll_event(foliot_transport *t, uint64_t now_ns, foliot_transport_event *event)
{
    (void)t;
    free(given);
    given = first;
    if (!given)
        return false;
    first = given->next;
    last = first ? last : NULL;
    waiting_bytes -= sizeof *given + given->event.length;
    *event = given->event;
    event->arrived_ns = now_ns;
    return true;
}

static uint32_t send_bytes(foliot_transport *t, const foliot_peer_id *peers, uint32_t count,
                           foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    (void)t;
    if (count == 0 || state != OPEN || peers[0].value != peer_now().value)
        return 0;
    page_send(delivery == FOLIOT_DELIVERY_RELIABLE, bytes, length);
    return 1;
}

static void flush(foliot_transport *t, uint64_t now_ns)
{
    (void)t, (void)now_ns;
}

static uint64_t wake_ns(const foliot_transport *t)
{
    (void)t;
    return first ? 0 : UINT64_MAX;
}

static int descriptor(const foliot_transport *t)
{
    (void)t;
    return -1;
}

static uint16_t port_of(const foliot_transport *t)
{
    (void)t;
    return 0;
}

static void peer_address(const foliot_transport *t, foliot_peer_id peer, char *text, size_t bytes)
{
    (void)t, (void)peer;
    if (bytes > 0)
        text[0] = '\0';
}

static uint64_t nothing(const foliot_transport *t, foliot_peer_id peer)
{
    (void)t, (void)peer;
    return 0;
}

foliot_transport *web_socket_transport(void)
{
    static const foliot__transport_maker maker = {
        .destroy = destroy,
        .connect = open_connection,
        .disconnect = close_connection,
        .poll = poll_event,
        .send = send_bytes,
        .flush = flush,
        .wake_ns = wake_ns,
        .descriptor = descriptor,
        .port = port_of,
        .peer_address = peer_address,
        .peer_host = nothing,
        .round_trip_ns = nothing,
    };
    transport.maker = &maker;
    transport.config = foliot_transport_config_default();
    return &transport;
}
