// SPDX-License-Identifier: MIT
// enet_transport.c: the transport over ENet 1.3.17, with its traps handled (docs/NETCODE.md lists them).
// Everything of one transport happens on one thread. Unreliable packets go unsequenced on channel 0,
// reliable ones on channel 1; nothing unreliable is ever fragmented.
#include "net/cookie.h"
#include "net/gate.h"
#include "net/relay.h"
#include "net/transport.h"

#include <enet/enet.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET_BYTES (4 << 20)
#define HELLO_EVERY_NS 40000000u // small, and a lost one costs a whole wait
#define TIMER_NS 10000000u               // time-outs and resends do not wake the descriptor
#define LISTENER_PACKET_BYTES_MAX 65536u // what a client may make a host hold: control messages
#define LISTENER_WAITING_BYTES_MAX (512u << 10)
#define SERVICE_ERRORS_A_POLL 64
#define DATAGRAMS_A_SERVICE 256 // that ENet receives at most in one call
// ENet takes half a second for the first round trip, so that a lost handshake is sent again late. Too little
// costs a second copy of a few small datagrams; what is measured soon replaces it.
#define ROUND_TRIP_FIRST_MS 20
#define ROUND_TRIP_VARIANCE_FIRST_MS 5

enum { SLOT_FREE, SLOT_ASKING, SLOT_CONNECTING, SLOT_CONNECTED };

typedef struct slot {
    uint32_t generation, state;
    ENetPeer *peer;
    ENetAddress address; // asked for a cookie while SLOT_ASKING
    uint64_t began_ns, hello_ns;
    uint32_t cookie;
    bool has_cookie;
} slot;

typedef struct enet_transport {
    foliot_transport head;
    ENetHost *host;
    foliot__relay *relay;
    slot *slots;
    uint32_t packet_bytes_max;
    uint64_t now_ns;
    ENetPacket *delivered; // of the last event
    int epoll_fd;          // -1, or ENet's socket and the relay's together
    // Every service and flush of ENet's walks all peers, so it is left out where it would find nothing.
    uint32_t datagrams; // of the service that runs
    bool drained;       // the last one emptied the socket, and acknowledged
    bool unsent;        // something waits for a flush
} enet_transport;

// ENet gives its intercept function no way to tell whose host it is called for; it is called within our
// own calls only, which say so here.
static _Thread_local enet_transport *servicing;

static void set_clock(enet_transport *t, uint64_t now_ns)
{
    // ENet counts milliseconds from the wall clock; put it back onto the monotonic one each time.
    if (now_ns == t->now_ns)
        return;
    t->now_ns = now_ns;
    enet_time_set((enet_uint32)(now_ns / 1000000u));
}

static bool same_address(const ENetAddress *a, const ENetAddress *b)
{
    return a->host == b->host && a->port == b->port;
}

static void send_raw(enet_transport *t, const ENetAddress *to, const uint8_t *bytes, size_t length)
{
    ENetBuffer buffer = {.data = (void *)(uintptr_t)bytes, .dataLength = length};
    enet_socket_send(t->host->socket, to, &buffer, 1);
}

// -- the gate: before ENet sees a datagram ----------------------------------------------------------

// An address asks for its cookie. The answer is smaller than the question.
static void answer_hello(enet_transport *t, const ENetAddress *from)
{
    uint8_t answer[FOLIOT__COOKIE_BYTES];
    uint32_t cookie = foliot__cookie(t->head.config.secret, from->host, from->port,
                                     t->now_ns / FOLIOT__COOKIE_EPOCH_NS);
    memcpy(answer, FOLIOT__COOKIE, 8);
    for (int i = 0; i < 4; i++)
        answer[8 + i] = (uint8_t)(cookie >> (8 * i));
    send_raw(t, from, answer, sizeof answer);
}

static void take_cookie(enet_transport *t, const ENetAddress *from, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_ASKING || s->has_cookie || !same_address(&s->address, from))
            continue;
        s->cookie = (uint32_t)bytes[8] | (uint32_t)bytes[9] << 8 | (uint32_t)bytes[10] << 16 |
                    (uint32_t)bytes[11] << 24;
        s->has_cookie = true;
    }
}

static bool greeting(enet_transport *t, const ENetAddress *from, const uint8_t *bytes, size_t length)
{
    if (length == FOLIOT__HELLO_BYTES && memcmp(bytes, FOLIOT__HELLO, 8) == 0) {
        if (t->head.config.bind)
            answer_hello(t, from);
        return true;
    }
    if (length == FOLIOT__COOKIE_BYTES && memcmp(bytes, FOLIOT__COOKIE, 8) == 0) {
        take_cookie(t, from, bytes);
        return true;
    }
    return false;
}

static int32_t expected_reliable(const enet_transport *t, const uint8_t *bytes, size_t length)
{
    int32_t index = foliot__gate_peer(bytes, length);
    if (index < 0 || (size_t)index >= t->host->peerCount)
        return -1;
    const ENetPeer *peer = &t->host->peers[index];
    if (!peer->channels || peer->channelCount <= FOLIOT__CHANNEL_RELIABLE)
        return -1;
    return peer->channels[FOLIOT__CHANNEL_RELIABLE].incomingReliableSequenceNumber;
}

static void expect_round_trip(ENetPeer *peer)
{
    peer->roundTripTime = peer->lastRoundTripTime = ROUND_TRIP_FIRST_MS;
    peer->roundTripTimeVariance = ROUND_TRIP_VARIANCE_FIRST_MS;
}

// ENet is about to take one of its free peers for a connect, and to answer before we see it.
static void prepare_free_peers(ENetHost *host)
{
    for (size_t i = 0; i < host->peerCount; i++)
        if (host->peers[i].state == ENET_PEER_STATE_DISCONNECTED)
            expect_round_trip(&host->peers[i]);
}

// 1: the datagram ends here. 0: ENet goes on with it.
static int ENET_CALLBACK gate(ENetHost *host, ENetEvent *event)
{
    enet_transport *t = servicing;
    foliot_transport_counters *counters = &t->head.counters;
    const uint8_t *bytes = host->receivedData;
    const ENetAddress *from = &host->receivedAddress;
    size_t length = host->receivedDataLength;
    uint32_t cookie = 0;
    (void)event;
    t->datagrams++;
    if (from->port == 0) {
        counters->datagrams_dropped_source++;
        return 1;
    }
    if (greeting(t, from, bytes, length))
        return 1;
    switch (foliot__gate(bytes, length, expected_reliable(t, bytes, length), t->packet_bytes_max, &cookie)) {
    case FOLIOT__PASS:
        return 0;
    case FOLIOT__CONNECT:
        if (t->head.config.bind &&
            foliot__cookie_good(t->head.config.secret, from->host, from->port, t->now_ns, cookie)) {
            prepare_free_peers(host);
            return 0;
        }
        counters->datagrams_dropped_cookie++;
        return 1;
    case FOLIOT__FRAGMENT:
        counters->datagrams_dropped_fragment++;
        return 1;
    case FOLIOT__MALFORMED:
    default:
        counters->datagrams_dropped_malformed++;
        return 1;
    }
}

// -- slots ------------------------------------------------------------------------------------------

static slot *slot_of(enet_transport *t, foliot_peer_id peer)
{
    uint32_t index = foliot__peer_index(peer);
    if (peer.value == 0 || index >= t->head.config.peers_max)
        return NULL;
    slot *s = &t->slots[index];
    return s->state != SLOT_FREE && s->generation == foliot__peer_generation(peer) ? s : NULL;
}

static foliot_peer_id id_of(const enet_transport *t, const slot *s)
{
    return foliot__peer_id((uint32_t)(s - t->slots), s->generation);
}

static slot *free_slot(enet_transport *t)
{
    for (uint32_t i = 0; i < t->head.config.peers_max; i++)
        if (t->slots[i].state == SLOT_FREE) {
            t->slots[i] = (slot){.generation = t->slots[i].generation + 1, .began_ns = t->now_ns};
            return &t->slots[i];
        }
    return NULL;
}

static void settle(enet_transport *t, ENetPeer *peer)
{
    // Throttle off: it would drop unreliable packets by a guess at congestion (measured: half of them).
    enet_peer_throttle_configure(peer, 5000, ENET_PEER_PACKET_THROTTLE_SCALE, 0);
    enet_peer_timeout(peer, 0, t->head.config.timeout_ms, t->head.config.timeout_ms);
}

// -- connecting ---------------------------------------------------------------------------------------

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
    if (t->epoll_fd < 0 || epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, (int)t->host->socket, &event) != 0 ||
        epoll_ctl(t->epoll_fd, EPOLL_CTL_ADD, foliot__relay_descriptor(t->relay), &event) != 0)
        return FOLIOT_IO;
    return FOLIOT_OK;
}

static bool impaired(const enet_transport *t)
{
    return !foliot__impairment_none(&t->head.config.send) ||
           !foliot__impairment_none(&t->head.config.receive);
}

static foliot_status enet_connect(foliot_transport *transport, const char *host, uint16_t port,
                                  uint64_t now_ns, foliot_peer_id *peer)
{
    enet_transport *t = (enet_transport *)transport;
    struct sockaddr_in address;
    set_clock(t, now_ns);
    if (!resolve(host, port, &address))
        return FOLIOT_NOT_FOUND;
    if (impaired(t) && t->relay)
        return FOLIOT_UNSUPPORTED; // one impaired connection a transport
    if (impaired(t)) {
        foliot_status status = foliot__relay_connect(&address, &t->head.config.send, &t->head.config.receive,
                                                     &t->head.counters, &t->relay);
        if (status == FOLIOT_OK)
            status = watch_relay(t);
        if (status != FOLIOT_OK)
            return status;
        address = foliot__relay_address(t->relay);
    }
    slot *s = free_slot(t);
    if (!s)
        return FOLIOT_FULL;
    s->state = SLOT_ASKING;
    s->address = (ENetAddress){.host = address.sin_addr.s_addr, .port = ntohs(address.sin_port)};
    *peer = id_of(t, s);
    return FOLIOT_OK;
}

static void advance_asking(enet_transport *t, slot *s)
{
    if (s->has_cookie) {
        s->peer = enet_host_connect(t->host, &s->address, FOLIOT__CHANNELS, s->cookie);
        t->unsent = true;
        if (s->peer) {
            s->peer->data = s;
            s->state = SLOT_CONNECTING;
            expect_round_trip(s->peer);
            enet_peer_timeout(s->peer, 0, t->head.config.timeout_ms, t->head.config.timeout_ms);
        }
        return;
    }
    if (s->hello_ns != 0 && t->now_ns - s->hello_ns < HELLO_EVERY_NS)
        return;
    uint8_t hello[FOLIOT__HELLO_BYTES] = FOLIOT__HELLO;
    send_raw(t, &s->address, hello, sizeof hello);
    s->hello_ns = t->now_ns;
}

// A slot that asked in vain becomes an event.
static bool advance_askers(enet_transport *t, foliot_transport_event *event)
{
    uint64_t timeout_ns = (uint64_t)t->head.config.timeout_ms * 1000000u;
    for (uint32_t i = 0; !t->head.config.bind && i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_ASKING)
            continue;
        if (t->now_ns - s->began_ns >= timeout_ns) {
            *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED, .peer = id_of(t, s),
                                              .reason = FOLIOT_DISCONNECT_TIMEOUT};
            s->state = SLOT_FREE;
            return true;
        }
        advance_asking(t, s);
    }
    return false;
}

// -- events --------------------------------------------------------------------------------------------

static bool connected(enet_transport *t, ENetPeer *peer, foliot_transport_event *event)
{
    slot *s = peer->data;
    if (!s) {
        s = free_slot(t);
        if (!s) {
            t->head.counters.connects_refused++;
            enet_peer_disconnect(peer, FOLIOT_DISCONNECT_FULL);
            t->unsent = true;
            return false;
        }
        s->peer = peer;
        peer->data = s;
    }
    s->state = SLOT_CONNECTED;
    settle(t, peer);
    *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_CONNECTED, .peer = id_of(t, s)};
    return true;
}

static bool disconnected(enet_transport *t, ENetPeer *peer, uint32_t reason, foliot_transport_event *event)
{
    slot *s = peer->data;
    peer->data = NULL;
    if (!s)
        return false;
    *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED, .peer = id_of(t, s),
                                      .reason = reason ? reason : FOLIOT_DISCONNECT_TIMEOUT};
    s->state = SLOT_FREE;
    s->peer = NULL;
    return true;
}

static bool received(enet_transport *t, const ENetEvent *from, foliot_transport_event *event)
{
    const slot *s = from->peer->data;
    t->delivered = from->packet;
    if (!s)
        return false;
    *event = (foliot_transport_event){
        .kind = FOLIOT_TRANSPORT_RECEIVED,
        .peer = id_of(t, s),
        .delivery = from->channelID == FOLIOT__CHANNEL_RELIABLE ? FOLIOT_RELIABLE : FOLIOT_UNRELIABLE,
        .bytes = from->packet->data,
        .length = from->packet->dataLength,
    };
    return true;
}

static bool translate(enet_transport *t, const ENetEvent *from, foliot_transport_event *event)
{
    switch (from->type) {
    case ENET_EVENT_TYPE_CONNECT:
        return connected(t, from->peer, event);
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
    servicing = t;
    drop_delivered(t);
    if (t->relay)
        foliot__relay_pump(t->relay, now_ns);
    if (advance_askers(t, event))
        return true;
    for (int errors = 0; errors < SERVICE_ERRORS_A_POLL;) {
        int got = next_event(t, &from);
        if (got == 0)
            return false;
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

static void enet_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason, bool at_once)
{
    enet_transport *t = (enet_transport *)transport;
    slot *s = slot_of(t, peer);
    if (!s)
        return;
    if (s->peer) {
        s->peer->data = NULL;
        if (at_once)
            enet_peer_disconnect_now(s->peer, reason);
        else
            enet_peer_disconnect_later(s->peer, reason);
        t->unsent = true;
    }
    s->peer = NULL;
    s->state = SLOT_FREE;
}

static uint32_t enet_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                          foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    enet_transport *t = (enet_transport *)transport;
    bool reliable = delivery == FOLIOT_RELIABLE;
    ENetPacket *packet = enet_packet_create(
        bytes, length, reliable ? ENET_PACKET_FLAG_RELIABLE : ENET_PACKET_FLAG_UNSEQUENCED);
    uint8_t channel = reliable ? FOLIOT__CHANNEL_RELIABLE : FOLIOT__CHANNEL_UNRELIABLE;
    uint32_t taken = 0;
    for (uint32_t i = 0; packet && i < count; i++) {
        slot *s = slot_of(t, peers[i]);
        if (s && s->state == SLOT_CONNECTED && enet_peer_send(s->peer, channel, packet) == 0)
            taken++;
    }
    if (packet && packet->referenceCount == 0)
        enet_packet_destroy(packet);
    t->unsent = t->unsent || taken > 0;
    return taken;
}

static void enet_flush(foliot_transport *transport, uint64_t now_ns)
{
    enet_transport *t = (enet_transport *)transport;
    set_clock(t, now_ns);
    servicing = t;
    if (t->unsent)
        enet_host_flush(t->host);
    t->unsent = false;
    if (t->relay)
        foliot__relay_pump(t->relay, now_ns);
}

static uint64_t enet_wake_ns(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    uint64_t timer = t->now_ns + TIMER_NS;
    uint64_t relay = t->relay ? foliot__relay_wake_ns(t->relay) : UINT64_MAX;
    return relay < timer ? relay : timer;
}

static int enet_descriptor(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    return t->epoll_fd >= 0 ? t->epoll_fd : (int)t->host->socket;
}

static uint16_t enet_port(const foliot_transport *transport)
{
    const enet_transport *t = (const enet_transport *)transport;
    return t->relay ? ntohs(foliot__relay_address(t->relay).sin_port) : t->host->address.port;
}

static void enet_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text, size_t bytes)
{
    enet_transport *t = (enet_transport *)(uintptr_t)transport;
    const slot *s = slot_of(t, peer);
    char ip[64] = "?";
    if (s && s->peer)
        enet_address_get_host_ip(&s->peer->address, ip, sizeof ip);
    snprintf(text, bytes, "%s:%u", ip, s && s->peer ? s->peer->address.port : 0);
}

static uint64_t enet_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = slot_of((enet_transport *)(uintptr_t)transport, peer);
    return s && s->peer ? (uint64_t)s->peer->roundTripTime * 1000000u : 0;
}

static void enet_destroy(foliot_transport *transport)
{
    enet_transport *t = (enet_transport *)transport;
    servicing = t;
    drop_delivered(t);
    foliot__relay_close(t->relay);
    if (t->host)
        enet_host_destroy(t->host);
    if (t->epoll_fd >= 0)
        close(t->epoll_fd);
    free(t->slots);
    free(t);
    enet_deinitialize();
}

static const foliot__transport_maker enet_maker = {
    enet_destroy, enet_connect, enet_disconnect,   enet_poll,
    enet_send,    enet_flush,   enet_wake_ns,      enet_descriptor,
    enet_port,    enet_peer_address, enet_round_trip_ns,
    NULL,
};

// ENet's own bind hides why it failed.
static foliot_status port_free(const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int failed = fd < 0 || bind(fd, (const struct sockaddr *)address, sizeof *address) != 0;
    if (fd >= 0)
        close(fd);
    return failed ? FOLIOT_AGAIN : FOLIOT_OK;
}

static foliot_status open_host(enet_transport *t)
{
    const foliot_transport_config *config = &t->head.config;
    struct sockaddr_in address = {.sin_family = AF_INET};
    ENetAddress at = {0};
    bool relayed = config->bind && impaired(t);
    if (config->bind && inet_pton(AF_INET, config->bind, &address.sin_addr) != 1)
        return FOLIOT_INVALID;
    address.sin_port = htons(config->port);
    foliot_status status = config->bind ? port_free(&address) : FOLIOT_OK;
    if (status != FOLIOT_OK)
        return status;
    at.host = relayed ? htonl(INADDR_LOOPBACK) : address.sin_addr.s_addr;
    at.port = relayed ? 0 : config->port;
    t->host = enet_host_create(config->bind ? &at : NULL, config->peers_max, FOLIOT__CHANNELS, 0, 0);
    if (!t->host)
        return FOLIOT_AGAIN;
    if (!relayed)
        return FOLIOT_OK;
    struct sockaddr_in near = {.sin_family = AF_INET, .sin_port = htons(t->host->address.port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    status = foliot__relay_listen(&address, &near, &config->send, &config->receive, &t->head.counters,
                                  &t->relay);
    return status == FOLIOT_OK ? watch_relay(t) : status;
}

static void set_limits(enet_transport *t)
{
    bool listens = t->head.config.bind != NULL;
    t->packet_bytes_max = listens ? LISTENER_PACKET_BYTES_MAX : FOLIOT_RELIABLE_BYTES_MAX;
    t->host->maximumPacketSize = FOLIOT_RELIABLE_BYTES_MAX;
    t->host->maximumWaitingData = listens ? LISTENER_WAITING_BYTES_MAX : 2 * FOLIOT_RELIABLE_BYTES_MAX;
    t->host->intercept = gate;
    enet_socket_set_option(t->host->socket, ENET_SOCKOPT_RCVBUF, SOCKET_BYTES);
    enet_socket_set_option(t->host->socket, ENET_SOCKOPT_SNDBUF, SOCKET_BYTES);
}

foliot_status foliot_transport_enet(const foliot_transport_config *config, uint64_t now_ns,
                                    foliot_transport **transport)
{
    if (config->peers_max == 0 || config->peers_max > FOLIOT_PEERS_MAX || config->timeout_ms == 0)
        return FOLIOT_INVALID;
    if (enet_initialize() != 0)
        return FOLIOT_IO;
    enet_transport *t = calloc(1, sizeof *t);
    slot *slots = calloc(config->peers_max, sizeof *slots);
    if (!t || !slots) {
        free(t);
        free(slots);
        return FOLIOT_MEMORY;
    }
    t->head = (foliot_transport){.maker = &enet_maker, .config = *config};
    t->slots = slots;
    t->epoll_fd = -1;
    if (t->head.config.secret == 0 &&
        getrandom(&t->head.config.secret, sizeof t->head.config.secret, 0) < 0)
        t->head.config.secret = now_ns ^ (uint64_t)(uintptr_t)t;
    foliot_status status = open_host(t);
    if (status != FOLIOT_OK) {
        enet_destroy(&t->head);
        return status;
    }
    set_limits(t);
    set_clock(t, now_ns);
    *transport = &t->head;
    return FOLIOT_OK;
}
