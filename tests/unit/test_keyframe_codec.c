// SPDX-License-Identifier: MIT
// test_keyframe_codec.c: compressed keyframes are read back to the byte, and hostile ones write
// nowhere but into the memory that was meant for them. Method: frames that lie about their size,
// are cut, are several, or expand to more than a state can have.
#include "recording_fixture.h"
#include "check.h"

#include "recording/block_reader.h"
#include "recording/keyframe_codec.h"

#include <stdlib.h>
#include <string.h>

#define STATE_BYTES 5000
#define GUARD 0xa5

static void fill(uint8_t *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bytes[i] = (uint8_t)(i / 40 + i % 7);
}

// The frame of a state of STATE_BYTES; freed by the caller.
static uint8_t *pack(size_t *length)
{
    uint8_t state[STATE_BYTES];
    foliot__keyframe_encoder encoder = {0};
    fill(state, sizeof state);
    *length = foliot__keyframe_compress(&encoder, state, sizeof state);
    assert_in_range(*length, 1, STATE_BYTES / 2);
    uint8_t *frame = malloc(2 * *length + 64);
    assert_non_null(frame);
    memcpy(frame, encoder.packed, *length);
    foliot__keyframe_encoder_free(&encoder);
    return frame;
}

// Into room for `count` bytes and no more.
static foliot_status unpack(const uint8_t *frame, size_t length, size_t count)
{
    uint8_t *out = malloc(count + 64);
    assert_non_null(out);
    memset(out, GUARD, count + 64);
    foliot_status status = foliot__keyframe_decompress(frame, length, out, count);
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(out[count + i], GUARD);
    if (status == FOLIOT_STATUS_OK) {
        uint8_t state[STATE_BYTES];
        fill(state, sizeof state);
        assert_int_equal(count, STATE_BYTES);
        assert_memory_equal(out, state, STATE_BYTES);
    }
    free(out);
    return status;
}

TEST(states_come_back_to_the_byte)
{
    size_t length;
    uint8_t *frame = pack(&length);
    assert_int_equal(unpack(frame, length, STATE_BYTES), FOLIOT_STATUS_OK);
    free(frame);
}

TEST(what_does_not_shrink_is_left_alone)
{
    uint8_t noise[512];
    foliot__rng rng = foliot__rng_seeded(3);
    foliot__keyframe_encoder encoder = {0};
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)foliot__rng_u64(&rng);
    assert_int_equal(foliot__keyframe_compress(&encoder, noise, sizeof noise), 0);
    assert_int_equal(foliot__keyframe_compress(&encoder, noise, 1), 0);
    foliot__keyframe_encoder_free(&encoder);
}

TEST(frames_that_lie_are_corrupt)
{
    size_t length;
    uint8_t *frame = pack(&length);
    assert_int_equal(unpack(frame, length, STATE_BYTES - 1), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(unpack(frame, length, STATE_BYTES + 1), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(unpack(frame, length, 1), FOLIOT_STATUS_CORRUPT);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_equal(unpack(frame, cut, STATE_BYTES), FOLIOT_STATUS_CORRUPT);
    frame[length] = 0;
    assert_int_equal(unpack(frame, length + 1, STATE_BYTES), FOLIOT_STATUS_CORRUPT);
    memcpy(frame + length, frame, length); // a second frame
    assert_int_equal(unpack(frame, 2 * length, STATE_BYTES), FOLIOT_STATUS_CORRUPT);
    assert_int_equal(unpack(frame, 2 * length, 2 * STATE_BYTES), FOLIOT_STATUS_CORRUPT);
    static const uint8_t skippable[] = {0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0};
    memmove(frame + sizeof skippable, frame, length);
    memcpy(frame, skippable, sizeof skippable);
    assert_int_equal(unpack(frame, length + sizeof skippable, STATE_BYTES), FOLIOT_STATUS_CORRUPT);
    free(frame);
}

TEST(flipped_bits_write_nowhere_else)
{
    size_t length;
    uint8_t *frame = pack(&length);
    uint8_t out[STATE_BYTES + 64];
    for (size_t bit = 0; bit < 8 * length; bit++) {
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
        memset(out, GUARD, sizeof out);
        foliot__keyframe_decompress(frame, length, out, STATE_BYTES);
        for (size_t i = STATE_BYTES; i < sizeof out; i++)
            assert_int_equal(out[i], GUARD);
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(frame);
}

// A size that no state of the recording has is refused before any memory is asked for.
TEST(a_bomb_takes_no_memory)
{
    size_t length;
    foliot__recording_content content = {.keyframe.packed = true};
    content.keyframe.compressed.bytes = pack(&length);
    content.keyframe.compressed.length = length;
    const uint64_t sizes[] = {0, STATE_BYTES, STATE_BYTES + 1, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        content.keyframe.size = sizes[i];
        assert_int_equal(foliot__recording_content_unpack(&content, STATE_BYTES - 1),
                         FOLIOT_STATUS_CORRUPT);
        assert_null(content.keyframe.state.bytes);
    }
    content.keyframe.size = STATE_BYTES;
    assert_int_equal(foliot__recording_content_unpack(&content, STATE_BYTES), FOLIOT_STATUS_OK);
    assert_int_equal(content.keyframe.state.length, STATE_BYTES);
    foliot__recording_content_free(&content);
}

// The most that a state may have is what its world takes in memory.
TEST(no_state_is_larger_than_its_world)
{
    for (uint32_t bodies = 1; bodies <= 256; bodies *= 4) {
        recording_fixture fixture;
        size_t length = 0;
        recording_fixture_init(&fixture, bodies, 8, FOLIOT_INTEGRATOR_REVERSIBLE_LEAPFROG, 7);
        foliot_world *world = recording_fixture_world(&fixture);
        foliot_world_config config = foliot_world_config_default(&fixture.scene);
        foliot_status status = foliot_world_capture(world, NULL, 0, &length);
        assert_true(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_FULL);
        assert_in_range(length, 1, foliot_world_config_get_bytes(&config));
        foliot_world_destroy(world);
        recording_fixture_free(&fixture);
    }
}

static void check_verifies(const recording_memory *memory)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    assert_int_equal(
        foliot_replay_open_bytes(memory->bytes, memory->length, &foliot_world_kind, &replay, NULL),
        FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    check_eq(verdict.ticks, 100);
    foliot_replay_close(replay);
}

TEST(both_encodings_replay_alike)
{
    recording_fixture fixture;
    recording_memory memory = {0};
    foliot_recording_config config = recording_fixture_config(10, 20);
    recording_fixture_init(&fixture, 64, 3, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    recording_fixture_record(&fixture, &config, 100, &memory, NULL);
    check_verifies(&memory);
    size_t packed = memory.length;
    recording_memory_unpack(&memory);
    check_verifies(&memory);
    check_lt(packed, memory.length / 2);
    recording_memory_free(&memory);
    recording_fixture_free(&fixture);
}
