// SPDX-License-Identifier: MIT
// tally.c: see tally.h. Everything that enters a tick goes into the number in order, so that
// nothing can be lost, doubled or swapped unseen.
#include "tally.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "foliot/divergence.h"

#define STATE_BYTES 16

typedef struct tally {
    uint64_t tick, sum;
} tally;

static foliot_status create(void *user, const void *setup, size_t setup_bytes, void **self)
{
    (void)user;
    (void)setup;
    tally *t = calloc(1, sizeof *t);
    if (!t)
        return FOLIOT_STATUS_MEMORY;
    t->sum = setup_bytes;
    *self = t;
    return FOLIOT_STATUS_OK;
}

static void destroy(void *self)
{
    free(self);
}

static uint64_t tick_of(const void *self)
{
    return ((const tally *)self)->tick;
}

static void add(tally *t, const void *bytes, size_t length)
{
    t->sum = foliot_digest_chain(t->sum, foliot_digest_compute(bytes, length));
}

static foliot_status step_tick(void *self, const foliot_tick_inputs *in)
{
    tally *t = self;
    for (uint32_t i = 0; i < in->input_count; i++) {
        const uint32_t numbers[] = {in->inputs[i].player, in->inputs[i].sequence,
                                    in->inputs[i].buttons};
        add(t, numbers, sizeof numbers);
    }
    for (uint32_t i = 0; i < in->command_count; i++) {
        uint8_t bytes[1024];
        const uint32_t numbers[] = {in->commands[i].sequence, in->commands[i].source};
        add(t, numbers, sizeof numbers);
        add(t, bytes, foliot_command_encode(&in->commands[i], bytes, sizeof bytes));
    }
    t->tick++;
    return FOLIOT_STATUS_OK;
}

static foliot_status step(void *self, const foliot_input *inputs, uint32_t count)
{
    const foliot_tick_inputs in = {.inputs = inputs, .input_count = count};
    return step_tick(self, &in);
}

static size_t capture(const void *self, void *bytes, size_t capacity)
{
    const tally *t = self;
    if (bytes && capacity >= STATE_BYTES) {
        foliot__writer w = foliot__writer_of(bytes, capacity);
        foliot__write_u64(&w, t->tick);
        foliot__write_u64(&w, t->sum);
    }
    return STATE_BYTES;
}

static foliot_status restore(void *self, const void *bytes, size_t length)
{
    tally *t = self;
    foliot__reader r = foliot__reader_of(bytes, length);
    tally read;
    read.tick = foliot__read_u64(&r);
    read.sum = foliot__read_u64(&r);
    if (length != STATE_BYTES)
        return FOLIOT_STATUS_CORRUPT;
    *t = read;
    return FOLIOT_STATUS_OK;
}

#define TALLY                                                                                      \
    .name = "tests.tally", .version = 1, .create = create, .destroy = destroy, .tick = tick_of,    \
    .step = step, .capture = capture, .restore = restore

const foliot_simulation_kind *tally_kind(bool takes)
{
    static const foliot_simulation_kind with = {TALLY, .step_tick = step_tick};
    static const foliot_simulation_kind without = {TALLY};
    return takes ? &with : &without;
}
