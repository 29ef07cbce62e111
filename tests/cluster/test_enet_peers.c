// SPDX-License-Identifier: MIT
// Goal: what a client tells ENet of itself harms nobody. A client with ENet's largest MTU made the
// server's datagrams outgrow their buffer by the checksum, and the server ended; and one address
// held all of ENet's peers, since those that a host still says farewell to were counted by nobody.
// Method: real transports on the loopback; the clients' ENet lies, or falls silent as soon as it
// has connected.
#include "check.h"

#include <string.h>
#include <time.h>

#include "clock.h"
#include "cluster.h"
#include "foliot/transport.h"
#include "net/enet_internal.h"
#include "status.h"

#define PEERS 32
#define PER_ADDRESS 8
#define CLIENTS 60

static enet_transport *open_host(void)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *host;
    config.bind = "127.0.0.1";
    config.peers_max = PEERS;
    config.peers_per_address_max = PER_ADDRESS;
    config.joins_per_second = 1000;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &host),
                     FOLIOT_STATUS_OK);
    return (enet_transport *)host;
}

static foliot_transport *open_client(void)
{
    foliot_transport_config config = foliot_transport_config_default();
    foliot_transport *client;
    assert_int_equal(foliot_transport_create_enet(&config, clock_now_ns(), &client),
                     FOLIOT_STATUS_OK);
    return client;
}

static void drain(foliot_transport *t, foliot_peer_id *peer)
{
    foliot_transport_event event;
    while (foliot_transport_poll(t, clock_now_ns(), &event))
        if (event.kind == FOLIOT_TRANSPORT_CONNECTED)
            *peer = event.peer;
    foliot_transport_flush(t, clock_now_ns());
}

TEST(a_client_with_the_largest_mtu_ends_no_server)
{
    static uint8_t bytes[8192];
    enet_transport *host = open_host();
    foliot_transport *client = open_client();
    ENetHost *theirs = ((enet_transport *)client)->host;
    foliot_peer_id at_host = {0}, at_client;
    theirs->mtu = ENET_PROTOCOL_MAXIMUM_MTU;
    for (size_t i = 0; i < theirs->peerCount; i++)
        theirs->peers[i].mtu = ENET_PROTOCOL_MAXIMUM_MTU;
    assert_int_equal(foliot_transport_connect(client, "127.0.0.1",
                                              foliot_transport_get_port(&host->head),
                                              clock_now_ns(), &at_client),
                     FOLIOT_STATUS_OK);
    for (uint64_t end = clock_now_ns() + 400000000u; clock_now_ns() < end;) {
        drain(&host->head, &at_host);
        drain(client, &at_client);
    }
    // The largest packet that fits without the checksum.
    allow_failure(
        foliot_transport_send(&host->head, at_host, FOLIOT_DELIVERY_RELIABLE, bytes, 4000));
    allow_failure(foliot_transport_send(&host->head, at_host, FOLIOT_DELIVERY_RELIABLE, bytes,
                                        4092 - 4006 - 6));
    drain(&host->head, &at_host);
    check_gt(foliot_transport_get_counters(&host->head)->datagrams_dropped_malformed, 0);
    for (size_t i = 0; i < host->host->peerCount; i++)
        assert_true(host->host->peers[i].state == ENET_PEER_STATE_DISCONNECTED ||
                    host->host->peers[i].mtu <= 1400);
    foliot_transport_destroy(client);
    foliot_transport_destroy(&host->head);
}

TEST(one_address_holds_no_more_of_enets_peers_than_connections)
{
    static uint8_t bytes[40];
    enet_transport *host = open_host();
    foliot_transport *clients[CLIENTS];
    foliot_peer_id ignored = {0};
    uint32_t most = 0, made = 0, dismissed = 0;
    for (; made < CLIENTS; made++) {
        foliot_transport *client = clients[made] = open_client();
        assert_int_equal(foliot_transport_connect(client, "127.0.0.1",
                                                  foliot_transport_get_port(&host->head),
                                                  clock_now_ns(), &ignored),
                         FOLIOT_STATUS_OK);
        for (uint64_t end = clock_now_ns() + 40000000u; clock_now_ns() < end;) {
            uint32_t used = 0;
            drain(client, &ignored);
            drain(&host->head, &ignored);
            for (uint32_t i = 0; i < PEERS; i++) {
                if (host->slots[i].state != SLOT_CONNECTED)
                    continue;
                // Refused: it is notified, and then silent.
                foliot_peer_id peer = foliot__slot_id(host, &host->slots[i]);
                allow_failure(foliot_transport_send(&host->head, peer, FOLIOT_DELIVERY_RELIABLE,
                                                    bytes, sizeof bytes));
                foliot_transport_disconnect(&host->head, peer, 257, false);
                dismissed++;
                end = clock_now_ns();
            }
            for (size_t i = 0; i < host->host->peerCount; i++)
                used += host->host->peers[i].state != ENET_PEER_STATE_DISCONNECTED;
            most = used > most ? used : most;
        }
    }
    print_message("%u dismissed, at most %u of %u peers in use\n", dismissed, most, PEERS);
    check_ge(dismissed, PER_ADDRESS);
    check_le(most, PER_ADDRESS);
    for (uint32_t i = 0; i < made; i++)
        foliot_transport_destroy(clients[i]);
    foliot_transport_destroy(&host->head);
}

// Four answers fit into a datagram of 45 bytes, and to find the largest that waits in ENet's queues
// takes as long as they are: so only an answer to a probe updates its peer's sizes.
TEST(answers_that_nobody_asked_for_walk_no_queue)
{
    enet_transport *host = open_host();
    foliot_transport *client = open_client();
    foliot_peer_id at_host = {0}, at_client;
    assert_int_equal(foliot_transport_connect(client, "127.0.0.1",
                                              foliot_transport_get_port(&host->head),
                                              clock_now_ns(), &at_client),
                     FOLIOT_STATUS_OK);
    slot *s = NULL;
    for (uint64_t end = clock_now_ns() + 10000000000u;
         !(s && s->state == SLOT_CONNECTED && s->path.proven == s->path.most) &&
         clock_now_ns() < end;) {
        drain(&host->head, &at_host);
        drain(client, &at_client);
        s = foliot__slot_of(host, at_host);
    }
    assert_non_null(s);
    assert_int_equal(s->path.proven, s->path.most);
    enet_uint32 found = s->peer->mtu;
    s->peer->mtu = found + 1; // until it is found again
    const uint16_t sizes[] = {FOLIOT__PATH_BYTES_MIN, FOLIOT__PATH_BYTES_START, 1};
    for (uint32_t i = 0; i < 4 * 65536; i++) {
        const uint16_t size = i % 4 < 3 ? sizes[i % 4] : s->path.proven;
        const uint8_t answer[FOLIOT__PATH_ANSWER_BYTES] = {FOLIOT__PATH_ANSWER, (uint8_t)(i / 4),
                                                           (uint8_t)(i / 1024), (uint8_t)size,
                                                           (uint8_t)(size >> 8)};
        foliot__raw_datagram datagram = {.count = 1,
                                         .packets = {answer},
                                         .lengths = {sizeof answer},
                                         .kinds = {FOLIOT__RAW_PATH}};
        foliot__enet_receive_item(host, s, &datagram, 0, 45, clock_now_ns());
        assert_int_equal(s->peer->mtu, found + 1);
    }
    s->peer->mtu = found;
    foliot_transport_destroy(client);
    foliot_transport_destroy(&host->head);
}

// The queue of a peer that acknowledges nothing is walked when one of its packets is to be sent
// again, and at no poll before.
TEST(a_silent_peers_queue_is_walked_when_a_resend_is_due)
{
    enet_transport *host = open_host();
    foliot_transport *client = open_client();
    foliot_peer_id at_host = {0}, at_client;
    foliot_transport_event e;
    uint8_t bytes[400] = {0};
    assert_int_equal(foliot_transport_connect(client, "127.0.0.1",
                                              foliot_transport_get_port(&host->head),
                                              clock_now_ns(), &at_client),
                     FOLIOT_STATUS_OK);
    slot *s = NULL;
    for (uint64_t end = clock_now_ns() + 10000000000u;
         !(s && s->state == SLOT_CONNECTED && s->path.proven == s->path.most) &&
         clock_now_ns() < end;) {
        drain(&host->head, &at_host);
        drain(client, &at_client);
        s = foliot__slot_of(host, at_host);
    }
    assert_non_null(s);
    uint64_t now_ns = clock_now_ns();
    for (int i = 0; i < 100; i++)
        assert_int_equal(foliot_transport_send(&host->head, at_host, FOLIOT_DELIVERY_RELIABLE,
                                               bytes, sizeof bytes),
                         FOLIOT_STATUS_OK);
    foliot_transport_flush(&host->head, now_ns);
    assert_false(enet_list_empty(&s->peer->sentReliableCommands));
    ENetOutgoingCommand *oldest =
        (ENetOutgoingCommand *)(void *)enet_list_begin(&s->peer->sentReliableCommands);
    s->peer->roundTripTime = 500;
    s->peer->roundTripTimeVariance = 0;
    s->resend_ms = (uint32_t)(now_ns / 1000000u);
    for (int i = 0; i < 40; i++) { // of 25 ms
        now_ns += 25000000;
        while (foliot_transport_poll(&host->head, now_ns, &e))
            assert_int_not_equal(e.kind, FOLIOT_TRANSPORT_DISCONNECTED);
        if (i == 0) { // it is looked at, and is due after twice the round trip: they are many
            assert_int_equal(oldest->roundTripTimeout, 1000);
            oldest->roundTripTimeout = 12345;
        }
        if (i < 38)
            assert_int_equal(oldest->roundTripTimeout, 12345);
    }
    assert_int_not_equal(oldest->roundTripTimeout, 12345);
    // Its times double from a millisecond up to a part of the time-out: it gets few copies.
    s->peer->roundTripTime = 1;
    uint16_t copies = oldest->sendAttempts;
    for (int i = 0; i < 1600; i++) { // of 5 ms
        now_ns += 5000000;
        while (foliot_transport_poll(&host->head, now_ns, &e))
            assert_int_not_equal(e.kind, FOLIOT_TRANSPORT_DISCONNECTED);
        foliot_transport_flush(&host->head, now_ns);
    }
    print_message("%u copies in eight seconds\n", oldest->sendAttempts - copies);
    check_le(oldest->sendAttempts - copies, 14);
    foliot_transport_destroy(client);
    foliot_transport_destroy(&host->head);
}

// -- bridged: a server with two transports, one of them queues: clients of both see each other,
// bad networks harm no more than they do elsewhere, and a peer that takes nothing harms nobody.
// Method: the cluster carries between the queues and clients, on the virtual clock.

static foliot_client_state state_of(const cluster *s, unsigned client)
{
    return foliot_client_get_state(s->clients[client]);
}

static uint64_t snapshots_of(const cluster *s, unsigned client)
{
    return foliot_client_get_statistics(s->clients[client]).snapshots_received;
}

TEST(clients_of_both_transports_play_together)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .bridged = true});
    for (int i = 0; i < 4; i++)
        cluster_player(s, "delay=1ms");
    cluster_run(s, 3);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(state_of(s, i), FOLIOT_CLIENT_PLAYING);
        assert_true(snapshots_of(s, i) > 120);
    }
    assert_int_equal(s->bridge.count, 2);
    assert_int_equal(foliot_server_get_counters(s->server)->joins, 4);
    foliot_client_leave(s->clients[1], s->now_ns);
    cluster_run(s, 1);
    assert_int_equal(s->bridge.count, 1);
    assert_int_equal(state_of(s, 3), FOLIOT_CLIENT_PLAYING);
    foliot_server_stop(s->server, "over", s->now_ns);
    cluster_run(s, 1);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(state_of(s, i), FOLIOT_CLIENT_CLOSED);
    cluster_destroy(s);
}

TEST(a_bad_network_behind_the_queues_is_survived)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .bridged = true});
    cluster_player(s, "loss=5%,delay=25ms,jitter=0-20ms,seed=3");
    cluster_player(s, "loss=5%,delay=25ms,jitter=0-20ms,seed=4");
    cluster_run(s, 20);
    assert_int_equal(state_of(s, 1), FOLIOT_CLIENT_PLAYING);
    assert_true(snapshots_of(s, 1) > 1000);
    assert_true(snapshots_of(s, 1) * 100 > snapshots_of(s, 0) * 97);
    cluster_destroy(s);
}

TEST(a_peer_that_takes_nothing_harms_nobody)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .bridged = true});
    cluster_player(s, "delay=1ms");
    cluster_spectator(s, "delay=1ms");
    cluster_run(s, 2);
    s->bridge.stopped[0] = true;
    uint64_t tick = foliot_world_get_tick(foliot_server_get_world(s->server, "main")),
             snapshots = snapshots_of(s, 0);
    cluster_run(s, 1);
    assert_int_equal(foliot_world_get_tick(foliot_server_get_world(s->server, "main")), tick + 60);
    assert_true(snapshots_of(s, 0) > snapshots + 55);
    s->bridge.stopped[0] = false;
    snapshots = snapshots_of(s, 1);
    cluster_run(s, 2);
    assert_int_equal(state_of(s, 1), FOLIOT_CLIENT_PLAYING);
    assert_true(snapshots_of(s, 1) > snapshots + 60);
    // Packets that had waited for too long were not given to it.
    assert_true(foliot_transport_get_counters(s->host)->packets_queue_full > 20);
    cluster_destroy(s);
}
