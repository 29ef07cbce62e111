// SPDX-License-Identifier: MIT
// both.c: two transports as one. Ids of the second's peers follow those of the first's: the index
// of a slot is moved by the first's peers_max, the count of its uses stays. So no table is kept,
// and no id is used twice.
#include "net/transport.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

typedef struct both {
    foliot_transport head;
    foliot_transport *part[2];
    uint32_t shift;            // of the second's ids: peers of the first
    int descriptor;            // an epoll of both; -1: neither has one
    foliot_peer_id *picked[2]; // scratch of a send: the peers of each part
} both;

static bool is_second(const both *b, foliot_peer_id peer)
{
    return foliot__peer_index(peer) >= b->shift && peer.value != 0;
}

static foliot_peer_id inner_id(const both *b, foliot_peer_id peer)
{
    return (foliot_peer_id){is_second(b, peer) ? peer.value - b->shift : peer.value};
}

// The part that has this peer, by its own id.
static foliot_transport *part_of(const foliot_transport *transport, foliot_peer_id *peer)
{
    const both *b = (const both *)transport;
    foliot_transport *part = b->part[is_second(b, *peer)];
    *peer = inner_id(b, *peer);
    return part;
}

static void both_destroy(foliot_transport *transport)
{
    both *b = (both *)transport;
    foliot_transport_destroy(b->part[0]);
    foliot_transport_destroy(b->part[1]);
    if (b->descriptor >= 0)
        close(b->descriptor);
    free(b->picked[0]);
    free(b->picked[1]);
    free(b);
}

static foliot_status both_connect(foliot_transport *transport, const char *host, uint16_t port,
                                  uint64_t now_ns, foliot_peer_id *peer)
{
    return foliot_transport_connect(((both *)transport)->part[0], host, port, now_ns, peer);
}

static void both_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                            bool at_once)
{
    foliot_transport *part = part_of(transport, &peer);
    foliot_transport_disconnect(part, peer, reason, at_once);
}

// The first's events come first: each has an end, since time stands still while they are polled.
static bool both_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    both *b = (both *)transport;
    if (foliot_transport_poll(b->part[0], now_ns, event))
        return true;
    if (!foliot_transport_poll(b->part[1], now_ns, event))
        return false;
    event->peer.value += b->shift;
    return true;
}

static uint32_t both_send(foliot_transport *transport, const foliot_peer_id *peers, uint32_t count,
                          foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    both *b = (both *)transport;
    uint32_t taken = 0;
    for (uint32_t from = 0; from < count;) { // a list may be longer than there are peers
        uint32_t picked[2] = {0, 0};
        for (; from < count && picked[0] + picked[1] < b->head.config.peers_max; from++) {
            bool second = is_second(b, peers[from]);
            b->picked[second][picked[second]++] = inner_id(b, peers[from]);
        }
        for (int i = 0; i < 2; i++)
            if (picked[i])
                taken += foliot_transport_send_many(b->part[i], b->picked[i], picked[i], delivery,
                                                    bytes, length);
    }
    return taken;
}

static void both_flush(foliot_transport *transport, uint64_t now_ns)
{
    both *b = (both *)transport;
    foliot_transport_flush(b->part[0], now_ns);
    foliot_transport_flush(b->part[1], now_ns);
}

static uint64_t both_wake_ns(const foliot_transport *transport)
{
    const both *b = (const both *)transport;
    b->part[0]->tick_ns = b->part[1]->tick_ns = b->head.tick_ns;
    uint64_t first = foliot_transport_get_wake_ns(b->part[0]),
             second = foliot_transport_get_wake_ns(b->part[1]);
    return first < second ? first : second;
}

static int both_descriptor(const foliot_transport *transport)
{
    return ((const both *)transport)->descriptor;
}

static uint16_t both_port(const foliot_transport *transport)
{
    return foliot_transport_get_port(((const both *)transport)->part[0]);
}

static void both_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                              size_t bytes)
{
    foliot_transport *part = part_of(transport, &peer);
    foliot_transport_get_peer_address(part, peer, text, bytes);
}

static uint64_t both_peer_host(const foliot_transport *transport, foliot_peer_id peer)
{
    foliot_transport *part = part_of(transport, &peer);
    return foliot__transport_get_peer_address_key(part, peer);
}

static uint64_t both_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    foliot_transport *part = part_of(transport, &peer);
    return foliot_transport_get_round_trip_ns(part, peer);
}

static uint32_t both_overhead(const foliot_transport *transport, foliot_peer_id peer)
{
    foliot_transport *part = part_of(transport, &peer);
    return foliot__transport_overhead(part, peer);
}

static uint32_t both_backlog(const foliot_transport *transport, foliot_peer_id peer)
{
    foliot_transport *part = part_of(transport, &peer);
    return foliot_transport_get_backlog(part, peer);
}

static bool both_peer_identity(const foliot_transport *transport, foliot_peer_id peer,
                               foliot_peer_identity *identity)
{
    foliot_transport *part = part_of(transport, &peer);
    return foliot_transport_get_peer_identity(part, peer, identity);
}

// The first's security is both's.
static uint32_t both_show_token(foliot_transport *transport, const char *text,
                                const uint8_t *return_secret, uint64_t now_s, uint64_t now_ns,
                                foliot_peer_identity *identity)
{
    return foliot__transport_show_token(((both *)transport)->part[0], text, return_secret, now_s,
                                        now_ns, identity);
}

static void both_end_shown(foliot_transport *transport, const foliot_peer_identity *identity)
{
    foliot__transport_end_shown(((both *)transport)->part[0], identity);
}

static void both_set_keys(foliot_transport *transport, const uint8_t *keys, uint32_t count)
{
    for (int i = 0; i < 2; i++) // one of queues asks for none
        (void)!foliot_transport_set_keys(((both *)transport)->part[i], keys, count);
}

static uint32_t both_show_password(foliot_transport *transport, const char *password,
                                   foliot_peer_identity *identity)
{
    return foliot__transport_show_password(((both *)transport)->part[0], password, identity);
}

// Sums of the parts' counters, except packets_refused, which is counted here: no part sees a packet
// that is refused for its length.
static void both_count(foliot_transport *transport)
{
    both *b = (both *)transport;
    uint64_t refused = b->head.counters.packets_refused;
    const foliot_transport_counters *x = foliot_transport_get_counters(b->part[0]),
                                    *y = foliot_transport_get_counters(b->part[1]);
#define ADD_COUNTER(name, help) b->head.counters.name = x->name + y->name;
    FOLIOT_TRANSPORT_COUNTERS(ADD_COUNTER)
#undef ADD_COUNTER
    b->head.counters.packets_refused = refused;
}

static uint32_t both_count_leaving(foliot_transport *transport)
{
    const both *b = (const both *)transport;
    return foliot__transport_count_leaving(b->part[0]) +
           foliot__transport_count_leaving(b->part[1]);
}

static const foliot__transport_maker both_maker = {
    both_destroy,
    both_connect,
    both_disconnect,
    both_poll,
    both_send,
    both_flush,
    both_wake_ns,
    both_descriptor,
    both_port,
    both_peer_address,
    both_peer_host,
    both_round_trip_ns,
    NULL,
    both_backlog,
    both_count,
    both_peer_identity,
    both_show_token,
    both_show_password,
    both_overhead,
    both_end_shown,
    both_set_keys,
    both_count_leaving,
};

// One descriptor for two: an epoll, which can be watched like any other.
static foliot_status watch_parts(both *b)
{
    int of_part[2] = {foliot_transport_get_descriptor(b->part[0]),
                      foliot_transport_get_descriptor(b->part[1])};
    b->descriptor = -1;
    if (of_part[0] < 0 && of_part[1] < 0)
        return FOLIOT_STATUS_OK;
    b->descriptor = epoll_create1(EPOLL_CLOEXEC);
    if (b->descriptor < 0)
        return FOLIOT_STATUS_IO;
    for (int i = 0; i < 2; i++) {
        struct epoll_event readable = {.events = EPOLLIN};
        if (of_part[i] >= 0 && epoll_ctl(b->descriptor, EPOLL_CTL_ADD, of_part[i], &readable) != 0)
            return FOLIOT_STATUS_IO;
    }
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_transport_create_both(foliot_transport *first, foliot_transport *second,
                                           foliot_transport **transport)
{
    uint32_t peers = first->config.peers_max + second->config.peers_max;
    if (first == second || peers > FOLIOT_PEERS_MAX)
        return FOLIOT_STATUS_INVALID;
    both *b = calloc(1, sizeof *b);
    if (!b)
        return FOLIOT_STATUS_MEMORY;
    b->head.maker = &both_maker;
    b->head.config = first->config;
    b->head.config.peers_max = peers;
    b->part[0] = first;
    b->part[1] = second;
    b->shift = first->config.peers_max;
    foliot_status status = watch_parts(b);
    for (int i = 0; i < 2; i++)
        if (!(b->picked[i] = calloc(peers, sizeof *b->picked[i])))
            status = FOLIOT_STATUS_MEMORY;
    if (status == FOLIOT_STATUS_OK) {
        *transport = &b->head;
        return status;
    }
    if (b->descriptor >= 0)
        close(b->descriptor);
    free(b->picked[0]);
    free(b->picked[1]);
    free(b);
    return status;
}
