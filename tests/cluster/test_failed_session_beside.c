// SPDX-License-Identifier: MIT
// Goal: where one of two sessions ends because its step fails, the other one goes on, and no
// connection is kept for players of the first: they could not come back. Method: a server over the
// transport in memory, with as many connections as spectators of the second session.
#include "check.h"

#include <string.h>

#include "bulky.h"
#include "cluster.h"

#define PEERS_MAX 4
#define FAILING_TICK 20

static foliot_status failing_step(void *self, const foliot_input *inputs, uint32_t count)
{
    if (bulky_kind()->tick(self) == FAILING_TICK)
        return FOLIOT_STATUS_MEMORY;
    return bulky_kind()->step(self, inputs, count);
}

static void add_session(cluster *c, const char *name, const foliot_simulation_kind *kind,
                        foliot_simulation *simulation)
{
    assert_int_equal(foliot_simulation_create(kind, "", 0, simulation), FOLIOT_STATUS_OK);
    cluster_host(c, &(foliot_session_config){.name = name,
                                             .pace_hz = 60,
                                             .mode = FOLIOT_SESSION_LOCKSTEP,
                                             .player_limit = 2,
                                             .simulation = simulation});
}

static void join(cluster *c, const char *session, bool spectates)
{
    foliot_client_config config = foliot_client_config_default();
    config.session = session;
    config.spectates = spectates;
    config.simulation = bulky_kind();
    cluster_join(c, NULL, &config);
}

TEST(the_other_session_has_all_connections)
{
    foliot_simulation_kind failing_kind = *bulky_kind();
    foliot_simulation failing, other;
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    cluster *c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    failing_kind.step = failing_step;
    wire.peers_max = PEERS_MAX;
    config.reconnect_ms = 3600000;
    cluster_serve(c, &config, &wire);
    add_session(c, "failing", &failing_kind, &failing);
    add_session(c, "other", bulky_kind(), &other);
    for (int i = 0; i < 2; i++)
        join(c, "failing", false);
    cluster_run(c, 1);
    assert_int_equal(c->events[FOLIOT_SERVER_STEP_FAILED], 1);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(foliot_client_get_state(c->clients[i]), FOLIOT_CLIENT_CLOSED);
        assert_non_null(strstr(foliot_client_get_reason(c->clients[i]), "step"));
    }
    assert_false(foliot_server_get_done(c->server));
    assert_int_equal(foliot_server_get_presence(c->server).absent, 0);
    for (int i = 0; i < PEERS_MAX; i++)
        join(c, "other", true);
    cluster_run(c, 1);
    assert_int_equal(c->events[FOLIOT_SERVER_STEP_FAILED], 1);
    for (unsigned i = 2; i < c->client_count; i++)
        assert_int_equal(foliot_client_get_state(c->clients[i]), FOLIOT_CLIENT_PLAYING);
    check_gt(foliot_simulation_get_tick(&other), 100);
    cluster_destroy(c);
    foliot_simulation_destroy(&failing);
    foliot_simulation_destroy(&other);
}
