// SPDX-License-Identifier: MIT
// fuzz_snapshot.c: any bytes as a piece of a snapshot. Bytes that decode are a snapshot: it
// encodes, and decodes to itself.
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "foliot/snapshot.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_BODIES 300

static const foliot_snapshot_format fuzz_format = {.position_step = 0x1p-9,
                                                   .velocity_step = 0x1p-13,
                                                   .acceleration = {0, 0, -1456},
                                                   .damping = 64881,
                                                   .rotates = true,
                                                   .spins = true,
                                                   .bodies_max = FUZZ_BODIES};
static foliot_snapshot_coder *fuzz_coder;
static foliot_snapshot_pieces fuzz_pieces;

// Bodies at rest, moving, spinning, and none.
static void fuzz_baseline(foliot_snapshot *base)
{
    memset(base->bodies, 0, sizeof *base->bodies * base->capacity);
    for (uint32_t i = 0; i < base->count; i++) {
        if (i % 7 == 6)
            continue;
        foliot_snapshot_body *b = &base->bodies[i];
        b->flags = FOLIOT_SNAPSHOT_ALIVE | (i % 5 == 0 ? FOLIOT_SNAPSHOT_PLAYER : 0);
        b->largest = i & 3;
        for (int k = 0; k < 3; k++) {
            b->position[k] = (int32_t)(i * 200 + (uint32_t)k * 77);
            b->velocity[k] = i % 3 ? 0 : (int32_t)(i * 100) - 5000;
            b->spin[k] = (int16_t)(i % 3 ? 0 : 40 * k - 50);
            b->orientation[k] = (uint16_t)((i * 13 + (uint32_t)k * 99) & 511);
        }
    }
}

static void fuzz_again(const foliot_snapshot *s, const foliot_snapshot *base)
{
    static foliot_snapshot_body bodies[FUZZ_BODIES];
    foliot_snapshot got = {
        .tick = s->tick, .count = s->count, .capacity = FUZZ_BODIES, .bodies = bodies};
    FOLIOT_ASSERT(foliot_snapshot_encode(fuzz_coder, s, base, &fuzz_pieces) == FOLIOT_STATUS_OK);
    for (uint32_t i = 0; i < fuzz_pieces.count; i++) {
        foliot_snapshot_head head;
        uint32_t at = fuzz_pieces.offsets[i], end = fuzz_pieces.offsets[i + 1];
        FOLIOT_ASSERT(end - at <= FOLIOT_SNAPSHOT_PIECE_BYTES);
        FOLIOT_ASSERT(foliot_snapshot_decode(fuzz_coder, fuzz_pieces.bytes + at, end - at, s->tick,
                                             base, &got, &head) == FOLIOT_STATUS_OK);
    }
    FOLIOT_ASSERT(foliot_snapshot_equal(s, &got));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static foliot_snapshot_body bodies[FUZZ_BODIES], base_bodies[FUZZ_BODIES];
    foliot_snapshot base = {.count = 200, .capacity = FUZZ_BODIES, .bodies = base_bodies};
    foliot_snapshot into = {.capacity = FUZZ_BODIES, .bodies = bodies};
    foliot_snapshot_head head;
    if (!fuzz_coder)
        FOLIOT_ASSERT(foliot_snapshot_coder_create(&fuzz_format, &fuzz_coder) == FOLIOT_STATUS_OK);
    if (foliot_snapshot_decode_head(data, size, 0, &head) != FOLIOT_STATUS_OK)
        return 0;
    fuzz_baseline(&base);
    memset(bodies, 0, sizeof bodies);
    base.tick = head.baseline_tick;
    const foliot_snapshot *baseline = head.has_baseline ? &base : NULL;
    foliot_status status =
        foliot_snapshot_decode(fuzz_coder, data, size, 0, baseline, &into, &head);
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK || status == FOLIOT_STATUS_CORRUPT ||
                  status == FOLIOT_STATUS_INVALID);
    if (status == FOLIOT_STATUS_OK) {
        into.tick = head.tick;
        into.count = head.bodies;
        fuzz_again(&into, baseline);
    }
    return 0;
}
