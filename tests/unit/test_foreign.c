// SPDX-License-Identifier: MIT
// Goal: recordings of a simulation other than the world replay, verify, seek and report faults as
// those of a world do; a program that does not know the kind can still read the summary. Method:
// the chain (tests/support/chain.h) is recorded into memory.
#include "../support/check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../support/chain.h"
#include "../support/recording_fixture.h"
#include "status.h"
#include "tally.h"
#include "world_simulation.h"

#define TICKS 330

static uint32_t inputs_of(uint64_t tick, foliot_input inputs[2])
{
    if (tick % 7 > 1)
        return 0;
    for (uint32_t i = 0; i < 2; i++)
        inputs[i] = (foliot_input){.player = i * 3,
                                   .sequence = (uint32_t)tick,
                                   .kind = tick < 2 ? FOLIOT_INPUT_JOIN : FOLIOT_INPUT_CONTROL,
                                   .buttons = (uint16_t)(tick * 5 + i)};
    return 2;
}

static void record(const foliot_simulation_kind *kind, recording_memory *memory,
                   foliot_digest digests[TICKS + 1])
{
    foliot_simulation simulation;
    foliot_recording *recording;
    foliot_recording_sink sink = recording_memory_sink(memory);
    foliot_recording_config config = recording_fixture_config(20, 100);
    foliot_input inputs[2];
    assert_int_equal(foliot_simulation_create(kind, "s", 1, &simulation), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_open_sink(&sink, &simulation, &config, &recording),
                     FOLIOT_STATUS_OK);
    for (uint64_t tick = 0; tick < TICKS; tick++) {
        uint32_t count = inputs_of(tick, inputs);
        digests[tick] = foliot_simulation_get_digest(&simulation);
        assert_int_equal(foliot_simulation_step(&simulation, inputs, count), FOLIOT_STATUS_OK);
        assert_int_equal(
            foliot_recording_append(recording, &simulation, TICK_INPUTS(inputs, count), NULL, 0),
            FOLIOT_STATUS_OK);
    }
    digests[TICKS] = foliot_simulation_get_digest(&simulation);
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    foliot_simulation_destroy(&simulation);
}

static foliot_verdict verify(const recording_memory *memory, const foliot_simulation_kind *kind)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_open_bytes(memory->bytes, memory->length, kind, &replay, NULL),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
    return verdict;
}

TEST(it_replays_and_seeks)
{
    static const uint64_t places[] = {0, TICKS, 17, 100, 99, 101, 250, 1};
    recording_memory memory = {0};
    foliot_digest digests[TICKS + 1];
    foliot_replay *replay;
    record(chain_kind(CHAIN_NO_FAULT), &memory, digests);
    assert_int_equal(foliot_replay_open_bytes(memory.bytes, memory.length,
                                              chain_kind(CHAIN_NO_FAULT), &replay, NULL),
                     FOLIOT_STATUS_OK);
    const foliot_replay_summary *about = foliot_replay_get_summary(replay);
    assert_string_equal(about->kind, "tests.chain");
    assert_int_equal(about->rules, 3);
    assert_int_equal(about->setup_bytes, 1);
    assert_memory_equal(about->setup, "s", 1);
    assert_null(about->scene);
    assert_null(foliot_replay_get_world(replay));
    for (uint64_t tick = 0; tick <= TICKS; tick++) {
        assert_int_equal(foliot_replay_get_tick(replay), tick);
        assert_true(foliot_digest_equal(
            foliot_simulation_get_digest(foliot_replay_get_simulation(replay)), digests[tick]));
        assert_int_equal(foliot_replay_step(replay),
                         tick < TICKS ? FOLIOT_STATUS_OK : FOLIOT_STATUS_NOT_FOUND);
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        assert_int_equal(foliot_replay_seek(replay, places[i]), FOLIOT_STATUS_OK);
        assert_true(
            foliot_digest_equal(foliot_simulation_get_digest(foliot_replay_get_simulation(replay)),
                                digests[places[i]]));
    }
    assert_int_equal(foliot_replay_seek(replay, 200), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_step_back(replay), FOLIOT_STATUS_OK);
    assert_true(foliot_digest_equal(
        foliot_simulation_get_digest(foliot_replay_get_simulation(replay)), digests[199]));
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

TEST(it_verifies_with_and_without_parts)
{
    for (int plain = 0; plain < 2; plain++) {
        recording_memory memory = {0};
        foliot_digest digests[TICKS + 1];
        const foliot_simulation_kind *kind =
            plain ? chain_kind_plain() : chain_kind(CHAIN_NO_FAULT);
        record(kind, &memory, digests);
        foliot_verdict verdict = verify(&memory, kind);
        assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
        assert_int_equal(verdict.ticks, TICKS);
        assert_true(foliot_digest_equal(verdict.digest, digests[TICKS]));
        recording_memory_free(&memory);
    }
}

// A build whose rules differ is found at the first tick, and named where a keyframe tells.
TEST(other_rules_diverge)
{
    recording_memory memory = {0};
    foliot_digest digests[TICKS + 1];
    record(chain_kind(CHAIN_NO_FAULT), &memory, digests);
    foliot_verdict verdict =
        verify(&memory, chain_kind(CHAIN_GLOBAL)); // one more at steps 97, 194 ...
    assert_int_equal(verdict.status, FOLIOT_STATUS_DIVERGED);
    assert_int_equal(verdict.divergence.tick, 97);
    assert_int_equal(verdict.ticks, 96);
    chain_kind(CHAIN_NO_FAULT);
    verdict = verify(&memory, chain_kind(CHAIN_NO_FAULT));
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    recording_memory_free(&memory);
}

TEST(whoever_does_not_know_it_says_so)
{
    recording_memory memory = {0};
    foliot_digest digests[TICKS + 1];
    foliot_replay *replay;
    foliot_damage damage = {0};
    record(chain_kind(CHAIN_NO_FAULT), &memory, digests);
    assert_int_equal(
        foliot_replay_open_bytes(memory.bytes, memory.length, &foliot_world_kind, &replay, &damage),
        FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(strstr(damage.text, "tests.chain version 3"));
    foliot_simulation_kind newer = *chain_kind(CHAIN_NO_FAULT);
    newer.version = 4;
    assert_int_equal(
        foliot_replay_open_bytes(memory.bytes, memory.length, &newer, &replay, &damage),
        FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(
        strstr(damage.text, "version 3 of the rules of tests.chain, and these are version 4"));
    assert_int_equal(foliot_replay_open_bytes(memory.bytes, memory.length, NULL, &replay, &damage),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_get_summary(replay)->counts.players, 2);
    assert_int_equal(foliot_replay_get_summary(replay)->last_tick, TICKS);
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_UNSUPPORTED);
    assert_int_equal(foliot_replay_seek(replay, 3), FOLIOT_STATUS_UNSUPPORTED);
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_UNSUPPORTED);
    const foliot_input *inputs;
    uint32_t count;
    assert_int_equal(foliot_replay_get_inputs(replay, 7, &inputs, &count), FOLIOT_STATUS_OK);
    assert_int_equal(count, 2);
    foliot_replay_close(replay);
    recording_memory_free(&memory);
}

// Through the general door a world is recorded with the same bytes as through its own.
TEST(a_world_is_one_of_them)
{
    recording_fixture fixture;
    recording_memory own = {0}, general = {0};
    recording_fixture_init(&fixture, 5, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 9);
    foliot_recording_config config = recording_fixture_config(20, 100);
    size_t length = 0;
    demand(foliot_scene_encode(&fixture.scene, NULL, 0, &length));
    uint8_t *setup = malloc(length);
    demand(foliot_scene_encode(&fixture.scene, setup, length, &length));
    for (int i = 0; i < 2; i++) {
        foliot_simulation simulation;
        foliot_recording *recording;
        foliot_recording_sink sink = recording_memory_sink(i ? &general : &own);
        assert_int_equal(foliot_simulation_create(&foliot_world_kind, setup, length, &simulation),
                         FOLIOT_STATUS_OK);
        foliot_world *world = ((foliot_hosted_world *)simulation.self)->world;
        assert_int_equal(i ? foliot_recording_open_sink(&sink, &simulation, &config, &recording)
                           : foliot_recording_open_sink(&sink,
                                                        WORLD_SIMULATION(world, &fixture.scene),
                                                        &config, &recording),
                         FOLIOT_STATUS_OK);
        for (int tick = 0; tick < 50; tick++) {
            assert_int_equal(foliot_simulation_step(&simulation, NULL, 0), FOLIOT_STATUS_OK);
            assert_int_equal(i ? foliot_recording_append(recording, &simulation, NULL, NULL, 0)
                               : foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                                         NULL, NULL, 0),
                             FOLIOT_STATUS_OK);
        }
        assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
        foliot_simulation_destroy(&simulation);
    }
    assert_int_equal(own.length, general.length);
    assert_memory_equal(own.bytes, general.bytes, own.length);
    assert_int_equal(verify(&own, &foliot_world_kind).status, FOLIOT_STATUS_OK);
    recording_memory_free(&own);
    recording_memory_free(&general);
    recording_fixture_free(&fixture);
    free(setup);
}

TEST(damage_is_found_anywhere)
{
    recording_memory memory = {0};
    foliot_digest digests[TICKS + 1];
    const foliot_simulation_kind *kind = chain_kind(CHAIN_NO_FAULT);
    record(kind, &memory, digests);
    for (size_t at = 0; at < memory.length; at += 3) {
        foliot_replay *replay;
        memory.bytes[at] ^= (uint8_t)(1u << at % 8);
        foliot_status status =
            foliot_replay_open_bytes(memory.bytes, memory.length, kind, &replay, NULL);
        if (status == FOLIOT_STATUS_OK) {
            foliot_verdict verdict;
            assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
            assert_int_equal(verdict.status, FOLIOT_STATUS_CORRUPT);
            foliot_replay_close(replay);
        }
        memory.bytes[at] ^= (uint8_t)(1u << at % 8);
    }
    for (size_t length = 0; length < memory.length; length += 5) {
        foliot_replay *replay;
        if (foliot_replay_open_bytes(memory.bytes, length, kind, &replay, NULL) ==
            FOLIOT_STATUS_OK) {
            foliot_verdict verdict;
            assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
            assert_int_equal(verdict.status, FOLIOT_STATUS_TRUNCATED);
            foliot_replay_close(replay);
        }
    }
    recording_memory_free(&memory);
}

static uint32_t no_order(const void *self, const foliot_order *order, foliot_command *commands,
                         uint32_t capacity)
{
    (void)self;
    (void)order;
    (void)commands;
    (void)capacity;
    return 0;
}

// Orders become commands, so a simulation that takes orders takes commands.
TEST(orders_need_commands)
{
    foliot_simulation simulation;
    foliot_simulation_kind kind = *tally_kind(false);
    assert_true(foliot_simulation_kind_valid(&kind));
    kind.order = no_order;
    assert_false(foliot_simulation_kind_valid(&kind));
    assert_int_equal(foliot_simulation_create(&kind, "", 0, &simulation), FOLIOT_STATUS_INVALID);
    kind = *tally_kind(true);
    kind.order = no_order;
    assert_true(foliot_simulation_kind_valid(&kind));
}

// -- going on after a crash

// Leaves the file as a crash does after `ticks` ticks of the run of `record`.
static void record_part(const char *file, const foliot_simulation_kind *kind, uint64_t ticks)
{
    foliot_simulation simulation;
    foliot_recording *recording;
    foliot_recording_config config = recording_fixture_config(20, 100);
    foliot_input inputs[2];
    demand(foliot_simulation_create(kind, "s", 1, &simulation));
    demand(foliot_recording_open(file, &simulation, &config, &recording));
    for (uint64_t tick = 0; tick < ticks; tick++) {
        uint32_t count = inputs_of(tick, inputs);
        demand(foliot_simulation_step(&simulation, inputs, count));
        demand(
            foliot_recording_append(recording, &simulation, TICK_INPUTS(inputs, count), NULL, 0));
    }
    demand(foliot_recording_wait(recording, false));
    foliot_recording_abandon(recording);
    foliot_simulation_destroy(&simulation);
}

typedef struct crash {
    const foliot_simulation_kind *kind;
    char file[32];                    // of 150 ticks; its last whole block ends at tick 140
    foliot_digest digests[TICKS + 1]; // of the whole run
    foliot_recording_config config;
} crash;

static crash crash_of(chain_fault fault)
{
    crash c = {.kind = chain_kind(fault), .file = "/tmp/foliot-foreign-XXXXXX"};
    recording_memory memory = {0};
    int descriptor = mkstemp(c.file);
    assert_true(descriptor >= 0);
    close(descriptor);
    c.config = recording_fixture_config(20, 100);
    record(c.kind, &memory, c.digests);
    recording_memory_free(&memory);
    record_part(c.file, c.kind, 150);
    return c;
}

// Goes on at tick 140, to the end of the run.
static void finish(const crash *c, foliot_simulation *simulation, foliot_recording *recording)
{
    assert_int_equal(foliot_simulation_get_tick(simulation), 140);
    for (uint64_t tick = 140; tick < TICKS; tick++) {
        foliot_input inputs[2];
        uint32_t count = inputs_of(tick, inputs);
        assert_true(
            foliot_digest_equal(foliot_simulation_get_digest(simulation), c->digests[tick]));
        demand(foliot_simulation_step(simulation, inputs, count));
        demand(foliot_recording_append(recording, simulation, TICK_INPUTS(inputs, count), NULL, 0));
    }
    demand(foliot_recording_close(recording, NULL));
    foliot_simulation_destroy(simulation);
}

TEST(it_goes_on_after_a_crash)
{
    foliot_error error = {.text = ""};
    crash c = crash_of(CHAIN_NO_FAULT);
    foliot_simulation simulation, other;
    foliot_recording *recording = NULL;
    demand(foliot_simulation_create(c.kind, "s", 1, &simulation));
    // Another version, setup or fingerprint is refused; file and simulation stay as they were.
    foliot_simulation_kind newer = *c.kind;
    newer.version = 4;
    demand(foliot_simulation_create(&newer, "s", 1, &other));
    assert_int_equal(foliot_recording_resume(c.file, &c.config, &other, &recording, &error),
                     FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.text, "these are version 4"));
    foliot_simulation_destroy(&other);
    demand(foliot_simulation_create(c.kind, "t", 1, &other));
    assert_int_equal(foliot_recording_resume(c.file, &c.config, &other, &recording, &error),
                     FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.text, "another setup"));
    assert_int_equal(foliot_simulation_get_tick(&other), 0);
    foliot_simulation_destroy(&other);
    foliot_recording_config strange = c.config;
    strange.fingerprint = (foliot_digest){1, 2};
    assert_int_equal(foliot_recording_resume(c.file, &strange, &simulation, &recording, &error),
                     FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.text, "fingerprint"));
    assert_int_equal(
        foliot_recording_resume("/nowhere/x", &c.config, &simulation, &recording, &error),
        FOLIOT_STATUS_IO);
    // The remaining ticks are played and recorded again.
    assert_int_equal(foliot_recording_resume(c.file, &c.config, &simulation, &recording, &error),
                     FOLIOT_STATUS_OK);
    assert_int_equal(foliot_recording_get_resumption(recording)->tick, 140);
    finish(&c, &simulation, recording);
    foliot_replay *replay;
    foliot_verdict verdict;
    demand(foliot_replay_open(c.file, c.kind, &replay, NULL));
    demand(foliot_replay_verify(replay, NULL, &verdict));
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(verdict.ticks, TICKS);
    assert_true(foliot_digest_equal(verdict.digest, c.digests[TICKS]));
    foliot_replay_close(replay);
    unlink(c.file);
}

// The keyframe lacks a part of the state: a replay from it diverges, and one from the start does
// not. The replayed instance goes on.
TEST(it_goes_on_from_an_earlier_keyframe)
{
    foliot_error error = {.text = ""};
    crash c = crash_of(CHAIN_HIDDEN);
    foliot_simulation simulation = {.kind = c.kind, .setup = "s", .setup_bytes = 1}; // no instance
    foliot_recording *recording = NULL;
    foliot_status status =
        foliot_recording_resume(c.file, &c.config, &simulation, &recording, &error);
    print_message("%s\n", error.text);
    assert_int_equal(status, FOLIOT_STATUS_OK);
    finish(&c, &simulation, recording);
    unlink(c.file);
}

TEST(a_world_goes_on_as_any_simulation)
{
    char file[] = "/tmp/foliot-world-XXXXXX";
    foliot_error error = {.text = ""};
    foliot_recording *recording = NULL;
    foliot_recording_config config = recording_fixture_config(5, 10);
    recording_memory memory = {0};
    recording_fixture fixture;
    recording_fixture_init(&fixture, 5, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 9);
    recording_fixture_record(&fixture, &config, 50, &memory, NULL);
    int descriptor = mkstemp(file);
    assert_int_equal(write(descriptor, memory.bytes, memory.length), memory.length);
    close(descriptor);
    size_t length = 0;
    demand(foliot_scene_encode(&fixture.scene, NULL, 0, &length));
    uint8_t *setup = malloc(length);
    demand(foliot_scene_encode(&fixture.scene, setup, length, &length));
    foliot_hosted_world hosted = {0};
    foliot_simulation simulation = {&foliot_world_kind, &hosted, setup, length};
    // Another scene, another kind, no place for the world.
    setup[length - 1] ^= 1;
    check_eq(foliot_recording_resume(file, &config, &simulation, &recording, &error),
             FOLIOT_STATUS_UNSUPPORTED);
    assert_non_null(strstr(error.text, "another setup"));
    foliot_simulation other = {.kind = chain_kind(CHAIN_NO_FAULT), .setup = "s", .setup_bytes = 1};
    check_eq(foliot_recording_resume(file, &config, &other, &recording, &error),
             FOLIOT_STATUS_UNSUPPORTED);
    simulation.self = NULL;
    check_eq(foliot_recording_resume(file, &config, &simulation, &recording, &error),
             FOLIOT_STATUS_INVALID);
    foliot_simulation_kind named = *other.kind;
    named.name = foliot_world_kind.name;
    other.kind = &named;
    check_eq(foliot_recording_resume(file, &config, &other, &recording, &error),
             FOLIOT_STATUS_INVALID);
    assert_null(hosted.world);
    assert_null(recording);
    simulation.self = &hosted;
    setup[length - 1] ^= 1;
    demand(foliot_recording_resume(file, &config, &simulation, &recording, &error));
    check_eq(foliot_simulation_get_tick(&simulation), 50);
    check_eq(hosted.scene->body_count, fixture.scene.body_count);
    demand(foliot_simulation_step(&simulation, NULL, 0));
    demand(foliot_recording_append(recording, &simulation, NULL, NULL, 0));
    demand(foliot_recording_close(recording, NULL));
    foliot_world_destroy(hosted.world);
    foliot_scene_destroy(hosted.scene);
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
    free(setup);
    unlink(file);
}

static uint64_t tick_until_150(const void *self)
{
    uint64_t tick = chain_kind(CHAIN_NO_FAULT)->tick(self);
    return tick < 150 ? tick : 150;
}

static uint64_t tick_that_is_0(const void *self)
{
    (void)self;
    return 0;
}

static uint64_t tick_by_twos(const void *self)
{
    return 2 * chain_kind(CHAIN_NO_FAULT)->tick(self);
}

// Whatever waits for a tick has an end: SIGALRM ends a program that does not come to it.
TEST(a_wrong_count_of_ticks_ends_every_replay)
{
    foliot_digest digests[TICKS + 1];
    recording_memory memory = {0};
    record(chain_kind(CHAIN_NO_FAULT), &memory, digests);
    foliot_simulation_kind standing = *chain_kind(CHAIN_NO_FAULT), jumping = standing,
                           still = standing;
    standing.tick = tick_until_150;
    jumping.tick = tick_by_twos;
    still.tick = tick_that_is_0;
    foliot_replay *replay;
    foliot_verdict verdict;
    alarm(120);
    const foliot_simulation_kind *kinds[] = {&still, &standing, &jumping};
    for (int i = 0; i < 3; i++) {
        demand(foliot_replay_open_bytes(memory.bytes, memory.length, kinds[i], &replay, NULL));
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_MISCOUNTED);
        foliot_replay_close(replay);
    }
    demand(foliot_replay_open_bytes(memory.bytes, memory.length, &standing, &replay, NULL));
    assert_int_equal(foliot_replay_seek(replay, 160), FOLIOT_STATUS_MISCOUNTED);
    foliot_replay_close(replay);
    alarm(0);
    recording_memory_free(&memory);
}

TEST(a_step_that_counts_wrongly_has_a_status)
{
    foliot_simulation_kind kind = *tally_kind(true);
    foliot_command command = foliot_command_default(FOLIOT_COMMAND_var);
    command.fields = FOLIOT_COMMAND_HAS(var, key) | FOLIOT_COMMAND_HAS(var, integer);
    command.as.var.key = "x";
    command.sequence = 1;
    const foliot_tick_inputs tick = {.commands = &command, .command_count = 1};
    foliot_simulation simulation;
    demand(foliot_simulation_create(&kind, "", 0, &simulation));
    demand(foliot_simulation_step(&simulation, NULL, 0));
    demand(foliot_simulation_step_tick(&simulation, &tick));
    kind.tick = tick_that_is_0;
    assert_int_equal(foliot_simulation_step(&simulation, NULL, 0), FOLIOT_STATUS_MISCOUNTED);
    assert_int_equal(foliot_simulation_step_tick(&simulation, &tick), FOLIOT_STATUS_MISCOUNTED);
    foliot_simulation_destroy(&simulation);
}
