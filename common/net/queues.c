// SPDX-License-Identifier: MIT
// queues.c: a transport whose network is the caller's: packets wait in queues between the thread
// that has the transport and the threads that have the network. Neither side waits for the other,
// and the queue of every peer is bounded. Reads no clock; knows nothing of sockets.
#include "net/queues.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#define BACKLOG_PIECE 1400 // bytes: as foliot_transport_get_backlog counts
#define BACKLOG_MAX 65535

foliot_queues_config foliot_queues_config_default(void)
{
    return (foliot_queues_config){.peers_max = 64,
                                  .put_bytes_max = 256u << 10,
                                  .put_packets_max = 1024,
                                  .reliable_bytes_max = 1u << 20,
                                  .unreliable_bytes_max = 64u << 10,
                                  .unreliable_age_ms = 100};
}

static void queues_destroy(foliot_transport *transport)
{
    foliot_queues *q = (foliot_queues *)transport;
    pthread_mutex_lock(&q->lock);
    q->transport_gone = true;
    for (uint32_t i = 0; i < q->config.peers_max; i++)
        if (q->places[i].state == FOLIOT__PLACE_OPEN)
            foliot__place_end(q, &q->places[i], FOLIOT_DISCONNECT_NONE, false);
    foliot__queues_signal(q->out_descriptor, &q->out_signalled);
    bool last = q->network_gone;
    pthread_mutex_unlock(&q->lock);
    if (last)
        foliot__queues_free(q);
}

static foliot_status queues_connect(foliot_transport *transport, const char *host, uint16_t port,
                                    uint64_t now_ns, foliot_peer_id *peer)
{
    (void)transport;
    (void)host;
    (void)port;
    (void)now_ns;
    (void)peer;
    return FOLIOT_STATUS_UNSUPPORTED;
}

static void queues_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                              bool at_once)
{
    foliot_queues *q = (foliot_queues *)transport;
    uint32_t index = foliot__peer_index(peer);
    if (peer.value && index < q->config.peers_max &&
        q->generations[index] == foliot__peer_generation(peer))
        q->generations[index] = 0; // what it put before is no longer polled
    pthread_mutex_lock(&q->lock);
    foliot__queued_peer *p = foliot__queues_place(q, peer);
    if (p && p->state == FOLIOT__PLACE_OPEN) {
        foliot__place_end(q, p, reason, at_once);
        foliot__queues_signal(q->out_descriptor, &q->out_signalled);
    }
    pthread_mutex_unlock(&q->lock);
}

static bool queues_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    foliot_queues *q = (foliot_queues *)transport;
    q->now_ns = now_ns;
    for (;;) {
        free(q->given);
        q->given = NULL;
        if (!q->polled) {
            // Takes over all packets that were put: from then on they do not count for their peers.
            foliot_transport_counters *counters = &q->head.counters;
            pthread_mutex_lock(&q->lock);
            foliot__queues_clear(q->in_descriptor, &q->in_signalled);
            q->polled = q->first_in;
            q->first_in = q->last_in = NULL;
            for (const foliot__arrival *a = q->polled; a; a = a->next) {
                foliot__queued_peer *p = foliot__queues_place(q, a->event.peer);
                if (p && a->event.kind == FOLIOT_TRANSPORT_RECEIVED) {
                    p->put_bytes -= a->event.length;
                    p->put_packets--;
                }
            }
            counters->connects_over_address += q->over_address;
            counters->connects_too_fast += q->too_fast;
            counters->connects_refused += q->refused_joins;
            counters->packets_queue_full += q->dropped;
            q->over_address = q->too_fast = q->refused_joins = q->dropped = 0;
            pthread_mutex_unlock(&q->lock);
        }
        if (!q->polled)
            return false;
        q->given = q->polled;
        q->polled = q->polled->next;
        // Whether the event is of a connection that the transport's owner has, or gets with it.
        uint32_t *generation = &q->generations[foliot__peer_index(q->given->event.peer)];
        if (q->given->event.kind == FOLIOT_TRANSPORT_CONNECTED)
            *generation = foliot__peer_generation(q->given->event.peer);
        if (*generation != foliot__peer_generation(q->given->event.peer))
            continue;
        if (q->given->event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
            *generation = 0;
        *event = q->given->event;
        if (event->arrived_ns > now_ns) // the other thread looked at the clock later
            event->arrived_ns = now_ns;
        return true;
    }
}

// With the lock held. False: it cannot be sent.
static bool send_one(foliot_queues *q, foliot__queued_peer *p, foliot_delivery delivery,
                     foliot__shared_bytes *packet)
{
    foliot__waiting_line *l = &p->out[delivery];
    if (delivery == FOLIOT_DELIVERY_UNRELIABLE) {
        while (l->bytes > 0 && l->bytes + packet->length > q->config.unreliable_bytes_max)
            q->dropped += foliot__line_drop_first(l);
        q->dropped +=
            !foliot__line_push(l, packet, q->now_ns); // no memory: lost, as on any network
        return true;
    }
    if ((l->bytes == 0 || l->bytes + packet->length <= q->config.reliable_bytes_max) &&
        foliot__line_push(l, packet, q->now_ns))
        return true;
    // Nothing reliable may be missing: the connection ends instead, for both sides.
    foliot__place_bid_farewell(q, p, FOLIOT_DISCONNECT_SLOW);
    foliot__place_end(q, p, FOLIOT_DISCONNECT_SLOW, true);
    return false;
}

static uint32_t queues_send(foliot_transport *transport, const foliot_peer_id *peers,
                            uint32_t count, foliot_delivery delivery, const uint8_t *bytes,
                            size_t length)
{
    foliot_queues *q = (foliot_queues *)transport;
    uint32_t sent = 0;
    foliot__shared_bytes *packet = malloc(sizeof *packet + length);
    if (!packet)
        return 0;
    atomic_init(&packet->uses, 1);
    packet->length = length;
    memcpy(packet->bytes, bytes, length);
    pthread_mutex_lock(&q->lock);
    for (uint32_t i = 0; i < count; i++) {
        foliot__queued_peer *p = foliot__queues_place(q, peers[i]);
        if (!p || p->state != FOLIOT__PLACE_OPEN)
            continue;
        sent += send_one(q, p, delivery, packet);
        foliot__queues_name(q, p);
    }
    pthread_mutex_unlock(&q->lock);
    foliot__queues_drop_use(packet);
    return sent;
}

static void queues_flush(foliot_transport *transport, uint64_t now_ns)
{
    foliot_queues *q = (foliot_queues *)transport;
    q->now_ns = now_ns;
    pthread_mutex_lock(&q->lock);
    if (q->name_count > 0)
        foliot__queues_signal(q->out_descriptor, &q->out_signalled);
    pthread_mutex_unlock(&q->lock);
}

static uint64_t queues_wake_ns(const foliot_transport *transport)
{
    const foliot_queues *q = (const foliot_queues *)transport;
    return q->polled ? q->now_ns : UINT64_MAX; // else the descriptor tells
}

static int queues_descriptor(const foliot_transport *transport)
{
    return ((const foliot_queues *)transport)->in_descriptor;
}

static uint16_t queues_port(const foliot_transport *transport)
{
    (void)transport;
    return 0;
}

// A copy of a peer's data; all zero: there is none.
static foliot__queued_peer look_at(const foliot_transport *transport, foliot_peer_id peer)
{
    foliot_queues *q = (foliot_queues *)(uintptr_t)transport;
    foliot__queued_peer seen = {0};
    pthread_mutex_lock(&q->lock);
    const foliot__queued_peer *p = foliot__queues_place(q, peer);
    if (p)
        seen = *p;
    pthread_mutex_unlock(&q->lock);
    return seen;
}

static void queues_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                                size_t bytes)
{
    foliot__queued_peer seen = look_at(transport, peer);
    snprintf(text, bytes, "%s", seen.state ? seen.address : "-");
}

static uint64_t queues_peer_host(const foliot_transport *transport, foliot_peer_id peer)
{
    return look_at(transport, peer).address_key;
}

static uint64_t queues_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    return look_at(transport, peer).round_trip_ns;
}

static uint32_t queues_backlog(const foliot_transport *transport, foliot_peer_id peer)
{
    size_t bytes = look_at(transport, peer).out[FOLIOT_DELIVERY_RELIABLE].bytes,
           pieces = (bytes + BACKLOG_PIECE - 1) / BACKLOG_PIECE;
    return pieces < BACKLOG_MAX ? (uint32_t)pieces : BACKLOG_MAX;
}

static bool queues_peer_identity(const foliot_transport *transport, foliot_peer_id peer,
                                 foliot_peer_identity *identity)
{
    foliot_queues *q = (foliot_queues *)(uintptr_t)transport;
    pthread_mutex_lock(&q->lock);
    bool there = foliot__queues_place(q, peer) != NULL;
    if (there)
        *identity = q->identities[foliot__peer_index(peer)];
    pthread_mutex_unlock(&q->lock);
    return there;
}

// The network of the queues serves browsers: over a data channel a packet has the headers of IP and
// UDP, 37 bytes of DTLS and 28 of SCTP, over a WebSocket those of TCP and TLS.
static uint32_t queues_overhead(const foliot_transport *transport, foliot_peer_id peer)
{
    (void)transport;
    (void)peer;
    return FOLIOT__IP4_BYTES + FOLIOT__UDP_BYTES + 37 + 28;
}

static uint32_t queues_count_leaving(foliot_transport *transport)
{
    foliot_queues *q = (foliot_queues *)transport;
    uint32_t count = 0;
    pthread_mutex_lock(&q->lock);
    for (uint32_t i = 0; i < q->config.peers_max; i++)
        count += q->places[i].state == FOLIOT__PLACE_ENDED;
    pthread_mutex_unlock(&q->lock);
    return count;
}

static const foliot__transport_maker queues_maker = {
    queues_destroy,
    queues_connect,
    queues_disconnect,
    queues_poll,
    queues_send,
    queues_flush,
    queues_wake_ns,
    queues_descriptor,
    queues_port,
    queues_peer_address,
    queues_peer_host,
    queues_round_trip_ns,
    NULL,
    queues_backlog,
    NULL,
    queues_peer_identity,
    NULL,
    NULL,
    queues_overhead,
    NULL,
    NULL,
    queues_count_leaving,
};

foliot_status foliot_transport_create_queues(const foliot_queues_config *config,
                                             foliot_transport **transport, foliot_queues **queues)
{
    if (config->peers_max == 0 || config->peers_max > FOLIOT_PEERS_MAX ||
        config->put_bytes_max == 0 || config->put_packets_max == 0 ||
        config->reliable_bytes_max == 0 || config->unreliable_bytes_max == 0 ||
        config->unreliable_age_ms == 0)
        return FOLIOT_STATUS_INVALID;
    foliot_queues *q = calloc(1, sizeof *q);
    if (!q)
        return FOLIOT_STATUS_MEMORY;
    q->head.maker = &queues_maker;
    q->head.config = foliot_transport_config_default();
    q->head.config.peers_max = config->peers_max;
    q->head.config.peers_per_address_max = config->peers_per_address_max;
    q->head.config.joins_per_second = config->joins_per_second;
    q->config = *config;
    pthread_mutex_init(&q->lock, NULL);
    q->places = calloc(config->peers_max, sizeof *q->places);
    q->identities = calloc(config->peers_max, sizeof *q->identities);
    q->names = calloc(config->peers_max, sizeof *q->names);
    q->generations = calloc(config->peers_max, sizeof *q->generations);
    q->in_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    q->out_descriptor = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    foliot_status status = foliot__admission_init(&q->admission, &q->head.config);
    if (q->in_descriptor < 0 || q->out_descriptor < 0)
        status = FOLIOT_STATUS_IO;
    if (!q->places || !q->identities || !q->names || !q->generations)
        status = FOLIOT_STATUS_MEMORY;
    if (status != FOLIOT_STATUS_OK) {
        foliot__queues_free(q);
        return status;
    }
    *transport = &q->head;
    *queues = q;
    return FOLIOT_STATUS_OK;
}
