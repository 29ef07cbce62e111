// SPDX-License-Identifier: MIT
// test_rewind.c: a tick that a run has passed is computed again from an earlier state, with the
// inputs and commands since: to the same state, and not without them. Method: the tally
// (tests/support/tally.h), which everything that enters a tick changes.
#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "foliot/foliot.h"
#include "divergence/rewind.h"
#include "status.h"
#include "tally.h"

#include "../../server/program/report/report.h"

#define TICKS 20
#define FROM 5
#define TO 15

static foliot_command_list given[TICKS];
static foliot_input inputs[TICKS];
static foliot_digest digests[TICKS + 1];
static uint8_t saved[64];
static size_t saved_bytes;

static foliot_tick_inputs inputs_of(uint64_t tick)
{
    return (foliot_tick_inputs){&inputs[tick], tick % 3 == 0, given[tick].commands,
                                given[tick].count};
}

static int run(void **state)
{
    (void)state;
    foliot_simulation simulation;
    foliot__rng rng = foliot__rng_seeded(4);
    uint32_t sequence = 0;
    demand(foliot_simulation_create(tally_kind(true), "s", 1, &simulation));
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        inputs[tick] = (foliot_input){.player = 1, .sequence = (uint32_t)tick};
        foliot_command_list_clear(&given[tick]);
        for (uint64_t i = 0; i < tick % 4; i++) {
            foliot_command c = draw_command(&rng, (uint32_t)(tick + i) % FOLIOT_COMMAND_KIND_COUNT);
            c.sequence = ++sequence;
            demand(foliot_command_list_append(&given[tick], &c));
        }
        if (tick == FROM)
            demand(foliot_simulation_capture(&simulation, saved, sizeof saved, &saved_bytes));
        const foliot_tick_inputs in = inputs_of(tick);
        demand(foliot_simulation_step_tick(&simulation, &in));
        digests[tick + 1] = foliot_simulation_get_digest(&simulation);
    }
    foliot_simulation_destroy(&simulation);
    return 0;
}

static int drop(void **state)
{
    (void)state;
    for (int i = 0; i < TICKS; i++)
        foliot_command_list_destroy(&given[i]);
    return 0;
}

static foliot_digest rewind_to(foliot__rewind *r, bool with_commands)
{
    foliot__rewind_begin(r, tally_kind(true), "s", 1, saved, saved_bytes, TO);
    for (uint64_t tick = FROM; tick < TO; tick++) {
        foliot_tick_inputs in = inputs_of(tick);
        if (!with_commands)
            in.command_count = 0;
        foliot__rewind_give(r, &in);
    }
    while (!foliot__rewind_advance(r, 1)) {
    }
    assert_int_equal(r->status, FOLIOT_STATUS_OK);
    return r->digest;
}

TEST_BETWEEN(a_tick_comes_again_with_its_commands, run, drop)
{
    foliot__rewind r = {0};
    assert_true(foliot_digest_equal(rewind_to(&r, true), digests[TO]));
    const foliot_tick_inputs last = foliot__rewind_last(&r), wanted = inputs_of(TO - 1);
    check_eq(last.input_count, wanted.input_count);
    check_eq(last.command_count, wanted.command_count);
    check_gt(last.command_count, 0);
    for (uint32_t i = 0; i < last.command_count; i++)
        assert_true(commands_equal(&last.commands[i], &wanted.commands[i]));
    assert_false(foliot_digest_equal(rewind_to(&r, false), digests[TO]));
    assert_true(foliot_digest_equal(rewind_to(&r, true), digests[TO])); // the memory is used again
    foliot__rewind_free(&r);
}

// A search that is over leaves what its case needs, and holds no simulation and no trace.
TEST_BETWEEN(what_is_released_leaves_its_case, run, drop)
{
    foliot__rewind r = {0};
    rewind_to(&r, true);
    assert_non_null(r.trace);
    uint8_t after[sizeof saved];
    assert_in_range(r.after.length, 1, sizeof after);
    memcpy(after, r.after.bytes, r.after.length);
    for (int whole = 0; whole < 2; whole++) {
        if (whole)
            foliot__rewind_release(&r);
        else
            foliot__rewind_drop_trace(&r);
        assert_null(r.trace);
        check_eq(r.simulation.self == NULL, whole);
        check_eq(foliot__rewind_last(&r).command_count, inputs_of(TO - 1).command_count);
        assert_memory_equal(r.after.bytes, after, r.after.length);
        assert_true(foliot_digest_equal(rewind_to(&r, true), digests[TO]));
        assert_non_null(r.trace);
    }
    foliot__rewind_free(&r);
}

// -- cases: one tick of a world with one command that has a text

static struct {
    uint8_t before[8192], after[8192];
    char text[16];
    foliot_command command;
    uint8_t *setup;
    foliot_divergence_report found;
} one;

static void make_case(void)
{
    foliot_scene scene = foliot_scene_default();
    foliot_body_definition body = foliot_body_definition_default();
    foliot_world *world;
    strcpy(one.text, "three");
    one.command = foliot_command_default(FOLIOT_COMMAND_var);
    one.command.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, text);
    one.command.as.var.key = "count";
    one.command.as.var.text = one.text;
    one.found = (foliot_divergence_report){.session = "s", .name = "n", .player = 1};
    scene.name = "one";
    scene.dt = 0.1;
    scene.bodies = &body;
    scene.body_count = 1;
    scene.commands_max = 1;
    demand(foliot_world_create(&scene, &world, NULL));
    demand(foliot_world_capture(world, one.before, sizeof one.before, &one.found.before_bytes));
    const foliot_tick_inputs in = {.commands = &one.command, .command_count = 1};
    demand(foliot_world_step_tick(world, &in, NULL));
    demand(foliot_world_capture(world, one.after, sizeof one.after, &one.found.after_bytes));
    foliot_world_destroy(world);
    one.found.before = one.before;
    one.found.after = one.after;
    one.found.commands = &one.command;
    one.found.command_count = 1;
    one.found.kind = &foliot_world_kind;
    demand(foliot_scene_encode(&scene, NULL, 0, &one.found.setup_bytes));
    one.setup = malloc(one.found.setup_bytes);
    demand(foliot_scene_encode(&scene, one.setup, one.found.setup_bytes, &one.found.setup_bytes));
    one.found.setup = one.setup;
}

// The recording of the one tick verifies.
static void check_case(const char *file)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    check_eq(verdict.status, FOLIOT_STATUS_OK);
    check_eq(verdict.ticks, 1);
    check_eq(foliot_replay_get_summary(replay)->counts.commands, 1);
    foliot_replay_close(replay);
    unlink(file);
}

TEST(a_case_with_commands_is_written)
{
    char file[] = "/tmp/foliot-case-XXXXXX";
    make_case();
    close(mkstemp(file));
    assert_int_equal(foliot_divergence_report_write(&one.found, file), FOLIOT_STATUS_OK);
    free(one.setup);
    check_case(file);
}

static atomic_bool worker_may_go;

static void wait_until_go(uv_work_t *work)
{
    (void)work;
    while (!atomic_load(&worker_may_go))
        uv_sleep(1);
}

void foliot__log_lines(const char *text) // of the server's log
{
    (void)text;
}

// The server's worker writes when what the report pointed to may be gone.
TEST(a_server_writes_a_case_that_is_gone)
{
    char folder[] = "/tmp/foliot-case-XXXXXX", before[4096];
    uv_loop_t loop;
    uv_work_t held;
    assert_non_null(getcwd(before, sizeof before));
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(uv_loop_init(&loop), 0);
    make_case();
    // The one worker is held until the case is gone.
    setenv("UV_THREADPOOL_SIZE", "1", 1);
    assert_int_equal(uv_queue_work(&loop, &held, wait_until_go, NULL), 0);
    foliot__report_divergence(&one.found, NULL, true, &loop);
    memset(one.before, 0xee, sizeof one.before);
    memset(one.after, 0xee, sizeof one.after);
    memset(one.text, 'x', sizeof one.text - 1);
    memset(&one.command, 0xee, sizeof one.command);
    free(one.setup);
    atomic_store(&worker_may_go, true);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(uv_loop_close(&loop), 0);
    check_case("s-divergence-0-1-server.foliot");
    assert_int_equal(chdir(before), 0);
    assert_int_equal(rmdir(folder), 0);
}
