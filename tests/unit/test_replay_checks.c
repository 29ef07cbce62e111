// SPDX-License-Identifier: MIT
// Goal: a replay whose state is not the recorded one says so, and one that lacks its program's
// forces names them. Stepping and seeking never compared a digest: a wrong state came with
// FOLIOT_STATUS_OK. A scene with callbacks that nobody lent was called damaged. Method: a scene
// whose force is a callback is replayed with that force, with another one and with none.
#include "../support/check.h"
#include "../support/recording_fixture.h"
#include "world_simulation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICKS 100
#define WRONG_FROM 1.0 // second of the scene: tick 60

// A constant pull; the wrong one grows a little after WRONG_FROM.
static void pull(void *user, const foliot_callback_arguments *at, double *ax, double *ay,
                 double *az)
{
    const bool *wrong = user;
    double strength = *wrong && at->time >= WRONG_FROM ? 1.0000001 : 1;
    for (uint32_t i = 0; i < at->count; i++) {
        ax[i] += 0;
        ay[i] += 0;
        az[i] -= strength;
    }
}

static bool right = false, wrong = true;
static const foliot_callback right_callback = {.acceleration = pull, .user = &right};
static const foliot_callback wrong_callback = {.acceleration = pull, .user = &wrong};
static const foliot_host right_host = {.callbacks = &right_callback, .callback_count = 1};
static const foliot_host wrong_host = {.callbacks = &wrong_callback, .callback_count = 1};

static recording_memory record(void)
{
    recording_fixture fixture;
    recording_memory memory = {0};
    foliot_recording *recording;
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(10, 40);
    recording_fixture_init(&fixture, 3, 0, FOLIOT_INTEGRATOR_SEMI_IMPLICIT_EULER, 7);
    foliot_force_definition force = foliot_force_definition_default(FOLIOT_FORCE_CALLBACK);
    fixture.scene.forces = &force;
    fixture.scene.force_count = 1;
    foliot_world *world = recording_fixture_world(&fixture);
    assert_int_equal(foliot_recording_open_sink(&sink, WORLD_SIMULATION(world, &fixture.scene),
                                                &config, &recording),
                     FOLIOT_STATUS_OK);
    for (int tick = 0; tick < TICKS; tick++) {
        assert_int_equal(foliot_world_step(world, NULL, 0, &right_host), FOLIOT_STATUS_OK);
        assert_int_equal(
            foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0),
            FOLIOT_STATUS_OK);
    }
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
    return memory;
}

static foliot_replay *open_with(const recording_memory *memory, const foliot_host *host)
{
    foliot_replay *replay;
    assert_int_equal(
        foliot_replay_open_bytes(memory->bytes, memory->length, &foliot_world_kind, &replay, NULL),
        FOLIOT_STATUS_OK);
    foliot_replay_set_host(replay, host);
    return replay;
}

TEST(the_right_force_replays)
{
    recording_memory memory = record();
    foliot_replay *replay = open_with(&memory, &right_host);
    assert_int_equal(foliot_replay_seek(replay, TICKS), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_seek(replay, 0), FOLIOT_STATUS_OK);
    for (int tick = 0; tick < TICKS; tick++)
        assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_NOT_FOUND);
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

TEST(a_step_to_another_state_is_told)
{
    recording_memory memory = record();
    foliot_replay *replay = open_with(&memory, &wrong_host);
    foliot_status status = FOLIOT_STATUS_OK;
    while (status == FOLIOT_STATUS_OK)
        status = foliot_replay_step(replay);
    assert_int_equal(status, FOLIOT_STATUS_DIVERGED);
    uint64_t tick = foliot_replay_get_tick(replay);
    assert_in_range(tick, 60, 62);
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_DIVERGED); // it stays wrong
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

TEST(a_seek_to_another_state_is_refused_and_stays)
{
    recording_memory memory = record();
    foliot_replay *replay = open_with(&memory, &wrong_host);
    assert_int_equal(foliot_replay_seek(replay, 30), FOLIOT_STATUS_OK);
    foliot_digest before = foliot_world_get_digest(foliot_replay_get_world(replay));
    const uint64_t ticks[] = {63, 75, 90, TICKS};
    for (size_t i = 0; i < sizeof ticks / sizeof ticks[0]; i++) {
        assert_int_equal(foliot_replay_seek(replay, ticks[i]), FOLIOT_STATUS_DIVERGED);
        assert_int_equal(foliot_replay_get_tick(replay), 30);
        assert_true(
            foliot_digest_equal(before, foliot_world_get_digest(foliot_replay_get_world(replay))));
    }
    assert_int_equal(foliot_replay_seek(replay, 80),
                     FOLIOT_STATUS_OK); // a keyframe is the state itself
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

TEST(forces_that_nobody_lent_are_named)
{
    recording_memory memory = record();
    foliot_replay *replay = open_with(&memory, NULL);
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_UNSUPPORTED);
    assert_int_equal(foliot_replay_get_damage(replay)->status, FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(strstr(foliot_replay_get_damage(replay)->text, "only its own program"));
    assert_int_equal(foliot_replay_seek(replay, 10), FOLIOT_STATUS_UNSUPPORTED);
    // Whoever lends them later has nothing that is damaged.
    foliot_replay_set_host(replay, &right_host);
    assert_int_equal(foliot_replay_get_damage(replay)->status, FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_seek(replay, 10), FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

TEST(play_names_them_too)
{
    char file[] = P_tmpdir "/foliot-test-XXXXXX", command[512], text[1024];
    const char *build = getenv("BUILD");
    snprintf(command, sizeof command, "%s/foliot-replay", build ? build : "build");
    if (access(command, X_OK) != 0) {
        print_message("a build without programs\n");
        skip();
    }
    recording_memory memory = record();
    int descriptor = mkstemp(file);
    check_ge(descriptor, 0);
    assert_int_equal(write(descriptor, memory.bytes, memory.length), memory.length);
    close(descriptor);
    snprintf(command, sizeof command, "%s/foliot-replay play --frame --tick 20 %s 2>&1",
             build ? build : "build", file);
    FILE *out = popen(command, "r");
    assert_non_null(out);
    size_t length = fread(text, 1, sizeof text - 1, out);
    text[length] = 0;
    int status = pclose(out);
    unlink(file);
    recording_memory_free(&memory);
    if (!strstr(text, "only its own program") || strstr(text, "not what they claim"))
        fail_msg("%s", text);
    assert_int_equal(WEXITSTATUS(status), 5);
}
