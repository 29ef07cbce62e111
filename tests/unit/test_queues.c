// SPDX-License-Identifier: MIT
// test_queues.c: the transport of two queues, and two transports as one: order, bounds, ends, ids
// and descriptors, and both sides at work on separate threads. Time is a number of the test's.
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foliot/transport.h"
#include "net/transport.h"
#include "status.h"

#define MS 1000000u

typedef struct ends {
    foliot_transport *transport;
    foliot_queues *queues;
} ends;

static ends open_queues(const foliot_queues_config *config)
{
    ends e;
    assert_int_equal(foliot_transport_create_queues(config, &e.transport, &e.queues),
                     FOLIOT_STATUS_OK);
    return e;
}

static void close_queues(ends *e)
{
    foliot_queues_close(e->queues);
    foliot_transport_destroy(e->transport);
}

static bool readable(int descriptor)
{
    struct pollfd fd = {.fd = descriptor, .events = POLLIN};
    return poll(&fd, 1, 0) == 1;
}

static foliot_peer_id join(foliot_queues *queues, uint64_t key)
{
    foliot_peer_id peer;
    assert_int_equal(foliot_queues_join(queues, "192.0.2.1", key, NULL, MS, &peer),
                     FOLIOT_STATUS_OK);
    return peer;
}

static void expect_event(foliot_transport *t, foliot_transport_event_kind kind, foliot_peer_id peer,
                         const char *text)
{
    foliot_transport_event event;
    assert_true(foliot_transport_poll(t, 2 * MS, &event));
    assert_int_equal(event.kind, kind);
    assert_int_equal(event.peer.value, peer.value);
    if (text) {
        assert_int_equal(event.length, strlen(text));
        assert_memory_equal(event.bytes, text, event.length);
        assert_true(event.arrived_ns <= 2 * MS);
    }
}

static void expect_nothing(foliot_transport *t)
{
    foliot_transport_event event;
    assert_false(foliot_transport_poll(t, 2 * MS, &event));
}

static foliot_status put(foliot_queues *q, foliot_peer_id peer, foliot_delivery delivery,
                         const char *text)
{
    return foliot_queues_put(q, peer, delivery, (const uint8_t *)text, strlen(text), 3 * MS);
}

static foliot_status send_text(foliot_transport *t, foliot_peer_id peer, foliot_delivery delivery,
                               const char *text)
{
    return foliot_transport_send(t, peer, delivery, (const uint8_t *)text, strlen(text));
}

static void expect_taken(foliot_queues *q, foliot_peer_id peer, const char *text)
{
    foliot_queues_packet packet;
    assert_true(foliot_queues_read(q, peer, 2 * MS, &packet));
    assert_false(packet.ended);
    assert_int_equal(packet.length, strlen(text));
    assert_memory_equal(packet.bytes, text, packet.length);
    foliot_queues_release(&packet);
}

static void expect_end(foliot_queues *q, foliot_peer_id peer, uint32_t reason)
{
    foliot_queues_packet packet;
    assert_true(foliot_queues_read(q, peer, 2 * MS, &packet));
    assert_true(packet.ended);
    assert_int_equal(packet.reason, reason);
    foliot_queues_release(&packet);
}

static void expect_none(foliot_queues *q, foliot_peer_id peer)
{
    foliot_queues_packet packet;
    assert_false(foliot_queues_read(q, peer, 2 * MS, &packet));
}

TEST(packets_pass_both_ways_in_order)
{
    foliot_queues_config config = foliot_queues_config_default();
    ends e = open_queues(&config);
    foliot_peer_id peer = join(e.queues, 7);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_RELIABLE, "hello"), FOLIOT_STATUS_OK);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_UNRELIABLE, "left"), FOLIOT_STATUS_OK);
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, peer, NULL);
    expect_event(e.transport, FOLIOT_TRANSPORT_RECEIVED, peer, "hello");
    expect_event(e.transport, FOLIOT_TRANSPORT_RECEIVED, peer, "left");
    expect_nothing(e.transport);
    char address[32];
    foliot_transport_get_peer_address(e.transport, peer, address, sizeof address);
    assert_string_equal(address, "192.0.2.1");
    assert_int_equal(foliot__transport_get_peer_address_key(e.transport, peer), 7);
    foliot_queues_set_round_trip(e.queues, peer, 5 * MS);
    assert_int_equal(foliot_transport_get_round_trip_ns(e.transport, peer), 5 * MS);
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "welcome"));
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "scene"));
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_UNRELIABLE, "snapshot"));
    assert_int_equal(foliot_transport_get_backlog(e.transport, peer), 1);
    expect_taken(e.queues, peer, "welcome");
    expect_taken(e.queues, peer, "snapshot"); // in turn: neither kind starves the other
    expect_taken(e.queues, peer, "scene");
    expect_none(e.queues, peer);
    assert_int_equal(foliot_transport_get_backlog(e.transport, peer), 0);
    foliot_queues_leave(e.queues, peer, 300);
    foliot_transport_event event;
    assert_true(foliot_transport_poll(e.transport, 2 * MS, &event));
    assert_int_equal(event.kind, FOLIOT_TRANSPORT_DISCONNECTED);
    assert_int_equal(event.reason, 300);
    assert_int_equal(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "x"),
                     FOLIOT_STATUS_NOT_FOUND);
    close_queues(&e);
}

TEST(descriptors_tell_when_there_is_something)
{
    foliot_queues_config config = foliot_queues_config_default();
    ends e = open_queues(&config);
    int in = foliot_transport_get_descriptor(e.transport),
        out = foliot_queues_get_descriptor(e.queues);
    assert_false(readable(in));
    foliot_peer_id peer = join(e.queues, 7), other = join(e.queues, 8);
    assert_true(readable(in));
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, peer, NULL);
    assert_true(foliot_transport_get_wake_ns(e.transport) <= 2 * MS); // one more is held here
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, other, NULL);
    expect_nothing(e.transport);
    assert_false(readable(in));
    assert_int_equal(foliot_transport_get_wake_ns(e.transport), UINT64_MAX);
    demand(send_text(e.transport, other, FOLIOT_DELIVERY_UNRELIABLE, "a"));
    demand(send_text(e.transport, other, FOLIOT_DELIVERY_UNRELIABLE, "b"));
    assert_false(readable(out)); // one wake-up after the whole broadcast
    foliot_transport_flush(e.transport, 2 * MS);
    assert_true(readable(out));
    assert_int_equal(foliot_queues_next(e.queues).value, other.value);
    assert_int_equal(foliot_queues_next(e.queues).value, 0);
    assert_false(readable(out));
    foliot_transport_disconnect(e.transport, peer, 256, false);
    assert_true(readable(out)); // an end waits for no flush
    assert_int_equal(foliot_queues_next(e.queues).value, peer.value);
    close_queues(&e);
}

TEST(what_a_peer_puts_is_bounded)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.put_bytes_max = 10;
    config.put_packets_max = 3;
    ends e = open_queues(&config);
    foliot_peer_id peer = join(e.queues, 7), other = join(e.queues, 8);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_RELIABLE, "12345678"), FOLIOT_STATUS_OK);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_RELIABLE, "123"), FOLIOT_STATUS_FULL);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_UNRELIABLE, "1"), FOLIOT_STATUS_OK);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_UNRELIABLE, "1"), FOLIOT_STATUS_OK);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_UNRELIABLE, ""), FOLIOT_STATUS_FULL);
    assert_int_equal(put(e.queues, other, FOLIOT_DELIVERY_RELIABLE, "mine"), FOLIOT_STATUS_OK);
    static uint8_t large[FOLIOT_PACKET_BYTES_MAX + 1];
    assert_int_equal(
        foliot_queues_put(e.queues, other, FOLIOT_DELIVERY_UNRELIABLE, large, sizeof large, MS),
        FOLIOT_STATUS_FULL);
    for (int i = 0; i < 6; i++) {
        foliot_transport_event event;
        assert_true(foliot_transport_poll(e.transport, 2 * MS, &event));
    }
    expect_nothing(e.transport);
    assert_int_equal(foliot_transport_get_counters(e.transport)->packets_queue_full, 1);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_RELIABLE, "123"), FOLIOT_STATUS_OK);
    close_queues(&e);
}

TEST(old_snapshots_are_dropped_and_new_ones_stay)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.unreliable_bytes_max = 6;
    config.unreliable_age_ms = 100;
    ends e = open_queues(&config);
    foliot_peer_id peer = join(e.queues, 7);
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, peer, NULL);
    foliot_transport_flush(e.transport, 10 * MS);
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_UNRELIABLE, "one"));
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_UNRELIABLE, "two"));
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_UNRELIABLE, "six"));
    expect_taken(e.queues, peer, "two");
    foliot_transport_flush(e.transport, 80 * MS);
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_UNRELIABLE, "new"));
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "kept"));
    foliot_queues_packet packet;
    char got[16] = "";
    while (foliot_queues_read(e.queues, peer, 111 * MS, &packet)) {
        strncat(got, (const char *)packet.bytes, packet.length);
        foliot_queues_release(&packet);
    }
    assert_string_equal(got, "keptnew"); // "six" waited for more than 100 ms
    expect_nothing(e.transport);
    assert_int_equal(foliot_transport_get_counters(e.transport)->packets_queue_full, 2);
    close_queues(&e);
}

TEST(a_peer_that_takes_nothing_is_disconnected)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.reliable_bytes_max = 10;
    ends e = open_queues(&config);
    foliot_peer_id slow = join(e.queues, 7), other = join(e.queues, 8);
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, slow, NULL);
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, other, NULL);
    demand(send_text(e.transport, slow, FOLIOT_DELIVERY_RELIABLE, "longer than ten")); // one may
    foliot_peer_id both[2] = {slow, other};
    assert_int_equal(foliot_transport_send_many(e.transport, both, 2, FOLIOT_DELIVERY_RELIABLE,
                                                (const uint8_t *)"more", 4),
                     1);
    expect_end(e.queues, slow, FOLIOT_DISCONNECT_SLOW);
    expect_taken(e.queues, other, "more");
    foliot_transport_event event;
    assert_true(foliot_transport_poll(e.transport, 2 * MS, &event));
    assert_int_equal(event.kind, FOLIOT_TRANSPORT_DISCONNECTED);
    assert_int_equal(event.peer.value, slow.value);
    assert_int_equal(event.reason, FOLIOT_DISCONNECT_SLOW);
    assert_int_equal(put(e.queues, slow, FOLIOT_DELIVERY_RELIABLE, "x"), FOLIOT_STATUS_NOT_FOUND);
    foliot_queues_leave(e.queues, slow, 0);
    expect_nothing(e.transport); // it is reported once
    close_queues(&e);
}

TEST(an_end_comes_after_what_was_sent_before)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.peers_max = 1;
    ends e = open_queues(&config);
    foliot_peer_id peer = join(e.queues, 7), second;
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, peer, NULL);
    assert_int_equal(put(e.queues, peer, FOLIOT_DELIVERY_RELIABLE, "too late"), FOLIOT_STATUS_OK);
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "bye"));
    foliot_transport_disconnect(e.transport, peer, 300, false);
    assert_int_equal(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "x"),
                     FOLIOT_STATUS_NOT_FOUND);
    expect_nothing(e.transport); // of a connection that its owner has ended
    expect_taken(e.queues, peer, "bye");
    expect_end(e.queues, peer, 300);
    assert_int_equal(foliot_queues_join(e.queues, "", 8, NULL, MS, &second), FOLIOT_STATUS_FULL);
    foliot_queues_leave(e.queues, peer, 0);
    second = join(e.queues, 8);
    assert_int_not_equal(second.value, peer.value); // no id is used twice
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, second, NULL);
    demand(send_text(e.transport, second, FOLIOT_DELIVERY_RELIABLE, "never seen"));
    foliot_transport_disconnect(e.transport, second, 301, true);
    expect_end(e.queues, second, 301);
    expect_none(e.queues, peer);
    assert_int_equal(foliot_transport_get_counters(e.transport)->connects, 2);
    close_queues(&e);
}

TEST(an_address_has_its_share_alone)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.peers_per_address_max = 2;
    ends e = open_queues(&config);
    foliot_peer_id first = join(e.queues, 7), peer;
    join(e.queues, 7);
    assert_int_equal(foliot_queues_join(e.queues, "", 7, NULL, MS, &peer), FOLIOT_STATUS_FULL);
    join(e.queues, 8);
    foliot_status status = FOLIOT_STATUS_OK;
    for (int i = 0; i < 100 && status == FOLIOT_STATUS_OK; i++) {
        foliot_queues_leave(e.queues, first, 0);
        status = foliot_queues_join(e.queues, "", 7, NULL, MS, &first);
    }
    assert_int_equal(status, FOLIOT_STATUS_AGAIN);
    assert_int_equal(foliot_queues_join(e.queues, "", 0, NULL, MS, &peer), FOLIOT_STATUS_INVALID);
    foliot_transport_event event;
    while (foliot_transport_poll(e.transport, 2 * MS, &event))
        ;
    const foliot_transport_counters *counted = foliot_transport_get_counters(e.transport);
    assert_int_equal(counted->connects_over_address, 1);
    assert_int_equal(counted->connects_too_fast, 1);
    close_queues(&e);
}

TEST(either_side_may_end_first)
{
    foliot_queues_config config = foliot_queues_config_default();
    ends e = open_queues(&config);
    foliot_peer_id peer = join(e.queues, 7), late;
    demand(send_text(e.transport, peer, FOLIOT_DELIVERY_RELIABLE, "last"));
    foliot_transport_destroy(e.transport);
    assert_true(readable(foliot_queues_get_descriptor(e.queues)));
    expect_taken(e.queues, peer, "last");
    expect_end(e.queues, peer, FOLIOT_DISCONNECT_NONE);
    assert_int_equal(foliot_queues_join(e.queues, "", 7, NULL, MS, &late), FOLIOT_STATUS_REFUSED);
    foliot_queues_close(e.queues);
    e = open_queues(&config);
    peer = join(e.queues, 7);
    foliot_queues_close(e.queues);
    expect_event(e.transport, FOLIOT_TRANSPORT_CONNECTED, peer, NULL);
    expect_event(e.transport, FOLIOT_TRANSPORT_DISCONNECTED, peer, NULL);
    foliot_transport_destroy(e.transport);
}

TEST(bad_limits_are_refused)
{
    for (int i = 0; i < 4; i++) {
        foliot_queues_config config = foliot_queues_config_default();
        ends e;
        if (i == 0)
            config.peers_max = 0;
        if (i == 1)
            config.peers_max = FOLIOT_PEERS_MAX + 1;
        if (i == 2)
            config.reliable_bytes_max = 0;
        if (i == 3)
            config = (foliot_queues_config){0};
        assert_int_equal(foliot_transport_create_queues(&config, &e.transport, &e.queues),
                         FOLIOT_STATUS_INVALID);
    }
}

// -- both

TEST(two_transports_are_one)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.peers_max = 2;
    ends first = open_queues(&config), second = open_queues(&config);
    foliot_transport *both;
    demand(foliot_transport_create_both(first.transport, second.transport, &both));
    int descriptor = foliot_transport_get_descriptor(both);
    assert_false(readable(descriptor));
    foliot_peer_id inner[3] = {join(first.queues, 7), join(second.queues, 8),
                               join(second.queues, 9)},
                   outer[3];
    assert_int_equal(inner[0].value, inner[1].value); // each counts for itself
    assert_true(readable(descriptor));
    for (int i = 0; i < 3; i++) {
        foliot_transport_event event;
        assert_true(foliot_transport_poll(both, 2 * MS, &event));
        outer[i] = event.peer;
        for (int k = 0; k < i; k++)
            assert_int_not_equal(outer[i].value, outer[k].value);
        assert_int_equal(foliot__transport_get_peer_address_key(both, outer[i]), 7 + i);
    }
    expect_nothing(both);
    assert_false(readable(descriptor));
    demand(put(second.queues, inner[2], FOLIOT_DELIVERY_RELIABLE, "here"));
    expect_event(both, FOLIOT_TRANSPORT_RECEIVED, outer[2], "here");
    assert_int_equal(foliot_transport_send_many(both, outer, 3, FOLIOT_DELIVERY_RELIABLE,
                                                (const uint8_t *)"all", 3),
                     3);
    assert_int_equal(foliot_transport_get_backlog(both, outer[1]), 1);
    foliot_transport_flush(both, 2 * MS);
    expect_taken(first.queues, inner[0], "all");
    expect_taken(second.queues, inner[1], "all");
    expect_taken(second.queues, inner[2], "all");
    foliot_transport_disconnect(both, outer[1], 300, false);
    expect_end(second.queues, inner[1], 300);
    expect_none(first.queues, inner[0]);
    assert_int_equal(send_text(both, outer[1], FOLIOT_DELIVERY_RELIABLE, "x"),
                     FOLIOT_STATUS_NOT_FOUND);
    assert_int_equal(send_text(both, outer[0], FOLIOT_DELIVERY_RELIABLE, ""), FOLIOT_STATUS_FULL);
    foliot_queues_leave(first.queues, inner[0], 301);
    expect_event(both, FOLIOT_TRANSPORT_DISCONNECTED, outer[0], NULL);
    const foliot_transport_counters *counted = foliot_transport_get_counters(both);
    assert_int_equal(counted->connects, 3);
    assert_int_equal(counted->packets_sent, 3);
    assert_int_equal(counted->packets_refused, 2);
    assert_int_equal(counted->packets_received, 1);
    foliot_transport_destroy(both);
    foliot_queues_close(first.queues);
    foliot_queues_close(second.queues);
}

TEST(too_many_together_are_refused)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.peers_max = FOLIOT_PEERS_MAX;
    ends first = open_queues(&config);
    config.peers_max = 1;
    ends second = open_queues(&config);
    foliot_transport *both;
    assert_int_equal(foliot_transport_create_both(first.transport, second.transport, &both),
                     FOLIOT_STATUS_INVALID);
    close_queues(&first); // they are still the caller's
    close_queues(&second);
}

// -- threads

#define THREADS 4
#define ROUNDS 100
#define PACKETS 20

typedef struct network { // one thread's part of it
    foliot_queues *queues;
    uint64_t key;
    atomic_uint *left;
    unsigned echoed, wrong;
} network;

// A peer joins, sends numbers, gets each back in order and leaves, again and again.
static void *run_network(void *of)
{
    network *n = of;
    for (int round = 0; round < ROUNDS; round++) {
        foliot_peer_id peer;
        if (foliot_queues_join(n->queues, "x", n->key, NULL, (uint64_t)round * 1000 * MS, &peer) !=
            FOLIOT_STATUS_OK) {
            n->wrong++;
            continue;
        }
        for (uint32_t i = 0; i < PACKETS; i++)
            n->wrong += foliot_queues_put(n->queues, peer, FOLIOT_DELIVERY_RELIABLE,
                                          (const uint8_t *)&i, sizeof i, 0) != FOLIOT_STATUS_OK;
        for (uint32_t next = 0; next < PACKETS;) {
            foliot_queues_packet packet;
            if (!foliot_queues_read(n->queues, peer, 0, &packet)) {
                foliot_queues_next(n->queues); // names are the business of all of them
                continue;
            }
            if (packet.delivery == FOLIOT_DELIVERY_RELIABLE) {
                n->wrong += packet.ended || memcmp(packet.bytes, &next, sizeof next) != 0;
                n->echoed++;
                next++;
            }
            foliot_queues_release(&packet);
        }
        foliot_queues_leave(n->queues, peer, 0);
    }
    atomic_fetch_sub(n->left, 1);
    return NULL;
}

TEST(threads_meet_without_loss)
{
    foliot_queues_config config = foliot_queues_config_default();
    config.joins_per_second = 1e6;
    ends e = open_queues(&config);
    pthread_t threads[THREADS];
    network networks[THREADS];
    atomic_uint left;
    atomic_init(&left, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        networks[i] = (network){.queues = e.queues, .key = i + 1, .left = &left};
        assert_int_equal(pthread_create(&threads[i], NULL, run_network, &networks[i]), 0);
    }
    unsigned here = 0, most = 0;
    foliot_peer_id peers[THREADS];
    for (foliot_transport_event event; atomic_load(&left) > 0;) {
        struct pollfd fd = {.fd = foliot_transport_get_descriptor(e.transport), .events = POLLIN};
        poll(&fd, 1, 10);
        while (foliot_transport_poll(e.transport, MS, &event)) {
            if (event.kind == FOLIOT_TRANSPORT_CONNECTED && here < THREADS)
                peers[here++] = event.peer;
            for (unsigned i = 0; event.kind == FOLIOT_TRANSPORT_DISCONNECTED && i < here; i++)
                if (peers[i].value == event.peer.value)
                    peers[i--] = peers[--here];
            if (event.kind == FOLIOT_TRANSPORT_RECEIVED)
                allow_failure(foliot_transport_send(e.transport, event.peer, event.delivery,
                                                    event.bytes, event.length));
        }
        most = here > most ? here : most;
        foliot_transport_send_many(e.transport, peers, here, FOLIOT_DELIVERY_UNRELIABLE,
                                   (const uint8_t *)"tick", 4);
        foliot_transport_flush(e.transport, MS);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(networks[i].wrong, 0);
        assert_int_equal(networks[i].echoed, ROUNDS * PACKETS);
    }
    foliot_transport_event event;
    while (foliot_transport_poll(e.transport, MS, &event))
        ;
    const foliot_transport_counters *counted = foliot_transport_get_counters(e.transport);
    assert_int_equal(counted->connects, THREADS * ROUNDS);
    assert_int_equal(counted->disconnects, THREADS * ROUNDS);
    assert_int_equal(counted->packets_received, THREADS * ROUNDS * PACKETS);
    close_queues(&e);
}
