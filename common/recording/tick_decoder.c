// SPDX-License-Identifier: MIT
// tick_decoder.c: the inverse of encoder.c: it turns entries of INPUTS, COMMANDS and ORDERS into
// the inputs, commands and orders of every tick. Refuses bytes that no writer produces: players out
// of order, ticks outside the block, values out of range, more inputs than a block may hold.
#include "recording/record_decoder.h"

#include "base/pack.h"
#include "command/command.h"

#include <string.h>

typedef struct expansion {
    foliot__block_reader *reader;
    foliot__input_log *log;
    foliot__reader *r;
    uint32_t values;     // left
    uint64_t entry_tick; // of the entry that `place` begins
    uint64_t tick;
    uint32_t count; // of inputs so far
    bool pending;   // an entry's tick was read, not yet the rest
} expansion;

void foliot__recording_forget_players(foliot__block_reader *reader)
{
    memset(reader->players, 0, sizeof *reader->players * reader->player_count);
    reader->player_count = reader->stream_count = 0;
    memset(&reader->session, 0, sizeof reader->session);
}

static int64_t unpack_in_range(expansion *e, int64_t low, int64_t high)
{
    if (e->values == 0) {
        foliot__reader_fail(e->r, FOLIOT_STATUS_CORRUPT);
        return low;
    }
    e->values--;
    int64_t value = foliot__unpack_int(e->r);
    if (value >= low && value <= high)
        return value;
    foliot__reader_fail(e->r, FOLIOT_STATUS_CORRUPT);
    return low;
}

static void begin_entry(expansion *e)
{
    e->pending = e->values > 0;
    if (e->pending)
        e->entry_tick += (uint64_t)unpack_in_range(e, 0, FOLIOT__RECORDING_BLOCK_TICKS_MAX);
}

static void append_input(expansion *e, uint32_t player, uint8_t kind)
{
    foliot__recording_player *known = &e->reader->players[player];
    foliot_input input = {
        .player = player, .sequence = known->sequence, .kind = kind, .buttons = known->buttons};
    memcpy(input.axes, known->axes, sizeof input.axes);
    known->sequence++;
    foliot_status status = ++e->count > FOLIOT__RECORDING_BLOCK_INPUTS_MAX
                               ? FOLIOT_STATUS_CORRUPT
                               : foliot__input_log_append(e->log, &input);
    if (status != FOLIOT_STATUS_OK)
        foliot__reader_fail(e->r, status == FOLIOT_STATUS_MEMORY ? status : FOLIOT_STATUS_CORRUPT);
}

// Players that stream and have no entry in this tick: from *from up to, not including, `end`.
static void put_streaming(expansion *e, uint32_t *from, uint32_t end)
{
    if (e->reader->stream_count)
        for (uint32_t p = *from; p < end && p < e->reader->player_count; p++)
            if (e->reader->players[p].streams)
                append_input(e, p, FOLIOT_INPUT_CONTROL);
    *from = end;
}

// The rest of one entry. `from`: players below have had theirs.
static void expand_entry(expansion *e, uint32_t *from)
{
    uint32_t place =
        (uint32_t)unpack_in_range(e, 0, FOLIOT_PLAYERS_MAX * FOLIOT__RECORDING_CODES - 1);
    uint32_t player = place / FOLIOT__RECORDING_CODES, code = place % FOLIOT__RECORDING_CODES;
    if (player + 1 < *from || code > FOLIOT__RECORDING_NONE ||
        (code == FOLIOT__RECORDING_NONE && player < *from))
        foliot__reader_fail(e->r, FOLIOT_STATUS_CORRUPT);
    if (e->r->status != FOLIOT_STATUS_OK)
        return;
    if (player >= *from)
        put_streaming(e, from, player);
    if (player >= e->reader->player_count)
        e->reader->player_count = player + 1;
    foliot__recording_player *known = &e->reader->players[player];
    uint32_t before = known->sequence;
    bool again = player + 1 == *from; // a second input of the player in one tick
    *from = player + 1;
    if (code != FOLIOT__RECORDING_NONE) {
        unsigned mask = (unsigned)unpack_in_range(e, 0, 63);
        for (unsigned i = 0; i < FOLIOT_AXIS_COUNT; i++)
            if (mask >> i & 1)
                known->axes[i] = (int8_t)unpack_in_range(e, -128, 127);
        if (mask & FOLIOT__RECORDING_MASK_BUTTONS)
            known->buttons = (uint16_t)unpack_in_range(e, 0, 65535);
        if (mask & FOLIOT__RECORDING_MASK_SEQUENCE)
            known->sequence = (uint32_t)unpack_in_range(e, 0, UINT32_MAX);
        if (again && known->sequence < before)
            foliot__reader_fail(e->r, FOLIOT_STATUS_CORRUPT);
        append_input(e, player,
                     code == FOLIOT__RECORDING_JOIN    ? FOLIOT_INPUT_JOIN
                     : code == FOLIOT__RECORDING_LEAVE ? FOLIOT_INPUT_LEAVE
                                                       : FOLIOT_INPUT_CONTROL);
    }
    bool streams = code == FOLIOT__RECORDING_STREAM;
    e->reader->stream_count += (uint32_t)streams - (uint32_t)known->streams;
    known->streams = streams;
}

foliot_status foliot__recording_expand(foliot__block_reader *reader,
                                       foliot__recording_content *content, uint64_t tick,
                                       foliot__reader *entries, uint32_t values)
{
    expansion e = {.reader = reader,
                   .log = &content->inputs,
                   .r = entries,
                   .values = values,
                   .entry_tick = content->first_tick};
    begin_entry(&e);
    for (e.tick = content->first_tick; e.tick < tick && entries->status == FOLIOT_STATUS_OK;
         e.tick++) {
        uint32_t from = 0;
        while (e.pending && e.entry_tick == e.tick && e.r->status == FOLIOT_STATUS_OK) {
            expand_entry(&e, &from);
            begin_entry(&e);
        }
        put_streaming(&e, &from, FOLIOT_PLAYERS_MAX);
        if (foliot__input_log_close_tick(e.log) != FOLIOT_STATUS_OK)
            foliot__reader_fail(e.r, FOLIOT_STATUS_MEMORY);
    }
    if (e.pending || e.values) // entries beyond the block's ticks
        foliot__reader_fail(entries, FOLIOT_STATUS_CORRUPT);
    return entries->status;
}

// -- commands and orders

// The tick of the next entry: from that of the one before, within the block.
static void read_tick(foliot__reader *r, uint64_t *tick, uint64_t end)
{
    uint64_t ticks = foliot__read_varint(r, FOLIOT__RECORDING_BLOCK_TICKS_MAX);
    if (ticks >= end - *tick)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    else
        *tick += ticks;
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
        const foliot_command *before;
        uint32_t before_count = foliot__session_log_commands_at(log, at, &before);
        if ((head & FOLIOT__RUN_SOURCE) >= FOLIOT__COMMAND_SOURCES ||
            count - 1 > UINT32_MAX - sequence ||
            (before_count > 0 && sequence <= before[before_count - 1].sequence))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        for (uint32_t i = 0; i < count && r.status == FOLIOT_STATUS_OK; i++) {
            foliot_command command;
            foliot__command_texts texts;
            size_t start = r.at;
            foliot__command_decode(&r, &command, &texts);
            if (r.status == FOLIOT_STATUS_NEWER)
                r.status = FOLIOT_STATUS_UNSUPPORTED; // of a format that is known
            if (r.status == FOLIOT_STATUS_OK) {
                command.sequence = sequence + i;
                command.source = head & FOLIOT__RUN_SOURCE;
                foliot_status status = foliot__session_log_command(log, at, &command, r.at - start);
                if (status != FOLIOT_STATUS_OK)
                    foliot__reader_fail(&r, status == FOLIOT_STATUS_MEMORY ? status
                                                                           : FOLIOT_STATUS_CORRUPT);
            }
        }
        known->command_sequence = sequence + count;
    }
    return r.status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : r.status;
}

static void read_order(foliot__reader *r, foliot__session_known *known, foliot_order *order,
                       uint32_t features)
{
    uint64_t most = (uint64_t)(FOLIOT_PLAYERS_MAX + 1) << FOLIOT__PLACE_PLAYER;
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
    if (kind > FOLIOT_ORDER_DROPPED)
        foliot__reader_fail(r, FOLIOT_STATUS_UNSUPPORTED);
    else if (!foliot__order_valid(order, features))
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    known->order_sequences[order->player] = order->sequence + 1;
}

foliot_status foliot__session_decode_orders(foliot__session_known *known, foliot__session_log *log,
                                            uint64_t first_tick, uint64_t tick,
                                            const uint8_t *bytes, size_t length, uint32_t features)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    uint64_t at = first_tick;
    while (r.at < r.length && r.status == FOLIOT_STATUS_OK) {
        foliot_order order = {0};
        read_tick(&r, &at, tick);
        read_order(&r, known, &order, features);
        const foliot_order *orders, *before;
        uint32_t count = foliot__session_log_orders_at(log, at, &orders);
        before = count ? &orders[count - 1] : NULL;
        if (r.status == FOLIOT_STATUS_OK &&
            (log->order_count == FOLIOT__RECORDING_BLOCK_ORDERS_MAX ||
             (before && (order.player < before->player ||
                         (order.player == before->player && order.sequence <= before->sequence)))))
            foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
        if (r.status == FOLIOT_STATUS_OK && foliot__session_log_order(log, at, &order))
            foliot__reader_fail(&r, FOLIOT_STATUS_MEMORY);
    }
    return r.status == FOLIOT_STATUS_TRUNCATED ? FOLIOT_STATUS_CORRUPT : r.status;
}
