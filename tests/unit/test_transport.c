// SPDX-License-Identifier: MIT
// test_transport.c: the same tests over both makers of transports: ENet on loopback with the real
// clock, memory on a virtual one.
#include "check.h"
#include "clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "foliot/transport.h"
#include "loopback.h"
#include "net/raw_datagram.h"
#include "net/transport.h"
#include "status.h"

typedef struct pair {
    foliot_hub *hub; // NULL: ENet
    foliot_transport *host, *client;
    foliot_peer_id at_host, at_client;
    uint64_t now_ns;
    bool own_clock; // over ENet too
    unsigned host_received, client_received;
    uint8_t last[2048];
    size_t last_length;
} pair;

static void make(pair *p, foliot_hub *hub, const foliot_transport_config *config,
                 foliot_transport **t)
{
    foliot_status status = hub ? foliot_transport_create_memory(hub, config, p->now_ns, t)
                               : foliot_transport_create_enet(config, p->now_ns, t);
    assert_int_equal(status, FOLIOT_STATUS_OK);
}

static void pass_time(pair *p, uint64_t ns)
{
    if (p->hub || p->own_clock) {
        p->now_ns += ns;
        return;
    }
    struct pollfd fds[2] = {{.fd = foliot_transport_get_descriptor(p->host), .events = POLLIN},
                            {.fd = foliot_transport_get_descriptor(p->client), .events = POLLIN}};
    poll(fds, 2, (int)(ns / 1000000u));
    p->now_ns = clock_now_ns();
}

static void receive(pair *p)
{
    foliot_transport_event e;
    while (foliot_transport_poll(p->host, p->now_ns, &e)) {
        if (e.kind == FOLIOT_TRANSPORT_CONNECTED)
            p->at_host = e.peer;
        if (e.kind == FOLIOT_TRANSPORT_DISCONNECTED)
            p->at_host.value = 0;
        if (e.kind == FOLIOT_TRANSPORT_RECEIVED)
            p->host_received++;
    }
    while (foliot_transport_poll(p->client, p->now_ns, &e)) {
        if (e.kind == FOLIOT_TRANSPORT_CONNECTED)
            p->at_client = e.peer;
        if (e.kind == FOLIOT_TRANSPORT_DISCONNECTED)
            p->at_client.value = 0;
        if (e.kind == FOLIOT_TRANSPORT_RECEIVED) {
            p->client_received++;
            p->last_length = e.length < sizeof p->last ? e.length : sizeof p->last;
            memcpy(p->last, e.bytes, p->last_length);
        }
    }
    foliot_transport_flush(p->host, p->now_ns);
    foliot_transport_flush(p->client, p->now_ns);
}

// Host and client, connected; `impairment` is the client's, both ways.
static pair meet(bool memory, bool own_clock, bool batches, const char *impairment)
{
    pair p = {.now_ns = memory ? 1000 : clock_now_ns(), .own_clock = own_clock};
    foliot_transport_config config = foliot_transport_config_default();
    if (memory)
        assert_int_equal(foliot_hub_create(&p.hub), FOLIOT_STATUS_OK);
    config.bind = loopback_text();
    config.peers_max = 4;
    config.batches = batches;
    make(&p, p.hub, &config, &p.host);
    config.bind = NULL;
    config.peers_max = 1;
    assert_int_equal(foliot_impairment_parse(impairment, &config.send, NULL), FOLIOT_STATUS_OK);
    config.receive = config.send;
    make(&p, p.hub, &config, &p.client);
    foliot_peer_id peer;
    assert_int_equal(foliot_transport_connect(p.client, loopback_text(),
                                              foliot_transport_get_port(p.host), p.now_ns, &peer),
                     FOLIOT_STATUS_OK);
    for (uint64_t end = p.now_ns + 8000000000u;
         p.now_ns < end && !(p.at_host.value && p.at_client.value);) {
        receive(&p);
        pass_time(&p, 2000000);
    }
    assert_int_not_equal(p.at_host.value, 0);
    assert_int_equal(p.at_client.value, peer.value);
    return p;
}

static pair connected(bool memory, const char *impairment)
{
    return meet(memory, false, false, impairment);
}

static void close_pair(pair *p)
{
    foliot_transport_destroy(p->client);
    foliot_transport_destroy(p->host);
    foliot_hub_destroy(p->hub);
}

static void run(pair *p, uint64_t ns)
{
    for (uint64_t end = p->now_ns + ns; p->now_ns < end;) {
        receive(p);
        pass_time(p, 2000000);
    }
}

static void packets_of_both_kinds_arrive(bool memory)
{
    pair p = connected(memory, "loss=0%");
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX + 1];
    memset(bytes, 7, sizeof bytes);
    assert_int_equal(
        foliot_transport_send(p.host, p.at_host, FOLIOT_DELIVERY_UNRELIABLE, bytes, 1200),
        FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_transport_send(p.host, p.at_host, FOLIOT_DELIVERY_RELIABLE, bytes, 1201),
        FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_transport_send(p.host, p.at_host, FOLIOT_DELIVERY_UNRELIABLE, bytes, 1201),
        FOLIOT_STATUS_FULL);
    assert_int_equal(
        foliot_transport_send(p.host, (foliot_peer_id){99}, FOLIOT_DELIVERY_RELIABLE, bytes, 1),
        FOLIOT_STATUS_NOT_FOUND);
    run(&p, 100000000);
    assert_int_equal(p.client_received, 2);
    assert_int_equal(foliot_transport_get_counters(p.host)->packets_refused, 2);
    foliot_transport_disconnect(p.host, p.at_host, 300, false);
    run(&p, 200000000);
    assert_int_equal(p.at_client.value, 0);
    close_pair(&p);
}

static void a_large_reliable_packet_survives_a_bad_network(bool memory)
{
    pair p = connected(memory, "loss=10%,delay=10ms,jitter=0-20ms,duplicate=5%,seed=3");
    size_t length = 100000;
    uint8_t *bytes = calloc(1, length);
    bytes[0] = 42;
    assert_int_equal(
        foliot_transport_send(p.host, p.at_host, FOLIOT_DELIVERY_RELIABLE, bytes, length),
        FOLIOT_STATUS_OK);
    for (int i = 0; i < 3000 && p.client_received == 0; i++)
        run(&p, 4000000);
    assert_int_equal(p.client_received, 1);
    assert_int_equal(p.last[0], 42);
    free(bytes);
    close_pair(&p);
}

static void the_share_of_lost_packets_is_as_asked(bool memory)
{
    pair p = connected(memory, "loss=20%,seed=5");
    uint8_t byte = 1;
    unsigned sent = 2000;
    for (unsigned i = 0; i < sent; i++) {
        allow_failure(
            foliot_transport_send(p.client, p.at_client, FOLIOT_DELIVERY_UNRELIABLE, &byte, 1));
        foliot_transport_flush(p.client, p.now_ns);
        if (i % 50 == 0)
            run(&p, 1000000);
    }
    run(&p, 100000000);
    // Five standard deviations of a binomial with p = 0.2: datagrams of ENet's own, which come when
    // they come, draw from the same seeded stream.
    check_near(p.host_received, sent * 0.8, 5 * 17.9);
    close_pair(&p);
}

static void the_shares_of_other_faults_are_as_asked(bool memory)
{
    pair p = connected(memory, "duplicate=20%,reorder=10%,seed=5");
    const foliot_transport_counters *counted = foliot_transport_get_counters(p.client);
    uint64_t doubled = counted->packets_duplicated, late = counted->packets_reordered;
    uint8_t byte = 1;
    unsigned sent = 2000;
    for (unsigned i = 0; i < sent; i++) {
        allow_failure(
            foliot_transport_send(p.client, p.at_client, FOLIOT_DELIVERY_UNRELIABLE, &byte, 1));
        foliot_transport_flush(p.client, p.now_ns);
        if (i % 50 == 0)
            run(&p, 1000000);
    }
    run(&p, 100000000);
    // Five standard deviations, and the datagrams of ENet's own. A packet that is held back is not
    // doubled.
    check_near((double)(counted->packets_duplicated - doubled), sent * 0.9 * 0.2, 5 * 17.2 + 20);
    check_near((double)(counted->packets_reordered - late), sent * 0.1, 5 * 13.4 + 20);
    uint64_t copies = counted->packets_duplicated - doubled;
    assert_in_range(p.host_received, memory ? sent + copies : sent,
                    sent + copies); // ENet knows some of the copies
    close_pair(&p);
}

// A packet that waits to be sent again holds up only reliable ones, at a limited rate too.
TEST(memory_a_lost_reliable_packet_holds_up_no_other)
{
    pair p = connected(true, "loss=30%,rate=1mbit,delay=10ms,seed=5");
    uint8_t byte = 1;
    unsigned got = 0;
    for (int round = 0; round < 100; round++) {
        unsigned before = p.client_received;
        for (int i = 0; i < 6; i++) {
            allow_failure(foliot_transport_send(
                p.host, p.at_host, i ? FOLIOT_DELIVERY_UNRELIABLE : FOLIOT_DELIVERY_RELIABLE, &byte,
                1));
            run(&p, 10000000);
        }
        run(&p, 90000000); // it is sent again later
        got += p.client_received - before;
        run(&p, 1500000000);
    }
    check_gt(got, 600 * 0.7 - 3 * 11.2); // three standard deviations
    close_pair(&p);
}

// Seconds of a clock of the test's own until all of 400 reliable packets have come; -1: the
// connection ended, or a minute passed.
static double seconds_for_all(const char *impairment)
{
    enum { PACKETS = 400, BYTES = 480 };
    pair p = meet(false, true, false, impairment);
    uint8_t bytes[BYTES] = {0};
    for (int i = 0; i < PACKETS; i++)
        assert_int_equal(
            foliot_transport_send(p.host, p.at_host, FOLIOT_DELIVERY_RELIABLE, bytes, sizeof bytes),
            FOLIOT_STATUS_OK);
    uint64_t began_ns = p.now_ns, end_ns = began_ns + 60000000000u;
    for (; p.client_received < PACKETS && p.at_host.value && p.at_client.value && p.now_ns < end_ns;
         p.now_ns += 5000000)
        receive(&p);
    double seconds = p.client_received < PACKETS ? -1 : 1e-9 * (double)(p.now_ns - began_ns);
    close_pair(&p);
    return seconds;
}

TEST(enet_what_was_lost_twice_holds_up_no_other_resend)
{
    unsigned seeds = 16;
    double sum = 0;
    for (unsigned seed = 1; seed <= seeds; seed++) {
        char impairment[80];
        snprintf(impairment, sizeof impairment, "loss=15%%,delay=400ms,seed=%u", seed);
        double seconds = seconds_for_all(impairment);
        check_gt(seconds, 0);
        sum += seconds;
    }
    print_message("# %.1f s on average\n", sum / seeds);
    check_below(sum / seeds, 10); // some eight round trips
}

// Whatever the network, and whether the other side knows of the end or not.
static void a_connection_comes_back(bool memory)
{
    pair p = connected(memory, "loss=5%,delay=5ms,seed=9");
    uint8_t byte = 1;
    for (int round = 0; round < 3; round++) {
        foliot_transport_disconnect(p.client, p.at_client, 0, true);
        p.at_client.value = p.at_host.value = 0;
        foliot_peer_id peer;
        assert_int_equal(foliot_transport_connect(p.client, loopback_text(),
                                                  foliot_transport_get_port(p.host), p.now_ns,
                                                  &peer),
                         FOLIOT_STATUS_OK);
        for (int i = 0; i < 400 && p.at_client.value == 0; i++)
            run(&p, 10000000);
        assert_int_equal(p.at_client.value, peer.value);
        unsigned before = p.host_received;
        for (int i = 0; i < 20 && p.host_received == before; i++) {
            allow_failure(
                foliot_transport_send(p.client, p.at_client, FOLIOT_DELIVERY_UNRELIABLE, &byte, 1));
            run(&p, 20000000);
        }
        check_gt(p.host_received, before);
    }
    close_pair(&p);
}

#define BOTH(name)                                                                                 \
    TEST(enet_##name)                                                                              \
    {                                                                                              \
        name(false);                                                                               \
    }                                                                                              \
    TEST(memory_##name)                                                                            \
    {                                                                                              \
        name(true);                                                                                \
    }
BOTH(packets_of_both_kinds_arrive)
BOTH(a_large_reliable_packet_survives_a_bad_network)
BOTH(the_share_of_lost_packets_is_as_asked)
BOTH(the_shares_of_other_faults_are_as_asked)
BOTH(a_connection_comes_back)

// -- ENet alone

static void sleep_ms(long ms)
{
    struct timespec t = {.tv_nsec = ms * 1000000};
    nanosleep(&t, NULL);
}

static bool next_received(pair *p, foliot_transport_event *event)
{
    p->now_ns = clock_now_ns();
    while (foliot_transport_poll(p->host, p->now_ns, event))
        if (event->kind == FOLIOT_TRANSPORT_RECEIVED)
            return true;
    return false;
}

// A packet that waits 20 ms to be read. Whether its arrival time is right, within 3 ms: on a busy
// machine we may be held up between looking at the clock and the deed.
static bool one_that_waits(pair *p)
{
    foliot_transport_event event;
    struct pollfd fd = {.fd = foliot_transport_get_descriptor(p->host), .events = POLLIN};
    uint8_t byte = 9;
    while (next_received(p, &event)) {
    }
    uint64_t sent = clock_now_ns();
    allow_failure(
        foliot_transport_send(p->client, p->at_client, FOLIOT_DELIVERY_UNRELIABLE, &byte, 1));
    foliot_transport_flush(p->client, sent);
    sleep_ms(20);
    bool woke = poll(&fd, 1, 0) > 0; // ENet's own, a ping, may have come
    check_lt(foliot_transport_get_wake_ns(p->host),
             sent + 20000000); // it should have been polled in the meantime
    assert_true(next_received(p, &event));
    assert_int_equal(event.bytes[0], 9);
    check_le(event.arrived_ns, p->now_ns);
    return !woke && event.arrived_ns + 3000000 >= sent && event.arrived_ns < sent + 3000000;
}

TEST(batched_packets_wake_nobody_and_tell_when_they_came)
{
    pair p = meet(false, false, true, "loss=0%");
    run(&p, 300000000); // ENet's handshake is over
    bool seen = false;
    for (int i = 0; i < 50 && !seen; i++)
        seen = one_that_waits(&p);
    assert_true(seen);
    check_gt(foliot_transport_get_counters(p.host)->packets_batched, 0);
    // The port is nobody else's, though two sockets share it.
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *other = NULL;
    config.bind = loopback_text();
    config.port = foliot_transport_get_port(p.host);
    assert_int_equal(foliot_transport_create_enet(&config, p.now_ns, &other), FOLIOT_STATUS_BUSY);
    close_pair(&p);
}

// A host that polls at its tick is not woken up shortly before it, where little comes.
TEST(what_can_wait_waits_for_a_tick_that_is_near)
{
    pair p = meet(false, false, true, "loss=0%");
    run(&p, 300000000);
    uint64_t now = p.now_ns, by_itself = foliot_transport_get_wake_ns(p.host);
    check_le(by_itself, now + 10000000);
    p.host->tick_ns = by_itself + 6000000;
    assert_int_equal(foliot_transport_get_wake_ns(p.host), by_itself + 6000000);
    p.host->tick_ns = now + 100000000; // too far
    assert_int_equal(foliot_transport_get_wake_ns(p.host), by_itself);
    p.host->tick_ns = by_itself - 10000000; // over: it is the next that counts
    assert_int_equal(foliot_transport_get_wake_ns(p.host), by_itself);
    close_pair(&p);
}

#define CROWD 8 // as many as the smallest outbox holds

// How many of ours have come to a socket.
static unsigned count_datagrams(int fd)
{
    uint8_t bytes[2048];
    unsigned count = 0;
    while (recv(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        count += bytes[0] == FOLIOT__SHORT_MARK;
    return count;
}

// One client, connected as often as the host's outbox has room for datagrams.
static void meet_a_crowd(pair *p, foliot_peer_id *peers)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport_event e;
    foliot_peer_id id;
    unsigned met = 0;
    config.bind = loopback_text();
    config.peers_max = CROWD;
    make(p, NULL, &config, &p->host);
    config.bind = NULL;
    make(p, NULL, &config, &p->client);
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(foliot_transport_connect(p->client, loopback_text(),
                                                  foliot_transport_get_port(p->host), p->now_ns,
                                                  &id),
                         FOLIOT_STATUS_OK);
    for (uint64_t end = p->now_ns + 8000000000u; p->now_ns < end && met < CROWD;) {
        while (met < CROWD && foliot_transport_poll(p->host, p->now_ns, &e))
            if (e.kind == FOLIOT_TRANSPORT_CONNECTED)
                peers[met++] = e.peer;
        receive(p);
        pass_time(p, 2000000);
    }
    assert_int_equal(met, CROWD);
    run(p, 500000000); // until ENet has connected them
}

// A peer gets one datagram in a tick, however many peers there are: its own packet, and then the
// one for all.
TEST(packets_of_a_tick_share_a_datagram_in_a_full_outbox)
{
    pair p = {.now_ns = clock_now_ns()};
    foliot_peer_id peers[CROWD];
    const uint8_t bytes[3] = {1, 2, 3};
    meet_a_crowd(&p, peers);
    int fd = foliot_transport_get_descriptor(p.client);
    assert_int_equal(count_datagrams(fd), 0); // this is the first of all
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(
            foliot_transport_send(p.host, peers[i], FOLIOT_DELIVERY_UNRELIABLE, bytes, 2),
            FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_transport_send_many(p.host, peers, CROWD, FOLIOT_DELIVERY_UNRELIABLE, bytes, 3),
        CROWD);
    foliot_transport_flush(p.host, p.now_ns);
    assert_int_equal(count_datagrams(fd), CROWD); // on the loopback they are there at once
    for (int i = 0; i < FOLIOT__RAW_DATAGRAM_PACKETS_MAX + 1; i++) // one too many for a datagram
        assert_int_equal(
            foliot_transport_send_many(p.host, peers, CROWD, FOLIOT_DELIVERY_UNRELIABLE, bytes, 3),
            CROWD);
    foliot_transport_flush(p.host, p.now_ns);
    assert_int_equal(count_datagrams(fd), 2 * CROWD);
    close_pair(&p);
}

// More than a buffer's worth, in bursts, all from one poll to the next; none is lost.
TEST(batches_hold_what_comes_between_two_polls)
{
    pair p = meet(false, false, true, "loss=0%");
    run(&p, 300000000);
    unsigned before = p.host_received;
    uint8_t byte = 1;
    for (int burst = 0; burst < 10; burst++) {
        for (int i = 0; i < 200; i++) {
            allow_failure(
                foliot_transport_send(p.client, p.at_client, FOLIOT_DELIVERY_UNRELIABLE, &byte, 1));
            foliot_transport_flush(p.client, p.now_ns);
        }
        p.now_ns = clock_now_ns();
        receive(&p);
    }
    assert_int_equal(p.host_received - before, 2000);
    close_pair(&p);
}

// The last packet lies in the queue of the impairment when its sender ends.
TEST(last_words_leave_before_the_end)
{
    pair p = connected(false, "delay=400ms,seed=2");
    run(&p, 1000000000);
    unsigned before = p.host_received;
    uint8_t byte = 5;
    allow_failure(
        foliot_transport_send(p.client, p.at_client, FOLIOT_DELIVERY_UNRELIABLE, &byte, 1));
    foliot_transport_flush(p.client, p.now_ns);
    foliot_transport_destroy(p.client);
    sleep_ms(50);
    foliot_transport_event event;
    p.now_ns = clock_now_ns();
    while (foliot_transport_poll(p.host, p.now_ns, &event))
        p.host_received += event.kind == FOLIOT_TRANSPORT_RECEIVED;
    assert_int_equal(p.host_received - before, 1);
    foliot_transport_destroy(p.host);
}

TEST(impairments_are_read_and_bad_ones_named)
{
    foliot_impairment i;
    foliot_error error;
    assert_int_equal(
        foliot_impairment_parse("loss=5%,delay=50ms,jitter=0-100ms,duplicate=1%,reorder=2%,"
                                "rate=1mbit,burst=3,seed=7",
                                &i, &error),
        FOLIOT_STATUS_OK);
    check_near(i.loss, 0.05, 1e-12);
    check_near(i.delay_ms, 50, 0);
    check_near(i.jitter_ms_max, 100, 0);
    check_near(i.rate_bits, 1e6, 0);
    assert_int_equal(i.seed, 7);
    const char *bad[] = {"loss=101%", "loss=x",          "delay=-5ms", "jitter=9-3ms",
                         "rate=5",    "speed=3",         "burst=0.5",  "seed=a",
                         "loss",      "loss=5%,loss=6%", ",",          "loss=5%,",
                         ""};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        error.text[0] = 0;
        assert_int_equal(foliot_impairment_parse(bad[k], &i, &error), FOLIOT_STATUS_INVALID);
        assert_non_null(strstr(error.text, "expected"));
    }
}

int main(void)
{
    int failed = check_run(NULL, NULL);
    if (loopback_use_six()) {
        cmocka_set_skip_filter("memory_*");
        failed += check_run(NULL, NULL);
    }
    return failed;
}
