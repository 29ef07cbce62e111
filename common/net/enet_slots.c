// SPDX-License-Identifier: MIT
// enet_slots.c: connections by index, each from the question for a cookie to the end. A peer id
// names one use of a slot.
#include "net/enet_internal.h"

#include <stdlib.h>

#define LINGER_NS 5000000000u    // longer than ENet's disconnect takes
#define EARLY_PER_ADDRESS_MIN 16 // or half of what the address may hold

slot *foliot__slot_of(enet_transport *t, foliot_peer_id peer)
{
    uint32_t index = foliot__peer_index(peer);
    if (peer.value == 0 || index >= t->head.config.peers_max)
        return NULL;
    slot *s = &t->slots[index];
    bool gone = s->state == SLOT_FREE || s->state == SLOT_CLOSING;
    return !gone && s->generation == foliot__peer_generation(peer) ? s : NULL;
}

foliot_peer_id foliot__slot_id(const enet_transport *t, const slot *s)
{
    return foliot__peer_id((uint32_t)(s - t->slots), s->generation);
}

slot *foliot__slot_reserve(enet_transport *t)
{
    for (uint32_t i = 0; i < t->head.config.peers_max; i++)
        if (t->slots[i].state == SLOT_FREE) {
            t->slots[i] = (slot){.generation = t->slots[i].generation + 1,
                                 .began_ns = t->now_ns,
                                 .path_bytes = foliot__enet_first_bytes(t)};
            t->connect_ids[i] = 0;
            t->slots_used = i >= t->slots_used ? i + 1 : t->slots_used;
            return &t->slots[i];
        }
    return NULL;
}

void foliot__slot_set_connect_id(enet_transport *t, slot *s, uint32_t connect_id)
{
    s->connect_id = t->connect_ids[s - t->slots] = connect_id;
}

slot *foliot__slot_by_connection(enet_transport *t, const foliot__net_address *address,
                                 uint32_t connect_id)
{
    for (uint32_t i = 0; i < t->slots_used; i++)
        if (t->connect_ids[i] == connect_id &&
            foliot__net_address_same(&t->slots[i].address, address))
            return &t->slots[i];
    return NULL;
}

slot *foliot__slot_answered(enet_transport *t, const foliot__net_address *address,
                            uint32_t connect_id)
{
    slot *s = foliot__slot_by_connection(t, address, connect_id);
    for (uint32_t i = 0; !s && i < t->slots_used; i++) {
        slot *other = &t->slots[i];
        if (other->state != SLOT_ASKING || !other->opening.has_other ||
            other->connect_id != connect_id ||
            !foliot__net_address_same(&other->opening.other, address))
            continue;
        s = other;
        s->address = *address;
        s->opening.asked_ns = s->opening.other_ns;
    }
    if (s)
        s->opening.has_other = false;
    return s;
}

void foliot__slot_release(slot *s, ENetPeer *to)
{
    for (uint32_t i = 0; i < s->waiting_count; i++) {
        if (to)
            enet_peer_send(to, FOLIOT__CHANNEL_RELIABLE, s->waiting[i]);
        if (--s->waiting[i]->referenceCount == 0)
            enet_packet_destroy(s->waiting[i]);
    }
    free(s->waiting);
    s->waiting = NULL;
    s->waiting_count = 0;
}

slot *foliot__slot_admit(enet_transport *t, const foliot__net_address *address,
                         foliot__admitted *why)
{
    uint64_t host = foliot__net_address_host_key(address);
    *why = FOLIOT__ADMITTED_NOT_YET;
    // Connections of an address that ENet has not made yet cost nothing but a cookie each.
    uint32_t count = 0, most = t->admission.per_address_max / 2;
    for (uint32_t i = 0; t->early_slots > 0 && i < t->head.config.peers_max; i++) {
        const slot *s = &t->slots[i];
        count += (s->state == SLOT_EARLY || s->state == SLOT_CLOSING) &&
                 foliot__net_address_host_key(&s->address) == host;
    }
    if (count < (most < EARLY_PER_ADDRESS_MIN ? EARLY_PER_ADDRESS_MIN : most))
        *why = foliot__admit(&t->admission, host, t->now_ns);
    if (*why != FOLIOT__ADMITTED)
        return NULL;
    slot *s = foliot__slot_reserve(t);
    if (s)
        s->address = *address;
    else
        foliot__admission_release(&t->admission, host);
    return s;
}

void foliot__slot_set(enet_transport *t, slot *s, uint32_t state)
{
    if (state == SLOT_FREE && s->state != SLOT_FREE && t->head.config.bind)
        foliot__admission_release(&t->admission, foliot__net_address_host_key(&s->address));
    t->early_slots -= s->state == SLOT_EARLY || s->state == SLOT_CLOSING;
    t->early_slots += state == SLOT_EARLY || state == SLOT_CLOSING;
    s->state = state;
    if (state == SLOT_FREE) {
        // Its keys stay until ENet's disconnect is over.
        if (s->secure) {
            foliot__secure_linger(t->secure, s->secure, t->now_ns + LINGER_NS);
            s->secure = NULL;
        }
        foliot__slot_release(s, NULL);
        free(s->reassembly);
        s->reassembly = NULL;
        s->peer = NULL;
    }
}
