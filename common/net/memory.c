// SPDX-License-Identifier: MIT
// memory.c: a transport within one process, on whatever clock its callers keep. A packet passes the
// sender's impairment, then the receiver's. Reliable ones are sent again after each loss, in order.
// Single-threaded: all transports of a hub live on one thread.
#include "base/assert.h"
#include "net/admission.h"
#include "net/link.h"
#include "net/transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESEND_NS 200000000u // before a lost reliable packet is sent again

enum { MAIL_CONNECT, MAIL_ACCEPT, MAIL_REFUSE, MAIL_DISCONNECT, MAIL_UNRELIABLE, MAIL_RELIABLE };
enum { SLOT_FREE, SLOT_CONNECTING, SLOT_CONNECTED };

typedef struct memory memory;

typedef struct slot {
    uint32_t generation, state;
    uint32_t far; // serial of the transport at the other end
    foliot_peer_id far_peer;
    uint64_t reliable_due_ns; // of the last reliable packet sent: the next is no earlier
    uint64_t heard_ns;
    uint16_t port; // connecting to
    uint64_t asked_ns;
    bool broken; // a reliable packet never got through: the connection times out
} slot;

struct memory {
    foliot_transport head;
    foliot_hub *hub;
    memory *next;
    uint32_t serial;
    uint16_t port; // 0: does not listen
    foliot__impaired_link send, receive;
    foliot__impaired_link inbox; // what will arrive, by time; adds no impairment
    slot *slots;
    foliot__admission admission;
    uint8_t *delivered; // the bytes of the last event
    uint64_t now_ns;
};

struct foliot_hub {
    memory *first;
    uint32_t serial;
    uint16_t port;
    foliot__hub_ledger
        ledger; // without what lies in inboxes and what living transports have counted
};

// The header before the bytes of every packet.
typedef struct envelope {
    uint32_t kind, from; // serial
    foliot_peer_id from_peer, to_peer;
    uint32_t reason;
} envelope;

foliot_status foliot_hub_create(foliot_hub **hub)
{
    *hub = calloc(1, sizeof **hub);
    if (!*hub)
        return FOLIOT_STATUS_MEMORY;
    (*hub)->port = 40000;
    return FOLIOT_STATUS_OK;
}

void foliot_hub_destroy(foliot_hub *hub)
{
    FOLIOT_ASSERT(!hub || !hub->first);
    free(hub);
}

static memory *find_serial(foliot_hub *hub, uint32_t serial)
{
    memory *m = hub->first;
    while (m && m->serial != serial)
        m = m->next;
    return m;
}

static memory *find_port(foliot_hub *hub, uint16_t port)
{
    memory *m = hub->first;
    while (m && (port == 0 || m->port != port))
        m = m->next;
    return m;
}

static slot *slot_of(memory *m, foliot_peer_id peer)
{
    uint32_t index = foliot__peer_index(peer);
    if (peer.value == 0 || index >= m->head.config.peers_max)
        return NULL;
    slot *s = &m->slots[index];
    return s->state != SLOT_FREE && s->generation == foliot__peer_generation(peer) ? s : NULL;
}

static slot *free_slot(memory *m, foliot_peer_id *peer)
{
    for (uint32_t i = 0; i < m->head.config.peers_max; i++)
        if (m->slots[i].state == SLOT_FREE) {
            uint32_t generation = m->slots[i].generation + 1;
            m->slots[i] = (slot){.generation = generation, .heard_ns = m->now_ns};
            *peer = foliot__peer_id(i, generation);
            return &m->slots[i];
        }
    return NULL;
}

static void release(memory *m, slot *s)
{
    if (m->port && s->state != SLOT_FREE)
        foliot__admission_release(&m->admission, s->far);
    s->state = SLOT_FREE;
}

// -- carrying

// Through the sender's link, then the receiver's; how often is drawn by each.
static void carry_unreliable(memory *from, memory *to, const uint8_t *packet, size_t length)
{
    foliot__packet passing;
    from->hub->ledger.attempts++;
    if (foliot__impaired_link_push(&from->send, from->now_ns, to->serial, packet, length) !=
        FOLIOT_STATUS_OK)
        from->send.counters->packets_lost++; // no memory: as a network loses one
    while (foliot__impaired_link_pop(&from->send, UINT64_MAX - 1, &passing)) {
        memory *there = find_serial(from->hub, (uint32_t)passing.tag);
        if (there && foliot__impaired_link_push(&there->receive, passing.due_ns, 0, passing.bytes,
                                                passing.length) != FOLIOT_STATUS_OK)
            there->receive.counters->packets_lost++;
        free(passing.bytes);
    }
    while (foliot__impaired_link_pop(&to->receive, UINT64_MAX - 1, &passing)) {
        if (foliot__impaired_link_schedule(&to->inbox, passing.due_ns, 0, passing.bytes,
                                           passing.length) == FOLIOT_STATUS_OK)
            to->hub->ledger.scheduled++;
        free(passing.bytes);
    }
}

// Draws until it gets through; no earlier than what was sent before. False if it never does in
// time.
static bool carry_reliable(memory *from, memory *to, uint64_t *last_due_ns, const uint8_t *packet,
                           size_t length)
{
    uint64_t timeout_ns = (uint64_t)from->head.config.timeout_ms * 1000000u, due_ns;
    for (uint64_t at = from->now_ns; at - from->now_ns <= timeout_ns; at += RESEND_NS) {
        from->hub->ledger.attempts++;
        uint64_t later = at - from->now_ns;
        if (!foliot__impaired_link_fate(&from->send, from->now_ns, at, length, &due_ns) ||
            !foliot__impaired_link_fate(&to->receive, due_ns - later, due_ns, length, &due_ns))
            continue;
        if (due_ns < *last_due_ns)
            due_ns = *last_due_ns;
        *last_due_ns = due_ns;
        if (foliot__impaired_link_schedule(&to->inbox, due_ns, 0, packet, length) !=
            FOLIOT_STATUS_OK)
            break;
        to->hub->ledger.scheduled++;
        return true;
    }
    from->hub->ledger.given_up++;
    return false;
}

static void post(memory *from, slot *s, envelope e, const uint8_t *bytes, size_t length)
{
    memory *to = find_serial(from->hub, s->far);
    uint8_t *packet = to && !s->broken ? malloc(sizeof e + length) : NULL;
    from->hub->ledger.posted++;
    if (!packet) {
        from->hub->ledger.unposted++;
        return;
    }
    e.from = from->serial;
    e.from_peer = foliot__peer_id((uint32_t)(s - from->slots), s->generation);
    e.to_peer = s->far_peer;
    memcpy(packet, &e, sizeof e);
    if (length)
        memcpy(packet + sizeof e, bytes, length);
    if (e.kind == MAIL_UNRELIABLE)
        carry_unreliable(from, to, packet, sizeof e + length);
    else
        s->broken = !carry_reliable(from, to, &s->reliable_due_ns, packet, sizeof e + length);
    free(packet);
}

// -- the maker's functions

static foliot_status memory_connect(foliot_transport *transport, const char *host, uint16_t port,
                                    uint64_t now_ns, foliot_peer_id *peer)
{
    memory *m = (memory *)transport, *to = find_port(m->hub, port);
    (void)host;
    m->now_ns = now_ns;
    slot *s = free_slot(m, peer);
    if (!s)
        return FOLIOT_STATUS_FULL;
    s->state = SLOT_CONNECTING;
    s->port = port;
    s->asked_ns = now_ns;
    s->far = to ? to->serial : 0;
    post(m, s, (envelope){.kind = MAIL_CONNECT}, NULL, 0);
    return FOLIOT_STATUS_OK;
}

static void memory_disconnect(foliot_transport *transport, foliot_peer_id peer, uint32_t reason,
                              bool at_once)
{
    memory *m = (memory *)transport;
    slot *s = slot_of(m, peer);
    (void)at_once; // what was sent reliably is on its way already, and in order
    if (!s)
        return;
    post(m, s, (envelope){.kind = MAIL_DISCONNECT, .reason = reason}, NULL, 0);
    release(m, s);
}

static void accept_connection(memory *m, const envelope *e)
{
    foliot_peer_id peer;
    // A slot for a newcomer, within what may be held from where he comes.
    foliot_transport_counters *counters = &m->head.counters;
    foliot__admitted why =
        m->port ? foliot__admit(&m->admission, e->from, m->now_ns) : FOLIOT__ADMITTED;
    counters->connects_over_address += why == FOLIOT__ADMITTED_NOT_MORE;
    counters->connects_too_fast += why == FOLIOT__ADMITTED_NOT_YET;
    slot *s = m->port && why == FOLIOT__ADMITTED ? free_slot(m, &peer) : NULL;
    if (!s && m->port && why == FOLIOT__ADMITTED)
        foliot__admission_release(&m->admission, e->from);
    slot refused = {.far = e->from, .far_peer = e->from_peer};
    if (!s) {
        m->head.counters.connects_refused++;
        memory *to = find_serial(m->hub, e->from);
        envelope answer = {.kind = MAIL_REFUSE,
                           .from = m->serial,
                           .to_peer = e->from_peer,
                           .reason = FOLIOT_DISCONNECT_FULL};
        m->hub->ledger.posted++;
        if (!to)
            m->hub->ledger.unposted++;
        else
            carry_reliable(m, to, &refused.reliable_due_ns, (uint8_t *)&answer, sizeof answer);
        return;
    }
    s->state = SLOT_CONNECTED;
    s->far = e->from;
    s->far_peer = e->from_peer;
    post(m, s, (envelope){.kind = MAIL_ACCEPT}, NULL, 0);
}

// One packet becomes an event, or nothing.
static bool receive(memory *m, const foliot__packet *packet, foliot_transport_event *event)
{
    envelope e;
    memcpy(&e, packet->bytes, sizeof e);
    *event = (foliot_transport_event){.peer = e.to_peer, .reason = e.reason};
    if (e.kind == MAIL_CONNECT) {
        uint32_t before = (uint32_t)m->head.counters.connects_refused;
        accept_connection(m, &e);
        if (m->head.counters.connects_refused != before)
            return false;
        for (uint32_t i = 0; i < m->head.config.peers_max; i++)
            if (m->slots[i].state == SLOT_CONNECTED && m->slots[i].far == e.from &&
                m->slots[i].far_peer.value == e.from_peer.value)
                event->peer = foliot__peer_id(i, m->slots[i].generation);
        event->kind = FOLIOT_TRANSPORT_CONNECTED;
        return true;
    }
    slot *s = slot_of(m, e.to_peer);
    if (!s || s->far != e.from) // meant for an earlier host at this number, which has been reused
        return false;
    s->heard_ns = m->now_ns;
    if (e.kind == MAIL_ACCEPT) {
        s->state = SLOT_CONNECTED;
        s->far_peer = e.from_peer;
        event->kind = FOLIOT_TRANSPORT_CONNECTED;
        return true;
    }
    if (e.kind == MAIL_REFUSE || e.kind == MAIL_DISCONNECT) {
        release(m, s);
        event->kind = FOLIOT_TRANSPORT_DISCONNECTED;
        return true;
    }
    event->kind = FOLIOT_TRANSPORT_RECEIVED;
    event->delivery =
        e.kind == MAIL_RELIABLE ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
    event->bytes = packet->bytes + sizeof e;
    event->length = packet->length - sizeof e;
    event->arrived_ns = m->now_ns;
    return true;
}

static bool deaf(const foliot__impaired_link *link)
{
    return link->impairment.loss >= 1;
}

// A peer whose end is gone or out of reach, or which never answered.
static bool timed_out(memory *m, foliot_transport_event *event)
{
    uint64_t timeout_ns = (uint64_t)m->head.config.timeout_ms * 1000000u;
    for (uint32_t i = 0; i < m->head.config.peers_max; i++) {
        slot *s = &m->slots[i];
        if (s->state == SLOT_FREE || m->now_ns - s->heard_ns < timeout_ns)
            continue;
        // Whether pings, which a real transport sends while it is idle, would have been answered.
        memory *there = find_serial(m->hub, s->far);
        const slot *far = there ? slot_of(there, s->far_peer) : NULL;
        if (s->state == SLOT_CONNECTED && !s->broken && far && far->far == m->serial &&
            !far->broken && !deaf(&m->send) && !deaf(&m->receive) && !deaf(&there->send) &&
            !deaf(&there->receive)) {
            s->heard_ns = m->now_ns;
            continue;
        }
        release(m, s);
        *event = (foliot_transport_event){.kind = FOLIOT_TRANSPORT_DISCONNECTED,
                                          .peer = foliot__peer_id(i, s->generation),
                                          .reason = FOLIOT_DISCONNECT_TIMEOUT};
        return true;
    }
    return false;
}

static bool memory_poll(foliot_transport *transport, uint64_t now_ns, foliot_transport_event *event)
{
    memory *m = (memory *)transport;
    foliot__packet packet;
    m->now_ns = now_ns;
    // Repeats connection requests that found no host, or were lost.
    for (uint32_t i = 0; i < m->head.config.peers_max; i++) {
        slot *s = &m->slots[i];
        const memory *there = s->far ? find_serial(m->hub, s->far) : NULL;
        if (s->state != SLOT_CONNECTING || (there && !s->broken) ||
            m->now_ns - s->asked_ns < RESEND_NS)
            continue;
        const memory *to = find_port(m->hub, s->port);
        s->asked_ns = m->now_ns;
        s->far = to ? to->serial : 0;
        s->broken = false;
        s->reliable_due_ns = 0;
        if (to)
            post(m, s, (envelope){.kind = MAIL_CONNECT}, NULL, 0);
    }
    while (foliot__impaired_link_pop(&m->inbox, now_ns, &packet)) {
        free(m->delivered);
        m->delivered = packet.bytes;
        bool taken = receive(m, &packet, event);
        m->hub->ledger.delivered += taken;
        m->hub->ledger.gone += !taken;
        if (taken)
            return true;
    }
    return timed_out(m, event);
}

static uint32_t memory_send(foliot_transport *transport, const foliot_peer_id *peers,
                            uint32_t count, foliot_delivery delivery, const uint8_t *bytes,
                            size_t length)
{
    memory *m = (memory *)transport;
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++) {
        slot *s = slot_of(m, peers[i]);
        if (!s || s->state != SLOT_CONNECTED)
            continue;
        uint32_t kind = delivery == FOLIOT_DELIVERY_RELIABLE ? MAIL_RELIABLE : MAIL_UNRELIABLE;
        post(m, s, (envelope){.kind = kind}, bytes, length);
        taken++;
    }
    return taken;
}

static void memory_flush(foliot_transport *transport, uint64_t now_ns)
{
    ((memory *)transport)->now_ns = now_ns;
}

static uint64_t memory_wake_ns(const foliot_transport *transport)
{
    const memory *m = (const memory *)transport;
    uint64_t next = foliot__impaired_link_next_ns(&m->inbox), timeout = UINT64_MAX;
    for (uint32_t i = 0; i < m->head.config.peers_max; i++)
        if (m->slots[i].state != SLOT_FREE && timeout > m->slots[i].heard_ns)
            timeout = m->slots[i].heard_ns;
    if (timeout != UINT64_MAX)
        timeout += (uint64_t)m->head.config.timeout_ms * 1000000u;
    return next < timeout ? next : timeout;
}

static int memory_descriptor(const foliot_transport *transport)
{
    (void)transport;
    return -1;
}

static uint16_t memory_port(const foliot_transport *transport)
{
    return ((const memory *)transport)->port;
}

static void memory_peer_address(const foliot_transport *transport, foliot_peer_id peer, char *text,
                                size_t bytes)
{
    const slot *s = slot_of((memory *)(uintptr_t)transport, peer);
    snprintf(text, bytes, "memory:%u", s ? s->far : 0);
}

static uint64_t memory_peer_host(const foliot_transport *transport, foliot_peer_id peer)
{
    const slot *s = slot_of((memory *)(uintptr_t)transport, peer);
    return s ? s->far : 0;
}

static uint64_t memory_round_trip_ns(const foliot_transport *transport, foliot_peer_id peer)
{
    const memory *m = (const memory *)transport;
    const foliot_impairment *s = &m->head.config.send, *r = &m->head.config.receive;
    (void)peer;
    return (uint64_t)((s->delay_ms + r->delay_ms) * 1e6);
}

static void memory_impair(foliot_transport *transport, const foliot_impairment *send,
                          const foliot_impairment *receive)
{
    memory *m = (memory *)transport;
    m->send.impairment = *send;
    m->receive.impairment = *receive;
}

static void add_counters(foliot__hub_ledger *ledger, const foliot_transport_counters *counters)
{
    ledger->lost += counters->packets_lost + counters->packets_queue_full;
    ledger->duplicated += counters->packets_duplicated;
}

foliot__hub_ledger foliot__hub_account(const foliot_hub *hub)
{
    foliot__hub_ledger ledger = hub->ledger;
    for (const memory *m = hub->first; m; m = m->next) {
        add_counters(&ledger, &m->head.counters);
        ledger.waiting += m->inbox.count;
        for (uint32_t i = 0; i < m->head.config.peers_max; i++)
            ledger.connections += m->slots[i].state != SLOT_FREE;
    }
    return ledger;
}

static void memory_destroy(foliot_transport *transport)
{
    memory *m = (memory *)transport;
    for (memory **at = &m->hub->first; *at; at = &(*at)->next)
        if (*at == m) {
            *at = m->next;
            break;
        }
    m->hub->ledger.gone += m->inbox.count;
    add_counters(&m->hub->ledger, &m->head.counters);
    foliot__impaired_link_close(&m->send);
    foliot__impaired_link_close(&m->receive);
    foliot__impaired_link_close(&m->inbox);
    foliot__admission_close(&m->admission);
    free(m->delivered);
    free(m->slots);
    free(m);
}

static const foliot__transport_maker memory_maker = {
    memory_destroy,
    memory_connect,
    memory_disconnect,
    memory_poll,
    memory_send,
    memory_flush,
    memory_wake_ns,
    memory_descriptor,
    memory_port,
    memory_peer_address,
    memory_peer_host,
    memory_round_trip_ns,
    memory_impair,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
    NULL,
};

foliot_status foliot_transport_create_memory(foliot_hub *hub, const foliot_transport_config *config,
                                             uint64_t now_ns, foliot_transport **transport)
{
    static const foliot_impairment none;
    if (config->peers_max == 0 || config->peers_max > FOLIOT_PEERS_MAX)
        return FOLIOT_STATUS_INVALID;
    if (config->bind && config->port && find_port(hub, config->port))
        return FOLIOT_STATUS_BUSY;
    memory *m = calloc(1, sizeof *m);
    slot *slots = calloc(config->peers_max, sizeof *slots);
    if (!m || !slots || foliot__admission_init(&m->admission, config) != FOLIOT_STATUS_OK) {
        free(m);
        free(slots);
        return FOLIOT_STATUS_MEMORY;
    }
    m->head.maker = &memory_maker;
    m->head.config = *config;
    m->hub = hub;
    m->serial = ++hub->serial;
    m->port = config->bind ? (config->port ? config->port : hub->port++) : 0;
    m->slots = slots;
    m->now_ns = now_ns;
    foliot__impaired_link_init(&m->send, &config->send, &m->head.counters);
    foliot__impaired_link_init(&m->receive, &config->receive, &m->head.counters);
    foliot__impaired_link_init(&m->inbox, &none, &m->head.counters);
    m->next = hub->first;
    hub->first = m;
    *transport = &m->head;
    return FOLIOT_STATUS_OK;
}
