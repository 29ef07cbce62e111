// SPDX-License-Identifier: MIT
// test_partial_snapshot.c: packets of some bodies come out as they went in, with and without
// baselines; hostile bytes end, and give a bounded number of bodies. Random; SEED= repeats a run.
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "status.h"
#include "wire/partial_body.h"
#include "wire/partial_snapshot.h"

#define ITEMS 400
#define ROUNDS 300
#define HOSTILE 20000

static foliot__rng rng;
static const foliot_snapshot_format format = {.position_step = 0x1p-9,
                                              .velocity_step = 0x1p-11,
                                              .acceleration = {0, 0, -357},
                                              .damping = 64881,
                                              .rotates = true,
                                              .spins = true,
                                              .bodies_max = FOLIOT_BODIES_MAX};
static foliot__partial_item items[ITEMS];
static foliot_snapshot_body bases[ITEMS];

static foliot_snapshot_body random_body(void)
{
    foliot_snapshot_body b = {.flags = FOLIOT_SNAPSHOT_ALIVE,
                              .generation = (uint8_t)foliot__rng_below(&rng, 3),
                              .largest = (uint8_t)foliot__rng_below(&rng, 4)};
    unsigned bits = 1 + foliot__rng_below(&rng, 31);
    for (int k = 0; k < 3; k++) {
        b.position[k] = (int32_t)(uint32_t)foliot__rng_u64(&rng) >> bits;
        b.velocity[k] = (int32_t)(uint32_t)foliot__rng_u64(&rng) >> foliot__rng_below(&rng, 32);
        b.orientation[k] = (uint16_t)foliot__rng_below(&rng, 512);
        b.spin[k] = (int16_t)((int)foliot__rng_below(&rng, 65536) - 32768);
    }
    return b;
}

static void make_coarse(foliot__partial_item *item)
{
    item->coarse = !item->leaves && (item->coarse || foliot__rng_below(&rng, 3) == 0);
    if (item->coarse)
        foliot__body_coarsen(&format, &item->body);
}

// Slots near each other, and some far off; most bodies are near what they were.
static uint32_t draw_items(void)
{
    uint32_t count = 1 + foliot__rng_below(&rng, ITEMS), slot = 0,
             near = 1 + foliot__rng_below(&rng, 40);
    uint32_t i = 0;
    for (; i < count; i++) {
        slot += foliot__rng_below(&rng, 50) ? foliot__rng_below(&rng, near)
                                            : foliot__rng_below(&rng, FOLIOT_BODIES_MAX);
        if (slot >= FOLIOT_BODIES_MAX)
            break;
        foliot__partial_item *item = &items[i];
        *item = (foliot__partial_item){.slot = slot++, .leaves = foliot__rng_below(&rng, 9) == 0};
        item->body = random_body();
        make_coarse(item);
        if (item->leaves || foliot__rng_below(&rng, 4) == 0)
            continue;
        uint32_t ages = foliot__rng_below(&rng, 3) ? 40 : FOLIOT__PARTIAL_AGE_MAX;
        item->age = 1 + foliot__rng_below(&rng, ages);
        item->newest = foliot__rng_below(&rng, 2);
        bases[i] = random_body();
        item->base = &bases[i];
        if (foliot__rng_below(&rng, 5)) {
            item->body = bases[i];
            item->body.position[foliot__rng_below(&rng, 3)] += (int)foliot__rng_below(&rng, 9) - 4;
        }
        make_coarse(item);
    }
    if (i == 0 || foliot__rng_below(&rng, 9) == 0) { // the last slot that there may be
        i = i < ITEMS ? i : ITEMS - 1;
        items[i] = (foliot__partial_item){.slot = FOLIOT_BODIES_MAX - 1, .body = random_body()};
        if (i == 0 || items[i - 1].slot < FOLIOT_BODIES_MAX - 1)
            i++;
    }
    return i;
}

static void check_body(const foliot_snapshot_body *a, const foliot_snapshot_body *b)
{
    foliot_snapshot_body x = *a, y = *b;
    foliot_snapshot one = {.count = 1, .capacity = 1, .bodies = &x},
                    other = {.count = 1, .capacity = 1, .bodies = &y};
    assert_true(foliot_snapshot_equal(&one, &other));
    assert_memory_equal(a->spin, b->spin, sizeof a->spin);
}

// A packet of the items from `from` on; returns how many it held.
static uint32_t check_packet(foliot__partial_coder *coder, uint32_t from, uint32_t count)
{
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    size_t capacity = 100 + foliot__rng_below(&rng, FOLIOT_PACKET_BYTES_MAX - 99);
    foliot__partial_head head = {1 + foliot__rng_below(&rng, 1000),
                                 (uint32_t)foliot__rng_u64(&rng)},
                         got;
    uint32_t coded;
    size_t length =
        foliot__partial_encode(coder, &head, items + from, count - from, bytes, capacity, &coded);
    assert_in_range(length, 10, capacity);
    assert_in_range(coded, 1, count - from);
    check_le(coded, length * FOLIOT__PARTIAL_BODIES_A_BYTE);
    demand(foliot__partial_begin(coder, bytes, length, &got));
    assert_int_equal(got.sequence, head.sequence);
    assert_int_equal(got.tick, head.tick);
    for (uint32_t i = from; i < from + coded; i++) {
        foliot__partial_item item;
        assert_int_equal(foliot__partial_next(coder, FOLIOT_BODIES_MAX, &item),
                         FOLIOT__PARTIAL_ITEM);
        assert_int_equal(item.slot, items[i].slot);
        assert_int_equal(item.leaves, items[i].leaves);
        if (item.leaves)
            continue;
        assert_int_equal(item.coarse, items[i].coarse);
        assert_int_equal(item.newest, items[i].newest);
        assert_int_equal(item.age, item.newest ? 0 : items[i].age);
        item.age = items[i].age;
        item.base = items[i].base;
        demand(foliot__partial_body(coder, &item));
        check_body(&item.body, &items[i].body);
    }
    foliot__partial_item item;
    assert_int_equal(foliot__partial_next(coder, FOLIOT_BODIES_MAX, &item), FOLIOT__PARTIAL_END);
    return coded;
}

TEST(what_goes_in_comes_out)
{
    foliot__partial_coder *coder;
    demand(foliot__partial_coder_create(&format, &coder));
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t count = draw_items();
        for (uint32_t from = 0; from < count;)
            from += check_packet(coder, from, count);
    }
    foliot__partial_coder_destroy(coder);
}

TEST(what_does_not_fit_is_not_begun)
{
    foliot__partial_coder *coder;
    uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
    foliot__partial_head head = {1, 1};
    uint32_t coded = 7;
    demand(foliot__partial_coder_create(&format, &coder));
    items[0] = (foliot__partial_item){.slot = 3, .body = random_body()};
    for (size_t capacity = 0; capacity < 12; capacity++)
        assert_int_equal(foliot__partial_encode(coder, &head, items, 1, bytes, capacity, &coded),
                         0);
    assert_int_equal(coded, 0);
    foliot__partial_coder_destroy(coder);
}

// Draws random bytes, or a good packet with some of its bytes changed or cut off.
static size_t draw_hostile(foliot__partial_coder *coder, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    size_t length = foliot__rng_below(&rng, FOLIOT_PACKET_BYTES_MAX + 1);
    if (foliot__rng_below(&rng, 2)) {
        foliot__partial_head head = {1, 2};
        uint32_t coded, count = draw_items();
        length = foliot__partial_encode(coder, &head, items, count, bytes, FOLIOT_PACKET_BYTES_MAX,
                                        &coded);
        for (int i = 0; i < 3; i++)
            bytes[1 + foliot__rng_below(&rng, (uint32_t)length - 1)] =
                (uint8_t)foliot__rng_u64(&rng);
        return foliot__rng_below(&rng, 2) ? length : foliot__rng_below(&rng, (uint32_t)length + 1);
    }
    uint8_t fill = (uint8_t)foliot__rng_u64(&rng);
    bool flat = foliot__rng_below(&rng, 4) == 0; // the same over and over
    for (size_t i = 0; i < length; i++)
        bytes[i] = flat ? fill : (uint8_t)foliot__rng_u64(&rng);
    if (length > 0)
        bytes[0] = FOLIOT__PARTIAL_PACKET;
    return length;
}

TEST(hostile_bytes_end)
{
    foliot__partial_coder *coder;
    demand(foliot__partial_coder_create(&format, &coder));
    for (int round = 0; round < HOSTILE; round++) {
        uint8_t bytes[FOLIOT_PACKET_BYTES_MAX];
        foliot__partial_head head;
        foliot__partial_item item;
        foliot_snapshot_body base = random_body();
        size_t length = draw_hostile(coder, bytes), count = 0;
        uint32_t slots = 1 + foliot__rng_below(&rng, FOLIOT_BODIES_MAX), last = 0;
        if (foliot__partial_begin(coder, bytes, length, &head) != FOLIOT_STATUS_OK)
            continue;
        assert_true(head.sequence != 0);
        while (foliot__partial_next(coder, slots, &item) == FOLIOT__PARTIAL_ITEM) {
            check_le(++count, length * FOLIOT__PARTIAL_BODIES_A_BYTE);
            assert_true(item.slot < slots && item.age <= FOLIOT__PARTIAL_AGE_MAX);
            assert_true(count == 1 || item.slot > last);
            last = item.slot;
            item.base = item.age ? &base : NULL;
            if (!item.leaves && foliot__partial_body(coder, &item) != FOLIOT_STATUS_OK)
                break;
        }
    }
    foliot__partial_coder_destroy(coder);
}

TEST(acknowledgements_come_out_as_they_went_in)
{
    for (int round = 0; round < ROUNDS; round++) {
        foliot__partial_acknowledge packet = {.newest = (uint32_t)foliot__rng_u64(&rng),
                                              .before = foliot__rng_u64(&rng),
                                              .has_focus = foliot__rng_below(&rng, 2)},
                                    got;
        uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES + 1] = {0};
        for (int k = 0; packet.has_focus && k < 3; k++)
            packet.focus[k] = (int32_t)(uint32_t)foliot__rng_u64(&rng);
        size_t length = foliot__partial_acknowledge_encode(&packet, bytes);
        check_le(length, FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES);
        demand(foliot__partial_acknowledge_decode(bytes, length, &got));
        assert_int_equal(got.newest, packet.newest);
        assert_int_equal(got.before, packet.before);
        assert_int_equal(got.has_focus, packet.has_focus);
        assert_memory_equal(got.focus, packet.focus, sizeof got.focus);
        for (size_t cut = 0; cut < length; cut++)
            assert_true(foliot__partial_acknowledge_decode(bytes, cut, &got) != FOLIOT_STATUS_OK);
        assert_true(foliot__partial_acknowledge_decode(bytes, length + 1, &got) !=
                    FOLIOT_STATUS_OK);
        bytes[13] = 2; // no flag
        assert_true(foliot__partial_acknowledge_decode(bytes, length, &got) != FOLIOT_STATUS_OK);
    }
}

int main(void)
{
    rng = foliot__rng_seeded(check_seed(20240229));
    return check_run(NULL, NULL);
}
