// SPDX-License-Identifier: MIT
// Goal: the harness finds every kind of fault that makes a simulation unfit, names tick, test, part
// and field, and finds nothing in a sound one. Method: the chain with faults planted
// (tests/support/chain.h), and worlds of the ready kinds.
#include "../support/check.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>

#include "../support/chain.h"
#include "../support/recording_fixture.h"
#include "../support/scene_builder.h"
#include "status.h"

static foliot_harness_result run(const foliot_simulation_kind *kind, const void *setup,
                                 size_t bytes, uint64_t ticks)
{
    foliot_harness_config config = foliot_harness_config_default();
    foliot_harness_result result;
    config.kind = kind;
    config.setup = setup;
    config.setup_bytes = bytes;
    config.ticks = ticks;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_OK);
    return result;
}

static foliot_harness_result run_chain(chain_fault fault)
{
    return run(chain_kind(fault), "s", 1, 400);
}

static void expect(const foliot_harness_result *result, const char *passes)
{
    char text[4096];
    foliot_harness_print_text(result, text, sizeof text);
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++)
        if (result->row[i].passed != (passes[i] == '+')) {
            print_error("%s", text);
            fail();
        }
    assert_int_equal(result->passed, strchr(passes, '-') == NULL);
}

TEST(a_sound_simulation_passes)
{
    foliot_harness_result result = run_chain(CHAIN_NO_FAULT);
    expect(&result, "++++");
    assert_int_equal(result.ticks, 400);
    check_gt(result.inputs, 100);
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++)
        check_ge(result.row[i].checks, 400);
    result = run(chain_kind_plain(), "s", 1, 400);
    expect(&result, "++++");
}

TEST(a_global_is_found)
{
    foliot_harness_result result = run_chain(CHAIN_GLOBAL);
    assert_false(result.row[FOLIOT_HARNESS_replay].passed);
    const foliot_divergence *d = &result.row[FOLIOT_HARNESS_replay].divergence;
    assert_true(d->field_known);
    assert_string_equal(d->group, "link");
    assert_int_equal(d->index, 3);
}

TEST(a_forgotten_field_is_found)
{
    foliot_harness_result result = run_chain(CHAIN_FORGETS);
    expect(&result, "+---"); // the perturbation test's copy has no wind either
    const foliot_divergence *d = &result.row[FOLIOT_HARNESS_serialisation].divergence;
    check_le(d->tick, 2);
    assert_true(d->field_known);
    assert_string_equal(d->group, "ring");
    assert_string_equal(d->field_name, "wind");
    result = run_chain(CHAIN_HIDDEN);
    assert_true(result.row[FOLIOT_HARNESS_replay].passed);
    assert_false(result.row[FOLIOT_HARNESS_sync].passed);
    d = &result.row[FOLIOT_HARNESS_sync].divergence;
    assert_true(d->field_known);
    assert_string_equal(d->group, "link");
    assert_int_equal(d->index, 4);
}

TEST(undigested_state_is_found_and_named)
{
    foliot_harness_result result = run_chain(CHAIN_UNDIGESTED);
    expect(&result, "+++-");
    const foliot_harness_row *row = &result.row[FOLIOT_HARNESS_perturbation];
    assert_true(row->divergence.field_known);
    assert_string_equal(row->divergence.group, "link");
    assert_int_equal(row->divergence.index, 5);
    assert_string_equal(row->divergence.field_name, "heat");
    assert_int_equal(row->divergence.tick, 20);
}

TEST(bytes_that_tell_of_the_past_are_found)
{
    foliot_harness_result result = run_chain(CHAIN_PADDING);
    assert_false(result.row[FOLIOT_HARNESS_serialisation].passed);
    assert_non_null(strstr(result.row[FOLIOT_HARNESS_serialisation].text, "saved byte"));
    assert_true(result.row[FOLIOT_HARNESS_replay].passed);
}

TEST(a_digest_of_more_than_the_state_is_found)
{
    foliot_harness_result result = run_chain(CHAIN_POINTER);
    assert_false(result.row[FOLIOT_HARNESS_replay].passed);
    assert_int_equal(result.row[FOLIOT_HARNESS_replay].divergence.tick, 1);
    assert_false(result.row[FOLIOT_HARNESS_replay].divergence.part_known); // no part is to blame
}

TEST(a_restore_that_forgets_or_refuses_is_found)
{
    foliot_harness_result result = run_chain(CHAIN_STALE_TICK);
    assert_true(result.row[FOLIOT_HARNESS_replay].passed);
    assert_false(result.row[FOLIOT_HARNESS_sync].passed);
    assert_non_null(strstr(result.row[FOLIOT_HARNESS_sync].text, "restored to tick"));
    result = run_chain(CHAIN_REFUSES);
    assert_false(result.row[FOLIOT_HARNESS_serialisation].passed);
    assert_non_null(strstr(result.row[FOLIOT_HARNESS_serialisation].text, "CORRUPT"));
    assert_int_equal(result.row[FOLIOT_HARNESS_serialisation].divergence.tick, 49);
}

TEST(worlds_pass)
{
    recording_fixture made;
    recording_fixture_init(&made, 12, 4, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 3);
    size_t length = 0;
    demand(foliot_scene_encode(&made.scene, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_scene_encode(&made.scene, bytes, length, &length), FOLIOT_STATUS_OK);
    foliot_harness_result result = run(&foliot_world_kind, bytes, length, 200);
    expect(&result, "++++");
    free(bytes);
    recording_fixture_free(&made);
}

TEST(worlds_with_contacts_pass)
{
    scene_builder y = builder_new(FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER);
    y.scene.gravity[2] = -9.81;
    builder_add_plane(&y, 0, 0, 1, 0);
    for (int i = 0; i < 8; i++)
        builder_add_ball(&y, 1, 0.5, 0.3 * i, 0.1 * i, 0.6 + 0.9 * i);
    foliot_world *world = builder_create_world(&y);
    size_t length = 0;
    demand(foliot_scene_encode(&y.scene, NULL, 0, &length));
    uint8_t *bytes = malloc(length);
    assert_int_equal(foliot_scene_encode(&y.scene, bytes, length, &length), FOLIOT_STATUS_OK);
    foliot_harness_config config = foliot_harness_config_default();
    foliot_harness_result result;
    config.kind = &foliot_world_kind;
    config.setup = bytes;
    config.setup_bytes = length;
    config.ticks = 200;
    config.players = 0;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_OK);
    expect(&result, "++++");
    free(bytes);
    foliot_world_destroy(world);
    builder_free(&y);
}

TEST(what_cannot_run_is_said)
{
    foliot_harness_config config = foliot_harness_config_default();
    foliot_harness_result result;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_INVALID);
    config.kind = chain_kind(CHAIN_NO_FAULT);
    config.setup = "ss";
    config.setup_bytes = 2;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_INVALID);
    config.setup_bytes = 1;
    config.players = 9; // the chain takes eight
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_INVALID);
    assert_false(result.passed);
    check_gt(result.ticks, 0);
    check_lt(result.ticks, 100);
}

TEST(reports_say_what_failed)
{
    char text[4096], small[40];
    foliot_harness_result result = run_chain(CHAIN_UNDIGESTED);
    size_t length = foliot_harness_print_text(&result, text, sizeof text);
    assert_int_equal(length, strlen(text));
    char title[40];
    snprintf(title, sizeof title, "%-14s FAILED",
             foliot_harness_test_get_name(FOLIOT_HARNESS_perturbation));
    assert_non_null(strstr(text, title));
    assert_string_equal(title, "perturbation   FAILED");
    assert_non_null(strstr(text, "link 5"));
    assert_non_null(strstr(text, "heat"));
    assert_int_equal(foliot_harness_print_text(&result, small, sizeof small), length);
    assert_int_equal(strlen(small), sizeof small - 1);
    foliot_harness_print_json(&result, text, sizeof text);
    assert_non_null(strstr(text, "{\"kind\":\"tests.chain\",\"version\":3,\"passed\":false,"));
    assert_non_null(strstr(text, "\"field\":\"link 5 heat\",\"ulps\":1"));
}

TEST(a_test_that_is_left_out_is_not_run)
{
    foliot_harness_config config = foliot_harness_config_default();
    foliot_harness_result result;
    config.kind = chain_kind(CHAIN_FORGETS);
    config.setup = "s";
    config.setup_bytes = 1;
    config.skipped = ~(1u << FOLIOT_HARNESS_replay);
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_OK);
    expect(&result, "++++"); // what the other tests would find
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++) {
        assert_int_equal(result.row[i].skipped, i != FOLIOT_HARNESS_replay);
        assert_int_equal(result.row[i].checks, i == FOLIOT_HARNESS_replay ? 600 : 0);
    }
}

static uint64_t tick_that_stands(const void *self)
{
    (void)self;
    return 7;
}

TEST(a_tick_that_stands_has_a_sentence)
{
    foliot_simulation_kind kind = *chain_kind(CHAIN_NO_FAULT);
    foliot_harness_config config = foliot_harness_config_default();
    foliot_harness_result result;
    kind.tick = tick_that_stands;
    config.kind = &kind;
    config.setup = "s";
    config.setup_bytes = 1;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_MISCOUNTED);
    assert_int_equal(result.ticks, 0);
    assert_int_equal(result.error.status, FOLIOT_STATUS_MISCOUNTED);
    assert_non_null(strstr(result.error.text, " 7"));
    assert_non_null(strstr(result.error.text, " 8"));
}

static struct {
    foliot_harness_result *result;
    unsigned restores[FOLIOT_HARNESS_TEST_COUNT + 1];
} calls;

static foliot_status counted_restore(void *self, const void *bytes, size_t length)
{
    calls.restores[calls.result->running]++;
    return chain_kind(CHAIN_NO_FAULT)->restore(self, bytes, length);
}

TEST(the_test_that_runs_is_known_while_it_runs)
{
    foliot_simulation_kind kind = *chain_kind(CHAIN_NO_FAULT);
    foliot_harness_config config = foliot_harness_config_default();
    foliot_harness_result result;
    calls.result = &result;
    kind.restore = counted_restore;
    config.kind = &kind;
    config.setup = "s";
    config.setup_bytes = 1;
    config.ticks = 100;
    assert_int_equal(foliot_harness_run(&config, &result), FOLIOT_STATUS_OK);
    assert_int_equal(calls.restores[FOLIOT_HARNESS_TEST_COUNT], 0);
    assert_int_equal(calls.restores[FOLIOT_HARNESS_replay], 0);
    assert_int_equal(calls.restores[FOLIOT_HARNESS_sync], 100 + 50 + 12);
    assert_int_equal(calls.restores[FOLIOT_HARNESS_serialisation], 100);
    check_gt(calls.restores[FOLIOT_HARNESS_perturbation], 100);
    assert_int_equal(result.running, FOLIOT_HARNESS_TEST_COUNT);
}
