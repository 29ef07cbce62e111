// SPDX-License-Identifier: MIT
// peer.c: one peer of a server, whatever its role: messages to it, events about it and its end; the
// budgets of its address, which a new connection does not refill; and violations, which no honest
// client commits. A divergence is not a violation. Knows no players, worlds and ticks.
#include <stdio.h>
#include <string.h>

#include "peer.h"
#include "session.h"

#include "base/assert.h"
#include "net/transport.h"

#define PACKETS_A_TICK 4    // of a peer, that are welcome on average
#define PACKETS_AT_ONCE 240 // and in a burst that a network held back
#define PACKETS_A_SECOND_MIN 120
#define OFFENCES_MAX 10          // then the peer is dropped
#define OFFENCE_NS 1000000000u   // violations within this time are one offence
#define FORGIVEN_NS 30000000000u // after which an offence is forgiven

void foliot__server_event(foliot_server *server, foliot_server_event_kind kind,
                          const foliot__session *session, uint32_t player, uint64_t value,
                          const char *text)
{
    if (server->events.count == FOLIOT__EVENTS_HELD) {
        server->counters.events_dropped++;
        return;
    }
    foliot__held_event *held =
        &server->events.ring[(server->events.first + server->events.count++) % FOLIOT__EVENTS_HELD];
    held->event =
        (foliot_server_event){.kind = kind,
                              .player = player,
                              .tick = session ? session->tick : 0,
                              .value = value,
                              .status = session ? session->step.failed : FOLIOT_STATUS_OK};
    snprintf(held->session, sizeof held->session, "%s", session ? session->name : "");
    snprintf(held->event.text, sizeof held->event.text, "%s", text);
}

void foliot__server_send_packet(foliot_server *server, foliot_peer_id peer,
                                foliot_delivery delivery, const uint8_t *bytes, size_t length)
{
    foliot_status status =
        foliot_transport_send(server->config.transport, peer, delivery, bytes, length);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK ||
                  status == FOLIOT_STATUS_NOT_FOUND); // ours are never too large
}

void foliot__server_send(foliot_server *server, foliot_peer_id peer, const foliot__message *message)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(message, bytes, sizeof bytes, &length) == FOLIOT_STATUS_OK)
        foliot__server_send_packet(server, peer, FOLIOT_DELIVERY_RELIABLE, bytes, length);
}

// The same, unreliably and twice: the copy that arrives first counts.
void foliot__server_send_twice(foliot_server *server, foliot_peer_id peer,
                               const foliot__message *message)
{
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    if (foliot__message_encode(message, bytes, sizeof bytes, &length) != FOLIOT_STATUS_OK)
        return;
    for (int copy = 0; copy < 2; copy++) { // in two datagrams
        foliot__server_send_packet(server, peer, FOLIOT_DELIVERY_UNRELIABLE, bytes, length);
        foliot_transport_flush(server->config.transport, server->now_ns);
    }
}

void foliot__session_send(foliot__session *session, const foliot__message *message)
{
    for (foliot__peer *peer = session->peers; peer; peer = peer->next)
        if (peer->state == FOLIOT__PEER_IN)
            foliot__server_send(session->server, peer->id, message);
}

// In the order of indices, so that sends have a total order.
void foliot__peer_enter_session(foliot__peer *peer, foliot__session *session)
{
    foliot__peer **at = &session->peers, *before = NULL;
    peer->session = session;
    for (; *at && *at < peer; at = &(*at)->next)
        before = *at;
    peer->before = before;
    peer->next = *at;
    if (*at)
        (*at)->before = peer;
    *at = peer;
    foliot__set_add(session->server->schedule.touched, session->index);
}

void foliot__peer_leave_session(foliot__peer *peer)
{
    foliot__session *session = peer->session;
    if (!session)
        return;
    if (peer->before)
        peer->before->next = peer->next;
    else
        session->peers = peer->next;
    if (peer->next)
        peer->next->before = peer->before;
    peer->next = peer->before = NULL;
    peer->session = NULL;
}

foliot__peer *foliot__session_peer_from(const foliot__session *session, uint32_t index)
{
    const foliot__peer *from = session->server->peers + index;
    foliot__peer *peer = session->peers;
    while (peer && peer < from)
        peer = peer->next;
    return peer ? peer : session->peers;
}

foliot__peer *foliot__session_peer_after(const foliot__session *session, const foliot__peer *peer,
                                         const foliot__peer *first)
{
    foliot__peer *next = peer->next ? peer->next : session->peers;
    return next == first ? NULL : next;
}

void foliot__peer_end(foliot__peer *peer, foliot__departure departure)
{
    FOLIOT_ASSERT(foliot__peer_is_here(peer));
    peer->state = FOLIOT__PEER_ENDED;
    peer->departure = departure;
}

void foliot__peer_dismiss(foliot_server *server, foliot__peer *peer, const foliot__message *bye)
{
    foliot__server_send(server, peer->id, bye);
    foliot__peer_end(peer, (foliot__departure){0});
}

void foliot__session_dismiss(foliot__session *session, const char *why)
{
    foliot_server *server = session->server;
    foliot__message m = {.kind = FOLIOT__BYE};
    snprintf(m.as.bye.sentence, sizeof m.as.bye.sentence, "%s", why);
    for (foliot__peer *peer = session->peers; peer; peer = peer->next)
        if (foliot__peer_is_admitted(peer))
            foliot__peer_dismiss(server, peer, &m);
}

void foliot__session_call_back(foliot__session *session)
{
    for (foliot__peer *peer = session->peers; peer; peer = peer->next)
        if (foliot__peer_is_admitted(peer))
            foliot__peer_end(peer, (foliot__departure){.code = FOLIOT__DISCONNECT_NEXT});
}

#define TO(role) (1u << FOLIOT__PEER_##role)

const foliot__role_traffic foliot__role_traffics[] = {
    [FOLIOT__PEER_ROLE_NONE] = {false, false, TO(WATCHER) | TO(STEPPER)},
    [FOLIOT__PEER_WATCHER] = {true, false, TO(CATCHING_UP)},
    [FOLIOT__PEER_STEPPER] = {false, true,
                              TO(ROLE_NONE) | TO(CATCHING_UP) | TO(CLOSING) | TO(DIVERGED)},
    [FOLIOT__PEER_CATCHING_UP] = {true, true,
                                  TO(WATCHER) | TO(STEPPER) | TO(CLOSING) | TO(HEALING)},
    [FOLIOT__PEER_CLOSING] = {true, true, TO(WATCHER)},
    [FOLIOT__PEER_DIVERGED] = {false, true,
                               TO(ROLE_NONE) | TO(STEPPER) | TO(CLOSING) | TO(HEALING)},
    [FOLIOT__PEER_HEALING] = {true, true,
                              TO(WATCHER) | TO(STEPPER) | TO(CATCHING_UP) | TO(CLOSING)},
};

void foliot__peer_change_role(foliot__peer *peer, foliot__peer_role role)
{
    FOLIOT_ASSERT(role == peer->role || (foliot__role_traffics[peer->role].next >> role & 1));
    peer->role = role;
}

void foliot__peer_want(foliot__peer *peer, foliot__kind kind, foliot__kind_reason reason)
{
    peer->change.wanted = kind;
    peer->change.wanted_reason = reason;
    peer->session->pending |= FOLIOT__PENDING_ROLES;
}

void foliot__peer_close_lockstep(foliot__peer *peer)
{
    foliot__peer_change_role(peer, foliot__peer_watches(peer) ? FOLIOT__PEER_WATCHER
                                                              : FOLIOT__PEER_ROLE_NONE);
    peer->lockstep = (foliot__lockstep_peer){0};
}

void foliot__peer_supersede(foliot_server *server, uint32_t index)
{
    foliot__peer *peer = &server->peers[index];
    if (!foliot__peer_is_here(peer))
        return;
    server->counters.peers_superseded++;
    foliot__peer_end(peer,
                     (foliot__departure){.code = FOLIOT__DISCONNECT_SUPERSEDED, .at_once = true});
}

void foliot__peer_drop(foliot_server *server, foliot__peer *peer, foliot__refusal reason,
                       const char *why)
{
    char address[64], text[256];
    bool in = foliot__peer_is_admitted(peer);
    if (!foliot__peer_is_here(peer))
        return;
    server->counters.peers_dropped++;
    foliot_transport_get_peer_address(server->config.transport, peer->id, address, sizeof address);
    snprintf(text, sizeof text, "%s%s%s%s was dropped: %s", peer->name, in ? " (" : "", address,
             in ? ")" : "", why);
    foliot__server_event(server, FOLIOT_SERVER_DROPPED, peer->session, peer->player, reason, text);
    bool for_good = reason != FOLIOT__REFUSE_SLOW && reason != FOLIOT__REFUSE_SILENT;
    foliot__peer_end(peer, (foliot__departure){.for_good = for_good,
                                               .at_once = true,
                                               .code = FOLIOT__DISCONNECT_REFUSED + reason});
}

// Malformed messages are forgiven for a while, and counted.
void foliot__peer_offended(foliot_server *server, foliot__peer *peer)
{
    if (++peer->malformed >= FOLIOT__MALFORMED_MAX)
        foliot__peer_drop(server, peer, FOLIOT__REFUSE_MALFORMED,
                          "it kept sending invalid messages");
}

void foliot__peer_malformed(foliot_server *server, foliot__peer *peer)
{
    server->counters.messages_malformed++;
    foliot__peer_offended(server, peer);
}

// -- addresses

static bool is_of(const foliot__address *address, uint64_t host, bool by_client)
{
    return address->host == host && address->by_client == by_client;
}

foliot__address *foliot__address_of(foliot_server *server, foliot__peer *peer)
{
    // A peer with a token is identified by the token's client, whatever its address.
    foliot_peer_identity identity;
    bool by_client =
        foliot_transport_get_peer_identity(server->config.transport, peer->id, &identity) &&
        identity.security == FOLIOT_SECURITY_TOKEN && identity.token.client != 0;
    uint64_t host =
        by_client ? identity.token.client
                  : foliot__transport_get_peer_address_key(server->config.transport, peer->id);
    foliot__address *oldest = &server->addresses[0];
    // Linear scan on purpose, and seldom: no hash that an attacker could degrade.
    if (!is_of(&server->addresses[peer->address], host, by_client) ||
        server->addresses[peer->address].used_ns == 0) {
        for (peer->address = 0; peer->address < FOLIOT__ADDRESSES; peer->address++) {
            foliot__address *a = &server->addresses[peer->address];
            if (is_of(a, host, by_client) && a->used_ns != 0)
                break;
            if (a->used_ns < oldest->used_ns)
                oldest = a;
        }
        if (peer->address == FOLIOT__ADDRESSES) {
            peer->address = (uint32_t)(oldest - server->addresses);
            *oldest = (foliot__address){.host = host, .by_client = by_client};
        }
    }
    foliot__address *address = &server->addresses[peer->address];
    address->used_ns = server->now_ns ? server->now_ns : 1;
    return address;
}

// -- misbehaviour

static const char *const violation_texts[] = {
    [FOLIOT__VIOLATION_violations_other_player] = "sent inputs for another player",
    [FOLIOT__VIOLATION_violations_contradicted] = "sent other inputs for a tick than before",
    [FOLIOT__VIOLATION_violations_long_ago] = "sent inputs for a tick closed long ago",
    [FOLIOT__VIOLATION_violations_unclosed] = "acknowledged ticks that it was never sent",
    [FOLIOT__VIOLATION_violations_digests] =
        "reported a divergence that its own answers contradict",
    [FOLIOT__VIOLATION_violations_flood] = "sends more packets than needed",
    [FOLIOT__VIOLATION_violations_kinds] = "asks to step and to watch in turn, without end",
};

static uint64_t *violation_counter(foliot_server_counters *counters, foliot__violation violation)
{
    switch (violation) {
#define VIOLATION_CASE(name, help)                                                                 \
    case FOLIOT__VIOLATION_##name:                                                                 \
        return &counters->name;
        FOLIOT_SERVER_VIOLATIONS(VIOLATION_CASE)
#undef VIOLATION_CASE
    default:
        return NULL;
    }
}

// Violations in many different seconds are deliberate: a fault is forgiven after a while.
static bool too_many_offences(foliot__misbehaviour *c, uint64_t now_ns)
{
    while (c->offences > 0 && now_ns - c->forgiven_ns >= FORGIVEN_NS) {
        c->forgiven_ns += FORGIVEN_NS;
        c->offences--;
    }
    if (c->offences > 0 && now_ns - c->offence_ns < OFFENCE_NS)
        return false;
    if (c->offences == 0)
        c->forgiven_ns = now_ns;
    c->offence_ns = now_ns;
    return ++c->offences >= OFFENCES_MAX;
}

// Logged at counts 1, 10, 100, ... so that no peer can fill the log.
void foliot__peer_violated(foliot__session *s, foliot__peer *peer, foliot__violation violation)
{
    char text[160];
    uint64_t count = ++peer->misbehaviour.violations[violation], power = 1;
    ++*violation_counter(&s->server->counters, violation);
    while (power < count)
        power *= 10;
    if (power == count) {
        snprintf(text, sizeof text, "%s %s", peer->name, violation_texts[violation]);
        foliot__server_event(s->server, FOLIOT_SERVER_VIOLATION, s, peer->player, count, text);
    }
    if (!too_many_offences(&peer->misbehaviour, s->server->now_ns))
        return;
    snprintf(text, sizeof text, "it %s, repeatedly", violation_texts[violation]);
    foliot__peer_drop(s->server, peer, FOLIOT__REFUSE_VIOLATION, text);
}

// A packet too many: more than the token bucket holds, which refills at the highest honest rate.
bool foliot__peer_floods(foliot__session *s, foliot__peer *peer)
{
    double rate = s->clock.pace_hz * PACKETS_A_TICK;
    if (rate < PACKETS_A_SECOND_MIN)
        rate = PACKETS_A_SECOND_MIN;
    if (foliot__bucket_spend(&peer->misbehaviour.packets, PACKETS_AT_ONCE, 1e9 / rate,
                             s->server->now_ns))
        return false;
    foliot__peer_violated(s, peer, FOLIOT__VIOLATION_violations_flood);
    return true;
}
