// SPDX-License-Identifier: MIT
// chain.c: see chain.h.
#include "chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"

static chain_fault planted;
static uint32_t outside;

static foliot_status create(void *user, const void *setup, size_t setup_bytes, void **self)
{
    (void)user;
    if (setup_bytes != 1)
        return FOLIOT_STATUS_INVALID;
    chain_state *b = calloc(1, sizeof *b);
    if (!b)
        return FOLIOT_STATUS_MEMORY;
    b->random = 1 + *(const uint8_t *)setup;
    for (int i = 0; i < CHAIN_COUNT; i++)
        b->place[i] = 1000 * i;
    *self = b;
    return FOLIOT_STATUS_OK;
}

static uint64_t tick(const void *self)
{
    return ((const chain_state *)self)->tick;
}

static void stage_done(const chain_state *b, uint32_t stage)
{
    if (b->after_stage)
        b->after_stage(b->stage_user, stage);
}

static void push(chain_state *b)
{
    b->wind = (uint32_t)(foliot__splitmix64(&b->random) % 7) + b->wind / 2;
    for (int p = 0; p < 8; p++)
        b->speed[p] += (b->buttons[p] & 15) - 7 + (int32_t)b->wind % 5;
    if (planted == CHAIN_GLOBAL && ++outside % 97 == 0)
        b->speed[3]++;
    if (planted == CHAIN_HIDDEN && b->lived > 20)
        b->speed[4]++;
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t count)
{
    chain_state *b = self;
    for (uint32_t i = 0; i < count; i++)
        if (inputs[i].player >= 8)
            return FOLIOT_STATUS_INVALID;
    for (uint32_t i = 0; i < count; i++)
        b->buttons[inputs[i].player] =
            inputs[i].kind == FOLIOT_INPUT_CONTROL ? inputs[i].buttons : 0;
    b->lived++;
    push(b);
    stage_done(b, 0);
    for (int i = 0; i < CHAIN_COUNT; i++) {
        b->place[i] = (b->place[i] + b->speed[i]) & 0xfffff;
        b->speed[i] -= b->speed[i] / 8;
        b->heat[i] += (uint32_t)(b->speed[i] < 0 ? -b->speed[i] : b->speed[i]);
    }
    stage_done(b, 1);
    b->tick++;
    return FOLIOT_STATUS_OK;
}

static size_t save(const void *self, void *bytes, size_t capacity)
{
    const chain_state *b = self;
    uint8_t local[512];
    foliot__writer w = foliot__writer_of(local, sizeof local);
    foliot__write_u64(&w, b->tick);
    foliot__write_u64(&w, b->random);
    for (int i = 0; i < CHAIN_COUNT; i++) {
        foliot__write_u32(&w, (uint32_t)b->place[i]);
        foliot__write_u32(&w, (uint32_t)b->speed[i]);
        foliot__write_u32(&w, b->heat[i]);
    }
    for (int p = 0; p < 8; p++)
        foliot__write_u16(&w, b->buttons[p]);
    if (planted != CHAIN_FORGETS)
        foliot__write_u32(&w, b->wind);
    if (planted == CHAIN_PADDING)
        foliot__write_u32(&w, b->lived);
    if (bytes && w.at <= capacity)
        memcpy(bytes, local, w.at);
    return w.at;
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    chain_state *b = self, next = *b;
    foliot__reader r = foliot__reader_of(bytes, length);
    next.tick = foliot__read_u64(&r);
    next.random = foliot__read_u64(&r);
    for (int i = 0; i < CHAIN_COUNT; i++) {
        next.place[i] = (int32_t)foliot__read_u32(&r);
        next.speed[i] = (int32_t)foliot__read_u32(&r);
        next.heat[i] = foliot__read_u32(&r);
    }
    for (int p = 0; p < 8; p++)
        next.buttons[p] = foliot__read_u16(&r);
    if (planted != CHAIN_FORGETS)
        next.wind = foliot__read_u32(&r);
    if (planted == CHAIN_PADDING)
        foliot__read_u32(&r);
    if (r.status != FOLIOT_STATUS_OK || r.at != length)
        return FOLIOT_STATUS_CORRUPT;
    if (planted == CHAIN_REFUSES && next.tick % 50 == 49)
        return FOLIOT_STATUS_CORRUPT;
    if (planted == CHAIN_STALE_TICK)
        next.tick = b->tick;
    next.lived = planted == CHAIN_HIDDEN ? b->lived : 0;
    *b = next;
    return FOLIOT_STATUS_OK;
}

static foliot_digest digest(const void *self)
{
    chain_state b = *(const chain_state *)self;
    b.lived = 0;
    b.after_stage = NULL;
    b.stage_user = NULL;
    if (planted == CHAIN_UNDIGESTED)
        b.heat[5] = 0;
    uint64_t words[3 + 4 * CHAIN_COUNT] = {b.tick, b.random, b.wind};
    for (int i = 0; i < CHAIN_COUNT; i++) {
        words[3 + 4 * i] = (uint32_t)b.place[i];
        words[4 + 4 * i] = (uint32_t)b.speed[i];
        words[5 + 4 * i] = b.heat[i];
        words[6 + 4 * i] = i < 8 ? b.buttons[i] : 0;
    }
    if (planted == CHAIN_POINTER)
        words[2] = (uint64_t)(uintptr_t)self;
    uint8_t bytes[8 * (3 + 4 * CHAIN_COUNT)];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        foliot__write_u64(&w, words[i]);
    return foliot_digest_compute(bytes, w.at);
}

static uint32_t part_count(const void *self)
{
    (void)self;
    return 1 + CHAIN_COUNT;
}

static void part(const void *self, uint32_t number, foliot_simulation_part *about)
{
    (void)self;
    *about = number == 0 ? (foliot_simulation_part){"ring", FOLIOT_PART_ALONE, 3}
                         : (foliot_simulation_part){"link", number - 1, 4};
}

static void fields(const void *self, uint32_t number, foliot_simulation_field *values)
{
    const chain_state *b = self;
    if (number == 0) {
        values[0] = (foliot_simulation_field){"tick", FOLIOT_VALUE_U64, false, b->tick};
        values[1] = (foliot_simulation_field){"random", FOLIOT_VALUE_U64, false, b->random};
        values[2] = (foliot_simulation_field){"wind", FOLIOT_VALUE_U64, false, b->wind};
        return;
    }
    uint32_t i = number - 1;
    values[0] =
        (foliot_simulation_field){"place", FOLIOT_VALUE_I64, false, (uint64_t)(int64_t)b->place[i]};
    values[1] =
        (foliot_simulation_field){"speed", FOLIOT_VALUE_I64, false, (uint64_t)(int64_t)b->speed[i]};
    values[2] = (foliot_simulation_field){"heat", FOLIOT_VALUE_U64, false, b->heat[i]};
    values[3] =
        (foliot_simulation_field){"buttons", FOLIOT_VALUE_U64, i >= 8, i < 8 ? b->buttons[i] : 0};
}

static void field_put(void *self, uint32_t number, uint32_t field, uint64_t bits)
{
    chain_state *b = self;
    if (number == 0 && field == 0)
        b->tick = bits;
    else if (number == 0 && field == 1)
        b->random = bits;
    else if (number == 0)
        b->wind = (uint32_t)bits;
    else if (field == 0)
        b->place[number - 1] = (int32_t)bits;
    else if (field == 1)
        b->speed[number - 1] = (int32_t)bits;
    else if (field == 2)
        b->heat[number - 1] = (uint32_t)bits;
    else if (number <= 8)
        b->buttons[number - 1] = (uint16_t)bits;
}

static void watch(void *self, void (*after_stage)(void *user, uint32_t stage), void *user)
{
    chain_state *b = self;
    b->after_stage = after_stage;
    b->stage_user = user;
}

const foliot_simulation_kind *chain_kind(chain_fault fault)
{
    static const char *const stages[CHAIN_STAGES] = {"push", "move"};
    static const foliot_simulation_kind kind = {.name = "tests.chain",
                                                .version = 3,
                                                .create = create,
                                                .destroy = free,
                                                .tick = tick,
                                                .step = step,
                                                .capture = save,
                                                .restore = restore,
                                                .digest = digest,
                                                .part_count = part_count,
                                                .part = part,
                                                .fields = fields,
                                                .set_field = field_put,
                                                .stages = stages,
                                                .stage_count = CHAIN_STAGES,
                                                .watch = watch};
    planted = fault;
    outside = 0;
    return &kind;
}

const foliot_simulation_kind *chain_kind_plain(void)
{
    static foliot_simulation_kind kind;
    const foliot_simulation_kind *whole = chain_kind(CHAIN_NO_FAULT);
    kind = (foliot_simulation_kind){.name = "tests.chain.plain",
                                    .version = 1,
                                    .create = whole->create,
                                    .destroy = whole->destroy,
                                    .tick = whole->tick,
                                    .step = whole->step,
                                    .capture = whole->capture,
                                    .restore = whole->restore};
    return &kind;
}
