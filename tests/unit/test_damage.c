// SPDX-License-Identifier: MIT
// test_damage.c: a recording cut at every length and with every single bit flipped. Never a match,
// never a read out of bounds (run it under the address sanitizer), always the right block and
// offset, and all before it replays. DAMAGE_KB=256 takes a larger recording: structure for every
// bit, replay for samples (make damage); under the address sanitizer every seventh bit is replayed.
#include "recording_fixture.h"
#include "check.h"
#include "pace.h"

#include "recording/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCKS_MAX 4096

typedef struct subject {
    recording_fixture fixture;
    recording_memory memory;
    foliot_digest *digests;
    uint64_t offset[BLOCKS_MAX], tick[BLOCKS_MAX]; // where each block starts; what it reaches
    uint32_t count;
    uint32_t replay_every; // bits between those that are replayed as well
} subject;

static size_t wanted_bytes(void)
{
    const char *text = getenv("DAMAGE_KB");
    return (text ? strtoull(text, NULL, 10) : 8) * 1024;
}

static void find_blocks(subject *s)
{
    foliot__recording_block block;
    for (uint64_t at = FOLIOT__RECORDING_START_BYTES; at < s->memory.length;
         at += FOLIOT__RECORDING_BLOCK_BYTES + block.length) {
        assert_true(foliot__recording_block_read(s->memory.bytes + at, &block));
        check_lt(s->count, BLOCKS_MAX);
        s->offset[s->count] = at;
        s->tick[s->count++] = block.tick;
    }
    s->offset[s->count] = s->memory.length;
}

// As many ticks as make the file as large as wanted; found by doubling.
static int setup(void **state)
{
    subject *s = calloc(1, sizeof *s);
    size_t wanted = wanted_bytes();
    // Every scan unpacks all keyframes before the damage: a large recording has fewer of them.
    foliot_recording_config config = recording_fixture_config(8, wanted > 8192 ? 480 : 24);
    config.digest_bytes = 16;
    for (uint64_t ticks = 16;; ticks += ticks / 8) {
        recording_memory_free(&s->memory);
        free(s->digests);
        s->digests = calloc(ticks + 1, sizeof *s->digests);
        recording_fixture_init(&s->fixture, 2, 2, FOLIOT_INTEGRATOR_VELOCITY_VERLET, 3);
        recording_fixture_record(&s->fixture, &config, ticks, &s->memory, s->digests);
        recording_fixture_free(&s->fixture);
        if (s->memory.length >= wanted)
            break;
    }
    find_blocks(s);
    s->replay_every = wanted > 8192 ? 4099
                      : PACE_SLOW   ? 7
                                    : 1; // 7 meets every byte, and every bit of one in turn
    print_message("%zu bytes in %u blocks\n", s->memory.length, s->count);
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    subject *s = *state;
    recording_memory_free(&s->memory);
    free(s->digests);
    free(s);
    return 0;
}

// The block that holds the byte at `offset`; block 0 for the start.
static uint32_t block_of(const subject *s, uint64_t offset)
{
    uint32_t low = 0, high = s->count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (s->offset[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void names_the_place(const foliot_damage *damage, uint64_t block, uint64_t offset)
{
    char begin[64];
    snprintf(begin, sizeof begin, "block %llu at offset %llu: ", (unsigned long long)block,
             (unsigned long long)offset);
    if (damage->block != block || damage->offset != offset)
        print_message("expected %s, got %s\n", begin, damage->text);
    assert_int_equal(damage->block, block);
    assert_int_equal(damage->offset, offset);
    assert_memory_equal(damage->text, begin, strlen(begin));
}

// `bytes` are not whole from block number `block` on, which begins at `offset`.
static void salvaged(const subject *s, const uint8_t *bytes, size_t length, uint32_t block,
                     uint64_t offset, bool replays, foliot_status expected)
{
    foliot_replay *replay = NULL;
    foliot_damage damage = {0};
    foliot_status status =
        foliot_replay_open_bytes(bytes, length, &foliot_world_kind, &replay, &damage);
    if (status != FOLIOT_STATUS_OK) { // without its header there is nothing to replay
        assert_int_equal(block, 0);
        assert_true(status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED);
        names_the_place(&damage, block, offset);
        return;
    }
    check_gt(block, 0);
    uint64_t whole = s->tick[block - 1];
    status = foliot_replay_scan(replay);
    assert_true(status == FOLIOT_STATUS_CORRUPT || status == FOLIOT_STATUS_TRUNCATED);
    names_the_place(foliot_replay_get_damage(replay), block, offset);
    assert_int_equal(foliot_replay_get_summary(replay)->last_tick, whole);
    if (replays) {
        foliot_verdict verdict;
        assert_int_equal(foliot_replay_seek(replay, whole), FOLIOT_STATUS_OK);
        assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
        assert_int_equal(verdict.status, expected);
        assert_int_equal(verdict.ticks, whole);
        assert_int_equal(verdict.cut_at, offset);
        assert_true(foliot_digest_equal(verdict.digest, s->digests[whole]));
    }
    foliot_replay_close(replay);
}

// A copy that ends where its memory does, so that a read beyond is seen.
TEST(every_truncation_is_found)
{
    subject *s = *state;
    size_t step = s->memory.length > 16384 ? 61 : 1;
    for (size_t length = 0; length < s->memory.length; length += step) {
        uint8_t *bytes = malloc(length ? length : 1);
        memcpy(bytes, s->memory.bytes, length);
        uint32_t block = length < FOLIOT__RECORDING_START_BYTES ? 0 : block_of(s, length);
        salvaged(s, bytes, length, block,
                 length < FOLIOT__RECORDING_START_BYTES ? 0 : s->offset[block], true,
                 FOLIOT_STATUS_TRUNCATED);
        free(bytes);
    }
}

TEST(every_flipped_bit_is_found)
{
    subject *s = *state;
    uint8_t *bytes = malloc(s->memory.length);
    memcpy(bytes, s->memory.bytes, s->memory.length);
    for (size_t bit = 0; bit < 8 * s->memory.length; bit++) {
        size_t at = bit / 8;
        bytes[at] ^= (uint8_t)(1u << bit % 8);
        uint32_t block = block_of(s, at);
        uint64_t offset = at < FOLIOT__RECORDING_START_BYTES ? 0 : s->offset[block];
        salvaged(s, bytes, s->memory.length, block, offset, bit % s->replay_every == 0,
                 FOLIOT_STATUS_CORRUPT);
        bytes[at] ^= (uint8_t)(1u << bit % 8);
    }
    free(bytes);
}

// Cut off behind the damage: still damage, and not one that a writer left who was stopped.
TEST(a_flipped_bit_before_a_cut_is_damage)
{
    subject *s = *state;
    uint64_t at = s->offset[3] + FOLIOT__RECORDING_BLOCK_BYTES;
    size_t length = s->memory.length - 20;
    uint8_t *bytes = malloc(length);
    memcpy(bytes, s->memory.bytes, length);
    bytes[at] ^= 1;
    salvaged(s, bytes, length, 3, s->offset[3], true, FOLIOT_STATUS_CORRUPT);
    free(bytes);
}

TEST(bytes_after_the_end_are_found)
{
    subject *s = *state;
    uint8_t *bytes = calloc(1, s->memory.length + 1);
    foliot_replay *replay;
    foliot_verdict verdict;
    memcpy(bytes, s->memory.bytes, s->memory.length);
    assert_int_equal(
        foliot_replay_open_bytes(bytes, s->memory.length + 1, &foliot_world_kind, &replay, NULL),
        FOLIOT_STATUS_OK);
    assert_int_equal(foliot_replay_verify(replay, NULL, &verdict), FOLIOT_STATUS_OK);
    assert_int_equal(verdict.status, FOLIOT_STATUS_CORRUPT);
    assert_int_equal(verdict.cut_at, s->memory.length);
    foliot_replay_close(replay);
    free(bytes);
}

// Whole blocks in a wrong order, or one of them missing or twice: every checksum is right.
TEST(blocks_out_of_turn_are_found)
{
    subject *s = *state;
    for (uint32_t block = 2; block + 1 < s->count && block < 64; block++) {
        size_t length = (size_t)(s->offset[block + 1] - s->offset[block]);
        uint8_t *bytes = malloc(s->memory.length);
        memcpy(bytes, s->memory.bytes, s->memory.length);
        memmove(bytes + s->offset[block], bytes + s->offset[block + 1],
                s->memory.length - (size_t)s->offset[block + 1]);
        salvaged(s, bytes, s->memory.length - length, block, s->offset[block], true,
                 FOLIOT_STATUS_CORRUPT);
        free(bytes);
    }
}

int main(void)
{
    return check_run(setup, teardown);
}
