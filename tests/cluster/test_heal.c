// SPDX-License-Identifier: MIT
// test_heal.c: a stepper whose state differs from the server's watches, is searched, is given the
// server's state and steps again. Others notice nothing, and none of its inputs is lost.
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "cluster.h"
#include "../../client/lib/shared/internal.h"
#undef FOLIOT__CHANGES_HELD // both sides hold changes
#include "../../server/lib/admission.h"
#include "../../server/lib/session.h"
#include "chain.h"
#include "foliot/replay.h"
#include "divergence/perturb.h"
#include "status.h"
#include "slots.h"

#define FILE_NAME "/tmp/foliot-test-heal"

// A bit of what the client steps, as by a cosmic ray.
static void flip(cluster *a, unsigned client)
{
    const foliot_simulation *simulation = foliot_client_get_simulation(a->clients[client]);
    assert_non_null(simulation);
    if (a->options.kind) {
        ((chain_state *)simulation->self)->heat[3] ^= 1u << 7;
        return;
    }
    const foliot_hosted_world *hosted = simulation->self;
    uint64_t bits = slot_field(hosted->world, 0, FOLIOT_FIELD_position_x);
    (void)!slot_set_field(hosted->world, 0, FOLIOT_FIELD_position_x, bits ^ 1u << 20);
}

// Milliseconds until the client is of that kind, and right.
static double until(cluster *a, unsigned client, foliot_peer_kind kind, double seconds)
{
    uint64_t begun = a->now_ns;
    while ((double)(a->now_ns - begun) < seconds * 1e9) {
        cluster_run(a, 0.001);
        if (foliot_client_get_kind(a->clients[client]) == kind &&
            (kind == FOLIOT_PEER_STEPPER ? cluster_agrees(a, client) : cluster_watches(a, client)))
            break;
    }
    return (double)(a->now_ns - begun) * 1e-6;
}

// Controls that are a number which grows, one in 60 ms.
static uint16_t count_for(cluster *a, unsigned client, uint16_t from, double seconds)
{
    const int8_t axes[FOLIOT_AXIS_COUNT] = {0};
    for (int i = 0; i < (int)(seconds / 0.06); i++) {
        foliot_client_set_input(a->clients[client], axes, ++from);
        cluster_run(a, 0.06);
    }
    return from;
}

// A search's simulations and traces are as large as the world: who is healed holds none any more.
static void check_released(const cluster *a, unsigned client)
{
    const foliot__rewind *theirs = &a->clients[client]->lockstep->search.rewind,
                         *ours = &a->server->sessions[0]->lockstep->search.rewind;
    assert_null(theirs->trace);
    assert_null(theirs->simulation.self);
    assert_null(ours->trace);
}

TEST(a_flipped_bit_is_healed_and_nobody_notices)
{
    double watched = 0, healed = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        cluster *a = cluster_create(&(cluster_options){.samples = true});
        a->rng = foliot__rng_seeded(seed);
        cluster_player(a, "delay=30ms,loss=2%");
        for (uint64_t i = 0; i < seed; i++) // another network for each
            cluster_kind(a, "delay=500ms", FOLIOT_PEER_WATCHER);
        unsigned bad = cluster_player(a, "delay=50ms,loss=5%,rate=1000kbit");
        cluster_run(a, 3 + 0.1 * (double)seed);
        flip(a, bad);
        double watching = until(a, bad, FOLIOT_PEER_WATCHER, 1),
               stepping = watching + until(a, bad, FOLIOT_PEER_STEPPER, 5);
        watched = watching > watched ? watching : watched;
        healed = stepping > healed ? stepping : healed;
        cluster_run(a, 3);
        assert_true(cluster_agrees(a, bad));
        assert_true(cluster_agrees(a, 0));
        assert_int_equal(cluster_get_statistics(a, 0).divergences, 0);
        assert_int_equal(cluster_get_statistics(a, bad).divergences, 1);
        assert_int_equal(cluster_get_statistics(a, bad).heals, 1);
        assert_int_equal(cluster_get_counters(a)->heals, 1);
        assert_int_equal(cluster_get_counters(a)->divergences, 1);
        assert_int_equal(cluster_get_counters(a)->violations_digests, 0);
        assert_int_equal(a->events[FOLIOT_SERVER_HEALED], 1);
        assert_int_equal(a->found_count, 1);
        assert_int_equal(a->unshown[bad], 0);
        assert_int_equal(a->backwards, 0);
        check_released(a, bad);
        cluster_destroy(a);
    }
    print_message("watches after %.0f ms, steps after %.0f ms\n", watched, healed);
    check_le(watched, 100 + 150); // a round trip and a little
    check_le(healed, 3000);       // bench/heal has the figures
}

// Status packets that were on their way when the client began with the server's state.
TEST(what_was_said_of_the_state_before_changes_nothing)
{
    cluster *a = cluster_create(NULL);
    unsigned bad = cluster_player(a, "delay=40ms");
    cluster_run(a, 3);
    foliot_client *c = a->clients[bad];
    foliot__lockstep_client *l = c->lockstep;
    const foliot__lockstep_status late = {
        .tick = (uint32_t)l->tick, .checked = (uint32_t)l->checked, .diverged = true};
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    size_t length = foliot__lockstep_status_encode(&late, bytes);
    uint64_t begins = l->begins;
    flip(a, bad);
    for (int i = 0; i < 5000; i++) {
        cluster_run(a, 0.001);
        if (l->begins != begins)
            foliot__lockstep_client_receive_status(l, bytes, length, a->now_ns, 1e9 / 60);
    }
    assert_int_equal(l->begins, begins + 1);
    assert_int_equal(foliot_client_get_kind(c), FOLIOT_PEER_STEPPER);
    assert_false(l->diverged);
    assert_int_equal(cluster_get_statistics(a, bad).heals, 1);
    assert_int_equal(cluster_get_statistics(a, bad).divergences, 1);
    assert_true(cluster_agrees(a, bad));
    cluster_destroy(a);
}

TEST(no_input_is_lost_while_it_is_healed)
{
    foliot_replay *replay;
    remove(FILE_NAME);
    cluster *a = cluster_create(&(cluster_options){.record = FILE_NAME});
    unsigned bad = cluster_player(a, "delay=40ms,loss=5%");
    a->bots[bad] = false;
    cluster_run(a, 1);
    uint16_t count = count_for(a, bad, 0, 3), seen = 0;
    flip(a, bad);
    count = count_for(a, bad, count, 8);
    cluster_run(a, 2);
    assert_int_equal(cluster_get_counters(a)->heals, 1);
    assert_true(cluster_agrees(a, bad));
    assert_int_equal(cluster_get_counters(a)->inputs_late,
                     cluster_get_statistics(a, bad).inputs_late);
    cluster_destroy(a);
    assert_int_equal(foliot_replay_open(FILE_NAME, &foliot_world_kind, &replay, NULL),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < foliot_replay_get_summary(replay)->last_tick; tick++) {
        const foliot_input *inputs;
        uint32_t n;
        assert_int_equal(foliot_replay_get_inputs(replay, tick, &inputs, &n), FOLIOT_STATUS_OK);
        for (uint32_t i = 0; i < n; i++)
            if (inputs[i].kind == FOLIOT_INPUT_CONTROL && inputs[i].buttons != 0)
                assert_int_equal(inputs[i].buttons, ++seen);
    }
    assert_int_equal(seen, count);
    foliot_replay_close(replay);
    remove(FILE_NAME);
}

// Once in ten seconds; then it watches, and the host is notified.
TEST(one_that_differs_again_and_again_watches)
{
    cluster *a = cluster_create(&(cluster_options){.samples = true});
    cluster_player(a, "delay=20ms");
    unsigned bad = cluster_player(a, "delay=30ms,loss=2%");
    cluster_run(a, 3);
    flip(a, bad);
    cluster_run(a, 5);
    assert_int_equal(cluster_get_counters(a)->heals, 1);
    flip(a, bad);
    cluster_run(a, 5);
    assert_int_equal(cluster_get_counters(a)->heals, 1);
    assert_int_equal(foliot_client_get_kind(a->clients[bad]), FOLIOT_PEER_WATCHER);
    assert_true(cluster_watches(a, bad));
    check_gt(cluster_get_statistics(a, bad).newest_tick + 12, cluster_get_tick(a));
    assert_int_equal(a->events[FOLIOT_SERVER_KIND], 1);
    assert_non_null(strstr(a->last[FOLIOT_SERVER_KIND].text, "differed again"));
    allow_failure(foliot_client_set_kind(a->clients[bad], FOLIOT_PEER_STEPPER)); // too soon
    cluster_run(a, 3);
    assert_int_equal(foliot_client_get_kind(a->clients[bad]), FOLIOT_PEER_WATCHER);
    cluster_run(a, 10);
    allow_failure(foliot_client_set_kind(a->clients[bad], FOLIOT_PEER_STEPPER));
    cluster_run(a, 3);
    assert_true(cluster_agrees(a, bad));
    assert_int_equal(cluster_get_counters(a)->violations_digests, 0);
    cluster_destroy(a);
}

// Adds an ulp in every tick, as a build does that rounds otherwise.
static void round_otherwise(void *user, foliot_world *world, foliot_stage stage)
{
    const foliot_perturbation *fault = user;
    if (stage == fault->stage && fault->body < foliot_world_get_body_count(world))
        foliot__perturb(world, fault);
}

// It has differed again before its first divergence is found, and the states that the server saves
// for newcomers are all younger by then: a search takes ten round trips and more.
TEST(a_build_that_rounds_otherwise_is_found_on_long_ways)
{
    foliot_perturbation fault = {
        .stage = FOLIOT_STAGE_integrate, .body = 3, .field = FOLIOT_FIELD_velocity_y, .ulps = 1};
    static const foliot_host none;
    foliot_host host = none;
    host.after_stage = round_otherwise;
    host.stage_user = &fault;
    foliot_client_config config = foliot_client_config_default();
    config.step_host = &host;
    static const int delays_ms[] = {20, 40, 80, 160, 320, 640, 1280};
    for (size_t i = 0; i < sizeof delays_ms / sizeof *delays_ms; i++) {
        char network[32];
        snprintf(network, sizeof network, "delay=%dms", delays_ms[i]);
        cluster *a = cluster_create(&(cluster_options){.samples = true});
        cluster_player(a, "delay=20ms");
        cluster_run(a, 1);
        unsigned bad = cluster_join(a, network, &config);
        const foliot_divergence_report *found = &a->found;
        foliot_divergence_report told = {0};
        for (int ms = 0; !foliot_client_poll_divergence(a->clients[bad], &told); ms++) {
            check_le(ms, 60000);
            cluster_run(a, 0.001);
        }
        assert_int_equal(a->found_count, 1);
        assert_true(found->divergence.stage_known);
        assert_string_equal(found->divergence.stage_name, "integrate");
        assert_true(found->divergence.field_known);
        assert_int_equal(found->divergence.body, 3);
        assert_string_equal(found->divergence.field_name, "velocity.y");
        check_gt(found->before_bytes, 0);
        check_gt(told.before_bytes, 0);
        cluster_run(a, 20);
        assert_int_equal(foliot_client_get_kind(a->clients[bad]), FOLIOT_PEER_WATCHER);
        assert_int_equal(cluster_get_counters(a)->violations_digests, 0);
        assert_true(cluster_agrees(a, 0));
        cluster_destroy(a);
    }
}

// A client without snapshots stands still, and continues from the server's state.
TEST(a_simulation_that_is_no_world_is_healed_too)
{
    cluster *a = cluster_create(&(cluster_options){.kind = chain_kind(CHAIN_NO_FAULT)});
    cluster_player(a, "delay=20ms");
    unsigned bad = cluster_player(a, "delay=40ms,loss=5%");
    cluster_run(a, 3);
    flip(a, bad);
    cluster_run(a, 0.15);
    uint64_t tick = cluster_get_statistics(a, bad).newest_tick;
    cluster_run(a, 0.1);
    assert_int_equal(cluster_get_statistics(a, bad).newest_tick, tick);
    cluster_run(a, 4);
    assert_true(cluster_agrees(a, bad));
    assert_true(cluster_agrees(a, 0));
    assert_int_equal(cluster_get_counters(a)->heals, 1);
    assert_int_equal(cluster_get_statistics(a, bad).heals, 1);
    assert_int_equal(foliot_client_get_kind(a->clients[bad]), FOLIOT_PEER_STEPPER);
    flip(a, bad); // again: not before ten seconds are over
    cluster_run(a, 4);
    assert_int_equal(cluster_get_counters(a)->heals, 1);
    cluster_run(a, 8);
    assert_int_equal(cluster_get_counters(a)->heals, 2);
    assert_true(cluster_agrees(a, bad));
    cluster_destroy(a);
}

// While it is healed, and while it changes its kind.
TEST(a_client_that_goes_in_the_middle_leaves_nothing)
{
    for (int ms = 0; ms < 1500; ms += 150) {
        cluster *a = cluster_create(&(cluster_options){.samples = true});
        cluster_player(a, "delay=20ms");
        unsigned bad = cluster_player(a, "delay=40ms,loss=5%");
        cluster_run(a, 3);
        flip(a, bad);
        cluster_run(a, 0.001 * ms);
        foliot_client_leave(a->clients[bad], a->now_ns);
        cluster_run(a, 3);
        unsigned next = cluster_kind(a, "delay=40ms", FOLIOT_PEER_WATCHER);
        cluster_run(a, 2);
        assert_true(cluster_watches(a, next));
        assert_true(cluster_agrees(a, 0));
        assert_int_equal(foliot_server_get_presence(a->server).peers, 2);
        cluster_destroy(a);
    }
}

// A peer that changes its role sends both ways. All that it may send for one tick fits the tick,
// though it is the only player: the room was once for changes alone, and the server asserted.
TEST(inputs_of_both_ways_fit_one_tick)
{
    cluster *a = cluster_create(&(cluster_options){.snapshots = true, .players = 1});
    unsigned client = cluster_kind(a, "delay=10ms", FOLIOT_PEER_WATCHER);
    a->bots[client] = false;
    cluster_run(a, 2);
    foliot__session *s = a->server->sessions[0];
    foliot__peer *peer = s->peers;
    foliot__player_input *input = &s->players[peer->player].input;
    demand(foliot__kind_make_machinery(s, FOLIOT__KIND_STEPPER));
    static foliot__block late;
    for (uint32_t i = 0; i < FOLIOT__LATE_HELD; i++) {
        late.ages[i] = i / FOLIOT__INPUTS_A_TICK;
        late.inputs[i] = (foliot_input){.player = peer->player, .kind = FOLIOT_INPUT_CONTROL};
    }
    late.count = FOLIOT__LATE_HELD;
    late.ticks = FOLIOT__LATE_HELD / FOLIOT__INPUTS_A_TICK;
    foliot__stream_receive(s, peer, &late, s->tick - late.ticks);
    assert_int_equal(input->queue.counts[FOLIOT__INPUT_BY_TICK], FOLIOT__LATE_HELD);
    while (input->queue.counts[FOLIOT__INPUT_BY_CHANGE] < FOLIOT__CHANGES_HELD) {
        foliot__input_packet packet = {.newest_snapshot = FOLIOT__NO_TICK, .count = 1};
        packet.changes[0].sequence = input->next_sequence;
        packet.changes[0].tick = s->tick - 1;
        foliot__input_receive(s, peer, &packet);
    }
    uint64_t refused = a->server->counters.inputs_refused;
    cluster_run(a, 0.2);
    assert_int_equal(input->queue.count, 0);
    check_eq(a->server->counters.inputs_refused, refused);
    cluster_destroy(a);
}
