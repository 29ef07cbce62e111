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

static void put_command(foliot__buffer *buffer, const foliot_command *command)
{
    size_t length = foliot_command_encode(command, NULL, 0);
    if (buffer->length + length > buffer->capacity &&
        !foliot__buffer_reserve(buffer, 2 * (buffer->length + length) + 256))
        return;
    buffer->length += foliot_command_encode(command, buffer->bytes + buffer->length,
                                            buffer->capacity - buffer->length);
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
    for (uint32_t i = 0; i < count; i++)
        put_command(&encoder->commands, &commands[i]);
    encoder->command_tick = tick;
    encoder->known.command_sequence = first + count;
}

static void put_order(foliot__session_encoder *encoder, uint64_t tick, const foliot_order *order)
{
    uint32_t *known = &encoder->known.order_sequences[order->player];
    bool expected = order->sequence == *known;
    put_varint(&encoder->orders, tick - encoder->order_tick);
    put_varint(&encoder->orders, (uint64_t)order->player << FOLIOT__PLACE_PLAYER |
                                     (unsigned)order->kind << FOLIOT__PLACE_KIND |
                                     (expected ? 0 : FOLIOT__PLACE_SEQUENCE));
    if (!expected)
        put_varint(&encoder->orders, order->sequence);
    put_varint(&encoder->orders, order->length);
    foliot__pack_raw(&encoder->orders, order->bytes, order->length);
    encoder->order_tick = tick;
    *known = order->sequence + 1;
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
    for (uint32_t i = 0; i < recorded->order_count; i++)
        put_order(encoder, tick, &recorded->orders[i]);
    encoder->command_count += count;
    encoder->order_count += recorded->order_count;
}
