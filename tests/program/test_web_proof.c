// SPDX-License-Identifier: MIT
// test_web_proof.c: what browsers show before they are let in. Goal: a token lets in one browser, a
// password is not to be guessed, and who is refused learns why. Method: sockets of the test's own
// and the service of foliot-server; time is real and short. Tier: test
#include "web_site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "status.h"

static uint8_t key[FOLIOT_KEY_BYTES];

static foliot_transport *make_gate(foliot_security security)
{
    foliot_transport *gate;
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.security = security;
    config.key = key;
    config.password = "a night in may";
    demand(foliot_transport_create_enet(&config, clock_now_ns(), &gate));
    return gate;
}

static void draw_token(char text[FOLIOT_TOKEN_TEXT_BYTES], uint64_t client)
{
    foliot_token token = foliot_token_default((uint64_t)time(NULL));
    token.client = client;
    demand(foliot_token_print(&token, key, text));
}

// A browser that shows a token, with a secret to come back by.
static int show_token(const site *s, const char *text, uint8_t secret)
{
    uint8_t message[2048] = {2, FOLIOT__WEB_SIGNAL_TOKEN, secret};
    size_t head = 2 + FOLIOT_RETURN_SECRET_BYTES, length = strlen(text);
    assert_true(head + length <= sizeof message);
    memcpy(message + head, text, length);
    int fd = web_open(s->port);
    web_send(fd, 0x82, message, head + length);
    return fd;
}

static int show_password(const site *s, const char *password)
{
    char message[600];
    int length = snprintf(message, sizeof message, "\2%c%s", FOLIOT__WEB_SIGNAL_PASSWORD, password);
    int fd = web_open(s->port);
    web_send(fd, 0x82, message, (size_t)length);
    return fd;
}

static void expect_refusal(int fd, uint32_t reason)
{
    assert_int_equal(close_code(fd), 4000 + reason);
    close(fd);
}

TEST(a_token_lets_in_one_browser)
{
    char text[FOLIOT_TOKEN_TEXT_BYTES], other[FOLIOT_TOKEN_TEXT_BYTES];
    foliot_peer_identity who;
    foliot_key_draw(key);
    site s = open_guarded_site(4, make_gate(FOLIOT_SECURITY_TOKEN));
    draw_token(text, 77);
    int silent = web_open(s.port), fd = web_open(s.port);
    web_send(fd, 0x82, "\1hello", 6);
    expect_refusal(fd, FOLIOT_DISCONNECT_SECURITY);
    expect_refusal(show_password(&s, "a night in may"), FOLIOT_DISCONNECT_SECURITY);
    expect_refusal(show_token(&s, "", 1), FOLIOT_DISCONNECT_TOKEN);
    expect_refusal(show_token(&s, "foliot-token-1.AAAA", 1), FOLIOT_DISCONNECT_TOKEN);
    fd = show_token(&s, text, 1);
    foliot_peer_id peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    assert_true(foliot_transport_get_peer_identity(s.transport, peer, &who));
    assert_int_equal(who.security, FOLIOT_SECURITY_TOKEN);
    assert_int_equal(who.token.client, 77);
    web_send(fd, 0x82, "\1hello", 6);
    expect_event(&s, FOLIOT_TRANSPORT_RECEIVED);
    expect_refusal(show_token(&s, text, 2), FOLIOT_DISCONNECT_TOKEN_USED);
    int back = show_token(&s, text, 1); // the same page: it has its place, and the old one none
    expect_refusal(fd, FOLIOT_DISCONNECT_TOKEN_USED);
    foliot_transport_event event;
    for (bool came = false, went = false; !came || !went;) {
        assert_true(next_event(&s, &event));
        came = came || event.kind == FOLIOT_TRANSPORT_CONNECTED;
        went = went || event.kind == FOLIOT_TRANSPORT_DISCONNECTED;
    }
    draw_token(other, 78);
    fd = show_token(&s, other, 3);
    peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    assert_true(foliot_transport_get_peer_identity(s.transport, peer, &who));
    assert_int_equal(who.token.client, 78);
    assert_true(close_code(silent) >= 0 || close_code(silent) >= 0); // within five seconds
    close(silent);
    assert_false(foliot_transport_poll(s.transport, clock_now_ns(), &event));
    web_send(fd, 0x82, "\1still", 6);
    expect_event(&s, FOLIOT_TRANSPORT_RECEIVED);
    close(fd);
    close(back);
    close_site(&s);
}

// A client with many links, or also by UDP, holds no more of them at once than by UDP alone.
TEST(a_client_holds_no_more_than_its_share)
{
    char texts[8][FOLIOT_TOKEN_TEXT_BYTES], other[FOLIOT_TOKEN_TEXT_BYTES];
    int fds[8];
    web_frame frame;
    foliot_key_draw(key);
    site s = open_guarded_site(16, make_gate(FOLIOT_SECURITY_TOKEN));
    for (int i = 0; i < 8; i++) {
        draw_token(texts[i], 77);
        fds[i] = show_token(&s, texts[i], 1);
        expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    }
    draw_token(other, 77);
    int fd = show_token(&s, other, 1);
    assert_true(web_receive(fd, 3000, &frame));
    assert_int_equal(frame.code, 4000 + FOLIOT_DISCONNECT_FULL);
    assert_string_equal(frame.reason, FOLIOT__WEB_FULL_SENTENCE);
    close(fd);
    assert_int_equal(foliot_transport_get_counters(s.gate)->connects_over_client, 1);
    fd = show_token(&s, texts[7], 1); // a page that is loaded again is the same one
    expect_refusal(fds[7], FOLIOT_DISCONNECT_TOKEN_USED);
    fds[7] = fd;
    foliot_transport_event event;
    for (bool came = false, went = false; !came || !went;) {
        assert_true(next_event(&s, &event));
        came = came || event.kind == FOLIOT_TRANSPORT_CONNECTED;
        went = went || event.kind == FOLIOT_TRANSPORT_DISCONNECTED;
    }
    close(fds[0]);
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    fds[0] = show_token(&s, other, 1);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    draw_token(other, 77);
    expect_refusal(show_token(&s, other, 1), FOLIOT_DISCONNECT_FULL);
    draw_token(other, 78);
    fd = show_token(&s, other, 1);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    close(fd);
    for (int i = 0; i < 8; i++)
        close(fds[i]);
    close_site(&s);
}

TEST(a_password_lets_in_and_is_not_to_be_guessed)
{
    foliot_peer_identity who;
    char long_one[FOLIOT_PASSWORD_BYTES_MAX + 20] = "";
    memset(long_one, 'a', sizeof long_one - 1);
    site s = open_guarded_site(4, make_gate(FOLIOT_SECURITY_PASSWORD));
    int fd = web_open(s.port);
    web_send(fd, 0x82, "\1hello", 6);
    expect_refusal(fd, FOLIOT_DISCONNECT_PASSWORD);
    expect_refusal(show_password(&s, "a night in june"), FOLIOT_DISCONNECT_PASSWORD);
    expect_refusal(show_password(&s, long_one), FOLIOT_DISCONNECT_PASSWORD);
    expect_refusal(show_token(&s, "foliot-token-1.AAAA", 1), FOLIOT_DISCONNECT_PASSWORD);
    fd = show_password(&s, "a night in may");
    foliot_peer_id peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    assert_true(foliot_transport_get_peer_identity(s.transport, peer, &who));
    assert_int_equal(who.security, FOLIOT_SECURITY_PASSWORD);
    close(fd);
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    web_frame frame = {0};
    unsigned tries = 0;
    for (bool slowed = false; !slowed && tries < 500; tries++) {
        fd = show_password(&s, "guess");
        while (web_receive(fd, 3000, &frame) && frame.opcode != 8)
            ;
        assert_int_equal(frame.code, 4000 + FOLIOT_DISCONNECT_PASSWORD);
        slowed = strstr(frame.reason, "wait") != NULL;
        close(fd);
    }
    assert_in_range(tries, 10, 400);
    // Then the right one is refused as well.
    expect_refusal(show_password(&s, "a night in may"), FOLIOT_DISCONNECT_PASSWORD);
    close_site(&s);
}

// Data that a browser had sent before it was refused is read: a reset would lose the reason.
TEST(a_refusal_waits_for_its_answer)
{
    web_frame frame = {0};
    foliot_key_draw(key);
    site s = open_guarded_site(4, make_gate(FOLIOT_SECURITY_TOKEN));
    for (int i = 0; i < 20; i++) {
        int fd = web_open(s.port);
        web_send(fd, 0x82, "\1hello", 6);
        assert_true(web_receive(fd, 3000, &frame));
        assert_int_equal(frame.code, 4000 + FOLIOT_DISCONNECT_SECURITY);
        int error = 0;
        socklen_t size = sizeof error;
        usleep(10000);
        web_send(fd, 0x82, "\1still", 6);
        usleep(10000);
        assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size), 0);
        assert_int_equal(error, 0); // not reset
        web_send(fd, 0x88, frame.bytes, 2);
        char byte;
        assert_int_equal(recv(fd, &byte, 1, 0), 0); // the end, in order
        close(fd);
    }
    close_site(&s);
}

// A client that never answers, or never stops sending, holds its socket for some seconds and no
// longer.
TEST(a_refused_browser_does_not_stay)
{
    web_frame frame = {0};
    int fd[2];
    bool ended[2] = {false, false};
    foliot_key_draw(key);
    site s = open_guarded_site(4, make_gate(FOLIOT_SECURITY_TOKEN));
    for (int i = 0; i < 2; i++) {
        fd[i] = web_open(s.port);
        web_send(fd[i], 0x82, "\1hello", 6);
        assert_true(web_receive(fd[i], 3000, &frame));
        assert_int_equal(frame.code, 4000 + FOLIOT_DISCONNECT_SECURITY);
    }
    for (uint64_t end = clock_now_ns() + 20 * SECOND;
         !(ended[0] && ended[1]) && clock_now_ns() < end; usleep(20000)) {
        char byte;
        web_send(fd[1], 0x82, "\1still", 6);
        for (int i = 0; i < 2; i++) {
            ssize_t got = recv(fd[i], &byte, 1, MSG_DONTWAIT);
            ended[i] = ended[i] || got == 0 || (got < 0 && errno != EAGAIN);
        }
    }
    assert_true(ended[0]);
    assert_true(ended[1]);
    close(fd[0]);
    close(fd[1]);
    close_site(&s);
}
