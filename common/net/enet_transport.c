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
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET_BYTES (4 << 20)
#define SHARED_PER_SECOND 32  // connections of all clients together, where they have one address
#define TIMER_NS 10000000u    // time-outs and resends do not wake the descriptor
#define PATIENCE_NS 20000000u // the same, and data in the batched socket, if a tick is near
#define LISTENER_PACKET_BYTES_MAX                                                                  \
    65536u // maximum size of a packet that a client makes a host hold: control messages
#define LISTENER_WAITING_BYTES_MAX (512u << 10)
#define SERVICE_ERRORS_A_POLL 64
// ENet pings peers from which it has received nothing, and it does not see raw datagrams. A ping
// costs the work of four datagrams.
#define PING_MS_MAX 2000u
#define PINGS_A_TIMEOUT 5u
#define SERVICES_AT_A_TIME 16 // of ENet, for one time of the host's clock
#define REST_NS_MAX 5000000u  // of ENet's timers, which count milliseconds
#define FAREWELL_MS 3000u
#define DATAGRAMS_A_SERVICE 256 // that ENet receives at most in one call

// Disconnects after delivering what was sent. The time-out is short, since the peer keeps its place
// in ENet until then.
static void farewell(ENetPeer *peer, uint32_t reason)
{
    enet_peer_timeout(peer, 0, FAREWELL_MS, FAREWELL_MS);
    enet_peer_disconnect_later(peer, reason);
}

// ENet has connected. The cookie, or its answer, already was the event.
static void connected(enet_transport *t, ENetPeer *peer)
{
    slot *s = peer->data;
    if (!s) {
        foliot__net_address at = foliot__net_address_of_ip4(peer->address.host, peer->address.port);
        s = t->six ? foliot__six_slot(t, &peer->address)
                   : foliot__slot_by_connection(t, &at, peer->connectID);
    }
    if (!s || s->state == SLOT_FREE) { // the slot timed out before
        enet_peer_reset(peer);
        return;
    }
    // Throttle off: it would drop unreliable packets by a guess at congestion (measured: half of
    // them).
    enet_peer_throttle_configure(peer, 5000, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
    enet_peer_timeout(peer, 0, t->head.config.timeout_ms, t->head.config.timeout_ms);
    uint32_t ping_ms = t->head.config.timeout_ms / PINGS_A_TIMEOUT;
    enet_peer_ping_interval(peer, ping_ms < PING_MS_MAX ? ping_ms : PING_MS_MAX);
    t->service.unsent = t->service.unsent || s->waiting_count > 0;
    if (s->state == SLOT_CLOSING) {
        foliot__slot_release(s, peer);
        farewell(peer, s->reason);
        t->service.unsent = true;
        foliot__slot_set(t, s, SLOT_FREE);
        return;
    }
    s->peer = peer;
    peer->data = s;
    s->resend_ms = (uint32_t)(t->now_ns / 1000000u);
    foliot__slot_set(t, s, SLOT_CONNECTED);
    foliot__enet_open_path(t, s);
    foliot__slot_release(s, peer);
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

static bool translate(enet_transport *t, const ENetEvent *from, foliot_transport_event *event)
{
    switch (from->type) {
    case ENET_EVENT_TYPE_CONNECT:
        connected(t, from->peer);
        return false;
    case ENET_EVENT_TYPE_DISCONNECT: {
        slot *s = from->peer->data;
        from->peer->data = NULL;
        if (!s)
            return false;
        *event =
            (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED,
                                     .peer = foliot__slot_id(t, s),
                                     .reason = from->data ? from->data : FOLIOT_DISCONNECT_TIMEOUT};
        foliot__slot_set(t, s, SLOT_FREE);
        return true;
    }
    case ENET_EVENT_TYPE_RECEIVE: {
        const slot *s = from->peer->data;
        t->delivered = from->packet;
        if (!s)
            return false;
        *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_RECEIVED,
                                          .peer = foliot__slot_id(t, s),
                                          .delivery = from->channelID == FOLIOT__CHANNEL_RELIABLE
                                                          ? FOLIOT_DELIVERY_RELIABLE
                                                          : FOLIOT_DELIVERY_UNRELIABLE,
                                          .bytes = from->packet->data,
                                          .length = from->packet->dataLength,
                                          .arrived_ns = t->now_ns};
        return true;
    }
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
    if (t->service.drained) { // until the next call
        t->service.drained = false;
        return 0;
    }
    if (t->service.services_ns != t->now_ns)
        t->service.services = 0;
    t->service.services_ns = t->now_ns;
    if (t->service.services++ >=
        SERVICES_AT_A_TIME) // a flood must not hold the loop: the socket keeps the rest
        return 0;
    // Nothing has arrived for ENet, nothing waits to be sent, and its timers were checked just now.
    char byte;
    if (t->batched && !t->six && !t->service.unsent && t->service.idle_ns &&
        t->now_ns - t->service.idle_ns < REST_NS_MAX &&
        recv(t->socket, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN)
        return 0;
    t->service.idle_ns = 0;
    t->service.datagrams = 0;
    bool fed = t->six && foliot__six_feed(t);
    got = enet_host_service(t->host, from, 0);
    if (got == 0 && fed) // others may wait behind those
        return next_event(t, from);
    // ENet reports a packet after it has received and answered everything, a connection before
    // that.
    if (got == 0)
        t->service.idle_ns = t->now_ns;
    if (got > 0 && from->type == ENET_EVENT_TYPE_RECEIVE)
        t->service.drained =
            t->service.datagrams < DATAGRAMS_A_SERVICE && !(t->six && foliot__six_waits(t));
    else
        t->service.unsent = got != 0;
    return got;
}

static void enet_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                            bool at_once)
{
    enet_transport *t = (enet_transport *)transport;
    slot *s = foliot__slot_of(t, peer);
    if (!s)
        return;
    foliot__servicing = t; // ENet sends at once
    // ENet cannot end a connection that it has not made: the host could not assign the disconnect.
    if (s->state == SLOT_EARLY || (s->state == SLOT_CONNECTING && !at_once)) {
        if (s->peer)
            s->peer->data = NULL;
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
        t->service.unsent = true;
    }
    foliot__slot_set(t, s, SLOT_FREE);
}

// Ends connections whose clients have come back on newer ones.
static bool end_replaced(enet_transport *t, foliot_transport_event *event)
{
    for (uint32_t i = 0; t->replaced && i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        if (!s->replaced || s->state == SLOT_FREE || s->state == SLOT_CLOSING)
            continue;
        s->replaced = false;
        *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED,
                                          .peer = foliot__slot_id(t, s),
                                          .reason = FOLIOT_DISCONNECT_TOKEN_USED};
        enet_disconnect(&t->head, event->peer, event->reason, true);
        return true;
    }
    t->replaced = false;
    return false;
}

static bool enet_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    enet_transport *t = (enet_transport *)transport;
    ENetEvent from;
    foliot__enet_set_clock(t, now_ns);
    foliot__servicing = t;
    drop_delivered(t);
    if (t->secure)
        foliot__secure_expire(t->secure, now_ns);
    if (t->proxy)
        foliot__impairment_proxy_pump(t->proxy, now_ns);
    if (t->batched)
        foliot__batched_socket_read(t->batched, now_ns, foliot__enet_receive_batched, t);
    if (t->six)
        foliot__six_read(t, foliot__enet_receive);
    foliot__enet_advance_paths(t);
    foliot__enet_time_resends(t);
    if (foliot__enet_advance_connects(t, event) || foliot__enet_expire_early(t, event) ||
        end_replaced(t, event))
        return true;
    for (int errors = 0; errors < SERVICE_ERRORS_A_POLL;) {
        if (next_datagram(t, event))
            return true;
        int got = next_event(t, &from);
        if (got == 0)
            return next_datagram(t, event);
        if (got < 0) { // a datagram that is too large, from any sender, causes this
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

static void enet_flush(foliot_transport *transport, uint64_t now_ns)
{
    enet_transport *t = (enet_transport *)transport;
    foliot__enet_set_clock(t, now_ns);
    foliot__servicing = t;
    foliot__enet_flush_datagrams(t);
    if (t->service.unsent)
        enet_host_flush(t->host);
    t->service.unsent = false;
    if (t->proxy)
        foliot__impairment_proxy_pump(t->proxy, now_ns);
}

static uint64_t enet_wake_ns(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    uint64_t timer = t->now_ns + TIMER_NS;
    uint64_t proxy = t->proxy ? foliot__impairment_proxy_wake_ns(t->proxy) : UINT64_MAX;
    uint64_t batched = t->batched ? foliot__batched_socket_wake_ns(t->batched) : UINT64_MAX;
    uint64_t first = batched < timer ? batched : timer, tick = t->head.tick_ns;
    if (tick > first && tick - t->now_ns <= PATIENCE_NS && t->batched &&
        foliot__batched_socket_is_calm(t->batched))
        first = tick;
    return proxy < first ? proxy : first;
}

static int enet_descriptor(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    return t->epoll_fd >= 0 ? t->epoll_fd : t->socket;
}

static uint16_t enet_port(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    return t->proxy ? foliot__impairment_proxy_address(t->proxy).port : t->host->address.port;
}

static void enet_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                              size_t bytes)
{
    enet_transport *t = (enet_transport *)(uintptr_t)transport;
    const slot *s = foliot__slot_of(t, peer);
    if (s)
        foliot__net_address_print(&s->address, text, bytes);
    else
        snprintf(text, bytes, "?:0");
}

static uint64_t enet_peer_host(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    return s ? foliot__net_address_host_key(&s->address) : 0;
}

static uint64_t enet_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    if (s && s->state == SLOT_CONNECTED)
        return (uint64_t)s->peer->roundTripTime * 1000000u;
    return s ? s->round_trip_ns : 0;
}

// The first of a list that is on the reliable channel. Others in it are few: pings, and what goes
// out at once.
static const ENetOutgoingCommand *first_reliable(const ENetList *list)
{
    for (ENetListIterator i = enet_list_begin((ENetList *)(uintptr_t)list);
         i != enet_list_end((ENetList *)(uintptr_t)list); i = enet_list_next(i)) {
        const ENetOutgoingCommand *command = (const ENetOutgoingCommand *)(void *)i;
        if (command->command.header.channelID == FOLIOT__CHANNEL_RELIABLE &&
            command->reliableSequenceNumber != 0)
            return command;
    }
    return NULL;
}

// Sequence numbers are consecutive: the oldest one gives their number.
static uint32_t enet_backlog(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    if (!s || s->state != SLOT_CONNECTED || s->peer->channelCount <= FOLIOT__CHANNEL_RELIABLE)
        return 0;
    const ENetOutgoingCommand *oldest = first_reliable(&s->peer->sentReliableCommands);
    if (!oldest)
        oldest = first_reliable(&s->peer->outgoingCommands);
    uint16_t newest = s->peer->channels[FOLIOT__CHANNEL_RELIABLE].outgoingReliableSequenceNumber;
    return oldest ? (uint16_t)(newest - oldest->reliableSequenceNumber + 1) : 0;
}

// Refusals on other threads are counted there.
static void enet_count(foliot_transport *transport)
{
    enet_transport *t = (enet_transport *)transport;
    if (t->secure)
        t->head.counters.connects_over_client += foliot__secure_poll_over_client(t->secure);
}

static void enet_destroy(foliot_transport *transport)
{
    enet_transport *t = (enet_transport *)transport;
    foliot__servicing = t;
    drop_delivered(t);
    if (t->host && t->proxy) { // the last packets must not be lost in our own queue
        enet_flush(transport, t->now_ns);
        foliot__impairment_proxy_drain(t->proxy, t->now_ns);
    }
    foliot__impairment_proxy_close(t->proxy);
    foliot__batched_socket_close(t->batched);
    for (uint32_t i = 0; i < t->head.config.peers_max; i++) {
        foliot__slot_release(&t->slots[i], NULL);
        free(t->slots[i].reassembly);
    }
    if (t->host)
        enet_host_destroy(t->host);
    foliot__six_close(t);
    foliot__admission_close(&t->admission);
    foliot__secure_close(t->secure);
    foliot__forget(t->plain, sizeof t->plain);
    foliot__forget(&t->keys, sizeof t->keys);
    foliot__inbox_close(&t->inbox);
    foliot__outbox_close(&t->outbox);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t->slots);
    free(t->connect_ids);
    free(t);
    foliot__servicing = NULL;
    enet_deinitialize();
}

static uint32_t enet_count_leaving(foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    uint32_t count = 0;
    for (size_t i = 0; i < t->host->peerCount; i++)
        count += t->host->peers[i].state >= ENET_PEER_STATE_DISCONNECT_LATER &&
                 t->host->peers[i].state <= ENET_PEER_STATE_ACKNOWLEDGING_DISCONNECT;
    for (uint32_t i = 0; i < t->head.config.peers_max; i++) // ENet has not connected yet
        count += t->slots[i].state == SLOT_CLOSING;
    return count;
}

static const foliot__transport_maker enet_maker = {
    enet_destroy,
    foliot__enet_connect,
    enet_disconnect,
    enet_poll,
    foliot__enet_send,
    enet_flush,
    enet_wake_ns,
    enet_descriptor,
    enet_port,
    enet_peer_address,
    enet_peer_host,
    enet_round_trip_ns,
    NULL,
    enet_backlog,
    enet_count,
    foliot__enet_identity,
    foliot__enet_show_token,
    foliot__enet_show_password,
    foliot__enet_overhead,
    foliot__enet_end_shown,
    foliot__enet_set_keys,
    enet_count_leaving,
};

static foliot_status open_four(enet_transport *t, const foliot__net_address *address, bool relayed)
{
    const foliot_transport_config *config = &t->head.config;
    ENetAddress at = {0};
    if (config->bind && foliot__net_address_is_ip4(address)) {
        // ENet's own bind hides why it failed.
        foliot__socket_address own;
        socklen_t bytes = foliot__net_address_to_socket(address, &own);
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        int why = fd < 0 || bind(fd, &own.any, bytes) != 0 ? errno : 0;
        if (fd >= 0)
            close(fd);
        foliot_status status = why == 0               ? FOLIOT_STATUS_OK
                               : why == EADDRNOTAVAIL ? FOLIOT_STATUS_NOT_FOUND
                               : why == EACCES        ? FOLIOT_STATUS_REFUSED
                               : why == EADDRINUSE    ? FOLIOT_STATUS_BUSY
                                                      : FOLIOT_STATUS_AGAIN;
        if (status != FOLIOT_STATUS_OK)
            return status;
        at.host = foliot__net_address_get_ip4(address);
        at.port = config->port;
    }
    if (relayed)
        at = (ENetAddress){.host = htonl(INADDR_LOOPBACK)};
    t->host =
        enet_host_create(config->bind ? &at : NULL, config->peers_max, FOLIOT__CHANNELS, 0, 0);
    if (!t->host)
        return FOLIOT_STATUS_AGAIN;
    t->socket = (int)t->host->socket;
    return FOLIOT_STATUS_OK;
}

static foliot_status open_six(enet_transport *t, const foliot__net_address *address)
{
    t->host = enet_host_create(NULL, t->head.config.peers_max, FOLIOT__CHANNELS, 0, 0);
    if (!t->host)
        return FOLIOT_STATUS_AGAIN;
    t->socket = (int)t->host->socket;
    return foliot__six_open(t, address);
}

static foliot_status open_host(enet_transport *t)
{
    const foliot_transport_config *config = &t->head.config;
    foliot__net_address address = {.port = 0};
    bool relayed = config->bind && foliot__enet_impaired(t);
    if (config->bind && !foliot__net_address_read(config->bind, config->port, &address))
        return FOLIOT_STATUS_INVALID;
    bool six = config->bind && !relayed && !foliot__net_address_is_ip4(&address);
    foliot_status status = six ? open_six(t, &address) : open_four(t, &address, relayed);
    if (status != FOLIOT_STATUS_OK)
        return status;
    if (!relayed && config->bind && config->batches)
        t->batched = foliot__batched_socket_open(t->socket, FOLIOT__SHORT_MARK, FOLIOT__SEALED_RAW);
    if (!relayed)
        return FOLIOT_STATUS_OK;
    struct sockaddr_in near = {.sin_family = AF_INET,
                               .sin_port = htons(t->host->address.port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    status = foliot__impairment_proxy_listen(&address, &near, &config->send, &config->receive,
                                             &t->head.counters, &t->proxy);
    return status == FOLIOT_STATUS_OK ? foliot__enet_watch_proxy(t) : status;
}

foliot_status foliot_transport_create_enet(const foliot_transport_config *config, uint64_t now_ns,
                                           foliot_transport **transport)
{
    if (config->peers_max == 0 || config->peers_max > FOLIOT_PEERS_MAX || config->timeout_ms == 0 ||
        (config->mtu != 0 && config->mtu < FOLIOT_MTU_MIN))
        return FOLIOT_STATUS_INVALID;
    if (enet_initialize() != 0)
        return FOLIOT_STATUS_IO;
    enet_transport *t = calloc(1, sizeof *t);
    slot *slots = calloc(config->peers_max, sizeof *slots);
    uint32_t *connect_ids = calloc(config->peers_max, sizeof *connect_ids);
    if (!t || !slots || !connect_ids) {
        free(t);
        free(slots);
        free(connect_ids);
        return FOLIOT_STATUS_MEMORY;
    }
    t->head = (foliot_transport){.maker = &enet_maker, .config = *config};
    t->slots = slots;
    t->connect_ids = connect_ids;
    t->epoll_fd = -1;
    foliot_transport_config limits = *config;
    // On the loopback, and behind the impairment's proxy, all clients have one address.
    foliot__net_address address;
    bool known = t->head.config.bind && foliot__net_address_read(t->head.config.bind, 0, &address);
    if (known && (foliot__net_address_is_loopback(&address) || foliot__enet_impaired(t))) {
        limits.peers_per_address_max =
            config->peers_per_address_max ? config->peers_per_address_max : config->peers_max;
        limits.joins_per_second =
            config->joins_per_second > 0 ? config->joins_per_second : SHARED_PER_SECOND;
    }
    foliot_status status = foliot__admission_init(&t->admission, &limits);
    if (status == FOLIOT_STATUS_OK)
        status = foliot__outbox_init(&t->outbox, config->peers_max) ? open_host(t)
                                                                    : FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK && (config->bind || foliot__enet_needs_keys(t)))
        status = foliot__secure_open(config, enet_port(&t->head), &t->secure);
    t->head.config.key = NULL; // the caller's, and copied
    t->head.config.token = t->head.config.password = NULL;
    t->head.config.own_addresses = NULL;
    t->head.config.used_tokens = NULL;
    if (status != FOLIOT_STATUS_OK) {
        enet_destroy(&t->head);
        return status;
    }
    bool listens = t->head.config.bind != NULL;
    t->packet_bytes_max = listens ? LISTENER_PACKET_BYTES_MAX : FOLIOT_RELIABLE_BYTES_MAX;
    t->host->maximumPacketSize = FOLIOT_RELIABLE_BYTES_MAX;
    t->host->maximumWaitingData =
        listens ? LISTENER_WAITING_BYTES_MAX : 2 * FOLIOT_RELIABLE_BYTES_MAX;
    if (listens) // ENet also counts peers that are still disconnecting
        t->host->duplicatePeers = t->admission.per_address_max;
    t->host->mtu = foliot__enet_most_bytes(t); // of its peers: see foliot__enet_open_path
    foliot__set_fragments(t->socket, false);
    t->host->intercept = foliot__enet_intercept;
    t->host->checksum = foliot__enet_checksum;
    enet_socket_set_option(t->socket, ENET_SOCKOPT_RCVBUF, SOCKET_BYTES);
    enet_socket_set_option(t->socket, ENET_SOCKOPT_SNDBUF, SOCKET_BYTES);
    foliot__enet_set_clock(t, now_ns);
    foliot__cookie_keys_draw(&t->keys, now_ns);
    *transport = &t->head;
    return FOLIOT_STATUS_OK;
}
