// SPDX-License-Identifier: MIT
// Goal: connections with keys (docs/reference/protocol.md, section 1). An attacker that sees every
// datagram can neither read, inject, repeat, take over nor end; a peer continues when its address
// changes. Method: tests/support/secure_stage.h. Tier: test
#include "check.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foliot/transport.h"
#include "loopback.h"
#include "net/enet_internal.h"
#include "net/raw_datagram.h"
#include "net/secure.h"
#include "net/transport.h"
#include "secure_stage.h"

// -- what works

TEST(peers_talk_with_every_security)
{
    for (int i = FOLIOT_SECURITY_CLEAR; i <= FOLIOT_SECURITY_PASSWORD; i++) {
        stage *s = stage_new((foliot_security)i, (foliot_security)i);
        s->host_config.password = s->client_config.password = "a night in may";
        stage_open(s);
        stage_run(s, 150);
        stage_expect_talk(s);
        stage_close(s);
    }
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    stage_close(s);
}

// The length of the first datagram of packets to the client that passes the wire; 0: none does.
static size_t packet_datagram_bytes(stage *s, uint8_t type)
{
    for (int i = 0; i < 1000; i++) {
        for (size_t k = 0; k < s->caught_count; k++)
            if (!s->caught[k].to_host && s->caught[k].bytes[0] == type)
                return s->caught[k].length;
        stage_run(s, 5);
    }
    return 0;
}

// A host charges a budget with exactly what is sent.
TEST(the_overhead_is_what_datagrams_have)
{
    for (int i = FOLIOT_SECURITY_CLEAR; i <= FOLIOT_SECURITY_ANONYMOUS; i++) {
        stage *s = stage_new((foliot_security)i, (foliot_security)i);
        bool sealed = i != FOLIOT_SECURITY_CLEAR;
        stage_open(s);
        for (int k = 0; k < 1000 && (s->at_host.value == 0 || s->at_client.value == 0); k++)
            stage_run(s, 5);
        uint32_t udp = 8 + (foliot__net_address_is_ip4(&s->host_at) ? 20 : 40), overhead = 0;
        // Until ENet has connected, datagrams in clear have the longer head of an opening.
        for (int k = 0; k < 1000; k++) {
            overhead = foliot__transport_overhead(s->host, s->at_host);
            if (overhead != udp + 2 + FOLIOT__EARLY_HEAD_BYTES)
                break;
            stage_run(s, 5);
        }
        s->caught_count = 0;
        assert_int_equal(foliot_transport_send(s->host, s->at_host, FOLIOT_DELIVERY_UNRELIABLE,
                                               (const uint8_t *)STAGE_PHRASE, sizeof STAGE_PHRASE),
                         FOLIOT_STATUS_OK);
        check_eq(udp + packet_datagram_bytes(s, sealed ? FOLIOT__SEALED_RAW : FOLIOT__SHORT_MARK),
                 sizeof STAGE_PHRASE + overhead);
        check_eq(overhead, udp + 2 + (sealed ? FOLIOT__SEAL_BYTES : FOLIOT__SHORT_HEAD_BYTES));
        stage_close(s);
    }
}

TEST(a_host_of_clear_takes_keys_of_nobody)
{
    stage *s = stage_new(FOLIOT_SECURITY_CLEAR, FOLIOT_SECURITY_ANONYMOUS);
    foliot_peer_identity identity;
    stage_open(s);
    stage_run(s, 150);
    stage_expect_talk(s);
    assert_true(foliot_transport_get_peer_identity(s->host, s->at_host, &identity));
    check_eq((int)identity.security, (int)FOLIOT_SECURITY_ANONYMOUS);
    stage_close(s);
}

TEST(the_host_knows_who_came)
{
    stage *s = stage_open_with_token();
    foliot_peer_identity identity;
    check_ne(s->at_host.value, 0u);
    assert_true(foliot_transport_get_peer_identity(s->host, s->at_host, &identity));
    check_eq((int)identity.security, (int)FOLIOT_SECURITY_TOKEN);
    check_eq(identity.token.client, 77u);
    check_eq((int)identity.token.role, (int)FOLIOT_ROLE_SPECTATOR);
    assert_string_equal(identity.token.session, "arena");
    check_eq(identity.token.user_bytes, 3u);
    stage_close(s);
}

TEST(an_end_reaches_the_other_side)
{
    for (int i = 0; i < 4; i++) {
        bool from_host = i & 1, at_once = i & 2; // and at once, though the other was served last
        stage *s = stage_open_with_token();
        check_ne(s->at_host.value, 0u);
        // ENet sends reliable packets once it has connected: what ends at once needs that.
        assert_int_equal(foliot_transport_send(s->host, s->at_host, FOLIOT_DELIVERY_RELIABLE,
                                               (const uint8_t *)STAGE_PHRASE, sizeof STAGE_PHRASE),
                         FOLIOT_STATUS_OK);
        stage_await(s, s->client_got);
        check_eq(s->client_got, 1u);
        if (!from_host)
            foliot_transport_flush(s->host, clock_now_ns());
        foliot_transport_disconnect(from_host ? s->host : s->client,
                                    from_host ? s->at_host : s->at_client, 260, at_once);
        stage_await(s, from_host ? s->client_reason : s->host_reason);
        check_eq(from_host ? s->client_reason : s->host_reason, 260u);
        stage_close(s);
    }
}

TEST(an_end_before_enet_connects_reaches_the_host)
{
    stage *s = stage_new(FOLIOT_SECURITY_ANONYMOUS, FOLIOT_SECURITY_ANONYMOUS);
    stage_open(s);
    // The host has its peer as soon as the opening arrives, one way before ENet connects.
    for (int k = 0; k < 20000 && s->at_host.value == 0; k++) {
        foliot_transport_event e;
        uint64_t now = clock_now_ns();
        stage_pump(s);
        while (s->at_host.value == 0 && foliot_transport_poll(s->host, now, &e))
            if (e.kind == FOLIOT_TRANSPORT_CONNECTED)
                s->at_host = e.peer;
        if (s->at_host.value)
            break;
        foliot_transport_flush(s->host, now);
        while (foliot_transport_poll(s->client, now, &e)) {
        }
        foliot_transport_flush(s->client, now);
        usleep(100);
    }
    check_ne(s->at_host.value, 0u);
    foliot_transport_disconnect(s->client, s->at_client, 261, false);
    stage_await(s, s->host_reason);
    check_eq(s->host_reason, 261u);
    stage_close(s);
}

// -- who listens

static bool holds(const caught *c, const void *what, size_t bytes)
{
    return memmem(c->bytes, c->length, what, bytes) != NULL;
}

TEST(nothing_is_readable_on_the_way)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    foliot_transport_disconnect(s->client, s->at_client, 0, false);
    stage_run(s, 200);
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
    stage_close(s);
}

TEST(what_was_sent_before_is_dropped)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    unsigned host = s->host_got, client = s->client_got;
    size_t count = s->caught_count;
    for (size_t i = count; i-- > 0;) // the other way round too
        stage_send_on(s, s->caught[i].bytes, s->caught[i].length, s->caught[i].to_host);
    for (size_t i = 0; i < count; i++)
        stage_send_on(s, s->caught[i].bytes, s->caught[i].length, s->caught[i].to_host);
    stage_run(s, 100);
    check_eq(s->host_got, host);
    check_eq(s->client_got, client);
    check_gt(stage_counters(s)->datagrams_dropped_repeated, 8u);
    stage_expect_talk(s);
    stage_close(s);
}

TEST(no_changed_datagram_is_taken)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    unsigned host = s->host_got;
    size_t count = s->caught_count, tried = 0;
    uint64_t forged = stage_counters(s)->datagrams_dropped_forged;
    for (size_t i = 0; i < count; i++) {
        caught c = s->caught[i];
        if (c.bytes[0] < FOLIOT__SEALED_RAW || c.bytes[0] > FOLIOT__SEALED_CONTROL)
            continue;
        for (size_t at = 0; at < c.length && at < 80; at++, tried++) { // every field
            c.bytes[5] ^= 0x40; // and a number that has not come
            c.bytes[at] ^= (uint8_t)(1u << (at % 8));
            stage_send_on(s, c.bytes, c.length, c.to_host);
            c.bytes[at] ^= (uint8_t)(1u << (at % 8));
            c.bytes[5] ^= 0x40;
        }
        for (size_t length = 0; length < c.length; length += 3, tried++)
            stage_send_on(s, c.bytes, length, c.to_host);
        stage_run(s, 2);
    }
    stage_run(s, 100);
    check_gt(tried, 1000u);
    check_eq(s->host_got, host);
    check_gt(stage_counters(s)->datagrams_dropped_forged, forged + 100);
    stage_expect_talk(s);
    stage_close(s);
}

TEST(a_listener_who_knows_the_connect_id_cannot_end_it)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    uint32_t connection;
    uint8_t refusal[FOLIOT__REFUSAL_BYTES] = FOLIOT__REFUSAL_MARK;
    memcpy(&connection, s->caught[0].bytes + 8, 4);
    memcpy(refusal + 8, &connection, 4);
    refusal[12] = FOLIOT_DISCONNECT_FULL;
    uint8_t disconnect[64] = {0x80, 0, 0, 0};
    uint8_t shortened[12] = {0x67};
    memcpy(shortened + 1, &connection, 4);
    for (int i = 0; i < 20; i++) {
        stage_send_on(s, refusal, sizeof refusal, false);
        disconnect[1] = (uint8_t)(i % 8);
        stage_send_on(s, disconnect, sizeof disconnect, i % 2);
        stage_send_on(s, shortened, sizeof shortened, true);
    }
    stage_run(s, 400);
    check_gt(stage_counters(s)->datagrams_dropped_clear, 0u);
    stage_expect_talk(s);
    stage_close(s);
}

// -- who may come

TEST(a_wrong_password_is_refused)
{
    stage *s = stage_new(FOLIOT_SECURITY_PASSWORD, FOLIOT_SECURITY_PASSWORD);
    s->host_config.password = "a night in may";
    s->client_config.password = "a night in June";
    stage_open(s);
    stage_expect_refused(s, FOLIOT_DISCONNECT_PASSWORD);
}

TEST(securities_that_differ_are_refused)
{
    for (int host = 0; host <= FOLIOT_SECURITY_TOKEN; host++)
        for (int client = 0; client <= FOLIOT_SECURITY_TOKEN; client++) {
            foliot_token token = stage_some_token();
            stage *s = stage_with_token(&token);
            s->host_config.security = (foliot_security)host;
            s->client_config.security = (foliot_security)client;
            s->host_config.password = s->client_config.password = "x";
            if (host == client || (!host && client == FOLIOT_SECURITY_ANONYMOUS)) {
                free(s->caught);
                free(s);
                continue;
            }
            stage_open(s);
            stage_expect_refused(s, FOLIOT_DISCONNECT_SECURITY);
        }
}

TEST(no_flipped_bit_of_an_opening_opens)
{
    stage *s = stage_open_with_token();
    uint64_t connects = stage_counters(s)->connects;
    caught opening = {0};
    for (size_t i = 0; i < s->caught_count; i++)
        if (memcmp(s->caught[i].bytes, FOLIOT__SECURE_OPENING_MARK, 8) == 0)
            opening = s->caught[i];
    check_eq(opening.length, (size_t)FOLIOT__SECURE_OPENING_BYTES_MAX);
    for (size_t at = 0; at < opening.length; at++) {
        opening.bytes[at] ^= 1;
        stage_send_on(s, opening.bytes, opening.length, true);
        opening.bytes[at] ^= 1;
        stage_send_on(s, opening.bytes, at, true);
        if (at % 50 == 0)
            stage_run(s, 2);
    }
    stage_run(s, 50);
    check_eq(stage_counters(s)->connects, connects);
    stage_expect_talk(s);
    stage_close(s);
}

// -- the address changes

TEST(a_peer_goes_on_from_another_address)
{
    stage *s = stage_open_with_token();
    foliot__net_address back;
    stage_expect_talk(s);
    for (int i = 1; i <= 2; i++) {
        close(s->back);
        s->back = stage_open_socket(0, &back); // as a router does that forgot its table
        stage_talk(s, 1);
        stage_await(s, stage_counters(s)->migrations >= (uint64_t)i);
        check_eq(stage_counters(s)->migrations, (uint64_t)i);
        stage_expect_talk(s);
        stage_run(s, 600); // in which it may still be found where it was
    }
    stage_close(s);
}

// Reliable packets that ENet divided for a large path are under way when another path begins, which
// may be small. ENet looked for room for them without an end, and the host stood still.
TEST(what_is_under_way_goes_on_where_a_path_is_small)
{
    enum { PACKETS = 40, BYTES = 4000 };
    foliot_token token = stage_some_token();
    stage *s = stage_with_token(&token);
    foliot_transport_event e;
    uint8_t bytes[BYTES] = {1};
    unsigned got = 0;
    s->host_config.mtu = s->client_config.mtu = 0;
    stage_open(s);
    stage_await(s, s->at_host.value);
    enet_transport *host = (enet_transport *)s->host;
    slot *at_host = foliot__slot_of(host, s->at_host);
    stage_await(s, at_host->path.proven == FOLIOT__PATH_BYTES_MAX);
    check_eq(at_host->path.proven, FOLIOT__PATH_BYTES_MAX);
    alarm(60);
    for (int i = 0; i < PACKETS; i++) {
        check_eq(foliot_transport_send(s->host, s->at_host, FOLIOT_DELIVERY_RELIABLE, bytes, BYTES),
                 FOLIOT_STATUS_OK);
        if (i % 10 == 5) // the first ones have left by now, others have not
            foliot_transport_flush(s->host, clock_now_ns());
        if (i == 2 * PACKETS / 3)
            foliot__enet_open_path(host, at_host); // as a move to another address does
    }
    uint64_t begun_ns = clock_now_ns();
    while (got < PACKETS && clock_now_ns() - begun_ns < 20000000000u) {
        uint64_t now_ns = clock_now_ns();
        while (foliot_transport_poll(s->host, now_ns, &e)) {
        }
        while (foliot_transport_poll(s->client, now_ns, &e))
            got += e.kind == FOLIOT_TRANSPORT_RECEIVED && e.length == BYTES;
        foliot_transport_flush(s->host, now_ns);
        foliot_transport_flush(s->client, now_ns);
        stage_pump(s);
    }
    alarm(0);
    check_eq(got, (unsigned)PACKETS);
    stage_close(s);
}

TEST(an_address_that_does_not_answer_gets_nothing)
{
    stage *s = stage_open_with_token();
    foliot__net_address at;
    stage_expect_talk(s);
    // A listener sends the client's newest datagram from his own address, before the client's
    // comes.
    int other = stage_open_socket(0, &at), back = s->back;
    s->back = other;
    (void)!foliot_transport_send(s->client, s->at_client, FOLIOT_DELIVERY_UNRELIABLE,
                                 (const uint8_t *)STAGE_PHRASE, sizeof STAGE_PHRASE);
    foliot_transport_flush(s->client, clock_now_ns());
    stage_pump(s);
    s->back = back;
    unsigned got = s->client_got;
    stage_talk(s, 8);
    check_eq(s->client_got, got + 8);
    check_eq(stage_counters(s)->migrations, 0u);
    uint8_t bytes[2000];
    size_t all = 0;
    for (ssize_t n; (n = recv(other, bytes, sizeof bytes, 0)) >= 0;)
        all += (size_t)n;
    check_le(all, 100u); // a challenge, and no more than came from there
    close(other);
    stage_close(s);
}

// A listener who is faster than the network brings a copy of each datagram before it comes, and
// brings the client the challenges, which it answers.
TEST(who_is_faster_does_not_take_a_connection_over)
{
    stage *s = stage_open_with_token();
    foliot__net_address at;
    stage_expect_talk(s);
    unsigned got = s->client_got;
    s->foe = stage_open_socket(0, &at);
    for (int i = 0; i < 10; i++) {
        stage_talk(s, 10);
        stage_run(s, 300); // until the host asks again
    }
    check_ge(s->client_got, got + 60);
    check_gt(stage_counters(s)->migrations, 0u); // for a moment each time
    close(s->foe);
    s->foe = 0;
    stage_expect_talk(s);
    stage_close(s);
}

// Whoever has a connection could send it from the addresses of others.
TEST(an_address_gets_no_more_than_came_from_it)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    enet_transport *client = (enet_transport *)s->client;
    foliot__secure_peer *own = foliot__slot_of(client, s->at_client)->secure;
    foliot__net_address at;
    uint8_t sealed[1 + FOLIOT__SEAL_BYTES], bytes[2000];
    int other = stage_open_socket(0, &at), back = s->back;
    foliot__seal(&own->sealer, FOLIOT__SEALED_RAW, own->connection, (const uint8_t *)"x", 1,
                 clock_now_ns(), sealed);
    s->back = other;
    stage_send_on(s, sealed, sizeof sealed, true);
    s->back = back;
    stage_run(s, 50);
    check_eq(stage_counters(s)->datagrams_dropped_malformed, 1u);
    assert_true(recv(other, bytes, sizeof bytes, 0) < 0);
    stage_expect_talk(s);
    close(other);
    stage_close(s);
}

int main(void)
{
    int failed = check_run(NULL, NULL);
    if (loopback_use_six())
        failed += check_run(NULL, NULL);
    return failed;
}
