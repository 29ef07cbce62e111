// SPDX-License-Identifier: MIT
// bulky.c: see bulky.h.
#include "bulky.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"

typedef struct bulky {
    uint64_t tick, sum;
} bulky;

static bool refuses;

void bulky_refuses_to_save(bool does)
{
    refuses = does;
}

static foliot_status create(void *user, const void *setup, size_t setup_bytes, void **self)
{
    (void)user;
    (void)setup;
    (void)setup_bytes;
    *self = calloc(1, sizeof(bulky));
    return *self ? FOLIOT_STATUS_OK : FOLIOT_STATUS_MEMORY;
}

static uint64_t tick(const void *self)
{
    return ((const bulky *)self)->tick;
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t count)
{
    bulky *b = self;
    b->tick++;
    for (uint32_t i = 0; i < count; i++)
        b->sum = 31 * b->sum + inputs[i].player + (uint64_t)(inputs[i].axes[0] + 128) +
                 1000u * inputs[i].kind;
    return FOLIOT_STATUS_OK;
}

// Bytes that no compression makes fewer.
static const uint8_t *noise(void)
{
    static uint8_t bytes[BULKY_BYTES];
    static bool made;
    uint64_t seed = 42;
    for (size_t at = 0; !made && at + 8 <= sizeof bytes; at += 8) {
        uint64_t word = foliot__splitmix64(&seed);
        memcpy(bytes + at, &word, sizeof word);
    }
    made = true;
    return bytes;
}

static size_t save(const void *self, void *bytes, size_t capacity)
{
    if (refuses)
        return SIZE_MAX;
    if (capacity >= BULKY_BYTES) {
        memcpy(bytes, noise(), BULKY_BYTES);
        memcpy(bytes, self, sizeof(bulky));
    }
    return BULKY_BYTES;
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    if (length != BULKY_BYTES)
        return FOLIOT_STATUS_CORRUPT;
    memcpy(self, bytes, sizeof(bulky));
    return FOLIOT_STATUS_OK;
}

static foliot_digest digest(const void *self)
{
    const bulky *b = self;
    return (foliot_digest){.high = b->tick, .low = b->sum};
}

const foliot_simulation_kind *bulky_kind(void)
{
    static const foliot_simulation_kind kind = {.name = "tests.bulky",
                                                .version = 1,
                                                .create = create,
                                                .destroy = free,
                                                .tick = tick,
                                                .step = step,
                                                .capture = save,
                                                .restore = restore,
                                                .digest = digest};
    return &kind;
}
