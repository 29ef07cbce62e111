// SPDX-License-Identifier: MIT
// test_pauses.c: a client whose process does not run for a while, as under a debugger or behind a
// closed lid, is afterwards what it was before; one that cannot keep up for a while is so again
// when it can; and one that is to step where that costs little does, and only there. Method: the
// virtual network; clients that are not updated, that step too little, or that have a slow clock.
#include "check.h"

#include "cluster.h"

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
