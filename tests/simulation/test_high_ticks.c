// SPDX-License-Identifier: MIT
// test_high_ticks.c: sessions whose ticks pass 2^32, where what travels wraps. Goal: nobody
// notices, whatever he is and whenever he came. Method: a session begins 5 s before; watchers,
// steppers and spectators come before and after, with losses; everything that they have is the
// server's.
#include "check.h"

#include "arena.h"

#define WRAP ((uint64_t)1 << 32)
#define NETWORK "delay=30ms,loss=3%,jitter=0-10ms"

static void check_player(const arena *a, unsigned client, bool steps)
{
    foliot_client_statistics seen = arena_seen(a, client);
    assert_int_equal(foliot_client_get_kind(a->clients[client]),
                     steps ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
    check_gt(seen.newest_tick + 40, arena_tick(a));
    assert_true(steps ? arena_agrees(a, client) : arena_watches(a, client));
    assert_int_equal(seen.pieces_malformed, 0);
    assert_int_equal(seen.reconnects, 0);
    check_below(seen.loss, 0.1);
}

static void sessions_pass_two_to_the_thirty_two(void **state)
{
    (void)state;
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        arena *a = arena_create(
            &(arena_options){.snapshots = snapshots, .clock = true, .first_tick = WRAP - 5 * 60});
        unsigned watcher = arena_kind(a, NETWORK, FOLIOT_PEER_WATCHER);
        unsigned stepper = arena_kind(a, NETWORK, FOLIOT_PEER_STEPPER);
        unsigned looks = arena_spectator(a, NETWORK);
        arena_run(a, 2);
        check_below((double)arena_tick(a), (double)WRAP);
        check_player(a, watcher, false);
        check_player(a, stepper, true);
        uint64_t sent = arena_counted(a)->snapshot_bytes_sent;
        arena_run(a, 8);
        check_gt(arena_tick(a), WRAP + 200);
        uint64_t inputs = arena_counted(a)->inputs;
        unsigned late_watcher = arena_kind(a, NETWORK, FOLIOT_PEER_WATCHER);
        unsigned late_stepper = arena_kind(a, NETWORK, FOLIOT_PEER_STEPPER);
        arena_run(a, 5);
        check_player(a, watcher, false);
        check_player(a, stepper, true);
        check_player(a, looks, !snapshots);
        check_player(a, late_watcher, false);
        check_player(a, late_stepper, true);
        check_gt(arena_counted(a)->inputs, inputs); // of watchers too, and in their ticks
        check_below((double)arena_counted(a)->inputs_late, 0.1 * (double)arena_counted(a)->inputs);
        check_gt(arena_counted(a)->snapshot_bytes_sent, sent);
        for (unsigned i = 0; i < a->client_count; i++)
            assert_int_equal(a->unshown[i], 0);
        assert_int_equal(a->backwards, 0);
        assert_true(arena_is_honest(a));
        arena_destroy(a);
    }
}

// Deltas go on across the wrap, and take what they took before it.
static void snapshots_cost_what_they_did(void **state)
{
    (void)state;
    double bytes[2];
    for (int high = 0; high < 2; high++) {
        arena *a = arena_create(
            &(arena_options){.snapshots = true, .first_tick = high ? WRAP - 5 * 60 : 0});
        arena_kind(a, "delay=30ms", FOLIOT_PEER_WATCHER);
        arena_run(a, 10);
        bytes[high] = (double)arena_counted(a)->snapshot_bytes_sent /
                      (double)arena_counted(a)->snapshots_sent;
        assert_int_equal(arena_counted(a)->snapshots_thinned, 0);
        arena_destroy(a);
    }
    check_near(bytes[1], bytes[0], 0.05 * bytes[0]);
}

// Watchers of a session with interest, whose packets have other baselines.
static void what_is_near_passes_too(void **state)
{
    (void)state;
    arena *a = arena_create(&(arena_options){.snapshots = true,
                                             .clock = true,
                                             .interest = {.near = 5, .far = 50, .budget_kbit = 256},
                                             .first_tick = WRAP - 3 * 60});
    unsigned watcher = arena_bot(a, NETWORK);
    arena_run(a, 8);
    unsigned late = arena_bot(a, NETWORK);
    arena_run(a, 4);
    check_gt(arena_tick(a), WRAP + 300);
    for (unsigned i = watcher; i <= late; i++) {
        check_gt(arena_seen(a, i).newest_tick + 40, arena_tick(a));
        assert_int_equal(arena_seen(a, i).pieces_malformed, 0);
        assert_int_equal(a->unshown[i], 0);
    }
    assert_true(arena_is_honest(a));
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sessions_pass_two_to_the_thirty_two),
        cmocka_unit_test(snapshots_cost_what_they_did),
        cmocka_unit_test(what_is_near_passes_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
