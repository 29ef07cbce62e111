// SPDX-License-Identifier: MIT
// test_recording_codec.c: headers and keyframes of recordings, as bytes.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/pack.h"
#include "recording/block_reader.h"
#include "recording/encoder.h"
#include "recording/format.h"
#include "recording/keyframe_codec.h"
#include "recording_fixture.h"

// -- header decoder: what the header of a recording says about its features. A reader refuses a
// format or a feature that it does not know, names it and the program that wrote the file, and
// reads nothing else of the header then. Method: headers are packed by hand, with right checksums,
// in front of the other blocks of a true recording.

static recording_memory sound_memory;
static foliot_verdict last_verdict; // of the last one that was opened

static int record(void **state)
{
    (void)state;
    recording_fixture fixture;
    foliot_recording_config config = recording_fixture_config(10, 20);
    sound_memory = (recording_memory){0};
    recording_fixture_init(&fixture, 3, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    recording_fixture_record(&fixture, &config, 30, &sound_memory, NULL);
    recording_fixture_free(&fixture);
    return 0;
}

static int end(void **state)
{
    (void)state;
    recording_memory_free(&sound_memory);
    return 0;
}

// A header as it is packed. `features`: names between spaces; `keys`: pairs behind the version.
typedef struct header {
    uint32_t format;
    const char *features;
    uint32_t keys;
    foliot__buffer packed;
    bool version_first, version_last;
} header;

static void pack_features(foliot__buffer *out, const char *features)
{
    char names[100], *name, *rest = names;
    uint32_t count = 0;
    snprintf(names, sizeof names, "%s", features);
    for (const char *at = features; *at; at++)
        count += *at != ' ' && (at == features || at[-1] == ' ');
    foliot__pack_str(out, "features");
    foliot__pack_array(out, count);
    while ((name = strtok_r(rest, " ", &rest)))
        foliot__pack_str(out, name);
}

static void pack_version(foliot__buffer *out)
{
    foliot__pack_str(out, "version");
    foliot__pack_str(out, "9.8.7");
}

static void pack_rules(header *h)
{
    foliot__pack_str(&h->packed, "rules_name");
    foliot__pack_str(&h->packed, "goals");
    foliot__pack_str(&h->packed, "rules_version");
    foliot__pack_uint(&h->packed, 3);
    foliot__pack_str(&h->packed, "rules_text");
    foliot__pack_bin(&h->packed, "x = 1", 5);
    foliot__pack_str(&h->packed, "rules_build");
    foliot__pack_str(&h->packed, "Lua");
    h->keys += 4;
}

// The keys of the true header, but for the features and the version.
static void pack_true_keys(header *h)
{
    foliot__recording_block block;
    const uint8_t *at = sound_memory.bytes + FOLIOT__RECORDING_START_BYTES;
    assert_true(foliot__recording_block_read(at, &block));
    foliot__reader r = foliot__reader_of(at + FOLIOT__RECORDING_BLOCK_BYTES, block.length);
    check_eq(foliot__unpack_array(&r), 2);
    check_eq(foliot__unpack_uint(&r), FOLIOT__RECORDING_HEADER);
    uint32_t pairs = foliot__unpack_map(&r);
    for (int i = 0; i < 4; i++)
        foliot__unpack_skip(&r);
    foliot__pack_raw(&h->packed, r.bytes + r.at, r.length - r.at);
    h->keys += pairs - 2;
}

// Opens the recording with this header.
static foliot_status open_with(header *h, foliot_damage *damage, uint32_t *features)
{
    foliot__buffer payload = {0}, file = {0};
    foliot__recording_block block;
    uint8_t start[FOLIOT__RECORDING_START_BYTES], head[FOLIOT__RECORDING_BLOCK_BYTES];
    foliot__pack_array(&payload, 2);
    foliot__pack_uint(&payload, FOLIOT__RECORDING_HEADER);
    foliot__pack_map(&payload, 2 + h->keys);
    if (h->version_first)
        pack_version(&payload);
    pack_features(&payload, h->features);
    if (!h->version_first && !h->version_last)
        pack_version(&payload);
    foliot__pack_raw(&payload, h->packed.bytes, h->packed.length);
    if (h->version_last)
        pack_version(&payload);
    foliot__recording_start_write(start);
    start[8] = (uint8_t)h->format;
    uint32_t crc = foliot__crc32c(0, start, 12);
    for (int i = 0; i < 4; i++)
        start[12 + i] = (uint8_t)(crc >> (8 * i));
    foliot__recording_block_frame(head, 0, 0, payload.bytes, payload.length);
    foliot__pack_raw(&file, start, sizeof start);
    foliot__pack_raw(&file, head, sizeof head);
    foliot__pack_raw(&file, payload.bytes, payload.length);
    const uint8_t *at = sound_memory.bytes + FOLIOT__RECORDING_START_BYTES;
    assert_true(foliot__recording_block_read(at, &block));
    at += FOLIOT__RECORDING_BLOCK_BYTES + block.length;
    foliot__pack_raw(&file, at, (size_t)(sound_memory.bytes + sound_memory.length - at));
    foliot_replay *replay = NULL;
    foliot_status status = foliot_replay_open_bytes(file.bytes, file.length, NULL, &replay, damage);
    if (status == FOLIOT_STATUS_OK) {
        const foliot_replay_summary *about = foliot_replay_get_summary(replay);
        *features = about->features;
        check_eq(about->format, FOLIOT_RECORDING_FORMAT);
        assert_string_equal(about->version, "9.8.7");
        assert_int_equal(foliot_replay_verify(replay, NULL, &last_verdict), FOLIOT_STATUS_OK);
        foliot_replay_close(replay);
    }
    foliot__buffer_free(&payload);
    foliot__buffer_free(&file);
    foliot__buffer_free(&h->packed);
    return status;
}

TEST_BETWEEN(known_features_are_read, record, end)
{
    static const struct {
        const char *features;
        uint32_t bits;
    } cases[] = {{"", 0},
                 {"rules", FOLIOT_RECORDING_RULES},
                 {"rules history", FOLIOT_RECORDING_RULES | FOLIOT_RECORDING_HISTORY},
                 {"history rules", FOLIOT_RECORDING_RULES | FOLIOT_RECORDING_HISTORY}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        header h = {.format = 1, .features = cases[i].features};
        foliot_damage damage;
        uint32_t bits;
        pack_true_keys(&h);
        if (cases[i].bits & FOLIOT_RECORDING_RULES)
            pack_rules(&h);
        assert_int_equal(open_with(&h, &damage, &bits), FOLIOT_STATUS_OK);
        check_eq(bits, cases[i].bits);
    }
}

// Behind the first two keys lies what only the later program understands.
TEST_BETWEEN(an_unknown_feature_is_named_with_the_program_that_wrote_it, record, end)
{
    foliot_damage damage;
    uint32_t bits;
    for (int later = 0; later < 2; later++) {
        header h = {
            .format = 1 + (uint32_t)later, .features = later ? "" : "rules hulls", .keys = 1};
        foliot__pack_str(&h.packed, "tick");
        foliot__pack_str(&h.packed, "half past nine");
        check_eq(open_with(&h, &damage, &bits), FOLIOT_STATUS_NEWER);
        check_eq(damage.status, FOLIOT_STATUS_NEWER);
        assert_non_null(strstr(damage.text, later ? "format 2" : "'hulls'"));
        assert_non_null(strstr(damage.text, "foliot 9.8.7"));
    }
    // A format whose header is not even that is refused by its number.
    header h = {.format = 9, .features = "", .keys = 1};
    check_eq(open_with(&h, &damage, &bits), FOLIOT_STATUS_NEWER);
    assert_non_null(strstr(damage.text, "format 9"));
    header first = {.format = 9, .features = "", .version_first = true};
    check_eq(open_with(&first, &damage, &bits), FOLIOT_STATUS_NEWER);
    assert_non_null(strstr(damage.text, "format 9"));
}

TEST_BETWEEN(features_that_do_not_fit_the_keys_are_damage, record, end)
{
    static const struct {
        const char *features;
        bool world, rules, first, last;
    } cases[] = {
        {"history", true, false, false, false}, // of no rules
        {"history", true, true, false, false},  // the same, with their keys
        {"rules", true, false, false, false},   // their keys are missing
        {"", true, true, false, false},         // keys that nothing calls for
        {"simulation", true, false, false, false},
        {"simulation rules history", false, true, false, false},
        {"rules rules", true, true, false, false},
        {"", false, false, false, false}, // no scene
        {"", true, false, true, false},   // the version before the features
        {"", true, false, false, true},   // the version at the end
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        header h = {.format = 1,
                    .features = cases[i].features,
                    .version_first = cases[i].first,
                    .version_last = cases[i].last};
        foliot_damage damage = {0};
        uint32_t bits;
        if (cases[i].world)
            pack_true_keys(&h);
        if (cases[i].rules)
            pack_rules(&h);
        if (open_with(&h, &damage, &bits) != FOLIOT_STATUS_CORRUPT)
            fail_msg("case %zu: %s", i, damage.text);
    }
}

// A name is printed: control characters are not, and a long one is cut.
TEST_BETWEEN(an_unknown_feature_may_have_any_name, record, end)
{
    header h = {.format = 1, .features = "a\033[2Jb-long-name-of-more-than-thirty-one-characters"};
    foliot_damage damage;
    uint32_t bits;
    check_eq(open_with(&h, &damage, &bits), FOLIOT_STATUS_NEWER);
    assert_null(strchr(damage.text, '\033'));
    assert_non_null(strstr(damage.text, "'a?[2Jb-long-name-of-more-than-t'"));
}

// Behind the first keyframe, with its digest.
static void add_state(void)
{
    foliot__recording_block block;
    foliot__keyframe_encoder encoder = {0};
    foliot__buffer file = {0}, payload = {0};
    uint8_t *at = sound_memory.bytes + FOLIOT__RECORDING_START_BYTES,
            head[FOLIOT__RECORDING_BLOCK_BYTES];
    assert_true(foliot__recording_block_read(at, &block));
    at += FOLIOT__RECORDING_BLOCK_BYTES + block.length;
    assert_true(foliot__recording_block_read(at, &block));
    const uint8_t *keyframe = at + FOLIOT__RECORDING_BLOCK_BYTES, *digest = keyframe + 5;
    check_eq(keyframe[1], FOLIOT__RECORDING_KEYFRAME);
    check_eq(keyframe[4], 16); // bytes of the digest
    foliot__pack_raw(&payload, keyframe, block.length);
    foliot__recording_encode_rules(&payload, 0, foliot__recording_digest_of(digest), &encoder,
                                   (const uint8_t *)"x", 1);
    foliot__recording_block_frame(head, 1, 0, payload.bytes, payload.length);
    foliot__pack_raw(&file, sound_memory.bytes, (size_t)(at - sound_memory.bytes));
    foliot__pack_raw(&file, head, sizeof head);
    foliot__pack_raw(&file, payload.bytes, payload.length);
    keyframe += block.length;
    foliot__pack_raw(&file, keyframe,
                     (size_t)(sound_memory.bytes + sound_memory.length - keyframe));
    recording_memory_free(&sound_memory);
    sound_memory = (recording_memory){.bytes = file.bytes, .length = file.length};
    foliot__buffer_free(&payload);
    foliot__keyframe_encoder_free(&encoder);
}

TEST_BETWEEN(a_state_without_the_feature_is_damage, record, end)
{
    add_state();
    for (int announced = 0; announced < 2; announced++) {
        header h = {.format = 1, .features = announced ? "rules" : ""};
        foliot_damage damage;
        uint32_t bits;
        pack_true_keys(&h);
        if (announced)
            pack_rules(&h);
        assert_int_equal(open_with(&h, &damage, &bits), FOLIOT_STATUS_OK);
        check_eq(last_verdict.ticks,
                 announced ? 30 : 0); // then comes the closing block: all has moved
        check_eq(last_verdict.damage.block == 1, !announced);
    }
}

// -- keyframe codec: compressed keyframes are read back to the byte, and hostile ones write
// nowhere but into the memory that was meant for them. Method: frames that lie about their size,
// are cut, are several, or expand to more than a state can have.

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
