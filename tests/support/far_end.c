// SPDX-License-Identifier: MIT
// far_end.c: see far_end.h.

#include "far_end.h"

#include "check.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "foliot/transport.h"
#include "status.h"

#define MS_NS 1000000u

static void obey(rtc_peer *peer, const uint8_t *order, size_t length)
{
    char text[8] = {0};
    memcpy(text, order, length < sizeof text ? length : sizeof text - 1);
    if (text[0] == 'p')
        rtc_peer_narrow(peer, strtoul(text + 1, NULL, 10));
    if (text[0] == 'm')
        rtc_peer_move(peer);
}

static void run(uint16_t port, uint16_t path_bytes, far_turn turn, far_work *work)
{
    foliot_transport *transport;
    foliot_transport_event event;
    foliot_peer_id server;
    uint8_t echo[FAR_ECHO_BYTES];
    rtc_start(1);
    turn.peer = rtc_peer_create("127.0.0.1", true, &transport);
    rtc_peer_narrow(turn.peer, path_bytes);
    if (foliot_transport_connect(transport, "", port, clock_now_ns(), &server) != FOLIOT_STATUS_OK)
        _exit(1);
    for (uint64_t ticked_ns = clock_now_ns();;) {
        struct pollfd fd = {.fd = foliot_transport_get_descriptor(transport), .events = POLLIN};
        poll(&fd, 1, 10);
        turn.now_ns = clock_now_ns();
        turn.order = 0;
        while (foliot_transport_poll(transport, turn.now_ns, &event)) {
            if (event.kind == FOLIOT_TRANSPORT_DISCONNECTED)
                _exit(0);
            if (event.kind != FOLIOT_TRANSPORT_RECEIVED)
                continue;
            if (event.delivery == FOLIOT_DELIVERY_RELIABLE) {
                turn.order = (char)event.bytes[0];
                obey(turn.peer, event.bytes, event.length);
                continue;
            }
            echo[0] = (uint8_t)event.path;
            memcpy(echo + 1, event.bytes, sizeof echo - 1);
            allow_failure(foliot_transport_send(transport, server, FOLIOT_DELIVERY_UNRELIABLE, echo,
                                                sizeof echo));
        }
        if (work)
            work(&turn);
        uint64_t passed_ms = (clock_now_ns() - ticked_ns) / MS_NS;
        rtc_tick((uint32_t)passed_ms);
        ticked_ns += passed_ms * MS_NS;
    }
}

far_end far_end_start(far_work *work)
{
    int ends[2], reports[2];
    uint16_t words[3];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(reports), 0);
    far_end f = {.child = fork(), .ports = ends[1], .report = reports[0]};
    if (f.child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        alarm(110);
        close(ends[1]);
        close(reports[0]);
        if (read(ends[0], words, sizeof words) == sizeof words)
            run(words[0], words[2], (far_turn){.channel_port = words[1], .report = reports[1]},
                work);
        _exit(1);
    }
    assert_true(f.child > 0);
    close(ends[0]);
    close(reports[1]);
    return f;
}

void far_end_connect(const far_end *f, uint16_t port, uint16_t channel_port, uint16_t path_bytes)
{
    const uint16_t words[3] = {port, channel_port, path_bytes};
    assert_int_equal(write(f->ports, words, sizeof words), sizeof words);
}

void far_end_stop(const far_end *f)
{
    kill(f->child, SIGKILL);
    waitpid(f->child, NULL, 0);
    close(f->ports);
    close(f->report);
}
