// SPDX-License-Identifier: MIT
// test_slow_peers.c: peers that do not acknowledge what they are sent. Goal: what a server holds
// for one of them is bounded, it learns why it was dropped, and nobody else notices. Method: ENet
// on the loopback; a host that sends 64 messages of 1,000 bytes a tick, a client that reads them
// and one that is never updated again.
#include "check.h"
#include "clock.h"

#include <stdio.h>
#include <string.h>

#include "foliot/client.h"
#include "foliot/server.h"

#define PIECES_MIN 8192    // that a server holds for a peer in any case
#define PIECES_MAX 9000    // that a server may hold for a peer, and what one tick adds
#define PIECES_A_MESSAGE 3 // for a peer that answers no probe of its path
#define MESSAGES_A_TICK 64
#define TIMEOUT_MS 60000 // of the transport: the server drops a peer long before, busy or not
#define LIMIT_NS 50000000000ull // for what does not happen
#define SECOND ((uint64_t)1000000000u)

typedef struct host {
    foliot_transport *wire, *wires[2];
    foliot_server *server;
    foliot_client *clients[2];
    foliot_scene scene;
    foliot_body_definition ball;
} host;

static void open_server(host *h, foliot_session_mode mode, uint64_t now_ns)
{
    foliot_transport_config wire = foliot_transport_config_default();
    wire.bind = "127.0.0.1";
    wire.peers_max = 4;
    wire.timeout_ms = TIMEOUT_MS;
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
    h->scene.commands_max = 1000;
    foliot_session_config session = {
        .name = "main", .scene = &h->scene, .mode = mode, .pace_hz = 200};
    assert_int_equal(foliot_world_create(&h->scene, &session.world, NULL), FOLIOT_STATUS_OK);
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

static void end_client(host *h, unsigned i)
{
    foliot_client_destroy(h->clients[i]);
    foliot_transport_destroy(h->wires[i]);
    h->clients[i] = NULL;
    h->wires[i] = NULL;
}

static void close_all(host *h)
{
    for (unsigned i = 0; i < 2; i++)
        end_client(h, i);
    foliot_server_destroy(h->server);
    foliot_transport_destroy(h->wire);
}

// As many variables as there may be bytes in a tick.
static void give_texts(host *h)
{
    char text[FOLIOT_VAR_TEXT_BYTES], key[16];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    for (int i = 0; i < 230; i++) {
        foliot_command c = foliot_command_default(FOLIOT_COMMAND_var);
        snprintf(key, sizeof key, "%d", i);
        c.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, text);
        c.as.var.key = key;
        c.as.var.text = text;
        assert_int_equal(foliot_server_command(h->server, "main", &c, NULL), FOLIOT_STATUS_OK);
    }
}

TEST(a_peer_that_acknowledges_nothing_is_dropped)
{
    host h = {0};
    uint64_t begun_ns = clock_now_ns(), sent = 0, received = 0, most = 0;
    uint8_t bytes[FOLIOT_MESSAGE_BYTES_MAX] = {'x'};
    open_server(&h, FOLIOT_SESSION_SNAPSHOTS, begun_ns);
    join(&h, 0, begun_ns);
    join(&h, 1, begun_ns);
    while (foliot_client_get_statistics(h.clients[0]).snapshots_received == 0 ||
           foliot_client_get_statistics(h.clients[1]).snapshots_received == 0) {
        update(&h, 2);
        check_below((double)(clock_now_ns() - begun_ns), (double)LIMIT_NS);
    }
    const foliot_server_counters *counted = foliot_server_get_counters(h.server);
    uint64_t ticks = counted->ticks;
    begun_ns = clock_now_ns();
    while (counted->peers_dropped == 0 && clock_now_ns() - begun_ns < LIMIT_NS) {
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
    check_below((double)(PIECES_A_MESSAGE * most), PIECES_MAX);
    check_ge(PIECES_A_MESSAGE * most, (uint64_t)PIECES_MIN);
    foliot_server_event dropped = {0};
    bool told = false;
    while (foliot_server_poll(h.server, &dropped))
        told |= dropped.kind == FOLIOT_SERVER_DROPPED &&
                strstr(dropped.text, "does not acknowledge what the server sends");
    assert_true(told);
    assert_int_equal(foliot_client_get_state(h.clients[0]), FOLIOT_CLIENT_PLAYING);
    // The first one gets all messages.
    for (begun_ns = clock_now_ns(); received < sent && clock_now_ns() - begun_ns < LIMIT_NS;) {
        foliot_client_event e;
        update(&h, 1);
        while (foliot_client_poll(h.clients[0], &e))
            received += e.kind == FOLIOT_CLIENT_MESSAGE;
    }
    check_eq(received, sent);
    close_all(&h);
}

// 60 KB of commands a tick, for a client that steps them and one that is never updated again.
TEST(commands_wait_for_who_is_slow)
{
    host h = {0};
    uint64_t begun_ns = clock_now_ns(), given = 0;
    open_server(&h, FOLIOT_SESSION_LOCKSTEP, begun_ns);
    join(&h, 0, begun_ns);
    join(&h, 1, begun_ns);
    while (foliot_client_get_statistics(h.clients[0]).ticks_stepped < 20 ||
           foliot_client_get_statistics(h.clients[1]).ticks_stepped < 20) {
        update(&h, 2);
        check_below((double)(clock_now_ns() - begun_ns), (double)LIMIT_NS);
    }
    const foliot_server_counters *counted = foliot_server_get_counters(h.server);
    uint64_t parts = counted->command_parts_sent, ticks = 0;
    while (given < 200) {
        update(&h, 1);
        check_below((double)(clock_now_ns() - begun_ns), 40e9);
        foliot_client_statistics seen = foliot_client_get_statistics(h.clients[0]);
        const foliot_world *world = foliot_server_get_world(h.server, "main");
        if (counted->ticks == ticks || foliot_world_get_tick(world) > seen.newest_tick + 20)
            continue;
        ticks = counted->ticks;
        give_texts(&h);
        given++;
    }
    // All go to the one who steps: 8 parts a tick. The other has a window's.
    parts = counted->command_parts_sent - parts;
    check_gt((double)parts, 1400);
    check_below((double)parts, 1600 + 300);
    assert_int_equal(foliot_client_get_state(h.clients[0]), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(foliot_client_get_statistics(h.clients[0]).divergences, 0);
    close_all(&h);
}

// False: what was stopped had no connection of ENet's yet, and nothing to wait for.
static bool waits_after_stop(host *h, uint64_t *stopped_ns)
{
    uint64_t begun_ns = clock_now_ns(), give_up_ns = begun_ns + 60 * SECOND;
    *h = (host){0};
    open_server(h, FOLIOT_SESSION_SNAPSHOTS, begun_ns);
    for (unsigned i = 0; i < 2; i++)
        join(h, i, begun_ns);
    while (foliot_client_get_state(h->clients[0]) != FOLIOT_CLIENT_PLAYING ||
           foliot_client_get_state(h->clients[1]) != FOLIOT_CLIENT_PLAYING ||
           clock_now_ns() - begun_ns < SECOND / 2) {
        assert_true(clock_now_ns() < give_up_ns);
        update(h, 2);
    }
    *stopped_ns = clock_now_ns();
    foliot_server_stop(h->server, "over", *stopped_ns);
    while (foliot_client_get_state(h->clients[0]) == FOLIOT_CLIENT_PLAYING) {
        assert_true(clock_now_ns() < give_up_ns);
        foliot_server_update(h->server, *stopped_ns);
        foliot_client_update(h->clients[0], clock_now_ns());
    }
    for (int i = 1; i <= 20; i++) // ENet takes a leap of time for a silence
        foliot_server_update(h->server, *stopped_ns + (uint64_t)i * SECOND / 10);
    return !foliot_server_get_done(h->server);
}

// Until the client says that it knows of the end, for three seconds at most. The server's time is
// the test's own from the stop on.
TEST(a_stopped_server_waits_for_a_starved_client)
{
    uint64_t stopped_ns, give_up_ns = clock_now_ns() + 60 * SECOND;
    for (int returns = 0; returns < 2; returns++) {
        host h;
        while (!waits_after_stop(&h, &stopped_ns)) {
            assert_true(clock_now_ns() < give_up_ns);
            close_all(&h);
        }
        for (int ms = 2000; returns && !foliot_server_get_done(h.server); ms += 10) {
            assert_true(ms < 3000);
            for (unsigned i = 0; i < 2; i++)
                if (h.clients[i] && foliot_client_get_state(h.clients[i]) == FOLIOT_CLIENT_PLAYING)
                    foliot_client_update(h.clients[i], clock_now_ns());
                else
                    end_client(&h, i); // as a program does after the notice
            foliot_server_update(h.server, stopped_ns + (uint64_t)ms * SECOND / 1000);
        }
        foliot_server_update(h.server, stopped_ns + 3 * SECOND);
        assert_true(foliot_server_get_done(h.server));
        close_all(&h);
    }
}
