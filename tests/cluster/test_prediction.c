// SPDX-License-Identifier: MIT
// test_prediction.c: own controls act at once, what was guessed rightly is exact to the bit, and
// what was guessed wrongly is put right. A server and its clients in one process on a virtual
// clock. The predicted state of every tick is kept, and compared with the server's.
#include "check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "bulky.h"
#include "foliot/scene.h"
#include "game_rules.h"
#include "../../client/lib/step/stepper.h"
#include "net/transport.h"
#include "status.h"
#include "slots.h"
#include "wire/lockstep_message.h"

#define FRAME (1.0 / 60)

static unsigned join(cluster *a, const char *network)
{
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    return cluster_join(a, network, &config);
}

// A client's predictions, by tick, until they were found wrong.
typedef struct forecast {
    foliot_digest digests[CLUSTER_HISTORY];
    uint64_t ticks[CLUSTER_HISTORY]; // that the digest is of; 0: none
    uint64_t rollbacks, confirmed;
    uint64_t compared, different;
} forecast;

static void look_at(cluster *a, unsigned client, forecast *f)
{
    const foliot_simulation *predicted = foliot_client_get_predicted(a->clients[client]),
                            *here = foliot_client_get_simulation(a->clients[client]);
    const foliot__prediction *p = a->clients[client]->predictor.worlds;
    if (!predicted || !here) {
        memset(f->ticks, 0, sizeof f->ticks);
        return;
    }
    if (!foliot__prediction_holds(p) || p->rollbacks != f->rollbacks)
        memset(f->ticks, 0, sizeof f->ticks);
    f->rollbacks = p->rollbacks;
    for (uint64_t t = f->confirmed + 1; t <= foliot_simulation_get_tick(here); t++)
        if (f->ticks[t % CLUSTER_HISTORY] == t) {
            f->compared++;
            f->different += !foliot_digest_equal(f->digests[t % CLUSTER_HISTORY],
                                                 a->history[t % CLUSTER_HISTORY]);
        }
    f->confirmed = foliot_simulation_get_tick(here);
    uint64_t tick = foliot_simulation_get_tick(predicted);
    uint32_t most = a->clients[client]->config.rollback_ticks_max;
    check_le(tick, f->confirmed + most + (most + 7) / 8);
    if (!foliot__prediction_holds(p))
        return;
    f->digests[tick % CLUSTER_HISTORY] = foliot_simulation_get_digest(predicted);
    f->ticks[tick % CLUSTER_HISTORY] = tick;
}

// One update of everybody, and then a picture.
static void run_frames(cluster *a, unsigned client, double seconds, forecast *f)
{
    foliot_sample sample;
    uint64_t step = a->step_ns;
    a->step_ns = 16666667;
    for (int i = 0; i < seconds / FRAME; i++) {
        cluster_run(a, FRAME);
        look_at(a, client, f);
        allow_failure(foliot_client_sample(a->clients[client], a->now_ns - a->step_ns, &sample));
    }
    a->step_ns = step;
}

static void print_seen(const forecast *f, const foliot_client_statistics *s)
{
    print_message("%llu compared, %llu rollbacks, %llu corrections (%llu own), %llu late, %g ticks "
                  "ahead, %.1f of delay, key to screen %.1f ms, at most %.1f\n",
                  (unsigned long long)f->compared, (unsigned long long)s->rollbacks,
                  (unsigned long long)s->corrections, (unsigned long long)s->corrections_own,
                  (unsigned long long)s->inputs_late, s->prediction_ticks, s->input_delay_ticks,
                  s->key_to_screen_ms, s->key_to_screen_max_ms);
}

static const foliot_world *world_of(const foliot_simulation *simulation)
{
    return simulation ? ((const foliot_hosted_world *)simulation->self)->world : NULL;
}

TEST(alone_nothing_is_ever_corrected)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    join(a, "delay=50ms,jitter=0-20ms,seed=3");
    run_frames(a, 0, 4, &f); // the round trip is learnt
    uint64_t late = cluster_get_statistics(a, 0).inputs_late,
             rollbacks = cluster_get_statistics(a, 0).rollbacks;
    run_frames(a, 0, 20, &f);
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    assert_int_equal(seen.inputs_late, late);
    assert_int_equal(seen.rollbacks, rollbacks);
    assert_int_equal(seen.corrections, 0);
    check_gt(f.compared, 1100);
    assert_int_equal(f.different, 0);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_is_honest(a));
    assert_int_equal(cluster_get_counters(a)->early_sent, 0); // there is nobody else
    cluster_destroy(a);
}

TEST(others_are_put_right)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=3");
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=4");
    run_frames(a, 0, 30, &f);
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    check_gt(seen.rollbacks, 20);
    check_gt(seen.early_received, 20);
    check_gt(f.compared, 500);
    assert_int_equal(f.different, 0);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_is_honest(a));
    check_le(10 * cluster_get_counters(a)->early_bytes_sent,
             cluster_get_counters(a)->relay_bytes_sent);
    cluster_destroy(a);
}

// The world that was guessed wrongly is not stepped in the frame in which it is replaced.
TEST(what_is_replaced_is_not_stepped)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    unsigned replaced = 0, stepped = 0;
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=3");
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=4");
    run_frames(a, 0, 5, &f);
    const foliot__prediction *p = a->clients[0]->predictor.worlds;
    for (int i = 0; i < 1200; i++) {
        const foliot__line *shown = p->predicted;
        uint64_t tick = shown->tick;
        run_frames(a, 0, FRAME, &f);
        if (shown != p->predicted) {
            replaced++;
            stepped += shown->tick > tick;
        }
    }
    print_message("%u replaced, %u of them stepped in that frame\n", replaced, stepped);
    check_gt(replaced, 15);
    assert_int_equal(stepped, 0);
    cluster_destroy(a);
}

// Whatever the round trip, up to 200 ms: the frame that reads a key shows what it does, or the
// next.
TEST(own_controls_act_at_once)
{
    static const char *const networks[] = {"delay=1ms", "delay=50ms", "delay=95ms"};
    for (int n = 0; n < 3; n++) {
        cluster *a = cluster_create(NULL);
        forecast f = {.confirmed = 0};
        join(a, networks[n]);
        a->bots[0] = false;
        run_frames(a, 0, 5, &f);
        for (int i = 1; i < 40; i++) {
            int8_t axes[FOLIOT_AXIS_COUNT] = {(int8_t)i};
            foliot_client_set_input(a->clients[0], axes, 0);
            run_frames(a, 0, 1.5 * FRAME, &f); // this one, and the next
            const foliot_world *world = world_of(foliot_client_get_predicted(a->clients[0]));
            assert_non_null(world);
            assert_int_equal(foliot_world_get_player_controls(world, 0).axes[0], i);
            run_frames(a, 0, 0.05 + 0.003 * i, &f);
        }
        foliot_client_statistics seen = cluster_get_statistics(a, 0);
        print_seen(&f, &seen);
        check_le(seen.key_to_screen_max_ms, 34); // counted from the frame before
        assert_int_equal(f.different, 0);
        cluster_destroy(a);
    }
}

// Beyond the limit own controls are shown later, and exactly.
TEST(the_guess_is_bounded)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    config.rollback_ticks_max = 4;
    cluster_join(a, "delay=300ms,jitter=0-40ms,loss=5%,seed=3", &config);
    join(a, "delay=20ms");
    run_frames(a, 0, 30, &f); // look_at checks every frame
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    check_gt(seen.input_delay_ticks, 30);
    check_le(seen.prediction_ticks, 5);
    check_gt(f.compared, 500);
    assert_int_equal(f.different, 0);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(the_input_delay_is_kept)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    config.input_delay = 5;
    cluster_join(a, "delay=50ms", &config);
    run_frames(a, 0, 10, &f);
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    assert_in_range(seen.key_to_screen_ms, 75, 110);
    assert_in_range(seen.prediction_ticks, 1, 5);
    assert_int_equal(seen.rollbacks, 0);
    cluster_destroy(a);
}

// Joins, leaves and commands are not guessed, and put right like everything else.
TEST(games_come_and_go)
{
    static const char *const moves[] = {"s", "p", "s", "t*", "x", "m", "p", "M"};
    cluster *a = cluster_create(&(cluster_options){.rules = &game_rules_kind, .players = 4});
    forecast f = {.confirmed = 0};
    foliot_client_event e;
    unsigned spawned = 0, joined = 0;
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=3");
    join(a, "delay=30ms,loss=5%,seed=4");
    for (int i = 0; i < 100; i++) {
        if (i % 20 == 5)
            join(a, "delay=20ms,seed=5");
        if (i % 20 == 15)
            foliot_client_leave(a->clients[a->client_count - 1], a->now_ns);
        for (unsigned k = 0; k < 2 && i % 4 == 0; k++)
            allow_failure(foliot_client_order(a->clients[k], FOLIOT_ORDER_GAME,
                                              moves[foliot__rng_below(&a->rng, 8)], 2, NULL));
        run_frames(a, 0, 0.2, &f);
        while (foliot_client_poll(a->clients[0], &e)) {
            spawned += e.kind == FOLIOT_CLIENT_SPAWNED;
            joined += e.kind == FOLIOT_CLIENT_JOINED;
            assert_false(e.predicted && e.kind == FOLIOT_CLIENT_SPAWNED);
        }
    }
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    check_gt(spawned, 5);
    check_gt(joined, 4);
    check_gt(f.compared, 100);
    assert_int_equal(f.different, 0);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_is_honest(a));
    assert_int_equal(foliot_client_order(a->clients[0], FOLIOT_ORDER_GAME, "E", 1, NULL),
                     FOLIOT_STATUS_OK);
    cluster_run(a, 2); // the game ends while it is predicted
    assert_int_equal(foliot_client_get_state(a->clients[0]), FOLIOT_CLIENT_CLOSED);
    cluster_destroy(a);
}

// A simulation without `copy` is copied by its bytes, and a world that takes no commands.
TEST(another_simulation_is_predicted)
{
    foliot_simulation_kind kind = *bulky_kind();
    cluster *a = cluster_create(&(cluster_options){.kind = &kind});
    forecast f = {.confirmed = 0};
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    config.simulation = &kind;
    cluster_join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=3", &config);
    cluster_join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=4", &config);
    run_frames(a, 0, 15, &f);
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    check_gt(f.compared, 100);
    check_gt(seen.rollbacks, 5);
    assert_int_equal(f.different, 0);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(breaks_are_survived)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    join(a, "delay=50ms,seed=3");
    join(a, "delay=50ms,seed=4");
    run_frames(a, 0, 5, &f);
    a->asleep[0] = true; // its host stands still
    run_frames(a, 0, 0.7, &f);
    a->asleep[0] = false;
    run_frames(a, 0, 5, &f);
    foliot_transport_disconnect(a->host, foliot__peer_id(0, 1), FOLIOT_DISCONNECT_TIMEOUT, true);
    run_frames(a, 0, 10, &f);
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    assert_int_equal(seen.reconnects, 1);
    assert_int_equal(foliot_client_get_prediction(a->clients[0]), FOLIOT_PREDICTION_ON);
    check_gt(f.compared, 500);
    assert_int_equal(f.different, 0);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(it_ends_at_any_time)
{
    for (int ms = 0; ms < 1000; ms += 37) {
        cluster *a = cluster_create(NULL);
        join(a, "delay=10ms");
        join(a, "delay=20ms,jitter=0-30ms");
        cluster_run(a, ms * 1e-3);
        foliot_client_leave(a->clients[0], a->now_ns);
        cluster_run(a, 0.05);
        cluster_destroy(a);
    }
}

// A host that sleeps until it is called for has one tick an update, and does not spin.
TEST(its_host_may_sleep)
{
    cluster *a = cluster_create(NULL);
    join(a, "delay=30ms");
    cluster_run(a, 3);
    uint64_t sent = cluster_get_statistics(a, 0).inputs_sent, updates = 0,
             end = a->now_ns + 2000000000u;
    a->asleep[0] = true; // it is called here
    a->step_ns = 250000;
    for (; a->now_ns < end;) {
        if (a->now_ns >= foliot_client_get_wake_ns(a->clients[0])) {
            foliot_client_update(a->clients[0], a->now_ns);
            updates++;
        }
        cluster_run(a, 0.00025);
    }
    sent = cluster_get_statistics(a, 0).inputs_sent - sent;
    print_message("%llu updates, %llu packets in 2 s\n", (unsigned long long)updates,
                  (unsigned long long)sent);
    assert_in_range(sent, 118, 130);
    check_le(updates, 500); // packets that come wake it too
    cluster_destroy(a);
}

static uint64_t slow_clock(void *user)
{
    uint64_t *now = user;
    return *now += 5000000; // more than a quarter of 16.7 ms
}

TEST(slow_steps_are_not_repeated)
{
    cluster *a = cluster_create(NULL);
    uint64_t now = 0;
    foliot_sample sample;
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    config.clock = slow_clock;
    config.clock_user = &now;
    cluster_join(a, "delay=50ms", &config);
    cluster_run(a, 3);
    assert_int_equal(foliot_client_get_prediction(a->clients[0]), FOLIOT_PREDICTION_SLOW);
    assert_null(foliot_client_get_predicted(a->clients[0]));
    uint64_t steps = cluster_get_statistics(a, 0).ticks_predicted;
    cluster_run(a, 3);
    assert_int_equal(cluster_get_statistics(a, 0).ticks_predicted, steps);
    demand(foliot_client_sample(a->clients[0], a->now_ns, &sample)); // closed ticks are shown
    assert_true(cluster_agrees(a, 0));
    cluster_destroy(a);
}

static uint64_t stalled_clock(void *user)
{
    uint64_t *calls = user;
    ++*calls; // a step or a copy is between two of them
    return *calls * 100000 + *calls / 20 * 400000000;
}

// A machine that is busy for a moment now and then: the mean of its steps is above a tick.
TEST(stalls_are_not_slow_steps)
{
    cluster *a = cluster_create(NULL);
    uint64_t calls = 0;
    foliot_client_config config = foliot_client_config_default();
    config.predicts = true;
    config.clock = stalled_clock;
    config.clock_user = &calls;
    cluster_join(a, "delay=50ms", &config);
    cluster_run(a, 6);
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_message("%llu calls, mean %.0f us\n", (unsigned long long)calls, seen.step_us);
    assert_true(seen.step_us > 500 && seen.step_us < 3000); // stalls were seen
    assert_int_equal(foliot_client_get_prediction(a->clients[0]), FOLIOT_PREDICTION_ON);
    assert_true(cluster_agrees(a, 0));
    cluster_destroy(a);
}

// The content of a predicted world is a guess: whatever becomes of it, nothing of it is sent to the
// server.
TEST(digests_are_of_closed_ticks)
{
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    join(a, "delay=50ms,seed=3");
    join(a, "delay=50ms,seed=4");
    run_frames(a, 0, 5, &f);
    for (int i = 0; i < 60; i++) {
        const foliot_hosted_world *hosted = foliot_client_get_predicted(a->clients[0])->self;
        (void)!slot_set_field(hosted->world, 0, FOLIOT_FIELD_position_x,
                              slot_field(hosted->world, 0, FOLIOT_FIELD_position_x) ^
                                  (uint64_t)1 << i % 50);
        cluster_run(a, 0.1);
    }
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_is_honest(a));
    assert_int_equal(cluster_get_statistics(a, 0).divergences, 0);
    check_gt(cluster_get_statistics(a, 0).ticks_compared, 500);
    cluster_destroy(a);
}

// A server that says early what nobody does, of any player and any tick.
TEST(early_lies_are_only_guesses)
{
    static foliot__block block;
    cluster *a = cluster_create(NULL);
    forecast f = {.confirmed = 0};
    foliot__rng rng = foliot__rng_seeded(5);
    join(a, "delay=50ms,seed=3");
    join(a, "delay=50ms,seed=4");
    run_frames(a, 0, 4, &f);
    for (int i = 0; i < 600; i++) {
        uint8_t bytes[FOLIOT_PACKET_BYTES_MAX], body[1000];
        block = (foliot__block){.ticks = 1 + foliot__rng_below(&rng, i % 7 ? 20 : 1000)};
        for (uint32_t k = 0; k < 40; k++) {
            block.ages[k] = k * block.ticks / 40;
            block.inputs[k] = (foliot_input){.player = k % 4, .buttons = (uint16_t)i};
            block.inputs[k].axes[0] = (int8_t)foliot__rng_below(&rng, 100);
            block.count += k == 0 || block.ages[k] > block.ages[k - 1] || k % 4;
        }
        size_t length = foliot__block_encode(&block, body, sizeof body);
        uint64_t tick = cluster_get_tick(a) + foliot__rng_below(&rng, 60) - 20;
        if (i % 5 == 0)
            tick = (uint64_t)i << 25;
        foliot__early early = {(uint32_t)tick, block.ticks, body, length};
        length = length == SIZE_MAX ? SIZE_MAX : foliot__early_encode(&early, bytes);
        if (length != SIZE_MAX)
            foliot__predict_receive_early(a->clients[0], bytes, length);
        for (size_t cut = 0; cut < 12; cut++) // and what is none
            foliot__predict_receive_early(a->clients[0], bytes, cut);
        run_frames(a, 0, 0.9 * FRAME, &f);
    }
    foliot_client_statistics seen = cluster_get_statistics(a, 0);
    print_seen(&f, &seen);
    check_gt(seen.early_received, 1000);
    check_gt(seen.early_dropped, 100);
    check_gt(seen.pieces_malformed, 1000);
    check_le(a->clients[0]->predictor.worlds->early.count, FOLIOT__EARLY_HELD);
    assert_int_equal(f.different, 0);
    assert_true(cluster_agrees(a, 0));
    assert_int_equal(cluster_get_counters(a)->divergences, 0);
    run_frames(a, 0, 3, &f); // and when it stops, all is as before
    assert_true(foliot__prediction_holds(a->clients[0]->predictor.worlds) ||
                cluster_get_statistics(a, 0).rollbacks > seen.rollbacks);
    cluster_destroy(a);
}

// Asked for by a player: sent. By a spectator, or without end: not.
TEST(early_inputs_are_for_players)
{
    const uint8_t ask[] = {FOLIOT__EARLY_PACKET, 0};
    cluster *a = cluster_create(&(cluster_options){0});
    cluster_player(a, "delay=20ms");
    cluster_player(a, "delay=20ms");
    unsigned spectator = cluster_spectator(a, "delay=20ms");
    cluster_run(a, 5);
    assert_int_equal(cluster_get_counters(a)->early_sent, 0);
    for (int i = 0; i < 20; i++) {
        cluster_inject(a, spectator, ask, 1);
        cluster_run(a, 0.2);
    }
    assert_int_equal(cluster_get_counters(a)->early_sent, 0);
    uint64_t before = cluster_get_tick(a);
    for (int i = 0; i < 20; i++) {
        cluster_inject(a, 0, ask, 1);
        cluster_run(a, 0.2);
    }
    check_gt(cluster_get_counters(a)->early_sent, 3);
    check_le(cluster_get_counters(a)->early_sent, cluster_get_tick(a) - before);
    cluster_run(a, 4); // it asks no more
    uint64_t sent = cluster_get_counters(a)->early_sent;
    cluster_run(a, 4);
    assert_int_equal(cluster_get_counters(a)->early_sent, sent);
    assert_true(cluster_is_honest(a));
    cluster_inject(a, 0, ask, 2); // is none
    cluster_run(a, 0.2);
    assert_int_equal(cluster_get_counters(a)->messages_malformed, 1);
    for (int i = 0; i < 3000; i++)
        cluster_inject(a, 0, ask, 1);
    cluster_run(a, 0.2);
    check_gt(cluster_get_counters(a)->violations_flood, 0);
    cluster_destroy(a);
}

// However many there are, what is handed on early takes a bounded share.
TEST(early_inputs_are_few_bytes)
{
    cluster *a = cluster_create(&(cluster_options){.players = 12});
    a->step_ns = 4000000;
    for (int i = 0; i < 12; i++)
        join(a, "delay=40ms,jitter=0-20ms,loss=5%,seed=3");
    cluster_run(a, 15);
    check_gt(cluster_get_counters(a)->early_sent, 500);
    check_le(100 * cluster_get_counters(a)->early_bytes_sent,
             15 * cluster_get_counters(a)->relay_bytes_sent);
    assert_true(cluster_is_honest(a));
    for (unsigned i = 0; i < 12; i++)
        assert_true(cluster_agrees(a, i));
    cluster_destroy(a);
}

// Balls that bounce: each hit is reported once, and a reported hit that did not happen is
// cancelled.
TEST(each_sound_is_heard_once)
{
    static const char text[] = "foliot: 1\nname: balls\ntick_hz: 60\nbodies:\n"
                               "  - {name: west, static: true, shape: {kind: plane, normal: [1, 0, "
                               "0], offset: -4}, restitution: 1}\n"
                               "  - {name: east, static: true, shape: {kind: plane, normal: [-1, "
                               "0, 0], offset: -4}, restitution: 1}\n"
                               "  - {name: south, static: true, shape: {kind: plane, normal: [0, "
                               "1, 0], offset: -4}, restitution: 1}\n"
                               "  - {name: north, static: true, shape: {kind: plane, normal: [0, "
                               "-1, 0], offset: -4}, restitution: 1}\n"
                               "  - {name: ball, mass: 1, position: [1, 2, 0], velocity: [5, 3, "
                               "0], shape: {kind: sphere, radius: 0.4}, restitution: 1}\n"
                               "  - {name: other, mass: 1, position: [-2, 1, 0], velocity: [-4, 5, "
                               "0], shape: {kind: sphere, radius: 0.4}, restitution: 1}\n"
                               "players:\n  limit: 4\n  spawn: {mass: 1, shape: {kind: sphere, "
                               "radius: 0.4}, restitution: 1, positions: [[0, 0, 0], [2, -2, 0]]}\n"
                               "  controls: {kind: thrust, force: 20}\n";
    foliot_scene *scene;
    foliot_error error;
    if (foliot_scene_parse(text, sizeof text - 1, "balls", NULL, &scene, &error) !=
        FOLIOT_STATUS_OK)
        fail_msg("%s", error.text);
    cluster *a = cluster_create(&(cluster_options){.scene = scene});
    forecast f = {.confirmed = 0};
    foliot_client_event e;
    static bool told[100000];
    unsigned predicted = 0, confirmed = 0, cancelled = 0;
    memset(told, 0, sizeof told);
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=3");
    join(a, "delay=50ms,jitter=0-20ms,loss=5%,seed=4");
    for (int i = 0; i < 300; i++) {
        run_frames(a, 0, 0.1, &f);
        while (foliot_client_poll(a->clients[0], &e)) {
            assert_true(e.identity < sizeof told);
            if (e.kind == FOLIOT_CLIENT_CANCELLED) {
                assert_true(told[e.identity]);
                cancelled++;
            } else if (e.kind == FOLIOT_CLIENT_HIT) {
                assert_false(told[e.identity]);
                told[e.identity] = true;
                predicted += e.predicted;
                confirmed += !e.predicted;
            }
        }
    }
    print_message("%u hits predicted, %u told when confirmed, %u cancelled\n", predicted, confirmed,
                  cancelled);
    check_gt(predicted, 50);
    check_lt(cancelled, predicted / 2);
    check_lt(confirmed, predicted);
    assert_int_equal(cluster_get_statistics(a, 0).events_cancelled, cancelled);
    cluster_destroy(a);
    foliot_scene_destroy(scene);
}
