// SPDX-License-Identifier: MIT
// session_encoder.c: entries of commands and orders. Ticks are differences, sequences are left out
// where they follow the one before.
#include "recording/session_codec.h"

#include "recording/format.h"

// A tick that makes a block larger than this begins another one.
#define BLOCK_BYTES ((size_t)1 << 20)

void foliot__session_encoder_free(foliot__session_encoder *encoder)
{
    foliot__buffer_free(&encoder->commands);
    foliot__buffer_free(&encoder->orders);
}

void foliot__session_encoder_begin(foliot__session_encoder *encoder, uint64_t tick)
{
    encoder->command_tick = encoder->order_tick = tick;
    encoder->commands.length = encoder->orders.length = 0;
    encoder->command_count = encoder->order_count = 0;
}

bool foliot__session_encoder_fits(const foliot__session_encoder *encoder,
                                  const foliot__recorded_tick *recorded)
{
    uint32_t commands = recorded->inputs.command_count, orders = recorded->order_count;
    size_t bytes = encoder->commands.length + encoder->orders.length;
    return commands <= FOLIOT__RECORDING_BLOCK_COMMANDS_MAX - encoder->command_count &&
           orders <= FOLIOT__RECORDING_BLOCK_ORDERS_MAX - encoder->order_count &&
           (commands + orders == 0 || bytes < BLOCK_BYTES);
}

static void put_varint(foliot__buffer *buffer, uint64_t value)
{
    uint8_t bytes[10];
    foliot__writer w = foliot__writer_of(bytes, sizeof bytes);
    foliot__write_varint(&w, value);
    foliot__pack_raw(buffer, bytes, w.at);
}

// Commands of one tick and source whose sequences follow one another.
static void put_run(foliot__session_encoder *encoder, uint64_t tick, const foliot_command *commands,
                    uint32_t count)
{
    uint32_t first = commands[0].sequence;
    bool expected = first == encoder->known.command_sequence;
    put_varint(&encoder->commands, tick - encoder->command_tick);
    put_varint(&encoder->commands, (uint64_t)(count - 1) << FOLIOT__RUN_COUNT | commands[0].source |
                                       (expected ? 0 : FOLIOT__RUN_SEQUENCE));
    if (!expected)
        put_varint(&encoder->commands, first);
    for (uint32_t i = 0; i < count; i++) {
        size_t length = foliot_command_encode(&commands[i], NULL, 0);
        if (encoder->commands.length + length <= encoder->commands.capacity ||
            foliot__buffer_reserve(&encoder->commands,
                                   2 * (encoder->commands.length + length) + 256)) {
            encoder->commands.length += foliot_command_encode(
                &commands[i], encoder->commands.bytes + encoder->commands.length,
                encoder->commands.capacity - encoder->commands.length);
        }
    }
    encoder->command_tick = tick;
    encoder->known.command_sequence = first + count;
}

void foliot__session_encode_tick(foliot__session_encoder *encoder, uint64_t tick,
                                 const foliot__recorded_tick *recorded)
{
    const foliot_command *commands = recorded->inputs.commands;
    uint32_t count = recorded->inputs.command_count;
    for (uint32_t from = 0, end; from < count; from = end) {
        for (end = from + 1; end < count && commands[end].source == commands[from].source &&
                             commands[end].sequence == commands[end - 1].sequence + 1;
             end++) {
        }
        put_run(encoder, tick, commands + from, end - from);
    }
    for (uint32_t i = 0; i < recorded->order_count; i++) {
        uint32_t *known = &encoder->known.order_sequences[recorded->orders[i].player];
        bool expected = recorded->orders[i].sequence == *known;
        put_varint(&encoder->orders, tick - encoder->order_tick);
        put_varint(&encoder->orders, (uint64_t)recorded->orders[i].player << FOLIOT__PLACE_PLAYER |
                                         (unsigned)recorded->orders[i].kind << FOLIOT__PLACE_KIND |
                                         (expected ? 0 : FOLIOT__PLACE_SEQUENCE));
        if (!expected)
            put_varint(&encoder->orders, recorded->orders[i].sequence);
        put_varint(&encoder->orders, recorded->orders[i].length);
        foliot__pack_raw(&encoder->orders, recorded->orders[i].bytes, recorded->orders[i].length);
        encoder->order_tick = tick;
        *known = recorded->orders[i].sequence + 1;
    }
    encoder->command_count += count;
    encoder->order_count += recorded->order_count;
}
