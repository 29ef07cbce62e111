// SPDX-License-Identifier: MIT
// test_time.c: servers that are late, silent, paused, or far from tick 0.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "foliot/client.h"

// -- late: what a server says of late ticks. Goal: once a second at most, with how late they
// were, and nothing of a host that keeps its time. Method: a host that updates 20 or 200 times a
// second, on a virtual clock.

#define SECONDS 10u

// Updates a session of 60 Hz at that rate. Returns the number of events of late ticks; *ms is the
// latest of their ticks.
static uint64_t late_events(uint32_t updates_hz, double *ms)
{
    foliot_body_definition body = foliot_body_definition_default();
    foliot_scene scene = foliot_scene_default();
    body.name = "one";
    scene.name = "late";
    scene.dt = 1.0 / 60;
    scene.bodies = &body;
    scene.body_count = 1;
    cluster *c = cluster_create(
        &(cluster_options){.world = CLUSTER_EMPTY, .step_ns = 1000000000u / updates_hz});
    cluster_serve(c, NULL, NULL);
    foliot_session_config session = foliot_session_config_default();
    session.scene = &scene;
    cluster_host(c, &session);
    const foliot_server_event *late = &c->last[FOLIOT_SERVER_LATE];
    *ms = 0;
    for (uint32_t i = 1; i <= SECONDS * updates_hz; i++) {
        c->now_ns += c->step_ns;
        cluster_update(c);
        if (c->events[FOLIOT_SERVER_LATE] > 0) {
            assert_non_null(strstr(late->text, " ms"));
            *ms = fmax(*ms, atof(late->text));
        }
    }
    uint64_t count = c->events[FOLIOT_SERVER_LATE];
    cluster_destroy(c);
    return count;
}

TEST(once_a_second_with_milliseconds)
{
    double ms;
    uint64_t count = late_events(20, &ms); // the first of three ticks is 33 ms late
    check_ge(count, SECONDS - 1);
    check_le(count, SECONDS);
    assert_true(ms > 30 && ms < 50);
}

TEST(not_of_a_host_that_keeps_its_time)
{
    double ms;
    check_eq(late_events(200, &ms), 0u);
}

// -- silent server: Goal: a server that is not there, or that accepts a connection and never
// answers the hello, ends a client after config.connect_timeout_ms with a reason, and not sooner.
// Such a client waited for as long as the connection lived. Method: the memory transport with
// nobody, and with a host that reads and says nothing.

#define MS 1000000u

static void check_given_up(bool host_listens, double timeout_ms, uint32_t transport_ms)
{
    foliot_hub *hub;
    foliot_transport *host = NULL, *wire;
    foliot_client *client;
    foliot_transport_event event;
    foliot_transport_config config = foliot_transport_config_default();
    uint64_t now_ns = 1000 * MS, end_ns = now_ns + 40000 * (uint64_t)MS;
    config.timeout_ms = transport_ms;
    assert_int_equal(foliot_hub_create(&hub), FOLIOT_STATUS_OK);
    if (host_listens) {
        foliot_transport_config listening = config;
        listening.bind = "127.0.0.1";
        listening.port = 7777;
        assert_int_equal(foliot_transport_create_memory(hub, &listening, now_ns, &host),
                         FOLIOT_STATUS_OK);
    }
    assert_int_equal(foliot_transport_create_memory(hub, &config, now_ns, &wire), FOLIOT_STATUS_OK);
    foliot_client_config about = foliot_client_config_default();
    about.transport = wire;
    about.connect_timeout_ms = timeout_ms;
    assert_int_equal(foliot_client_create(&about, now_ns, &client), FOLIOT_STATUS_OK);
    uint64_t began_ns = now_ns;
    while (now_ns < end_ns && foliot_client_get_state(client) != FOLIOT_CLIENT_LOST) {
        now_ns += 10 * MS;
        while (host && foliot_transport_poll(host, now_ns, &event))
            ;
        foliot_client_update(client, now_ns);
        if (host)
            foliot_transport_flush(host, now_ns);
    }
    double took_ms = (double)(now_ns - began_ns) / MS;
    assert_int_equal(foliot_client_get_state(client), FOLIOT_CLIENT_LOST);
    check_ge(took_ms, timeout_ms);
    check_lt(took_ms, timeout_ms + 100);
    assert_non_null(strstr(foliot_client_get_reason(client), "no answer from 127.0.0.1:7777 in "));
    assert_true(foliot_client_get_retryable(client));
    foliot_client_update(client, now_ns + 100 * MS); // what ended stays ended
    assert_int_equal(foliot_client_get_state(client), FOLIOT_CLIENT_LOST);
    foliot_client_destroy(client);
    foliot_transport_destroy(wire);
    foliot_transport_destroy(host);
    foliot_hub_destroy(hub);
}

TEST(nobody_there_is_given_up_in_time)
{
    check_given_up(false, 2000, 10000);
}

TEST(a_host_that_says_nothing_is_given_up_in_time)
{
    check_given_up(true, 3000, 10000);
    check_given_up(true, 12000, 10000);
}

// -- pauses: a client whose process does not run for a while, as under a debugger or behind a
// closed lid, is afterwards what it was before; one that cannot keep up for a while is so again
// when it can; and one that is to step where that costs little does, and only there. Method: the
// virtual network; clients that are not updated, that step too little, or that have a slow clock.

static void check_kind(const cluster *a, unsigned client, foliot_peer_kind kind)
{
    assert_int_equal(foliot_client_get_kind(a->clients[client]), kind);
    check_gt(cluster_get_statistics(a, client).newest_tick + 40, cluster_get_tick(a));
    if (kind == FOLIOT_PEER_STEPPER)
        assert_true(cluster_agrees(a, client));
}

TEST(a_stepper_that_was_stopped_steps_on)
{
    for (int seconds = 3; seconds < 10; seconds++) {
        cluster *a = cluster_create(&(cluster_options){.snapshots = seconds % 2, .samples = true});
        unsigned other = cluster_player(a, "delay=10ms");
        unsigned stepper = cluster_kind(a, "delay=20ms", FOLIOT_PEER_STEPPER);
        cluster_run(a, 4);
        check_kind(a, stepper, FOLIOT_PEER_STEPPER);
        uint64_t changes = cluster_get_statistics(a, stepper).kind_changes;
        a->asleep[stepper] = true;
        cluster_run(a, seconds);
        a->asleep[stepper] = false;
        cluster_run(a, 12);
        check_kind(a, stepper, FOLIOT_PEER_STEPPER);
        assert_int_equal(cluster_get_statistics(a, stepper).kind_changes, changes);
        assert_int_equal(cluster_get_statistics(a, stepper).reconnects, 0);
        check_gt(cluster_get_statistics(a, other).newest_tick + 40, cluster_get_tick(a));
        cluster_destroy(a);
    }
}

// It steps less than is closed for some time, then all again.
TEST(who_could_not_keep_up_tries_again)
{
    cluster *a = cluster_create(&(cluster_options){.samples = true});
    cluster_player(a, "delay=20ms");
    foliot_client_config config = foliot_client_config_default();
    config.catch_up_ticks = 1;
    unsigned slow = cluster_join(a, "delay=20ms", &config);
    a->step_ns = 50000000;
    cluster_run(a, 12);
    check_kind(a, slow, FOLIOT_PEER_WATCHER);
    uint64_t asked = cluster_get_counters(a)->kind_changes;
    cluster_run(a, 60); // in vain: each time it waits for longer
    uint64_t tried = cluster_get_counters(a)->kind_changes - asked;
    assert_in_range(tried, 2, 8);
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 0);
    a->step_ns = 1000000;
    cluster_run(a, 90);
    check_kind(a, slow, FOLIOT_PEER_STEPPER);
    cluster_destroy(a);
}

static uint64_t clock_ns;
static uint64_t cheap_clock(void *user)
{
    (void)user;
    return clock_ns += 100000; // between two readings
}
static uint64_t dear_clock(void *user)
{
    (void)user;
    return clock_ns += 5000000; // of 16.7 ms
}

TEST(stepping_is_chosen_where_it_is_cheap)
{
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        cluster *a = cluster_create(&(cluster_options){.snapshots = snapshots, .samples = true});
        foliot_client_config config = foliot_client_config_default();
        config.steps_if_cheap = config.predicts = true;
        config.clock = cheap_clock;
        unsigned cheap = cluster_join(a, "delay=20ms", &config);
        config.clock = dear_clock;
        unsigned dear = cluster_join(a, "delay=20ms", &config);
        config.spectates = true;
        unsigned looks = cluster_join(a, "delay=20ms", &config);
        config.spectates = false;
        config.kind = FOLIOT_PEER_WATCHER;
        unsigned off = cluster_join(a, "delay=20ms", &config);
        cluster_run(a, 9);
        check_kind(a, cheap, FOLIOT_PEER_STEPPER);
        assert_int_equal(foliot_client_get_prediction(a->clients[cheap]), FOLIOT_PREDICTION_ON);
        check_kind(a, dear, FOLIOT_PEER_WATCHER);
        check_kind(a, looks, FOLIOT_PEER_WATCHER);
        check_kind(a, off, FOLIOT_PEER_WATCHER);
        cluster_run(a, 60);
        check_kind(a, cheap, FOLIOT_PEER_STEPPER);
        check_le(cluster_get_statistics(a, dear).kind_changes, 8u);
        for (unsigned i = 0; i < a->client_count; i++)
            assert_int_equal(a->unshown[i], 0);
        assert_int_equal(a->backwards, 0);
        assert_true(cluster_is_honest(a));
        cluster_destroy(a);
    }
}

// -- high ticks: sessions whose ticks pass 2^32, where what travels wraps. Goal: nobody
// notices, whatever he is and whenever he came. Method: a session begins 5 s before; watchers,
// steppers and spectators come before and after, with losses; everything that they have is the
// server's.

#define WRAP ((uint64_t)1 << 32)
#define NETWORK "delay=30ms,loss=3%,jitter=0-10ms"

static void check_player(const cluster *a, unsigned client, bool steps)
{
    foliot_client_statistics seen = cluster_get_statistics(a, client);
    assert_int_equal(foliot_client_get_kind(a->clients[client]),
                     steps ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
    check_gt(seen.newest_tick + 40, cluster_get_tick(a));
    assert_true(steps ? cluster_agrees(a, client) : cluster_watches(a, client));
    assert_int_equal(seen.pieces_malformed, 0);
    assert_int_equal(seen.reconnects, 0);
    check_below(seen.loss, 0.1);
}

TEST(sessions_pass_two_to_the_thirty_two)
{
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        cluster *a = cluster_create(&(cluster_options){
            .snapshots = snapshots, .samples = true, .first_tick = WRAP - 5 * 60});
        unsigned watcher = cluster_kind(a, NETWORK, FOLIOT_PEER_WATCHER);
        unsigned stepper = cluster_kind(a, NETWORK, FOLIOT_PEER_STEPPER);
        unsigned looks = cluster_spectator(a, NETWORK);
        cluster_run(a, 2);
        check_below((double)cluster_get_tick(a), (double)WRAP);
        check_player(a, watcher, false);
        check_player(a, stepper, true);
        uint64_t sent = cluster_get_counters(a)->snapshot_bytes_sent;
        cluster_run(a, 8);
        check_gt(cluster_get_tick(a), WRAP + 200);
        uint64_t inputs = cluster_get_counters(a)->inputs;
        unsigned late_watcher = cluster_kind(a, NETWORK, FOLIOT_PEER_WATCHER);
        unsigned late_stepper = cluster_kind(a, NETWORK, FOLIOT_PEER_STEPPER);
        cluster_run(a, 5);
        check_player(a, watcher, false);
        check_player(a, stepper, true);
        check_player(a, looks, !snapshots);
        check_player(a, late_watcher, false);
        check_player(a, late_stepper, true);
        check_gt(cluster_get_counters(a)->inputs, inputs); // of watchers too, and in their ticks
        check_below((double)cluster_get_counters(a)->inputs_late,
                    0.1 * (double)cluster_get_counters(a)->inputs);
        check_gt(cluster_get_counters(a)->snapshot_bytes_sent, sent);
        for (unsigned i = 0; i < a->client_count; i++)
            assert_int_equal(a->unshown[i], 0);
        assert_int_equal(a->backwards, 0);
        assert_true(cluster_is_honest(a));
        cluster_destroy(a);
    }
}

// Deltas go on across the wrap, and take what they took before it.
TEST(snapshots_cost_what_they_did)
{
    double bytes[2];
    for (int high = 0; high < 2; high++) {
        cluster *a = cluster_create(
            &(cluster_options){.snapshots = true, .first_tick = high ? WRAP - 5 * 60 : 0});
        cluster_kind(a, "delay=30ms", FOLIOT_PEER_WATCHER);
        cluster_run(a, 10);
        bytes[high] = (double)cluster_get_counters(a)->snapshot_bytes_sent /
                      (double)cluster_get_counters(a)->snapshots_sent;
        assert_int_equal(cluster_get_counters(a)->snapshots_thinned, 0);
        cluster_destroy(a);
    }
    check_near(bytes[1], bytes[0], 0.05 * bytes[0]);
}

// Watchers of a session with interest, whose packets have other baselines.
TEST(what_is_near_passes_too)
{
    cluster *a =
        cluster_create(&(cluster_options){.snapshots = true,
                                          .samples = true,
                                          .interest = {.near = 5, .far = 50, .budget_kbit = 256},
                                          .first_tick = WRAP - 3 * 60});
    unsigned watcher = cluster_player(a, NETWORK);
    cluster_run(a, 8);
    unsigned late = cluster_player(a, NETWORK);
    cluster_run(a, 4);
    check_gt(cluster_get_tick(a), WRAP + 300);
    for (unsigned i = watcher; i <= late; i++) {
        check_gt(cluster_get_statistics(a, i).newest_tick + 40, cluster_get_tick(a));
        assert_int_equal(cluster_get_statistics(a, i).pieces_malformed, 0);
        assert_int_equal(a->unshown[i], 0);
    }
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}
