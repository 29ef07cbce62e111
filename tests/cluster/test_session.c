// SPDX-License-Identifier: MIT
// test_session.c: a server and its clients in one process, over the transport in memory and a
// virtual clock: hours in seconds, and every run the same. The clients' samples are compared with
// the server's state.
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "foliot/server.h"
#include "cluster.h"

TEST(a_client_sees_what_the_server_steps)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "delay=20ms");
    cluster_run(s, 10);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_PLAYING);
    check_gt(seen.snapshots_received, 550);
    assert_int_equal(seen.snapshots_without_baseline, 0);
    assert_int_equal(seen.pieces_malformed, 0);
    check_gt(s->errors->count, 1000);
    check_below(cluster_error_rms(s), 0.001);
    assert_string_equal(foliot_client_get_scene(s->clients[0])->name, "springs");
    cluster_destroy(s);
}

TEST(a_bad_network_is_not_seen)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_spectator(s, "loss=5%,jitter=0-100ms,seed=7");
    cluster_run(s, 60);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    print_message(
        "delay %.1f ms, starved %.3f %%, used %.2f %%, rms %.2f mm, max %.1f mm, %.0f B\n",
        seen.delay_mean_ms, 100.0 * (double)seen.samples_starved / (double)seen.samples,
        100.0 * (double)seen.snapshots_used / (double)seen.snapshots_expected,
        1e3 * cluster_error_rms(s), 1e3 * s->errors->max, seen.snapshot_bytes_mean);
    check_near(seen.loss, 0.05, 0.02);
    check_below((double)seen.samples_starved / (double)seen.samples, 0.004);
    check_below(s->errors->max, 0.05);
    assert_int_equal(foliot_server_get_counters(s->server)->snapshots_thinned, 0);
    cluster_destroy(s);
}

// Half of the stream goes through, and a queue of four seconds stands before it: fewer snapshots
// come, but they are fresh.
TEST(a_narrow_network_is_given_what_it_takes)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "rate=40kbit,queue=20k,delay=20ms");
    cluster_run(s, 30);
    foliot_client_statistics before = foliot_client_get_statistics(s->clients[0]);
    const foliot_server_counters *counted = foliot_server_get_counters(s->server);
    cluster_run(s, 60);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    print_message("%llu thinned, delay %.0f ms, round trip %.0f ms\n",
                  (unsigned long long)counted->snapshots_thinned, seen.delay_ms,
                  seen.round_trip_ms);
    check_gt(counted->snapshots_thinned, 1000);
    check_below((double)(seen.samples_starved - before.samples_starved) /
                    (double)(seen.samples - before.samples),
                0.04);
    check_below(seen.delay_ms, 500);
    assert_int_equal(seen.reconnects, 0);
    cluster_impair(s, 0, "delay=20ms");
    cluster_run(s, 400);
    uint64_t thinned = counted->snapshots_thinned;
    cluster_run(s, 10);
    assert_int_equal(counted->snapshots_thinned, thinned); // and all again, where there is room
    cluster_destroy(s);
}

// Acknowledgements from a time when the host stood still say nothing of the network.
TEST(a_host_that_stood_still_thins_nothing)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "delay=20ms");
    cluster_spectator(s, "delay=20ms");
    cluster_run(s, 2);
    for (int i = 0; i < 140; i++) {
        cluster_run(s, 1 + i * 0.0037);
        for (uint64_t end = s->now_ns + 700000000u; s->now_ns < end; s->now_ns += 1000000)
            for (unsigned k = 0; k < s->client_count; k++)
                foliot_client_update(s->clients[k], s->now_ns);
    }
    assert_int_equal(foliot_server_get_counters(s->server)->snapshots_thinned, 0);
    cluster_destroy(s);
}

// Snapshots that a host which stood still never made, and those that a full network was not sent,
// are no losses of the network.
TEST(what_was_never_sent_is_not_lost)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "delay=5ms");
    cluster_spectator(s, "delay=5ms");
    cluster_run(s, 2);
    for (int i = 0; i < 20; i++) {
        cluster_run(s, 0.4);
        for (uint64_t end = s->now_ns + 100000000u; s->now_ns < end; s->now_ns += 1000000)
            for (unsigned k = 0; k < s->client_count; k++)
                foliot_client_update(s->clients[k], s->now_ns);
    }
    cluster_run(s, 1);
    for (unsigned k = 0; k < s->client_count; k++) {
        foliot_client_statistics seen = foliot_client_get_statistics(s->clients[k]);
        check_gt(seen.snapshots_received, 500);
        check_near(seen.loss, 0, 1e-9);
        assert_int_equal(seen.snapshots_expected, seen.snapshots_received);
    }
    cluster_destroy(s);
    s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "rate=40kbit,delay=20ms");
    cluster_run(s, 30);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    check_gt(foliot_server_get_counters(s->server)->snapshots_thinned, 300);
    check_below(seen.loss, 0.1); // what is still in the queue
    cluster_destroy(s);
}

// The server has half of the packets of a spectator to take, and deltas stay as small.
TEST(a_spectator_acknowledges_thirty_snapshots_a_second)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "delay=20ms,jitter=0-10ms,seed=5");
    cluster_spectator(s, "delay=20ms,jitter=0-10ms,seed=6");
    cluster_run(s, 3);
    foliot_client_statistics plays = foliot_client_get_statistics(s->clients[0]),
                             watches = foliot_client_get_statistics(s->clients[1]);
    cluster_run(s, 20);
    uint64_t all = foliot_client_get_statistics(s->clients[0]).inputs_sent - plays.inputs_sent,
             some = foliot_client_get_statistics(s->clients[1]).inputs_sent - watches.inputs_sent;
    assert_in_range(all, 1100, 1201);
    assert_in_range(some, 560, 640);
    check_below(foliot_client_get_statistics(s->clients[1]).snapshot_bytes_mean,
                1.1 * foliot_client_get_statistics(s->clients[0]).snapshot_bytes_mean);
    cluster_destroy(s);
}

TEST(inputs_arrive_in_their_tick_on_a_bad_network)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "loss=5%,delay=30ms,jitter=0-20ms,seed=3");
    foliot__rng rng = foliot__rng_seeded(9);
    for (int i = 0; i < 100; i++) {
        int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)((int)foliot__rng_below(&rng, 200) - 100)};
        foliot_client_set_input(s->clients[0], axes, (uint16_t)(i + 1));
        cluster_run(s, 0.3);
    }
    cluster_run(s, 1);
    const foliot_server_counters *counted = foliot_server_get_counters(s->server);
    print_message("%llu inputs, %llu late\n", (unsigned long long)counted->inputs,
                  (unsigned long long)counted->inputs_late);
    assert_in_range(counted->inputs, 98, 101); // what changed before it was welcome went out as one
    check_le(counted->inputs_late, 12);
    assert_int_equal(counted->messages_malformed, 0);
    cluster_destroy(s);
}

TEST(a_full_session_refuses_with_a_sentence)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    for (int i = 0; i < 5; i++)
        cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    assert_int_equal(foliot_client_get_state(s->clients[3]), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(foliot_client_get_state(s->clients[4]), FOLIOT_CLIENT_REFUSED);
    assert_true(foliot_client_get_retryable(s->clients[4]));
    assert_non_null(strstr(foliot_client_get_reason(s->clients[4]), "full"));
    cluster_destroy(s);
}

// Those who were there from the beginning, and those who come later, each behind another network.
TEST(spectators_are_shown_what_was_so_long_ago)
{
    cluster *s =
        cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS, .spectator_delay_s = 5});
    cluster_spectator(s,
                      "loss=5%,delay=30ms,jitter=0-20ms,seed=3"); // the first's errors are measured
    unsigned player = cluster_player(s, "delay=20ms");
    cluster_run(s, 3);
    assert_int_equal(foliot_client_get_statistics(s->clients[0]).snapshots_received, 0);
    assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_PLAYING);
    cluster_run(s, 7);
    unsigned later = cluster_spectator(s, "loss=20%,delay=10ms,seed=4");
    cluster_run(s, 20);
    uint64_t tick = foliot_world_get_tick(foliot_server_get_world(s->server, "main"));
    check_gt(foliot_client_get_statistics(s->clients[player]).newest_tick + 6, tick);
    for (unsigned i = 0; i <= later; i += later) {
        foliot_client_statistics seen = foliot_client_get_statistics(s->clients[i]);
        assert_in_range(tick - seen.newest_tick, 300, 308);
        check_gt(seen.snapshots_received, 700);
        assert_int_equal(seen.snapshots_without_baseline, 0);
    }
    check_gt(s->errors->count, 1000);
    check_below(cluster_error_rms(s), 0.001);
    cluster_destroy(s);
}

// Whoever owns the loop may sleep until then: nothing is missed, and it is not called at every
// turn.
TEST(server_and_client_say_when_to_call_again)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "delay=20ms");
    cluster_run(s, 1);
    uint64_t calls = 0, end = s->now_ns + 4000000000u;
    uint64_t received = foliot_client_get_statistics(s->clients[0]).snapshots_received;
    while (s->now_ns < end) {
        uint64_t wake = foliot_client_get_wake_ns(s->clients[0]),
                 served = foliot_server_get_wake_ns(s->server);
        wake = served < wake ? served : wake;
        s->now_ns = wake > s->now_ns ? wake : s->now_ns + 1;
        foliot_server_update(s->server, s->now_ns);
        foliot_client_update(s->clients[0], s->now_ns);
        calls++;
    }
    print_message("%llu calls in 4 s\n", (unsigned long long)calls);
    assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_PLAYING);
    assert_in_range(foliot_client_get_statistics(s->clients[0]).snapshots_received - received, 237,
                    243);
    check_lt(calls, 2500);
    cluster_destroy(s);
}

// Its acknowledgements are 80 snapshots old when they arrive.
TEST(a_far_client_has_what_the_server_refers_to)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "loss=5%,delay=650ms,seed=6");
    cluster_run(s, 20);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    assert_int_equal(seen.snapshots_without_baseline, 0);
    check_near(seen.loss, 0.05, 0.02);
    check_below(seen.snapshot_bytes_mean, 400);
    cluster_destroy(s);
}

// Packets lost while there was no connection are no loss of the network.
TEST(figures_go_on_over_a_new_connection)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "loss=5%,delay=20ms,seed=5");
    cluster_run(s, 15);
    uint64_t silent_until = s->now_ns + 2500000000u;
    for (; s->now_ns < silent_until; s->now_ns += 2000000)
        foliot_client_update(s->clients[0], s->now_ns);
    cluster_run(s, 15);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    assert_in_range(seen.reconnects, 1, 4);
    check_ge(seen.snapshots_expected, seen.snapshots_received);
    assert_in_range(seen.snapshots_expected, 1700, 1950);
    check_near(seen.loss, 0.05, 0.025);
    cluster_destroy(s);
}

TEST(stopping_tells_everyone)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_player(s, "delay=5ms");
    cluster_run(s, 1);
    foliot_server_stop(s->server, "the host has stopped the session", s->now_ns);
    cluster_run(s, 1.5);
    assert_true(foliot_server_get_done(s->server));
    assert_int_equal(foliot_client_get_state(s->clients[0]), FOLIOT_CLIENT_CLOSED);
    assert_string_equal(foliot_client_get_reason(s->clients[0]),
                        "the host has stopped the session");
    cluster_destroy(s);
}

// Clients go on with the session, a second behind its pause, and not as much later as it was long.
TEST(a_pause_leaves_no_delay)
{
    cluster *s = cluster_create(&(cluster_options){.world = CLUSTER_SPRINGS});
    cluster_spectator(s, "delay=25ms,jitter=0-5ms");
    cluster_run(s, 10);
    assert_int_equal(foliot_server_pause_session(s->server, "main", true, s->now_ns),
                     FOLIOT_STATUS_OK);
    cluster_run(s, 20);
    assert_int_equal(foliot_server_pause_session(s->server, "main", false, s->now_ns),
                     FOLIOT_STATUS_OK);
    cluster_run(s, 1);
    foliot_client_statistics before = foliot_client_get_statistics(s->clients[0]);
    cluster_run(s, 10);
    foliot_client_statistics seen = foliot_client_get_statistics(s->clients[0]);
    check_gt(seen.samples, before.samples + 500);
    check_below((double)(seen.samples_starved - before.samples_starved), 5);
    check_below(seen.delay_ms, 60);
    assert_int_equal(seen.reconnects, 0);
    cluster_destroy(s);
}
