// SPDX-License-Identifier: MIT
// test_snapshot.c: whatever is encoded is decoded, piece by piece, against any baseline; hostile
// bytes do no harm. Random snapshots; SEED= repeats a run.
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "foliot/snapshot.h"
#include "status.h"

static foliot__rng rng;
static const foliot_snapshot_format format = {.position_step = 0x1p-9,
                                              .velocity_step = 0x1p-11,
                                              .acceleration = {0, 0, -357},
                                              .damping = 64881,
                                              .rotates = true,
                                              .spins = true,
                                              .bodies_max = 4096};

static foliot_snapshot empty_of(uint32_t capacity)
{
    return (foliot_snapshot){.capacity = capacity,
                             .bodies = calloc(capacity, sizeof(foliot_snapshot_body))};
}

static foliot_snapshot random_snapshot(uint32_t count, uint64_t tick, const foliot_snapshot *from,
                                       unsigned change)
{
    foliot_snapshot s = empty_of(count ? count : 1);
    s.tick = tick;
    s.count = count;
    for (uint32_t i = 0; i < count; i++) {
        foliot_snapshot_body *b = &s.bodies[i];
        if (from && i < from->count && foliot__rng_below(&rng, 100) >= change) {
            *b = from->bodies[i];
            continue;
        }
        if (foliot__rng_below(&rng, 20) == 0)
            continue;
        b->flags = FOLIOT_SNAPSHOT_ALIVE;
        b->generation = (uint8_t)foliot__rng_below(&rng, 3);
        unsigned bits = foliot__rng_below(&rng, 32);
        for (int k = 0; k < 3; k++) {
            b->position[k] = (int32_t)(uint32_t)foliot__rng_u64(&rng) >> bits;
            b->velocity[k] =
                (int32_t)(uint32_t)foliot__rng_u64(&rng) >> foliot__rng_below(&rng, 32);
            b->orientation[k] = (uint16_t)foliot__rng_below(&rng, 512);
            b->spin[k] = (int16_t)((int)foliot__rng_below(&rng, 65536) - 32768);
        }
        b->largest = (uint8_t)foliot__rng_below(&rng, 4);
    }
    return s;
}

static void round_trip(const foliot_snapshot *s, const foliot_snapshot *baseline)
{
    foliot_snapshot_coder *coder;
    assert_int_equal(foliot_snapshot_coder_create(&format, &coder), FOLIOT_STATUS_OK);
    foliot_snapshot_pieces pieces = {0};
    assert_int_equal(foliot_snapshot_encode(coder, s, baseline, &pieces), FOLIOT_STATUS_OK);
    foliot_snapshot got = empty_of(s->count + 1);
    got.tick = s->tick;
    got.count = s->count;
    for (uint32_t i = pieces.count; i-- > 0;) { // in any order
        size_t length = pieces.offsets[i + 1] - pieces.offsets[i];
        foliot_snapshot_head head;
        assert_in_range(length, 1, FOLIOT_SNAPSHOT_PIECE_BYTES);
        uint8_t *copy = malloc(length); // so that the sanitizer sees one byte too far
        memcpy(copy, pieces.bytes + pieces.offsets[i], length);
        assert_int_equal(
            foliot_snapshot_decode(coder, copy, length, s->tick, baseline, &got, &head),
            FOLIOT_STATUS_OK);
        assert_int_equal(head.pieces, pieces.count);
        free(copy);
    }
    assert_true(foliot_snapshot_equal(s, &got));
    free(got.bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
}

TEST(what_is_encoded_is_decoded)
{
    for (int i = 0; i < 300; i++) {
        uint32_t count = foliot__rng_below(&rng, i % 10 == 0 ? 3000 : 60);
        foliot_snapshot base = random_snapshot(foliot__rng_below(&rng, 100),
                                               5 + foliot__rng_below(&rng, 9), NULL, 100);
        foliot_snapshot s = random_snapshot(count, 20 + foliot__rng_below(&rng, 99), &base,
                                            foliot__rng_below(&rng, 101));
        round_trip(&s, &base);
        round_trip(&s, NULL);
        free(s.bodies);
        free(base.bodies);
    }
}

TEST(an_unchanged_world_is_small)
{
    foliot_snapshot base = random_snapshot(901, 5, NULL, 100);
    for (uint32_t i = 0; i < base.count; i++) { // a grid at rest, as worlds are that do not change
        memset(&base.bodies[i], 0, sizeof base.bodies[i]);
        base.bodies[i].flags = FOLIOT_SNAPSHOT_ALIVE;
        base.bodies[i].position[0] = (int32_t)(i % 30) * 512;
        base.bodies[i].position[1] = (int32_t)(i / 30) * 512;
    }
    foliot_snapshot s = base;
    s.tick = 11;
    foliot_snapshot_coder *coder;
    foliot_snapshot_pieces pieces = {0};
    assert_int_equal(foliot_snapshot_coder_create(&format, &coder), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_snapshot_encode(coder, &s, &base, &pieces), FOLIOT_STATUS_OK);
    assert_int_equal(pieces.count, 1);
    print_message("%u bytes\n", pieces.offsets[1]);
    check_lt(pieces.offsets[1], 12); // with the message byte at most 12
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
    free(base.bodies);
}

TEST(hostile_bytes_do_no_harm)
{
    foliot_snapshot_coder *coder;
    foliot_snapshot got = empty_of(300), base = random_snapshot(200, 5, NULL, 100);
    foliot_snapshot s = random_snapshot(250, 9, &base, 30);
    foliot_snapshot_pieces pieces = {0};
    foliot_snapshot_head head;
    assert_int_equal(foliot_snapshot_coder_create(&format, &coder), FOLIOT_STATUS_OK);
    assert_int_equal(foliot_snapshot_encode(coder, &s, &base, &pieces), FOLIOT_STATUS_OK);
    size_t length = pieces.offsets[1];
    for (size_t cut = 0; cut < length; cut++) {
        uint8_t *copy = malloc(cut + 1);
        memcpy(copy, pieces.bytes, cut);
        allow_failure(foliot_snapshot_decode(coder, copy, cut, base.tick, &base, &got, &head));
        free(copy);
    }
    for (int i = 0; i < 3000; i++) {
        uint8_t *copy = malloc(length);
        memcpy(copy, pieces.bytes, length);
        copy[foliot__rng_below(&rng, i % 2 ? 19 : (uint32_t)length)] ^=
            (uint8_t)(1 << foliot__rng_below(&rng, 8));
        allow_failure(foliot_snapshot_decode(coder, copy, length, base.tick, &base, &got, &head));
        free(copy);
    }
    free(got.bodies);
    free(base.bodies);
    free(s.bodies);
    foliot_snapshot_pieces_destroy(&pieces);
    foliot_snapshot_coder_destroy(coder);
}

int main(void)
{
    rng = foliot__rng_seeded(check_seed(20240229));
    return check_run(NULL, NULL);
}
