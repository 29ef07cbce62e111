// SPDX-License-Identifier: MIT
// enet_filter.c: handles every datagram before ENet sees it: questions for cookies and their
// answers, packets ahead of ENet's connection, and datagrams that must not reach ENet. It keeps no
// state for an address that is not proven.
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/assert.h"

// ENet takes half a second for the first round trip, so that a lost handshake is sent again late. A
// value that is too low costs a second copy of a few small datagrams; measurements soon replace it.
#define ROUND_TRIP_FIRST_MS 20
#define ROUND_TRIP_VARIANCE_FIRST_MS 5

_Thread_local enet_transport *foliot__servicing;

void foliot__send_opening(enet_transport *t, slot *s)
{
    uint8_t head[FOLIOT__EARLY_HEAD_BYTES];
    s->opening.hello_ns = t->now_ns;
    if (s->secure) {
        if (!s->secure->confirmed) // else the host has it
            foliot__send_undivided(t, &s->address, s->secure->opening, s->secure->opening_bytes);
        return;
    }
    foliot__raw_datagram_early_head(s->opening.cookie, s->connect_id, head);
    foliot__send_raw(t, &s->address, head, sizeof head);
}

// An address asks for a cookie.
static void answer_question(enet_transport *t, const foliot__net_address *from,
                            const uint8_t *question)
{
    uint8_t answer[FOLIOT__COOKIE_BYTES];
    uint32_t connect_id;
    memcpy(&connect_id, question + 8, 4);
    if (foliot__enet_needs_keys(t)) {
        foliot__send_refusal(t, from, connect_id, FOLIOT_DISCONNECT_SECURITY);
        return;
    }
    if (memcmp(question, FOLIOT__QUESTION_MARK, 8) != 0) {
        foliot__send_refusal(t, from, connect_id, FOLIOT_DISCONNECT_PROTOCOL);
        return;
    }
    foliot__cookie_keys_rotate(&t->keys, t->now_ns);
    uint64_t cookie = foliot__cookie(&t->keys, from, connect_id);
    memcpy(answer, FOLIOT__COOKIE_MARK, 8);
    memcpy(answer + 8, &connect_id, 4);
    for (int i = 0; i < 8; i++)
        answer[12 + i] = (uint8_t)(cookie >> (8 * i));
    foliot__send_answer(t, from, answer, sizeof answer);
}

// The slot that asked, or shows its cookie, by the connect id that only its host has seen.
static slot *opening(enet_transport *t, const foliot__net_address *from, const uint8_t *bytes)
{
    uint32_t connect_id;
    memcpy(&connect_id, bytes + 8, 4);
    slot *s = t->head.config.bind ? NULL : foliot__slot_answered(t, from, connect_id);
    return s && (s->state == SLOT_ASKING || s->state == SLOT_CONNECTING) ? s : NULL;
}

static void receive_refusal(enet_transport *t, const foliot__net_address *from,
                            const uint8_t *bytes)
{
    slot *s = opening(t, from, bytes);
    for (int i = 0; s && !s->opening.refused && i < 4; i++)
        s->reason |= (uint32_t)bytes[12 + i] << (8 * i);
    if (s && !s->opening.refused)
        s->opening.refused_ns = t->now_ns;
    if (s)
        s->opening.refused = true;
}

// Datagrams before a connection, which are not ENet's.
static bool greeting(enet_transport *t, const foliot__net_address *from, const uint8_t *bytes,
                     size_t length)
{
    if (length == FOLIOT__QUESTION_BYTES &&
        memcmp(bytes, FOLIOT__QUESTION_MARK, FOLIOT__QUESTION_MARK_BYTES) == 0) {
        if (t->head.config.bind)
            answer_question(t, from, bytes);
        return true;
    }
    if (length == FOLIOT__COOKIE_BYTES && memcmp(bytes, FOLIOT__COOKIE_MARK, 8) == 0) {
        slot *s = opening(t, from, bytes);
        if (s && !s->opening.has_cookie && !foliot__enet_needs_keys(t)) {
            for (int i = 0; i < 8; i++)
                s->opening.cookie |= (uint64_t)bytes[12 + i] << (8 * i);
            s->opening.has_cookie = true;
            s->round_trip_ns = t->now_ns - s->opening.asked_ns;
        }
        return true;
    }
    if (length == FOLIOT__REFUSAL_BYTES && memcmp(bytes, FOLIOT__REFUSAL_MARK, 8) == 0) {
        receive_refusal(t, from, bytes);
        return true;
    }
    return false;
}

// The first early datagram of a connection opens it, where the address is proven.
static slot *open_early(enet_transport *t, const foliot__net_address *from,
                        const foliot__raw_datagram *datagram)
{
    foliot_transport_counters *counters = &t->head.counters;
    foliot__admitted why;
    foliot__cookie_keys_rotate(&t->keys, t->now_ns);
    if (!t->head.config.bind ||
        !foliot__cookie_good(&t->keys, from, datagram->connect_id, datagram->cookie)) {
        counters->datagrams_dropped_cookie++;
        return NULL;
    }
    slot *s = foliot__slot_admit(t, from, &why);
    if (!s && why == FOLIOT__ADMITTED_NOT_YET) {
        counters->connects_too_fast++; // it shows its cookie again in a moment
        return NULL;
    }
    if (!s) {
        counters->connects_refused += why == FOLIOT__ADMITTED;
        counters->connects_over_address += why == FOLIOT__ADMITTED_NOT_MORE;
        foliot__send_refusal(t, from, datagram->connect_id, FOLIOT_DISCONNECT_FULL);
        return NULL;
    }
    foliot__slot_set_connect_id(t, s, datagram->connect_id);
    s->opening.cookie = datagram->cookie;
    foliot__slot_set(t, s, SLOT_EARLY);
    foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), NULL, 0, t->now_ns);
    return s;
}

static slot *slot_of_datagram(enet_transport *t, const foliot__net_address *from,
                              const foliot__raw_datagram *datagram)
{
    if (datagram->early) {
        slot *s = foliot__slot_by_connection(t, from, datagram->connect_id);
        if (!s)
            return open_early(t, from, datagram);
        if (foliot__secrets_equal(&s->opening.cookie, &datagram->cookie, sizeof s->opening.cookie))
            return s;
        t->head.counters.datagrams_dropped_cookie++;
        return NULL;
    }
    const ENetPeer *peer =
        datagram->peer < t->host->peerCount ? &t->host->peers[datagram->peer] : NULL;
    bool theirs = peer && peer->connectID == datagram->connect_id;
    slot *own = theirs ? peer->data : NULL;
    if (own && foliot__net_address_same(&own->address, from))
        return own;
    slot *s = foliot__slot_by_connection(t, from, datagram->connect_id);
    return theirs || (s && s->state == SLOT_FREE)
               ? s
               : NULL; // free: late datagrams of a closed connection
}

static void receive_datagram(enet_transport *t, const foliot__net_address *from,
                             const uint8_t *bytes, size_t length, uint64_t arrived_ns)
{
    foliot__raw_datagram datagram;
    foliot__secure_peer *peer;
    if (foliot__enet_unseal(t, from, &bytes, &length, arrived_ns, &peer) != FOLIOT__NOT_SEALED)
        return;
    if (foliot__enet_needs_keys(t)) {
        t->head.counters.datagrams_dropped_clear++;
        return;
    }
    if (!foliot__raw_datagram_parse(bytes, length, &datagram)) {
        t->head.counters.datagrams_dropped_malformed++;
        return;
    }
    slot *s = slot_of_datagram(t, from, &datagram);
    if (!s) { // an early one was counted where it was refused
        t->head.counters.datagrams_dropped_unproven += !datagram.early;
        return;
    }
    if (s->secure) {
        t->head.counters.datagrams_dropped_clear++;
        return;
    }
    if (s->state < SLOT_CONNECTING || s->state == SLOT_CLOSING) {
        t->head.counters.datagrams_dropped_ended++;
        return;
    }
    for (uint32_t i = 0; i < datagram.count; i++)
        foliot__enet_receive_item(t, s, &datagram, i, length, arrived_ns);
}

void foliot__enet_receive_batched(void *user, const foliot__net_address *from, const uint8_t *bytes,
                                  size_t length, uint64_t arrived_ns)
{
    enet_transport *t = user;
    size_t before = t->inbox.count - t->inbox.first;
    t->sender = (foliot__address_validation){.received = length};
    if (from->port == 0)
        t->head.counters.datagrams_dropped_source++;
    else
        receive_datagram(t, from, bytes, length, arrived_ns);
    t->head.counters.packets_batched += t->inbox.count - t->inbox.first - before;
}

static int32_t expected_reliable(const enet_transport *t, const uint8_t *bytes, size_t length)
{
    int32_t index = foliot__packet_filter_peer(bytes, length);
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

// ENet puts the connect id in place of the checksum on both sides; the sum itself is ours.
enet_uint32 ENET_CALLBACK foliot__enet_checksum(const ENetBuffer *buffers, size_t count)
{
    uint8_t bytes[FOLIOT__PACKET_FILTER_BYTES_MAX +
                  64]; // ENet may go beyond its largest by its checksum
    size_t length = 0;
    for (size_t i = 0; i < count; i++) {
        FOLIOT_ASSERT(buffers[i].dataLength <= sizeof bytes - length);
        memcpy(bytes + length, buffers[i].data, buffers[i].dataLength);
        length += buffers[i].dataLength;
    }
    uint32_t sum = foliot__packet_filter_checksum(bytes, length), connect_id;
    enet_transport *t = foliot__servicing;
    size_t at = foliot__packet_filter_checksum_at(bytes, length);
    FOLIOT_ASSERT(t);
    if ((t->secure || t->six) && buffers == t->host->buffers && at) { // it is about to leave
        memcpy(&connect_id, bytes + at, sizeof connect_id);
        memcpy(bytes + at, &sum, sizeof sum);
        if (t->secure)
            foliot__enet_seal(t, bytes, length, connect_id);
        if (t->six)
            foliot__six_send(t, bytes, length,
                             foliot__enet_connection_of(bytes, length, connect_id));
    }
    return sum;
}

// Whether the datagram's sender knows the connect id of the connection that it names. A datagram
// that names none has the checksum of id 0.
static bool proven(const ENetHost *host, const uint8_t *bytes, size_t length)
{
    int32_t index = foliot__packet_filter_peer(bytes, length);
    if (index >= 0 && (size_t)index >= host->peerCount)
        return false;
    return foliot__packet_filter_proven(bytes, length,
                                        index < 0 ? 0 : host->peers[index].connectID);
}

// Whether the datagram has the form of that connection: sealed with its keys, or in clear.
static bool speaks_so(enet_transport *t, const uint8_t *bytes, size_t length,
                      const foliot__secure_peer *peer)
{
    int32_t index = foliot__packet_filter_peer(bytes, length);
    if (index < 0) // a connect: see opened
        return true;
    if ((size_t)index >= t->host->peerCount)
        return false;
    uint32_t connection = t->host->peers[index].connectID;
    return peer ? peer->connection == connection
                : !t->secure || !foliot__secure_find(t->secure, connection);
}

// Whether this is the connection that is being made. A late datagram for an earlier owner of the
// port would make ENet give up ours.
static bool expects(const ENetHost *host, const uint8_t *bytes, size_t length, uint32_t connect_id)
{
    int32_t index = foliot__packet_filter_peer(bytes, length);
    return index >= 0 && (size_t)index < host->peerCount &&
           ntohl(host->peers[index].connectID) == connect_id;
}

// ENet's commands, received in clear or from that peer. 0: ENet handles them.
static int filter_for_enet(enet_transport *t, const foliot__net_address *from, const uint8_t *bytes,
                           size_t length, const foliot__secure_peer *peer)
{
    ENetHost *host = t->host;
    foliot_transport_counters *counters = &t->head.counters;
    foliot__claims claims = {0};
    foliot__verdict verdict = foliot__packet_filter(
        bytes, length, expected_reliable(t, bytes, length), t->packet_bytes_max, &claims);
    if (verdict != FOLIOT__MALFORMED &&
        (!proven(host, bytes, length) || !speaks_so(t, bytes, length, peer))) {
        counters->datagrams_dropped_unproven++;
        return 1;
    }
    switch (verdict) {
    case FOLIOT__PASS:
        if (!claims.verifies || expects(host, bytes, length, claims.connect_id))
            return 0;
        counters->datagrams_dropped_malformed++;
        return 1;
    case FOLIOT__CONNECT: {
        // Whether the connect belongs to a connection that a cookie has opened.
        const slot *s = t->head.config.bind
                            ? foliot__slot_by_connection(t, from, htonl(claims.connect_id))
                            : NULL;
        if (s && s->secure == peer &&
            (s->state == SLOT_EARLY || s->state == SLOT_CLOSING || s->state == SLOT_CONNECTED)) {
            // ENet is about to use one of its free peers for a connect, and to answer before we see
            // it.
            for (size_t i = 0; i < host->peerCount; i++)
                if (host->peers[i].state == ENET_PEER_STATE_DISCONNECTED)
                    foliot__expect_round_trip(&host->peers[i]);
            return 0;
        }
        counters->datagrams_dropped_cookie++;
        return 1;
    }
    case FOLIOT__FRAGMENT:
        counters->datagrams_dropped_fragment++;
        return 1;
    case FOLIOT__MALFORMED:
    default:
        counters->datagrams_dropped_malformed++;
        return 1;
    }
}

const uint8_t *foliot__enet_receive(enet_transport *t, foliot__net_address *from,
                                    const uint8_t *bytes, size_t *length)
{
    foliot_transport_counters *counters = &t->head.counters;
    foliot__secure_peer *peer = NULL;
    t->sender = (foliot__address_validation){.received = *length};
    counters->datagrams_alone++;
    if (from->port == 0) {
        counters->datagrams_dropped_source++;
        return NULL;
    }
    foliot__sealed_verdict sealed = foliot__enet_unseal(t, from, &bytes, length, t->now_ns, &peer);
    if (sealed == FOLIOT__SEALED_TAKEN)
        return NULL;
    if (sealed == FOLIOT__SEALED_FOR_ENET) { // ENet handles its content
        *from = peer->address;
        return filter_for_enet(t, from, bytes, *length, peer) == 0 ? bytes : NULL;
    }
    if (foliot__raw_datagram_is(bytes, *length)) {
        receive_datagram(t, from, bytes, *length, t->now_ns);
        return NULL;
    }
    if (foliot__enet_secure_greeting(t, from, bytes, *length) || greeting(t, from, bytes, *length))
        return NULL;
    if (foliot__enet_needs_keys(t)) {
        counters->datagrams_dropped_clear++;
        return NULL;
    }
    return filter_for_enet(t, from, bytes, *length, NULL) == 0 ? bytes : NULL;
}

// 1: the datagram was handled. 0: ENet handles it.
int ENET_CALLBACK foliot__enet_intercept(ENetHost *host, ENetEvent *event)
{
    enet_transport *t = foliot__servicing;
    const ENetAddress *at = &host->receivedAddress;
    size_t length = host->receivedDataLength;
    (void)event;
    t->service.datagrams++;
    if (t->six) { // it was looked at when it came
        foliot__six_unwrap(t);
        return 0;
    }
    foliot__net_address from = foliot__net_address_of_ip4(at->host, at->port);
    const uint8_t *left = foliot__enet_receive(t, &from, host->receivedData, &length);
    if (!left)
        return 1;
    host->receivedData = (enet_uint8 *)(uintptr_t)left;
    host->receivedDataLength = length;
    host->receivedAddress =
        (ENetAddress){.host = foliot__net_address_get_ip4(&from), .port = from.port};
    return 0;
}
