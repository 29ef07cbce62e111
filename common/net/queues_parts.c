// SPDX-License-Identifier: MIT
// queues_parts.c: see queues.h.
#include "net/queues.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

foliot__queued_peer *foliot__queues_place(foliot_queues *q, foliot_peer_id peer)
{
    uint32_t index = foliot__peer_index(peer);
    if (peer.value == 0 || index >= q->config.peers_max)
        return NULL;
    foliot__queued_peer *p = &q->places[index];
    return p->state != FOLIOT__PLACE_FREE && p->generation == foliot__peer_generation(peer) ? p
                                                                                            : NULL;
}

foliot_peer_id foliot__queues_id(const foliot_queues *q, const foliot__queued_peer *p)
{
    return foliot__peer_id((uint32_t)(p - q->places), p->generation);
}

void foliot__queues_drop_use(foliot__shared_bytes *packet)
{
    if (packet && atomic_fetch_sub_explicit(&packet->uses, 1, memory_order_acq_rel) == 1)
        free(packet);
}

foliot__waiting *foliot__line_pop(foliot__waiting_line *l)
{
    foliot__waiting *w = l->first;
    if (!w)
        return NULL;
    l->first = w->next;
    if (!l->first)
        l->last = NULL;
    l->bytes -= w->packet->length;
    return w;
}

bool foliot__line_drop_first(foliot__waiting_line *l)
{
    foliot__waiting *w = foliot__line_pop(l);
    if (w)
        foliot__queues_drop_use(w->packet);
    free(w);
    return w != NULL;
}

static void line_clear(foliot__waiting_line *l)
{
    while (foliot__line_drop_first(l))
        ;
}

bool foliot__line_push(foliot__waiting_line *l, foliot__shared_bytes *packet, uint64_t now_ns)
{
    foliot__waiting *w = malloc(sizeof *w);
    if (!w)
        return false;
    *w = (foliot__waiting){.packet = packet, .sent_ns = now_ns};
    atomic_fetch_add_explicit(&packet->uses, 1, memory_order_relaxed);
    if (l->last)
        l->last->next = w;
    else
        l->first = w;
    l->last = w;
    l->bytes += packet->length;
    return true;
}

void foliot__queues_signal(int descriptor, bool *signalled)
{
    static const uint64_t one = 1;
    if (*signalled)
        return;
    ssize_t written = write(descriptor, &one, sizeof one);
    *signalled = written == sizeof one;
}

void foliot__queues_clear(int descriptor, bool *signalled)
{
    uint64_t count;
    if (*signalled && read(descriptor, &count, sizeof count) < 0 && errno != EAGAIN)
        return; // it stays readable, and is read again
    *signalled = false;
}

void foliot__queues_append(foliot_queues *q, foliot__arrival *a)
{
    a->next = NULL;
    if (q->last_in)
        q->last_in->next = a;
    else
        q->first_in = a;
    q->last_in = a;
    foliot__queues_signal(q->in_descriptor, &q->in_signalled);
}

foliot__arrival *foliot__arrival_make(foliot_transport_event_kind kind, const uint8_t *bytes,
                                      size_t length)
{
    foliot__arrival *a = malloc(sizeof *a + length);
    if (!a)
        return NULL;
    a->event = (foliot_transport_event){.kind = kind, .bytes = a->bytes, .length = length};
    if (length)
        memcpy(a->bytes, bytes, length);
    return a;
}

void foliot__queues_name(foliot_queues *q, foliot__queued_peer *p)
{
    if (p->named)
        return;
    p->named = true;
    uint32_t at = (q->name_first + q->name_count++) % q->config.peers_max;
    q->names[at] = (uint32_t)(p - q->places);
}

void foliot__place_bid_farewell(foliot_queues *q, foliot__queued_peer *p, uint32_t reason)
{
    p->farewell->event.peer = foliot__queues_id(q, p);
    p->farewell->event.reason = reason;
    foliot__queues_append(q, p->farewell);
    p->farewell = NULL;
}

// The transport is done with a peer; the reason is reported to the network.
void foliot__place_end(foliot_queues *q, foliot__queued_peer *p, uint32_t reason, bool at_once)
{
    p->state = FOLIOT__PLACE_ENDED;
    p->reason = reason;
    line_clear(&p->out[FOLIOT_DELIVERY_UNRELIABLE]);
    if (at_once)
        line_clear(&p->out[FOLIOT_DELIVERY_RELIABLE]);
    foliot__queues_name(q, p);
}

void foliot__place_free(foliot_queues *q, foliot__queued_peer *p)
{
    line_clear(&p->out[0]);
    line_clear(&p->out[1]);
    foliot__admission_release(&q->admission, p->address_key);
    free(p->farewell);
    p->farewell = NULL;
    p->state = FOLIOT__PLACE_FREE;
}

void foliot__queues_free(foliot_queues *q)
{
    for (foliot__arrival *a = q->first_in, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    for (foliot__arrival *a = q->polled, *next; a; a = next) {
        next = a->next;
        free(a);
    }
    free(q->given);
    for (uint32_t i = 0; q->places && i < q->config.peers_max; i++) {
        line_clear(&q->places[i].out[0]);
        line_clear(&q->places[i].out[1]);
        free(q->places[i].farewell);
    }
    foliot__admission_close(&q->admission);
    if (q->in_descriptor >= 0)
        close(q->in_descriptor);
    if (q->out_descriptor >= 0)
        close(q->out_descriptor);
    pthread_mutex_destroy(&q->lock);
    free(q->places);
    free(q->identities);
    free(q->names);
    free(q->generations);
    free(q);
}
