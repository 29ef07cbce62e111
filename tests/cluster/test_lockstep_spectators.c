// SPDX-License-Identifier: MIT
// test_lockstep_spectators.c: who comes late to a lockstep session, to play or to look on: from a
// saved state and the inputs since, any number, and nobody who plays waits for them. (Spectators
// who are behind step only what has no snapshots: of a world they watch,
// tests/cluster/test_mixed.c.)
#include "check.h"

#include "cluster.h"
#include "chain.h"

TEST(a_late_joiner_catches_up_and_stalls_nobody)
{
    cluster *a = cluster_create(NULL);
    for (int i = 0; i < 3; i++)
        cluster_player(a, "delay=20ms,loss=2%");
    cluster_run(a, 61.5);
    uint64_t stalls = cluster_get_statistics(a, 0).stalls;
    foliot_client_config config = foliot_client_config_default();
    config.catch_up_ticks = 4;
    a->step_ns = 10000000;
    unsigned late = cluster_join(a, "delay=150ms,loss=10%", &config);
    cluster_run(a, 1.5);
    foliot_client_statistics seen = cluster_get_statistics(a, late);
    check_gt(seen.ticks_compared, 0);
    check_gt(seen.newest_tick + 20, cluster_get_tick(a));
    assert_int_equal(a->most_steps[late], 4); // faster than time, and no faster than it may
    cluster_run(a, 10);
    assert_true(cluster_agrees(a, late));
    assert_int_equal(cluster_get_statistics(a, 0).stalls, stalls);
    for (unsigned i = 0; i < 3; i++)
        assert_true(cluster_agrees(a, i));
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(spectators_see_what_was_and_stall_nobody)
{
    cluster_options options = {.spectator_delay_s = 5, .kind = chain_kind(CHAIN_NO_FAULT)};
    cluster *a = cluster_create(&options);
    cluster_player(a, "delay=20ms");
    cluster_player(a, "delay=30ms");
    cluster_run(a, 3);
    for (int i = 0; i < 20; i++)
        cluster_spectator(a, i < 15 ? "delay=40ms,loss=5%" : "delay=1000ms,loss=25%");
    cluster_run(a, 3);
    check_le(cluster_get_statistics(a, 2).newest_tick, cluster_get_tick(a) - 300);
    cluster_run(a, 14);
    for (unsigned i = 2; i < 22; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        assert_in_range(cluster_get_tick(a) - seen.newest_tick, 300, 300 + (i < 17 ? 8 : 80));
        check_gt(seen.ticks_compared, 400);
        assert_true(cluster_agrees(a, i));
    }
    assert_int_equal(cluster_get_statistics(a, 0).stalls, 0);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_agrees(a, 1));
    check_gt(cluster_get_statistics(a, 0).newest_tick + 6, cluster_get_tick(a));
    // Encoded once for many: far fewer encodes than packets.
    check_lt(cluster_get_counters(a)->relay_encodes * 3, cluster_get_counters(a)->relays_sent);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// A hundred, who come within seconds, behind all kinds of networks; some leave. Two players notice
// nothing.
TEST(a_hundred_spectators_stall_nobody)
{
    static const char *const networks[] = {"delay=20ms,loss=2%", "delay=80ms,jitter=0-60ms,loss=5%",
                                           "delay=400ms,loss=20%", "loss=30%,burst=4,delay=10ms"};
    cluster_options options = {.spectator_delay_s = 2, .kind = chain_kind(CHAIN_NO_FAULT)};
    cluster *a = cluster_create(&options);
    a->step_ns = 4000000;
    cluster_player(a, "delay=20ms");
    cluster_player(a, "delay=35ms");
    cluster_run(a, 8);
    uint64_t late =
        cluster_get_statistics(a, 0).inputs_late + cluster_get_statistics(a, 1).inputs_late;
    uint64_t missing =
        cluster_get_statistics(a, 0).inputs_missing + cluster_get_statistics(a, 1).inputs_missing;
    for (unsigned i = 0; i < 100; i++) {
        cluster_spectator(a, networks[i % 4]);
        cluster_run(a, 0.02);
    }
    cluster_run(a, 4);
    for (unsigned i = 0; i < 10; i++)
        foliot_client_leave(a->clients[2 + 10 * i], a->now_ns);
    cluster_run(a, 6);
    unsigned there = 0;
    for (unsigned i = 2; i < 102; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        if (foliot_client_get_state(a->clients[i]) != FOLIOT_CLIENT_PLAYING)
            continue;
        there++;
        assert_in_range(cluster_get_tick(a) - seen.newest_tick, 120, 180);
        check_gt(seen.ticks_compared, 300);
        assert_true(cluster_agrees(a, i));
    }
    assert_int_equal(there, 90);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(cluster_get_statistics(a, i).stalls, 0);
        check_gt(cluster_get_statistics(a, i).newest_tick + 8, cluster_get_tick(a));
        assert_true(cluster_agrees(a, i));
    }
    assert_in_range(cluster_get_statistics(a, 0).inputs_late +
                        cluster_get_statistics(a, 1).inputs_late,
                    late, late + 1);
    assert_in_range(cluster_get_statistics(a, 0).inputs_missing +
                        cluster_get_statistics(a, 1).inputs_missing,
                    missing, missing + 2);
    print_message("%llu relays of %llu encodes\n",
                  (unsigned long long)cluster_get_counters(a)->relays_sent,
                  (unsigned long long)cluster_get_counters(a)->relay_encodes);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}
