// SPDX-License-Identifier: MIT
// test_lockstep_wire.c: blocks of inputs, acknowledgements and packets of lockstep come back as
// they were, fit, and are refused when they are cut or hostile. Random: SEED= repeats a run.
#include "check.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "wire/lockstep_message.h"

static foliot__rng rng;
static foliot__block block, got;

static foliot_input drawn(uint32_t player)
{
    foliot_input input = {
        .player = player,
        .kind = (uint8_t)(foliot__rng_below(&rng, 20) ? 0 : 1 + foliot__rng_below(&rng, 2))};
    bool analog = foliot__rng_below(&rng, 2);
    if (input.kind != FOLIOT_INPUT_CONTROL)
        return input;
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++)
        input.axes[k] = (int8_t)(analog ? (int)foliot__rng_below(&rng, 255) - 127
                                        : 127 * ((int)foliot__rng_below(&rng, 3) - 1));
    input.buttons = (uint16_t)foliot__rng_below(&rng, foliot__rng_below(&rng, 2) ? 2 : 65536);
    return input;
}

static void draw_block(uint32_t ticks, uint32_t players, uint32_t rarity)
{
    block = (foliot__block){.ticks = ticks};
    for (uint32_t age = 0; age < ticks; age++)
        for (uint32_t player = 0; player < players; player++)
            for (uint32_t n = foliot__rng_below(&rng, rarity) == 0 ? 1 + foliot__rng_below(&rng, 2)
                                                                   : 0;
                 n > 0; n--) {
                block.ages[block.count] = age;
                block.inputs[block.count++] =
                    drawn(player * 1023 / (players > 1 ? players - 1 : 1));
            }
}

static void same_block(void)
{
    assert_int_equal(got.count, block.count);
    assert_int_equal(got.ticks, block.ticks);
    assert_memory_equal(got.ages, block.ages, block.count * sizeof block.ages[0]);
    for (uint32_t i = 0; i < block.count; i++) {
        const foliot_input *a = &got.inputs[i], *b = &block.inputs[i];
        check_eq(a->player, b->player);
        check_eq(a->kind, b->kind);
        check_eq(a->buttons, b->buttons);
        assert_memory_equal(a->axes, b->axes, sizeof a->axes);
    }
}

static foliot_status decode(const uint8_t *bytes, size_t length, uint32_t ticks)
{
    uint8_t *copy = malloc(length + !length); // sanitizers see a byte too far
    memcpy(copy, bytes, length);
    foliot_status status = foliot__block_decode(copy, length, ticks, &got);
    free(copy);
    return status;
}

TEST(blocks_come_back)
{
    static uint8_t bytes[100000];
    for (int round = 0; round < 400; round++) {
        draw_block(foliot__rng_below(&rng, 120), 1 + foliot__rng_below(&rng, 16),
                   1 + foliot__rng_below(&rng, 100));
        size_t length = foliot__block_encode(&block, bytes, sizeof bytes);
        assert_int_not_equal(length, SIZE_MAX);
        assert_int_equal(decode(bytes, length, block.ticks), FOLIOT_STATUS_OK);
        same_block();
    }
}

TEST(nothing_takes_no_byte_and_a_change_few)
{
    uint8_t bytes[64];
    block = (foliot__block){.ticks = 16383};
    assert_int_equal(foliot__block_encode(&block, bytes, sizeof bytes), 0);
    assert_int_equal(decode(bytes, 0, 16383), FOLIOT_STATUS_OK);
    same_block();
    block.count = 1;
    block.ages[0] = 16382;
    block.inputs[0] = (foliot_input){.player = 3, .axes = {127, 0, -127}, .buttons = 1};
    size_t length = foliot__block_encode(&block, bytes, sizeof bytes);
    check_le(length, 9);
    assert_int_equal(decode(bytes, length, 16383), FOLIOT_STATUS_OK);
    same_block();
}

TEST(a_block_that_does_not_fit_says_so)
{
    uint8_t bytes[200];
    draw_block(50, 16, 2);
    assert_int_equal(foliot__block_encode(&block, bytes, sizeof bytes), SIZE_MAX);
}

TEST(hostile_blocks_are_refused_or_harmless)
{
    uint8_t bytes[300];
    for (int round = 0; round < 20000; round++) {
        size_t length = foliot__rng_below(&rng, sizeof bytes);
        for (size_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)foliot__rng_below(&rng, 256);
        uint32_t ticks = foliot__rng_below(&rng, 400);
        if (decode(bytes, length, ticks) != FOLIOT_STATUS_OK)
            continue;
        for (uint32_t i = 0; i < got.count; i++) {
            check_lt(got.ages[i], ticks);
            assert_true(i == 0 || got.ages[i] >= got.ages[i - 1]);
            check_lt(got.inputs[i].player, FOLIOT_PLAYERS_MAX);
            check_ne(got.inputs[i].axes[0], -128);
        }
    }
    draw_block(40, 4, 20);
    size_t length = foliot__block_encode(&block, bytes, sizeof bytes);
    assert_int_equal(decode(bytes, length, FOLIOT__BLOCK_TICKS_MAX + 1), FOLIOT_STATUS_CORRUPT);
    memset(bytes + length, 7, 8);
    assert_int_not_equal(decode(bytes, length + 8, 40), FOLIOT_STATUS_OK); // bytes behind the end
    assert_int_not_equal(decode(bytes, length, block.ages[block.count - 1]),
                         FOLIOT_STATUS_OK); // beyond its ticks
}

// -- logs

static void put(foliot__tick_log *log, uint64_t tick, uint32_t count)
{
    foliot_input inputs[8];
    for (uint32_t i = 0; i < count; i++)
        inputs[i] = (foliot_input){.player = i, .buttons = (uint16_t)tick};
    assert_int_equal(foliot__tick_log_put(log, tick, inputs, count), FOLIOT_STATUS_OK);
}

TEST(ticks_are_kept_in_any_order_and_forgotten)
{
    foliot__tick_log log;
    foliot_input inputs[8];
    uint64_t first = ((uint64_t)1 << 32) - 3;
    assert_int_equal(foliot__tick_log_init(&log, 16, 10), FOLIOT_STATUS_OK);
    foliot__tick_log_clear(&log, first);
    put(&log, first + 4, 2);
    put(&log, first + 1, 1);
    assert_int_equal(log.next, first);
    put(&log, first, 0);
    check_eq(log.next, first + 2);
    check_eq(log.end, first + 5);
    assert_int_equal(foliot__tick_log_put(&log, first + 1, NULL, 0), FOLIOT_STATUS_AGAIN);
    assert_int_equal(foliot__tick_log_put(&log, first - 1, NULL, 0), FOLIOT_STATUS_AGAIN);
    assert_int_equal(foliot__tick_log_put(&log, first + 16, NULL, 0), FOLIOT_STATUS_FULL);
    assert_int_equal(foliot__tick_log_put(&log, first + 5, inputs, 8),
                     FOLIOT_STATUS_FULL); // ten inputs, three are in
    assert_int_equal(foliot__tick_log_read(&log, first + 4, inputs, 8), 2);
    assert_int_equal(inputs[1].buttons, (uint16_t)(first + 4));
    foliot__tick_log_forget(&log, first + 3);
    check_eq(log.first, first + 3);
    check_eq(log.next, first + 3);
    check_eq(log.used, 2);
    put(&log, first + 3, 7);
    check_eq(log.next, first + 5);
    foliot__tick_log_forget(&log, first + 100);
    check_eq(log.used, 0);
    check_eq(log.next, first + 100);
    put(&log, first + 100, 8);
    foliot__tick_log_free(&log);
}

TEST(acknowledgements_show_the_holes)
{
    foliot__tick_log log;
    uint64_t first = ((uint64_t)1 << 32) - 50, from, to;
    assert_int_equal(foliot__tick_log_init(&log, 256, 16), FOLIOT_STATUS_OK);
    foliot__tick_log_clear(&log, first);
    for (uint64_t t = 0; t < 100; t++)
        if (t != 7 && (t < 40 || t >= 60))
            put(&log, first + t, 0);
    foliot__tick_acks acks = foliot__tick_acks_of(&log);
    assert_int_equal(acks.next, (uint32_t)(first + 7));
    assert_int_equal(acks.count, 2);
    uint64_t next = foliot__tick_near(acks.next, first + 90);
    assert_int_equal(next, first + 7);
    assert_true(foliot__tick_hole(&acks, next, 0, &from, &to));
    check_eq(from, first + 7);
    check_eq(to, first + 8);
    assert_true(foliot__tick_hole(&acks, next, 1, &from, &to));
    check_eq(from, first + 40);
    check_eq(to, first + 60);
    assert_false(foliot__tick_hole(&acks, next, 2, &from, &to));
    foliot__tick_log_free(&log);
}

TEST(packets_keep_to_their_budget_but_for_the_least)
{
    foliot__tick_log log;
    uint8_t bytes[1000];
    uint64_t first, next;
    assert_int_equal(foliot__tick_log_init(&log, 512, 8192), FOLIOT_STATUS_OK);
    for (int busy = 0; busy < 2; busy++) {
        foliot__tick_log_clear(&log, 0);
        for (uint64_t t = 0; t < 300; t++) {
            foliot_input inputs[16];
            uint32_t count = 0;
            for (uint32_t p = 0; p < 16; p++)
                if (busy || foliot__rng_below(&rng, 60) == 0)
                    inputs[count++] = (foliot_input){
                        .player = p, .axes = {(int8_t)foliot__rng_below(&rng, 100), 127}};
            assert_int_equal(foliot__tick_log_put(&log, t, inputs, count), FOLIOT_STATUS_OK);
        }
        size_t length = foliot__block_of_newest(&log, 0, 300, &block, bytes, sizeof bytes, &first);
        assert_true(busy ? 300 - first == FOLIOT__LEAST_TICKS
                         : length <= FOLIOT__BLOCK_BUDGET && 300 - first > 15);
        assert_int_equal(decode(bytes, length, (uint32_t)(300 - first)), FOLIOT_STATUS_OK);
        same_block();
        length = foliot__block_of_oldest(&log, 0, 300, &block, bytes, sizeof bytes, &next);
        check_le(length, sizeof bytes);
        check_gt(next, 10);
    }
    foliot__tick_log_free(&log);
}

TEST(cut_packets_are_refused)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    foliot__lockstep_input in = {.acks = {.next = 7, .count = 1, .runs = {{2, 300}}},
                                 .behind = 5,
                                 .ahead = 200,
                                 .shown = 9999,
                                 .ticks = 3};
    foliot__lockstep_input in2;
    size_t length = foliot__lockstep_input_encode(&in, bytes);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_not_equal(foliot__lockstep_input_decode(bytes, cut, &in2), FOLIOT_STATUS_OK);
    assert_int_equal(foliot__lockstep_input_decode(bytes, length, &in2), FOLIOT_STATUS_OK);
    assert_int_equal(in2.acks.runs[0].here, 300);
    assert_int_equal(in2.shown, 9999);
    bytes[6] = 0; // a run of no tick
    assert_int_equal(foliot__lockstep_input_decode(bytes, length, &in2), FOLIOT_STATUS_CORRUPT);
    foliot__lockstep_status status = {.tick = 1, .acks = in.acks, .late = 3}, status2;
    length = foliot__lockstep_status_encode(&status, bytes);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_not_equal(foliot__lockstep_status_decode(bytes, cut, &status2),
                             FOLIOT_STATUS_OK);
    assert_int_equal(foliot__lockstep_status_decode(bytes, length, &status2), FOLIOT_STATUS_OK);
    assert_int_equal(status2.late, 3);
    bytes[length] = 0;
    assert_int_equal(foliot__lockstep_status_decode(bytes, length + 1, &status2),
                     FOLIOT_STATUS_CORRUPT);
    foliot__relay relay = {.end = 77, .ticks = 40}, relay2;
    length = foliot__relay_encode(&relay, bytes);
    for (size_t cut = 0; cut < length; cut++)
        assert_int_not_equal(foliot__relay_decode(bytes, cut, &relay2), FOLIOT_STATUS_OK);
    const uint8_t some[] = {1, 2, 3};
    foliot__early early = {99, 1024, some, sizeof some}, early2;
    length = foliot__early_encode(&early, bytes);
    assert_int_equal(foliot__early_decode(bytes, length, &early2), FOLIOT_STATUS_OK);
    assert_int_equal(early2.first, 99);
    assert_int_equal(early2.ticks, 1024);
    assert_int_equal(early2.block_length, sizeof some);
    for (size_t cut = 0; cut <= length - sizeof some; cut++) // an empty block says nothing
        assert_int_not_equal(foliot__early_decode(bytes, cut, &early2), FOLIOT_STATUS_OK);
    for (uint32_t ticks = 0; ticks < 3000; ticks += 1025) { // none, or too many
        early.ticks = ticks;
        length = foliot__early_encode(&early, bytes);
        assert_int_equal(foliot__early_decode(bytes, length, &early2), FOLIOT_STATUS_CORRUPT);
    }
    static const uint8_t asks[] = {26, 0};
    assert_true(foliot__early_is_asked(asks, 1));
    assert_false(foliot__early_is_asked(asks, 2));
    assert_false(foliot__early_is_asked(asks, 0));
    static const uint8_t long_varint[] = {20, 0, 0, 0, 0, 0x80, 0x00};
    assert_int_equal(foliot__relay_decode(long_varint, sizeof long_varint, &relay2),
                     FOLIOT_STATUS_CORRUPT);
}

int main(void)
{
    rng = foliot__rng_seeded(check_seed(1));
    return check_run(NULL, NULL);
}
