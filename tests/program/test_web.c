// SPDX-License-Identifier: MIT
// test_web.c: browsers' peers over real sockets on the loopback: the client library joins through a
// WebSocket of the test's own, and sockets are misused in every way that the test knows. The
// service and the transport are those of foliot-server; time is real and short. Tier: test
#include "web_site.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"
#include "http/http.h"
#include "status.h"

static void send_flush(site *s, foliot_peer_id peer, foliot_delivery delivery, const char *text)
{
    allow_failure(
        foliot_transport_send(s->transport, peer, delivery, (const uint8_t *)text, strlen(text)));
    foliot_transport_flush(s->transport, clock_now_ns());
    foliot__web_flush(s->web);
}

TEST(messages_pass_both_ways)
{
    site s = open_site(4);
    int fd = web_open(s.port);
    foliot_peer_id peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    char address[64];
    foliot_transport_get_peer_address(s.transport, peer, address, sizeof address);
    assert_string_equal(address, "127.0.0.1");
    web_send(fd, 0x82, "\1hello", 6);
    web_send(fd, 0x02, "\0in", 3); // in two fragments
    web_send(fd, 0x80, "puts", 4);
    web_send(fd, 0x82, "\2\3v=0\n", 6); // a signal: an offer, and no good one
    foliot_transport_event event;
    assert_true(next_event(&s, &event));
    assert_int_equal(event.delivery, FOLIOT_DELIVERY_RELIABLE);
    assert_int_equal(event.length, 5);
    assert_memory_equal(event.bytes, "hello", 5);
    assert_true(next_event(&s, &event));
    assert_int_equal(event.delivery, FOLIOT_DELIVERY_UNRELIABLE);
    assert_memory_equal(event.bytes, "inputs", 6);
    assert_true(foliot_transport_get_round_trip_ns(s.transport, peer) > 0);
    send_flush(&s, peer, FOLIOT_DELIVERY_RELIABLE, "welcome");
    web_frame frame;
    assert_true(web_receive(fd, 2000, &frame));
    assert_true(frame.length > 2);
    assert_memory_equal(frame.bytes, "\2\5", 2); // refused, and the connection goes on
    assert_true(web_receive(fd, 2000, &frame));
    assert_int_equal(frame.opcode, 2);
    assert_int_equal(frame.length, 8);
    assert_memory_equal(frame.bytes, "\1welcome", 8);
    foliot_transport_disconnect(s.transport, peer, 300, false);
    foliot__web_flush(s.web);
    assert_int_equal(close_code(fd), 4300);
    close(fd);
    fd = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    close(fd); // without a word
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    close_site(&s);
}

static uint32_t segments_received(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof info;
    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    return info.tcpi_data_segs_in;
}

// Messages to a browser in one update share one packet, in their order, however large; if its
// socket takes only a part at once, the rest follows.
TEST(what_is_sent_together_shares_packets)
{
    site s = open_site(4);
    int fd = web_open(s.port);
    foliot_peer_id peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    uint32_t before = segments_received(fd);
    web_frame frame;
    for (int i = 0; i < 5; i++)
        allow_failure(foliot_transport_send(s.transport, peer, FOLIOT_DELIVERY_RELIABLE,
                                            (const uint8_t *)"abcde" + i, 1));
    send_flush(&s, peer, FOLIOT_DELIVERY_UNRELIABLE, "snapshot");
    char got[8] = "";
    for (int i = 0; i < 6; i++) {
        assert_true(web_receive(fd, 2000, &frame));
        assert_int_equal(frame.opcode, 2);
        if (frame.bytes[0] == 1)
            got[strlen(got)] = (char)frame.bytes[1];
        else
            assert_memory_equal(frame.bytes, "\0snapshot", 9);
    }
    assert_string_equal(got, "abcde");
    assert_int_equal(segments_received(fd) - before, 1);
    static uint8_t large[32768];
    for (uint8_t i = 0; i < 24; i++) {
        memset(large, i, sizeof large);
        assert_int_equal(
            foliot_transport_send(s.transport, peer, FOLIOT_DELIVERY_RELIABLE, large, sizeof large),
            FOLIOT_STATUS_OK);
    }
    foliot_transport_flush(s.transport, clock_now_ns());
    foliot__web_flush(s.web);
    for (int i = 0; i < 24; i++) {
        assert_true(web_receive(fd, 5000, &frame));
        assert_int_equal(frame.opcode, 2);
        assert_int_equal(frame.length, 1 + sizeof large);
        assert_int_equal(frame.bytes[1], i);
        assert_int_equal(frame.bytes[sizeof large], i);
    }
    close(fd);
    close_site(&s);
}

// A client behind a proxy on this machine has the address that the proxy saw.
// A browser's socket as a proxy on this machine passes it on.
static int open_forwarded(uint16_t port, const char *forwarded)
{
    char request[512];
    snprintf(request, sizeof request,
             "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: %s\r\n"
             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
             "Sec-WebSocket-Protocol: foliot.1\r\n\r\n",
             forwarded);
    int fd = web_connect(port);
    assert_int_equal(web_upgrade(fd, port, request), 101);
    return fd;
}

TEST(a_proxy_names_its_browsers)
{
    site s = open_site(4);
    static const char *const lists[][2] = {{"198.51.100.7", "198.51.100.7"},
                                           {"10.0.0.1, 2001:db8::7", "2001:db8::7"},
                                           {"198.51.100.7, no address", "127.0.0.1"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        char address[64];
        int fd = open_forwarded(s.port, lists[i][0]);
        foliot_peer_id peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
        foliot_transport_get_peer_address(s.transport, peer, address, sizeof address);
        assert_string_equal(address, lists[i][1]);
        web_send(fd, 0x82, "\0a", 2);
        expect_event(&s, FOLIOT_TRANSPORT_RECEIVED);
        uint64_t round_trip_ns = foliot_transport_get_round_trip_ns(s.transport, peer);
        assert_true((round_trip_ns > 0) == (i == 2)); // to the proxy it says nothing
        close(fd);
        expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    }
    close_site(&s);
}

TEST(too_many_browsers_are_told)
{
    site s = open_site(2);
    int fd[3];
    for (int i = 0; i < 3; i++)
        fd[i] = web_open(s.port);
    assert_int_equal(close_code(fd[2]), 4000 + FOLIOT_DISCONNECT_FULL);
    close(fd[0]);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    close(fd[2]);
    fd[0] = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    close(fd[0]);
    close(fd[1]);
    close_site(&s);
}

// Whether the service has closed it; what it sent before is passed over.
static bool has_ended(int fd)
{
    char bytes[256];
    struct pollfd ended = {.fd = fd, .events = POLLIN};
    while (poll(&ended, 1, 0) > 0)
        if (recv(fd, bytes, sizeof bytes, 0) <= 0)
            return true;
    return false;
}

static int open_refused(uint16_t port, const char *forwarded)
{
    int fd = open_forwarded(port, forwarded);
    assert_int_equal(close_code(fd), 4000 + FOLIOT_DISCONNECT_FULL);
    return fd;
}

// Whether the first of too many from a /64 ended before another's, which was refused before it. Not
// if the machine was so busy that each had its time.
static bool evicts_the_first(site *s)
{
    int other = open_refused(s->port, "2001:db8:0:1::1"), fd[FOLIOT__HTTP_SOCKETS_PARTING + 4];
    const int count = sizeof fd / sizeof fd[0];
    bool stays;
    for (int i = 0; i < count; i++) {
        char address[64];
        snprintf(address, sizeof address, "2001:db8::%d", i + 1);
        fd[i] = open_refused(s->port, address);
    }
    while (!has_ended(fd[3]))
        poll(NULL, 0, 10);
    stays = !has_ended(fd[4]) && !has_ended(other);
    for (int i = 0; i < count; i++)
        close(fd[i]);
    close(other);
    return stays;
}

// A refused client that stays holds only a few sockets, whatever address of a /64 it has.
TEST(who_is_refused_holds_few_sockets)
{
    site s = open_site(1);
    int in = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    uint64_t until_ns = clock_now_ns() + 60 * SECOND;
    while (!evicts_the_first(&s))
        assert_true(clock_now_ns() < until_ns);
    close(in);
    close_site(&s);
}

// Requests that are no browser's of this page.
TEST(foreign_requests_are_refused)
{
    site s = open_site(4);
    static const char asks[] =
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        "Sec-WebSocket-Protocol: foliot.1\r\n\r\n";
    static const struct {
        int status;
        const char *head;
    } requests[] = {
        {421, "GET /ws HTTP/1.1\r\nHost: evil.example\r\nOrigin: http://evil.example\r\n"},
        {403, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n"},
        {403, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: null\r\n"},
        {404, "GET /other HTTP/1.1\r\nHost: 127.0.0.1\r\n"},
        {404, "HEAD /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n"},
        {400, "GET /ws HTTP/1.1\r\n"},
        {400, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"},
        {400, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              "Sec-WebSocket-Protocol: foliot.5\r\n\r\n"},
        {400, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
              "Sec-WebSocket-Protocol: foliot.1\r\nSec-WebSocket-Version: 13\r\n\r\n"},
        {400, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: close\r\n"
              "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
              "Sec-WebSocket-Protocol: foliot.1\r\n\r\n"},
        {404, "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"},
    };
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        char request[1024], rest[256];
        const char *head = requests[i].head;
        snprintf(request, sizeof request, "%s%s", head, strstr(head, "\r\n\r\n") ? "" : asks);
        int fd = web_connect(s.port), status = web_upgrade(fd, s.port, request);
        if (status != requests[i].status)
            fail_msg("request %zu: status %d, not %d", i, status, requests[i].status);
        // A sentence follows, and the connection ends.
        ssize_t got = recv(fd, rest, sizeof rest, 0);
        assert_true(head[0] == 'H' || got > 0);
        close(fd);
    }
    foliot_transport_event event;
    assert_false(foliot_transport_poll(s.transport, clock_now_ns(), &event));
    close_site(&s);
}

static void *open_nothing(void *user, foliot__http_socket *socket, const char *address)
{
    (void)socket;
    (void)address;
    return user;
}

static void close_nothing(void *user, void *of_socket)
{
    (void)user;
    (void)of_socket;
}

// A service of few connections answers those beyond them, and those beyond an address's share.
TEST(connections_beyond_the_limits_are_answered)
{
    enum { CONNECTIONS = 16, SHARE = CONNECTIONS / 4 };
    char problem[256], request[512];
    int fd[CONNECTIONS];
    const foliot__http_sockets hook = {.path = "/ws",
                                       .subprotocol = "foliot.1",
                                       .message_bytes_max = 64,
                                       .user = problem,
                                       .opened = open_nothing,
                                       .closed = close_nothing};
    const foliot__http_config config = {
        .address = "127.0.0.1", .connections_max = CONNECTIONS, .sockets = &hook};
    foliot__http *http = foliot__http_start(&config, problem, sizeof problem);
    assert_non_null(http);
    uint16_t port = foliot__http_get_port(http);
    for (int i = 0; i < SHARE; i++)
        fd[i] = open_forwarded(port, "198.51.100.7");
    snprintf(request, sizeof request,
             "GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 198.51.100.7\r\n"
             "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
             "Sec-WebSocket-Protocol: foliot.1\r\n\r\n");
    int beyond = web_connect(port);
    assert_int_equal(web_upgrade(beyond, port, request), 429);
    for (int i = SHARE; i < CONNECTIONS; i++) // the last is refused if `beyond` still has a place
        fd[i] = web_connect(port);
    int last = web_connect(port);
    assert_int_equal(web_upgrade(last, port, ""), 503); // before it asks
    close(last);
    close(beyond);
    for (int i = 0; i < CONNECTIONS; i++)
        close(fd[i]);
    assert_true(foliot__http_stop(http));
}

TEST(a_handshake_may_come_byte_by_byte)
{
    site s = open_site(4);
    char request[512];
    snprintf(request, sizeof request,
             "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUpgrade: websocket\r\n"
             "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foliot.1\r\n"
             "\r\n",
             s.port);
    int fd = web_connect(s.port);
    for (size_t i = 0; i + 1 < strlen(request); i++) {
        web_send_bytes(fd, request + i, 1);
        usleep(200);
    }
    assert_int_equal(web_upgrade(fd, s.port, "\n"), 101);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    close(fd);
    close_site(&s);
}

typedef struct bad_frame {
    const char *what, *bytes;
    size_t length;
} bad_frame;
#define BAD(what, bytes)                                                                           \
    {                                                                                              \
        what, bytes, sizeof bytes - 1                                                              \
    }

TEST(malformed_frames_end_their_socket_alone)
{
    static const bad_frame frames[] = {
        BAD("a reserved bit", "\xc2\x82\0\0\0\0\1a"),
        BAD("an unknown opcode", "\x83\x82\0\0\0\0\1a"),
        BAD("an unknown control opcode", "\x8b\x82\0\0\0\0\1a"),
        BAD("a ping in fragments", "\x09\x80\0\0\0\0\x09\x80\0\0\0\0"),
        BAD("a ping that is too long", "\x89\xfe\0\x7e\0\0\0\0"),
        BAD("2^63 bytes", "\x82\xff\x80\0\0\0\0\0\0\0\0\0\0\0\1a"),
        BAD("2^62 bytes", "\x82\xff\x40\0\0\0\0\0\0\0\0\0\0\0\1a"),
        BAD("a continuation of nothing", "\x80\x82\0\0\0\0\1a"),
        BAD("a text", "\x81\x82\0\0\0\0\1a"),
        BAD("an empty message", "\x82\x80\0\0\0\0"),
        BAD("a kind alone", "\x82\x81\0\0\0\0\1"),
        BAD("an unknown kind", "\x82\x82\0\0\0\0\3a"),
    };
    site s = open_site(4);
    int honest = web_open(s.port);
    foliot_peer_id peer = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++) {
        int fd = web_open(s.port);
        expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
        web_send_bytes(fd, frames[i].bytes, frames[i].length);
        char filler[300] = {0}; // some are found where more comes
        web_send_bytes(fd, filler, sizeof filler);
        if (close_code(fd) < 0)
            fail_msg("the socket stays open after %s", frames[i].what);
        close(fd);
        foliot_transport_event event;
        assert_true(next_event(&s, &event));
        if (event.kind != FOLIOT_TRANSPORT_DISCONNECTED)
            fail_msg("taken: %s", frames[i].what);
    }
    send_flush(&s, peer, FOLIOT_DELIVERY_RELIABLE, "still here");
    web_frame frame;
    assert_true(web_receive(honest, 2000, &frame));
    assert_int_equal(frame.length, 11);
    close(honest);
    close_site(&s);
}

// RFC 6455, section 5.1: frames of a client are masked; one is enough to end the socket.
TEST(frames_without_a_mask_are_refused)
{
    static const bad_frame frames[] = {
        BAD("a message", "\x82\x02\0a"),
        BAD("behind one with a mask", "\x82\x82\0\0\0\0\0a\x82\x02\0a"),
        BAD("a fragment", "\x02\x82\0\0\0\0\0a\x80\x01"
                          "a"),
        BAD("a long one", "\x82\x7e\1\0\0"),
        BAD("an empty ping", "\x89\0"),
        BAD("a pong", "\x8a\1a"),
    };
    site s = open_site(4);
    for (size_t i = 0; i < sizeof frames / sizeof frames[0]; i++)
        for (int whole = 0; whole < 2; whole++) {
            int fd = web_open(s.port);
            expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
            for (size_t k = 0; k < frames[i].length && !whole; k++) {
                web_send_bytes(fd, frames[i].bytes + k, 1);
                usleep(1000);
            }
            if (whole)
                web_send_bytes(fd, frames[i].bytes, frames[i].length);
            if (close_code(fd) != 1002)
                fail_msg("taken, or ended otherwise: %s", frames[i].what);
            close(fd);
            foliot_transport_event event;
            while (next_event(&s, &event) && event.kind != FOLIOT_TRANSPORT_DISCONNECTED)
                ; // what came before it is no fault
        }
    close_site(&s);
}

// Data that comes with the request waits until the answer is out, and is checked like all else.
TEST(frames_before_the_answer_are_read_behind_it)
{
    site s = open_site(4);
    for (int masked = 0; masked < 2; masked++) {
        char request[512];
        int length = snprintf(request, sizeof request,
                              "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nUpgrade: websocket\r\n"
                              "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
                              "Sec-WebSocket-Protocol: foliot.1\r\n\r\n",
                              s.port);
        memcpy(request + length, masked ? "\x82\x82\0\0\0\0\0a" : "\x82\x06\0\0\0\0\0a", 8);
        int fd = web_connect(s.port);
        web_send_bytes(fd, request, (size_t)length + 8);
        expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
        if (masked)
            expect_event(&s, FOLIOT_TRANSPORT_RECEIVED);
        else
            check_eq(web_upgrade(fd, 0, ""), 101); // the answer's head
        if (!masked)
            check_eq(close_code(fd), 1002);
        close(fd);
        expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    }
    close_site(&s);
}

TEST(a_flood_of_pings_ends_its_socket)
{
    site s = open_site(4);
    int honest = web_open(s.port), fd = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    for (int i = 0; i < 50; i++) // some are no fault
        web_send(honest, 0x89, "ping", 4);
    for (int i = 0; i < 1000; i++)
        web_send(fd, 0x89, "ping", 4);
    int code = close_code(fd); // 0: what was sent behind it reset the connection
    assert_true(code == 1008 || code == 0);
    close(fd);
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    web_send(honest, 0x82, "\1still", 6);
    expect_event(&s, FOLIOT_TRANSPORT_RECEIVED);
    close(honest);
    close_site(&s);
}

TEST(long_messages_and_endless_fragments_are_cut_off)
{
    site s = open_site(4);
    static uint8_t large[FOLIOT__WEB_MESSAGE_BYTES + 1] = {1};
    int fd = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    web_send(fd, 0x82, large, sizeof large);
    assert_int_equal(close_code(fd), 1009);
    close(fd);
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    fd = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    web_send(fd, 0x02, "\1", 1);
    for (int i = 0; i < 5000; i++)
        web_send(fd, 0x00, "a", i % 2);
    assert_true(close_code(fd) >= 0);
    close(fd);
    expect_event(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    close_site(&s);
}

TEST(a_flood_ends_its_socket)
{
    site s = open_site(4);
    int fd = web_open(s.port);
    expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    for (int i = 0; i < 20000; i++)
        web_send(fd, 0x82, "\0a", 2);
    assert_true(close_code(fd) >= 0);
    close(fd);
    foliot_transport_event event;
    unsigned received = 0;
    while (next_event(&s, &event) && event.kind == FOLIOT_TRANSPORT_RECEIVED)
        received++;
    assert_int_equal(event.kind, FOLIOT_TRANSPORT_DISCONNECTED);
    assert_true(received <= FOLIOT__WEB_MESSAGES_BURST + 5e9 / FOLIOT__WEB_MESSAGE_EVERY_NS);
    close_site(&s);
}

// A page that hangs: the kernel's buffers fill, then snapshots are dropped here, then the reliable
// queue ends it. Nobody else loses a packet.
TEST(a_slow_reader_is_put_out_and_harms_nobody)
{
    site s = open_site(4);
    int slow = web_open(s.port);
    foliot_peer_id peers[2] = {expect_event(&s, FOLIOT_TRANSPORT_CONNECTED)};
    int fast = web_open(s.port);
    peers[1] = expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    static uint8_t snapshot[1200] = {7};
    unsigned sent = 0, got = 0;
    web_frame frame;
    // Less where the machine is busy: it is put out by the kernel after ten seconds.
    for (uint64_t end = clock_now_ns() + 6 * SECOND; sent < 20000 && clock_now_ns() < end; sent++) {
        foliot_transport_send_many(s.transport, peers, 2, FOLIOT_DELIVERY_UNRELIABLE, snapshot,
                                   sizeof snapshot);
        foliot_transport_flush(s.transport, clock_now_ns());
        foliot__web_flush(s.web);
        foliot_transport_event event;
        assert_false(foliot_transport_poll(s.transport, clock_now_ns(), &event));
        if (web_receive(fast, 100, &frame) && frame.opcode == 2)
            got++;
    }
    // A packet that waits for a tenth of a second is dropped, which a busy machine makes of some.
    assert_true(got + sent / 20 >= sent);
    assert_true(foliot_transport_get_counters(s.transport)->packets_queue_full > 1000);
    foliot_status status = FOLIOT_STATUS_OK;
    unsigned reliable = 0;
    for (; status == FOLIOT_STATUS_OK && reliable < 3000; reliable++)
        status = foliot_transport_send(s.transport, peers[0], FOLIOT_DELIVERY_RELIABLE, snapshot,
                                       sizeof snapshot);
    assert_true(reliable < 1000); // 1 MiB
    foliot_transport_flush(s.transport, clock_now_ns());
    foliot__web_flush(s.web);
    foliot_transport_event event;
    assert_true(next_event(&s, &event));
    assert_int_equal(event.kind, FOLIOT_TRANSPORT_DISCONNECTED);
    assert_int_equal(event.reason, FOLIOT_DISCONNECT_SLOW);
    // Its place is free though it never reads: two more than there are would not fit.
    int more[3];
    uint64_t end = clock_now_ns() + 15 * SECOND;
    for (int i = 0; i < 2; i++) {
        more[i] = web_open(s.port);
        expect_event(&s, FOLIOT_TRANSPORT_CONNECTED);
    }
    bool fits = false;
    while (!fits && clock_now_ns() < end) {
        more[2] = web_open(s.port);
        fits = !web_receive(more[2], 300, &frame);
        close(more[2]);
    }
    assert_true(fits);
    close(more[0]);
    close(more[1]);
    close(slow);
    close(fast);
    close_site(&s);
}

// -- a whole session

#define BROWSERS 3

typedef struct match {
    site site;
    foliot_server *server;
    foliot_transport *wires[BROWSERS];
    foliot_client *clients[BROWSERS];
} match;

static void run_match(match *m, double seconds)
{
    for (uint64_t end = clock_now_ns() + (uint64_t)(seconds * 1e9); clock_now_ns() < end;) {
        foliot_server_update(m->server, clock_now_ns());
        foliot__web_flush(m->site.web);
        for (int i = 0; i < BROWSERS; i++)
            if (m->clients[i])
                foliot_client_update(m->clients[i], clock_now_ns());
        usleep(1000);
    }
}

TEST(the_client_library_plays_through_a_socket)
{
    match m = {.site = open_site(8)};
    foliot_scene scene = foliot_scene_default();
    foliot_body_definition bodies[2] = {foliot_body_definition_default(),
                                        foliot_body_definition_default()};
    static const double spawns[1][3] = {{5, 0, 0}};
    for (int i = 0; i < 2; i++) {
        bodies[i].mass = 1;
        bodies[i].position[0] = 3 * i;
        bodies[i].shape.kind = FOLIOT_SHAPE_SPHERE;
        bodies[i].shape.radius = 0.2;
    }
    scene.name = "two balls";
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.dt = 1.0 / 60;
    scene.bodies = bodies;
    scene.body_count = 2;
    scene.players.limit = 4;
    scene.players.body = foliot_body_definition_default();
    scene.players.positions = spawns;
    scene.players.position_count = 1;
    scene.players.control = FOLIOT_CONTROL_THRUST;
    scene.players.force = 5;
    foliot_world *world;
    demand(foliot_world_create(&scene, &world, NULL));
    foliot_server_config config = foliot_server_config_default();
    config.transport = m.site.transport;
    config.players_per_address_max = FOLIOT_PLAYERS_MAX;
    demand(foliot_server_create(&config, clock_now_ns(), &m.server));
    foliot_session_config session = {
        .name = "main", .scene = &scene, .world = world, .pace_hz = 60};
    demand(foliot_server_add_session(m.server, &session, clock_now_ns()));
    for (int i = 0; i < BROWSERS; i++) {
        foliot_client_config joins = foliot_client_config_default();
        m.wires[i] = web_transport_create(NULL, NULL);
        joins.transport = m.wires[i];
        joins.port = m.site.port;
        joins.spectates = i == 2;
        demand(foliot_client_create(&joins, clock_now_ns(), &m.clients[i]));
    }
    run_match(&m, 1.5);
    for (int i = 0; i < BROWSERS; i++) {
        assert_int_equal(foliot_client_get_state(m.clients[i]), FOLIOT_CLIENT_PLAYING);
        assert_true(foliot_client_get_statistics(m.clients[i]).snapshots_received > 30);
    }
    assert_int_equal(foliot_server_get_counters(m.server)->messages_malformed, 0);
    foliot_server_stop(m.server, "the host has stopped the session", clock_now_ns());
    run_match(&m, 0.3);
    for (int i = 0; i < BROWSERS; i++)
        assert_int_equal(foliot_client_get_state(m.clients[i]), FOLIOT_CLIENT_CLOSED);
    for (int i = 0; i < BROWSERS; i++) {
        foliot_client_destroy(m.clients[i]);
        foliot_transport_destroy(m.wires[i]);
    }
    foliot_server_destroy(m.server);
    close_site(&m.site);
}
