// SPDX-License-Identifier: MIT
// enet_secure.c: connections with keys. A sealed datagram is opened before any other code reads it,
// and ENet's datagrams are replaced by their sealed form: the last call that ENet makes before it
// sends is its checksum function, with the buffers to send. No content of a datagram is trusted
// before its tag is verified.
#include "net/enet_internal.h"

#include <arpa/inet.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"

#define LINGER_NS 5000000000u        // longer than ENet says farewell
#define CHALLENGE_EVERY_NS 50000000u // to an address that a peer seems to have moved to
#define SETTLED_NS 250000000u        // and not for so long once it was found where it was
#define BACK_NS 500000000u           // that a peer that has moved may be found where it was

// -- greetings

static void answer_question(enet_transport *t, const foliot__net_address *from,
                            const uint8_t *question)
{
    uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES];
    uint32_t connection;
    memcpy(&connection, question + 8, 4);
    foliot__cookie_keys_rotate(&t->keys, t->now_ns);
    uint64_t cookie = foliot__cookie(&t->keys, from, connection);
    foliot__secure_answer(t->secure, connection, cookie, t->now_ns, answer);
    foliot__send_answer(t, from, answer, sizeof answer);
}

static void receive_answer(enet_transport *t, const foliot__net_address *from,
                           const uint8_t *answer)
{
    uint32_t connection;
    memcpy(&connection, answer + 8, 4);
    slot *s = foliot__slot_answered(t, from, connection);
    if (!s || s->state != SLOT_ASKING || s->opening.has_cookie || s->opening.refused)
        return;
    s->secure = foliot__secure_add(t->secure, connection, *from, t->now_ns);
    if (!s->secure)
        return;
    s->secure->owner = s;
    s->reason = foliot__secure_receive_answer(t->secure, s->secure, answer, t->now_ns);
    s->opening.refused = s->reason != 0;
    s->opening.refused_ns = t->now_ns;
    s->opening.has_cookie = !s->opening.refused;
    s->round_trip_ns = t->now_ns - s->opening.asked_ns;
}

// Makes the keys of a slot that was just admitted.
static void open_secure(enet_transport *t, slot *s, uint32_t connection, const uint8_t *bytes,
                        size_t length)
{
    uint32_t reason = FOLIOT_DISCONNECT_FULL;
    foliot__slot_set_connect_id(t, s, connection);
    s->secure = foliot__secure_add(t->secure, connection, s->address, t->now_ns);
    if (s->secure) {
        s->secure->owner = s;
        reason = foliot__secure_accept(t->secure, s->secure, bytes, length, t->now_ns,
                                       (uint64_t)time(NULL));
    }
    if (reason) {
        foliot__net_address to = s->address;
        if (s->secure)
            foliot__secure_release(t->secure, s->secure);
        s->secure = NULL;
        foliot__slot_set(t, s, SLOT_EARLY); // it was admitted: this undoes that
        foliot__slot_set(t, s, SLOT_FREE);
        foliot__slot_set_connect_id(t, s, 0); // it may try again with the same
        bool over = reason == FOLIOT__OVER_CLIENT;
        t->head.counters.connects_over_client += over;
        t->head.counters.connects_unproven += !over;
        foliot__send_refusal(t, &to, connection, over ? FOLIOT_DISCONNECT_FULL : reason);
        return;
    }
    foliot__slot_set(t, s, SLOT_EARLY);
    foliot__inbox_push(&t->inbox, foliot__slot_id(t, s), NULL, 0, t->now_ns);
}

static void receive_opening(enet_transport *t, const foliot__net_address *from,
                            const uint8_t *bytes, size_t length, uint32_t connection,
                            uint64_t cookie)
{
    foliot_transport_counters *counters = &t->head.counters;
    foliot__admitted why;
    uint32_t reason;
    foliot__cookie_keys_rotate(&t->keys, t->now_ns);
    if (!foliot__cookie_good(&t->keys, from, connection, cookie)) {
        counters->datagrams_dropped_cookie++;
        return;
    }
    if (foliot__slot_by_connection(t, from, connection) ||
        foliot__secure_find(t->secure, connection))
        return; // it is open, or was
    if (foliot__secure_opening_known(t->secure, bytes, length, t->now_ns, &reason)) {
        if (reason)
            foliot__send_refusal(t, from, connection, reason);
        return;
    }
    slot *s = foliot__slot_admit(t, from, &why);
    if (!s && why == FOLIOT__ADMITTED_NOT_YET) {
        counters->connects_too_fast++; // it comes again in a moment
        return;
    }
    if (!s) {
        counters->connects_refused += why == FOLIOT__ADMITTED;
        counters->connects_over_address += why == FOLIOT__ADMITTED_NOT_MORE;
        foliot__send_refusal(t, from, connection, FOLIOT_DISCONNECT_FULL);
        return;
    }
    open_secure(t, s, connection, bytes, length);
}

bool foliot__enet_secure_greeting(enet_transport *t, const foliot__net_address *from,
                                  const uint8_t *bytes, size_t length)
{
    bool listens = t->head.config.bind != NULL;
    uint32_t connection;
    uint64_t cookie;
    if (!t->secure)
        return false;
    if (length == FOLIOT__SECURE_QUESTION_BYTES &&
        memcmp(bytes, FOLIOT__SECURE_QUESTION_MARK, 8) == 0) {
        if (listens)
            answer_question(t, from, bytes);
        return true;
    }
    if (length == FOLIOT__SECURE_ANSWER_BYTES &&
        memcmp(bytes, FOLIOT__SECURE_ANSWER_MARK, 8) == 0) {
        if (!listens)
            receive_answer(t, from, bytes);
        return true;
    }
    if (!foliot__secure_opening_form(bytes, length, &connection, &cookie))
        return false;
    if (listens)
        receive_opening(t, from, bytes, length, connection, cookie);
    return true;
}

// -- migration

static void send_control(enet_transport *t, foliot__secure_peer *p, const foliot__net_address *to,
                         uint8_t what, const uint8_t challenge[8])
{
    uint8_t plain[FOLIOT__CONTROL_BYTES], sealed[sizeof plain + FOLIOT__SEAL_BYTES];
    plain[0] = what;
    memcpy(plain + 1, challenge, 8);
    size_t bytes = foliot__seal(&p->sealer, FOLIOT__SEALED_CONTROL, p->connection, plain,
                                sizeof plain, t->now_ns, sealed);
    foliot__send_raw(t, to, sealed, bytes);
}

// A host's: the newest datagram of a peer came from another address. The connection migrates once
// the peer has proven that it receives there; until then only the challenge is sent there, within
// the limit of admission.h. The old address is challenged too, also for a while after the
// migration: an on-path attacker may have delivered a copy of the datagram first.
static void challenge_address(enet_transport *t, foliot__secure_peer *p,
                              const foliot__net_address *from, size_t length)
{
    if (p->challenged_ns && t->now_ns - p->challenged_ns < CHALLENGE_EVERY_NS)
        return;
    p->moved_lately = p->moved_lately && t->now_ns - p->moved_ns < BACK_NS;
    if (!p->moved_lately && (foliot__net_address_same(&p->address, from) ||
                             length < FOLIOT__CONTROL_BYTES + FOLIOT__SEAL_BYTES ||
                             (p->settled_ns && t->now_ns - p->settled_ns < SETTLED_NS)))
        return;
    p->challenged_ns = t->now_ns ? t->now_ns : 1;
    if (p->moved_lately) {
        send_control(t, p, &p->left, FOLIOT__CONTROL_CHALLENGE, p->stays);
        return;
    }
    if (!foliot__net_address_same(&p->moved, from)) {
        foliot__system_random(NULL, p->challenge, sizeof p->challenge);
        foliot__system_random(NULL, p->stays, sizeof p->stays);
    }
    p->moved = *from;
    if (foliot__address_may_send(&t->sender, FOLIOT__CONTROL_BYTES + FOLIOT__SEAL_BYTES))
        send_control(t, p, from, FOLIOT__CONTROL_CHALLENGE, p->challenge);
    send_control(t, p, &p->address, FOLIOT__CONTROL_CHALLENGE, p->stays);
}

static void move_to(enet_transport *t, foliot__secure_peer *p, slot *s, foliot__net_address to)
{
    s->address = to;
    if (t->six)
        foliot__six_moved(t, s);
    else if (s->peer)
        s->peer->address = (ENetAddress){.host = foliot__net_address_get_ip4(&to), .port = to.port};
    p->address = to;
    foliot__enet_open_path(t, s);
    t->head.counters.migrations++;
}

static void apply_answer_of_new(enet_transport *t, foliot__secure_peer *p, slot *s)
{
    uint64_t there = foliot__net_address_host_key(&p->moved),
             here = foliot__net_address_host_key(&p->address);
    if (there != here) {
        if (foliot__admit(&t->admission, there, t->now_ns) != FOLIOT__ADMITTED)
            return; // that address has reached its limit
        foliot__admission_release(&t->admission, here);
    }
    p->left = p->address;
    p->moved_lately = true;
    p->moved_ns = t->now_ns;
    move_to(t, p, s, p->moved);
    p->moved.port = 0;
}

// From whatever address the answer came: the peer receives at its old address. The connection stays
// there, or returns there if it had migrated. If the peer really leaves, that address soon stops
// answering.
static void apply_answer_of_old(enet_transport *t, foliot__secure_peer *p, slot *s)
{
    uint64_t there = foliot__net_address_host_key(&p->left),
             here = foliot__net_address_host_key(&p->address);
    if (p->moved_lately && there != here) {
        foliot__admission_restore(&t->admission, there, t->now_ns);
        foliot__admission_release(&t->admission, here);
    }
    if (p->moved_lately)
        move_to(t, p, s, p->left);
    p->moved.port = 0;
    p->moved_lately = false;
    p->settled_ns = t->now_ns ? t->now_ns : 1;
}

static void receive_control(enet_transport *t, foliot__secure_peer *p,
                            const foliot__net_address *from, const uint8_t *plain, size_t length)
{
    slot *s = p->owner;
    if (length != FOLIOT__CONTROL_BYTES) {
        t->head.counters.datagrams_dropped_malformed++;
        return;
    }
    if (plain[0] == FOLIOT__CONTROL_CHALLENGE && !t->head.config.bind)
        send_control(t, p, from, FOLIOT__CONTROL_ANSWER, plain + 1);
    if (plain[0] != FOLIOT__CONTROL_ANSWER || !s || s->state != SLOT_CONNECTED)
        return;
    if ((p->moved.port || p->moved_lately) &&
        foliot__secrets_equal(p->stays, plain + 1, sizeof p->stays))
        apply_answer_of_old(t, p, s);
    else if (p->moved.port && foliot__net_address_same(&p->moved, from) &&
             foliot__secrets_equal(p->challenge, plain + 1, sizeof p->challenge))
        apply_answer_of_new(t, p, s);
}

// -- what arrives

// The peer that sealed the datagram, and its content; NULL: dropped.
static foliot__secure_peer *open_sealed(enet_transport *t, const foliot__net_address *from,
                                        const uint8_t *bytes, size_t length)
{
    foliot_transport_counters *counters = &t->head.counters;
    bool newest = false;
    foliot__secure_peer *p = NULL;
    if (length > FOLIOT__SEAL_BYTES && length <= sizeof t->plain)
        p = foliot__secure_find(t->secure, foliot__sealed_connection(bytes));
    if (!p || (!foliot__net_address_same(&p->address, from) && !t->head.config.bind)) {
        counters->datagrams_dropped_unproven++;
        return NULL;
    }
    foliot__opened opened = foliot__unseal(&p->opener, bytes, length, t->plain, &newest);
    counters->datagrams_dropped_forged += opened == FOLIOT__OPENED_FORGED;
    counters->datagrams_dropped_repeated += opened == FOLIOT__OPENED_REPEATED;
    if (opened != FOLIOT__OPENED)
        return NULL;
    if (!p->confirmed) {
        // The peer has proven that it has the keys of its opening. Connections that its client has
        // left for this one end at the next poll.
        foliot__secure_confirm(t->secure, p);
        for (foliot__secure_peer *q = NULL; (q = foliot__secure_replaced(t->secure, p, q));) {
            ((slot *)q->owner)->replaced = true;
            t->replaced = true;
        }
    }
    if (newest && bytes[0] != FOLIOT__SEALED_CONTROL &&
        (p->moved_lately || !foliot__net_address_same(&p->address, from)))
        challenge_address(t, p, from, length);
    return p;
}

foliot__sealed_verdict foliot__enet_unseal(enet_transport *t, const foliot__net_address *from,
                                           const uint8_t **bytes, size_t *length,
                                           uint64_t arrived_ns, foliot__secure_peer **peer)
{
    uint8_t type = *length > 0 ? (*bytes)[0] : 0;
    if (!t->secure || type < FOLIOT__SEALED_RAW || type > FOLIOT__SEALED_CONTROL)
        return FOLIOT__NOT_SEALED;
    foliot__secure_peer *p = open_sealed(t, from, *bytes, *length);
    if (!p)
        return FOLIOT__SEALED_TAKEN;
    *bytes = t->plain;
    *length -= FOLIOT__SEAL_BYTES;
    *peer = p;
    if (type == FOLIOT__SEALED_ENET)
        return FOLIOT__SEALED_FOR_ENET;
    if (type == FOLIOT__SEALED_RAW) {
        foliot__raw_datagram datagram = {0};
        slot *s = p->owner;
        if (!s || s->state < SLOT_CONNECTING || s->state == SLOT_CLOSING)
            t->head.counters.datagrams_dropped_ended++;
        else if (!foliot__raw_datagram_parse_packets(*bytes, *length, &datagram))
            t->head.counters.datagrams_dropped_malformed++;
        else
            for (uint32_t i = 0; i < datagram.count; i++)
                foliot__enet_receive_item(t, s, &datagram, i, *length + FOLIOT__SEAL_BYTES,
                                          arrived_ns);
    } else {
        receive_control(t, p, from, *bytes, *length);
    }
    return FOLIOT__SEALED_TAKEN;
}

// -- what leaves

void foliot__enet_seal(enet_transport *t, const uint8_t *bytes, size_t length, uint32_t in_checksum)
{
    ENetHost *host = t->host;
    foliot__secure_peer *p =
        foliot__secure_find(t->secure, foliot__enet_connection_of(bytes, length, in_checksum));
    if (!p && !foliot__enet_needs_keys(t))
        return; // a peer in clear
    size_t sealed = 0;
    if (p && length + FOLIOT__SEAL_BYTES <= sizeof t->sealed)
        sealed = foliot__seal(&p->sealer, FOLIOT__SEALED_ENET, p->connection, bytes, length,
                              t->now_ns, t->sealed);
    // Without keys only an empty datagram is sent.
    host->buffers[0] = (ENetBuffer){.data = t->sealed, .dataLength = sealed};
    host->bufferCount = 1;
}

void foliot__enet_seal_outbox(enet_transport *t)
{
    foliot__outbox *o = &t->outbox;
    uint8_t plain[FOLIOT__RAW_DATAGRAM_BYTES_MAX];
    for (uint32_t i = 0; i < o->count; i++) {
        struct msghdr *m = &o->messages[i].msg_hdr;
        size_t length = 0;
        if (o->heads[i][0] != FOLIOT__SEALED_RAW)
            continue;
        for (size_t k = 1; k < m->msg_iovlen; k++) {
            FOLIOT_ASSERT(length + o->parts[i][k].iov_len <= sizeof plain);
            memcpy(plain + length, o->parts[i][k].iov_base, o->parts[i][k].iov_len);
            length += o->parts[i][k].iov_len;
        }
        foliot__secure_peer *p = o->owners[i];
        uint8_t *out = foliot__outbox_whole(o, FOLIOT__SEAL_BYTES + length);
        bool gone = !p->used || p->connection != foliot__sealed_connection(o->heads[i]);
        size_t sealed = gone ? 0
                             : foliot__seal(&p->sealer, FOLIOT__SEALED_RAW, p->connection, plain,
                                            length, t->now_ns, out);
        o->parts[i][0] = (struct iovec){out, sealed};
        m->msg_iovlen = 1;
    }
}

bool foliot__enet_identity(const foliot_transport *transport, foliot_peer_id peer,
                           foliot_peer_identity *identity)
{
    const slot *s = foliot__slot_of((enet_transport *)(uintptr_t)transport, peer);
    if (s && s->secure)
        *identity = s->secure->identity;
    return s != NULL;
}

uint32_t foliot__enet_show_token(foliot_transport *transport, const char *text,
                                 const uint8_t *return_secret, uint64_t now_s, uint64_t now_ns,
                                 foliot_peer_identity *identity)
{
    foliot__secure *secure = ((enet_transport *)transport)->secure;
    return secure ? foliot__secure_show_token(secure, text, return_secret, now_s, now_ns, identity)
                  : FOLIOT_DISCONNECT_SECURITY;
}

void foliot__enet_set_keys(foliot_transport *transport, const uint8_t *keys, uint32_t count)
{
    foliot__secure_set_keys(((enet_transport *)transport)->secure, keys, count);
}

void foliot__enet_end_shown(foliot_transport *transport, const foliot_peer_identity *identity)
{
    foliot__secure *secure = ((enet_transport *)transport)->secure;
    if (secure)
        foliot__secure_end_shown(secure, identity);
}

uint32_t foliot__enet_show_password(foliot_transport *transport, const char *password,
                                    foliot_peer_identity *identity)
{
    const foliot__secure *secure = ((enet_transport *)transport)->secure;
    return secure ? foliot__secure_show_password(secure, password, identity)
                  : FOLIOT_DISCONNECT_SECURITY;
}
