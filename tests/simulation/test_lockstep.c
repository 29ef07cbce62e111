// SPDX-License-Identifier: MIT
// test_lockstep.c: everybody steps the same inputs to the same bits, whatever the network does. A server and its
// clients in one process on a virtual clock; truth is compared bit by bit, and the server compares digests too.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "arena.h"
#include "tape/perturb.h"

static const foliot_server_counters *counted(const arena *a)
{
    return foliot_server_counted(a->server);
}

static void no_lies(const arena *a)
{
    assert_int_equal(a->told[FOLIOT_SERVER_LIED], 0);
    assert_int_equal(counted(a)->messages_malformed, 0);
    assert_int_equal(counted(a)->divergences, 0);
}

static void clients_step_to_the_same_bits(void **state)
{
    (void)state;
    arena *a = arena_create(NULL);
    for (int i = 0; i < 3; i++)
        arena_bot(a, "delay=20ms");
    arena_run(a, 20);
    for (unsigned i = 0; i < 3; i++) {
        foliot_client_statistics seen = arena_seen(a, i);
        assert_true(seen.ticks_compared > 1100);
        assert_int_equal(seen.divergences, 0);
        assert_true(arena_agrees(a, i));
    }
    assert_true(counted(a)->inputs > 60);
    no_lies(a);
    arena_destroy(a);
}

static void ten_minutes_at_two_seconds_and_a_quarter_lost(void **state)
{
    (void)state;
    arena_options options = {.server_network = "delay=0ms"};
    arena *a = arena_create(&options);
    a->step_ns = 4000000;
    for (int i = 0; i < 4; i++)
        arena_bot(a, "delay=2000ms,loss=25%,seed=11");
    arena_run(a, 600);
    for (unsigned i = 0; i < 4; i++) {
        foliot_client_statistics seen = arena_seen(a, i);
        print_message("relays %.1f B, p99 %.0f B; inputs %.1f B, p99 %.0f B; %llu ticks compared, %llu stalls, "
                      "%llu late, %llu missing, %.0f ms round trip\n",
                      seen.relay_bytes_mean, seen.relay_bytes_p99, seen.input_bytes_mean, seen.input_bytes_p99,
                      (unsigned long long)seen.ticks_compared, (unsigned long long)seen.stalls,
                      (unsigned long long)seen.inputs_late, (unsigned long long)seen.inputs_missing, seen.round_trip_ms);
        assert_true(seen.ticks_compared > 34000);
        assert_true(arena_agrees(a, i));
        check_below(seen.relay_bytes_p99, 90.5);
        check_below(seen.input_bytes_p99, 90.5);
    }
    no_lies(a);
    print_message("%llu inputs, %llu late\n", (unsigned long long)counted(a)->inputs,
                  (unsigned long long)counted(a)->inputs_late);
    arena_destroy(a);
}

// Steps with a fault of one ulp or so put in where we choose.
static unsigned join_with_fault(arena *a, const char *network, const foliot_perturbation *fault, foliot__perturber *perturber)
{
    static const foliot_host none;
    *perturber = (foliot__perturber){.fault = fault};
    foliot_host host = foliot__perturbing_host(&none, perturber);
    foliot_client_config config = foliot_client_config_default();
    config.step_host = &host;
    return arena_join(a, network, &config);
}

static void a_fault_is_found_with_stage_body_and_field(void **state)
{
    (void)state;
    arena *a = arena_create(NULL);
    foliot_perturbation fault = {.tick = 400, .stage = FOLIOT_STAGE_integrate, .body = 3,
                                 .field = FOLIOT_FIELD_velocity_y, .ulps = -2};
    foliot__perturber perturber;
    arena_bot(a, "delay=20ms,loss=5%");
    unsigned bad = join_with_fault(a, "delay=80ms,loss=10%", &fault, &perturber);
    arena_run(a, 12);
    foliot_divergence_case *found = &a->found;
    assert_int_equal(a->found_count, 1);
    assert_int_equal(counted(a)->divergences, 1);
    assert_int_equal(found->player, 1);
    assert_int_equal(found->divergence.tick, 400);
    assert_string_equal(found->divergence.stage_name, "integrate");
    assert_int_equal(found->divergence.body, 3);
    assert_string_equal(found->divergence.field_name, "velocity.y");
    assert_int_equal(found->divergence.ulps, 2);
    assert_true(found->exchanged <= 2048);
    print_message("%u bytes exchanged\n", found->exchanged);
    // Noticed within a tick and a round trip, and the client has been told the same.
    assert_true(a->last[FOLIOT_SERVER_DIVERGED].tick <= 400 + 1 + 10 + 2);
    foliot_divergence_case told;
    assert_true(foliot_client_divergence(a->clients[bad], &told));
    assert_int_equal(told.divergence.tick, 400);
    assert_string_equal(told.divergence.field_name, "velocity.y");
    assert_int_equal(told.divergence.actual, found->divergence.actual);
    assert_int_equal(told.divergence.expected, found->divergence.expected);
    assert_true(told.before_bytes > 0 && told.after_bytes > 0);
    // Nobody was disconnected, and the others are not concerned.
    assert_int_equal(foliot_client_now(a->clients[bad]), FOLIOT_CLIENT_PLAYING);
    assert_int_equal(arena_seen(a, 0).divergences, 0);
    assert_true(arena_seen(a, 0).ticks_compared > 650);
    assert_true(arena_agrees(a, 0));
    assert_false(arena_agrees(a, bad));
    arena_destroy(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(clients_step_to_the_same_bits),
        cmocka_unit_test(a_fault_is_found_with_stage_body_and_field),
        cmocka_unit_test(ten_minutes_at_two_seconds_and_a_quarter_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
