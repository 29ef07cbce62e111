// SPDX-License-Identifier: MIT
// enet_gate.c: every datagram before ENet sees it: questions for cookies and their answers, packets ahead of ENet's
// connection, and what must not reach ENet at all. Nothing is remembered of an address that is not proven.
#include "net/cookie.h"
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <string.h>

// ENet takes half a second for the first round trip, so that a lost handshake is sent again late. Too little
// costs a second copy of a few small datagrams; what is measured soon replaces it.
#define ROUND_TRIP_FIRST_MS 20
#define ROUND_TRIP_VARIANCE_FIRST_MS 5

_Thread_local enet_transport *foliot__servicing;

void foliot__send_raw(enet_transport *t, const ENetAddress *to, const uint8_t *bytes, size_t length)
{
    ENetBuffer buffer = {.data = (void *)(uintptr_t)bytes, .dataLength = length};
    enet_socket_send(t->host->socket, to, &buffer, 1);
}

// An address asks for its cookie. The answer is smaller than the question.
static void answer_hello(enet_transport *t, const ENetAddress *from)
{
    uint8_t answer[FOLIOT__COOKIE_BYTES];
    uint32_t cookie = foliot__cookie(t->head.config.secret, from->host, from->port,
                                     t->now_ns / FOLIOT__COOKIE_EPOCH_NS);
    memcpy(answer, FOLIOT__COOKIE, 8);
    for (int i = 0; i < 4; i++)
        answer[8 + i] = (uint8_t)(cookie >> (8 * i));
    foliot__send_raw(t, from, answer, sizeof answer);
}

static void take_cookie(enet_transport *t, const ENetAddress *from, const uint8_t *bytes)
{
    for (uint32_t i = 0; i < t->head.config.peers_max; i++) {
        slot *s = &t->slots[i];
        if (s->state != SLOT_ASKING || s->has_cookie || !foliot__same_address(&s->address, from))
            continue;
        s->cookie = (uint32_t)bytes[8] | (uint32_t)bytes[9] << 8 | (uint32_t)bytes[10] << 16 |
                    (uint32_t)bytes[11] << 24;
        s->has_cookie = true;
        s->round_trip_ns = t->now_ns - s->began_ns;
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

// The first early datagram of a connection opens it, where the address is proven.
static slot *open_early(enet_transport *t, const ENetAddress *from, const foliot__direct *direct)
{
    if (!t->head.config.bind ||
        !foliot__cookie_good(t->head.config.secret, from->host, from->port, t->now_ns, direct->cookie))
        return NULL;
    slot *s = foliot__slot_take(t);
    if (!s)
        return NULL; // ENet's connect will be refused with a reason
    s->address = *from;
    s->connect_id = direct->connect_id;
    s->cookie = direct->cookie;
    foliot__slot_set(t, s, SLOT_EARLY);
    foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), NULL, 0, t->now_ns);
    return s;
}

static slot *slot_of_direct(enet_transport *t, const ENetAddress *from, const foliot__direct *direct)
{
    if (direct->early) {
        slot *s = foliot__slot_by_connection(t, from, direct->connect_id);
        return s ? (s->cookie == direct->cookie ? s : NULL) : open_early(t, from, direct);
    }
    const ENetPeer *peer = direct->peer < t->host->peerCount ? &t->host->peers[direct->peer] : NULL;
    if (!peer || peer->connectID != direct->connect_id || !foliot__same_address(&peer->address, from))
        return NULL;
    return peer->data ? peer->data : foliot__slot_by_connection(t, from, direct->connect_id);
}

static void take_direct(enet_transport *t, const ENetAddress *from, const uint8_t *bytes, size_t length,
                        uint64_t arrived_ns)
{
    foliot__direct direct;
    if (!foliot__direct_parse(bytes, length, &direct)) {
        t->head.counters.datagrams_dropped_malformed++;
        return;
    }
    const slot *s = slot_of_direct(t, from, &direct);
    if (!s || s->state < SLOT_CONNECTING || s->state == SLOT_CLOSING) {
        t->head.counters.datagrams_dropped_cookie++;
        return;
    }
    for (uint32_t i = 0; i < direct.count; i++)
        foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), direct.packets[i], direct.lengths[i], arrived_ns);
}

void foliot__take_batched(void *user, const struct sockaddr_in *from, const uint8_t *bytes, size_t length, uint64_t arrived_ns)
{
    enet_transport *t = user;
    ENetAddress address = {.host = from->sin_addr.s_addr, .port = ntohs(from->sin_port)};
    size_t before = t->inbox.count - t->inbox.first;
    if (address.port == 0)
        t->head.counters.datagrams_dropped_source++;
    else
        take_direct(t, &address, bytes, length, arrived_ns);
    t->head.counters.packets_batched += t->inbox.count - t->inbox.first - before;
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

void foliot__expect_round_trip(ENetPeer *peer)
{
    peer->roundTripTime = peer->lastRoundTripTime = ROUND_TRIP_FIRST_MS;
    peer->roundTripTimeVariance = ROUND_TRIP_VARIANCE_FIRST_MS;
}

// ENet is about to take one of its free peers for a connect, and to answer before we see it.
static void prepare_free_peers(ENetHost *host)
{
    for (size_t i = 0; i < host->peerCount; i++)
        if (host->peers[i].state == ENET_PEER_STATE_DISCONNECTED)
            foliot__expect_round_trip(&host->peers[i]);
}

// Whether that is the connection that is being made. Another's may come late to a port that was his: ENet would give
// up ours.
static bool expects(const ENetHost *host, const uint8_t *bytes, size_t length, uint32_t connect_id)
{
    int32_t index = foliot__gate_peer(bytes, length);
    return index >= 0 && (size_t)index < host->peerCount && ntohl(host->peers[index].connectID) == connect_id;
}

// 1: the datagram ends here. 0: ENet goes on with it.
int ENET_CALLBACK foliot__enet_intercept(ENetHost *host, ENetEvent *event)
{
    enet_transport *t = foliot__servicing;
    foliot_transport_counters *counters = &t->head.counters;
    const uint8_t *bytes = host->receivedData;
    const ENetAddress *from = &host->receivedAddress;
    size_t length = host->receivedDataLength;
    foliot__claims claims = {0};
    (void)event;
    t->datagrams++;
    if (from->port == 0) {
        counters->datagrams_dropped_source++;
        return 1;
    }
    if (foliot__direct_is(bytes, length)) {
        take_direct(t, from, bytes, length, t->now_ns);
        return 1;
    }
    if (greeting(t, from, bytes, length))
        return 1;
    switch (foliot__gate(bytes, length, expected_reliable(t, bytes, length), t->packet_bytes_max, &claims)) {
    case FOLIOT__PASS:
        if (!claims.verifies || expects(host, bytes, length, claims.connect_id))
            return 0;
        counters->datagrams_dropped_malformed++;
        return 1;
    case FOLIOT__CONNECT:
        if (t->head.config.bind &&
            foliot__cookie_good(t->head.config.secret, from->host, from->port, t->now_ns, claims.connect_data)) {
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
