// SPDX-License-Identifier: MIT
// test_compact.c: a closed file has fewer blocks and says the same. Method: the same run is
// recorded with and without compaction and compared tick by tick; a process is killed at random
// moments of its close (KILLS=1000 for more); and a compaction is made to fail.
#include "recording_fixture.h"
#include "check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICKS 700
#define PATH_BYTES 64

static void new_folder(char folder[PATH_BYTES])
{
    snprintf(folder, PATH_BYTES, "%s", P_tmpdir "/foliot-test-XXXXXX");
    assert_non_null(mkdtemp(folder));
}

static void remove_folder(const char *folder)
{
    char command[PATH_BYTES + 16];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    assert_int_equal(system(command), 0);
}

static foliot_recording_config live_config(uint32_t compact_ticks, bool threaded)
{
    foliot_recording_config config = recording_fixture_config(3, 300);
    config.compact_ticks = compact_ticks;
    config.threaded = threaded;
    return config;
}

static foliot_recording *begin(recording_fixture *fixture, const char *file, foliot_world **world,
                               const foliot_recording_config *config)
{
    foliot_recording *recording;
    recording_fixture_init(fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    *world = recording_fixture_world(fixture);
    assert_int_equal(
        foliot_recording_open(file, WORLD_SIMULATION(*world, &fixture->scene), config, &recording),
        FOLIOT_STATUS_OK);
    return recording;
}

static void play(recording_fixture *fixture, foliot_recording *recording, foliot_world *world,
                 int ticks)
{
    foliot_input inputs[FOLIOT_PLAYERS_MAX];
    for (int i = 0; i < ticks; i++) {
        uint64_t tick = foliot_world_get_tick(world);
        uint32_t count = recording_fixture_inputs(fixture, tick, true, inputs);
        // The player's identity precedes the JOIN, as a server writes it.
        for (uint32_t k = 0; k < count; k++)
            if (inputs[k].kind == FOLIOT_INPUT_JOIN)
                assert_int_equal(
                    foliot_recording_note_player(recording, inputs[k].player, tick < 50 ? "a" : "b",
                                                 (foliot_player_proof){{(uint8_t)tick}}),
                    FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(world, inputs, count, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                                 TICK_INPUTS(inputs, count), NULL, 0),
                         FOLIOT_STATUS_OK);
    }
}

static void record(const char *file, const foliot_recording_config *config)
{
    recording_fixture fixture;
    foliot_world *world;
    foliot_recording *recording = begin(&fixture, file, &world, config);
    play(&fixture, recording, world, TICKS);
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
}

static foliot_replay *open_file(const char *file)
{
    foliot_replay *replay;
    assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_OK);
    assert_true(foliot_replay_get_summary(replay)->closed);
    return replay;
}

static void same_tick(foliot_replay *a, foliot_replay *b, uint64_t tick)
{
    const foliot_input *inputs[2];
    uint32_t count[2];
    uint8_t digest[2][16] = {{0}, {0}};
    assert_int_equal(foliot_replay_get_inputs(a, tick, &inputs[0], &count[0]), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_get_inputs(b, tick, &inputs[1], &count[1]), FOLIOT_STATUS_OK);
    assert_int_equal(count[0], count[1]);
    for (uint32_t i = 0; i < count[0]; i++) {
        assert_int_equal(inputs[0][i].player, inputs[1][i].player);
        assert_int_equal(inputs[0][i].sequence, inputs[1][i].sequence);
        assert_int_equal(inputs[0][i].kind, inputs[1][i].kind);
        assert_int_equal(inputs[0][i].buttons, inputs[1][i].buttons);
        assert_memory_equal(inputs[0][i].axes, inputs[1][i].axes, FOLIOT_AXIS_COUNT);
    }
    assert_int_equal(foliot_replay_get_digest(a, tick, digest[0]),
                     foliot_replay_get_digest(b, tick, digest[1]));
    assert_memory_equal(digest[0], digest[1], 16);
}

static void verifies(const char *file)
{
    foliot_verdict verdict;
    foliot_replay *replay = open_file(file);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(verdict.ticks, TICKS);
    foliot_replay_close(replay);
}

TEST(a_closed_file_has_blocks_of_a_second)
{
    char folder[PATH_BYTES], plain[2 * PATH_BYTES], file[2 * PATH_BYTES];
    new_folder(folder);
    snprintf(plain, sizeof plain, "%s/plain.foliot", folder);
    snprintf(file, sizeof file, "%s/compact.foliot", folder);
    foliot_recording_config config = live_config(0, false);
    record(plain, &config);
    for (int threaded = 0; threaded < 2; threaded++) {
        config = live_config(60, threaded);
        record(file, &config);
        foliot_replay *a = open_file(plain), *b = open_file(file);
        const foliot_replay_summary *one = foliot_replay_get_summary(a),
                                    *other = foliot_replay_get_summary(b);
        check_gt(one->counts.blocks, TICKS / 3);
        // A block a second, and a new one where a player's note stands.
        check_le(other->counts.blocks, TICKS / 60 + 6 + other->counts.notes);
        check_lt(other->counts.header_bytes + other->counts.digest_bytes, 20000 * TICKS / 3600);
        assert_int_equal(other->counts.inputs, one->counts.inputs);
        assert_int_equal(other->counts.digests, TICKS);
        assert_int_equal(other->counts.keyframes, one->counts.keyframes);
        assert_int_equal(other->counts.notes, one->counts.notes);
        check_gt(other->counts.notes, 3);
        assert_true(foliot_digest_equal(one->final_digest, other->final_digest));
        for (uint64_t tick = 0; tick < TICKS; tick++)
            same_tick(a, b, tick);
        foliot_replay_close(a);
        foliot_replay_close(b);
        verifies(file);
    }
    remove_folder(folder);
}

// The players are the same, whatever the blocks.
TEST(a_compacted_file_resumes)
{
    char folder[PATH_BYTES], file[2 * PATH_BYTES];
    uint32_t counts[2];
    foliot_recorded_player players[2][3];
    new_folder(folder);
    snprintf(file, sizeof file, "%s/a.foliot", folder);
    for (uint32_t compacted = 0; compacted < 2; compacted++) {
        foliot_recording *recording;
        foliot_scene *scene;
        foliot_world *world;
        foliot_recording_config config = live_config(compacted ? 60 : 0, true);
        record(file, &config);
        assert_int_equal(resume_world(file, &config, &recording, &scene, &world, NULL),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_get_tick(world), TICKS);
        const foliot_resumption *about = foliot_recording_get_resumption(recording);
        counts[compacted] = about->player_count;
        assert_in_range(about->player_count, 1, 3);
        memcpy(players[compacted], about->players, about->player_count * sizeof *about->players);
        for (int i = 0; i < 100; i++) {
            assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
            assert_int_equal(
                foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0),
                FOLIOT_STATUS_OK);
        }
        assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
        foliot_replay *replay = open_file(file);
        foliot_verdict verdict;
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
        assert_int_equal(verdict.ticks, TICKS + 100);
        foliot_replay_close(replay);
        foliot_world_destroy(world);
        foliot_scene_destroy(scene);
    }
    assert_int_equal(counts[0], counts[1]);
    for (uint32_t i = 0; i < counts[0]; i++) {
        assert_int_equal(players[0][i].player, players[1][i].player);
        assert_string_equal(players[0][i].name, players[1][i].name);
        assert_memory_equal(&players[0][i].proof, &players[1][i].proof, sizeof players[0][i].proof);
        assert_int_equal(players[0][i].join_sequence, players[1][i].join_sequence);
        assert_int_equal(players[0][i].sequence, players[1][i].sequence);
    }
    remove_folder(folder);
}

// -- what goes wrong

static uint64_t blocks_of(const char *file)
{
    foliot_replay *replay = open_file(file);
    uint64_t blocks = foliot_replay_get_summary(replay)->counts.blocks;
    foliot_replay_close(replay);
    return blocks;
}

// Records as record() does, up to the compaction, whose status is returned.
static foliot_status compact(const char *file, const char *second_name)
{
    recording_fixture fixture;
    foliot_world *world;
    foliot_recording_config config = live_config(60, true);
    foliot_recording *recording = begin(&fixture, file, &world, &config);
    play(&fixture, recording, world, TICKS);
    if (second_name)
        assert_int_equal(link(file, second_name), 0);
    foliot_status status = foliot_recording_compact(recording);
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
    return status;
}

// A host with several recordings ends all of them before it compacts the first.
TEST(a_recording_is_whole_before_it_is_compacted)
{
    char folder[PATH_BYTES], file[2 * PATH_BYTES];
    new_folder(folder);
    snprintf(file, sizeof file, "%s/a.foliot", folder);
    for (int threaded = 0; threaded < 2; threaded++) {
        recording_fixture fixture;
        foliot_world *world;
        foliot_recording_state final;
        foliot_recording_config config = live_config(60, threaded);
        foliot_recording *recording = begin(&fixture, file, &world, &config);
        play(&fixture, recording, world, TICKS);
        assert_int_equal(foliot_recording_end(recording), FOLIOT_STATUS_OK);
        check_gt(blocks_of(file), TICKS / 3);
        verifies(file);
        assert_int_equal(foliot_world_step(world, NULL, 0, NULL), FOLIOT_STATUS_OK);
        assert_int_equal(
            foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), NULL, NULL, 0),
            FOLIOT_STATUS_INVALID);
        assert_int_equal(foliot_recording_note_session(recording, "late", false),
                         FOLIOT_STATUS_INVALID);
        for (int i = 0; i < 2; i++)
            assert_int_equal(foliot_recording_compact(recording), FOLIOT_STATUS_OK);
        check_lt(blocks_of(file), 60);
        // All that may be asked of an open recording.
        assert_int_equal(foliot_recording_flush(recording), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_drain(recording), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_wait(recording, true), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_end(recording), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_close(recording, &final), FOLIOT_STATUS_OK);
        assert_int_equal(final.written_tick, TICKS);
        assert_int_equal(final.synced_tick, TICKS);
        assert_int_equal(final.ticks_lost, 0);
        verifies(file);
        foliot_world_destroy(world);
        recording_fixture_free(&fixture);
    }
    remove_folder(folder);
}

TEST(a_recording_as_compact_already_is_no_failure)
{
    char folder[PATH_BYTES], file[2 * PATH_BYTES];
    recording_fixture fixture;
    foliot_world *world;
    foliot_recording_config config = live_config(60, true);
    new_folder(folder);
    snprintf(file, sizeof file, "%s/a.foliot", folder);
    foliot_recording *recording = begin(&fixture, file, &world, &config);
    play(&fixture, recording, world, 2); // one block
    assert_int_equal(foliot_recording_end(recording), FOLIOT_STATUS_OK);
    uint64_t blocks = blocks_of(file);
    assert_int_equal(foliot_recording_compact(recording), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    assert_int_equal(blocks_of(file), blocks);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
    remove_folder(folder);
}

TEST(a_file_that_cannot_be_replaced_stays_as_it_is)
{
    char folder[PATH_BYTES], file[2 * PATH_BYTES], beside[3 * PATH_BYTES];
    foliot_recording_config config = live_config(60, true);
    new_folder(folder);
    snprintf(file, sizeof file, "%s/a.foliot", folder);
    snprintf(beside, sizeof beside, "%s/.a.foliot.compact", folder);
    assert_int_equal(mkdir(beside, 0700), 0); // where the new file would be
    assert_int_equal(compact(file, NULL), FOLIOT_STATUS_IO);
    check_gt(blocks_of(file), TICKS / 3);
    verifies(file);
    assert_int_equal(rmdir(beside), 0);
    // Leftovers of a killed compaction do not hinder the next one.
    FILE *rest = fopen(beside, "w");
    assert_non_null(rest);
    fclose(rest);
    record(file, &config);
    check_lt(blocks_of(file), 60);
    assert_int_not_equal(access(beside, F_OK), 0);
    // Another name of the file would keep the old one.
    unlink(file);
    assert_int_equal(compact(file, beside), FOLIOT_STATUS_UNSUPPORTED);
    check_gt(blocks_of(beside), TICKS / 3);
    check_gt(blocks_of(file), TICKS / 3);
    remove_folder(folder);
}

// Another recording, or anything else that somebody named so.
TEST(a_file_that_is_called_alike_stays)
{
    char folder[PATH_BYTES], file[2 * PATH_BYTES], alike[2 * PATH_BYTES];
    foliot_recording_config config = live_config(60, true), plain = live_config(0, true);
    new_folder(folder);
    snprintf(file, sizeof file, "%s/a.foliot", folder);
    snprintf(alike, sizeof alike, "%s/a.foliot.compact", folder);
    record(alike, &plain);
    record(file, &config);
    check_lt(blocks_of(file), 60);
    check_gt(blocks_of(alike), TICKS / 3);
    verifies(alike);
    remove_folder(folder);
}

static _Noreturn void close_in_child(const char *file, int say)
{
    recording_fixture fixture;
    foliot_world *world;
    foliot_recording_config config = live_config(60, true);
    foliot_recording *recording = begin(&fixture, file, &world, &config);
    play(&fixture, recording, world, TICKS);
    if (foliot_recording_flush(recording) != FOLIOT_STATUS_OK ||
        foliot_recording_wait(recording, false) != FOLIOT_STATUS_OK || write(say, "r", 1) != 1)
        _exit(1);
    if (foliot_recording_close(recording, NULL) != FOLIOT_STATUS_OK || write(say, "c", 1) != 1)
        _exit(1);
    for (;;)
        pause();
}

TEST(a_kill_during_the_close_loses_nothing)
{
    const char *kills = getenv("KILLS");
    int count = kills ? atoi(kills) : 60, closed = 0, compacted = 0;
    foliot__rng rng = foliot__rng_seeded(check_seed(5));
    char folder[PATH_BYTES], file[2 * PATH_BYTES];
    new_folder(folder);
    snprintf(file, sizeof file, "%s/a.foliot", folder);
    for (int i = 0; i < count; i++) {
        int ends[2], status;
        char word;
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        check_ge(child, 0);
        if (child == 0)
            close_in_child(file, ends[1]);
        close(ends[1]);
        assert_int_equal(read(ends[0], &word, 1), 1);
        // The close takes some milliseconds; a few kills come when it is done.
        if (i % 8 == 0)
            assert_int_equal(read(ends[0], &word, 1), 1);
        struct timespec delay = {.tv_nsec = (long)foliot__rng_below(&rng, 2500000)};
        nanosleep(&delay, NULL);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        close(ends[0]);
        foliot_replay *replay;
        foliot_verdict verdict;
        assert_int_equal(foliot_replay_open(file, &foliot_world_kind, &replay, NULL),
                         FOLIOT_STATUS_OK);
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.ticks, TICKS);
        closed += verdict.status == FOLIOT_STATUS_OK;
        compacted += foliot_replay_get_summary(replay)->counts.blocks < TICKS / 3;
        foliot_replay_close(replay);
    }
    print_message("%d kills: %d recordings were closed, %d of them compacted\n", count, closed,
                  compacted);
    check_gt(compacted, 0);
    remove_folder(folder);
}
