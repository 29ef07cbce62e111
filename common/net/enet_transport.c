// SPDX-License-Identifier: MIT
// enet_transport.c: the transport over ENet 1.3.17, with its traps handled
// (docs/explanation/netcode.md lists them). Everything of one transport happens on one thread.
// Unreliable packets go past ENet (raw_datagram.h), reliable ones on its channel 1; nothing
// unreliable is ever fragmented.
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/assert.h"

#define SOCKET_BYTES (4 << 20)
#define HELLO_EVERY_NS 20000000u // small, and a lost one costs a whole wait
#define EARLY_NS 5000000000u     // so long a host waits for ENet to connect
#define SHARED_PER_SECOND 32     // connections of all clients together, where they have one address
#define TIMER_NS 10000000u       // time-outs and resends do not wake the descriptor
#define LISTENER_PACKET_BYTES_MAX 65536u // what a client may make a host hold: control messages
#define LISTENER_WAITING_BYTES_MAX (512u << 10)
#define SERVICE_ERRORS_A_POLL 64
// ENet pings whom it has not heard, and what goes past it, it does not hear. A ping costs four
// datagrams' work.
#define PING_MS_MAX 2000u
#define PINGS_A_TIMEOUT 5u
#define SERVICES_AT_A_TIME 16 // of ENet, for one time of the host's clock
#define FAREWELL_MS 3000u
#define DATAGRAMS_A_SERVICE 256 // that ENet receives at most in one call

static void set_clock(enet_transport *t, uint64_t now_ns)
{
    // ENet counts milliseconds from the wall clock; put it back onto the monotonic one each time.
    if (now_ns == t->now_ns)
        return;
    t->now_ns = now_ns;
    enet_time_set((enet_uint32)(now_ns / 1000000u));
}

static void settle(enet_transport *t, ENetPeer *peer)
{
    // Throttle off: it would drop unreliable packets by a guess at congestion (measured: half of
    // them).
    enet_peer_throttle_configure(peer, 5000, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
    enet_peer_timeout(peer, 0, t->head.config.timeout_ms, t->head.config.timeout_ms);
    uint32_t ping_ms = t->head.config.timeout_ms / PINGS_A_TIMEOUT;
    enet_peer_ping_interval(peer, ping_ms < PING_MS_MAX ? ping_ms : PING_MS_MAX);
}

// -- connecting

static bool resolve(const char *name, uint16_t port, struct sockaddr_in *address)
{
    ENetAddress found = {.port = port};
    *address = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    if (inet_pton(AF_INET, name, &address->sin_addr) == 1)
        return true; // no name to be looked up
    if (enet_address_set_host(&found, name) != 0)
        return false;
    address->sin_addr.s_addr = found.host;
    return true;
}

static foliot_status watch_relay(enet_transport *t)
{
    struct epoll_event event = {.events = EPOLLIN};
    t->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (t->epoll_fd < 0 ||
        epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, (int)t->host->socket, &event) != 0 ||
        epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, foliot__impairment_proxy_descriptor(t->proxy),
                  &event) != 0)
        return FOLIOT_STATUS_IO;
    return FOLIOT_STATUS_OK;
}

static bool impaired(const enet_transport *t)
{
    return !foliot__impairment_none(&t->head.config.send) ||
           !foliot__impairment_none(&t->head.config.receive);
}

// The proxy is made with the first connection, and stays for those that come back to the same
// address.
static foliot_status through_relay(enet_transport *t, struct sockaddr_in *address)
{
    foliot_status status = FOLIOT_STATUS_OK;
    if (t->proxy && !foliot__impairment_proxy_leads_to(t->proxy, address))
        return FOLIOT_STATUS_UNSUPPORTED;
    if (!t->proxy) {
        status = foliot__impairment_proxy_connect(
            address, &t->head.config.send, &t->head.config.receive, &t->head.counters, &t->proxy);
        if (status == FOLIOT_STATUS_OK)
            status = watch_relay(t);
    }
    if (status == FOLIOT_STATUS_OK)
        *address = foliot__impairment_proxy_address(t->proxy);
    return status;
}

// The connect id that ENet will make of the slot's seed: versions make it in different ways, so
// ENet is asked.
static bool learn_connect_id(enet_transport *t, slot *s)
{
    const ENetAddress nobody = {.host = htonl(INADDR_LOOPBACK), .port = 1};
    t->host->randomSeed = s->seed;
    ENetPeer *peer = enet_host_connect(t->host, &nobody, FOLIOT__CHANNELS, 0);
    if (!peer)
        return false;
    s->connect_id = peer->connectID;
    enet_peer_reset(peer); // before anything was sent
    return true;
}

static foliot_status enet_connect(foliot_transport *transport, const char *host, uint16_t port,
                                  uint64_t now_ns, foliot_peer_id *peer)
{
    enet_transport *t = (enet_transport *)transport;
    struct sockaddr_in address;
    set_clock(t, now_ns);
    if (!resolve(host, port, &address))
        return FOLIOT_STATUS_NOT_FOUND;
    foliot_status status = impaired(t) ? through_relay(t, &address) : FOLIOT_STATUS_OK;
    if (status != FOLIOT_STATUS_OK)
        return status;
    slot *s = foliot__slot_take(t);
    if (!s)
        return FOLIOT_STATUS_FULL;
    foliot__system_random(NULL, &s->seed, sizeof s->seed);
    if (!learn_connect_id(t, s))
        return FOLIOT_STATUS_FULL;
    s->state = SLOT_ASKING;
    s->address = (ENetAddress){.host = address.sin_addr.s_addr, .port = ntohs(address.sin_port)};
    *peer = foliot__slot_id(t, s);
    return FOLIOT_STATUS_OK;
}

static void ask_for_cookie(enet_transport *t, slot *s)
{
    uint8_t question[FOLIOT__QUESTION_BYTES] = FOLIOT__QUESTION_MARK;
    memcpy(question + 8, &s->connect_id, 4);
    foliot__send_raw(t, &s->address, question, sizeof question);
    s->hello_ns = t->now_ns;
}

// With the cookie, which opens the connection at the host just ahead of ENet's connect.
static void begin_to_connect(enet_transport *t, slot *s)
{
    t->host->randomSeed = s->seed;
    s->peer = enet_host_connect(t->host, &s->address, FOLIOT__CHANNELS, 0);
    t->unsent = true;
    if (!s->peer)
        return;
    FOLIOT_ASSERT(s->peer->connectID == s->connect_id);
    s->peer->data = s;
    foliot__slot_set(t, s, SLOT_CONNECTING);
    foliot__expect_round_trip(s->peer);
    enet_peer_timeout(s->peer, 0, t->head.config.timeout_ms, t->head.config.timeout_ms);
    foliot__send_opening(t, s);
    foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), NULL, 0, t->now_ns);
}

// The question, or what opens the connection, goes out again and again: either may be lost.
static void advance_asking(enet_transport *t, slot *s)
{
    bool due = s->hello_ns == 0 || t->now_ns - s->hello_ns >= HELLO_EVERY_NS;
    if (s->state == SLOT_CONNECTING && due)
        foliot__send_opening(t, s);
    else if (s->state == SLOT_ASKING && s->has_cookie)
        begin_to_connect(t, s);
    else if (s->state == SLOT_ASKING && due)
        ask_for_cookie(t, s);
}

static void give_up(enet_transport *t, slot *s, uint32_t reason, foliot_transport_event *event)
{
    *event = (foliot_transport_event){
        .kind = FOLIOT_TRANSPORT_DISCONNECTED, .peer = foliot__slot_id(t, s), .reason = reason};
    if (s->peer) {
        s->peer->data = NULL;
        enet_peer_reset(s->peer);
    }
    foliot__slot_set(t, s, SLOT_FREE);
}

// A slot that asked in vain, or was refused, becomes an event.
static bool advance_askers(enet_transport *t, foliot_transport_event *event)
{
    uint64_t timeout_ns = (uint64_t)t->head.config.timeout_ms * 1000000u;
    for (uint32_t i = 0; !t->head.config.bind && i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_ASKING && s->state != SLOT_CONNECTING)
            continue;
        if (s->refused || (s->state == SLOT_ASKING && t->now_ns - s->began_ns >= timeout_ns)) {
            give_up(t, s, s->refused ? s->reason : FOLIOT_DISCONNECT_TIMEOUT, event);
            return true;
        }
        advance_asking(t, s);
    }
    return false;
}

// Whom ENet never connected to.
static bool expire_early(enet_transport *t, foliot_transport_event *event)
{
    for (uint32_t i = 0; t->early_slots > 0 && i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        bool early = s->state == SLOT_EARLY;
        if ((!early && s->state != SLOT_CLOSING) || t->now_ns - s->began_ns < EARLY_NS)
            continue;
        foliot__slot_set(t, s, SLOT_FREE);
        *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED,
                                          .peer = foliot__slot_id(t, s),
                                          .reason = FOLIOT_DISCONNECT_TIMEOUT};
        if (early)
            return true;
    }
    return false;
}

// -- events

// What was sent arrives first, but is not waited for as long as a connection: the peer holds a
// place of ENet's meanwhile.
static void farewell(ENetPeer *peer, uint32_t reason)
{
    enet_peer_timeout(peer, 0, FAREWELL_MS, FAREWELL_MS);
    enet_peer_disconnect_later(peer, reason);
}

// ENet has connected. That is no news: the cookie, or its answer, was the event.
static void connected(enet_transport *t, ENetPeer *peer)
{
    slot *s = peer->data;
    if (!s)
        s = foliot__slot_by_connection(t, &peer->address, peer->connectID);
    if (!s || s->state == SLOT_FREE) { // ENet took longer than it was waited for
        enet_peer_reset(peer);
        return;
    }
    settle(t, peer);
    t->unsent = t->unsent || s->waiting_count > 0;
    foliot__slot_release(s, peer);
    if (s->state == SLOT_CLOSING) {
        farewell(peer, s->reason);
        t->unsent = true;
        foliot__slot_set(t, s, SLOT_FREE);
        return;
    }
    s->peer = peer;
    peer->data = s;
    foliot__slot_set(t, s, SLOT_CONNECTED);
}

static bool disconnected(enet_transport *t, ENetPeer *peer, uint32_t reason,
                         foliot_transport_event *event)
{
    slot *s = peer->data;
    peer->data = NULL;
    if (!s)
        return false;
    *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED,
                                      .peer = foliot__slot_id(t, s),
                                      .reason = reason ? reason : FOLIOT_DISCONNECT_TIMEOUT};
    foliot__slot_set(t, s, SLOT_FREE);
    return true;
}

static bool next_datagram(enet_transport *t, foliot_transport_event *event)
{
    foliot__inbox_entry entry;
    const uint8_t *bytes;
    while (foliot__inbox_pop(&t->inbox, &entry, &bytes)) {
        if (!foliot__slot_of(t, entry.peer))
            continue;
        *event = (foliot_transport_event){.kind = bytes ? FOLIOT_TRANSPORT_RECEIVED
                                                        : FOLIOT_TRANSPORT_CONNECTED,
                                          .peer = entry.peer,
                                          .delivery = FOLIOT_DELIVERY_UNRELIABLE,
                                          .bytes = bytes,
                                          .length = entry.length,
                                          .arrived_ns = entry.arrived_ns};
        return true;
    }
    return false;
}

static bool received(enet_transport *t, const ENetEvent *from, foliot_transport_event *event)
{
    const slot *s = from->peer->data;
    t->delivered = from->packet;
    if (!s)
        return false;
    *event = (foliot_transport_event){
        .kind = FOLIOT_TRANSPORT_RECEIVED,
        .peer = foliot__slot_id(t, s),
        .delivery = from->channelID == FOLIOT__CHANNEL_RELIABLE ? FOLIOT_DELIVERY_RELIABLE
                                                                : FOLIOT_DELIVERY_UNRELIABLE,
        .bytes = from->packet->data,
        .length = from->packet->dataLength,
        .arrived_ns = t->now_ns,
    };
    return true;
}

static bool translate(enet_transport *t, const ENetEvent *from, foliot_transport_event *event)
{
    switch (from->type) {
    case ENET_EVENT_TYPE_CONNECT:
        connected(t, from->peer);
        return false;
    case ENET_EVENT_TYPE_DISCONNECT:
        return disconnected(t, from->peer, from->data, event);
    case ENET_EVENT_TYPE_RECEIVE:
        return received(t, from, event);
    case ENET_EVENT_TYPE_NONE:
    default:
        return false;
    }
}

static void drop_delivered(enet_transport *t)
{
    if (t->delivered)
        enet_packet_destroy(t->delivered);
    t->delivered = NULL;
}

// The next event of ENet's, or what its service returns.
static int next_event(enet_transport *t, ENetEvent *from)
{
    int got = enet_host_check_events(t->host, from);
    if (got != 0)
        return got;
    if (t->drained) { // until the next call
        t->drained = false;
        return 0;
    }
    if (t->services_ns != t->now_ns)
        t->services = 0;
    t->services_ns = t->now_ns;
    if (t->services++ >=
        SERVICES_AT_A_TIME) // a flood must not keep us here: the socket holds the rest
        return 0;
    t->datagrams = 0;
    got = enet_host_service(t->host, from, 0);
    // A packet is handed out after all has been received and answered, a connection while it is.
    if (got == 0)
        t->unsent = false;
    else if (got > 0 && from->type == ENET_EVENT_TYPE_RECEIVE)
        t->drained = t->datagrams < DATAGRAMS_A_SERVICE;
    else
        t->unsent = true;
    return got;
}

static bool enet_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    enet_transport *t = (enet_transport *)transport;
    ENetEvent from;
    set_clock(t, now_ns);
    foliot__servicing = t;
    drop_delivered(t);
    if (t->proxy)
        foliot__impairment_proxy_pump(t->proxy, now_ns);
    if (t->batched)
        foliot__batched_socket_read(t->batched, now_ns, foliot__take_batched, t);
    if (advance_askers(t, event) || expire_early(t, event))
        return true;
    for (int errors = 0; errors < SERVICE_ERRORS_A_POLL;) {
        if (next_datagram(t, event))
            return true;
        int got = next_event(t, &from);
        if (got == 0)
            return next_datagram(t, event);
        if (got < 0) { // a datagram that is too large, from anybody, does this
            t->head.counters.service_errors++;
            errors++;
            continue;
        }
        if (translate(t, &from, event))
            return true;
        drop_delivered(t);
    }
    return false;
}

static void enet_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                            bool at_once)
{
    enet_transport *t = (enet_transport *)transport;
    slot *s = foliot__slot_of(t, peer);
    if (!s)
        return;
    if (s->state == SLOT_EARLY) {
        s->reason = reason;
        foliot__slot_set(t, s, SLOT_CLOSING);
        return;
    }
    if (s->peer) {
        s->peer->data = NULL;
        if (at_once)
            enet_peer_disconnect_now(s->peer, reason);
        else
            farewell(s->peer, reason);
        t->unsent = true;
    }
    foliot__slot_set(t, s, SLOT_FREE);
}

static void flush_datagrams(enet_transport *t)
{
    if (t->outbox.count > 0)
        t->head.counters.datagrams_unsent += foliot__outbox_flush(&t->outbox, (int)t->host->socket);
}

// A packet that is kept in the outbox, to one receiver.
static bool send_datagram(enet_transport *t, slot *s, const uint8_t *kept, size_t length)
{
    foliot__outbox *o = &t->outbox;
    if (s->state == SLOT_ASKING)
        return false;
    if (o->count > 0 && s->flush == o->flushes && s->datagram < o->count &&
        foliot__outbox_append(o, s->datagram, kept, length))
        return true;
    bool is_short = s->state == SLOT_CONNECTED;
    uint32_t index = foliot__outbox_add(
        o, s->address.host, s->address.port,
        is_short ? FOLIOT__SHORT_HEAD_BYTES : FOLIOT__EARLY_HEAD_BYTES, kept, length);
    if (index == UINT32_MAX)
        return false;
    if (is_short)
        foliot__raw_datagram_short_head(s->connect_id, s->peer->outgoingPeerID, o->heads[index]);
    else
        foliot__raw_datagram_early_head(s->cookie, s->connect_id, o->heads[index]);
    if (!is_short)
        s->hello_ns = t->now_ns;
    s->datagram = index;
    s->flush = o->flushes;
    return true;
}

static uint32_t send_unreliable(enet_transport *t, const foliot_peer_id *peers, uint32_t count,
                                const uint8_t *bytes, size_t length)
{
    const uint8_t *kept = NULL;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        slot *s = foliot__slot_of(t, peers[i]);
        if (!s)
            continue;
        if (t->outbox.count == t->outbox.capacity) {
            flush_datagrams(t);
            kept = NULL;
        }
        if (!kept && !(kept = foliot__outbox_keep(&t->outbox, bytes, length))) {
            flush_datagrams(t);
            kept = foliot__outbox_keep(&t->outbox, bytes, length);
        }
        taken += send_datagram(t, s, kept, length);
    }
    return taken;
}

// Until ENet has connected, reliable packets wait.
static bool hold(slot *s, ENetPacket *packet)
{
    if (s->state == SLOT_ASKING)
        return false;
    ENetPacket **waiting = realloc(s->waiting, (s->waiting_count + 1) * sizeof(ENetPacket *));
    if (!waiting)
        return false;
    s->waiting = waiting;
    s->waiting[s->waiting_count++] = packet;
    packet->referenceCount++;
    return true;
}

static uint32_t send_reliable(enet_transport *t, const foliot_peer_id *peers, uint32_t count,
                              const uint8_t *bytes, size_t length)
{
    ENetPacket *packet = enet_packet_create(bytes, length, ENET_PACKET_FLAG_RELIABLE);
    uint32_t taken = 0;
    for (uint32_t i = 0; packet && i < count; i++) {
        slot *s = foliot__slot_of(t, peers[i]);
        if (s && s->state == SLOT_CONNECTED)
            taken += enet_peer_send(s->peer, FOLIOT__CHANNEL_RELIABLE, packet) == 0;
        else if (s)
            taken += hold(s, packet);
    }
    if (packet && packet->referenceCount == 0)
        enet_packet_destroy(packet);
    t->unsent = t->unsent || taken > 0;
    return taken;
}

static uint32_t enet_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                          foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    enet_transport *t = (enet_transport *)transport;
    return delivery == FOLIOT_DELIVERY_RELIABLE ? send_reliable(t, peers, count, bytes, length)
                                                : send_unreliable(t, peers, count, bytes, length);
}

static void enet_flush(foliot_transport *transport, uint64_t now_ns)
{
    enet_transport *t = (enet_transport *)transport;
    set_clock(t, now_ns);
    foliot__servicing = t;
    flush_datagrams(t);
    if (t->unsent)
        enet_host_flush(t->host);
    t->unsent = false;
    if (t->proxy)
        foliot__impairment_proxy_pump(t->proxy, now_ns);
}

static uint64_t enet_wake_ns(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    uint64_t timer = t->now_ns + TIMER_NS;
    uint64_t proxy = t->proxy ? foliot__impairment_proxy_wake_ns(t->proxy) : UINT64_MAX;
    uint64_t batched = t->batched ? foliot__batched_socket_wake_ns(t->batched) : UINT64_MAX;
    uint64_t first = proxy < timer ? proxy : timer;
    return batched < first ? batched : first;
}

static int enet_descriptor(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    return t->epoll_fd >= 0 ? t->epoll_fd : (int)t->host->socket;
}

static uint16_t enet_port(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    return t->proxy ? ntohs(foliot__impairment_proxy_address(t->proxy).sin_port)
                    : t->host->address.port;
}

static void enet_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                              size_t bytes)
{
    enet_transport *t = (enet_transport *)(uintptr_t)transport;
    const slot *s = foliot__slot_of(t, peer);
    char ip[64] = "?";
    if (s)
        enet_address_get_host_ip(&s->address, ip, sizeof ip);
    snprintf(text, bytes, "%s:%u", ip, s ? s->address.port : 0);
}

static uint64_t enet_peer_host(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    return s ? s->address.host : 0;
}

static uint64_t enet_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    if (s && s->state == SLOT_CONNECTED)
        return (uint64_t)s->peer->roundTripTime * 1000000u;
    return s ? s->round_trip_ns : 0;
}

static void enet_destroy(foliot_transport *transport)
{
    enet_transport *t = (enet_transport *)transport;
    foliot__servicing = t;
    drop_delivered(t);
    if (t->host && t->proxy) { // what was said last must not end in our own queue
        enet_flush(transport, t->now_ns);
        foliot__impairment_proxy_drain(t->proxy, t->now_ns);
    }
    foliot__impairment_proxy_close(t->proxy);
    foliot__batched_socket_close(t->batched);
    for (uint32_t i = 0; i < t->head.config.peers_max; i++)
        foliot__slot_release(&t->slots[i], NULL);
    if (t->host)
        enet_host_destroy(t->host);
    foliot__admission_close(&t->admission);
    foliot__forget(&t->keys, sizeof t->keys);
    foliot__inbox_close(&t->inbox);
    foliot__outbox_close(&t->outbox);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t->slots);
    free(t);
    enet_deinitialize();
}

static const foliot__transport_maker enet_maker = {
    enet_destroy, enet_connect,      enet_disconnect, enet_poll,
    enet_send,    enet_flush,        enet_wake_ns,    enet_descriptor,
    enet_port,    enet_peer_address, enet_peer_host,  enet_round_trip_ns,
    NULL,
};

// ENet's own bind hides why it failed.
static foliot_status port_free(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int why =
        fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof *address) != 0 ? errno : 0;
    if (fd >= 0)
        close(fd);
    return why == 0               ? FOLIOT_STATUS_OK
           : why == EADDRNOTAVAIL ? FOLIOT_STATUS_NOT_FOUND
           : why == EACCES        ? FOLIOT_STATUS_REFUSED
                                  : FOLIOT_STATUS_AGAIN;
}

static foliot_status open_host(enet_transport *t)
{
    const foliot_transport_config *config = &t->head.config;
    struct sockaddr_in address = {.sin_family = AF_INET};
    ENetAddress at = {0};
    bool relayed = config->bind && impaired(t);
    if (config->bind && inet_pton(AF_INET, config->bind, &address.sin_addr) != 1)
        return FOLIOT_STATUS_INVALID;
    address.sin_port = htons(config->port);
    foliot_status status = config->bind ? port_free(&address) : FOLIOT_STATUS_OK;
    if (status != FOLIOT_STATUS_OK)
        return status;
    at.host = relayed ? htonl(INADDR_LOOPBACK) : address.sin_addr.s_addr;
    at.port = relayed ? 0 : config->port;
    t->host =
        enet_host_create(config->bind ? &at : NULL, config->peers_max, FOLIOT__CHANNELS, 0, 0);
    if (!t->host)
        return FOLIOT_STATUS_AGAIN;
    if (!relayed && config->bind && config->batches)
        t->batched = foliot__batched_socket_open((int)t->host->socket, FOLIOT__SHORT_MARK);
    if (!relayed)
        return FOLIOT_STATUS_OK;
    struct sockaddr_in near = {.sin_family = AF_INET,
                               .sin_port = htons(t->host->address.port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    status = foliot__impairment_proxy_listen(&address, &near, &config->send, &config->receive,
                                             &t->head.counters, &t->proxy);
    return status == FOLIOT_STATUS_OK ? watch_relay(t) : status;
}

// On the loopback, and behind the impairment's proxy, all clients have one address.
static bool shares_address(const enet_transport *t)
{
    struct in_addr address = {0};
    bool known = t->head.config.bind && inet_pton(AF_INET, t->head.config.bind, &address) == 1;
    return known && (ntohl(address.s_addr) >> 24 == IN_LOOPBACKNET || impaired(t));
}

static void set_limits(enet_transport *t)
{
    bool listens = t->head.config.bind != NULL;
    t->packet_bytes_max = listens ? LISTENER_PACKET_BYTES_MAX : FOLIOT_RELIABLE_BYTES_MAX;
    t->host->maximumPacketSize = FOLIOT_RELIABLE_BYTES_MAX;
    t->host->maximumWaitingData =
        listens ? LISTENER_WAITING_BYTES_MAX : 2 * FOLIOT_RELIABLE_BYTES_MAX;
    if (listens) // ENet counts its own peers, those included that it still says farewell to
        t->host->duplicatePeers = t->admission.per_address_max;
    t->host->intercept = foliot__enet_intercept;
    t->host->checksum = foliot__enet_checksum;
    enet_socket_set_option(t->host->socket, ENET_SOCKOPT_RCVBUF, SOCKET_BYTES);
    enet_socket_set_option(t->host->socket, ENET_SOCKOPT_SNDBUF, SOCKET_BYTES);
}

foliot_status foliot_transport_create_enet(const foliot_transport_config *config, uint64_t now_ns,
                                           foliot_transport **transport)
{
    if (config->peers_max == 0 || config->peers_max > FOLIOT_PEERS_MAX || config->timeout_ms == 0)
        return FOLIOT_STATUS_INVALID;
    if (enet_initialize() != 0)
        return FOLIOT_STATUS_IO;
    enet_transport *t = calloc(1, sizeof *t);
    slot *slots = calloc(config->peers_max, sizeof *slots);
    if (!t || !slots) {
        free(t);
        free(slots);
        return FOLIOT_STATUS_MEMORY;
    }
    t->head = (foliot_transport){.maker = &enet_maker, .config = *config};
    t->slots = slots;
    t->epoll_fd = -1;
    foliot_transport_config limits = *config;
    if (shares_address(t)) {
        limits.peers_per_address_max =
            config->peers_per_address_max ? config->peers_per_address_max : config->peers_max;
        limits.joins_per_second =
            config->joins_per_second > 0 ? config->joins_per_second : SHARED_PER_SECOND;
    }
    foliot_status status = foliot__admission_init(&t->admission, &limits);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__outbox_init(&t->outbox, config->peers_max) ? open_host(t)
                                                                    : FOLIOT_STATUS_MEMORY;
    if (status != FOLIOT_STATUS_OK) {
        enet_destroy(&t->head);
        return status;
    }
    set_limits(t);
    set_clock(t, now_ns);
    foliot__cookie_keys_draw(&t->keys, now_ns);
    *transport = &t->head;
    return FOLIOT_STATUS_OK;
}
