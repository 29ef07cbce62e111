// SPDX-License-Identifier: MIT
// test_ring.c tests common/recording/ring.c: bytes come out as they went in, whatever wraps round;
// an empty ring restarts, so that a writer that keeps up never touches more of a large ring than
// one of its blocks.
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "recording/ring.h"

TEST(bytes_come_out_in_order)
{
    foliot__ring ring;
    foliot__rng rng = foliot__rng_seeded(5);
    uint8_t put = 0, taken = 0, bytes[64];
    assert_true(foliot__ring_init(&ring, 61));
    for (int round = 0; round < 20000; round++) {
        size_t first = foliot__rng_below(&rng, 9), second = foliot__rng_below(&rng, 9),
               room = 61 - foliot__ring_used(&ring);
        for (size_t i = 0; i < first + second; i++)
            bytes[i] = (uint8_t)(put + i);
        bool fits = foliot__ring_put(&ring, bytes, first, bytes + first, second);
        assert_int_equal(fits, first + second <= room);
        put = (uint8_t)(put + (fits ? first + second : 0));
        size_t count = foliot__rng_below(&rng, (uint32_t)foliot__ring_used(&ring) + 1), length;
        if (count == 0)
            continue;
        foliot__ring_peek(&ring, bytes, count);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(bytes[i], (uint8_t)(taken + i));
        for (size_t at = 0; at < count; at += length) {
            const uint8_t *piece = foliot__ring_piece(&ring, at, count - at, &length);
            assert_memory_equal(piece, bytes + at, length);
        }
        foliot__ring_drop(&ring, count);
        taken = (uint8_t)(taken + count);
    }
    foliot__ring_free(&ring);
}

TEST(an_empty_ring_begins_anew)
{
    foliot__ring ring;
    uint8_t block[700] = {1};
    size_t length;
    assert_true(foliot__ring_init(&ring, 1 << 20));
    for (int round = 0; round < 1000; round++) {
        assert_true(foliot__ring_put(&ring, block, 16, block, sizeof block));
        assert_ptr_equal(foliot__ring_piece(&ring, 0, 716, &length), ring.bytes);
        assert_int_equal(length, 716);
        foliot__ring_drop(&ring, 716);
    }
    foliot__ring_free(&ring);
}
