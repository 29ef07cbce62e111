// SPDX-License-Identifier: MIT
// test_kind_after_crash.c: a watcher whose server died and came back with a session that steps.
// Goal: changes that the dead server did not acknowledge are none of the new one's; when the client
// watches again its changes have the numbers that the new server gave it. They used to keep the old
// ones, which the new server took for copies: keys did nothing. Method: a watcher in play, with
// changes on their way, is welcomed as a stepper by hand, and then given watcher.
#include "check.h"

#include "../../client/lib/step/stepper.h"
#include "cluster.h"
#include "base/rng.h"
#include "status.h"

#define AHEAD 1000 // of the numbers that the client used

// A watcher that has just pressed keys.
static unsigned join_and_press(cluster *a)
{
    unsigned client = cluster_kind(a, "delay=60ms", FOLIOT_PEER_WATCHER);
    a->bots[client] = false;
    cluster_run(a, 2);
    for (int i = 0; i < 200 && a->clients[client]->controls.change_count == 0; i++) {
        int8_t axes[FOLIOT_AXIS_COUNT] = {i % 2 ? 127 : -127};
        foliot_client_set_input(a->clients[client], axes, 0);
        cluster_run(a, 0.02);
    }
    check_gt(a->clients[client]->controls.change_count, 0);
    return client;
}

TEST(changes_of_a_dead_server_are_given_up)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    foliot_client *c = a->clients[join_and_press(a)];
    foliot__welcome again = c->welcome;
    again.lockstep = true;
    demand(foliot__kind_enter(c, &again));
    assert_true(c->controls.by_ticks);
    assert_int_equal(c->controls.change_count, 0);
    cluster_destroy(a);
}

TEST(it_watches_again_with_the_new_servers_numbers)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    foliot_client *c = a->clients[join_and_press(a)];
    foliot__welcome again = c->welcome;
    again.lockstep = true;
    demand(foliot__kind_enter(c, &again));
    const foliot__kind_message watch = {.kind = FOLIOT__KIND_WATCHER,
                                        .tick = cluster_get_tick(a) + 1,
                                        .sequence = c->controls.next_sequence + AHEAD,
                                        .reason = FOLIOT__KIND_SLOW};
    foliot__kind_apply(c, &watch);
    assert_false(c->controls.by_ticks);
    assert_int_equal(c->controls.next_sequence, watch.sequence);
    cluster_destroy(a);
}

// Keys pressed while it watches go out by change, as before: they are not given up.
TEST(a_watcher_that_stays_one_keeps_its_changes)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    foliot_client *c = a->clients[join_and_press(a)];
    uint32_t count = c->controls.change_count;
    foliot__welcome again = c->welcome;
    demand(foliot__kind_enter(c, &again));
    assert_false(c->controls.by_ticks);
    assert_int_equal(c->controls.change_count, count);
    cluster_destroy(a);
}

static uint64_t clock_ns;
static uint64_t cheap_clock(void *user)
{
    (void)user;
    return clock_ns += 100000; // between two readings
}

// The next session is no attempt after a failure: a client that stepped until the last one ended
// asks to step at once.
TEST(a_stepper_waits_for_nothing_in_the_next_session)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    foliot_client_config config = foliot_client_config_default();
    config.steps_if_cheap = true;
    config.clock = cheap_clock;
    foliot_client *c = a->clients[cluster_join(a, "delay=20ms", &config)];
    for (int i = 0; i < 100 && foliot_client_get_kind(c) != FOLIOT_PEER_STEPPER; i++)
        cluster_run(a, 0.1);
    assert_int_equal(foliot_client_get_kind(c), FOLIOT_PEER_STEPPER);
    cluster_run(a, 2);
    check_gt(c->role.retry_after_ns, 0);
    foliot__welcome again = c->welcome;
    assert_false(again.lockstep);
    demand(foliot__kind_enter(c, &again));
    check_eq(c->role.retry_after_ns, 0u);
    cluster_destroy(a);
}

// A stepper that was let watch, and is to step again before a snapshot has come: it watches until
// it has caught up. It used to show what it steps, and never reported that it was ready.
TEST(a_stepper_that_returns_before_it_watched_catches_up)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    foliot_client *c = a->clients[join_and_press(a)];
    foliot__welcome again = c->welcome;
    again.lockstep = true;
    demand(foliot__kind_enter(c, &again));
    foliot__kind_message given = {.kind = FOLIOT__KIND_WATCHER, .tick = cluster_get_tick(a) + 1000};
    foliot__kind_apply(c, &given);
    assert_int_equal(foliot_client_get_kind(c), FOLIOT_PEER_STEPPER);
    assert_true(foliot__client_watches(c));
    given = (foliot__kind_message){.kind = FOLIOT__KIND_STEPPER, .tick = given.tick + 1};
    foliot__kind_apply(c, &given);
    assert_int_equal(foliot_client_get_kind(c), FOLIOT_PEER_WATCHER);
    assert_true(foliot__client_in_lockstep(c));
    cluster_destroy(a);
}

// Whatever a server sends in whatever order: the client asserts that the table allows each change.
TEST(no_order_of_messages_leaves_the_table)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    foliot_client *c = a->clients[join_and_press(a)];
    foliot__welcome watch = c->welcome, steps = c->welcome;
    steps.lockstep = true;
    foliot__rng rng = foliot__rng_seeded(11);
    bool seen[FOLIOT__ROLE_HEALING_IN_PLACE + 1] = {false};
    uint64_t tick = cluster_get_tick(a);
    for (int i = 0; i < 20000 && !foliot__connection_is_over(c); i++) {
        uint64_t draw = foliot__rng_u64(&rng);
        tick += draw >> 60;
        foliot__kind_message given = {.kind = (uint32_t)(draw >> 8) % 3,
                                      .tick = tick - (draw >> 16) % 4,
                                      .reason =
                                          (uint32_t)(draw >> 24) % (FOLIOT__KIND_IMPOSSIBLE + 2)};
        c->now_ns += (draw >> 32) % 100000000;
        if (draw % 64 == 0)
            demand(foliot__kind_enter(c, draw >> 50 & 1 ? &steps : &watch));
        else if (draw % 8 == 1 && foliot__client_in_lockstep(c))
            foliot__catch_up_state_begun(c);
        else if (draw % 8 < 5)
            foliot__kind_apply(c, &given);
        else
            foliot__kind_update(c);
        seen[c->role.now] = true;
    }
    for (foliot__role role = FOLIOT__ROLE_WATCHER; role < FOLIOT__ROLE_HEALING_IN_PLACE; role++)
        assert_true(seen[role]);
    cluster_destroy(a);
}
