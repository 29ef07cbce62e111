// SPDX-License-Identifier: MIT
// Goal: one server hosts as many sessions as it says, each as if it were alone: same ticks, same
// bits, and nobody's peers hear of another session; beyond that it refuses. Method: a server over
// the transport in memory with its own clock, steps inside its updates.
#include "check.h"

#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "cluster.h"
#include "foliot/scene.h"
#include "foliot/server.h"
#include "net/transport.h"
#include "pace.h"

#define SESSIONS 1000
#define CLIENTS 6
#define HZ 60
#define MOMENTS 16

typedef struct host {
    cluster *c;
    foliot_scene scene;
    uint64_t begun_ns;
} host;

static foliot_body_definition bodies[2];

static void setup(host *h, bool spreads)
{
    foliot_server_config config = foliot_server_config_default();
    config.spreads_ticks = spreads;
    h->c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    h->begun_ns = h->c->now_ns;
    cluster_serve(h->c, &config, NULL);
    h->scene = foliot_scene_default();
    h->scene.name = "small";
    h->scene.dt = 1.0 / HZ;
    for (int i = 0; i < 2; i++) {
        bodies[i] = foliot_body_definition_default();
        bodies[i].position[0] = 3 * i;
        bodies[i].velocity[1] = 1 + i;
    }
    h->scene.bodies = bodies;
    h->scene.body_count = 2;
    h->scene.players = foliot_players_definition_default();
    h->scene.players.limit = 2;
}

static foliot_status add_as(host *h, uint32_t number, foliot_session_mode mode,
                            foliot_world **world)
{
    char name[FOLIOT_NAME_BYTES];
    foliot_session_config session = foliot_session_config_default();
    snprintf(name, sizeof name, "s%u", number);
    assert_int_equal(foliot_world_create(&h->scene, world, NULL), FOLIOT_STATUS_OK);
    session.name = name;
    session.scene = &h->scene;
    session.world = *world;
    session.pace_hz = HZ;
    session.mode = mode;
    foliot_status status = foliot_server_add_session(h->c->server, &session, h->c->now_ns);
    if (status != FOLIOT_STATUS_OK)
        foliot_world_destroy(*world);
    return status;
}

static foliot_status add(host *h, uint32_t number, foliot_world **world)
{
    return add_as(h, number, FOLIOT_SESSION_SNAPSHOTS, world);
}

static foliot_client *join(host *h, const char *session, bool spectates)
{
    foliot_client_config config = foliot_client_config_default();
    config.session = session;
    config.spectates = spectates;
    return h->c->clients[cluster_join(h->c, NULL, &config)];
}

TEST(sessions_step_as_if_alone)
{
    static foliot_world *worlds[SESSIONS];
    host h;
    foliot_world *alone;
    setup(&h, true);
    for (uint32_t i = 0; i < SESSIONS; i++)
        assert_int_equal(add(&h, i, &worlds[i]), FOLIOT_STATUS_OK);
    foliot_client *player = join(&h, "s700", false);
    foliot_client *spectator = join(&h, "s701", true);
    cluster_run(h.c, PACE(100) / 50.0);
    assert_int_equal(foliot_client_get_state(player), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(foliot_client_get_state(spectator), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(foliot_server_get_presence(h.c->server).players, 1);
    assert_int_equal(foliot_world_create(&h.scene, &alone, NULL), FOLIOT_STATUS_OK);
    uint64_t due = (h.c->now_ns - h.begun_ns) * HZ / 1000000000u, ticks = 0;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        uint64_t tick = foliot_world_get_tick(worlds[i]);
        check_ge(tick + 2, due); // the last begins a period after the first
        check_le(tick, due);
        ticks += tick;
    }
    check_eq(foliot_server_get_counters(h.c->server)->ticks, ticks);
    assert_int_equal(foliot_server_get_counters(h.c->server)->ticks_late, 0);
    foliot_digest digests[1000] = {0};
    for (uint32_t t = 0; t <= due; t++) {
        digests[t] = foliot_world_get_digest(alone);
        assert_int_equal(foliot_world_step(alone, NULL, 0, NULL), FOLIOT_STATUS_OK);
    }
    for (uint32_t i = 0; i < SESSIONS; i++)
        if (i != 700) {
            foliot_digest digest = foliot_world_get_digest(worlds[i]);
            assert_true(foliot_digest_equal(digest, digests[foliot_world_get_tick(worlds[i])]));
        }
    foliot_world_destroy(alone);
    cluster_destroy(h.c);
}

// Else every tick would wait for those of all others.
TEST(ticks_are_spread)
{
    host h;
    foliot_world *world;
    uint32_t most = 0, updates = 0;
    setup(&h, true);
    for (uint32_t i = 0; i < 10 * MOMENTS; i++)
        assert_int_equal(add(&h, i, &world), FOLIOT_STATUS_OK);
    cluster_run(h.c, 0.1);
    for (uint64_t end = h.c->now_ns + 1000000000u; h.c->now_ns < end; updates++) {
        uint64_t before = foliot_server_get_counters(h.c->server)->ticks;
        h.c->now_ns = foliot_server_get_wake_ns(h.c->server);
        foliot_server_update(h.c->server, h.c->now_ns);
        uint64_t now = foliot_server_get_counters(h.c->server)->ticks - before;
        most = now > most ? (uint32_t)now : most;
    }
    check_le(most, 20);
    check_ge(updates, HZ * MOMENTS / 2);
    check_le(updates, 3 * HZ * MOMENTS); // and many at once are one update's work
    cluster_destroy(h.c);
}

// A host takes a while to make many sessions: that is no reason to begin late.
TEST(sessions_begin_with_the_first_update)
{
    host h;
    foliot_world *world;
    setup(&h, true);
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(add(&h, i, &world), FOLIOT_STATUS_OK);
        h.c->now_ns += 7000000;
    }
    foliot_server_update(h.c->server, h.c->now_ns);
    assert_int_equal(foliot_server_get_counters(h.c->server)->ticks, 0);
    assert_int_equal(foliot_server_get_wake_ns(h.c->server), h.c->now_ns + 1000000000u / HZ);
    cluster_run(h.c, 0.5);
    check_ge(foliot_server_get_counters(h.c->server)->ticks, 100 * 28);
    assert_int_equal(foliot_server_get_counters(h.c->server)->ticks_late, 0);
    cluster_destroy(h.c);
}

TEST(together_where_no_host_spreads_them)
{
    host h;
    foliot_world *worlds[3];
    setup(&h, false);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(add(&h, i, &worlds[i]), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_get_wake_ns(h.c->server), h.c->now_ns + 1000000000u / HZ);
    foliot_server_update(h.c->server, h.c->now_ns + 1000000000u / HZ);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(foliot_world_get_tick(worlds[i]), 1);
    cluster_destroy(h.c);
}

// The transport need not wake up a host before its tick, but where inputs are handed on at once.
TEST(the_transport_knows_the_next_tick)
{
    host h;
    foliot_world *world;
    setup(&h, false);
    const foliot_transport *wire = h.c->host;
    assert_int_equal(add(&h, 0, &world), FOLIOT_STATUS_OK);
    foliot_server_update(h.c->server, h.c->now_ns);
    uint64_t wake = foliot_server_get_wake_ns(h.c->server);
    assert_int_equal(wire->tick_ns, wake);
    assert_int_equal(add_as(&h, 1, FOLIOT_SESSION_LOCKSTEP, &world), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_server_get_wake_ns(h.c->server), wake);
    assert_int_equal(wire->tick_ns, 0);
    cluster_destroy(h.c);
}

TEST(beyond_the_limit_it_refuses)
{
    host h;
    foliot_world *world;
    setup(&h, true);
    for (uint32_t i = 0; i < FOLIOT_SESSIONS_MAX; i++)
        assert_int_equal(add(&h, i, &world), FOLIOT_STATUS_OK);
    assert_int_equal(add(&h, FOLIOT_SESSIONS_MAX, &world), FOLIOT_STATUS_FULL);
    assert_int_equal(add(&h, FOLIOT_SESSIONS_MAX - 1, &world), FOLIOT_STATUS_INVALID); // its name
    cluster_run(h.c, 0.05);
    foliot_client *last = join(&h, "s1023", false), *none = join(&h, "s1024", false);
    cluster_run(h.c, 0.5);
    assert_int_equal(foliot_client_get_state(last), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(foliot_client_get_state(none), FOLIOT_CLIENT_REFUSED);
    assert_non_null(strstr(foliot_client_get_reason(none), "no session 's1024'"));
    cluster_destroy(h.c);
}

// Peers come, go and come to another session: each session's list is right, whoever is in it.
TEST(peers_change_sessions)
{
    host h;
    foliot_world *world;
    char name[FOLIOT_NAME_BYTES];
    setup(&h, true);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(add(&h, i, &world), FOLIOT_STATUS_OK);
    for (uint32_t round = 0; round < 12; round++) {
        for (uint32_t i = 0; i < CLIENTS; i++) {
            snprintf(name, sizeof name, "s%u", (i + round) % 3);
            join(&h, name, i % 2 == 0);
        }
        cluster_run(h.c, 0.4);
        for (uint32_t i = 0; i < CLIENTS; i++)
            assert_int_equal(foliot_client_get_state(h.c->clients[i]), FOLIOT_CLIENT_PLAYING);
        assert_int_equal(foliot_server_get_presence(h.c->server).peers, CLIENTS);
        assert_int_equal(foliot_server_get_presence(h.c->server).players, CLIENTS / 2);
        for (uint32_t n = 0; n < CLIENTS; n++) { // in another order each time
            uint32_t i = (n * 5 + round) % CLIENTS;
            foliot_client_leave(h.c->clients[i], h.c->now_ns);
            cluster_run(h.c, 0.05);
        }
        cluster_run(h.c, 0.3);
        assert_int_equal(foliot_server_get_presence(h.c->server).peers, 0);
        assert_int_equal(foliot_server_get_presence(h.c->server).players, 0);
        for (uint32_t i = 0; i < CLIENTS; i++)
            cluster_leave(h.c, i);
        h.c->client_count = 0;
    }
    cluster_destroy(h.c);
}

// -- removed sessions: Goal: sessions that come and go leave nothing behind, and events of one that
// is gone still have its name. Method: a server over the transport in memory; the heap is counted
// after a hundred sessions and after five hundred more; events wait while the place of their
// session is taken.

#define FIRST 100
#define MORE 500
#define TICK_NS 16666667u

typedef struct removed_sessions_host {
    cluster *c;
    foliot_scene *scene;
} removed_sessions_host;

static void open_host(removed_sessions_host *h)
{
    foliot_error error;
    h->c = cluster_create(&(cluster_options){.world = CLUSTER_EMPTY});
    cluster_serve(h->c, NULL, NULL);
    assert_int_equal(foliot_scene_read("scenes/pendulum.yaml", &h->scene, &error),
                     FOLIOT_STATUS_OK);
}

static void close_host(removed_sessions_host *h)
{
    cluster_destroy(h->c);
    foliot_scene_destroy(h->scene);
}

static void add_removable(removed_sessions_host *h, const char *name)
{
    foliot_session_config session = foliot_session_config_default();
    session.name = name;
    session.scene = h->scene;
    cluster_host(h->c, &session);
}

static void end(removed_sessions_host *h, const char *name)
{
    for (int i = 0; i < 3; i++)
        foliot_server_update(h->c->server, h->c->now_ns += TICK_NS);
    assert_int_equal(foliot_server_end_session(h->c->server, name, "", h->c->now_ns),
                     FOLIOT_STATUS_OK);
    foliot_server_update(h->c->server, h->c->now_ns += TICK_NS);
}

static size_t heap_after(removed_sessions_host *h, int sessions)
{
    char name[32];
    foliot_server_event event;
    for (int i = 0; i < sessions; i++) {
        snprintf(name, sizeof name, "game-%d", i % 7);
        add_removable(h, name);
        end(h, name);
        assert_int_equal(foliot_server_remove_session(h->c->server, name), FOLIOT_STATUS_OK);
        while (foliot_server_poll(h->c->server, &event))
            assert_string_equal(event.session, name);
    }
    return mallinfo2().uordblks;
}

TEST(sessions_that_were_removed_leave_nothing_behind)
{
    removed_sessions_host h;
    open_host(&h);
    size_t before = heap_after(&h, FIRST), after = heap_after(&h, MORE);
    assert_in_range(after, 0, before + 4096); // a few bytes are whoever prints
    close_host(&h);
}

TEST(an_event_has_the_name_of_a_session_that_is_gone)
{
    removed_sessions_host h;
    foliot_server_event event;
    open_host(&h);
    add_removable(&h, "former");
    end(&h, "former");
    assert_int_equal(foliot_server_remove_session(h.c->server, "former"), FOLIOT_STATUS_OK);
    add_removable(&h, "latter");
    end(&h, "latter");
    assert_true(foliot_server_poll(h.c->server, &event));
    assert_string_equal(event.session, "former");
    assert_true(foliot_server_poll(h.c->server, &event));
    assert_string_equal(event.session, "latter");
    assert_false(foliot_server_poll(h.c->server, &event));
    close_host(&h);
}
