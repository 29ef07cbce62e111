// SPDX-License-Identifier: MIT
// session_codec.c: entries of commands and orders. Ticks are differences, sequences are left out
// where they follow the one before.
#include "recording/session_codec.h"

#include "command/command.h"
#include "recording/format.h"

#define HEAD_SOURCE 3u   // bits 0 and 1 of a run's head
#define HEAD_SEQUENCE 4u // its first sequence follows
#define HEAD_COUNT 3     // bits below the count of commands

#define PLACE_SEQUENCE 1u // the order's sequence follows
#define PLACE_KIND 1      // bits below its kind
#define PLACE_PLAYER 4    // bits below its player

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
    put_varint(&encoder->commands, (uint64_t)(count - 1) << HEAD_COUNT | commands[0].source |
                                       (expected ? 0 : HEAD_SEQUENCE));
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
    put_varint(&encoder->orders, (uint64_t)order->player << PLACE_PLAYER |
                                     (unsigned)order->kind << PLACE_KIND |
                                     (expected ? 0 : PLACE_SEQUENCE));
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

// The tick of the next entry: from that of the one before, within the block.
static void read_tick(foliot__reader *r, uint64_t *tick, uint64_t end)
{
    uint64_t ticks = foliot__read_varint(r, FOLIOT__RECORDING_BLOCK_TICKS_MAX);
    if (ticks >= end - *tick)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    else
        *tick += ticks;
}

static void read_command(foliot__reader *r, foliot__session_log *log, uint64_t tick,
                         uint32_t sequence, uint32_t source)
{
    foliot_command command;
    foliot__command_texts texts;
    foliot__command_decode(r, &command, &texts);
    if (r->status == FOLIOT_STATUS_NEWER)
        r->status = FOLIOT_STATUS_UNSUPPORTED; // of a format that is known
    if (r->status != FOLIOT_STATUS_OK)
        return;
    command.sequence = sequence;
    command.source = source;
    foliot_status status = foliot__session_log_command(log, tick, &command);
    if (status != FOLIOT_STATUS_OK)
        foliot__reader_fail(r, status == FOLIOT_STATUS_MEMORY ? status : FOLIOT_STATUS_CORRUPT);
}

// Whether commands of `tick` may go on from this sequence.
static bool sequence_grows(const foliot__session_log *log, uint64_t tick, uint32_t sequence)
{
    const foliot_command *before;
    uint32_t count = foliot__session_log_commands_at(log, tick, &before);
    return count == 0 || sequence > before[count - 1].sequence;
}

foliot_status foliot__session_decode_commands(foliot__session_known *known,
                                              foliot__session_log *log, uint64_t first_tick,
                                              uint64_t tick, const uint8_t *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    uint64_t at = first_tick;
    while (r.at < r.length && r.status == FOLIOT_STATUS_OK) {
        read_tick(&r, &at, tick);
        uint64_t most = (uint64_t)FOLIOT__RECORDING_BLOCK_COMMANDS_MAX << HEAD_COUNT;
        uint32_t head = (uint32_t)foliot__read_varint(&r, most - 1);
        uint32_t sequence = known->command_sequence, count = (head >> HEAD_COUNT) + 1;
        if (head & HEAD_SEQUENCE)
            sequence = (uint32_t)foliot__read_varint(&r, UINT32_MAX);
        if ((head & HEAD_SOURCE) >= FOLIOT__COMMAND_SOURCES || count - 1 > UINT32_MAX - sequence ||
            !sequence_grows(log, at, sequence))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        for (uint32_t i = 0; i < count && r.status == FOLIOT_STATUS_OK; i++)
            read_command(&r, log, at, sequence + i, head & HEAD_SOURCE);
        known->command_sequence = sequence + count;
    }
    return r.status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : r.status;
}

static bool order_follows(const foliot__session_log *log, uint64_t tick, const foliot_order *order)
{
    const foliot_order *orders;
    uint32_t count = foliot__session_log_orders_at(log, tick, &orders);
    const foliot_order *before = count ? &orders[count - 1] : NULL;
    return !before || order->player > before->player ||
           (order->player == before->player && order->sequence > before->sequence);
}

static void read_order(foliot__reader *r, foliot__session_known *known, foliot_order *order)
{
    uint64_t most = (uint64_t)FOLIOT_PLAYERS_MAX << PLACE_PLAYER;
    uint32_t place = (uint32_t)foliot__read_varint(r, most - 1);
    uint32_t kind = place >> PLACE_KIND & 7u;
    order->player = place >> PLACE_PLAYER;
    order->kind = (uint8_t)kind;
    order->sequence = known->order_sequences[order->player];
    if (place & PLACE_SEQUENCE)
        order->sequence = (uint32_t)foliot__read_varint(r, UINT32_MAX);
    order->length = (uint8_t)foliot__read_varint(r, FOLIOT_ORDER_BYTES_MAX);
    const uint8_t *bytes = foliot__read_bytes(r, order->length);
    if (bytes && order->length)
        memcpy(order->bytes, bytes, order->length);
    if (kind > FOLIOT_ORDER_LEFT)
        foliot__reader_fail(r, FOLIOT_STATUS_UNSUPPORTED);
    known->order_sequences[order->player] = order->sequence + 1;
}

foliot_status foliot__session_decode_orders(foliot__session_known *known, foliot__session_log *log,
                                            uint64_t first_tick, uint64_t tick,
                                            const uint8_t *bytes, size_t length)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    uint64_t at = first_tick;
    while (r.at < r.length && r.status == FOLIOT_STATUS_OK) {
        foliot_order order = {0};
        read_tick(&r, &at, tick);
        read_order(&r, known, &order);
        if (r.status == FOLIOT_STATUS_OK &&
            (log->order_count == FOLIOT__RECORDING_BLOCK_ORDERS_MAX ||
             !order_follows(log, at, &order)))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        if (r.status == FOLIOT_STATUS_OK && foliot__session_log_order(log, at, &order))
            foliot__reader_fail(&r, FOLIOT_STATUS_MEMORY);
    }
    return r.status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : r.status;
}
