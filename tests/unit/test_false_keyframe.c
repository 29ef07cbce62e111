// SPDX-License-Identifier: MIT
// Goal: a keyframe whose bytes do not give its digest is found by whatever reads recordings, and
// nothing goes on from it. Its checksum says nothing: who changes the bytes mends it. Such files
// were a match to verify, and a body moved by 10 m in them was where seeking, playing and resuming
// began. Method: in recordings of a world and of another simulation one keyframe after the other is
// changed and its checksum mended.
#include "../support/chain.h"
#include "../support/check.h"
#include "../support/recording_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "sim/world/state_io.h"
#include "recording/format.h"
#include "status.h"
#include "world_simulation.h"

#define TICKS 200
#define KEYFRAME_TICKS 40
#define KEYFRAMES (TICKS / KEYFRAME_TICKS + 1)

// A file and where its keyframes are.
typedef struct recorded {
    recording_memory memory;
    size_t block[16], state[16]; // offsets of the block, of the bytes of its keyframe
    uint64_t tick[16], number[16];
    uint32_t keyframes;
} recorded;

// The keyframe's bytes behind `[2, tick, digest, 0, bytes]`; 0 if the block has none.
static size_t state_at(const uint8_t *payload, size_t at)
{
    static const uint8_t widths[] = {1, 2, 4, 8};
    const uint8_t *p = payload;
    if (p[0] != 0x95 || p[1] != FOLIOT__RECORDING_KEYFRAME)
        return 0;
    p += 2;
    p += *p < 0x80 ? 1 : 1 + widths[*p - 0xcc]; // tick
    check_eq(p[0], 0xc4);
    check_eq(p[1], 16);
    p += 18; // digest
    assert_int_equal(*p++, FOLIOT__RECORDING_RAW);
    return at + (size_t)(p - payload) + 1 + widths[*p - 0xc4];
}

// Behind it the keyframes' bytes lie open.
static void find_keyframes(recorded *t)
{
    foliot__recording_block block;
    recording_memory_unpack(&t->memory);
    t->keyframes = 0;
    for (size_t at = FOLIOT__RECORDING_START_BYTES; at < t->memory.length;
         at += FOLIOT__RECORDING_BLOCK_BYTES + block.length) {
        assert_true(foliot__recording_block_read(t->memory.bytes + at, &block));
        size_t payload = at + FOLIOT__RECORDING_BLOCK_BYTES,
               state = state_at(t->memory.bytes + payload, payload);
        if (!state)
            continue;
        t->block[t->keyframes] = at;
        t->state[t->keyframes] = state;
        t->number[t->keyframes] = block.number;
        t->tick[t->keyframes++] = block.tick;
    }
}

static void mend(recorded *t, uint32_t k)
{
    uint8_t *at = t->memory.bytes + t->block[k];
    foliot__recording_block block;
    assert_true(foliot__recording_block_read(at, &block));
    block.payload_crc = foliot__crc32c(0, at + FOLIOT__RECORDING_BLOCK_BYTES, block.length);
    foliot__recording_block_write(at, &block);
}

static void put_f64(uint8_t *bytes, double value)
{
    foliot__writer w = foliot__writer_of(bytes, 8);
    foliot__write_f64(&w, value);
}

static double take_f64(const uint8_t *bytes)
{
    foliot__reader r = foliot__reader_of(bytes, 8);
    return foliot__read_f64(&r);
}

// position.x of body 3 in keyframe k.
static void move_body(recorded *t, uint32_t k, double by)
{
    uint8_t *at = t->memory.bytes + t->state[k] + 64 + 3 * 8;
    put_f64(at, take_f64(at) + by);
    mend(t, k);
}

static foliot_digest digests[TICKS + 1];

static recorded record(void)
{
    recorded t = {0};
    recording_fixture fixture;
    foliot_recording_config config = recording_fixture_config(10, KEYFRAME_TICKS);
    recording_fixture_init(&fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    recording_fixture_record(&fixture, &config, TICKS, &t.memory, digests);
    recording_fixture_free(&fixture);
    find_keyframes(&t);
    assert_int_equal(t.keyframes, KEYFRAMES);
    return t;
}

static foliot_replay *open_recording(const recorded *t)
{
    foliot_replay *replay;
    assert_int_equal(foliot_replay_open_bytes(t->memory.bytes, t->memory.length, &foliot_world_kind,
                                              &replay, NULL),
                     FOLIOT_STATUS_OK);
    return replay;
}

static void names_it(const foliot_damage *damage, const recorded *t, uint32_t k)
{
    char text[64];
    snprintf(text, sizeof text, "keyframe of tick %u ", (unsigned)t->tick[k]);
    assert_int_equal(damage->status, FOLIOT_STATUS_CORRUPT);
    assert_int_equal(damage->block, t->number[k]);
    assert_int_equal(damage->offset, t->block[k]);
    assert_non_null(strstr(damage->text, text));
}

TEST(verifying_finds_it_and_says_what_it_is)
{
    recorded t = record();
    for (uint32_t k = 0; k < t.keyframes; k++) {
        double was = take_f64(t.memory.bytes + t.state[k] + 64 + 3 * 8);
        move_body(&t, k, 10);
        foliot_replay *replay = open_recording(&t);
        foliot_verdict verdict;
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.status, FOLIOT_STATUS_CORRUPT);
        assert_int_equal(verdict.ticks, t.tick[k]);
        assert_int_equal(verdict.cut_at, t.block[k]);
        names_it(&verdict.damage, &t, k);
        assert_non_null(strstr(verdict.damage.text, "body 3 position.x: the keyframe has "));
        assert_true(verdict.divergence.field_known);
        assert_int_equal(verdict.divergence.body, 3);
        check_bits(foliot__f64_of(verdict.divergence.actual), was);
        foliot_replay_close(replay);
        move_body(&t, k, -10);
        put_f64(t.memory.bytes + t.state[k] + 64 + 3 * 8, was);
        mend(&t, k);
    }
    foliot_replay *replay = open_recording(&t); // and as it was it is a match
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    foliot_replay_close(replay);
    recording_memory_free(&t.memory);
}

static void at_tick(foliot_replay *replay, uint64_t tick)
{
    assert_int_equal(foliot_replay_get_tick(replay), tick);
    assert_true(foliot_digest_equal(foliot_world_get_digest(foliot_replay_get_world(replay)),
                                    digests[tick]));
}

TEST(seeking_and_stepping_refuse_it_and_stay)
{
    recorded t = record();
    move_body(&t, 2, 10); // of tick 80
    foliot_replay *replay = open_recording(&t);
    assert_int_equal(foliot_replay_seek(replay, 75), FOLIOT_STATUS_OK);
    for (uint64_t tick = 81; tick < 120; tick += 13) {
        assert_int_equal(foliot_replay_seek(replay, tick), FOLIOT_STATUS_CORRUPT);
        at_tick(replay, 75);
    }
    names_it(foliot_replay_get_damage(replay), &t, 2);
    while (foliot_replay_get_tick(replay) < 80)
        assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_step(replay), FOLIOT_STATUS_CORRUPT);
    at_tick(replay, 80); // replayed up to there, not restored
    assert_int_equal(foliot_replay_step_back(replay), FOLIOT_STATUS_OK);
    at_tick(replay, 79);
    for (uint64_t tick = 0; tick < 80; tick += 11) {
        assert_int_equal(foliot_replay_seek(replay, tick), FOLIOT_STATUS_OK);
        at_tick(replay, tick);
    }
    assert_int_equal(foliot_replay_scan(replay), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(foliot_replay_get_summary(replay)->last_tick, 80); // whole up to here
    foliot_replay_close(replay);
    recording_memory_free(&t.memory);
}

// A recording that begins later has nothing but its first keyframe to begin from.
TEST(a_later_beginning_is_not_opened)
{
    recording_fixture fixture;
    recorded t = {0};
    foliot_input inputs[FOLIOT_PLAYERS_MAX];
    foliot_recording *recording;
    foliot_recording_config config = recording_fixture_config(10, KEYFRAME_TICKS);
    foliot_replay *replay = NULL;
    foliot_damage damage;
    recording_fixture_init(&fixture, 8, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    foliot_world *world = recording_fixture_world(&fixture);
    foliot_recording_sink sink = recording_memory_sink(&t.memory);
    for (uint64_t tick = 0; tick < 90; tick++) {
        uint32_t count = recording_fixture_inputs(&fixture, tick, true, inputs);
        if (tick == 30)
            assert_int_equal(foliot_recording_open_sink(&sink,
                                                        WORLD_SIMULATION(world, &fixture.scene),
                                                        &config, &recording),
                             FOLIOT_STATUS_OK);
        assert_int_equal(foliot_world_step(world, inputs, count, NULL), FOLIOT_STATUS_OK);
        if (tick >= 30)
            assert_int_equal(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                                     TICK_INPUTS(inputs, count), NULL, 0),
                             FOLIOT_STATUS_OK);
    }
    assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
    find_keyframes(&t);
    move_body(&t, 0, 10);
    assert_int_equal(foliot_replay_open_bytes(t.memory.bytes, t.memory.length, &foliot_world_kind,
                                              &replay, &damage),
                     FOLIOT_STATUS_CORRUPT);
    names_it(&damage, &t, 0);
    recording_memory_free(&t.memory);
}

static size_t whole_file(const char *file, uint8_t *bytes, size_t capacity)
{
    FILE *in = fopen(file, "rb");
    assert_non_null(in);
    size_t count = fread(bytes, 1, capacity, in);
    fclose(in);
    return count;
}

// Cut right behind the false keyframe, behind some ticks after it, and behind a later true
// keyframe.
TEST(a_match_does_not_go_on_from_it)
{
    char file[] = P_tmpdir "/foliot-test-XXXXXX";
    foliot_error error = {.text = ""};
    int descriptor = mkstemp(file);
    check_ge(descriptor, 0);
    close(descriptor);
    recorded t = record();
    move_body(&t, 3, 10);
    foliot__recording_block block;
    assert_true(foliot__recording_block_read(t.memory.bytes + t.block[3], &block));
    size_t behind = t.block[3] + FOLIOT__RECORDING_BLOCK_BYTES + block.length;
    const size_t cuts[] = {behind, behind + (t.block[4] - behind) / 2,
                           t.block[4] + (behind - t.block[3]), t.memory.length};
    uint8_t *after = malloc(t.memory.length + 1);
    foliot_recording_config config = recording_fixture_config(10, KEYFRAME_TICKS);
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        foliot_recording *recording = NULL;
        foliot_scene *scene;
        foliot_world *world;
        FILE *out = fopen(file, "wb");
        assert_int_equal(fwrite(t.memory.bytes, 1, cuts[i], out), cuts[i]);
        fclose(out);
        assert_int_equal(resume_world(file, &config, &recording, &scene, &world, &error),
                         FOLIOT_STATUS_CORRUPT);
        assert_non_null(strstr(error.text, "keyframe of tick 120 "));
        assert_int_equal(whole_file(file, after, t.memory.length + 1), cuts[i]); // left as it is
        assert_memory_equal(after, t.memory.bytes, cuts[i]);
    }
    free(after);
    unlink(file);
    recording_memory_free(&t.memory);
}

TEST(a_false_digest_is_as_bad_as_false_bytes)
{
    recorded t = record();
    t.memory.bytes[t.state[2] - 8] ^=
        1; // before the encoding and the length of the bytes: in the digest
    mend(&t, 2);
    foliot_replay *replay = open_recording(&t);
    foliot_verdict verdict;
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_CORRUPT);
    names_it(&verdict.damage, &t, 2);
    foliot_replay_close(replay);
    recording_memory_free(&t.memory);
}

// A chain with its own digest, and without.
TEST(another_simulations_keyframes_are_looked_at_too)
{
    for (int plain = 0; plain < 2; plain++) {
        const foliot_simulation_kind *kind =
            plain ? chain_kind_plain() : chain_kind(CHAIN_NO_FAULT);
        recorded t = {0};
        foliot_simulation simulation;
        foliot_recording *recording;
        foliot_recording_sink sink = recording_memory_sink(&t.memory);
        foliot_recording_config config = recording_fixture_config(10, KEYFRAME_TICKS);
        assert_int_equal(foliot_simulation_create(kind, "s", 1, &simulation), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_recording_open_sink(&sink, &simulation, &config, &recording),
                         FOLIOT_STATUS_OK);
        for (int tick = 0; tick < TICKS; tick++) {
            assert_int_equal(foliot_simulation_step(&simulation, NULL, 0), FOLIOT_STATUS_OK);
            assert_int_equal(foliot_recording_append(recording, &simulation, NULL, NULL, 0),
                             FOLIOT_STATUS_OK);
        }
        assert_int_equal(foliot_recording_close(recording, NULL), FOLIOT_STATUS_OK);
        foliot_simulation_destroy(&simulation);
        find_keyframes(&t);
        t.memory.bytes[t.state[2] + 16] ^= 1; // where the first link is
        mend(&t, 2);
        foliot_replay *replay;
        foliot_verdict verdict;
        assert_int_equal(
            foliot_replay_open_bytes(t.memory.bytes, t.memory.length, kind, &replay, NULL),
            FOLIOT_STATUS_OK);
        assert_int_equal(foliot_replay_seek(replay, 95), FOLIOT_STATUS_CORRUPT);
        assert_int_equal(foliot_replay_seek(replay, 79), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.status, FOLIOT_STATUS_CORRUPT);
        assert_int_equal(verdict.ticks, 80);
        names_it(&verdict.damage, &t, 2);
        assert_non_null(strstr(verdict.damage.text, "the keyframe has "));
        foliot_replay_close(replay);
        recording_memory_free(&t.memory);
    }
}

// Digests of captured bytes are those of the world that was captured, and of the one restored from
// them.
TEST(captured_bytes_have_the_worlds_digest)
{
    recording_fixture fixture;
    foliot_input inputs[FOLIOT_PLAYERS_MAX];
    const foliot_integrator integrators[] = {FOLIOT_INTEGRATOR_VELOCITY_VERLET,
                                             FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG};
    for (size_t i = 0; i < sizeof integrators / sizeof integrators[0]; i++) {
        recording_fixture_init(&fixture, 8, 3, integrators[i], 11 + i);
        foliot_world *world = recording_fixture_world(&fixture);
        for (uint64_t tick = 0; tick < 60; tick++) {
            size_t length;
            foliot_digest digest;
            demand(foliot_world_capture(world, NULL, 0, &length));
            uint8_t *bytes = malloc(length);
            assert_int_equal(foliot_world_capture(world, bytes, length, &length), FOLIOT_STATUS_OK);
            assert_int_equal(foliot__captured_digest(world, bytes, length, &digest),
                             FOLIOT_STATUS_OK);
            assert_true(foliot_digest_equal(digest, foliot_world_get_digest(world)));
            assert_int_equal(foliot__captured_digest(world, bytes, length - 1, &digest),
                             FOLIOT_STATUS_TRUNCATED);
            free(bytes);
            assert_int_equal(
                foliot_world_step(world, inputs,
                                  recording_fixture_inputs(&fixture, tick, true, inputs), NULL),
                FOLIOT_STATUS_OK);
        }
        foliot_world_destroy(world);
        recording_fixture_free(&fixture);
    }
}
