// SPDX-License-Identifier: MIT
// test_high_ticks.c: sessions whose ticks pass 2^32, where what travels wraps. Goal: nobody
// notices, whatever he is and whenever he came. Method: a session begins 5 s before; watchers,
// steppers and spectators come before and after, with losses; everything that they have is the
// server's.
#include "check.h"

#include "cluster.h"

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
