// SPDX-License-Identifier: MIT
// test_recording.c: what a recording promises its host: durable ticks, a queue that never waits, a
// full queue or disk that stops it at a whole tick and is counted, and going on where it ended.
#include "recording_fixture.h"
#include "check.h"

#include "recording/replay.h"
#include "simulation/input_log.h"
#include "status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct session {
    recording_fixture fixture;
    foliot_world *world;
    foliot_recording *recording;
} session;

static void begin(session *s, const foliot_recording_sink *sink,
                  const foliot_recording_config *config)
{
    recording_fixture_init(&s->fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    s->world = recording_fixture_world(&s->fixture);
    assert_int_equal(foliot_recording_open_sink(sink, WORLD_SIMULATION(s->world, &s->fixture.scene),
                                                config, &s->recording),
                     FOLIOT_STATUS_OK);
}

static foliot_status play(session *s, uint64_t ticks)
{
    foliot_status status = FOLIOT_STATUS_OK;
    for (uint64_t i = 0; i < ticks; i++) {
        foliot_input inputs[FOLIOT_PLAYERS_MAX];
        uint32_t count =
            recording_fixture_inputs(&s->fixture, foliot_world_get_tick(s->world), true, inputs);
        assert_int_equal(foliot_world_step(s->world, inputs, count, NULL), FOLIOT_STATUS_OK);
        status = foliot_recording_append(s->recording, WORLD_SIMULATION(s->world, NULL),
                                         TICK_INPUTS(inputs, count), NULL, 0);
    }
    return status;
}

static void end(session *s)
{
    foliot_world_destroy(s->world);
    recording_fixture_free(&s->fixture);
}

static foliot_verdict verdict_of(const recording_memory *memory)
{
    foliot_replay *replay;
    foliot_verdict verdict = {0};
    assert_int_equal(
        foliot_replay_open_bytes(memory->bytes, memory->length, &foliot_world_kind, &replay, NULL),
        FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
    return verdict;
}

TEST(bad_configs_are_refused)
{
    session s = {0};
    recording_memory memory = {0};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config bad[] = {{0},
                                     foliot_recording_config_default(),
                                     foliot_recording_config_default(),
                                     foliot_recording_config_default(),
                                     foliot_recording_config_default()};
    bad[1].block_ticks = 0;
    bad[2].digest_bytes = 17;
    bad[3].digest_ticks = 0;
    bad[4].queue_bytes = 1;
    recording_fixture_init(&s.fixture, 2, 0, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    s.world = recording_fixture_world(&s.fixture);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(foliot_recording_open_sink(&sink,
                                                    WORLD_SIMULATION(s.world, &s.fixture.scene),
                                                    &bad[i], &s.recording),
                         FOLIOT_STATUS_INVALID);
    assert_int_equal(memory.length, 0);
    end(&s);
}

TEST(ticks_are_durable_when_their_block_is_written)
{
    session s;
    recording_memory memory = {0};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(10, 40);
    config.sync_blocks = 2;
    begin(&s, &sink, &config);
    play(&s, 25);
    foliot_recording_state now = foliot_recording_get_state(s.recording);
    assert_int_equal(now.appended_tick, 25);
    assert_int_equal(now.closed_tick, 20);
    assert_int_equal(now.written_tick, 0);
    check_gt(now.queued_bytes, 0);
    assert_int_equal(foliot_recording_drain(s.recording), FOLIOT_STATUS_OK);
    now = foliot_recording_get_state(s.recording);
    assert_int_equal(now.written_tick, 20);
    assert_int_equal(now.synced_tick, 10); // the keyframe and the first ten; the next is one alone
    assert_int_equal(now.queued_bytes, 0);
    assert_int_equal(foliot_recording_flush(s.recording), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_wait(s.recording, true), FOLIOT_STATUS_OK);
    now = foliot_recording_get_state(s.recording);
    assert_int_equal(now.written_tick, 25);
    assert_int_equal(now.synced_tick, 25);
    assert_int_equal(foliot_recording_close(s.recording, NULL), FOLIOT_STATUS_OK);
    foliot_verdict verdict = verdict_of(&memory);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(verdict.ticks, 25);
    end(&s);
    recording_memory_free(&memory);
}

TEST(whoever_waits_for_the_disk_has_it_asked)
{
    session s;
    recording_memory memory = {0};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(10, 40);
    config.sync_blocks = 0; // not by itself
    begin(&s, &sink, &config);
    play(&s, 20);
    assert_int_equal(foliot_recording_wait(s.recording, false), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_get_state(s.recording).written_tick, 20);
    assert_int_equal(foliot_recording_get_state(s.recording).synced_tick, 0);
    assert_int_equal(foliot_recording_wait(s.recording, true), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_get_state(s.recording).synced_tick, 20);
    assert_int_equal(foliot_recording_close(s.recording, NULL), FOLIOT_STATUS_OK);
    end(&s);
    recording_memory_free(&memory);
}

TEST(a_thread_writes_the_same_bytes)
{
    recording_memory memory[2] = {{0}, {0}};
    for (int threaded = 0; threaded < 2; threaded++) {
        session s;
        foliot_recording_sink sink = recording_memory_sink(&memory[threaded]);
        foliot_recording_config config = recording_fixture_config(10, 40);
        config.threaded = threaded;
        begin(&s, &sink, &config);
        play(&s, 300);
        assert_int_equal(foliot_recording_close(s.recording, NULL), FOLIOT_STATUS_OK);
        end(&s);
    }
    assert_int_equal(memory[0].length, memory[1].length);
    assert_memory_equal(memory[0].bytes, memory[1].bytes, memory[0].length);
    recording_memory_free(&memory[0]);
    recording_memory_free(&memory[1]);
}

TEST(a_tick_out_of_turn_is_refused)
{
    session s;
    recording_memory memory = {0};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(10, 40);
    begin(&s, &sink, &config);
    play(&s, 3);
    assert_int_equal(
        foliot_recording_append(s.recording, WORLD_SIMULATION(s.world, NULL), NULL, NULL, 0),
        FOLIOT_STATUS_INVALID);
    assert_int_equal(foliot_world_step(s.world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_world_step(s.world, NULL, 0, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(
        foliot_recording_append(s.recording, WORLD_SIMULATION(s.world, NULL), NULL, NULL, 0),
        FOLIOT_STATUS_INVALID);
    foliot_recording_abandon(s.recording);
    end(&s);
    recording_memory_free(&memory);
}

TEST(a_full_disk_stops_at_a_whole_tick)
{
    session s;
    recording_memory memory = {.limit = 12000};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(10, 40);
    begin(&s, &sink, &config);
    foliot_status status = FOLIOT_STATUS_OK;
    while (status == FOLIOT_STATUS_OK && foliot_world_get_tick(s.world) < 5000) {
        status = play(&s, 1);
        allow_failure(foliot_recording_drain(s.recording));
    }
    assert_int_equal(foliot_recording_get_state(s.recording).stopped, FOLIOT_STATUS_IO);
    uint64_t written = foliot_recording_get_state(s.recording).written_tick;
    assert_int_equal(play(&s, 100), FOLIOT_STATUS_IO); // the world goes on
    foliot_recording_state final;
    assert_int_equal(foliot_recording_close(s.recording, &final), FOLIOT_STATUS_IO);
    assert_int_equal(final.stopped_errno, ENOSPC);
    assert_int_equal(final.written_tick, written);
    assert_int_equal(final.ticks_lost, foliot_world_get_tick(s.world) - written);
    check_le(memory.length, 12000);
    foliot_verdict verdict = verdict_of(&memory);
    assert_int_equal(verdict.status, FOLIOT_STATUS_TRUNCATED);
    assert_int_equal(verdict.ticks, written);
    assert_int_equal(verdict.cut_at, memory.length); // nothing of a torn block is left
    end(&s);
    recording_memory_free(&memory);
}

TEST(a_full_queue_stops_at_a_whole_tick)
{
    session s;
    recording_memory memory = {0};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(10, 0);
    config.queue_bytes = 8192;
    begin(&s, &sink, &config);
    assert_int_equal(play(&s, 2000), FOLIOT_STATUS_FULL); // nobody drains
    foliot_recording_state final;
    uint64_t closed = foliot_recording_get_state(s.recording).closed_tick;
    check_gt(closed, 0);
    check_eq(closed % 10, 0);
    assert_int_equal(foliot_recording_close(s.recording, &final), FOLIOT_STATUS_FULL);
    assert_int_equal(final.written_tick, closed);
    assert_int_equal(final.ticks_lost, 2000 - closed);
    check_le(final.queued_bytes_max, 8192);
    foliot_verdict verdict = verdict_of(&memory);
    assert_int_equal(verdict.status, FOLIOT_STATUS_TRUNCATED);
    assert_int_equal(verdict.ticks, closed);
    end(&s);
    recording_memory_free(&memory);
}

// -- going on

static void put_file(const char *file, const recording_memory *memory, size_t length)
{
    FILE *out = fopen(file, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(memory->bytes, 1, length, out), length);
    fclose(out);
}

TEST(resumed_recordings_verify)
{
    char file[] = P_tmpdir "/foliot-test-XXXXXX";
    int descriptor = mkstemp(file);
    check_ge(descriptor, 0);
    close(descriptor);
    recording_memory memory = {0};
    foliot_recording_config config = recording_fixture_config(10, 40);
    recording_fixture fixture;
    recording_fixture_init(&fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    recording_fixture_record(&fixture, &config, 200, &memory, NULL);
    const size_t cuts[] = {memory.length, memory.length - 1, memory.length / 2, memory.length / 3};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        foliot_recording *recording;
        foliot_scene *scene;
        foliot_world *world;
        put_file(file, &memory, cuts[i]);
        assert_int_equal(resume_world(file, &config, &recording, &scene, &world, NULL),
                         FOLIOT_STATUS_OK);
        uint64_t from = foliot_world_get_tick(world);
        assert_true(i < 2 ? from == 200 : from % 10 == 0 && from < 200);
        for (int tick = 0; tick < 75; tick++) {
            assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
            assert_int_equal(
                foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0),
                FOLIOT_STATUS_OK);
        }
        foliot_digest digest = foliot_world_get_digest(world);
        assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
        foliot_replay *replay;
        foliot_verdict verdict;
        assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
        assert_int_equal(verdict.ticks, from + 75);
        assert_true(foliot_digest_equal(verdict.digest, digest));
        assert_int_equal(foliot_replay_get_summary(replay)->counts.notes, 1);
        foliot_replay_close(replay);
        foliot_world_destroy(world);
        foliot_scene_destroy(scene);
    }
    unlink(file);
    recording_fixture_free(&fixture);
    recording_memory_free(&memory);
}

// -- the input log

TEST(closed_ticks_never_change)
{
    foliot__input_log log;
    const foliot_input *inputs;
    uint32_t count;
    foliot__input_log_init(&log, 100);
    const foliot_input late = {.player = 2, .sequence = 5}, early = {.player = 1, .sequence = 9};
    assert_int_equal(foliot__input_log_append(&log, &late), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_log_append(&log, &early), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_log_append(&log, &late), FOLIOT_STATUS_INVALID); // twice
    assert_false(foliot__input_log_at(&log, 100, &inputs, &count));                 // still open
    assert_int_equal(foliot__input_log_close_tick(&log), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_log_append(&log, &late), FOLIOT_STATUS_OK); // of tick 101
    assert_true(foliot__input_log_at(&log, 100, &inputs, &count));
    assert_int_equal(count, 2);
    assert_int_equal(inputs[0].player, 1);
    assert_int_equal(inputs[1].player, 2);
    assert_int_equal(foliot__input_log_close_tick(&log), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_log_close_tick(&log), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__input_log_open_tick(&log), 103);
    foliot__input_log_forget(&log, 101);
    assert_false(foliot__input_log_at(&log, 100, &inputs, &count));
    assert_true(foliot__input_log_at(&log, 101, &inputs, &count));
    assert_int_equal(count, 1);
    assert_int_equal(inputs[0].sequence, 5);
    assert_true(foliot__input_log_at(&log, 102, &inputs, &count));
    assert_int_equal(count, 0);
    foliot__input_log_free(&log);
}

// Earlier content of a file must not follow the recording.
TEST(a_file_that_cannot_be_emptied_is_refused)
{
    char path[64];
    recording_fixture fixture;
    foliot_recording *recording;
    recording_fixture_init(&fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    foliot_world *world = recording_fixture_world(&fixture);
    for (int sealed = 0; sealed < 2; sealed++) {
        int file = memfd_create("recording", MFD_ALLOW_SEALING);
        check_ge(file, 0);
        assert_int_equal(ftruncate(file, 1 << 20), 0);
        if (sealed)
            assert_int_equal(fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK), 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
        errno = 0;
        foliot_status status =
            foliot_recording_open(path, WORLD_SIMULATION(world, &fixture.scene), NULL, &recording);
        assert_int_equal(status, sealed ? FOLIOT_STATUS_IO : FOLIOT_STATUS_OK);
        assert_int_equal(errno, sealed ? EPERM : errno);
        if (status == FOLIOT_STATUS_OK) {
            assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
            check_lt(lseek(file, 0, SEEK_END), 1 << 20);
        }
        close(file);
    }
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
}

// A replay's world has the room that the recorded one had, in which a full table is full.
TEST(the_room_of_a_world_is_recorded)
{
    recording_fixture fixture;
    recording_memory memory = {0};
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config = recording_fixture_config(5, 10);
    foliot_recording *recording;
    foliot_replay *replay;
    foliot_world *world;
    recording_fixture_init(&fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    foliot_world_config less = foliot_world_config_default(&fixture.scene);
    less.contacts_max = 17;
    size_t bytes = foliot_world_config_get_bytes(&less);
    void *block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    demand(foliot_world_init(block, bytes, &less, &fixture.scene, &world));
    demand(foliot_recording_open_sink(&sink, WORLD_SIMULATION(world, &fixture.scene), &config,
                                      &recording));
    demand(foliot_recording_close(recording, NULL));
    demand(
        foliot_replay_open_bytes(memory.bytes, memory.length, &foliot_world_kind, &replay, NULL));
    check_eq(replay->capacities.contacts_max, 17);
    check_eq(replay->capacities.bodies_max, less.bodies_max);
    check_eq(replay->capacities.forces_max, less.forces_max);
    check_eq(replay->capacities.players_max, less.players_max);
    check_eq(replay->capacities.spawns_max, less.spawns_max);
    check_eq(foliot_world_get_bytes(foliot_replay_get_world(replay)), bytes);
    foliot_replay_close(replay);
    free(block);
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
}
