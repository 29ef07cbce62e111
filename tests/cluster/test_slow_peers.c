// SPDX-License-Identifier: MIT
// test_slow_peers.c: peers that do not acknowledge what they are sent. Goal: what a server holds
// for one of them is bounded, it learns why it was dropped, and nobody else notices. Method: ENet
// on the loopback; a host that sends 64 messages of 1,000 bytes a tick, a client that reads them
// and one that is never updated again.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "cluster.h"

#define PIECES_MIN 8192    // that a server holds for a peer in any case
#define PIECES_MAX 9000    // that a server may hold for a peer, and what one tick adds
#define PIECES_A_MESSAGE 3 // for a peer that answers no probe of its path
#define MESSAGES_A_TICK 64
#define TIMEOUT_MS 60000 // of the transport: the server drops a peer long before
#define LIMIT_S 50       // for what does not happen
#define SECOND ((uint64_t)1000000000u)

// A ball, and two spectators.
static cluster *open_cluster(foliot_session_mode mode)
{
    static foliot_body_definition ball;
    static foliot_scene scene;
    foliot_transport_config wire = foliot_transport_config_default();
    cluster *c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY, .enet = true});
    ball = foliot_body_definition_default();
    ball.name = "ball";
    ball.mass = 1;
    ball.shape.kind = FOLIOT_SHAPE_SPHERE;
    ball.shape.radius = 0.2;
    scene = foliot_scene_default();
    scene.name = "ball";
    scene.dt = 1.0 / 200;
    scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    scene.bodies = &ball;
    scene.body_count = 1;
    scene.commands_max = 1000;
    wire.peers_max = 4;
    wire.timeout_ms = TIMEOUT_MS;
    cluster_serve(c, NULL, &wire);
    cluster_host(
        c, &(foliot_session_config){.name = "main", .scene = &scene, .mode = mode, .pace_hz = 200});
    for (int i = 0; i < 2; i++)
        cluster_spectator(c, NULL);
    return c;
}

static void step(cluster *c, uint64_t begun_ns)
{
    cluster_run(c, 0.001);
    check_below(1e-9 * (double)(c->now_ns - begun_ns), LIMIT_S);
}

static uint64_t count_messages(cluster *c, unsigned client)
{
    foliot_client_event e;
    uint64_t count = 0;
    while (foliot_client_poll(c->clients[client], &e))
        count += e.kind == FOLIOT_CLIENT_MESSAGE;
    return count;
}

// As many variables as there may be bytes in a tick.
static void give_texts(cluster *c)
{
    char text[FOLIOT_VAR_TEXT_BYTES], key[16];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < 230; i++) {
        foliot_command command = foliot_command_default(FOLIOT_COMMAND_var);
        snprintf(key, sizeof key, "%d", i);
        command.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, text);
        command.as.var.key = key;
        command.as.var.text = text;
        assert_int_equal(foliot_server_command(c->server, "main", &command, NULL),
                         FOLIOT_STATUS_OK);
    }
}

TEST(a_peer_that_acknowledges_nothing_is_dropped)
{
    uint64_t sent = 0, received = 0, most = 0;
    uint8_t bytes[FOLIOT_MESSAGE_BYTES_MAX] = {'x'};
    cluster *c = open_cluster(FOLIOT_SESSION_SNAPSHOTS);
    uint64_t begun_ns = c->now_ns;
    while (cluster_get_statistics(c, 0).snapshots_received == 0 ||
           cluster_get_statistics(c, 1).snapshots_received == 0)
        step(c, begun_ns);
    const foliot_server_counters *counted = cluster_get_counters(c);
    uint64_t ticks = counted->ticks;
    c->asleep[1] = true; // it reads nothing any more
    for (begun_ns = c->now_ns; counted->peers_dropped == 0;) {
        step(c, begun_ns);
        received += count_messages(c, 0);
        // No more at once than the first one reads, so that the other alone is slow.
        if (counted->ticks == ticks || sent - received > 2000)
            continue;
        ticks = counted->ticks;
        for (int i = 0; i < MESSAGES_A_TICK; i++, sent++)
            assert_int_equal(
                foliot_server_message(c->server, "main", FOLIOT_TO_ALL, bytes, sizeof bytes, true),
                FOLIOT_STATUS_OK);
        most = sent > most ? sent : most;
    }
    assert_int_equal(counted->peers_dropped, 1);
    assert_int_equal(c->events[FOLIOT_SERVER_DROPPED], 1);
    check_below((double)(PIECES_A_MESSAGE * most), PIECES_MAX);
    check_ge(PIECES_A_MESSAGE * most, (uint64_t)PIECES_MIN);
    assert_int_equal(foliot_client_get_state(c->clients[0]), FOLIOT_CLIENT_PLAYING);
    // The first one gets all messages.
    for (begun_ns = c->now_ns; received < sent; received += count_messages(c, 0))
        step(c, begun_ns);
    check_eq(received, sent);
    cluster_destroy(c);
}

// 60 KB of commands a tick, for a client that steps them and one that is never updated again.
TEST(commands_wait_for_who_is_slow)
{
    uint64_t given = 0, ticks = 0;
    cluster *c = open_cluster(FOLIOT_SESSION_LOCKSTEP);
    uint64_t begun_ns = c->now_ns;
    while (cluster_get_statistics(c, 0).ticks_stepped < 20 ||
           cluster_get_statistics(c, 1).ticks_stepped < 20)
        step(c, begun_ns);
    const foliot_server_counters *counted = cluster_get_counters(c);
    uint64_t parts = counted->command_parts_sent;
    c->asleep[1] = true;
    while (given < 200) {
        step(c, begun_ns);
        if (counted->ticks == ticks ||
            cluster_get_tick(c) > cluster_get_statistics(c, 0).newest_tick + 20)
            continue;
        ticks = counted->ticks;
        give_texts(c);
        given++;
    }
    // All go to the one who steps: 8 parts a tick. The other has a window's.
    parts = counted->command_parts_sent - parts;
    check_gt((double)parts, 1400);
    check_below((double)parts, 1600 + 300);
    assert_int_equal(foliot_client_get_state(c->clients[0]), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(cluster_get_statistics(c, 0).divergences, 0);
    cluster_destroy(c);
}

static bool plays(const cluster *c, unsigned client)
{
    return c->clients[client] &&
           foliot_client_get_state(c->clients[client]) == FOLIOT_CLIENT_PLAYING;
}

// Until the client says that it knows of the end, for three seconds at most. From the stop on, the
// second client is starved.
TEST(a_stopped_server_waits_for_a_starved_client)
{
    for (int returns = 0; returns < 2; returns++) {
        cluster *c = open_cluster(FOLIOT_SESSION_SNAPSHOTS);
        uint64_t begun_ns = c->now_ns;
        while (!plays(c, 0) || !plays(c, 1) || c->now_ns - begun_ns < SECOND / 2)
            step(c, begun_ns);
        uint64_t stopped_ns = c->now_ns;
        foliot_server_stop(c->server, "over", stopped_ns);
        c->asleep[1] = true;
        while (plays(c, 0))
            step(c, begun_ns);
        cluster_run(c, 2 - 1e-9 * (double)(c->now_ns - stopped_ns));
        assert_false(foliot_server_get_done(c->server));
        c->asleep[1] = !returns;
        while (returns && !foliot_server_get_done(c->server)) {
            check_lt(c->now_ns - stopped_ns, 3 * SECOND);
            for (unsigned i = 0; i < 2; i++)
                if (c->clients[i] && !plays(c, i))
                    cluster_leave(c, i); // as a program does at the end
            step(c, begun_ns);
        }
        cluster_run(c, 3.01 - 1e-9 * (double)(c->now_ns - stopped_ns));
        assert_true(foliot_server_get_done(c->server));
        cluster_destroy(c);
    }
}
