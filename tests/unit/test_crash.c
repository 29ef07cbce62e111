// SPDX-License-Identifier: MIT
// test_crash.c: a process that records is killed at a random moment. Every tick that was reported
// as durable is in the file, and the file replays. KILLS=1000 for more (make damage).
#include "recording_fixture.h"
#include "check.h"
#include "status.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static void make_file(char *file)
{
    int descriptor = mkstemp(file);
    check_ge(descriptor, 0);
    close(descriptor);
}

// Steps and records until it is killed; says each new durable tick.
static _Noreturn void record_for_ever(const char *file, int say)
{
    recording_fixture fixture;
    foliot_recording *recording;
    foliot_recording_config config = recording_fixture_config(5, 40);
    config.threaded = true;
    recording_fixture_init(&fixture, 4, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 11);
    foliot_world *world = recording_fixture_world(&fixture);
    if (foliot_recording_open(file, WORLD_SIMULATION(world, &fixture.scene), &config, &recording) !=
        FOLIOT_STATUS_OK)
        _exit(1);
    for (uint64_t said = 0;;) {
        foliot_input inputs[FOLIOT_PLAYERS_MAX];
        uint32_t count =
            recording_fixture_inputs(&fixture, foliot_world_get_tick(world), true, inputs);
        if (foliot_world_step(world, inputs, count, NULL) != FOLIOT_STATUS_OK ||
            foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                    TICK_INPUTS(inputs, count), NULL, 0) != FOLIOT_STATUS_OK)
            _exit(1);
        uint64_t written = foliot_recording_get_state(recording).written_tick;
        if (written > said && write(say, &written, sizeof written) == (ssize_t)sizeof written)
            said = written;
    }
}

// The last tick reported before the process died. Half of the kills wait for the first report,
// so that a slow machine has something to lose as well.
static uint64_t kill_at_random(const char *file, foliot__rng *rng, bool after_first_word)
{
    int ends[2];
    uint64_t tick = 0, last = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    check_ge(child, 0);
    if (child == 0) {
        close(ends[0]);
        record_for_ever(file, ends[1]);
    }
    close(ends[1]);
    if (after_first_word && read(ends[0], &tick, sizeof tick) == (ssize_t)sizeof tick)
        last = tick;
    struct timespec delay = {.tv_nsec = 200000 + (long)foliot__rng_below(rng, 20000000)};
    nanosleep(&delay, NULL);
    kill(child, SIGKILL);
    while (read(ends[0], &tick, sizeof tick) == (ssize_t)sizeof tick)
        last = tick;
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    check_eq(WTERMSIG(status), SIGKILL);
    return last;
}

TEST(every_durable_tick_survives_kill_9)
{
    const char *kills = getenv("KILLS");
    int count = kills ? atoi(kills) : 100;
    foliot__rng rng = foliot__rng_seeded(check_seed(5));
    uint64_t durable = 0, kept = 0;
    for (int i = 0; i < count; i++) {
        char file[] = P_tmpdir "/foliot-test-XXXXXX";
        make_file(file);
        uint64_t said = kill_at_random(file, &rng, i % 2 == 1);
        foliot_replay *replay;
        foliot_verdict verdict;
        foliot_status status = foliot_replay_open(file, &foliot_world_kind, &replay, NULL);
        if (status == FOLIOT_STATUS_OK) {
            assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
            assert_int_equal(verdict.status, FOLIOT_STATUS_TRUNCATED); // unfinished
            check_ge(verdict.ticks, said);
            kept += verdict.ticks;
            foliot_replay_close(replay);
        } else {
            assert_int_equal(said, 0);
        }
        durable += said;
        unlink(file);
    }
    print_message("%d kills: %llu ticks were said to be durable, %llu were there\n", count,
                  (unsigned long long)durable, (unsigned long long)kept);
    check_gt(durable, 0);
}

// A limit on the size of files stands for a full disk: the system takes a part of a block, then
// refuses.
TEST(a_full_disk_leaves_whole_blocks)
{
    char file[] = P_tmpdir "/foliot-test-XXXXXX";
    make_file(file);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {20000, 20000};
        recording_fixture fixture;
        foliot_recording *recording;
        foliot_recording_config config = recording_fixture_config(10, 50);
        config.threaded = true;
        setrlimit(RLIMIT_FSIZE, &limit);
        recording_fixture_init(&fixture, 4, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 11);
        foliot_world *world = recording_fixture_world(&fixture);
        if (foliot_recording_open(file, WORLD_SIMULATION(world, &fixture.scene), &config,
                                  &recording) != FOLIOT_STATUS_OK)
            _exit(1);
        for (int tick = 0; tick < 3000; tick++) {
            demand(foliot_world_step(world, NULL, 0, NULL));
            allow_failure(
                foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0));
        }
        foliot_recording_state final;
        foliot_status status = foliot_recording_close(recording, &final);
        bool counted = final.ticks_lost == 3000 - final.written_tick && final.ticks_lost > 0;
        _exit(status == FOLIOT_STATUS_IO && final.stopped_errno != 0 && counted ? 0 : 2);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    foliot_replay *replay;
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_TRUNCATED);
    check_gt(verdict.ticks, 0);
    check_eq(verdict.ticks % 10, 0);
    assert_int_equal(verdict.cut_at, foliot_replay_get_summary(replay)->bytes);
    foliot_replay_close(replay);
    unlink(file);
}

TEST(a_device_that_is_full_is_told_at_once)
{
    recording_fixture fixture;
    foliot_recording *recording;
    recording_fixture_init(&fixture, 4, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 11);
    foliot_world *world = recording_fixture_world(&fixture);
    assert_int_equal(foliot_recording_open("/dev/full", WORLD_SIMULATION(world, &fixture.scene),
                                           NULL, &recording),
                     FOLIOT_STATUS_IO);
    assert_int_equal(foliot_recording_open("/nowhere/at/all",
                                           WORLD_SIMULATION(world, &fixture.scene), NULL,
                                           &recording),
                     FOLIOT_STATUS_IO);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
}
