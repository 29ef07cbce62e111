// SPDX-License-Identifier: MIT
// web_site.h: the service of foliot-server for browsers, on the loopback and without a server
// behind it: packets of browsers come out of its transport. A header, since tests/support is linked
// into tests that lack the service.
#ifndef FOLIOT_TESTS_WEB_SITE_H
#define FOLIOT_TESTS_WEB_SITE_H

#include "check.h"
#include "clock.h"

#include <poll.h>
#include <string.h>

#include "foliot/transport.h"
#include "status.h"
#include "web/web.h"
#include "web_socket.h"

#define SECOND ((uint64_t)1000000000u)

typedef struct site {
    foliot__web *web;
    foliot_transport *transport, *gate;
    uint16_t port, channel_port; // channel_port: see open_channel_site; otherwise 0
} site;

// `gate`: whose keys or password browsers must show; NULL: anybody may join.
static inline site open_guarded_site(uint32_t peers_max, foliot_transport *gate)
{
    char problem[256];
    site s = {.gate = gate};
    foliot__web_config config = {.address = "127.0.0.1", .peers_max = peers_max};
    s.web = foliot__web_create(&config, &s.transport, problem, sizeof problem);
    assert_non_null(s.web);
    foliot__web_set_gate(s.web, gate);
    if (!foliot__web_start(s.web, problem, sizeof problem))
        fail_msg("%s", problem);
    s.port = foliot__web_get_port(s.web);
    return s;
}

static inline site open_site(uint32_t peers_max)
{
    return open_guarded_site(peers_max, NULL);
}

// Four browsers, and data channels for them.
static inline site open_channel_site(void)
{
    const char *why;
    site s = open_site(4);
    s.channel_port = foliot__web_get_channel_port(s.web, &why);
    if (!s.channel_port)
        fail_msg("%s", why);
    return s;
}

static inline void send_reliable(site *s, foliot_peer_id peer, const char *text)
{
    allow_failure(foliot_transport_send(s->transport, peer, FOLIOT_DELIVERY_RELIABLE,
                                        (const uint8_t *)text, strlen(text)));
}

static inline void close_site(site *s)
{
    foliot__web_destroy(s->web);
    foliot_transport_destroy(s->transport);
    foliot_transport_destroy(s->gate);
}

// The next event within two seconds.
static inline bool next_event(site *s, foliot_transport_event *event)
{
    for (uint64_t end = clock_now_ns() + 2 * SECOND; clock_now_ns() < end;) {
        if (foliot_transport_poll(s->transport, clock_now_ns(), event))
            return true;
        struct pollfd fd = {.fd = foliot_transport_get_descriptor(s->transport), .events = POLLIN};
        poll(&fd, 1, 50);
    }
    return false;
}

static inline foliot_peer_id expect_event(site *s, foliot_transport_event_kind kind)
{
    foliot_transport_event event;
    assert_true(next_event(s, &event));
    assert_int_equal(event.kind, kind);
    return event.peer;
}

// The close code that a socket gets; 0: it ended without one; pings and packets before it are
// skipped.
static inline int close_code(int fd)
{
    web_frame frame;
    while (web_receive(fd, 3000, &frame)) {
        if (frame.opcode == 8)
            return frame.code;
        if (frame.opcode < 0)
            return 0;
    }
    return -1; // still open
}

#endif
