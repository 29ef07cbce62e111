// SPDX-License-Identifier: MIT
// Goal: a step that fails ends its session. The status of the step was discarded: with the rounding
// mode changed the server counted 60 ticks while the world stayed at 29, and a session whose
// callback the host had not lent ran on without a step. Method: a server with one client over the
// transport in memory; the step is made to fail in three ways, in both modes.
#include "check.h"

#include <fenv.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bulky.h"
#include "cluster.h"
#include "foliot/replay.h"
#include "world_simulation.h"

typedef struct host {
    cluster *c;
    foliot_scene scene;
    foliot_body_definition body;
    foliot_force_definition force;
    foliot_recording *recording;
    foliot_simulation simulation;
    char file[64];
} host;

static foliot_status failing_step(void *self, const foliot_input *inputs, uint32_t count)
{
    if (bulky_kind()->tick(self) == 20)
        return FOLIOT_STATUS_MEMORY;
    return bulky_kind()->step(self, inputs, count);
}

static const foliot_simulation_kind *failing_kind(void)
{
    static foliot_simulation_kind kind;
    kind = *bulky_kind();
    kind.step = failing_step;
    return &kind;
}

static void make_scene(host *h)
{
    static const double spawn[1][3] = {{0, 5, 0}};
    h->body = foliot_body_definition_default();
    h->body.mass = 1;
    h->body.velocity[0] = 1;
    h->force = foliot_force_definition_default(FOLIOT_FORCE_CALLBACK);
    h->scene = foliot_scene_default();
    h->scene.name = "drift";
    h->scene.dt = 1.0 / 60;
    h->scene.bodies = &h->body;
    h->scene.body_count = 1;
    h->scene.forces = &h->force;
    h->scene.players.limit = 2;
    h->scene.players.body = foliot_body_definition_default();
    h->scene.players.body.mass = 1;
    h->scene.players.positions = spawn;
    h->scene.players.position_count = 1;
}

static void open_server(host *h)
{
    h->c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    cluster_serve(h->c, NULL, NULL);
    make_scene(h);
}

static void open_session(host *h, foliot_session_mode mode, const foliot_simulation_kind *kind)
{
    foliot_session_config session = {
        .name = "main", .scene = &h->scene, .pace_hz = 60, .mode = mode, .player_limit = 2};
    if (kind) {
        assert_int_equal(foliot_simulation_create(kind, "", 0, &h->simulation), FOLIOT_STATUS_OK);
        session.simulation = &h->simulation;
    } else {
        assert_int_equal(foliot_world_create(&h->scene, &session.world, NULL), FOLIOT_STATUS_OK);
        snprintf(h->file, sizeof h->file, "/tmp/failed-step-%d.foliot", (int)getpid());
        assert_int_equal(foliot_recording_open(h->file, WORLD_SIMULATION(session.world, &h->scene),
                                               NULL, &h->recording),
                         FOLIOT_STATUS_OK);
        session.recording = h->recording;
    }
    cluster_host(h->c, &session);
}

static void run(host *h, double seconds, bool rounds_up)
{
    cluster *c = h->c;
    for (uint64_t end = c->now_ns + (uint64_t)(seconds * 1e9); c->now_ns < end;) {
        c->now_ns += c->step_ns;
        if (rounds_up)
            fesetround(FE_UPWARD);
        foliot_server_update(c->server, c->now_ns);
        fesetround(FE_TONEAREST);
        cluster_update(c);
    }
}

// No event names a player that has none.
static void check_players(const cluster *c)
{
    for (int kind = 0; kind < FOLIOT_SERVER_EVENT_KINDS; kind++)
        if (c->events[kind] > 0 && kind != FOLIOT_SERVER_JOINED && kind != FOLIOT_SERVER_LEFT &&
            kind != FOLIOT_SERVER_LOST)
            assert_int_equal(c->last[kind].player, UINT32_MAX);
}

static void check_stopped(host *h, uint64_t tick, foliot_status status)
{
    const cluster *c = h->c;
    const foliot_server_event *failure = &c->last[FOLIOT_SERVER_STEP_FAILED];
    assert_int_equal(c->events[FOLIOT_SERVER_STEP_FAILED], 1);
    assert_int_equal(failure->status, status);
    assert_int_equal(failure->tick, tick);
    assert_string_equal(failure->session, "main");
    assert_non_null(strstr(failure->text, foliot_status_get_text(status)));
    assert_int_equal(foliot_server_get_counters(c->server)->ticks, tick);
    assert_true(foliot_server_get_done(c->server));
    check_players(c);
    if (c->client_count > 0) {
        assert_int_equal(foliot_client_get_state(c->clients[0]), FOLIOT_CLIENT_CLOSED);
        assert_non_null(strstr(foliot_client_get_reason(c->clients[0]), "step"));
        assert_int_equal(foliot_server_get_presence(c->server).peers, 0);
    }
}

static void check_recording(host *h, uint64_t tick)
{
    foliot_recording_state state;
    foliot_replay *replay;
    assert_int_equal(foliot_recording_wait(h->recording, false), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_get_state(h->recording).written_tick,
                     tick); // before the close
    assert_int_equal(foliot_recording_close(h->recording, &state), FOLIOT_STATUS_OK);
    assert_int_equal(state.written_tick, tick);
    assert_int_equal(state.ticks_lost, 0);
    assert_int_equal(foliot_replay_open(h->file, &foliot_world_kind, &replay, NULL),
                     FOLIOT_STATUS_OK);
    assert_true(foliot_replay_get_summary(replay)->closed);
    assert_int_equal(foliot_replay_get_summary(replay)->last_tick, tick);
    foliot_replay_close(replay);
}

static void close_host(host *h)
{
    cluster_destroy(h->c);
    foliot_simulation_destroy(&h->simulation);
    if (*h->file)
        unlink(h->file);
}

static void a_changed_rounding_mode(foliot_session_mode mode)
{
    host h = {0};
    open_server(&h);
    open_session(&h, mode, NULL);
    cluster_player(h.c, NULL);
    run(&h, 0.49, false);
    uint64_t tick = foliot_world_get_tick(foliot_server_get_world(h.c->server, "main"));
    assert_int_equal(tick, 29);
    run(&h, 0.5, true);
    assert_int_equal(foliot_world_get_tick(foliot_server_get_world(h.c->server, "main")), tick);
    check_stopped(&h, tick, FOLIOT_STATUS_FLOATING_POINT);
    check_recording(&h, tick);
    close_host(&h);
}

TEST(a_changed_rounding_mode_ends_a_session)
{
    a_changed_rounding_mode(FOLIOT_SESSION_SNAPSHOTS);
}

TEST(a_changed_rounding_mode_ends_a_lockstep_session)
{
    a_changed_rounding_mode(FOLIOT_SESSION_LOCKSTEP);
}

TEST(a_callback_that_was_not_lent_ends_a_session)
{
    host h = {0};
    open_server(&h);
    h.scene.force_count = 1;
    open_session(&h, FOLIOT_SESSION_SNAPSHOTS, NULL);
    run(&h, 0.5, false);
    check_stopped(&h, 0, FOLIOT_STATUS_INVALID);
    check_recording(&h, 0);
    close_host(&h);
}

TEST(another_simulation_whose_step_fails_ends_its_session)
{
    host h = {0};
    open_server(&h);
    open_session(&h, FOLIOT_SESSION_LOCKSTEP, failing_kind());
    run(&h, 0.5, false);
    check_stopped(&h, 20, FOLIOT_STATUS_MEMORY);
    close_host(&h);
}

// It read the scene before it looked whether there was one.
TEST(a_session_without_a_scene_is_refused)
{
    host h = {0};
    open_server(&h);
    foliot_session_config session = {.name = "main", .pace_hz = 60};
    assert_int_equal(foliot_world_create(&h.scene, &session.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(h.c->server, &session, h.c->now_ns),
                     FOLIOT_STATUS_INVALID);
    foliot_world_destroy(session.world);
    close_host(&h);
}

// -- the other session: Goal: where one of two sessions ends because its step fails, the other one
// goes on, and no connection is kept for players of the first: they could not come back. Method: a
// server over the transport in memory, with as many connections as spectators of the second
// session.

#define PEERS_MAX 4
#define FAILING_TICK 20

static foliot_status failing_large_step(void *self, const foliot_input *inputs, uint32_t count)
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
    failing_kind.step = failing_large_step;
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
