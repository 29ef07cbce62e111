// SPDX-License-Identifier: MIT
// test_lockstep.c: everybody steps the same inputs to the same bits, whatever the network does. A
// server and its clients in one process on a virtual clock; states are compared bit by bit, and the
// server compares digests too.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "net/transport.h"
#include "divergence/perturb.h"
#include "wire/lockstep_message.h"
#include "wire/message.h"
#include "status.h"
#include "slots.h"

TEST(clients_step_to_the_same_bits)
{
    cluster *a = cluster_create(NULL);
    for (int i = 0; i < 3; i++)
        cluster_player(a, "delay=20ms");
    cluster_run(a, 20);
    for (unsigned i = 0; i < 3; i++) {
        foliot_client_statistics seen = cluster_get_statistics(a, i);
        check_gt(seen.ticks_compared, 1100);
        assert_int_equal(seen.divergences, 0);
        assert_true(cluster_agrees(a, i));
    }
    check_gt(cluster_get_counters(a)->inputs, 60);
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

// Steps with a fault of one ulp or so put in where we choose.
static unsigned join_with_fault(cluster *a, const char *network, const foliot_perturbation *fault,
                                foliot__perturber *perturber)
{
    static const foliot_host none;
    *perturber = (foliot__perturber){.fault = fault};
    foliot_host host = foliot__perturbing_host(&none, perturber);
    foliot_client_config config = foliot_client_config_default();
    config.step_host = &host;
    return cluster_join(a, network, &config);
}

TEST(a_fault_is_found_with_stage_body_and_field)
{
    cluster *a = cluster_create(NULL);
    foliot_perturbation fault = {.tick = 400,
                                 .stage = FOLIOT_STAGE_integrate,
                                 .body = 3,
                                 .field = FOLIOT_FIELD_velocity_y,
                                 .ulps = -2};
    foliot__perturber perturber;
    cluster_player(a, "delay=20ms,loss=5%");
    unsigned bad = join_with_fault(a, "delay=80ms,loss=10%", &fault, &perturber);
    cluster_run(a, 12);
    foliot_divergence_report *found = &a->found;
    assert_int_equal(a->found_count, 1);
    assert_int_equal(cluster_get_counters(a)->divergences, 1);
    assert_int_equal(found->player, 1);
    assert_int_equal(found->divergence.tick, 400);
    assert_string_equal(found->divergence.stage_name, "integrate");
    assert_int_equal(found->divergence.body, 3);
    assert_string_equal(found->divergence.field_name, "velocity.y");
    assert_int_equal(found->divergence.ulps, 2);
    check_le(found->exchanged, 2048);
    print_message("%u bytes exchanged\n", found->exchanged);
    // Noticed within a tick and a round trip, and the client has the same report.
    check_le(a->last[FOLIOT_SERVER_DIVERGED].tick, 400 + 1 + 10 + 2);
    foliot_divergence_report told;
    assert_true(foliot_client_poll_divergence(a->clients[bad], &told));
    assert_int_equal(told.divergence.tick, 400);
    assert_string_equal(told.divergence.field_name, "velocity.y");
    assert_int_equal(told.divergence.actual, found->divergence.actual);
    assert_int_equal(told.divergence.expected, found->divergence.expected);
    check_gt(told.before_bytes, 0);
    check_gt(told.after_bytes, 0);
    // Nobody was disconnected, and the others are not concerned. It was given the server's state.
    assert_int_equal(foliot_client_get_state(a->clients[bad]), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(cluster_get_statistics(a, 0).divergences, 0);
    check_gt(cluster_get_statistics(a, 0).ticks_compared, 650);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_agrees(a, bad));
    assert_int_equal(cluster_get_counters(a)->heals, 1);
    assert_int_equal(cluster_get_statistics(a, bad).heals, 1);
    cluster_destroy(a);
}

// No rule gives it, and so the step gives the right state when it is taken again.
TEST(memory_that_was_overwritten_is_found_too)
{
    cluster *a = cluster_create(NULL);
    cluster_player(a, "delay=20ms");
    unsigned bad = cluster_player(a, "delay=40ms");
    cluster_run(a, 6);
    const foliot_hosted_world *hosted = foliot_client_get_simulation(a->clients[bad])->self;
    uint64_t tick = foliot_world_get_tick(hosted->world),
             bits = slot_field(hosted->world, 0, FOLIOT_FIELD_position_x);
    (void)!slot_set_field(hosted->world, 0, FOLIOT_FIELD_position_x, bits ^ 1u << 20);
    cluster_run(a, 2);
    assert_int_equal(a->found_count, 1);
    assert_int_equal(a->found.divergence.tick, tick + 1); // the first whose digest was taken
    assert_false(a->found.divergence.stage_known);
    assert_int_equal(a->found.divergence.body, 0);
    assert_string_equal(a->found.divergence.field_name, "position.x");
    check_gt(a->found.divergence.ulps, 1000);
    assert_int_equal(cluster_get_counters(a)->violations_digests, 0);
    cluster_destroy(a);
}

TEST(a_lost_connection_is_resumed_as_the_same_player)
{
    cluster *a = cluster_create(NULL);
    cluster_player(a, "delay=20ms");
    cluster_player(a, "delay=25ms");
    cluster_run(a, 10);
    uint32_t player = foliot_client_get_player(a->clients[1]);
    foliot_transport_disconnect(a->host, foliot__peer_id(1, 1), FOLIOT_DISCONNECT_TIMEOUT, true);
    cluster_run(a, 10);
    foliot_client_statistics seen = cluster_get_statistics(a, 1);
    assert_int_equal(seen.reconnects, 1);
    assert_int_equal(foliot_client_get_player(a->clients[1]), player);
    assert_int_equal(cluster_get_counters(a)->resumes, 1);
    check_gt(seen.ticks_compared, 500);
    assert_true(cluster_agrees(a, 0));
    assert_true(cluster_agrees(a, 1));
    assert_true(cluster_is_honest(a));
    cluster_destroy(a);
}

TEST(who_sleeps_is_let_go_and_comes_back)
{
    cluster *a = cluster_create(NULL);
    cluster_player(a, "delay=20ms");
    unsigned sleeper = cluster_player(a, "delay=25ms");
    cluster_run(a, 5);
    a->asleep[sleeper] = true;
    a->step_ns = 4000000;
    cluster_run(a, 160); // the log reaches back 137 s
    check_gt(cluster_get_statistics(a, 0).newest_tick + 6, cluster_get_tick(a)); // nobody waited
    a->asleep[sleeper] = false;
    cluster_run(a, 5);
    assert_int_equal(cluster_get_counters(a)->peers_silent, 1);
    assert_int_equal(a->events[FOLIOT_SERVER_DROPPED], 1);
    assert_int_equal(cluster_get_counters(a)->leaves, 1); // its place was kept for a while
    check_gt(cluster_get_statistics(a, sleeper).newest_tick + 10, cluster_get_tick(a));
    assert_true(cluster_agrees(a, sleeper));
    assert_int_equal(cluster_get_counters(a)->divergences, 0);
    cluster_destroy(a);
}

// -- liars

static cluster *with_a_liar(void)
{
    cluster *a = cluster_create(NULL);
    cluster_player(a, "delay=1ms");
    foliot_client_config config = foliot_client_config_default();
    config.name = "mallory";
    cluster_join(a, "delay=1ms", &config);
    a->bots[1] = false;
    cluster_run(a, 20);
    return a;
}

static void tell_lie(cluster *a, foliot__lockstep_input packet, uint32_t player, uint32_t count,
                     int8_t value)
{
    static foliot__block block;
    uint8_t inner[1000], bytes[FOLIOT_PACKET_BYTES_MAX];
    block = (foliot__block){.ticks = packet.ticks, .count = count};
    for (uint32_t i = 0; i < count; i++)
        block.inputs[i] = (foliot_input){.player = player, .axes = {value}};
    packet.block = inner;
    packet.block_length = foliot__block_encode(&block, inner, sizeof inner);
    packet.sent_ms = (uint16_t)(a->now_ns / 1000000);
    cluster_inject(a, 1, bytes, foliot__lockstep_input_encode(&packet, bytes));
    cluster_run(a, 0.05);
}

// It is named and counted, and the others play on.
static void check_lie(cluster *a, uint64_t count, const char *what)
{
    check_gt(count, 0);
    check_gt(a->events[FOLIOT_SERVER_VIOLATION], 0);
    assert_non_null(strstr(a->last[FOLIOT_SERVER_VIOLATION].text, "mallory"));
    assert_non_null(strstr(a->last[FOLIOT_SERVER_VIOLATION].text, what));
    cluster_run(a, 12);
    assert_true(cluster_agrees(a, 0));
    assert_int_equal(cluster_get_statistics(a, 0).divergences, 0);
    check_gt(cluster_get_statistics(a, 0).newest_tick + 6, cluster_get_tick(a));
    cluster_destroy(a);
}

TEST(inputs_for_another_player_are_a_lie)
{
    cluster *a = with_a_liar();
    uint64_t inputs = cluster_get_counters(a)->inputs;
    a->bots[0] = false;
    tell_lie(a,
             (foliot__lockstep_input){
                 .acks.next = (uint32_t)cluster_get_tick(a), .ahead = 5, .ticks = 1},
             0, 1, 99);
    assert_int_equal(cluster_get_counters(a)->inputs, inputs);
    check_lie(a, cluster_get_counters(a)->violations_other_player, "another player");
}

TEST(other_inputs_for_the_same_tick_are_a_lie)
{
    cluster *a = with_a_liar();
    tell_lie(a,
             (foliot__lockstep_input){
                 .acks.next = (uint32_t)cluster_get_tick(a), .back = 100, .ticks = 1},
             1, 1, 99);
    check_lie(a, cluster_get_counters(a)->violations_contradicted, "than before");
}

TEST(inputs_for_ticks_closed_long_ago_are_a_lie)
{
    cluster *a = with_a_liar();
    tell_lie(a,
             (foliot__lockstep_input){
                 .acks.next = (uint32_t)cluster_get_tick(a), .back = 1100, .ticks = 1},
             1, 1, 99);
    assert_int_equal(cluster_get_counters(a)->inputs_stale, 1);
    check_lie(a, cluster_get_counters(a)->violations_long_ago, "long ago");
}

TEST(acknowledging_what_was_never_sent_is_a_lie)
{
    cluster *a = with_a_liar();
    tell_lie(a, (foliot__lockstep_input){.acks.next = (uint32_t)cluster_get_tick(a) + 100}, 1, 0,
             0);
    check_lie(a, cluster_get_counters(a)->violations_unclosed, "never sent");
}

TEST(false_digests_are_a_lie)
{
    cluster *a = with_a_liar();
    for (uint64_t tick = cluster_get_tick(a); cluster_get_tick(a) == tick;)
        cluster_run(a, 0.001);
    tell_lie( // sooner than the honest report
        a, (foliot__lockstep_input){.acks.next = (uint32_t)cluster_get_tick(a), .digests = 12345},
        1, 0, 0);
    cluster_run(a, 0.2);
    check_ge(cluster_get_counters(a)->divergences, 1);
    check_lie(a, cluster_get_counters(a)->violations_digests, "answers contradict");
}

TEST(a_flood_is_a_lie)
{
    cluster *a = with_a_liar();
    foliot__lockstep_input packet = {.acks.next = (uint32_t)cluster_get_tick(a)};
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    size_t length = foliot__lockstep_input_encode(&packet, bytes);
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 50; k++)
            cluster_inject(a, 1, bytes, length);
        cluster_run(a, 0.001);
    }
    check_gt(cluster_get_counters(a)->violations_flood, 4000);
    check_le(a->events[FOLIOT_SERVER_VIOLATION], 5); // and the log is not flooded
    check_lie(a, cluster_get_counters(a)->violations_flood, "more packets");
}

// Ten protocol violations in ten different seconds: the peer is dropped by name, with the reason;
// its player leaves, and the others play on.
TEST(who_goes_on_lying_is_dropped)
{
    cluster *a = with_a_liar();
    for (int i = 0; i < 9; i++) {
        tell_lie(a, (foliot__lockstep_input){.acks.next = (uint32_t)cluster_get_tick(a) + 100}, 1,
                 0, 0);
        cluster_run(a, 1);
    }
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 0);
    tell_lie(a, (foliot__lockstep_input){.acks.next = (uint32_t)cluster_get_tick(a) + 100}, 1, 0,
             0);
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 1);
    assert_non_null(strstr(a->last[FOLIOT_SERVER_DROPPED].text, "mallory"));
    assert_non_null(strstr(a->last[FOLIOT_SERVER_DROPPED].text, "never sent"));
    cluster_run(a, 1);
    assert_int_equal(foliot_client_get_state(a->clients[1]), FOLIOT_CLIENT_REFUSED);
    assert_non_null(strstr(foliot_client_get_reason(a->clients[1]), "honest"));
    assert_int_equal(cluster_get_counters(a)->leaves, 1);
    check_lie(a, cluster_get_counters(a)->violations_unclosed, "never sent");
}

TEST(a_lie_now_and_then_is_forgiven)
{
    cluster *a = with_a_liar();
    a->step_ns = 4000000;
    for (int i = 0; i < 14; i++) {
        tell_lie(a, (foliot__lockstep_input){.acks.next = (uint32_t)cluster_get_tick(a) + 100}, 1,
                 0, 0);
        cluster_run(a, 31);
    }
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 0);
    check_lie(a, cluster_get_counters(a)->violations_unclosed, "never sent");
}

// Late or made up: it is one message, and counted as one.
TEST(an_answer_that_nobody_asked_for_is_unexpected)
{
    cluster *a = with_a_liar();
    uint8_t bytes[FOLIOT__CONTROL_BYTES_MAX];
    size_t length;
    uint64_t answers = cluster_get_counters(a)->answers;
    foliot__message m = {.kind = FOLIOT__SEARCH_RESPONSE};
    m.as.search =
        (foliot__search_message){.number = 7, .bytes = (const uint8_t *)"no", .length = 2};
    assert_int_equal(foliot__message_encode(&m, bytes, sizeof bytes, &length), FOLIOT_STATUS_OK);
    allow_failure(foliot_transport_send(a->wires[1], foliot__peer_id(0, 1),
                                        FOLIOT_DELIVERY_RELIABLE, bytes, length));
    foliot_transport_flush(a->wires[1], a->now_ns);
    cluster_run(a, 0.1);
    assert_int_equal(cluster_get_counters(a)->messages_unexpected, 1);
    assert_int_equal(cluster_get_counters(a)->answers, answers);
    cluster_destroy(a);
}

TEST(junk_ends_the_connection)
{
    cluster *a = with_a_liar();
    for (int i = 0; i < 40; i++) {
        uint8_t bytes[30];
        for (size_t k = 0; k < sizeof bytes; k++)
            bytes[k] = (uint8_t)foliot__rng_below(&a->rng, 256);
        bytes[0] = 19;
        bytes[5] = 200; // more runs than there may be
        cluster_inject(a, 1, bytes, sizeof bytes);
        cluster_run(a, 0.05);
    }
    check_ge(cluster_get_counters(a)->messages_malformed, 30);
    assert_int_equal(cluster_get_counters(a)->peers_dropped, 1);
    cluster_run(a, 5);
    assert_true(cluster_agrees(a, 0));
    cluster_destroy(a);
}

TEST(another_fingerprint_watches_unless_forced)
{
    for (int refuses = 0; refuses < 2; refuses++) {
        cluster_options options = {.refuses_forced = refuses};
        cluster *a = cluster_create(&options);
        foliot_client_config config = foliot_client_config_default();
        config.fingerprint = (foliot_digest){1, 2};
        unsigned out = cluster_join(a, "delay=5ms", &config);
        config.force_stepping = true;
        unsigned in = cluster_join(a, "delay=5ms", &config);
        cluster_run(a, 2);
        assert_int_equal(foliot_client_get_state(a->clients[out]), FOLIOT_CLIENT_PLAYING);
        assert_int_equal(foliot_client_get_kind(a->clients[out]), FOLIOT_PEER_WATCHER);
        assert_int_equal(foliot_client_get_kind(a->clients[in]),
                         refuses ? FOLIOT_PEER_WATCHER : FOLIOT_PEER_STEPPER);
        check_gt(cluster_get_statistics(a, out).snapshots_received, 100);
        if (!refuses)
            assert_true(cluster_agrees(a, in));
        assert_int_equal(foliot_client_set_kind(a->clients[out], FOLIOT_PEER_STEPPER),
                         FOLIOT_STATUS_OK);
        cluster_run(a, 1);
        assert_int_equal(foliot_client_get_kind(a->clients[out]), FOLIOT_PEER_WATCHER);
        assert_int_equal(cluster_get_counters(a)->kind_changes_refused, 1);
        cluster_destroy(a);
    }
}

static foliot_status restores_nothing(void *self, const void *bytes, size_t length)
{
    (void)self;
    (void)bytes;
    (void)length;
    return FOLIOT_STATUS_CORRUPT;
}

// A build let in by force whose bodies have other inertia, say: it watches, before its first tick.
TEST(who_cannot_begin_from_the_state_watches)
{
    cluster *a = cluster_create(NULL);
    foliot_simulation_kind kind = foliot_world_kind;
    kind.restore = restores_nothing;
    foliot_client_config config = foliot_client_config_default();
    config.simulation = &kind;
    cluster_player(a, "delay=5ms");
    unsigned unfit = cluster_join(a, "delay=5ms", &config);
    cluster_run(a, 2);
    assert_int_equal(foliot_client_get_kind(a->clients[unfit]), FOLIOT_PEER_WATCHER);
    assert_true(cluster_watches(a, unfit));
    assert_int_equal(cluster_get_counters(a)->byes, 0);
    assert_true(cluster_agrees(a, 0));
    cluster_destroy(a);
}
