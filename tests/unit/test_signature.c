// SPDX-License-Identifier: MIT
// test_signature.c: signed recordings. Whatever is changed, put in or cut off by an attacker that
// recomputes all checksums is found, without the key; and what a crash, a resumption and a
// compaction leave is signed as far as it can be. Method: recordings of a small world, and an
// attacker who knows the format.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "recording/recording.h"
#include "recording/encoder.h"
#include "recording/format.h"
#include "recording_fixture.h"
#include "status.h"

#define BLOCK_TICKS 10
#define KEYFRAME_TICKS 50
#define FILE_NAME "signature.foliot"
#define KEY_NAME "signature.key"

static foliot_signer *signer_of(uint8_t first)
{
    uint8_t seed[FOLIOT_KEY_BYTES] = {first, 2, 3};
    foliot_signer *signer;
    demand(foliot_signer_create(seed, &signer));
    return signer;
}

typedef enum end { ENDS, CRASHES } end;

static void play(foliot_recording *recording, recording_fixture *fixture, foliot_world *world,
                 uint64_t ticks, end how)
{
    for (uint64_t i = 0; i < ticks; i++) {
        foliot_input inputs[FOLIOT_PLAYERS_MAX];
        uint32_t count =
            recording_fixture_inputs(fixture, foliot_world_get_tick(world), false, inputs);
        demand(foliot_world_step(world, inputs, count, NULL));
        demand(foliot_recording_append(recording, WORLD_SIMULATION(world, NULL),
                                       TICK_INPUTS(inputs, count), NULL, 0));
        demand(foliot_recording_drain(recording));
    }
    if (how == ENDS)
        demand(foliot_recording_close(recording, NULL));
    else
        foliot_recording_abandon(recording);
}

static foliot_recording_config config_of(const foliot_signer *signer)
{
    foliot_recording_config config = recording_fixture_config(BLOCK_TICKS, KEYFRAME_TICKS);
    config.threaded = false;
    config.signer = signer;
    return config;
}

// FILE_NAME, of `ticks`.
static void record(const foliot_signer *signer, uint64_t ticks, uint32_t compact_ticks, end how)
{
    recording_fixture fixture;
    foliot_recording *recording;
    foliot_recording_config config = config_of(signer);
    config.compact_ticks = compact_ticks;
    recording_fixture_init(&fixture, 6, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 7);
    foliot_world *world = recording_fixture_world(&fixture);
    demand(foliot_recording_open(FILE_NAME, WORLD_SIMULATION(world, &fixture.scene), &config,
                                 &recording));
    play(recording, &fixture, world, ticks, how);
    foliot_world_destroy(world);
    recording_fixture_free(&fixture);
}

static void resume(const foliot_signer *signer, uint64_t ticks, end how)
{
    recording_fixture fixture;
    foliot_recording *recording;
    foliot_scene *scene;
    foliot_world *world;
    foliot_recording_config config = config_of(signer);
    foliot_error error = {.text = ""};
    recording_fixture_init(&fixture, 6, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 8);
    demand(resume_world(FILE_NAME, &config, &recording, &scene, &world, &error));
    play(recording, &fixture, world, ticks, how);
    foliot_world_destroy(world);
    foliot_scene_destroy(scene);
    recording_fixture_free(&fixture);
}

static foliot_signature_summary seen(foliot_status expected)
{
    foliot_signature_summary summary;
    foliot_damage damage;
    foliot_status status = foliot_signature_check(FILE_NAME, &summary, &damage);
    if (status != expected)
        print_message("%s: %s\n", foliot_status_get_text(status), damage.text);
    assert_int_equal(status, expected);
    return summary;
}

// -- the attacker: the file in memory, block by block

typedef struct forged {
    uint8_t *bytes;
    size_t length;
    size_t blocks[256]; // offsets
    uint32_t count;
} forged;

static forged read_file(void)
{
    forged f = {0};
    char *bytes = foliot__file_slurp(FILE_NAME, 1 << 24, &f.length);
    assert_non_null(bytes);
    f.bytes = (uint8_t *)bytes;
    for (size_t at = FOLIOT__RECORDING_START_BYTES; at < f.length;) {
        foliot__recording_block block;
        assert_true(foliot__recording_block_read(f.bytes + at, &block));
        assert_in_range(f.count, 0, 255);
        f.blocks[f.count++] = at;
        at += FOLIOT__RECORDING_BLOCK_BYTES + block.length;
    }
    return f;
}

static void write_file(const forged *f)
{
    FILE *file = fopen(FILE_NAME, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(f->bytes, 1, f->length, file), f->length);
    assert_int_equal(fclose(file), 0);
}

static foliot__recording_block head_of(const forged *f, uint32_t block)
{
    foliot__recording_block head;
    assert_true(foliot__recording_block_read(f->bytes + f->blocks[block], &head));
    return head;
}

// Checksums of a block whose payload was changed.
static void reframe(forged *f, uint32_t block)
{
    foliot__recording_block head = head_of(f, block);
    uint8_t *at = f->bytes + f->blocks[block];
    foliot__recording_block_frame(at, (uint32_t)head.number, head.tick,
                                  at + FOLIOT__RECORDING_BLOCK_BYTES, head.length);
}

// Type of its first record: a small integer behind an array's head.
static uint8_t type_of(const forged *f, uint32_t block)
{
    return f->bytes[f->blocks[block] + FOLIOT__RECORDING_BLOCK_BYTES + 1];
}

TEST(all_of_it_is_signed)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 230, 0, ENDS);
    foliot_signature_summary s = seen(FOLIOT_STATUS_OK);
    assert_int_equal(s.signatures, 6); // five keyframes, and the end
    assert_true(s.whole && s.one_key);
    assert_int_equal(s.signed_tick, 230);
    assert_int_equal(s.last_tick, 230);
    assert_memory_equal(s.key, foliot_signer_get_key(signer), FOLIOT_KEY_BYTES);
    foliot_replay *replay;
    foliot_verdict verdict;
    demand(foliot_replay_open(FILE_NAME, &foliot_world_kind, &replay, NULL));
    demand(foliot_replay_verify(replay, NULL, &verdict));
    assert_int_equal(verdict.status, FOLIOT_STATUS_OK);
    assert_int_equal(verdict.ticks, 230);
    demand(foliot_replay_seek(replay, 120));
    foliot_replay_close(replay);
    foliot_signer_destroy(signer);
}

TEST(an_unsigned_one_is_not)
{
    record(NULL, 120, 0, ENDS);
    foliot_signature_summary s = seen(FOLIOT_STATUS_NOT_FOUND);
    assert_false(s.whole);
    assert_int_equal(s.signatures, 0);
}

// One byte of each block, with recomputed checksums: the next signature does not fit, or the record
// is damage before that.
TEST(every_changed_block_is_found)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 130, 0, ENDS);
    forged f = read_file();
    for (uint32_t block = 0; block + 1 < f.count; block++) {
        foliot__recording_block head = head_of(&f, block);
        for (uint32_t at = 0; at < head.length; at += 1 + head.length / 7) {
            uint8_t *byte = f.bytes + f.blocks[block] + FOLIOT__RECORDING_BLOCK_BYTES + at;
            *byte ^= 1;
            reframe(&f, block);
            write_file(&f);
            foliot_signature_summary s;
            foliot_status status = foliot_signature_check(FILE_NAME, &s, NULL);
            if (status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_NOT_FOUND) {
                assert_false(s.whole); // damage: what is before it is signed still
                check_le(s.signed_tick, head.tick);
            }
            *byte ^= 1;
            reframe(&f, block);
        }
    }
    write_file(&f);
    assert_true(seen(FOLIOT_STATUS_OK).whole);
    free(f.bytes);
    foliot_signer_destroy(signer);
}

// Inputs taken out: a block of ticks without them, of the same length as before or not.
TEST(inputs_cannot_be_replaced)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 60, 0, ENDS);
    forged f = read_file();
    uint32_t changed = 0;
    for (uint32_t block = 1; block < f.count; block++) {
        foliot__recording_block head = head_of(&f, block);
        uint8_t *payload = f.bytes + f.blocks[block] + FOLIOT__RECORDING_BLOCK_BYTES;
        if (type_of(&f, block) != FOLIOT__RECORDING_INPUTS || head.length < 12)
            continue;
        payload[head.length - 1] ^= 1; // of the last digest
        reframe(&f, block);
        changed++;
        break;
    }
    assert_int_equal(changed, 1);
    write_file(&f);
    seen(FOLIOT_STATUS_CORRUPT);
    free(f.bytes);
    foliot_signer_destroy(signer);
}

// A closing block behind what is left.
static void close_file(forged *f, uint64_t tick)
{
    uint64_t index[16][2];
    uint32_t count = 0;
    foliot__buffer block = {0};
    uint8_t head[FOLIOT__RECORDING_BLOCK_BYTES] = {0};
    for (uint32_t i = 0; i < f->count && f->blocks[i] < f->length; i++)
        if (type_of(f, i) == FOLIOT__RECORDING_KEYFRAME) {
            index[count][0] = head_of(f, i).tick;
            index[count++][1] = f->blocks[i];
        }
    uint32_t blocks = 0;
    while (blocks < f->count && f->blocks[blocks] < f->length)
        blocks++;
    foliot__pack_raw(&block, head, sizeof head);
    foliot__recording_encode_closing(&block, tick, (foliot_digest){1, 2},
                                     (const uint64_t(*)[2])index, count, f->length);
    foliot__recording_block_frame(block.bytes, blocks, tick, block.bytes + sizeof head,
                                  block.length - sizeof head);
    f->bytes = realloc(f->bytes, f->length + block.length);
    memcpy(f->bytes + f->length, block.bytes, block.length);
    f->length += block.length;
    foliot__buffer_free(&block);
}

// The last block of `f` with another payload, and right checksums.
static void replace_last(forged *f, const foliot__buffer *payload)
{
    foliot__recording_block head = head_of(f, f->count - 1);
    size_t at = f->blocks[f->count - 1];
    f->length = at + FOLIOT__RECORDING_BLOCK_BYTES + payload->length;
    f->bytes = realloc(f->bytes, f->length);
    memcpy(f->bytes + at + FOLIOT__RECORDING_BLOCK_BYTES, payload->bytes, payload->length);
    foliot__recording_block_frame(f->bytes + at, (uint32_t)head.number, head.tick, payload->bytes,
                                  payload->length);
}

// The end cut off behind a signature, and a closing block made for what is left.
TEST(a_shorter_one_is_not_whole)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 130, 0, ENDS);
    forged f = read_file();
    uint32_t cut = 0;
    for (uint32_t block = 1; block + 2 < f.count; block++)
        if (type_of(&f, block) == FOLIOT__RECORDING_SIGNATURE)
            cut = block;
    assert_int_equal(head_of(&f, cut).tick, 100);
    f.length = f.blocks[cut + 1];
    write_file(&f);
    foliot_signature_summary s = seen(FOLIOT_STATUS_OK);
    assert_false(s.whole);
    assert_int_equal(s.signed_tick, 100);
    close_file(&f, 100);
    write_file(&f);
    s = seen(FOLIOT_STATUS_OK);
    assert_int_equal(s.signed_tick, s.last_tick);
    assert_false(s.whole); // that signature says that more was to come
    free(f.bytes);
    foliot_signer_destroy(signer);
}

// Bytes appended after the end.
TEST(a_longer_one_is_not_whole)
{
    foliot_signer *signer = signer_of(1), *other = signer_of(9);
    record(signer, 130, 0, ENDS);
    resume(NULL, 40, ENDS);
    foliot_signature_summary s = seen(FOLIOT_STATUS_OK);
    assert_false(s.whole);
    assert_int_equal(s.signed_tick, 130);
    assert_int_equal(s.last_tick, 170);
    resume(other, 40, ENDS);
    s = seen(FOLIOT_STATUS_OK);
    assert_true(s.whole);
    assert_false(s.one_key); // two hands
    foliot_signer_destroy(signer);
    foliot_signer_destroy(other);
}

// Where something unsigned is put into a file whose closing block no signature covers.
enum smuggled {
    NOTE_FIRST,
    NOTE_LAST,
    NOTE_BEHIND,
    MESSAGE_LAST,
    UNKNOWN_LAST,
    CLOSING_VALUE,
    INDEX_VALUE,
    END_VALUE,
    SMUGGLED
};

static void put_smuggled(foliot__buffer *out, enum smuggled what, uint64_t tick)
{
    if (what == MESSAGE_LAST)
        foliot__recording_encode_message(out, tick, 0, true, "buy", 3);
    else if (what == UNKNOWN_LAST)
        foliot__pack_raw(out, "\x92\x7f\x01", 3);
    else
        foliot__recording_encode_note(out, tick, "player", "0 0 somebody");
}

// The closing block as it is, with one record or one value more.
static void closing_payload(foliot__buffer *out, const forged *f, enum smuggled what)
{
    foliot__recording_block head = head_of(f, f->count - 1);
    const uint8_t *bytes = f->bytes + f->blocks[f->count - 1] + FOLIOT__RECORDING_BLOCK_BYTES;
    size_t index = 0, last = head.length - FOLIOT__RECORDING_END_BYTES;
    while (memcmp(bytes + index + 1, "\xc4\x10", 2) != 0) // the digest's head
        index++;
    index += 1 + 2 + 16;
    if (what == NOTE_FIRST)
        put_smuggled(out, what, head.tick);
    foliot__pack_raw(out, bytes, index);
    if (what == CLOSING_VALUE) {
        out->bytes[0]++; // one value more in its array
        foliot__pack_uint(out, 1);
    }
    size_t at = out->length;
    foliot__pack_raw(out, bytes + index, last - index);
    if (what == INDEX_VALUE) {
        assert_in_range(out->bytes[at], 0x92, 0x9e);
        out->bytes[at]++;
        foliot__pack_uint(out, 1);
    }
    if (what == NOTE_LAST || what == MESSAGE_LAST || what == UNKNOWN_LAST)
        put_smuggled(out, what, head.tick);
    at = out->length;
    foliot__pack_raw(out, bytes + last, FOLIOT__RECORDING_END_BYTES);
    if (what == END_VALUE) {
        out->bytes[at]++;
        foliot__pack_uint(out, 1);
    }
    if (what == NOTE_BEHIND)
        put_smuggled(out, what, head.tick);
}

static void refused_everywhere(void)
{
    foliot_replay *replay;
    foliot_verdict verdict;
    foliot_signature_summary s;
    foliot_status status = foliot_signature_check(FILE_NAME, &s, NULL);
    assert_true(status != FOLIOT_STATUS_OK || !s.whole);
    demand(foliot_replay_open(FILE_NAME, &foliot_world_kind, &replay, NULL));
    demand(foliot_replay_verify(replay, NULL, &verdict));
    assert_int_equal(verdict.status, FOLIOT_STATUS_CORRUPT);
    foliot_replay_close(replay);
}

TEST(nothing_is_put_into_the_closing_block)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 130, 0, ENDS);
    for (int what = 0; what < SMUGGLED; what++) {
        forged f = read_file();
        uint8_t *whole = malloc(f.length);
        size_t length = f.length;
        memcpy(whole, f.bytes, f.length);
        foliot__buffer payload = {0};
        closing_payload(&payload, &f, (enum smuggled)what);
        replace_last(&f, &payload);
        write_file(&f);
        refused_everywhere();
        free(f.bytes);
        f = (forged){.bytes = whole, .length = length};
        write_file(&f);
        assert_true(seen(FOLIOT_STATUS_OK).whole);
        free(whole);
        foliot__buffer_free(&payload);
    }
    foliot_signer_destroy(signer);
}

// The block of the last signature is covered by none, either.
TEST(nothing_is_put_behind_a_signature)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 130, 0, ENDS);
    forged f = read_file();
    foliot__buffer payload = {0}, closing = {0};
    foliot__recording_block head = head_of(&f, f.count - 2), last = head_of(&f, f.count - 1);
    assert_int_equal(type_of(&f, f.count - 2), FOLIOT__RECORDING_SIGNATURE);
    foliot__pack_raw(&closing, f.bytes + f.length - last.length, last.length);
    closing.bytes[closing.length - 1]++; // it lies one byte further on
    foliot__pack_raw(&payload, f.bytes + f.blocks[f.count - 2] + FOLIOT__RECORDING_BLOCK_BYTES,
                     head.length);
    payload.bytes[0]++;
    foliot__pack_uint(&payload, 1);
    f.count--;
    replace_last(&f, &payload);
    f.blocks[f.count] = f.length;
    f.length += FOLIOT__RECORDING_BLOCK_BYTES + closing.length;
    f.bytes = realloc(f.bytes, f.length);
    foliot__recording_block_frame(f.bytes + f.blocks[f.count], f.count, last.tick, closing.bytes,
                                  closing.length);
    memcpy(f.bytes + f.length - closing.length, closing.bytes, closing.length);
    write_file(&f);
    refused_everywhere();
    foliot__buffer_free(&payload);
    foliot__buffer_free(&closing);
    free(f.bytes);
    foliot_signer_destroy(signer);
}

TEST(a_crash_leaves_it_signed_to_the_last_keyframe)
{
    foliot_signer *signer = signer_of(1);
    record(signer, 130, 0, CRASHES);
    foliot_signature_summary s = seen(FOLIOT_STATUS_OK);
    assert_false(s.whole);
    assert_int_equal(s.signed_tick, 100);
    resume(signer, 40, CRASHES);
    resume(signer, 40, ENDS);
    s = seen(FOLIOT_STATUS_OK);
    assert_true(s.whole && s.one_key);
    assert_int_equal(s.signed_tick, s.last_tick);
    foliot_signer_destroy(signer);
}

TEST(compaction_signs_anew)
{
    struct stat before, after;
    foliot_signer *signer = signer_of(1);
    record(signer, 300, 0, ENDS);
    assert_int_equal(stat(FILE_NAME, &before), 0);
    // Without the key it stays as it is.
    assert_int_equal(foliot__recording_compact(FILE_NAME, 60, NULL), FOLIOT_STATUS_UNSUPPORTED);
    assert_true(seen(FOLIOT_STATUS_OK).whole);
    demand(foliot__recording_compact(FILE_NAME, 60, signer));
    assert_int_equal(stat(FILE_NAME, &after), 0);
    check_below(after.st_size, before.st_size);
    foliot_signature_summary s = seen(FOLIOT_STATUS_OK);
    assert_true(s.whole);
    assert_int_equal(s.signatures, 1);
    record(signer, 300, 60, ENDS); // the same at the close
    s = seen(FOLIOT_STATUS_OK);
    assert_true(s.whole);
    assert_int_equal(s.signatures, 1);
    foliot_signer_destroy(signer);
}

// -- files of keys

static void write_key(const char *text, mode_t mode)
{
    FILE *file = fopen(KEY_NAME, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(KEY_NAME, mode), 0);
}

TEST(secret_keys_are_kept)
{
    char text[FOLIOT_KEY_TEXT_BYTES];
    foliot_error error;
    uint8_t key[FOLIOT_KEY_BYTES];
    struct stat about;
    foliot_signer *signer;
    unlink(KEY_NAME);
    unlink(KEY_NAME ".pub");
    demand(foliot_signer_write_new(KEY_NAME, &error));
    assert_int_equal(stat(KEY_NAME, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0600);
    demand(foliot_signer_read(KEY_NAME, &signer, &error));
    demand(foliot_signature_read_key(KEY_NAME ".pub", key, &error));
    assert_memory_equal(key, foliot_signer_get_key(signer), sizeof key);
    foliot_signature_print_key(key, text);
    memset(key, 0, sizeof key);
    demand(foliot_signature_read_key(text, key, &error));
    assert_memory_equal(key, foliot_signer_get_key(signer), sizeof key);
    foliot_signer_destroy(signer);
    // An existing one is not written over, and none of these is a key.
    assert_int_equal(foliot_signer_write_new(KEY_NAME, &error), FOLIOT_STATUS_IO);
    assert_int_equal(chmod(KEY_NAME, 0640), 0);
    assert_int_equal(foliot_signer_read(KEY_NAME, &signer, &error), FOLIOT_STATUS_INVALID);
    assert_non_null(strstr(error.text, "chmod 600"));
    static const char *const bad[] = {
        "",
        "foliot-secret-key ",
        "foliot-secret-key 00\n",
        "foliot-public-key 00112233445566778899aabbccddeeff00112233445"
        "566778899aabbccddeeff\n",
        "foliot-secret-key 00112233445566778899aabbccddeeff00112233445"
        "566778899aabbccddeeffg\n",
        "foliot-secret-key 00112233445566778899aabbccddeeff00112233445"
        "566778899aabbccddeef\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        write_key(bad[i], 0600);
        assert_int_equal(foliot_signer_read(KEY_NAME, &signer, &error), FOLIOT_STATUS_INVALID);
    }
    assert_int_equal(foliot_signer_read("nowhere.key", &signer, &error), FOLIOT_STATUS_IO);
}

int main(void)
{
    char folder[] = "/tmp/foliot-signature-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder) != 0)
        return 1;
    int failed = check_run(NULL, NULL);
    unlink(FILE_NAME);
    unlink(KEY_NAME);
    unlink(KEY_NAME ".pub");
    return chdir("/") != 0 || rmdir(folder) != 0 ? 1 : failed;
}
