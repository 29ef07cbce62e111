// SPDX-License-Identifier: MIT
// test_slow_peers.c: peers that do not acknowledge what they are sent. Goal: what a server holds
// for one of them is bounded, it is told why it was dropped, and nobody else notices. Method: ENet
// on the loopback; a host that sends 64 messages of 1,000 bytes a tick, a client that reads them
// and one that is never updated again.
#include "check.h"
#include "clock.h"

#include <string.h>

#include "foliot/client.h"
#include "foliot/server.h"

#define PIECES_MAX 9000 // that a server may hold for a peer, and what one tick adds
#define MESSAGES_A_TICK 64

typedef struct host {
    foliot_transport *wire, *wires[2];
    foliot_server *server;
    foliot_client *clients[2];
    foliot_scene scene;
    foliot_body_definition ball;
} host;

static void open_server(host *h, uint64_t now_ns)
{
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.peers_max = 4;
    assert_int_equal(foliot_transport_create_enet(&wire, now_ns, &h->wire), FOLIOT_STATUS_OK);
    foliot_server_config config = foliot_server_config_default();
    config.transport = h->wire;
    assert_int_equal(foliot_server_create(&config, now_ns, &h->server), FOLIOT_STATUS_OK);
    h->ball = foliot_body_definition_default();
    h->ball.name = "ball";
    h->ball.mass = 1;
    h->ball.shape.kind = FOLIOT_SHAPE_SPHERE;
    h->ball.shape.radius = 0.2;
    h->scene = foliot_scene_default();
    h->scene.name = "ball";
    h->scene.dt = 1.0 / 200;
    h->scene.integrator = FOLIOT_INTEGRATOR_VELOCITY_VERLET;
    h->scene.bodies = &h->ball;
    h->scene.body_count = 1;
    foliot_session_config session = {.name = "main", .scene = &h->scene, .pace_hz = 200};
    assert_int_equal(foliot_world_create(&h->scene, &session.world), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(h->server, &session, now_ns), FOLIOT_STATUS_OK);
}

static void join(host *h, unsigned i, uint64_t now_ns)
{
    foliot_transport_config wire = foliot_transport_config_default();
    assert_int_equal(foliot_transport_create_enet(&wire, now_ns, &h->wires[i]), FOLIOT_STATUS_OK);
    foliot_client_config config = foliot_client_config_default();
    config.transport = h->wires[i];
    config.port = foliot_transport_get_port(h->wire);
    config.spectates = true;
    assert_int_equal(foliot_client_create(&config, now_ns, &h->clients[i]), FOLIOT_STATUS_OK);
}

static void update(host *h, unsigned clients)
{
    uint64_t now_ns = clock_now_ns();
    foliot_server_update(h->server, now_ns);
    for (unsigned i = 0; i < clients; i++)
        foliot_client_update(h->clients[i], now_ns);
}

static void a_peer_that_acknowledges_nothing_is_dropped(void **state)
{
    (void)state;
    host h = {0};
    uint64_t begun_ns = clock_now_ns(), sent = 0, received = 0, most = 0;
    uint8_t bytes[FOLIOT_MESSAGE_BYTES_MAX] = {'x'};
    open_server(&h, begun_ns);
    join(&h, 0, begun_ns);
    join(&h, 1, begun_ns);
    while (foliot_client_get_statistics(h.clients[0]).snapshots_received == 0 ||
           foliot_client_get_statistics(h.clients[1]).snapshots_received == 0) {
        update(&h, 2);
        check_below((double)(clock_now_ns() - begun_ns), 20e9);
    }
    const foliot_server_counters *counted = foliot_server_get_counters(h.server);
    uint64_t ticks = counted->ticks;
    begun_ns = clock_now_ns();
    while (counted->peers_dropped == 0 && clock_now_ns() - begun_ns < 8000000000u) {
        foliot_client_event e;
        update(&h, 1); // the second reads nothing any more
        while (foliot_client_poll(h.clients[0], &e))
            received += e.kind == FOLIOT_CLIENT_MESSAGE;
        // No more at once than the client takes, so that it alone is slow.
        if (counted->ticks == ticks || sent - received > 2000)
            continue;
        ticks = counted->ticks;
        for (int i = 0; i < MESSAGES_A_TICK; i++, sent++)
            assert_int_equal(
                foliot_server_message(h.server, "main", FOLIOT_TO_ALL, bytes, sizeof bytes, true),
                FOLIOT_STATUS_OK);
        most = sent > most ? sent : most;
    }
    assert_int_equal(counted->peers_dropped, 1);
    check_below((double)most, PIECES_MAX);
    foliot_server_event dropped = {0};
    bool told = false;
    while (foliot_server_poll(h.server, &dropped))
        told |= dropped.kind == FOLIOT_SERVER_DROPPED &&
                strstr(dropped.text, "does not acknowledge what it is sent");
    assert_true(told);
    assert_int_equal(foliot_client_get_state(h.clients[0]), FOLIOT_CLIENT_PLAYING);
    check_gt((double)received, 4000);
    for (int i = 0; i < 2; i++) {
        foliot_client_destroy(h.clients[i]);
        foliot_transport_destroy(h.wires[i]);
    }
    foliot_server_destroy(h.server);
    foliot_transport_destroy(h.wire);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_peer_that_acknowledges_nothing_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
