// SPDX-License-Identifier: MIT
// Goal: connections with keys (docs/reference/protocol.md, section 1). Who sees every datagram can
// neither read, inject, repeat, take over nor end; tokens are good for one client, in time, at
// their server; a peer goes on when its address changes. Method: two transports over ENet on the
// loopback and a wire of the test's between them, which keeps every datagram and sends what it
// likes.
// Tier: test
#include "check.h"
#include "clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "foliot/transport.h"
#include "loopback.h"
#include "net/raw_datagram.h"
#include "net/secure.h"
#include "net/transport.h"

#define CAUGHT_MAX 4000
#define PHRASE "nobody on the way reads this phrase"

typedef struct caught {
    bool to_host;
    size_t length;
    uint8_t bytes[1600];
} caught;

typedef struct stage {
    foliot_transport *host, *client;
    foliot_transport_config host_config, client_config;
    int front, back; // the wire's sockets: where clients come to, and where the host sees them from
    uint16_t port;
    foliot__net_address host_at, client_at;
    foliot_peer_id at_host, at_client;
    uint32_t host_reason, client_reason;
    unsigned host_got, client_got;
    caught *caught;
    size_t caught_count;
    uint64_t began_ns;
} stage;

static int open_socket(uint16_t port, foliot__net_address *at)
{
    int fd = loopback_open(port, at);
    assert_true(fd >= 0);
    return fd;
}

static void catch (stage *s, const uint8_t *bytes, ssize_t length, bool to_host)
{
    if (s->caught_count == CAUGHT_MAX || (size_t)length > sizeof s->caught->bytes)
        return;
    caught *c = &s->caught[s->caught_count++];
    c->to_host = to_host;
    c->length = (size_t)length;
    memcpy(c->bytes, bytes, c->length);
}

static void send_on(stage *s, const uint8_t *bytes, size_t length, bool to_host)
{
    foliot__socket_address to;
    socklen_t to_bytes = foliot__net_address_to_socket(to_host ? &s->host_at : &s->client_at, &to);
    (void)!sendto(to_host ? s->back : s->front, bytes, length, 0, &to.any, to_bytes);
}

static void pump(stage *s)
{
    uint8_t bytes[4096];
    ssize_t got;
    foliot__socket_address from;
    socklen_t from_bytes = sizeof from;
    while ((got = recvfrom(s->front, bytes, sizeof bytes, 0, &from.any, &from_bytes)) >= 0) {
        s->client_at = foliot__net_address_of_socket(&from);
        catch (s, bytes, got, true);
        send_on(s, bytes, (size_t)got, true);
    }
    while ((got = recv(s->back, bytes, sizeof bytes, 0)) >= 0) {
        catch (s, bytes, got, false);
        send_on(s, bytes, (size_t)got, false);
    }
}

static void take_event(const foliot_transport_event *e, foliot_peer_id *peer, uint32_t *reason,
                       unsigned *got)
{
    if (e->kind == FOLIOT_TRANSPORT_CONNECTED)
        *peer = e->peer;
    if (e->kind == FOLIOT_TRANSPORT_DISCONNECTED && e->peer.value == peer->value) {
        *reason = e->reason;
        peer->value = 0;
    }
    if (e->kind == FOLIOT_TRANSPORT_RECEIVED) {
        assert_int_equal(e->length, sizeof PHRASE);
        assert_memory_equal(e->bytes, PHRASE, sizeof PHRASE);
        *got += 1;
    }
}

static void run(stage *s, unsigned ms)
{
    foliot_transport_event e;
    for (uint64_t end = clock_now_ns() + ms * 1000000ull; clock_now_ns() < end;) {
        struct timespec t = {.tv_nsec = 500000};
        pump(s);
        uint64_t now = clock_now_ns();
        while (foliot_transport_poll(s->host, now, &e))
            take_event(&e, &s->at_host, &s->host_reason, &s->host_got);
        while (s->client && foliot_transport_poll(s->client, now, &e))
            take_event(&e, &s->at_client, &s->client_reason, &s->client_got);
        foliot_transport_flush(s->host, now);
        if (s->client)
            foliot_transport_flush(s->client, now);
        nanosleep(&t, NULL);
    }
}

static stage *open_stage(foliot_security at_host, foliot_security at_client)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->caught = calloc(CAUGHT_MAX, sizeof *s->caught);
    assert_non_null(s->caught);
    s->host_config = s->client_config = foliot_transport_config_default();
    s->host_config.bind = loopback_text();
    s->host_config.peers_max = 8;
    s->host_config.batches = true;
    s->host_config.security = at_host;
    s->client_config.security = at_client;
    s->host_config.timeout_ms = s->client_config.timeout_ms = 3000;
    return s;
}

static void open_client(stage *s)
{
    if (s->client)
        foliot_transport_destroy(s->client);
    s->client_reason = 0;
    s->at_client.value = s->at_host.value = 0;
    assert_int_equal(foliot_transport_create_enet(&s->client_config, clock_now_ns(), &s->client),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_transport_connect(s->client, loopback_text(), s->port, clock_now_ns(),
                                              &s->at_client),
                     FOLIOT_STATUS_OK);
}

static void open_both(stage *s)
{
    foliot__net_address front, back;
    assert_int_equal(foliot_transport_create_enet(&s->host_config, clock_now_ns(), &s->host),
                     FOLIOT_STATUS_OK);
    s->front = open_socket(0, &front);
    s->back = open_socket(0, &back);
    s->port = front.port;
    s->host_at = back;
    s->host_at.port = foliot_transport_get_port(s->host);
    open_client(s);
}

static void close_stage(stage *s)
{
    foliot_transport_destroy(s->client);
    foliot_transport_destroy(s->host);
    close(s->front);
    close(s->back);
    free(s->caught);
    free(s);
}

static void talk(stage *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        foliot_delivery delivery = i % 2 ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
        (void)!foliot_transport_send(s->host, s->at_host, delivery, (const uint8_t *)PHRASE,
                                     sizeof PHRASE);
        (void)!foliot_transport_send(s->client, s->at_client, delivery, (const uint8_t *)PHRASE,
                                     sizeof PHRASE);
        run(s, 4);
    }
    run(s, 60);
}

static const foliot_transport_counters *counted(const stage *s)
{
    return foliot_transport_get_counters(s->host);
}

static void expect_talk(stage *s)
{
    unsigned host = s->host_got, client = s->client_got;
    check_ne(s->at_host.value, 0u);
    check_ne(s->at_client.value, 0u);
    talk(s, 8);
    check_eq(s->host_got, host + 8);
    check_eq(s->client_got, client + 8);
}

// -- keys of the test

static uint8_t key[FOLIOT_KEY_BYTES];
static char token_text[FOLIOT_TOKEN_TEXT_BYTES];

static foliot_token some_token(void)
{
    foliot_token token = foliot_token_default((uint64_t)time(NULL));
    token.client = 77;
    token.role = FOLIOT_ROLE_SPECTATOR;
    snprintf(token.session, sizeof token.session, "arena");
    token.user_bytes = 3;
    memcpy(token.user, "abc", 3);
    return token;
}

static stage *token_stage(const foliot_token *token)
{
    stage *s = open_stage(FOLIOT_SECURITY_TOKEN, FOLIOT_SECURITY_TOKEN);
    foliot_key_draw(key);
    assert_int_equal(foliot_token_print(token, key, token_text), FOLIOT_STATUS_OK);
    s->host_config.key = key;
    s->client_config.token = token_text;
    return s;
}

static stage *open_token_stage(void)
{
    foliot_token token = some_token();
    stage *s = token_stage(&token);
    open_both(s);
    run(s, 150);
    return s;
}

// -- what works

static void peers_talk_with_every_security(void **state)
{
    (void)state;
    for (int i = FOLIOT_SECURITY_CLEAR; i <= FOLIOT_SECURITY_PASSWORD; i++) {
        stage *s = open_stage((foliot_security)i, (foliot_security)i);
        s->host_config.password = s->client_config.password = "a night in may";
        open_both(s);
        run(s, 150);
        expect_talk(s);
        close_stage(s);
    }
    stage *s = open_token_stage();
    expect_talk(s);
    close_stage(s);
}

// The length of the first datagram of packets to the client that passes the wire; 0: none does.
static size_t packet_datagram_bytes(stage *s, uint8_t type)
{
    for (int i = 0; i < 1000; i++) {
        for (size_t k = 0; k < s->caught_count; k++)
            if (!s->caught[k].to_host && s->caught[k].bytes[0] == type)
                return s->caught[k].length;
        run(s, 5);
    }
    return 0;
}

// What a host charges against a budget is what is sent.
static void the_overhead_is_what_datagrams_have(void **state)
{
    (void)state;
    for (int i = FOLIOT_SECURITY_CLEAR; i <= FOLIOT_SECURITY_ANONYMOUS; i++) {
        stage *s = open_stage((foliot_security)i, (foliot_security)i);
        bool sealed = i != FOLIOT_SECURITY_CLEAR;
        open_both(s);
        for (int k = 0; k < 1000 && (s->at_host.value == 0 || s->at_client.value == 0); k++)
            run(s, 5);
        uint32_t udp = 8 + (foliot__net_address_is_ip4(&s->host_at) ? 20 : 40), overhead = 0;
        // Until ENet has connected, datagrams in clear have the longer head of an opening.
        for (int k = 0; k < 1000; k++) {
            overhead = foliot__transport_overhead(s->host, s->at_host);
            if (overhead != udp + 2 + FOLIOT__EARLY_HEAD_BYTES)
                break;
            run(s, 5);
        }
        s->caught_count = 0;
        assert_int_equal(foliot_transport_send(s->host, s->at_host, FOLIOT_DELIVERY_UNRELIABLE,
                                               (const uint8_t *)PHRASE, sizeof PHRASE),
                         FOLIOT_STATUS_OK);
        check_eq(udp + packet_datagram_bytes(s, sealed ? FOLIOT__SEALED_RAW : FOLIOT__SHORT_MARK),
                 sizeof PHRASE + overhead);
        check_eq(overhead, udp + 2 + (sealed ? FOLIOT__SEAL_BYTES : FOLIOT__SHORT_HEAD_BYTES));
        close_stage(s);
    }
}

static void a_host_of_clear_takes_keys_of_nobody(void **state)
{
    (void)state;
    stage *s = open_stage(FOLIOT_SECURITY_CLEAR, FOLIOT_SECURITY_ANONYMOUS);
    foliot_peer_identity identity;
    open_both(s);
    run(s, 150);
    expect_talk(s);
    assert_true(foliot_transport_get_peer_identity(s->host, s->at_host, &identity));
    check_eq((int)identity.security, (int)FOLIOT_SECURITY_ANONYMOUS);
    close_stage(s);
}

static void the_host_knows_who_came(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    foliot_peer_identity identity;
    check_ne(s->at_host.value, 0u);
    assert_true(foliot_transport_get_peer_identity(s->host, s->at_host, &identity));
    check_eq((int)identity.security, (int)FOLIOT_SECURITY_TOKEN);
    check_eq(identity.token.client, 77u);
    check_eq((int)identity.token.role, (int)FOLIOT_ROLE_SPECTATOR);
    assert_string_equal(identity.token.session, "arena");
    check_eq(identity.token.user_bytes, 3u);
    close_stage(s);
}

static void an_end_reaches_the_other_side(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) {
        bool from_host = i & 1, at_once = i & 2; // and at once, though the other was served last
        stage *s = open_token_stage();
        check_ne(s->at_host.value, 0u);
        if (!from_host)
            foliot_transport_flush(s->host, clock_now_ns());
        foliot_transport_disconnect(from_host ? s->host : s->client,
                                    from_host ? s->at_host : s->at_client, 260, at_once);
        run(s, 150);
        check_eq(from_host ? s->client_reason : s->host_reason, 260u);
        close_stage(s);
    }
}

// -- who listens

static bool holds(const caught *c, const void *what, size_t bytes)
{
    return memmem(c->bytes, c->length, what, bytes) != NULL;
}

static void nothing_is_readable_on_the_way(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    foliot_transport_disconnect(s->client, s->at_client, 0, false);
    run(s, 200);
    unsigned sealed = 0;
    for (size_t i = 0; i < s->caught_count; i++) {
        const caught *c = &s->caught[i];
        assert_false(holds(c, "nobody", 6));
        assert_false(holds(c, "arena", 5));
        bool greeting = c->length > 8 && memcmp(c->bytes, "foliot", 6) == 0 && c->bytes[7] == 'k';
        bool is_sealed = c->bytes[0] >= FOLIOT__SEALED_RAW && c->bytes[0] <= FOLIOT__SEALED_CONTROL;
        assert_true(greeting || is_sealed); // ENet's own too
        sealed += is_sealed;
    }
    check_gt(sealed, 16u);
    close_stage(s);
}

static void what_was_sent_before_is_dropped(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    unsigned host = s->host_got, client = s->client_got;
    size_t count = s->caught_count;
    for (size_t i = count; i-- > 0;) // the other way round too
        send_on(s, s->caught[i].bytes, s->caught[i].length, s->caught[i].to_host);
    for (size_t i = 0; i < count; i++)
        send_on(s, s->caught[i].bytes, s->caught[i].length, s->caught[i].to_host);
    run(s, 100);
    check_eq(s->host_got, host);
    check_eq(s->client_got, client);
    check_gt(counted(s)->datagrams_dropped_repeated, 8u);
    expect_talk(s);
    close_stage(s);
}

static void no_changed_datagram_is_taken(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    unsigned host = s->host_got;
    size_t count = s->caught_count, tried = 0;
    uint64_t forged = counted(s)->datagrams_dropped_forged;
    for (size_t i = 0; i < count; i++) {
        caught c = s->caught[i];
        if (c.bytes[0] < FOLIOT__SEALED_RAW || c.bytes[0] > FOLIOT__SEALED_CONTROL)
            continue;
        for (size_t at = 0; at < c.length && at < 80; at++, tried++) { // every field
            c.bytes[5] ^= 0x40; // and a number that has not come
            c.bytes[at] ^= (uint8_t)(1u << (at % 8));
            send_on(s, c.bytes, c.length, c.to_host);
            c.bytes[at] ^= (uint8_t)(1u << (at % 8));
            c.bytes[5] ^= 0x40;
        }
        for (size_t length = 0; length < c.length; length += 3, tried++)
            send_on(s, c.bytes, length, c.to_host);
        run(s, 2);
    }
    run(s, 100);
    check_gt(tried, 1000u);
    check_eq(s->host_got, host);
    check_gt(counted(s)->datagrams_dropped_forged, forged + 100);
    expect_talk(s);
    close_stage(s);
}

static void a_listener_who_knows_the_connect_id_cannot_end_it(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    uint32_t connection;
    uint8_t refusal[FOLIOT__REFUSAL_BYTES] = FOLIOT__REFUSAL_MARK;
    memcpy(&connection, s->caught[0].bytes + 8, 4);
    memcpy(refusal + 8, &connection, 4);
    refusal[12] = FOLIOT_DISCONNECT_FULL;
    uint8_t disconnect[64] = {0x80, 0, 0, 0};
    uint8_t shortened[12] = {0x67};
    memcpy(shortened + 1, &connection, 4);
    for (int i = 0; i < 20; i++) {
        send_on(s, refusal, sizeof refusal, false);
        disconnect[1] = (uint8_t)(i % 8);
        send_on(s, disconnect, sizeof disconnect, i % 2);
        send_on(s, shortened, sizeof shortened, true);
    }
    run(s, 400);
    check_gt(counted(s)->datagrams_dropped_clear, 0u);
    expect_talk(s);
    close_stage(s);
}

// -- who may come

static void expect_refused(stage *s, uint32_t reason)
{
    run(s, 500);
    check_eq(s->client_reason, reason);
    check_eq(s->at_client.value, 0u);
    check_gt(counted(s)->connects_unproven + (reason == FOLIOT_DISCONNECT_SECURITY), 0u);
    close_stage(s);
}

static void tokens_out_of_their_time_are_refused(void **state)
{
    (void)state;
    foliot_token old = some_token(), early = some_token();
    old.created_s -= 100;
    old.expires_s = old.created_s + 50;
    stage *s = token_stage(&old);
    open_both(s);
    expect_refused(s, FOLIOT_DISCONNECT_TOKEN_EXPIRED);
    early.created_s += 100;
    early.expires_s += 100;
    s = token_stage(&early);
    open_both(s);
    expect_refused(s, FOLIOT_DISCONNECT_TOKEN_EXPIRED);
}

static void tokens_for_other_servers_or_of_other_keys_are_refused(void **state)
{
    (void)state;
    uint8_t other[FOLIOT_KEY_BYTES];
    foliot_token token = some_token();
    foliot_token_address own = {.ip = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1}, .port = 9};
    token.address_count = 1;
    token.addresses[0] = own;
    token.addresses[0].port = 10;
    stage *s = token_stage(&token);
    s->host_config.own_addresses = &own;
    s->host_config.own_address_count = 1;
    open_both(s);
    expect_refused(s, FOLIOT_DISCONNECT_TOKEN);
    token.addresses[0].port = 9;
    s = token_stage(&token);
    s->host_config.own_addresses = &own;
    s->host_config.own_address_count = 1;
    open_both(s);
    run(s, 150);
    expect_talk(s);
    close_stage(s);
    s = token_stage(&token);
    foliot_key_draw(other);
    s->host_config.key = other;
    open_both(s);
    expect_refused(s, FOLIOT_DISCONNECT_TOKEN);
}

static void a_token_is_good_for_one_client(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    foliot_peer_id first = s->at_host;
    foliot_transport *honest = s->client;
    s->client = NULL;
    open_client(s); // a thief with the same token
    run(s, 500);
    check_eq(s->client_reason, (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    foliot_transport_destroy(s->client);
    s->client = honest;
    s->at_host = first;
    check_eq(foliot_transport_send(s->host, first, FOLIOT_DELIVERY_UNRELIABLE,
                                   (const uint8_t *)PHRASE, sizeof PHRASE),
             FOLIOT_STATUS_OK);
    close_stage(s);
}

static void its_client_comes_back_with_it(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    for (int i = 0; i < 3; i++) {
        foliot_transport_disconnect(s->client, s->at_client, 0, true);
        run(s, 50);
        assert_int_equal(foliot_transport_connect(s->client, loopback_text(), s->port,
                                                  clock_now_ns(), &s->at_client),
                         FOLIOT_STATUS_OK);
        run(s, 150);
        for (int ms = 0; ms < 5000 && (!s->at_host.value || !s->at_client.value); ms += 5)
            run(s, 5);
        expect_talk(s);
    }
    close_stage(s);
}

// Who goes away without a word and comes back has one connection, however often that is. What
// somebody on the way repeats of it ends nothing.
static void who_comes_back_leaves_the_older_connection(void **state)
{
    (void)state;
    foliot_token token = some_token();
    stage *s = token_stage(&token);
    foliot_peer_identity who;
    s->host_config.joins_per_second = 1000;
    s->host_config.peers_per_address_max = s->host_config.peers_max = 64;
    s->host_config.timeout_ms = s->client_config.timeout_ms = 60000;
    s->client_config.peers_max = 16;
    open_both(s);
    run(s, 150);
    expect_talk(s);
    for (int i = 0; i < 12; i++) {
        foliot_peer_id older = s->at_host;
        assert_int_equal(foliot_transport_connect(s->client, loopback_text(), s->port,
                                                  clock_now_ns(), &s->at_client),
                         FOLIOT_STATUS_OK);
        for (int ms = 0; ms < 5000 && s->at_host.value == older.value; ms += 5)
            run(s, 5);
        check_ne(s->at_host.value, older.value);
        for (int ms = 0; ms < 5000 && foliot_transport_get_peer_identity(s->host, older, &who);
             ms += 5)
            run(s, 5);
        assert_false(foliot_transport_get_peer_identity(s->host, older, &who));
    }
    check_eq(counted(s)->connects_over_client, 0u);
    expect_talk(s);
    foliot_peer_id newest = s->at_host;
    for (size_t i = 0, count = s->caught_count; i < count; i++)
        if (s->caught[i].to_host)
            send_on(s, s->caught[i].bytes, s->caught[i].length, true);
    run(s, 100);
    check_eq(s->at_host.value, newest.value);
    expect_talk(s);
    close_stage(s);
}

// -- without a network: openings by hand

static foliot__secure *open_end(bool listens, foliot_security security)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot__secure *secure;
    config.bind = listens ? "127.0.0.1" : NULL;
    config.security = security;
    config.key = key;
    config.token = token_text;
    config.password = "a night in may";
    config.peers_max = 4;
    assert_int_equal(foliot__secure_open(&config, 7777, &secure), FOLIOT_STATUS_OK);
    return secure;
}

// What becomes of an opening of a client's, by which it would come back if it has what it takes.
static uint32_t open_by_hand(foliot__secure *host, foliot__secure *client, uint32_t connection)
{
    static const foliot__net_address from = {.port = 9};
    uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES];
    foliot__secure_peer *own = foliot__secure_take(client, connection, from, 1),
                        *theirs = foliot__secure_take(host, connection, from, 1);
    foliot__secure_answer(host, connection, 3, 1, answer);
    assert_int_equal(foliot__secure_take_answer(client, own, answer, 1), 0);
    uint32_t reason = foliot__secure_accept(host, theirs, own->opening, own->opening_bytes, 1,
                                            (uint64_t)time(NULL));
    if (!reason)
        foliot__secure_confirm(host, theirs);
    return reason;
}

static foliot__secure_peer *accept_by_hand(foliot__secure *host, foliot__secure *client,
                                           uint32_t connection, foliot__secure_peer **own)
{
    static const foliot__net_address from = {.port = 9};
    uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES];
    foliot__secure_peer *theirs = foliot__secure_take(host, connection, from, 1);
    *own = foliot__secure_take(client, connection, from, 1);
    foliot__secure_answer(host, connection, 3, 1, answer);
    check_eq(foliot__secure_take_answer(client, *own, answer, 1), 0u);
    check_eq(foliot__secure_accept(host, theirs, (*own)->opening, (*own)->opening_bytes, 1,
                                   (uint64_t)time(NULL)),
             0u);
    theirs->owner = host; // any
    return theirs;
}

// Nobody ends a connection but who has shown that he was given its secret. Of two who have but the
// token, the first to show that he has keys stays.
static void a_connection_ends_for_its_own_client_alone(void **state)
{
    (void)state;
    foliot_token token = some_token();
    foliot_key_draw(key);
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *honest = open_end(false, FOLIOT_SECURITY_TOKEN),
                   *thief = open_end(false, FOLIOT_SECURITY_TOKEN);
    foliot__secure_peer *own, *own_back, *stolen, *first = accept_by_hand(host, honest, 5, &own),
                                                  *second = accept_by_hand(host, thief, 6, &stolen);
    foliot__secure_confirm(host, first);
    assert_null(foliot__secure_replaced(host, first, NULL));
    foliot__secure_confirm(host, second);
    assert_ptr_equal(foliot__secure_replaced(host, second, NULL), second);
    assert_null(foliot__secure_replaced(host, second, second));
    foliot__secure_release(host, second);
    foliot__secure_confirm(honest, own);
    foliot__secure_peer *back = accept_by_hand(host, honest, 7, &own_back);
    foliot__secure_confirm(host, back);
    assert_ptr_equal(foliot__secure_replaced(host, back, NULL), first);
    assert_null(foliot__secure_replaced(host, back, first));
    foliot__secure_close(host);
    foliot__secure_close(honest);
    foliot__secure_close(thief);
}

// The secret of the connection before the first is nobody's.
static void a_thief_cannot_come_back_by_a_secret_that_was_never_given(void **state)
{
    (void)state;
    foliot_token token = some_token();
    foliot_key_draw(key);
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *client = open_end(false, FOLIOT_SECURITY_TOKEN),
                   *thief = open_end(false, FOLIOT_SECURITY_TOKEN);
    check_eq(open_by_hand(host, client, 5), 0u);
    foliot__secure_peer *zeros = foliot__secure_take(thief, 1, (foliot__net_address){0}, 1);
    zeros->opening_bytes = 1; // it believes that it was let in, by a connection that left zeros
    foliot__secure_confirm(thief, zeros);
    check_eq(open_by_hand(host, thief, 6), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    foliot__secure_close(host);
    foliot__secure_close(client);
    foliot__secure_close(thief);
}

static uint32_t show(foliot__secure *host, const char *text, uint8_t secret, uint64_t in_s,
                     foliot_peer_identity *identity)
{
    static uint64_t now_ns;
    uint8_t returns[FOLIOT_RETURN_SECRET_BYTES] = {[3] = secret};
    *identity = (foliot_peer_identity){0};
    now_ns += 2000000000u; // slowly enough for one client
    return foliot__secure_show_token(host, text, returns, (uint64_t)time(NULL) + in_s, now_ns,
                                     identity);
}

static void a_token_that_is_shown_is_used_up_for_everybody(void **state)
{
    (void)state;
    foliot_peer_identity who;
    foliot_token token = some_token();
    foliot_key_draw(key);
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *client = open_end(false, FOLIOT_SECURITY_TOKEN);
    char changed[FOLIOT_TOKEN_TEXT_BYTES];
    // The keys lie behind expiry, addresses and session: a change in them leaves the sealed part.
    for (size_t at = sizeof FOLIOT__TOKEN_MARK - 1; token_text[at]; at += 13) {
        assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
        memcpy(changed, token_text, sizeof changed);
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        uint32_t reason = show(host, changed, 1, 0, &who);
        foliot__secure_end_shown(host, &who);
        bool read_by_client_alone =
            at < sizeof FOLIOT__TOKEN_MARK - 1 + (8 + 145 + FOLIOT_NAME_BYTES) * 4 / 3;
        if (!read_by_client_alone && reason != FOLIOT_DISCONNECT_TOKEN)
            fail_msg("a change at %zu: %u", at, reason);
    }
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    check_eq(show(host, token_text, 0, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN);
    check_eq(show(host, "foliot-token-1.", 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN);
    check_eq(show(host, token_text, 1, 61, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN_EXPIRED);
    check_eq(show(host, token_text, 1, 0, &who), 0u);
    check_eq(who.security, FOLIOT_SECURITY_TOKEN);
    check_eq(who.token.client, 77u);
    check_eq(show(host, token_text, 2, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    check_eq(show(host, token_text, 1, 61, &who), 0u); // comes back
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 5), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    // And one that came by an opening is not to be shown.
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 6), 0u);
    check_eq(show(host, token_text, 2, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    check_eq(foliot__secure_show_password(host, "a night in may", &who),
             (uint32_t)FOLIOT_DISCONNECT_SECURITY);
    foliot__secure_close(host);
    foliot__secure_close(client);
}

// By whatever way its connections come.
static void what_is_shown_counts_for_its_client(void **state)
{
    (void)state;
    foliot_peer_identity who, held[8];
    foliot_token token = some_token();
    foliot_key_draw(key);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *client = open_end(false, FOLIOT_SECURITY_TOKEN);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
        check_eq(show(host, token_text, 1, 0, &held[i]), 0u);
        check_ne(held[i].shown, 0u);
    }
    check_eq(show(host, token_text, 1, 0, &who), 0u); // the same once more
    foliot__secure_end_shown(host, &held[7]);         // which that one is no more
    held[7] = who;
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 5), FOLIOT__OVER_CLIENT);
    check_eq(show(host, token_text, 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_FULL);
    check_eq(foliot__secure_take_over_client(host), 1u);
    foliot__secure_end_shown(host, &held[0]);
    foliot__secure_end_shown(host, &held[0]); // once is enough
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 6), 0u); // the token was not used up
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    check_eq(show(host, token_text, 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_FULL);
    token.client++;
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    check_eq(show(host, token_text, 1, 0, &who), 0u);
    foliot__secure_close(host);
    foliot__secure_close(client);
}

static void a_password_may_be_shown(void **state)
{
    (void)state;
    foliot_peer_identity who;
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_PASSWORD);
    check_eq(foliot__secure_show_password(host, "a night in may", &who), 0u);
    check_eq(who.security, FOLIOT_SECURITY_PASSWORD);
    static const char *const wrong[] = {"", "a night in ma", "a night in may ", "A night in may"};
    for (size_t i = 0; i < 4; i++)
        check_eq(foliot__secure_show_password(host, wrong[i], &who),
                 (uint32_t)FOLIOT_DISCONNECT_PASSWORD);
    check_eq(show(host, token_text, 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_SECURITY);
    foliot__secure_close(host);
}

// The host anew, at the same port, as after a crash; what was in memory is lost.
static void restart_host(stage *s)
{
    foliot_transport_destroy(s->host);
    s->host_config.port = s->host_at.port;
    assert_int_equal(foliot_transport_create_enet(&s->host_config, clock_now_ns(), &s->host),
                     FOLIOT_STATUS_OK);
}

static void used_tokens_outlast_the_server(void **state)
{
    (void)state;
    char file[] = "/tmp/foliot-used-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    foliot_token token = some_token();
    stage *s = token_stage(&token);
    assert_int_equal(foliot_used_tokens_open(file, 64, &s->host_config.used_tokens),
                     FOLIOT_STATUS_OK);
    open_both(s);
    run(s, 150);
    expect_talk(s);
    foliot_used_tokens *before = s->host_config.used_tokens;
    assert_int_equal(foliot_used_tokens_open(file, 64, &s->host_config.used_tokens),
                     FOLIOT_STATUS_AGAIN); // one server at a time
    foliot_transport_disconnect(s->client, s->at_client, 0, true);
    run(s, 50);
    foliot_transport_destroy(s->host);
    foliot_used_tokens_close(before);
    assert_int_equal(foliot_used_tokens_open(file, 128, &s->host_config.used_tokens),
                     FOLIOT_STATUS_OK);
    s->host_config.port = s->host_at.port;
    assert_int_equal(foliot_transport_create_enet(&s->host_config, clock_now_ns(), &s->host),
                     FOLIOT_STATUS_OK);
    // Its client comes back; a thief with the same token does not come in.
    assert_int_equal(foliot_transport_connect(s->client, loopback_text(), s->port, clock_now_ns(),
                                              &s->at_client),
                     FOLIOT_STATUS_OK);
    run(s, 300);
    expect_talk(s);
    foliot_transport *honest = s->client;
    s->client = NULL;
    open_client(s);
    run(s, 500);
    check_eq(s->client_reason, (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    foliot_transport_destroy(honest);
    foliot_used_tokens *used = s->host_config.used_tokens;
    close_stage(s);
    foliot_used_tokens_close(used);
    unlink(file);
}

static void without_a_file_a_restarted_server_has_forgotten(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    expect_talk(s);
    foliot_transport *honest = s->client;
    restart_host(s);
    s->client = NULL;
    open_client(s);
    run(s, 500);
    check_eq(s->client_reason, 0u); // which is why there is a file
    foliot_transport_destroy(honest);
    close_stage(s);
}

static void a_file_of_something_else_is_left_alone(void **state)
{
    (void)state;
    char file[] = "/tmp/foliot-used-XXXXXX", text[] =
                                                 "somebody's letters, which are longer than any "
                                                 "head that such a file may have: dear ada,";
    foliot_used_tokens *used;
    int fd = mkstemp(file);
    assert_int_equal(write(fd, text, sizeof text), sizeof text);
    assert_int_equal(foliot_used_tokens_open(file, 64, &used), FOLIOT_STATUS_CORRUPT);
    char back[sizeof text];
    assert_int_equal(pread(fd, back, sizeof back, 0), sizeof back);
    assert_memory_equal(back, text, sizeof text);
    assert_int_equal(fchmod(fd, 0644), 0);
    assert_int_equal(foliot_used_tokens_open(file, 64, &used), FOLIOT_STATUS_REFUSED);
    close(fd);
    unlink(file);
    assert_int_equal(foliot_used_tokens_open("/nowhere/at/all", 64, &used), FOLIOT_STATUS_IO);
    assert_int_equal(foliot_used_tokens_open(NULL, 0, &used), FOLIOT_STATUS_INVALID);
}

// New tokens fill no client's allowance again; other clients lose nothing.
static void a_client_holds_no_more_than_its_share(void **state)
{
    (void)state;
    foliot_token token = some_token();
    stage *s = token_stage(&token);
    s->host_config.joins_per_second = 1000;
    s->host_config.peers_per_address_max = s->host_config.peers_max = 64;
    s->host_config.timeout_ms = s->client_config.timeout_ms = 60000;
    open_both(s);
    unsigned let_in = 0, refused = 0;
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
        open_client(s); // the one before stays, for the host
        while (!s->at_host.value && !s->client_reason)
            run(s, 5);
        let_in += s->at_host.value != 0;
        refused += s->client_reason == FOLIOT_DISCONNECT_FULL;
    }
    check_eq(let_in, 8u);
    check_eq(refused, 4u);
    check_eq(counted(s)->connects_over_client, 4u);
    token.client++;
    assert_int_equal(foliot_token_print(&token, key, token_text), FOLIOT_STATUS_OK);
    open_client(s);
    run(s, 150);
    expect_talk(s);
    close_stage(s);
}

static void a_wrong_password_is_refused(void **state)
{
    (void)state;
    stage *s = open_stage(FOLIOT_SECURITY_PASSWORD, FOLIOT_SECURITY_PASSWORD);
    s->host_config.password = "a night in may";
    s->client_config.password = "a night in June";
    open_both(s);
    expect_refused(s, FOLIOT_DISCONNECT_PASSWORD);
}

static void securities_that_differ_are_refused(void **state)
{
    (void)state;
    for (int host = 0; host <= FOLIOT_SECURITY_TOKEN; host++)
        for (int client = 0; client <= FOLIOT_SECURITY_TOKEN; client++) {
            foliot_token token = some_token();
            stage *s = token_stage(&token);
            s->host_config.security = (foliot_security)host;
            s->client_config.security = (foliot_security)client;
            s->host_config.password = s->client_config.password = "x";
            if (host == client || (!host && client == FOLIOT_SECURITY_ANONYMOUS)) {
                free(s->caught);
                free(s);
                continue;
            }
            open_both(s);
            expect_refused(s, FOLIOT_DISCONNECT_SECURITY);
        }
}

static void no_flipped_bit_of_an_opening_opens(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    uint64_t connects = counted(s)->connects;
    caught opening = {0};
    for (size_t i = 0; i < s->caught_count; i++)
        if (memcmp(s->caught[i].bytes, FOLIOT__SECURE_OPENING_MARK, 8) == 0)
            opening = s->caught[i];
    check_eq(opening.length, (size_t)FOLIOT__SECURE_OPENING_BYTES_MAX);
    for (size_t at = 0; at < opening.length; at++) {
        opening.bytes[at] ^= 1;
        send_on(s, opening.bytes, opening.length, true);
        opening.bytes[at] ^= 1;
        send_on(s, opening.bytes, at, true);
        if (at % 50 == 0)
            run(s, 2);
    }
    run(s, 50);
    check_eq(counted(s)->connects, connects);
    expect_talk(s);
    close_stage(s);
}

// -- the address changes

static void a_peer_goes_on_from_another_address(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    foliot__net_address back;
    expect_talk(s);
    for (int i = 1; i <= 2; i++) {
        close(s->back);
        s->back = open_socket(0, &back); // as a router does that forgot its table
        talk(s, 1);
        check_eq(counted(s)->migrations, (uint64_t)i);
        expect_talk(s);
    }
    close_stage(s);
}

static void an_address_that_does_not_answer_gets_nothing(void **state)
{
    (void)state;
    stage *s = open_token_stage();
    foliot__net_address at;
    expect_talk(s);
    // A listener sends the client's newest datagram from his own address, before the client's
    // comes.
    int other = open_socket(0, &at), back = s->back;
    s->back = other;
    (void)!foliot_transport_send(s->client, s->at_client, FOLIOT_DELIVERY_UNRELIABLE,
                                 (const uint8_t *)PHRASE, sizeof PHRASE);
    foliot_transport_flush(s->client, clock_now_ns());
    pump(s);
    s->back = back;
    unsigned got = s->client_got;
    talk(s, 8);
    check_eq(s->client_got, got + 8);
    check_eq(counted(s)->migrations, 0u);
    uint8_t bytes[2000];
    size_t all = 0;
    for (ssize_t n; (n = recv(other, bytes, sizeof bytes, 0)) >= 0;)
        all += (size_t)n;
    check_le(all, 100u); // a challenge, and no more than came from there
    close(other);
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(peers_talk_with_every_security),
        cmocka_unit_test(the_overhead_is_what_datagrams_have),
        cmocka_unit_test(a_host_of_clear_takes_keys_of_nobody),
        cmocka_unit_test(the_host_knows_who_came),
        cmocka_unit_test(an_end_reaches_the_other_side),
        cmocka_unit_test(nothing_is_readable_on_the_way),
        cmocka_unit_test(what_was_sent_before_is_dropped),
        cmocka_unit_test(no_changed_datagram_is_taken),
        cmocka_unit_test(a_listener_who_knows_the_connect_id_cannot_end_it),
        cmocka_unit_test(tokens_out_of_their_time_are_refused),
        cmocka_unit_test(tokens_for_other_servers_or_of_other_keys_are_refused),
        cmocka_unit_test(a_token_is_good_for_one_client),
        cmocka_unit_test(its_client_comes_back_with_it),
        cmocka_unit_test(a_thief_cannot_come_back_by_a_secret_that_was_never_given),
        cmocka_unit_test(a_token_that_is_shown_is_used_up_for_everybody),
        cmocka_unit_test(who_comes_back_leaves_the_older_connection),
        cmocka_unit_test(a_connection_ends_for_its_own_client_alone),
        cmocka_unit_test(what_is_shown_counts_for_its_client),
        cmocka_unit_test(a_password_may_be_shown),
        cmocka_unit_test(used_tokens_outlast_the_server),
        cmocka_unit_test(without_a_file_a_restarted_server_has_forgotten),
        cmocka_unit_test(a_file_of_something_else_is_left_alone),
        cmocka_unit_test(a_client_holds_no_more_than_its_share),
        cmocka_unit_test(a_wrong_password_is_refused),
        cmocka_unit_test(securities_that_differ_are_refused),
        cmocka_unit_test(no_flipped_bit_of_an_opening_opens),
        cmocka_unit_test(a_peer_goes_on_from_another_address),
        cmocka_unit_test(an_address_that_does_not_answer_gets_nothing),
    };
    int failed = cmocka_run_group_tests_name("over IPv4", tests, NULL, NULL);
    if (loopback_use_six())
        failed += cmocka_run_group_tests_name("over IPv6", tests, NULL, NULL);
    return failed;
}
