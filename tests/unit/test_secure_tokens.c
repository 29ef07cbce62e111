// SPDX-License-Identifier: MIT
// Goal: a token (docs/reference/protocol.md, section 1) is good for one client, in time, at its
// server; a client holds no more than its share, by whatever way it comes; what was used outlasts a
// restart. Method: tests/support/secure_stage.h, and openings made by hand, without a network.
// Tier: test
#include "check.h"
#include "clock.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "foliot/transport.h"
#include "loopback.h"
#include "net/secure_internal.h"
#include "secure_stage.h"

// -- who may come

TEST(tokens_out_of_their_time_are_refused)
{
    foliot_token old = stage_some_token(), early = stage_some_token();
    old.created_s -= 100;
    old.expires_s = old.created_s + 50;
    stage *s = stage_with_token(&old);
    stage_open(s);
    stage_expect_refused(s, FOLIOT_DISCONNECT_TOKEN_EXPIRED);
    early.created_s += 100;
    early.expires_s += 100;
    s = stage_with_token(&early);
    stage_open(s);
    stage_expect_refused(s, FOLIOT_DISCONNECT_TOKEN_EXPIRED);
}

TEST(tokens_for_other_servers_or_of_other_keys_are_refused)
{
    uint8_t other[FOLIOT_KEY_BYTES];
    foliot_token token = stage_some_token();
    foliot_token_address own = {.ip = {[10] = 0xff, [11] = 0xff, 127, 0, 0, 1}, .port = 9};
    token.address_count = 1;
    token.addresses[0] = own;
    token.addresses[0].port = 10;
    stage *s = stage_with_token(&token);
    s->host_config.own_addresses = &own;
    s->host_config.own_address_count = 1;
    stage_open(s);
    stage_expect_refused(s, FOLIOT_DISCONNECT_TOKEN);
    token.addresses[0].port = 9;
    s = stage_with_token(&token);
    s->host_config.own_addresses = &own;
    s->host_config.own_address_count = 1;
    stage_open(s);
    stage_run(s, 150);
    stage_expect_talk(s);
    stage_close(s);
    s = stage_with_token(&token);
    foliot_key_draw(other);
    s->host_config.key = other;
    stage_open(s);
    stage_expect_refused(s, FOLIOT_DISCONNECT_TOKEN);
}

TEST(a_token_is_good_for_one_client)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    foliot_peer_id first = s->at_host;
    foliot_transport *honest = s->client;
    s->client = NULL;
    stage_open_client(s); // a thief with the same token
    stage_await(s, s->client_reason);
    check_eq(s->client_reason, (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    foliot_transport_destroy(s->client);
    s->client = honest;
    s->at_host = first;
    check_eq(foliot_transport_send(s->host, first, FOLIOT_DELIVERY_UNRELIABLE,
                                   (const uint8_t *)STAGE_PHRASE, sizeof STAGE_PHRASE),
             FOLIOT_STATUS_OK);
    stage_close(s);
}

TEST(its_client_comes_back_with_it)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    for (int i = 0; i < 3; i++) {
        foliot_transport_disconnect(s->client, s->at_client, 0, true);
        stage_await(s, !s->at_host.value);
        assert_int_equal(foliot_transport_connect(s->client, loopback_text(), s->port,
                                                  clock_now_ns(), &s->at_client),
                         FOLIOT_STATUS_OK);
        stage_expect_talk(s);
    }
    stage_close(s);
}

// A client that leaves without a word and comes back has one connection, however often. Datagrams
// that an attacker repeats end nothing.
TEST(who_comes_back_leaves_the_older_connection)
{
    foliot_token token = stage_some_token();
    stage *s = stage_with_token(&token);
    foliot_peer_identity who;
    s->host_config.joins_per_second = 1000;
    s->host_config.peers_per_address_max = s->host_config.peers_max = 64;
    s->host_config.timeout_ms = s->client_config.timeout_ms = 60000;
    s->client_config.peers_max = 16;
    stage_open(s);
    stage_run(s, 150);
    stage_expect_talk(s);
    for (int i = 0; i < 12; i++) {
        foliot_peer_id older = s->at_host;
        assert_int_equal(foliot_transport_connect(s->client, loopback_text(), s->port,
                                                  clock_now_ns(), &s->at_client),
                         FOLIOT_STATUS_OK);
        for (int ms = 0; ms < 5000 && s->at_host.value == older.value; ms += 5)
            stage_run(s, 5);
        check_ne(s->at_host.value, older.value);
        for (int ms = 0; ms < 5000 && foliot_transport_get_peer_identity(s->host, older, &who);
             ms += 5)
            stage_run(s, 5);
        assert_false(foliot_transport_get_peer_identity(s->host, older, &who));
    }
    check_eq(stage_counters(s)->connects_over_client, 0u);
    stage_expect_talk(s);
    foliot_peer_id newest = s->at_host;
    for (size_t i = 0, count = s->caught_count; i < count; i++)
        if (s->caught[i].to_host)
            stage_send_on(s, s->caught[i].bytes, s->caught[i].length, true);
    stage_run(s, 100);
    check_eq(s->at_host.value, newest.value);
    stage_expect_talk(s);
    stage_close(s);
}

// -- without a network: openings by hand

static foliot__secure *open_end(bool listens, foliot_security security)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot__secure *secure;
    config.bind = listens ? "127.0.0.1" : NULL;
    config.security = security;
    config.key = stage_key;
    config.token = stage_token;
    config.password = "a night in may";
    config.peers_max = 4;
    assert_int_equal(foliot__secure_open(&config, 7777, &secure), FOLIOT_STATUS_OK);
    return secure;
}

// Result of an opening of a client, by which it comes back if it has the secret.
static uint32_t open_by_hand(foliot__secure *host, foliot__secure *client, uint32_t connection)
{
    static const foliot__net_address from = {.port = 9};
    uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES];
    foliot__secure_peer *own = foliot__secure_add(client, connection, from, 1),
                        *theirs = foliot__secure_add(host, connection, from, 1);
    foliot__secure_answer(host, connection, 3, 1, answer);
    assert_int_equal(foliot__secure_receive_answer(client, own, answer, 1), 0);
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
    foliot__secure_peer *theirs = foliot__secure_add(host, connection, from, 1);
    *own = foliot__secure_add(client, connection, from, 1);
    foliot__secure_answer(host, connection, 3, 1, answer);
    check_eq(foliot__secure_receive_answer(client, *own, answer, 1), 0u);
    check_eq(foliot__secure_accept(host, theirs, (*own)->opening, (*own)->opening_bytes, 1,
                                   (uint64_t)time(NULL)),
             0u);
    theirs->owner = host; // any
    return theirs;
}

// Only a peer that has proved that it has the connection's secret ends it. Between two that have
// only the token, the first to prove that it has keys stays.
TEST(a_connection_ends_for_its_own_client_alone)
{
    foliot_token token = stage_some_token();
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
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

// Attackers at many addresses, who have no token, do not fill what a host remembers: who has one
// is let in, and what was accepted is not accepted again.
TEST(who_has_no_token_keeps_nobody_out)
{
    enum { ATTACKS = 70000 };
    foliot_token token = stage_some_token();
    static const foliot__net_address from = {.port = 9};
    uint8_t answer[FOLIOT__SECURE_ANSWER_BYTES], opening[FOLIOT__SECURE_OPENING_BYTES_MAX];
    uint32_t reason = 1;
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *honest = open_end(false, FOLIOT_SECURITY_TOKEN);
    foliot__secure_peer *own, *theirs = accept_by_hand(host, honest, 5, &own);
    foliot__secure_peer *foe = foliot__secure_add(host, 6, from, 1);
    memcpy(opening, own->opening, own->opening_bytes);
    opening[own->opening_bytes - 20]++; // the sealed token is none any more
    for (uint32_t i = 0; i < ATTACKS; i++) {
        memcpy(opening + 8, &i, 4);
        check_eq(foliot__secure_accept(host, foe, opening, own->opening_bytes, 1, 1) != 0, true);
    }
    assert_true(foliot__secure_opening_known(host, own->opening, own->opening_bytes, 1, &reason));
    check_eq(reason, 0u);
    assert_true(foliot__secure_opening_known(host, opening, own->opening_bytes, 1, &reason));
    check_eq(reason, (uint32_t)FOLIOT_DISCONNECT_TOKEN);
    foliot__secure_confirm(host, theirs);
    foliot__secure_confirm(honest, own);
    foliot__secure_answer(host, 7, 3, 1, answer);
    foliot__secure_peer *back, *at_host = accept_by_hand(host, honest, 7, &back);
    foliot__secure_confirm(host, at_host);
    foliot__secure_close(host);
    foliot__secure_close(honest);
}

// The table of used tokens is long. A client without a token does not make a host look at it.
TEST(garbage_costs_no_look_at_used_tokens)
{
    foliot_token token = stage_some_token();
    static const foliot__net_address from = {.port = 9};
    uint8_t opening[FOLIOT__SECURE_OPENING_BYTES_MAX];
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *honest = open_end(false, FOLIOT_SECURITY_TOKEN);
    foliot__secure_peer *own, *theirs = accept_by_hand(host, honest, 5, &own);
    assert_non_null(theirs);
    foliot__secure_peer *foe = foliot__secure_add(host, 6, from, 1);
    memcpy(opening, own->opening, own->opening_bytes);
    opening[own->opening_bytes - 20]++; // the sealed token is none any more
    foliot_used_tokens *used = host->used;
    assert_int_equal(mprotect(used->block, used->bytes, PROT_NONE), 0);
    check_eq(foliot__secure_accept(host, foe, opening, own->opening_bytes, 1, 1),
             (uint32_t)FOLIOT_DISCONNECT_TOKEN);
    assert_int_equal(mprotect(used->block, used->bytes, PROT_READ | PROT_WRITE), 0);
    foliot__secure_close(host);
    foliot__secure_close(honest);
}

// A token that never expires is used up by its client all the same, and its place is taken.
TEST(a_token_for_ever_is_good_for_one_client)
{
    foliot_token forever = stage_some_token(), next = stage_some_token();
    forever.expires_s = UINT64_MAX;
    foliot_transport_config config = foliot_transport_config_default();
    foliot__secure *host, *client, *other;
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_used_tokens_open(NULL, 1, &config.used_tokens), FOLIOT_STATUS_OK);
    config.bind = "127.0.0.1";
    config.security = FOLIOT_SECURITY_TOKEN;
    config.key = stage_key;
    config.peers_max = 4;
    assert_int_equal(foliot__secure_open(&config, 7777, &host), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_token_print(&forever, stage_key, stage_token), FOLIOT_STATUS_OK);
    client = open_end(false, FOLIOT_SECURITY_TOKEN);
    check_eq(open_by_hand(host, client, 5), 0u);
    assert_int_equal(foliot_token_print(&next, stage_key, stage_token), FOLIOT_STATUS_OK);
    other = open_end(false, FOLIOT_SECURITY_TOKEN);
    check_eq(open_by_hand(host, other, 6), (uint32_t)FOLIOT_DISCONNECT_FULL);
    check_eq(open_by_hand(host, client, 7), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    foliot__secure_close(host);
    foliot__secure_close(client);
    foliot__secure_close(other);
    foliot_used_tokens_close(config.used_tokens);
}

// A password can be guessed: the guesses a minute are bounded, wherever they come from.
TEST(passwords_are_not_guessed_without_end)
{
    enum { GUESSES = 40000 };
    static const foliot__net_address from = {.port = 9};
    uint8_t opening[FOLIOT__SECURE_OPENING_BYTES_MAX];
    uint32_t judged = 0;
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_PASSWORD),
                   *client = open_end(false, FOLIOT_SECURITY_PASSWORD);
    foliot__secure_peer *own, *theirs = accept_by_hand(host, client, 5, &own);
    assert_non_null(theirs);
    foliot__secure_peer *foe = foliot__secure_add(host, 6, from, 1);
    memcpy(opening, own->opening, own->opening_bytes);
    memset(opening + 22, 255, 32); // no point of the curve: judged at once
    for (uint32_t i = 0; i < GUESSES; i++) {
        memcpy(opening + 8, &i, 4);
        uint32_t reason = foliot__secure_accept(host, foe, opening, own->opening_bytes, 1, 1);
        judged += reason == FOLIOT_DISCONNECT_PASSWORD;
        check_eq(reason == FOLIOT_DISCONNECT_PASSWORD || reason == FOLIOT_DISCONNECT_FULL, true);
    }
    check_eq(judged <= 32768, true);
    check_eq(judged > 8000, true);
    foliot__secure_close(host);
    foliot__secure_close(client);
}

// The secret of the connection before the first is nobody's.
TEST(a_thief_cannot_come_back_by_a_secret_that_was_never_given)
{
    foliot_token token = stage_some_token();
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *client = open_end(false, FOLIOT_SECURITY_TOKEN),
                   *thief = open_end(false, FOLIOT_SECURITY_TOKEN);
    check_eq(open_by_hand(host, client, 5), 0u);
    foliot__secure_peer *zeros = foliot__secure_add(thief, 1, (foliot__net_address){0}, 1);
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

TEST(a_token_that_is_shown_is_used_up_for_everybody)
{
    foliot_peer_identity who;
    foliot_token token = stage_some_token();
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *client = open_end(false, FOLIOT_SECURITY_TOKEN);
    char changed[FOLIOT_TOKEN_TEXT_BYTES];
    // The keys lie behind expiry, addresses and session: a change in them leaves the sealed part.
    for (size_t at = sizeof FOLIOT__TOKEN_MARK - 1; stage_token[at]; at += 13) {
        assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
        memcpy(changed, stage_token, sizeof changed);
        changed[at] = changed[at] == 'A' ? 'B' : 'A';
        uint32_t reason = show(host, changed, 1, 0, &who);
        foliot__secure_end_shown(host, &who);
        bool read_by_client_alone =
            at < sizeof FOLIOT__TOKEN_MARK - 1 + (8 + 145 + FOLIOT_NAME_BYTES) * 4 / 3;
        if (!read_by_client_alone && reason != FOLIOT_DISCONNECT_TOKEN)
            fail_msg("a change at %zu: %u", at, reason);
    }
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    check_eq(show(host, stage_token, 0, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN);
    check_eq(show(host, "foliot-token-1.", 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN);
    check_eq(show(host, stage_token, 1, 61, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN_EXPIRED);
    check_eq(show(host, stage_token, 1, 0, &who), 0u);
    check_eq(who.security, FOLIOT_SECURITY_TOKEN);
    check_eq(who.token.client, 77u);
    check_eq(show(host, stage_token, 2, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    check_eq(show(host, stage_token, 1, 61, &who), 0u); // comes back
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 5), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    // And one that came by an opening is not to be shown.
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 6), 0u);
    check_eq(show(host, stage_token, 2, 0, &who), (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    check_eq(foliot__secure_show_password(host, "a night in may", &who),
             (uint32_t)FOLIOT_DISCONNECT_SECURITY);
    foliot__secure_close(host);
    foliot__secure_close(client);
}

// By whatever way its connections come.
TEST(what_is_shown_counts_for_its_client)
{
    foliot_peer_identity who, held[8];
    foliot_token token = stage_some_token();
    foliot_key_draw(stage_key);
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_TOKEN),
                   *client = open_end(false, FOLIOT_SECURITY_TOKEN);
    for (int i = 0; i < 8; i++) {
        assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
        check_eq(show(host, stage_token, 1, 0, &held[i]), 0u);
        check_ne(held[i].shown, 0u);
    }
    check_eq(show(host, stage_token, 1, 0, &who), 0u); // the same once more
    foliot__secure_end_shown(host, &held[7]);          // which that one is no more
    held[7] = who;
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 5), FOLIOT__OVER_CLIENT);
    check_eq(show(host, stage_token, 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_FULL);
    check_eq(foliot__secure_poll_over_client(host), 1u);
    foliot__secure_end_shown(host, &held[0]);
    foliot__secure_end_shown(host, &held[0]); // once is enough
    client = (foliot__secure_close(client), open_end(false, FOLIOT_SECURITY_TOKEN));
    check_eq(open_by_hand(host, client, 6), 0u); // the token was not used up
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    check_eq(show(host, stage_token, 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_FULL);
    token.client++;
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    check_eq(show(host, stage_token, 1, 0, &who), 0u);
    foliot__secure_close(host);
    foliot__secure_close(client);
}

TEST(a_password_may_be_shown)
{
    foliot_peer_identity who;
    foliot__secure *host = open_end(true, FOLIOT_SECURITY_PASSWORD);
    check_eq(foliot__secure_show_password(host, "a night in may", &who), 0u);
    check_eq(who.security, FOLIOT_SECURITY_PASSWORD);
    static const char *const wrong[] = {"", "a night in ma", "a night in may ", "A night in may"};
    for (size_t i = 0; i < 4; i++)
        check_eq(foliot__secure_show_password(host, wrong[i], &who),
                 (uint32_t)FOLIOT_DISCONNECT_PASSWORD);
    check_eq(show(host, stage_token, 1, 0, &who), (uint32_t)FOLIOT_DISCONNECT_SECURITY);
    foliot__secure_close(host);
}

// Restarts the host at the same port, as after a crash; its memory is lost.
static void restart_host(stage *s)
{
    foliot_transport_destroy(s->host);
    s->host_config.port = s->host_at.port;
    assert_int_equal(foliot_transport_create_enet(&s->host_config, clock_now_ns(), &s->host),
                     FOLIOT_STATUS_OK);
}

TEST(used_tokens_outlast_the_server)
{
    char file[] = "/tmp/foliot-used-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    foliot_token token = stage_some_token();
    stage *s = stage_with_token(&token);
    assert_int_equal(foliot_used_tokens_open(file, 64, &s->host_config.used_tokens),
                     FOLIOT_STATUS_OK);
    stage_open(s);
    stage_run(s, 150);
    stage_expect_talk(s);
    foliot_used_tokens *before = s->host_config.used_tokens;
    assert_int_equal(foliot_used_tokens_open(file, 64, &s->host_config.used_tokens),
                     FOLIOT_STATUS_AGAIN); // one server at a time
    foliot_transport_disconnect(s->client, s->at_client, 0, true);
    stage_await(s, !s->at_host.value);
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
    stage_run(s, 300);
    stage_expect_talk(s);
    foliot_transport *honest = s->client;
    s->client = NULL;
    stage_open_client(s);
    stage_await(s, s->client_reason);
    check_eq(s->client_reason, (uint32_t)FOLIOT_DISCONNECT_TOKEN_USED);
    foliot_transport_destroy(honest);
    foliot_used_tokens *used = s->host_config.used_tokens;
    stage_close(s);
    foliot_used_tokens_close(used);
    unlink(file);
}

TEST(without_a_file_a_restarted_server_has_forgotten)
{
    stage *s = stage_open_with_token();
    stage_expect_talk(s);
    foliot_transport *honest = s->client;
    restart_host(s);
    s->client = NULL;
    stage_open_client(s);
    stage_run(s, 500);
    check_eq(s->client_reason, 0u); // which is why there is a file
    foliot_transport_destroy(honest);
    stage_close(s);
}

TEST(a_file_of_something_else_is_left_alone)
{
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
    assert_int_equal(foliot_used_tokens_open("/dev/zero", 64, &used), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(foliot_used_tokens_open(NULL, 0, &used), FOLIOT_STATUS_INVALID);
}

// New tokens fill no client's allowance again; other clients lose nothing.
TEST(a_client_holds_no_more_than_its_share)
{
    foliot_token token = stage_some_token();
    stage *s = stage_with_token(&token);
    s->host_config.joins_per_second = 1000;
    s->host_config.peers_per_address_max = s->host_config.peers_max = 64;
    s->host_config.timeout_ms = s->client_config.timeout_ms = 60000;
    stage_open(s);
    unsigned let_in = 0, refused = 0;
    for (unsigned i = 0; i < 12; i++) {
        assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
        stage_open_client(s); // the one before stays, for the host
        while (!s->at_host.value && !s->client_reason)
            stage_run(s, 5);
        let_in += s->at_host.value != 0;
        refused += s->client_reason == FOLIOT_DISCONNECT_FULL;
    }
    check_eq(let_in, 8u);
    check_eq(refused, 4u);
    check_eq(stage_counters(s)->connects_over_client, 4u);
    token.client++;
    assert_int_equal(foliot_token_print(&token, stage_key, stage_token), FOLIOT_STATUS_OK);
    stage_open_client(s);
    stage_run(s, 150);
    stage_expect_talk(s);
    stage_close(s);
}

int main(void)
{
    int failed = check_run(NULL, NULL);
    if (loopback_use_six())
        failed += check_run(NULL, NULL);
    return failed;
}
