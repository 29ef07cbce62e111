// SPDX-License-Identifier: MIT
// session_decoder.c: the inverse of session_encoder.c, from hostile bytes.
#include "recording/session_codec.h"

#include "command/command.h"
#include "recording/format.h"

// The tick of the next entry: from that of the one before, within the block.
static void read_tick(foliot__reader *r, uint64_t *tick, uint64_t end)
{
    uint64_t ticks = foliot__read_varint(r, FOLIOT__RECORDING_BLOCK_TICKS_MAX);
    if (ticks >= end - *tick)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    else
        *tick += ticks;
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
        uint64_t most = (uint64_t)FOLIOT__RECORDING_BLOCK_COMMANDS_MAX << FOLIOT__RUN_COUNT;
        uint32_t head = (uint32_t)foliot__read_varint(&r, most - 1);
        uint32_t sequence = known->command_sequence, count = (head >> FOLIOT__RUN_COUNT) + 1;
        if (head & FOLIOT__RUN_SEQUENCE)
            sequence = (uint32_t)foliot__read_varint(&r, UINT32_MAX);
        if ((head & FOLIOT__RUN_SOURCE) >= FOLIOT__COMMAND_SOURCES ||
            count - 1 > UINT32_MAX - sequence || !sequence_grows(log, at, sequence))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        for (uint32_t i = 0; i < count && r.status == FOLIOT_STATUS_OK; i++) {
            foliot_command command;
            foliot__command_texts texts;
            size_t before = r.at;
            foliot__command_decode(&r, &command, &texts);
            if (r.status == FOLIOT_STATUS_NEWER)
                r.status = FOLIOT_STATUS_UNSUPPORTED; // of a format that is known
            if (r.status == FOLIOT_STATUS_OK) {
                command.sequence = sequence + i;
                command.source = head & FOLIOT__RUN_SOURCE;
                foliot_status status =
                    foliot__session_log_command(log, at, &command, r.at - before);
                if (status != FOLIOT_STATUS_OK)
                    foliot__reader_fail(&r, status == FOLIOT_STATUS_MEMORY ? status
                                                                           : FOLIOT_STATUS_CORRUPT);
            }
        }
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

static void read_order(foliot__reader *r, foliot__session_known *known, foliot_order *order,
                       bool aims)
{
    uint64_t most = (uint64_t)FOLIOT_PLAYERS_MAX << FOLIOT__PLACE_PLAYER;
    uint32_t place = (uint32_t)foliot__read_varint(r, most - 1);
    uint32_t kind = place >> FOLIOT__PLACE_KIND & 7u;
    order->player = place >> FOLIOT__PLACE_PLAYER;
    order->kind = (uint8_t)kind;
    order->sequence = known->order_sequences[order->player];
    if (place & FOLIOT__PLACE_SEQUENCE)
        order->sequence = (uint32_t)foliot__read_varint(r, UINT32_MAX);
    order->length = (uint8_t)foliot__read_varint(r, FOLIOT_ORDER_BYTES_MAX);
    const uint8_t *bytes = foliot__read_bytes(r, order->length);
    if (bytes && order->length)
        memcpy(order->bytes, bytes, order->length);
    if (kind > FOLIOT_ORDER_AIMED)
        foliot__reader_fail(r, FOLIOT_STATUS_UNSUPPORTED);
    else if (!foliot__order_valid(order, aims))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    known->order_sequences[order->player] = order->sequence + 1;
}

foliot_status foliot__session_decode_orders(foliot__session_known *known, foliot__session_log *log,
                                            uint64_t first_tick, uint64_t tick,
                                            const uint8_t *bytes, size_t length, bool aims)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    uint64_t at = first_tick;
    while (r.at < r.length && r.status == FOLIOT_STATUS_OK) {
        foliot_order order = {0};
        read_tick(&r, &at, tick);
        read_order(&r, known, &order, aims);
        if (r.status == FOLIOT_STATUS_OK &&
            (log->order_count == FOLIOT__RECORDING_BLOCK_ORDERS_MAX ||
             !order_follows(log, at, &order)))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        if (r.status == FOLIOT_STATUS_OK && foliot__session_log_order(log, at, &order))
            foliot__reader_fail(&r, FOLIOT_STATUS_MEMORY);
    }
    return r.status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : r.status;
}
