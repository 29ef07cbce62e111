// SPDX-License-Identifier: MIT
// test_mixed.c: steppers and watchers in one session, and how one becomes the other. Every state
// that anyone has is the server's, all inputs act once, whoever plays.
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cluster.h"
#include "foliot/replay.h"
#include "game_rules.h"
#include "net/transport.h"
#include "status.h"
#include "slots.h"
#include "wire/message.h"

#define FILE_NAME "/tmp/foliot-test-mixed"

static void check_kind(const cluster *a, unsigned client, foliot_peer_kind kind)
{
    assert_int_equal(foliot_client_get_kind(a->clients[client]), kind);
    assert_int_equal(foliot_client_get_kind(a->clients[client]) == FOLIOT_PEER_STEPPER,
                     kind == FOLIOT_PEER_STEPPER);
    if (kind == FOLIOT_PEER_STEPPER)
        assert_true(cluster_agrees(a, client));
    else
        assert_true(cluster_watches(a, client));
}

TEST(both_kinds_share_a_session)
{
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        cluster *a = cluster_create(&(cluster_options){.snapshots = snapshots, .samples = true});
        unsigned any = cluster_player(a, "delay=20ms,loss=2%");
        unsigned watcher = cluster_kind(a, "delay=40ms,loss=5%,jitter=0-20ms", FOLIOT_PEER_WATCHER);
        unsigned stepper = cluster_kind(a, "delay=50ms,loss=5%,jitter=0-20ms", FOLIOT_PEER_STEPPER);
        cluster_run(a, 8);
        unsigned looks = cluster_spectator(a, "delay=30ms,loss=5%");
        unsigned late = cluster_kind(a, "delay=50ms,loss=5%",
                                     snapshots ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
        cluster_run(a, 12);
        foliot_peer_kind usual = snapshots ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER,
                         other = snapshots ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER;
        check_kind(a, any, usual);
        check_kind(a, looks, usual);
        check_kind(a, late, other);
        check_kind(a, watcher, FOLIOT_PEER_WATCHER);
        check_kind(a, stepper, FOLIOT_PEER_STEPPER);
        for (unsigned i = 0; i < a->client_count; i++) {
            check_gt(cluster_get_statistics(a, i).newest_tick + 30, cluster_get_tick(a));
            assert_int_equal(cluster_get_statistics(a, i).pieces_malformed, 0);
            assert_int_equal(a->unshown[i], 0);
        }
        check_gt(cluster_get_statistics(a, stepper).ticks_compared, 1000);
        assert_int_equal(cluster_get_counters(a)->inputs_superseded, 0);
        assert_int_equal(a->backwards, 0);
        assert_true(cluster_is_honest(a));
        cluster_destroy(a);
    }
}

// Data that one kind needs is not made for the other.
TEST(each_kind_costs_what_it_did)
{
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        cluster *a = cluster_create(&(cluster_options){.snapshots = snapshots});
        cluster_player(a, "delay=20ms");
        cluster_player(a, "delay=20ms");
        cluster_run(a, 10);
        const foliot_server_counters *counted = cluster_get_counters(a);
        assert_int_equal(snapshots ? counted->keyframes_saved : counted->snapshot_encodes, 0);
        assert_int_equal(snapshots ? counted->relays_sent : counted->snapshots_sent, 0);
        cluster_destroy(a);
    }
}

// A stepper that was there for a moment does not cost for ever, and another may come.
TEST(what_steppers_need_goes_after_them)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    cluster_player(a, "delay=20ms");
    for (unsigned i = 1; i < 3; i++) {
        assert_int_equal(cluster_kind(a, "delay=20ms", FOLIOT_PEER_STEPPER), i);
        cluster_run(a, 5);
        check_kind(a, i, FOLIOT_PEER_STEPPER);
        foliot_client_leave(a->clients[i], a->now_ns);
        cluster_run(a, 32);
        uint64_t saved = cluster_get_counters(a)->keyframes_saved;
        check_gt(saved, 2);
        cluster_run(a, 5);
        assert_int_equal(cluster_get_counters(a)->keyframes_saved, saved);
        check_kind(a, 0, FOLIOT_PEER_WATCHER);
    }
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// -- inputs

#define COUNTING_NS 60000000u

typedef struct counting {
    unsigned client;
    uint16_t count;
    uint64_t next_ns;
} counting;

// Controls that are a number which grows, so that each differs from all others.
static void count_on(cluster *a, counting *c)
{
    const int8_t axes[FOLIOT_AXIS_COUNT] = {0};
    if (a->now_ns < c->next_ns)
        return;
    c->next_ns = a->now_ns + COUNTING_NS;
    foliot_client_set_input(a->clients[c->client], axes, ++c->count);
}

static void run_counting(cluster *a, double seconds, counting *c, unsigned count)
{
    for (uint64_t end = a->now_ns + (uint64_t)(seconds * 1e9); a->now_ns < end;) {
        for (unsigned i = 0; i < count; i++)
            count_on(a, &c[i]);
        cluster_run(a, 0.001);
    }
}

// Every number of each player, once and in order, up to the last; and the states are the inputs'.
static void check_recorded(const char *file, const counting *c, unsigned count)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    uint16_t seen[16] = {0};
    assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_OK);
    uint64_t last = foliot_replay_get_summary(replay)->last_tick;
    for (uint64_t tick = 0; tick < last; tick++) {
        const foliot_input *inputs;
        uint32_t input_count;
        assert_int_equal(foliot_replay_get_inputs(replay, tick, &inputs, &input_count),
                         FOLIOT_STATUS_OK);
        for (uint32_t i = 0; i < input_count; i++) {
            uint16_t *number = &seen[inputs[i].player];
            if (inputs[i].kind != FOLIOT_INPUT_CONTROL)
                continue;
            if (inputs[i].buttons != *number + 1)
                print_message("player %u, tick %llu: %u after %u\n", inputs[i].player,
                              (unsigned long long)tick, inputs[i].buttons, *number);
            assert_true(inputs[i].buttons == *number + 1 ||
                        (*number == 0 && inputs[i].buttons == 0));
            *number = inputs[i].buttons;
        }
    }
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(seen[i], c[i].count);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
}

static void wish(cluster *a, unsigned client, foliot_peer_kind kind)
{
    assert_int_equal(foliot_client_set_kind(a->clients[client], kind), FOLIOT_STATUS_OK);
}

// Two change again and again, one by one way and one by the other, over bad networks.
TEST(a_change_loses_and_doubles_no_input)
{
    static const char *const networks[] = {"delay=0ms", "delay=50ms,jitter=0-20ms,loss=5%",
                                           "delay=120ms,loss=10%,jitter=0-40ms"};
    for (unsigned n = 0; n < 3; n++) {
        remove(FILE_NAME);
        cluster *a = cluster_create(
            &(cluster_options){.snapshots = n == 1, .samples = true, .record = FILE_NAME});
        counting c[2] = {{0}, {0}};
        c[0].client = cluster_kind(a, networks[n], FOLIOT_PEER_WATCHER);
        c[1].client = cluster_kind(a, networks[n], FOLIOT_PEER_STEPPER);
        a->bots[0] = a->bots[1] = false;
        cluster_run(a, 2);
        for (int round = 0; round < 8; round++) {
            run_counting(a, 4, c, 2);
            for (unsigned i = 0; i < 2; i++) {
                bool steps = foliot_client_get_kind(a->clients[i]) == FOLIOT_PEER_STEPPER;
                assert_int_equal(steps, (round + i) % 2);
                wish(a, i, steps ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER);
            }
        }
        run_counting(a, 4, c, 2);
        cluster_run(a, 3); // what is late may come
        for (unsigned i = 0; i < 2; i++) {
            check_kind(a, i, i ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
            assert_int_equal(cluster_get_statistics(a, i).kind_changes, 8);
            assert_int_equal(cluster_get_statistics(a, i).pieces_malformed, 0);
            assert_int_equal(a->unshown[i], 0);
        }
        assert_int_equal(cluster_get_counters(a)->kind_changes, 16);
        assert_int_equal(cluster_get_counters(a)->kind_changes_refused, 0);
        assert_int_equal(cluster_get_counters(a)->messages_unexpected, 0);
        assert_int_equal(a->backwards, 0);
        assert_true(cluster_is_honest(a));
        cluster_destroy(a);
        check_recorded(FILE_NAME, c, 2);
    }
    remove(FILE_NAME);
}

// -- games

#define PURE_NAME FILE_NAME "-pure"

// One who plays and moves, and who looks on: as the session's mode is, or each as they like.
static void record_session(const char *file, bool snapshots, bool mixed)
{
    remove(file);
    cluster *a =
        cluster_create(&(cluster_options){.snapshots = snapshots, .samples = true, .record = file});
    foliot_client_config config = foliot_client_config_default();
    config.spectates = true;
    for (unsigned i = 0; i < 2; i++)
        cluster_player(a, "delay=30ms,jitter=0-20ms,loss=3%");
    for (unsigned i = 0; i < 3; i++) {
        if (mixed)
            config.kind = i == 0 ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER;
        cluster_join(a, "delay=40ms,loss=2%", &config);
    }
    for (int round = 0; round < 6; round++) {
        cluster_run(a, 2.5);
        bool steps = foliot_client_get_kind(a->clients[4]) == FOLIOT_PEER_STEPPER;
        if (mixed)
            wish(a, 4, steps ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER);
    }
    cluster_run(a, 1);
    assert_int_equal(cluster_get_counters(a)->kind_changes, mixed ? 6 : 0);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// As many bytes of both differ as the drawn tokens' notes have, at most, with their checksums.
static void check_same_bytes(const char *file, const char *pure)
{
    FILE *files[2] = {fopen(file, "rb"), fopen(pure, "rb")};
    unsigned other = 0;
    assert_true(files[0] && files[1]);
    for (int x = 0, y = 0; x != EOF || y != EOF; other += x != y) {
        x = getc(files[0]);
        y = getc(files[1]);
    }
    check_le(other, 2 * (32 + 8));
    fclose(files[0]);
    fclose(files[1]);
}

// Closed inputs and states of two recordings, tick by tick.
static void check_same(const char *file, const char *pure)
{
    foliot_replay *replays[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(foliot_replay_open(i ? pure : file, &foliot_world_kind, &replays[i], NULL),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_replay_scan(replays[i]), FOLIOT_STATUS_OK);
    }
    uint64_t last = foliot_replay_get_summary(replays[1])->last_tick;
    assert_int_equal(foliot_replay_get_summary(replays[0])->last_tick, last);
    check_gt(last, 500);
    uint64_t total = 0;
    for (uint64_t tick = 0; tick < last; tick++) {
        const foliot_input *inputs[2];
        uint32_t counts[2];
        for (int i = 0; i < 2; i++)
            assert_int_equal(foliot_replay_get_inputs(replays[i], tick, &inputs[i], &counts[i]),
                             FOLIOT_STATUS_OK);
        assert_int_equal(counts[0], counts[1]);
        for (uint32_t k = 0; k < counts[0]; k++) {
            const foliot_input *x = &inputs[0][k], *y = &inputs[1][k];
            assert_true(x->kind == y->kind && x->player == y->player && x->buttons == y->buttons &&
                        x->sequence == y->sequence);
            assert_memory_equal(x->axes, y->axes, sizeof x->axes);
        }
        total += counts[0];
        for (int i = 0; i < 2; i++)
            assert_int_equal(foliot_replay_step(replays[i]), FOLIOT_STATUS_OK); // with its digests
        assert_true(
            foliot_digest_equal(foliot_world_get_digest(foliot_replay_get_world(replays[0])),
                                foliot_world_get_digest(foliot_replay_get_world(replays[1]))));
    }
    check_gt(total, 10);
    for (int i = 0; i < 2; i++)
        foliot_replay_close(replays[i]);
}

TEST(others_of_either_kind_change_nothing_that_is_recorded)
{
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        record_session(PURE_NAME, snapshots, false);
        record_session(FILE_NAME, snapshots, true);
        check_same(FILE_NAME, PURE_NAME);
        check_same_bytes(FILE_NAME, PURE_NAME);
    }
    remove(FILE_NAME);
    remove(PURE_NAME);
}

// Variables, tags and events are reported once, whichever kind a client is while they happen.
TEST(a_game_goes_on_through_a_change)
{
    cluster *a = cluster_create(
        &(cluster_options){.rules = &game_rules_kind, .snapshots = true, .samples = true});
    cluster_player(a, "delay=20ms");
    unsigned changes = cluster_kind(a, "delay=40ms,loss=3%", FOLIOT_PEER_WATCHER);
    cluster_run(a, 2);
    unsigned spawned = 0, points = 0, apart = 0;
    foliot_client_event e;
    foliot_var var = {.integer = 0};
    for (int i = 0; i < 240; i++) {
        allow_failure(
            foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, i % 2 ? "s" : "p", 1, NULL));
        if (i % 40 == 20)
            wish(a, changes,
                 foliot_client_get_kind(a->clients[changes]) == FOLIOT_PEER_STEPPER
                     ? FOLIOT_PEER_WATCHER
                     : FOLIOT_PEER_STEPPER);
        cluster_run(a, 0.1);
        while (foliot_client_poll(a->clients[changes], &e)) {
            spawned += e.kind == FOLIOT_CLIENT_SPAWNED;
            points += e.kind == FOLIOT_CLIENT_VAR && strcmp((const char *)e.bytes, "score") == 0;
        }
        if (foliot_client_get_var(a->clients[changes], "score", &var))
            apart += var.integer != points; // what is asked for is that of the tick that is shown
    }
    cluster_run(a, 3);
    while (foliot_client_poll(a->clients[changes], &e)) {
        spawned += e.kind == FOLIOT_CLIENT_SPAWNED;
        points += e.kind == FOLIOT_CLIENT_VAR && strcmp((const char *)e.bytes, "score") == 0;
    }
    assert_int_equal(cluster_get_statistics(a, changes).kind_changes, 6);
    assert_int_equal(points, 120);
    assert_int_equal(apart, 0);
    assert_int_equal(spawned, 120);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(foliot_client_get_var(a->clients[i], "score", &var));
        assert_int_equal(var.integer, 120);
    }
    check_kind(a, changes, FOLIOT_PEER_WATCHER);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// -- prediction

static void check_predicts(const cluster *a, unsigned client, bool predicts)
{
    check_kind(a, client, predicts ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
    assert_int_equal(foliot_client_get_prediction(a->clients[client]),
                     predicts ? FOLIOT_PREDICTION_ON : FOLIOT_PREDICTION_OFF);
    assert_true((foliot_client_get_predicted(a->clients[client]) != NULL) == predicts);
}

// Each event is there once: predicted and not taken back, or as it was reported.
TEST(it_predicts_while_it_steps)
{
    cluster *a = cluster_create(&(cluster_options){.rules = &game_rules_kind, .samples = true});
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    cluster_player(a, "delay=20ms");
    unsigned changes = cluster_join(a, "delay=40ms,loss=3%", &config);
    int spawned = 0, orders = 0;
    foliot_client_event e;
    cluster_run(a, 2);
    for (int i = 0; i < 6; i++) {
        check_predicts(a, changes, i % 2 == 0);
        uint64_t early = cluster_get_counters(a)->early_sent;
        for (int k = 0; k < 40; k++) {
            if (k % 2) // 120 of the bodies that there is room for
                orders += foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, "s", 1, NULL) ==
                          FOLIOT_STATUS_OK;
            if (k == 20)
                wish(a, changes, i % 2 ? FOLIOT_PEER_STEPPER : FOLIOT_PEER_WATCHER);
            cluster_run(a, 0.1);
            while (foliot_client_poll(a->clients[changes], &e))
                spawned += e.kind == FOLIOT_CLIENT_SPAWNED;
        }
        check_gt(cluster_get_counters(a)->early_sent, early);
    }
    check_predicts(a, changes, true);
    assert_int_equal(cluster_get_statistics(a, changes).kind_changes, 6);
    check_gt(cluster_get_statistics(a, changes).rollbacks, 10);
    assert_int_equal(a->backwards, 0);
    cluster_run(a, 2);
    while (foliot_client_poll(a->clients[changes], &e))
        spawned += e.kind == FOLIOT_CLIENT_SPAWNED;
    assert_int_equal(spawned, orders);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// -- who may be what

TEST(spectators_who_are_behind_only_watch)
{
    cluster *a = cluster_create(&(cluster_options){.spectator_delay_s = 2, .samples = true});
    cluster_player(a, "delay=20ms");
    foliot_client_config config = foliot_client_config_default();
    config.spectates = true;
    config.kind = FOLIOT_PEER_STEPPER;
    cluster_run(a, 4);
    unsigned looks = cluster_join(a, "delay=20ms,loss=5%", &config);
    cluster_run(a, 4);
    check_kind(a, 0, FOLIOT_PEER_STEPPER);
    check_kind(a, looks, FOLIOT_PEER_WATCHER);
    uint64_t behind = cluster_get_tick(a) - cluster_get_statistics(a, looks).newest_tick;
    assert_in_range(behind, 120, 135);
    wish(a, looks, FOLIOT_PEER_STEPPER);
    cluster_run(a, 3);
    check_kind(a, looks, FOLIOT_PEER_WATCHER);
    assert_int_equal(cluster_get_counters(a)->kind_changes_refused, 1);
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 0);
    cluster_destroy(a);
}

// It steps a third of the ticks that are closed.
TEST(who_cannot_keep_up_watches)
{
    cluster *a = cluster_create(&(cluster_options){.samples = true});
    a->step_ns = 50000000;
    cluster_player(a, "delay=20ms");
    foliot_client_config config = foliot_client_config_default();
    config.catch_up_ticks = 1;
    unsigned slow = cluster_join(a, "delay=20ms", &config);
    cluster_run(a, 12); // (later it tries again: test_time.c)
    check_kind(a, 0, FOLIOT_PEER_STEPPER);
    check_kind(a, slow, FOLIOT_PEER_WATCHER);
    check_gt(cluster_get_statistics(a, slow).newest_tick + 12, cluster_get_tick(a));
    assert_int_equal(a->events[FOLIOT_SERVER_KIND], 1);
    assert_non_null(strstr(a->last[FOLIOT_SERVER_KIND].text, "could not keep up"));
    assert_int_equal(a->backwards, 0);
    cluster_destroy(a);
}

// -- bad clients

static void say_kind(cluster *a, unsigned client, uint32_t kind, uint32_t reason)
{
    uint8_t bytes[64];
    size_t length;
    foliot__message m = {.kind = FOLIOT__KIND};
    m.as.kind = (foliot__kind_message){.kind = kind, .reason = reason, .tick = UINT64_MAX};
    assert_int_equal(foliot__message_encode(&m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    allow_failure(foliot_transport_send(a->wires[client], foliot__peer_id(0, 1),
                                        FOLIOT_DELIVERY_RELIABLE, bytes, length));
    foliot_transport_flush(a->wires[client], a->now_ns);
}

TEST(one_that_changes_without_end_is_dropped)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true});
    cluster_player(a, "delay=5ms");
    cluster_player(a, "delay=5ms");
    cluster_run(a, 2);
    for (int i = 0; i < 300 && cluster_get_counters(a)->peers_dropped == 0; i++) {
        say_kind(a, 1, 1 + (uint32_t)i % 2, 0);
        cluster_run(a, 0.1);
    }
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 1);
    check_gt(cluster_get_counters(a)->violations_kinds, 9);
    check_le(cluster_get_counters(a)->kind_changes, 12);
    check_gt(cluster_get_counters(a)->kind_changes_refused, 9);
    check_kind(a, 0, FOLIOT_PEER_WATCHER);
    cluster_destroy(a);
}

// During a heal it keeps sending ready: each time it is sent its kind.
TEST(one_that_asks_to_be_healed_without_end_is_told_seldom)
{
    cluster *a = cluster_create(&(cluster_options){.samples = true});
    cluster_player(a, "delay=5ms");
    cluster_player(a, "delay=200ms");
    cluster_run(a, 3);
    const foliot_hosted_world *hosted = foliot_client_get_simulation(a->clients[1])->self;
    uint64_t bits = slot_field(hosted->world, 0, FOLIOT_FIELD_position_x);
    (void)!slot_set_field(hosted->world, 0, FOLIOT_FIELD_position_x, bits ^ 1u << 20);
    for (uint32_t i = 0; i < 200; i++) {
        say_kind(a, 1, FOLIOT_PEER_STEPPER, FOLIOT__KIND_READY);
        cluster_run(a, 0.01);
    }
    assert_int_equal(cluster_get_counters(a)->divergences, 1);
    check_le(cluster_get_counters(a)->kind_changes, 4);
    check_le(cluster_get_counters(a)->snapshots_complete, 12);
    cluster_run(a, 4);
    assert_true(cluster_agrees(a, 1));
    cluster_destroy(a);
}

// Ready for what it is not, for what it was not given, and before anything has come.
TEST(what_it_says_out_of_turn_changes_nothing)
{
    for (int snapshots = 0; snapshots < 2; snapshots++) {
        cluster *a = cluster_create(&(cluster_options){.snapshots = snapshots});
        cluster_player(a, "delay=5ms");
        cluster_player(a, "delay=5ms");
        cluster_run(a, 2);
        for (uint32_t i = 0; i < 300; i++) {
            say_kind(a, 1, i % 3, FOLIOT__KIND_READY);
            cluster_run(a, 0.01);
        }
        check_le(cluster_get_counters(a)->snapshots_complete, 10); // each is large
        say_kind(a, 1, snapshots ? 2 : 1, 0);
        say_kind(a, 1, snapshots ? 2 : 1, FOLIOT__KIND_READY);
        for (uint32_t i = 0; i < 24; i++) {
            say_kind(a, 1, i % 3, FOLIOT__KIND_READY);
            cluster_run(a, 0.01);
        }
        cluster_run(a, 4);
        assert_int_equal(cluster_get_counters(a)->peers_dropped, 0);
        check_kind(a, 0, snapshots ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER);
        check_gt(cluster_get_statistics(a, 0).newest_tick + 12, cluster_get_tick(a));
        assert_true(cluster_is_honest(a));
        cluster_destroy(a);
    }
}
