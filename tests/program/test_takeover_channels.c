// SPDX-License-Identifier: MIT
// test_takeover_channels.c: the thread of the web service hangs in usrsctp or in libwebsockets.
// Goal: a new thread takes over and serves WebSockets, data channels are refused, and the server
// ends without waiting. Method: hang.c is linked before both libraries. Tier: test

#include "check.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "far_end.h"
#include "clock.h"
#include "status.h"
#include "web/web.h"
#include "web_site.h"

#define PATIENCE (100 * SECOND)

extern volatile int hang_now; // hang.c

// The memory of the thread that hangs is never freed.
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static uint8_t path_of_next(site *s)
{
    foliot_transport_event event;
    struct pollfd fd = {.fd = foliot_transport_get_descriptor(s->transport), .events = POLLIN};
    uint8_t path = 0xff;
    poll(&fd, 1, 10);
    while (foliot_transport_poll(s->transport, clock_now_ns(), &event))
        if (event.kind == FOLIOT_TRANSPORT_RECEIVED && event.length == FAR_ECHO_BYTES)
            path = event.bytes[0];
    return path;
}

static foliot_peer_id wait_for(site *s, foliot_transport_event_kind kind)
{
    foliot_transport_event event;
    for (uint64_t end = clock_now_ns() + PATIENCE; clock_now_ns() < end;) {
        struct pollfd fd = {.fd = foliot_transport_get_descriptor(s->transport), .events = POLLIN};
        while (foliot_transport_poll(s->transport, clock_now_ns(), &event))
            if (event.kind == kind)
                return event.peer;
        poll(&fd, 1, 50);
    }
    fail_msg("no event of kind %d", kind);
    return (foliot_peer_id){0};
}

static void send_one(site *s, foliot_peer_id peer)
{
    allow_failure(foliot_transport_send(s->transport, peer, FOLIOT_DELIVERY_UNRELIABLE,
                                        (const uint8_t *)"12345678", 8));
    foliot_transport_flush(s->transport, clock_now_ns());
    foliot__web_flush(s->web);
}

// Watches the thread, as the loop of a server does, until it is replaced.
static void watch_until_restarted(site *s)
{
    for (uint64_t end = clock_now_ns() + PATIENCE; clock_now_ns() < end; usleep(20000))
        if (foliot__web_watch(s->web) == FOLIOT__HTTP_RESTARTED)
            return;
    fail_msg("no thread has taken over");
}

TEST(a_thread_within_usrsctp_is_replaced)
{
    web_frame frame;
    far_end f = far_end_start(NULL);
    site s = open_channel_site();
    far_end_connect(&f, s.port, s.channel_port, FAR_PATH_BYTES);
    foliot_peer_id peer = wait_for(&s, FOLIOT_TRANSPORT_CONNECTED);
    uint64_t end = clock_now_ns() + PATIENCE;
    uint8_t path = 0xff;
    while (path != 1 && clock_now_ns() < end) {
        send_one(&s, peer);
        path = path_of_next(&s);
    }
    check_eq(path, 1); // its channel is open
    hang_now = 1;
    send_one(&s, peer); // its acknowledgement enters usrsctp
    watch_until_restarted(&s);
    hang_now = 0;
    check_eq(wait_for(&s, FOLIOT_TRANSPORT_DISCONNECTED).value, peer.value);
    far_end_stop(&f);
    int fd = web_open(s.port);
    wait_for(&s, FOLIOT_TRANSPORT_CONNECTED);
    web_send(fd, 0x82, "\2\3v=0", 5); // an offer
    assert_true(web_receive(fd, 20000, &frame));
    check_eq(frame.length > 2 ? frame.bytes[1] : 0, FOLIOT__SIGNAL_REFUSED);
    web_send(fd, 0x82, "\1still", 6);
    wait_for(&s, FOLIOT_TRANSPORT_RECEIVED);
    close(fd);
    close_site(&s);
    assert_false(foliot__http_is_lost());
}

TEST(a_thread_within_libwebsockets_is_replaced_and_at_the_end_left)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    char problem[256];
    foliot__web_config config = {.address = "127.0.0.1", .peers_max = 4, .channels_off = true};
    site s = {.web = foliot__web_create(&config, &s.transport, problem, sizeof problem)};
    assert_true(foliot__web_start(s.web, problem, sizeof problem));
    s.port = foliot__web_get_port(s.web);
    int first = web_open(s.port);
    wait_for(&s, FOLIOT_TRANSPORT_CONNECTED);
    for (int i = 0; i < 2; i++) {
        int fd = web_connect(s.port);
        hang_now = 1;
        web_send_bytes(fd, request, sizeof request - 1);
        if (i == 1)
            usleep(100000); // the thread must be in the request when the site closes
        else
            watch_until_restarted(&s);
        hang_now = i;
        close(fd);
    }
    wait_for(&s, FOLIOT_TRANSPORT_DISCONNECTED);
    close(first);
    close_site(&s);
    assert_true(foliot__http_is_lost());
}
