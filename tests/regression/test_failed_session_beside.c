// SPDX-License-Identifier: MIT
// Goal: where one of two sessions ends because its step fails, the other one goes on, and no
// connection is kept for players of the first: they could not come back. Method: a server over the
// transport in memory, with as many connections as spectators of the second session.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "bulky.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/server.h"

#define CLIENTS 6
#define PEERS_MAX 4
#define FAILING_TICK 20

typedef struct host {
    foliot_hub *hub;
    foliot_transport *wires[CLIENTS + 1]; // the last is the server's
    foliot_server *server;
    foliot_client *clients[CLIENTS];
    uint32_t client_count;
    foliot_simulation failing, other;
    uint64_t now_ns;
} host;

static foliot_status failing_step(void *self, const foliot_input *inputs, uint32_t count)
{
    if (bulky_kind()->tick(self) == FAILING_TICK)
        return FOLIOT_STATUS_MEMORY;
    return bulky_kind()->step(self, inputs, count);
}

static foliot_transport *make_wire(host *h, uint16_t port)
{
    foliot_transport *wire;
    foliot_transport_config config = foliot_transport_config_default();
    config.bind = "127.0.0.1";
    config.port = port;
    config.peers_max = PEERS_MAX;
    assert_int_equal(foliot_transport_create_memory(h->hub, &config, h->now_ns, &wire),
                     FOLIOT_STATUS_OK);
    return wire;
}

static void add_session(host *h, const char *name, const foliot_simulation_kind *kind,
                        foliot_simulation *simulation)
{
    foliot_session_config session = {.name = name,
                                     .pace_hz = 60,
                                     .mode = FOLIOT_SESSION_LOCKSTEP,
                                     .player_limit = 2,
                                     .simulation = simulation};
    assert_int_equal(foliot_simulation_create(kind, "", 0, simulation), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(h->server, &session, h->now_ns), FOLIOT_STATUS_OK);
}

static foliot_client *join(host *h, const char *session, bool spectates)
{
    foliot_client_config config = foliot_client_config_default();
    uint32_t i = h->client_count++;
    config.transport = h->wires[i] = make_wire(h, 0);
    config.port = 7777;
    config.session = session;
    config.spectates = spectates;
    config.simulation = h->failing.kind;
    assert_int_equal(foliot_client_create(&config, h->now_ns, &h->clients[i]), FOLIOT_STATUS_OK);
    return h->clients[i];
}

static unsigned run(host *h, double seconds)
{
    foliot_server_event event;
    unsigned failures = 0;
    for (uint64_t end = h->now_ns + (uint64_t)(seconds * 1e9); h->now_ns < end;) {
        h->now_ns += 1000000;
        foliot_server_update(h->server, h->now_ns);
        while (foliot_server_poll(h->server, &event))
            failures += event.kind == FOLIOT_SERVER_STEP_FAILED;
        for (uint32_t i = 0; i < h->client_count; i++)
            foliot_client_update(h->clients[i], h->now_ns);
    }
    return failures;
}

static void the_other_session_has_all_connections(void **state)
{
    (void)state;
    host h = {.now_ns = 1000000000u};
    foliot_simulation_kind failing = *bulky_kind();
    foliot_server_config config = foliot_server_config_default();
    failing.step = failing_step;
    assert_int_equal(foliot_hub_create(&h.hub), FOLIOT_STATUS_OK);
    config.transport = h.wires[CLIENTS] = make_wire(&h, 7777);
    config.reconnect_ms = 3600000;
    assert_int_equal(foliot_server_create(&config, h.now_ns, &h.server), FOLIOT_STATUS_OK);
    add_session(&h, "failing", &failing, &h.failing);
    add_session(&h, "other", bulky_kind(), &h.other);
    foliot_client *players[2] = {join(&h, "failing", false), join(&h, "failing", false)};
    assert_int_equal(run(&h, 1), 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(foliot_client_get_state(players[i]), FOLIOT_CLIENT_CLOSED);
        assert_non_null(strstr(foliot_client_get_reason(players[i]), "step"));
    }
    assert_false(foliot_server_get_done(h.server));
    assert_int_equal(foliot_server_get_presence(h.server).absent, 0);
    foliot_client *spectators[PEERS_MAX];
    for (int i = 0; i < PEERS_MAX; i++)
        spectators[i] = join(&h, "other", true);
    assert_int_equal(run(&h, 1), 0);
    for (int i = 0; i < PEERS_MAX; i++)
        assert_int_equal(foliot_client_get_state(spectators[i]), FOLIOT_CLIENT_PLAYING);
    check_gt(foliot_simulation_get_tick(&h.other), 100);
    for (uint32_t i = 0; i < h.client_count; i++)
        foliot_client_destroy(h.clients[i]);
    foliot_server_destroy(h.server);
    foliot_simulation_destroy(&h.failing);
    foliot_simulation_destroy(&h.other);
    for (int i = 0; i <= CLIENTS; i++)
        foliot_transport_destroy(h.wires[i]);
    foliot_hub_destroy(h.hub);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_other_session_has_all_connections)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
