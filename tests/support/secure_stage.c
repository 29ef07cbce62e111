// SPDX-License-Identifier: MIT
// secure_stage.c: see secure_stage.h.
#include "secure_stage.h"

#include "check.h"
#include "clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "loopback.h"
#include "net/secure.h"

int stage_open_socket(uint16_t port, foliot__net_address *at)
{
    int fd = loopback_open(port, at);
    assert_true(fd >= 0);
    return fd;
}

static void catch (stage *s, const uint8_t *bytes, ssize_t length, bool to_host)
{
    if (s->caught_count == STAGE_CAUGHT_MAX || (size_t)length > sizeof s->caught->bytes)
        return;
    caught *c = &s->caught[s->caught_count++];
    c->to_host = to_host;
    c->length = (size_t)length;
    memcpy(c->bytes, bytes, c->length);
}

static void send_from(int socket, const foliot__net_address *to, const uint8_t *bytes,
                      size_t length)
{
    foliot__socket_address at;
    socklen_t at_bytes = foliot__net_address_to_socket(to, &at);
    (void)!sendto(socket, bytes, length, 0, &at.any, at_bytes);
}

void stage_send_on(stage *s, const uint8_t *bytes, size_t length, bool to_host)
{
    send_from(to_host ? s->back : s->front, to_host ? &s->host_at : &s->client_at, bytes, length);
}

void stage_pump(stage *s)
{
    uint8_t bytes[4096];
    ssize_t got;
    foliot__socket_address from;
    socklen_t from_bytes = sizeof from;
    while ((got = recvfrom(s->front, bytes, sizeof bytes, 0, &from.any, &from_bytes)) >= 0) {
        s->client_at = foliot__net_address_of_socket(&from);
        catch (s, bytes, got, true);
        if (s->foe)
            send_from(s->foe, &s->host_at, bytes, (size_t)got);
        stage_send_on(s, bytes, (size_t)got, true);
    }
    while (s->foe && (got = recv(s->foe, bytes, sizeof bytes, 0)) >= 0)
        if (got > 0 && bytes[0] == FOLIOT__SEALED_CONTROL)
            stage_send_on(s, bytes, (size_t)got, false);
    while ((got = recv(s->back, bytes, sizeof bytes, 0)) >= 0) {
        catch (s, bytes, got, false);
        stage_send_on(s, bytes, (size_t)got, false);
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
        assert_int_equal(e->length, sizeof STAGE_PHRASE);
        assert_memory_equal(e->bytes, STAGE_PHRASE, sizeof STAGE_PHRASE);
        *got += 1;
    }
}

void stage_run(stage *s, unsigned ms)
{
    foliot_transport_event e;
    for (uint64_t end = clock_now_ns() + ms * 1000000ull; clock_now_ns() < end;) {
        struct timespec t = {.tv_nsec = 500000};
        stage_pump(s);
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

stage *stage_new(foliot_security at_host, foliot_security at_client)
{
    stage *s = calloc(1, sizeof *s);
    assert_non_null(s);
    s->caught = calloc(STAGE_CAUGHT_MAX, sizeof *s->caught);
    assert_non_null(s->caught);
    s->host_config = s->client_config = foliot_transport_config_default();
    s->host_config.mtu = s->client_config.mtu = FOLIOT_MTU_MIN; // no probes among what is counted
    s->host_config.bind = loopback_text();
    s->host_config.peers_max = 8;
    s->host_config.batches = true;
    s->host_config.security = at_host;
    s->client_config.security = at_client;
    s->host_config.timeout_ms = s->client_config.timeout_ms = 3000;
    return s;
}

void stage_open_client(stage *s)
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

void stage_open(stage *s)
{
    foliot__net_address front, back;
    assert_int_equal(foliot_transport_create_enet(&s->host_config, clock_now_ns(), &s->host),
                     FOLIOT_STATUS_OK);
    s->front = stage_open_socket(0, &front);
    s->back = stage_open_socket(0, &back);
    s->port = front.port;
    s->host_at = back;
    s->host_at.port = foliot_transport_get_port(s->host);
    stage_open_client(s);
}

void stage_close(stage *s)
{
    foliot_transport_destroy(s->client);
    foliot_transport_destroy(s->host);
    close(s->front);
    close(s->back);
    free(s->caught);
    free(s);
}

void stage_talk(stage *s, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        foliot_delivery delivery = i % 2 ? FOLIOT_DELIVERY_RELIABLE : FOLIOT_DELIVERY_UNRELIABLE;
        (void)!foliot_transport_send(s->host, s->at_host, delivery, (const uint8_t *)STAGE_PHRASE,
                                     sizeof STAGE_PHRASE);
        (void)!foliot_transport_send(s->client, s->at_client, delivery,
                                     (const uint8_t *)STAGE_PHRASE, sizeof STAGE_PHRASE);
        stage_run(s, 4);
    }
    stage_run(s, 60);
}

const foliot_transport_counters *stage_counters(const stage *s)
{
    return foliot_transport_get_counters(s->host);
}

void stage_expect_talk(stage *s)
{
    unsigned host = s->host_got, client = s->client_got;
    stage_await(s, s->at_host.value && s->at_client.value);
    check_ne(s->at_host.value, 0u);
    check_ne(s->at_client.value, 0u);
    stage_talk(s, 8);
    stage_await(s, s->host_got >= host + 8 && s->client_got >= client + 8);
    check_eq(s->host_got, host + 8);
    check_eq(s->client_got, client + 8);
}

// -- keys of the test

uint8_t stage_key[FOLIOT_KEY_BYTES];
char stage_token[FOLIOT_TOKEN_TEXT_BYTES];

foliot_token stage_some_token(void)
{
    foliot_token token = foliot_token_default((uint64_t)time(NULL));
    token.client = 77;
    token.role = FOLIOT_ROLE_SPECTATOR;
    snprintf(token.session, sizeof token.session, "arena");
    token.user_bytes = 3;
    memcpy(token.user, "abc", 3);
    return token;
}

stage *stage_with_token(const foliot_token *token)
{
    stage *s = stage_new(FOLIOT_SECURITY_TOKEN, FOLIOT_SECURITY_TOKEN);
    foliot_key_draw(stage_key);
    assert_int_equal(foliot_token_print(token, stage_key, stage_token), FOLIOT_STATUS_OK);
    s->host_config.key = stage_key;
    s->client_config.token = stage_token;
    return s;
}

stage *stage_open_with_token(void)
{
    foliot_token token = stage_some_token();
    stage *s = stage_with_token(&token);
    stage_open(s);
    stage_await(s, s->at_host.value && s->at_client.value);
    return s;
}

void stage_expect_refused(stage *s, uint32_t reason)
{
    stage_await(s, s->client_reason);
    check_eq(s->client_reason, reason);
    check_eq(s->at_client.value, 0u);
    check_gt(stage_counters(s)->connects_unproven + (reason == FOLIOT_DISCONNECT_SECURITY), 0u);
    stage_close(s);
}
