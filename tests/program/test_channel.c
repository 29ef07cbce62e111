// SPDX-License-Identifier: MIT
// test_channel.c: data channels and WebSockets over real sockets on the loopback. A peer in
// another process opens a channel, as a browser does, and echoes every packet with its path.
// Strangers forge requests, offers and certificates. tests/web tests real browsers. Tier: test

#include "check.h"

#include "rtc/rtc.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "far_end.h"
#include "clock.h"
#include "rtc/channel.h"
#include "rtc/ice.h"
#include "status.h"
#include "web_site.h"

// Sends a packet of `bytes` bytes every 10 ms until `count` of them in a row come back that took
// the given path there. The connection must hold meanwhile.
static void exchange(site *s, foliot_peer_id peer, size_t bytes, int by_channel, int count,
                     int seconds)
{
    foliot_transport_event event;
    uint8_t packet[FOLIOT_PACKET_BYTES_MAX] = {0};
    uint64_t number = 0;
    int got = 0;
    for (uint64_t end = clock_now_ns() + (uint64_t)seconds * SECOND;
         got < count && clock_now_ns() < end; number++) {
        allow_failure(
            foliot_transport_send(s->transport, peer, FOLIOT_DELIVERY_UNRELIABLE, packet, bytes));
        foliot_transport_flush(s->transport, clock_now_ns());
        foliot__web_flush(s->web);
        poll(NULL, 0, 10);
        while (foliot_transport_poll(s->transport, clock_now_ns(), &event)) {
            assert_int_equal(event.kind, FOLIOT_TRANSPORT_RECEIVED);
            assert_int_equal(event.length, FAR_ECHO_BYTES);
            got = event.bytes[0] == by_channel ? got + 1 : 0;
        }
    }
    check_ge(got, count);
}

static foliot_peer_id await_peer(site *s)
{
    foliot_transport_event event;
    for (uint64_t end = clock_now_ns() + 20 * SECOND; clock_now_ns() < end;) {
        struct pollfd fd = {.fd = foliot_transport_get_descriptor(s->transport), .events = POLLIN};
        poll(&fd, 1, 100);
        if (foliot_transport_poll(s->transport, clock_now_ns(), &event)) {
            assert_int_equal(event.kind, FOLIOT_TRANSPORT_CONNECTED);
            return event.peer;
        }
    }
    fail_msg("no peer has connected");
    return (foliot_peer_id){0};
}

TEST(packets_take_the_channel_and_back)
{
    far_end far = far_end_start(NULL);
    site s = open_channel_site();
    far_end_connect(&far, s.port, s.channel_port, FAR_PATH_BYTES);
    foliot_peer_id peer = await_peer(&s);
    exchange(&s, peer, 8, 1, 50, 30);
    send_reliable(&s, peer, "p0"); // UDP is blocked now
    exchange(&s, peer, 8, 0, 50, 30);
    send_reliable(&s, peer, "p1472"); // and no longer
    exchange(&s, peer, 8, 1, 50, 30);
    far_end_stop(&far);
    close_site(&s);
}

// The largest packets come through wherever datagrams of 528 bytes do.
TEST(a_small_path_takes_large_packets)
{
    static const uint16_t paths[] = {528, 600, 700, 800, 1100, 1200, 1232, 1472};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        far_end far = far_end_start(NULL);
        site s = open_channel_site();
        far_end_connect(&far, s.port, s.channel_port, paths[i]);
        foliot_peer_id peer = await_peer(&s);
        print_message("paths of %u bytes\n", paths[i]);
        exchange(&s, peer, FOLIOT_PACKET_BYTES_MAX, 1, 50, 10);
        far_end_stop(&far);
        close_site(&s);
    }
}

TEST(a_path_may_become_smaller_and_larger)
{
    far_end far = far_end_start(NULL);
    site s = open_channel_site();
    far_end_connect(&far, s.port, s.channel_port, FAR_PATH_BYTES);
    foliot_peer_id peer = await_peer(&s);
    exchange(&s, peer, FOLIOT_PACKET_BYTES_MAX, 1, 50, 30);
    send_reliable(&s, peer, "p700");
    exchange(&s, peer, FOLIOT_PACKET_BYTES_MAX, 1, 200, 30);
    send_reliable(&s, peer, "p1472");
    exchange(&s, peer, FOLIOT_PACKET_BYTES_MAX, 1, 50, 30);
    far_end_stop(&far);
    close_site(&s);
}

// -- strangers

static int open_udp(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    return fd;
}

// Offers a channel by a WebSocket; false: it is refused, and `text` says why.
static bool offer_channel(int fd, const char *ufrag, rtc_answer *answer, char text[2048])
{
    static const uint8_t print[32] = {1, 2, 3};
    char message[2048] = "\2\3";
    web_frame frame;
    rtc_write_offer(ufrag, "active", print, message + 2, sizeof message - 2);
    web_send(fd, 0x82, message, 2 + strlen(message + 2));
    do
        assert_true(web_receive(fd, 10000, &frame));
    while (frame.opcode != 2);
    assert_in_range(frame.length, 3, 2047);
    memcpy(text, frame.bytes + 2, frame.length - 2);
    text[frame.length - 2] = 0;
    assert_int_equal(frame.bytes[0], 2);
    return frame.bytes[1] == 4 && rtc_read_answer(text, "127.0.0.1", answer);
}

// Receives the next datagram. Returns its length; 0: none came within 10 s.
static size_t next_datagram(int fd, uint8_t bytes[2048])
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ssize_t got = poll(&p, 1, 10000) == 1 ? recv(fd, bytes, 2048, 0) : 0;
    return got > 0 ? (size_t)got : 0;
}

// The same, but skips a request by which the server validates the address. Adds its length to
// `asked`.
static size_t next_answer(int fd, uint8_t bytes[2048], size_t *asked)
{
    size_t length = next_datagram(fd, bytes);
    if (length > 1 && bytes[0] == 0 && bytes[1] == 1) {
        *asked += length;
        length = next_datagram(fd, bytes);
    }
    return length;
}

// The loopback keeps datagrams in order, so the first answer belongs to the only good request.
TEST(only_requests_with_the_password_are_answered)
{
    site s = open_channel_site();
    rtc_answer a, other;
    char text[2048];
    uint8_t request[256], got[2048];
    int fd = web_open(s.port), second = web_open(s.port), udp = open_udp(s.channel_port);
    assert_true(offer_channel(fd, "mine", &a, text));
    assert_true(offer_channel(second, "their", &other, text));
    assert_int_equal(ntohs(a.address.sin_port), s.channel_port);
    static const char junk[][16] = {"", "\0\1", "\x16\xfe\xfd hello", "\x80 rtp", "\xff"};
    for (size_t i = 0; i < sizeof junk / sizeof junk[0]; i++)
        assert_true(send(udp, junk[i], 8, 0) >= 0);
    struct {
        const char *ours, *theirs, *password;
    } forged[] = {{"mine", a.ufrag, other.password},
                  {"other", a.ufrag, a.password},
                  {"mine", "AAAAAAAAAAAA", a.password},
                  {"mine", "////////////", a.password},
                  {"mine", other.ufrag, a.password}};
    for (size_t i = 0; i < sizeof forged / sizeof forged[0]; i++) {
        size_t length =
            rtc_write_request(forged[i].ours, forged[i].theirs, forged[i].password, true, request);
        assert_true(send(udp, request, length, 0) > 0);
    }
    size_t length = rtc_write_request("mine", a.ufrag, a.password, true, request);
    for (size_t bit = 0; bit < 8 * length; bit += 5) { // damaged
        request[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_true(send(udp, request, length, 0) > 0);
        request[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(send(udp, request, length, 0) > 0); // and whole
    size_t asked = 0, answered = next_answer(udp, got, &asked);
    foliot__stun_message m;
    assert_true(foliot__stun_read(got, answered, &m));
    assert_int_equal(m.type, FOLIOT__STUN_BINDING_SUCCESS);
    assert_memory_equal(m.transaction, request + 8, 12);
    assert_true(foliot__stun_authentic(got, &m, a.password, strlen(a.password)));
    assert_true(answered <= length);
    check_gt(asked, 0u);
    check_le(asked + answered, 3 * length);
    struct pollfd more = {.fd = udp, .events = POLLIN};
    assert_int_equal(poll(&more, 1, 0), 0);
    close(udp);
    close(fd);
    close(second);
    close_site(&s);
}

// A hello of DTLS from an address that proved itself is answered; from another it is not.
TEST(a_hello_is_answered_where_it_is_proven)
{
    site s = open_channel_site();
    rtc_answer a;
    char text[2048];
    uint8_t request[256], got[2048], hello[256];
    int fd = web_open(s.port), udp = open_udp(s.channel_port), stranger = open_udp(s.channel_port);
    assert_true(offer_channel(fd, "mine", &a, text));
    size_t hello_bytes = rtc_write_hello(hello);
    size_t length = rtc_write_request("mine", a.ufrag, a.password, true, request);
    assert_true(send(stranger, hello, hello_bytes, 0) > 0);
    assert_true(send(udp, hello, hello_bytes, 0) > 0); // too early
    assert_true(send(udp, request, length, 0) > 0);
    assert_true(send(stranger, hello, hello_bytes, 0) > 0);
    assert_true(send(udp, hello, hello_bytes, 0) > 0);
    size_t asked = 0;
    assert_true(next_answer(udp, got, &asked) > 0 && got[0] == 1); // the request's
    size_t flight = next_datagram(udp, got);
    assert_true(flight > 0 && flight <= hello_bytes); // a cookie, and nothing larger
    assert_true(got[0] >= 20 && got[0] <= 63);
    struct pollfd more = {.fd = stranger, .events = POLLIN};
    assert_int_equal(poll(&more, 1, 0), 0);
    close(udp);
    close(stranger);
    close(fd);
    close_site(&s);
}

TEST(offers_are_few_and_well_formed)
{
    site s = open_channel_site();
    rtc_answer a;
    char text[2048];
    int fd = web_open(s.port), refused = 0;
    for (int i = 0; i < 12; i++) // each takes the place of the one before
        refused += !offer_channel(fd, "mine", &a, text);
    check_ge(refused, 8);
    assert_non_null(strstr(text, "too fast"));
    web_send(fd, 0x82, "\2\7what", 6); // nobody's: the socket goes on
    assert_false(offer_channel(fd, "mine", &a, text));
    close(fd);
    close_site(&s);
}

// -- without sockets' time

static char why_closed[128];

static void keep_why(void *user, void *of, const char *why)
{
    (void)user;
    (void)of;
    snprintf(why_closed, sizeof why_closed, "%s", why);
}

TEST(a_channel_that_never_opens_is_forgotten)
{
    static const uint8_t print[32];
    char problem[256], text[2048], answer[FOLIOT__SDP_ANSWER_BYTES];
    const char *why;
    foliot__rtc_config config = {
        .address = "127.0.0.1", .public_address = "203.0.113.7", .channels_max = 2};
    config.closed = keep_why;
    foliot__rtc *rtc = foliot__rtc_create(&config, problem, sizeof problem);
    assert_non_null(rtc);
    assert_null(foliot__rtc_create(&config, problem, sizeof problem)); // one a process
    assert_non_null(strstr(problem, "another part of this process"));
    rtc_write_offer("mine", "active", print, text, sizeof text);
    for (int i = 0; i < 2; i++)
        assert_non_null(foliot__rtc_offer(rtc, NULL, "", text, strlen(text), SECOND, answer, &why));
    assert_non_null(strstr(answer, " 203.0.113.7 "));
    assert_null(foliot__rtc_offer(rtc, NULL, "", text, strlen(text), SECOND, answer, &why));
    assert_non_null(strstr(why, "no room"));
    assert_true(foliot__rtc_tick(rtc, 10 * SECOND));
    assert_false(foliot__rtc_tick(rtc, 12 * SECOND));
    assert_non_null(strstr(why_closed, "UDP may be blocked"));
    assert_int_equal(foliot__rtc_get_counters(rtc)->failed, 2);
    assert_non_null(
        foliot__rtc_offer(rtc, NULL, "", text, strlen(text), 12 * SECOND, answer, &why));
    foliot__rtc_destroy(rtc); // with a channel
}

static void count_message(void *user, void *of, const uint8_t *bytes, size_t length)
{
    (void)of, (void)bytes, (void)length;
    ++*(uint64_t *)user;
}

// One datagram may hold a hundred messages, so a limit of datagrams is not enough.
TEST(messages_have_a_limited_rate)
{
    static const uint8_t print[32];
    char problem[256], text[2048], answer[FOLIOT__SDP_ANSWER_BYTES];
    const char *why;
    uint64_t came = 0;
    foliot__rtc_config config = {.address = "127.0.0.1", .public_address = "", .channels_max = 1};
    config.received = count_message;
    config.closed = keep_why;
    config.user = &came;
    foliot__rtc *rtc = foliot__rtc_create(&config, problem, sizeof problem);
    assert_non_null(rtc);
    rtc_write_offer("mine", "active", print, text, sizeof text);
    foliot__rtc_channel *c =
        foliot__rtc_offer(rtc, NULL, "", text, strlen(text), SECOND, answer, &why);
    assert_non_null(c);
    c->told_open = true;
    for (uint32_t i = 0; i < 2 * FOLIOT__RTC_PACKETS_BURST; i++)
        foliot__rtc_receive_message(c, print, 1);
    check_eq(came, (uint64_t)FOLIOT__RTC_PACKETS_BURST);
    check_eq(foliot__rtc_get_counters(rtc)->too_many, (uint64_t)FOLIOT__RTC_PACKETS_BURST);
    foliot__rtc_destroy(rtc);
}

// A browser without a network stack: its datagrams are given to `rtc` with a time.
typedef struct browser {
    foliot__rtc *rtc;
    int fd;
    struct sockaddr_in at;
} browser;

static browser open_browser(foliot__rtc *rtc)
{
    browser b = {.rtc = rtc, .fd = open_udp(foliot__rtc_get_port(rtc))};
    socklen_t length = sizeof b.at;
    assert_int_equal(getsockname(b.fd, (struct sockaddr *)&b.at, &length), 0);
    return b;
}

static void say(const browser *b, const uint8_t *bytes, size_t length, uint64_t now_ns)
{
    foliot__rtc_datagram d = {.bytes = bytes, .length = length, .from_bytes = sizeof b->at};
    memcpy(&d.from, &b->at, sizeof b->at);
    foliot__rtc_receive_datagram(b->rtc, &d, now_ns);
}

static void ask(const browser *b, const foliot__rtc_channel *c, uint64_t now_ns)
{
    uint8_t request[256];
    say(b, request, rtc_write_request("mine", c->ufrag, c->password, true, request), now_ns);
}

// Answers each check as if from `as`; unless `rightly`, with a wrong transaction. Returns the
// number of checks.
static int answer_checks(const browser *b, const browser *as, bool rightly, uint64_t now_ns)
{
    static const char password[] = "0123456789abcdef0123456789abcdef";
    uint8_t got[2048], reply[FOLIOT__STUN_ANSWER_BYTES];
    foliot__stun_message m;
    int asked = 0;
    for (ssize_t length; (length = recv(b->fd, got, sizeof got, MSG_DONTWAIT)) > 0;) {
        if (!foliot__stun_read(got, (size_t)length, &m) || m.type != FOLIOT__STUN_BINDING_REQUEST)
            continue;
        assert_true(foliot__stun_authentic(got, &m, password, sizeof password - 1));
        asked++;
        m.transaction[11] ^= !rightly;
        say(as, reply,
            foliot__stun_answer(&m, (const struct sockaddr *)&b->at, password, sizeof password - 1,
                                reply),
            now_ns);
    }
    return asked;
}

TEST(an_address_is_validated_by_its_answer_and_for_a_while)
{
    static const uint8_t print[32];
    char problem[256], text[2048], answer[FOLIOT__SDP_ANSWER_BYTES];
    const char *why;
    foliot__rtc_config config = {.address = "127.0.0.1", .public_address = "", .channels_max = 2};
    config.closed = keep_why;
    foliot__rtc *rtc = foliot__rtc_create(&config, problem, sizeof problem);
    assert_non_null(rtc);
    rtc_write_offer("mine", "active", print, text, sizeof text);
    uint64_t now = SECOND;
    foliot__rtc_channel *c =
        foliot__rtc_offer(rtc, NULL, "", text, strlen(text), now, answer, &why);
    assert_non_null(c);
    browser first = open_browser(rtc), second = open_browser(rtc);
    const foliot__address_validation *v = &c->path.validation;
    ask(&first, c, now);
    check_eq(answer_checks(&first, &first, false, now), 1); // another transaction
    assert_false(v->validated);
    ask(&first, c, now += SECOND);
    check_eq(answer_checks(&first, &second, true, now), 1); // from elsewhere
    assert_false(v->validated);
    ask(&first, c, now += SECOND);
    check_eq(answer_checks(&first, &first, true, now), 1);
    assert_true(v->validated);
    // It moves when the other address answers, and not before.
    ask(&second, c, now += SECOND);
    assert_int_equal(c->path.key.port, first.at.sin_port);
    check_eq(answer_checks(&second, &second, true, now), 1);
    assert_int_equal(c->path.key.port, second.at.sin_port);
    assert_true(v->validated);
    c->told_open = true; // as if its handshake were over
    int asked = 0;
    for (int s = 0; s < 60; s++) { // as long as it answers
        ask(&second, c, now += SECOND);
        foliot__rtc_tick(rtc, now);
        asked += answer_checks(&second, &second, true, now);
        assert_true(v->validated);
    }
    check_ge(asked, 8);
    for (int s = 0; s < 40; s++) { // from elsewhere with the password, as if it went on
        ask(&second, c, now += SECOND);
        foliot__rtc_tick(rtc, now);
        (void)answer_checks(&second, &first, true, now);
        if (s < 20)
            assert_true(v->validated);
    }
    assert_false(v->validated);
    assert_true(v->sent <= FOLIOT__AMPLIFICATION_MAX * v->received);
    close(first.fd);
    close(second.fd);
    foliot__rtc_destroy(rtc);
}

// An offer that leaves the beginning to the server: it begins where an answer has proved the
// address, and what comes sooner is for nobody.
TEST(the_server_begins_where_it_is_proven)
{
    static const uint8_t print[32];
    char problem[256], text[2048], answer[FOLIOT__SDP_ANSWER_BYTES];
    const char *why;
    uint8_t got[2048], hello[256];
    foliot__rtc_config config = {.address = "127.0.0.1", .public_address = "", .channels_max = 2};
    config.closed = keep_why;
    foliot__rtc *rtc = foliot__rtc_create(&config, problem, sizeof problem);
    assert_non_null(rtc);
    rtc_write_offer("mine", "actpass", print, text, sizeof text);
    uint64_t now = SECOND;
    foliot__rtc_channel *c =
        foliot__rtc_offer(rtc, NULL, "", text, strlen(text), now, answer, &why);
    assert_non_null(c);
    assert_non_null(strstr(answer, "a=setup:active\r\n"));
    browser b = open_browser(rtc);
    for (int i = 0; i < 20; i++, now += SECOND / 4) {
        ask(&b, c, now);
        say(&b, hello, rtc_write_hello(hello), now);
        foliot__rtc_tick(rtc, now);
    }
    assert_null(c->dtls);
    for (ssize_t length; (length = recv(b.fd, got, sizeof got, MSG_DONTWAIT)) > 0;)
        assert_true(got[0] < 20); // of STUN
    ask(&b, c, now);
    check_eq(answer_checks(&b, &b, true, now), 1);
    assert_non_null(c->dtls);
    close(b.fd);
    foliot__rtc_destroy(rtc);
}

typedef struct half { // of a handshake without a network
    foliot__dtls *dtls;
    struct half *other;
    size_t largest, queued, lengths[16];
    uint8_t bytes[16][2048];
} half;

static void queue_datagram(void *user, const uint8_t *bytes, size_t length)
{
    half *h = ((half *)user)->other;
    assert_true(length <= sizeof h->bytes[0] && h->queued < 16);
    memcpy(h->bytes[h->queued], bytes, length);
    h->lengths[h->queued++] = length;
    h->other->largest = length > h->other->largest ? length : h->other->largest;
}

TEST(no_datagram_of_a_handshake_is_large)
{
    static const foliot__dtls_hook hook = {queue_datagram, NULL};
    static half ends[2];
    foliot__dtls_context *context = foliot__dtls_context_create();
    assert_non_null(context);
    for (int i = 0; i < 2; i++) {
        ends[i].other = &ends[1 - i];
        ends[i].dtls = foliot__dtls_create(
            context, i == 0, foliot__dtls_context_get_fingerprint(context), &hook, &ends[i]);
        assert_non_null(ends[i].dtls);
    }
    foliot__dtls_start(ends[0].dtls);
    for (int round = 0; round < 8; round++)
        for (int i = 0; i < 2; i++) {
            for (size_t d = 0; d < ends[i].queued; d++)
                foliot__dtls_receive(ends[i].dtls, ends[i].bytes[d], ends[i].lengths[d]);
            ends[i].queued = 0;
        }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(foliot__dtls_get_state(ends[i].dtls), FOLIOT__DTLS_OPEN);
        check_le(ends[i].largest, FOLIOT__DTLS_HANDSHAKE_BYTES);
        foliot__dtls_destroy(ends[i].dtls);
    }
    foliot__dtls_context_destroy(context);
}
