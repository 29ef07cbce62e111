// SPDX-License-Identifier: MIT
// test_lockstep_network.c: lockstep on networks that nobody would play on: not a bit differs, and
// packets stay small.
#include "check.h"

#include "cluster.h"

TEST(ten_minutes_at_two_seconds_and_a_quarter_lost)
{
    cluster_options options = {.server_network = "delay=0ms"};
    cluster *a = cluster_create(&options);
    a->step_ns = 4000000;
    for (int i = 0; i < 4; i++)
        cluster_player(a, "delay=2000ms,loss=25%,seed=11");
    cluster_run(a, 600);
    for (unsigned i = 0; i < 4; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        print_message("relays %.1f B, p99 %.0f, max %.0f; inputs %.1f B, p99 %.0f, max %.0f; %llu "
                      "ticks compared, %llu stalls, "
                      "%llu late, %llu missing, %.0f ms round trip\n",
                      seen.relay_bytes_mean, seen.relay_bytes_p99, seen.relay_bytes_max,
                      seen.input_bytes_mean, seen.input_bytes_p99, seen.input_bytes_max,
                      (unsigned long long)seen.ticks_compared, (unsigned long long)seen.stalls,
                      (unsigned long long)seen.inputs_late, (unsigned long long)seen.inputs_missing,
                      seen.round_trip_ms);
        check_gt(seen.ticks_compared, 34000);
        assert_true(cluster_agrees(a, i));
        check_below(seen.relay_bytes_max, 90.5);
        check_below(seen.input_bytes_max, 90.5);
    }
    assert_int_equal(cluster_get_counters(a)->divergences, 0);
    assert_int_equal(a->events[FOLIOT_SERVER_VIOLATION], 0);
    assert_int_equal(cluster_get_counters(a)->messages_malformed, 0);
    check_gt(cluster_get_counters(a)->inputs, 3500);
    check_lt(cluster_get_counters(a)->inputs_late, cluster_get_counters(a)->inputs / 20);
    print_message("%llu inputs, %llu late\n", (unsigned long long)cluster_get_counters(a)->inputs,
                  (unsigned long long)cluster_get_counters(a)->inputs_late);
    cluster_destroy(a);
}

// Jitter, reordering, duplicates, bursts: drawn for each client.
TEST(any_network_gives_the_same_bits)
{
    cluster *a = cluster_create(NULL);
    a->step_ns = 2000000;
    cluster_player(a, "delay=30ms,jitter=0-200ms,seed=1");
    cluster_player(a, "loss=30%,burst=5,delay=10ms,seed=2");
    cluster_player(a, "reorder=20%,duplicate=20%,delay=60ms,jitter=0-30ms,seed=3");
    cluster_player(a, "rate=64kbit,delay=100ms,loss=5%,seed=4");
    cluster_spectator(a, "loss=60%,delay=300ms,jitter=0-300ms,seed=5");
    cluster_run(a, 90);
    for (unsigned i = 0; i < 5; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        print_message("%llu ticks compared, %llu stalls, %llu late, %llu missing, relays %.1f B\n",
                      (unsigned long long)seen.ticks_compared, (unsigned long long)seen.stalls,
                      (unsigned long long)seen.inputs_late, (unsigned long long)seen.inputs_missing,
                      seen.relay_bytes_mean);
        check_gt(seen.ticks_compared, 4500);
        assert_true(cluster_agrees(a, i));
    }
    assert_int_equal(cluster_get_counters(a)->divergences, 0);
    assert_int_equal(a->events[FOLIOT_SERVER_VIOLATION], 0);
    cluster_destroy(a);
}

// A player's controls reach the world in the tick that he meant, with the delay that all have.
TEST(the_input_delay_is_kept_by_all_who_can)
{
    cluster_options options = {.input_delay = 12};
    cluster *a = cluster_create(&options);
    static const char *const networks[] = {"delay=5ms", "delay=60ms", "delay=120ms"};
    for (int i = 0; i < 3; i++) {
        cluster_player(a, networks[i]);
        a->bots[i] = false;
    }
    cluster_run(a, 6);
    for (int i = 0; i < 3; i++) {
        int8_t axes[FOLIOT_AXIS_COUNT] = {50};
        uint64_t pressed = cluster_get_tick(a), player = foliot_client_get_player(a->clients[i]);
        foliot_client_set_input(a->clients[i], axes, 0);
        while (foliot_world_get_player_controls(foliot_server_get_world(a->server, "main"),
                                                (uint32_t)player)
                   .axes[0] != 50)
            cluster_run(a, 0.001);
        assert_in_range(cluster_get_tick(a) - pressed, 12, 14);
    }
    cluster_destroy(a);
}
