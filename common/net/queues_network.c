// SPDX-License-Identifier: MIT
// queues_network.c: the side of queues that the network's threads use: peers join and leave,
// packets from them are put, packets to them are read.
#include "net/queues.h"

#include <stdio.h>
#include <stdlib.h>

void foliot_queues_close(foliot_queues *q)
{
    if (!q)
        return;
    for (uint32_t i = 0; i < q->config.peers_max; i++) {
        pthread_mutex_lock(&q->lock);
        foliot_peer_id peer = foliot__queues_id(q, &q->places[i]);
        pthread_mutex_unlock(&q->lock);
        foliot_queues_leave(q, peer, FOLIOT_DISCONNECT_NONE);
    }
    pthread_mutex_lock(&q->lock);
    q->network_gone = true;
    bool last = q->transport_gone;
    pthread_mutex_unlock(&q->lock);
    if (last)
        foliot__queues_free(q);
}

// With the lock held: a place for a newcomer, and the event that reports it.
static foliot_status admit(foliot_queues *q, uint64_t address_key, uint64_t now_ns,
                           foliot__queued_peer **found)
{
    if (q->transport_gone)
        return FOLIOT_STATUS_REFUSED;
    foliot__queued_peer *p = q->places, *end = q->places + q->config.peers_max;
    while (p < end && p->state != FOLIOT__PLACE_FREE)
        p++;
    if (p == end) {
        q->refused_joins++;
        return FOLIOT_STATUS_FULL;
    }
    foliot__admitted why = foliot__admit(&q->admission, address_key, now_ns);
    q->over_address += why == FOLIOT__ADMITTED_NOT_MORE;
    q->too_fast += why == FOLIOT__ADMITTED_NOT_YET;
    if (why != FOLIOT__ADMITTED)
        return why == FOLIOT__ADMITTED_NOT_YET ? FOLIOT_STATUS_AGAIN : FOLIOT_STATUS_FULL;
    *found = p;
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_queues_join(foliot_queues *q, const char *address, uint64_t address_key,
                                 const foliot_peer_identity *identity, uint64_t now_ns,
                                 foliot_peer_id *peer)
{
    foliot__queued_peer *p = NULL;
    if (address_key == 0)
        return FOLIOT_STATUS_INVALID;
    foliot__arrival *a = foliot__arrival_make(FOLIOT_TRANSPORT_CONNECTED, NULL, 0),
                    *farewell = foliot__arrival_make(FOLIOT_TRANSPORT_DISCONNECTED, NULL, 0);
    if (!a || !farewell) {
        free(a);
        free(farewell);
        return FOLIOT_STATUS_MEMORY;
    }
    pthread_mutex_lock(&q->lock);
    foliot_status status = admit(q, address_key, now_ns, &p);
    if (status == FOLIOT_STATUS_OK) {
        bool named = p->named; // its index waits in the ring from before: it is there once
        *p = (foliot__queued_peer){.generation = p->generation + 1,
                                   .state = FOLIOT__PLACE_OPEN,
                                   .named = named,
                                   .farewell = farewell,
                                   .address_key = address_key};
        snprintf(p->address, sizeof p->address, "%s", address);
        q->identities[p - q->places] = identity ? *identity : (foliot_peer_identity){0};
        *peer = a->event.peer = foliot__queues_id(q, p);
        a->event.arrived_ns = now_ns;
        foliot__queues_append(q, a);
    }
    pthread_mutex_unlock(&q->lock);
    if (status != FOLIOT_STATUS_OK) {
        free(a);
        free(farewell);
    }
    return status;
}

foliot_status foliot_queues_put(foliot_queues *q, foliot_peer_id peer, foliot_delivery delivery,
                                const uint8_t *bytes, size_t length, uint64_t now_ns)
{
    size_t limit =
        delivery == FOLIOT_DELIVERY_RELIABLE ? FOLIOT_RELIABLE_BYTES_MAX : FOLIOT_PACKET_BYTES_MAX;
    if (length == 0 || length > limit)
        return FOLIOT_STATUS_FULL;
    foliot__arrival *a = foliot__arrival_make(FOLIOT_TRANSPORT_RECEIVED, bytes, length);
    if (!a)
        return FOLIOT_STATUS_MEMORY;
    a->event.peer = peer;
    a->event.delivery = delivery;
    a->event.arrived_ns = now_ns;
    foliot_status status = FOLIOT_STATUS_OK;
    pthread_mutex_lock(&q->lock);
    foliot__queued_peer *p = foliot__queues_place(q, peer);
    if (!p || p->state != FOLIOT__PLACE_OPEN) {
        status = FOLIOT_STATUS_NOT_FOUND;
    } else if (p->put_packets >= q->config.put_packets_max ||
               p->put_bytes + length > q->config.put_bytes_max) {
        status = FOLIOT_STATUS_FULL;
        q->dropped++;
    } else {
        p->put_bytes += length;
        p->put_packets++;
        foliot__queues_append(q, a);
    }
    pthread_mutex_unlock(&q->lock);
    if (status != FOLIOT_STATUS_OK)
        free(a);
    return status;
}

void foliot_queues_leave(foliot_queues *q, foliot_peer_id peer, uint32_t reason)
{
    pthread_mutex_lock(&q->lock);
    foliot__queued_peer *p = foliot__queues_place(q, peer);
    if (p && p->state == FOLIOT__PLACE_OPEN && !q->transport_gone)
        foliot__place_bid_farewell(q, p, reason);
    if (p)
        foliot__place_free(q, p);
    pthread_mutex_unlock(&q->lock);
}

void foliot_queues_set_round_trip(foliot_queues *q, foliot_peer_id peer, uint64_t ns)
{
    pthread_mutex_lock(&q->lock);
    foliot__queued_peer *p = foliot__queues_place(q, peer);
    if (p)
        p->round_trip_ns = ns;
    pthread_mutex_unlock(&q->lock);
}

int foliot_queues_get_descriptor(const foliot_queues *q)
{
    return q->out_descriptor;
}

foliot_peer_id foliot_queues_next(foliot_queues *q)
{
    foliot_peer_id peer = {0};
    pthread_mutex_lock(&q->lock);
    while (q->name_count > 0 && peer.value == 0) {
        foliot__queued_peer *p = &q->places[q->names[q->name_first]];
        q->name_first = (q->name_first + 1) % q->config.peers_max;
        q->name_count--;
        p->named = false;
        if (p->state != FOLIOT__PLACE_FREE)
            peer = foliot__queues_id(q, p);
    }
    if (peer.value == 0)
        foliot__queues_clear(q->out_descriptor, &q->out_signalled);
    pthread_mutex_unlock(&q->lock);
    return peer;
}

// With the lock held: drops packets that are too old.
static void drop_old(foliot_queues *q, foliot__waiting_line *unreliable, uint64_t now_ns)
{
    uint64_t age_ns = (uint64_t)q->config.unreliable_age_ms * 1000000u;
    while (unreliable->first && now_ns > unreliable->first->sent_ns &&
           now_ns - unreliable->first->sent_ns > age_ns)
        q->dropped += foliot__line_drop_first(unreliable);
}

// With the lock held: the next that is not too old; NULL: none.
static foliot__waiting *pick_waiting(foliot_queues *q, foliot__queued_peer *p, uint64_t now_ns,
                                     foliot_delivery *delivery)
{
    foliot__waiting_line *unreliable = &p->out[FOLIOT_DELIVERY_UNRELIABLE],
                         *reliable = &p->out[FOLIOT_DELIVERY_RELIABLE];
    drop_old(q, unreliable, now_ns);
    bool other = unreliable->first && (p->unreliable_next || !reliable->first);
    p->unreliable_next = !other;
    *delivery = other ? FOLIOT_DELIVERY_UNRELIABLE : FOLIOT_DELIVERY_RELIABLE;
    return foliot__line_pop(other ? unreliable : reliable);
}

static void fill_packet(foliot_queues_packet *packet, foliot__waiting *w)
{
    packet->bytes = w->packet->bytes;
    packet->length = w->packet->length;
    packet->owner = w->packet;
    free(w);
}

bool foliot__queues_read_of(foliot_queues *q, foliot_peer_id peer, foliot_delivery delivery,
                            uint64_t now_ns, foliot_queues_packet *packet)
{
    *packet = (foliot_queues_packet){.delivery = delivery};
    pthread_mutex_lock(&q->lock);
    foliot__queued_peer *p = foliot__queues_place(q, peer);
    if (p && delivery == FOLIOT_DELIVERY_UNRELIABLE)
        drop_old(q, &p->out[delivery], now_ns);
    foliot__waiting *w = p ? foliot__line_pop(&p->out[delivery]) : NULL;
    pthread_mutex_unlock(&q->lock);
    if (w)
        fill_packet(packet, w);
    return w != NULL;
}

bool foliot__queues_has_more(foliot_queues *q, foliot_peer_id peer, bool any)
{
    pthread_mutex_lock(&q->lock);
    const foliot__queued_peer *p = foliot__queues_place(q, peer);
    bool more = !p || p->state == FOLIOT__PLACE_ENDED || p->out[FOLIOT_DELIVERY_RELIABLE].first ||
                (any && p->out[FOLIOT_DELIVERY_UNRELIABLE].first);
    pthread_mutex_unlock(&q->lock);
    return more;
}

bool foliot__queues_has_named(foliot_queues *q)
{
    pthread_mutex_lock(&q->lock);
    bool named = q->name_count > 0;
    pthread_mutex_unlock(&q->lock);
    return named;
}

bool foliot_queues_read(foliot_queues *q, foliot_peer_id peer, uint64_t now_ns,
                        foliot_queues_packet *packet)
{
    bool ended = false;
    *packet = (foliot_queues_packet){0};
    pthread_mutex_lock(&q->lock);
    foliot__queued_peer *p = foliot__queues_place(q, peer);
    foliot__waiting *w = p ? pick_waiting(q, p, now_ns, &packet->delivery) : NULL;
    if (p && !w && p->state == FOLIOT__PLACE_ENDED) {
        ended = true;
        packet->reason = p->reason;
    }
    pthread_mutex_unlock(&q->lock);
    packet->ended = ended;
    if (w)
        fill_packet(packet, w);
    return w != NULL || ended;
}

bool foliot__queues_get_ended(foliot_queues *q, foliot_peer_id peer)
{
    pthread_mutex_lock(&q->lock);
    const foliot__queued_peer *p = foliot__queues_place(q, peer);
    bool ended = !p || p->state == FOLIOT__PLACE_ENDED;
    pthread_mutex_unlock(&q->lock);
    return ended;
}

void foliot_queues_release(foliot_queues_packet *packet)
{
    foliot__queues_drop_use(packet->owner);
    *packet = (foliot_queues_packet){0};
}
