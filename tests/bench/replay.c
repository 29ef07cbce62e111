// SPDX-License-Identifier: MIT
// replay.c: how fast recordings replay, how large they are, how quickly any tick of a long one is
// there. 256 bodies with springs and drag, 8 players with four key changes a second, 60 Hz.
#include "bench.h"
#include "clock.h"
#include "recording_fixture.h"

#include "base/assert.h"
#include "status.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define BODIES 256
#define PLAYERS 8
#define ROUNDS 15
#define MINUTE 3600
#define HOURS_2 (2 * 60 * MINUTE)
#define COMMANDS 16 // of a tick
#define SEEKS 500
#define SHORT_FILES 1000

static char folder[] = P_tmpdir "/foliot-bench-XXXXXX";

static void make(recording_memory *memory, uint64_t ticks, bool streams)
{
    recording_fixture fixture;
    foliot_recording_config config =
        recording_fixture_config(60, foliot_recording_config_default().keyframe_ticks);
    recording_fixture_init(&fixture, BODIES, PLAYERS, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1);
    fixture.streams = streams;
    recording_fixture_record(&fixture, &config, ticks, memory, NULL);
    recording_fixture_free(&fixture);
}

static void put_file(const char *name, const recording_memory *memory, char path[256])
{
    snprintf(path, 256, "%s/%s", folder, name);
    FILE *out = fopen(path, "wb");
    FOLIOT_ASSERT(out);
    size_t written = fwrite(memory->bytes, 1, memory->length, out);
    FOLIOT_ASSERT(written == memory->length);
    fclose(out);
}

// -- speed

// The same steps without a recording: a world, and inputs that lie ready.
static double bare_seconds(const recording_fixture *fixture, foliot_input *const *inputs,
                           const uint32_t *counts, uint64_t ticks)
{
    foliot_world *world = recording_fixture_world(fixture);
    double start = clock_process_s();
    for (uint64_t tick = 0; tick < ticks; tick++)
        demand(foliot_world_step(world, inputs[tick], counts[tick], NULL));
    double seconds = clock_process_s() - start;
    foliot_world_destroy(world);
    return seconds;
}

static double replay_seconds(const recording_memory *memory)
{
    foliot_replay *replay;
    foliot_status status =
        foliot_replay_open_bytes(memory->bytes, memory->length, &foliot_world_kind, &replay, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    double start = clock_process_s();
    while (foliot_replay_step(replay) == FOLIOT_STATUS_OK)
        ;
    double seconds = clock_process_s() - start;
    foliot_replay_close(replay);
    return seconds;
}

static double verify_seconds(const recording_memory *memory)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    foliot_status status =
        foliot_replay_open_bytes(memory->bytes, memory->length, &foliot_world_kind, &replay, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    double start = clock_process_s();
    status = foliot_replay_verify(replay, NULL, &verdict);
    double seconds = clock_process_s() - start;
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK && verdict.status == FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
    return seconds;
}

static void bench_speed(void)
{
    static foliot_input *inputs[MINUTE];
    static uint32_t counts[MINUTE];
    double bare[ROUNDS], replayed[ROUNDS], verified[ROUNDS], ratio[ROUNDS], share[ROUNDS];
    recording_memory memory = {0};
    recording_fixture fixture;
    recording_fixture_init(&fixture, BODIES, PLAYERS, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1);
    for (uint64_t tick = 0; tick < MINUTE; tick++) {
        foliot_input now[FOLIOT_PLAYERS_MAX];
        counts[tick] = recording_fixture_inputs(&fixture, tick, true, now);
        inputs[tick] = malloc(sizeof *now * (counts[tick] + 1));
        FOLIOT_ASSERT(inputs[tick]);
        memcpy(inputs[tick], now, sizeof *now * counts[tick]);
    }
    make(&memory, MINUTE, false);
    for (int i = 0; i < ROUNDS; i++) {
        // Each goes first in turn: caches and clocks favour neither.
        if (i % 2)
            replayed[i] = replay_seconds(&memory);
        bare[i] = bare_seconds(&fixture, inputs, counts, MINUTE);
        if (i % 2 == 0)
            replayed[i] = replay_seconds(&memory);
        verified[i] = verify_seconds(&memory);
        ratio[i] = bare[i] / replayed[i];
        share[i] = (verified[i] - replayed[i]) / replayed[i];
    }
    double minute = MINUTE / 60.0;
    double bare_rate = minute / bench_median(bare, ROUNDS);
    bench_report("replay", "replay-256-bodies-8-players", minute / bench_median(replayed, ROUNDS),
                 "x real time", "bare step", bare_rate);
    bench_report("replay", "share-of-bare-step-rate", bench_median(ratio, ROUNDS), "of 1", NULL, 0);
    bench_report("replay", "verify-256-bodies-8-players", minute / bench_median(verified, ROUNDS),
                 "x real time", "bare step", bare_rate);
    bench_report("replay", "digests-and-checks-in-verify", 100 * bench_median(share, ROUNDS),
                 "% of the replay", NULL, 0);
    for (uint64_t tick = 0; tick < MINUTE; tick++)
        free(inputs[tick]);
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
}

// The same with impulses in every tick, which a replay decodes and a bare step is given.
static void bench_speed_with_commands(void)
{
    static foliot_command commands[MINUTE][COMMANDS];
    double ratio[ROUNDS];
    recording_memory memory = {0};
    recording_fixture fixture;
    recording_fixture_init(&fixture, BODIES, PLAYERS, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1);
    fixture.scene.commands_max = COMMANDS;
    foliot_recording_sink sink = recording_memory_sink(&memory);
    foliot_recording_config config =
        recording_fixture_config(60, foliot_recording_config_default().keyframe_ticks);
    foliot_world *world = recording_fixture_world(&fixture);
    foliot_recording *recording;
    demand(foliot_recording_open_sink(&sink, WORLD_SIMULATION(world, &fixture.scene), &config,
                                      &recording));
    for (uint32_t i = 0; i < MINUTE * COMMANDS; i++) {
        foliot_command *c = &commands[i / COMMANDS][i % COMMANDS];
        *c = foliot_command_default(FOLIOT_COMMAND_impulse);
        c->fields = FOLIOT_COMMAND_HAS(impulse, body) | FOLIOT_COMMAND_HAS(impulse, linear);
        c->as.impulse.body = foliot_world_get_body_id(world, 7 * i % BODIES);
        c->as.impulse.linear[0] = 1e-6f * (float)(i % 97);
        c->sequence = i + 1;
    }
    for (int round = -1; round < ROUNDS; round++) {
        double replayed = round >= 0 && round % 2 ? replay_seconds(&memory) : 0;
        double start = clock_process_s();
        for (uint64_t tick = 0; tick < MINUTE; tick++) {
            const foliot_tick_inputs in = {NULL, 0, commands[tick], COMMANDS};
            demand(foliot_world_step_tick(world, &in, NULL));
            if (round >= 0)
                continue;
            demand(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL), &in, NULL, 0));
            demand(foliot_recording_drain(recording));
        }
        double bare = clock_process_s() - start;
        if (round < 0)
            demand(foliot_recording_close(recording, NULL));
        else
            ratio[round] = bare / (round % 2 ? replayed : replay_seconds(&memory));
        foliot_world_destroy(world);
        world = recording_fixture_world(&fixture);
    }
    bench_report("replay", "share-of-bare, 16 commands a tick", bench_median(ratio, ROUNDS), "of 1",
                 NULL, 0);
    foliot_world_destroy(world);
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
}

// The cost of recording a tick, with a thread that writes to a file.
static void bench_append(void)
{
    double costs[ROUNDS];
    char path[256];
    recording_memory nothing = {0};
    put_file("append.foliot", &nothing, path);
    for (int i = 0; i < ROUNDS; i++) {
        recording_fixture fixture;
        foliot_recording *recording;
        double spent = 0;
        recording_fixture_init(&fixture, BODIES, PLAYERS, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1);
        foliot_world *world = recording_fixture_world(&fixture);
        foliot_status status =
            foliot_recording_open(path, WORLD_SIMULATION(world, &fixture.scene), NULL, &recording);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
        for (uint64_t tick = 0; tick < MINUTE; tick++) {
            foliot_input inputs[FOLIOT_PLAYERS_MAX];
            uint32_t count = recording_fixture_inputs(&fixture, tick, true, inputs);
            demand(foliot_world_step(world, inputs, count, NULL));
            double start = bench_now();
            demand(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                           TICK_INPUTS(inputs, count), NULL, 0));
            spent += bench_now() - start;
        }
        demand(foliot_recording_close(recording, NULL));
        costs[i] = 1e6 * spent / MINUTE;
        foliot_world_destroy(world);
        recording_fixture_free(&fixture);
    }
    unlink(path);
    bench_report("replay", "append-256-bodies-8-players", bench_median(costs, ROUNDS), "us a tick",
                 NULL, 0);
}

// -- size

static void bench_size(bool streams, const char *name, const char *rest)
{
    recording_memory memory = {0};
    foliot_replay *replay;
    make(&memory, 10 * MINUTE, streams);
    foliot_status status =
        foliot_replay_open_bytes(memory.bytes, memory.length, &foliot_world_kind, &replay, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    status = foliot_replay_scan(replay);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    double player_minutes = 10.0 * PLAYERS;
    bench_report("replay", name, (double)about->counts.input_bytes / player_minutes,
                 "B a player-minute", "33.6 kB", 33600);
    // The header with the scene is there once, however long the recording: it is not counted by the
    // minute.
    if (rest) {
        bench_report("replay", "size-block-headers-and-digests",
                     (double)(about->counts.header_bytes + about->counts.digest_bytes) / 10,
                     "B a minute", NULL, 0);
        bench_report("replay", "size-keyframes", (double)about->counts.keyframe_bytes / 10,
                     "B a minute", NULL, 0);
        bench_report("replay", "size-header", (double)about->counts.other_bytes, "B", NULL, 0);
    }
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

static foliot_scene *read_scene(const char *file)
{
    foliot_scene *scene = NULL;
    foliot_error error;
    foliot_status status = foliot_scene_read(file, &scene, &error);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    return scene;
}

// 11 s of 900 boxes and two players, recorded as a server does: blocks of 50 ms, and a compacted
// file at the end.
static void bench_live_size(void)
{
    char path[256];
    struct stat about;
    foliot_recording *recording;
    foliot_world *world;
    recording_memory nothing = {0};
    recording_fixture fingers; // only who presses what when
    foliot_scene *scene = read_scene("scenes/cubes.yaml");
    foliot_recording_config config = foliot_recording_config_default();
    config.block_ticks = 3;
    config.compact_ticks = 60;
    put_file("live.foliot", &nothing, path);
    recording_fixture_init(&fingers, 1, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 1);
    foliot_status status = foliot_world_create(scene, &world, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    status = foliot_recording_open(path, WORLD_SIMULATION(world, scene), &config, &recording);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < 660; tick++) {
        foliot_input inputs[FOLIOT_PLAYERS_MAX];
        uint32_t count = recording_fixture_inputs(&fingers, tick, false, inputs);
        status = foliot_world_step(world, inputs, count, NULL);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
        status = foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                         TICK_INPUTS(inputs, count), NULL, 0);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    }
    double start = bench_now();
    status = foliot_recording_close(recording, NULL);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
    bench_report("replay", "close-and-compact-cubes-11-s", 1e3 * (bench_now() - start), "ms", NULL,
                 0);
    FOLIOT_ASSERT(stat(path, &about) == 0);
    bench_report("replay", "size-of-cubes-11-s-2-players", 1e-3 * (double)about.st_size, "kB",
                 "raw keyframes", 767.5);
    unlink(path);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
    recording_fixture_free(&fingers);
}

// -- seeks

static void forget_file(const char *path)
{
    int file = open(path, O_RDONLY);
    fdatasync(file);
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    close(file);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The file closed, its pages dropped, opened again and brought to a random tick.
static void bench_seek(void)
{
    static double times[SEEKS], cpu[SEEKS];
    char path[256];
    recording_memory memory = {0};
    foliot__rng rng = foliot__rng_seeded(3);
    make(&memory, HOURS_2, false);
    put_file("two-hours.foliot", &memory, path);
    recording_memory_free(&memory);
    for (int i = 0; i < SEEKS; i++) {
        foliot_replay *replay;
        uint64_t tick = foliot__rng_below(&rng, HOURS_2 + 1);
        forget_file(path);
        double start = bench_now(), cpu_start = clock_process_s();
        foliot_status status = foliot_replay_open(path, &foliot_world_kind, &replay, NULL);
        if (status == FOLIOT_STATUS_OK)
            status = foliot_replay_seek(replay, tick);
        times[i] = 1e3 * (bench_now() - start);
        cpu[i] = 1e3 * (clock_process_s() - cpu_start);
        FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
        foliot_replay_close(replay);
    }
    qsort(times, SEEKS, sizeof times[0], ascending);
    qsort(cpu, SEEKS, sizeof cpu[0], ascending);
    bench_report("replay", "seek-2h-cold-p50", times[SEEKS / 2], "ms", NULL, 0);
    bench_report("replay", "seek-2h-cold-p99", times[SEEKS * 99 / 100], "ms", NULL, 0);
    bench_report("replay", "seek-2h-cold-p99-cpu", cpu[SEEKS * 99 / 100], "ms", NULL, 0);
    unlink(path);
}

// -- many files

static void bench_many(const char *program)
{
    char path[256], list[256], command[1024];
    recording_memory memory = {0};
    snprintf(list, sizeof list, "%s/list", folder);
    FILE *names = fopen(list, "w");
    FOLIOT_ASSERT(names);
    for (int i = 0; i < SHORT_FILES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%d.foliot", i);
        if (memory.length == 0)
            make(&memory, 600, false);
        put_file(name, &memory, path);
        fprintf(names, "%s\n", path);
    }
    fclose(names);
    snprintf(command, sizeof command, "%s verify --json --jobs 2 --files-from %s > %s/out", program,
             list, folder);
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    double start = bench_now();
    int status = system(command);
    double wall = bench_now() - start;
    getrusage(RUSAGE_CHILDREN, &after);
    double cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                 1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                 (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                 1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        bench_report("replay", "verify-1000-recordings-of-10-s", wall, "s", NULL, 0);
        bench_report("replay", "verify-1000-use-of-two-cores", 100 * cpu / (2 * wall), "%", NULL,
                     0);
    }
    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    FOLIOT_ASSERT(system(command) == 0);
    recording_memory_free(&memory);
}

// The program lies next to the benches' folder.
static void program_path(const char *self, char path[512])
{
    const char *slash = strrchr(self, '/');
    snprintf(path, 512, "%.*s/../foliot-replay", slash ? (int)(slash - self) : 1,
             slash ? self : ".");
}

int main(int argc, char **argv)
{
    char program[512];

    program_path(argv[0], program);
    FOLIOT_ASSERT(mkdtemp(folder));
    bench_speed();
    bench_speed_with_commands();
    bench_append();
    bench_size(false, "size-of-changes-alone", "rest");
    bench_size(true, "size-of-an-input-every-tick", NULL);
    bench_live_size();
    bench_seek();
    if (argc < 2)
        bench_many(program);
    rmdir(folder);
    return 0;
}
