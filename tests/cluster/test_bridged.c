// SPDX-License-Identifier: MIT
// test_bridged.c: a server with two transports, one of them queues: clients of both see each other,
// bad networks harm no more than they do elsewhere, and a peer that takes nothing harms nobody.
// Method: tests/support/bridge.h carries between the queues and clients, on the virtual clock.
#include "check.h"

#include "foliot/transport.h"
#include "cluster.h"
#include "status.h"

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
