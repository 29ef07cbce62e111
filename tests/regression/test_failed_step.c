// SPDX-License-Identifier: MIT
// Goal: a step that fails ends its session. The status of the step was discarded: with the rounding
// mode changed the server counted 60 ticks while the world stayed at 29, and a session whose
// callback the host had not lent ran on without a step. Method: a server with one client over the
// transport in memory; the step is made to fail in three ways, in both modes.
#include "check.h"

#include <fenv.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bulky.h"
#include "foliot/client.h"
#include "foliot/foliot.h"
#include "foliot/replay.h"
#include "foliot/server.h"
#include "world_simulation.h"

typedef struct host {
    foliot_hub *hub;
    foliot_transport *wire, *client_wire;
    foliot_server *server;
    foliot_client *client;
    foliot_scene scene;
    foliot_body_definition body;
    foliot_force_definition force;
    foliot_recording *recording;
    foliot_simulation simulation;
    char file[64];
    uint64_t now_ns;
    unsigned failures;
    foliot_server_event failure; // the last
    unsigned with_player;        // events that name a player though they have none
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
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_server_config config = foliot_server_config_default();
    h->now_ns = 1000000000u;
    wire.bind = "127.0.0.1";
    wire.port = 7777;
    wire.peers_max = 4;
    assert_int_equal(foliot_hub_create(&h->hub), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_transport_create_memory(h->hub, &wire, h->now_ns, &h->wire),
                     FOLIOT_STATUS_OK);
    config.transport = h->wire;
    assert_int_equal(foliot_server_create(&config, h->now_ns, &h->server), FOLIOT_STATUS_OK);
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
    assert_int_equal(foliot_server_add_session(h->server, &session, h->now_ns), FOLIOT_STATUS_OK);
}

static void join(host *h)
{
    foliot_transport_config wire = foliot_transport_config_default();
    foliot_client_config config = foliot_client_config_default();
    assert_int_equal(foliot_transport_create_memory(h->hub, &wire, h->now_ns, &h->client_wire),
                     FOLIOT_STATUS_OK);
    config.transport = h->client_wire;
    config.port = 7777;
    if (h->simulation.kind)
        config.simulation = h->simulation.kind;
    assert_int_equal(foliot_client_create(&config, h->now_ns, &h->client), FOLIOT_STATUS_OK);
}

static void run(host *h, double seconds, bool rounds_up)
{
    foliot_server_event event;
    for (uint64_t end = h->now_ns + (uint64_t)(seconds * 1e9); h->now_ns < end;) {
        h->now_ns += 1000000;
        if (rounds_up)
            fesetround(FE_UPWARD);
        foliot_server_update(h->server, h->now_ns);
        fesetround(FE_TONEAREST);
        while (foliot_server_poll(h->server, &event)) {
            bool has_player = event.kind == FOLIOT_SERVER_JOINED ||
                              event.kind == FOLIOT_SERVER_LEFT || event.kind == FOLIOT_SERVER_LOST;
            h->with_player += !has_player && event.player != UINT32_MAX;
            h->failures += event.kind == FOLIOT_SERVER_STEP_FAILED;
            if (event.kind == FOLIOT_SERVER_STEP_FAILED)
                h->failure = event;
        }
        if (h->client)
            foliot_client_update(h->client, h->now_ns);
    }
}

static void check_stopped(host *h, uint64_t tick, foliot_status status)
{
    assert_int_equal(h->failures, 1);
    assert_int_equal(h->failure.status, status);
    assert_int_equal(h->failure.tick, tick);
    assert_string_equal(h->failure.session, "main");
    assert_non_null(strstr(h->failure.text, foliot_status_get_text(status)));
    assert_int_equal(foliot_server_get_counters(h->server)->ticks, tick);
    assert_true(foliot_server_get_done(h->server));
    assert_int_equal(h->with_player, 0);
    if (h->client) {
        assert_int_equal(foliot_client_get_state(h->client), FOLIOT_CLIENT_CLOSED);
        assert_non_null(strstr(foliot_client_get_reason(h->client), "step"));
        assert_int_equal(foliot_server_get_presence(h->server).peers, 0);
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
    foliot_client_destroy(h->client);
    foliot_server_destroy(h->server);
    foliot_simulation_destroy(&h->simulation);
    foliot_transport_destroy(h->client_wire);
    foliot_transport_destroy(h->wire);
    foliot_hub_destroy(h->hub);
    if (*h->file)
        unlink(h->file);
}

static void a_changed_rounding_mode(foliot_session_mode mode)
{
    host h = {0};
    open_server(&h);
    open_session(&h, mode, NULL);
    join(&h);
    run(&h, 0.49, false);
    uint64_t tick = foliot_world_get_tick(foliot_server_get_world(h.server, "main"));
    assert_int_equal(tick, 29);
    run(&h, 0.5, true);
    assert_int_equal(foliot_world_get_tick(foliot_server_get_world(h.server, "main")), tick);
    check_stopped(&h, tick, FOLIOT_STATUS_FLOATING_POINT);
    check_recording(&h, tick);
    close_host(&h);
}

static void a_changed_rounding_mode_ends_a_session(void **state)
{
    (void)state;
    a_changed_rounding_mode(FOLIOT_SESSION_SNAPSHOTS);
}

static void a_changed_rounding_mode_ends_a_lockstep_session(void **state)
{
    (void)state;
    a_changed_rounding_mode(FOLIOT_SESSION_LOCKSTEP);
}

static void a_callback_that_was_not_lent_ends_a_session(void **state)
{
    (void)state;
    host h = {0};
    open_server(&h);
    h.scene.force_count = 1;
    open_session(&h, FOLIOT_SESSION_SNAPSHOTS, NULL);
    run(&h, 0.5, false);
    check_stopped(&h, 0, FOLIOT_STATUS_INVALID);
    check_recording(&h, 0);
    close_host(&h);
}

static void another_simulation_whose_step_fails_ends_its_session(void **state)
{
    (void)state;
    host h = {0};
    open_server(&h);
    open_session(&h, FOLIOT_SESSION_LOCKSTEP, failing_kind());
    run(&h, 0.5, false);
    check_stopped(&h, 20, FOLIOT_STATUS_MEMORY);
    close_host(&h);
}

// It read the scene before it looked whether there was one.
static void a_session_without_a_scene_is_refused(void **state)
{
    (void)state;
    host h = {0};
    open_server(&h);
    foliot_session_config session = {.name = "main", .pace_hz = 60};
    assert_int_equal(foliot_world_create(&h.scene, &session.world, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_add_session(h.server, &session, h.now_ns),
                     FOLIOT_STATUS_INVALID);
    foliot_world_destroy(session.world);
    close_host(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_rounding_mode_ends_a_session),
        cmocka_unit_test(a_changed_rounding_mode_ends_a_lockstep_session),
        cmocka_unit_test(a_callback_that_was_not_lent_ends_a_session),
        cmocka_unit_test(another_simulation_whose_step_fails_ends_its_session),
        cmocka_unit_test(a_session_without_a_scene_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
