// SPDX-License-Identifier: MIT
// lockstep_message.c: packets of lockstep to bytes and back. Small numbers are sent as varints:
// seven bits per byte, low ones first; the high bit means that another byte follows.
#include "wire/lockstep_message.h"
#include "wire/message.h"

#include "base/bytes.h"
#include "base/rng.h"

static void put_varint(foliot__writer *w, uint32_t value)
{
    for (; value > 127; value >>= 7)
        foliot__write_u8(w, (uint8_t)(value | 128));
    foliot__write_u8(w, (uint8_t)value);
}

static uint32_t read_varint(foliot__reader *r, uint32_t most)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        uint32_t byte = foliot__read_u8(r);
        value |= (byte & 127) << shift;
        if (byte < 128) {
            if (value > most || (shift > 0 && byte == 0))
                foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT); // each number has one encoding
            return value;
        }
    }
    foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return 0;
}

static void put_acks(foliot__writer *w, const foliot__tick_acks *acks)
{
    foliot__write_u32(w, acks->next);
    foliot__write_u8(w, (uint8_t)acks->count);
    for (uint32_t i = 0; i < acks->count; i++) {
        put_varint(w, acks->runs[i].missing);
        put_varint(w, acks->runs[i].here);
    }
}

static uint32_t read_run(foliot__reader *r)
{
    uint32_t length = read_varint(r, FOLIOT__BLOCK_TICKS_MAX);
    if (length == 0)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return length;
}

static void read_acks(foliot__reader *r, foliot__tick_acks *acks)
{
    acks->next = foliot__read_u32(r);
    acks->count = foliot__read_u8(r);
    if (acks->count > FOLIOT__RUNS_MAX) {
        acks->count = 0;
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    }
    for (uint32_t i = 0; i < acks->count; i++) {
        acks->runs[i].missing = read_run(r);
        acks->runs[i].here = read_run(r);
    }
}

static foliot__reader open_packet(const uint8_t *bytes, size_t length, uint8_t kind)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    if (foliot__read_u8(&r) != kind)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    return r;
}

static foliot__writer begin_packet(uint8_t bytes[FOLIOT_PACKET_BYTES_MAX], uint8_t kind)
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT_PACKET_BYTES_MAX);
    foliot__write_u8(&w, kind);
    return w;
}

static void put_block(foliot__writer *w, uint32_t ticks, const uint8_t *block, size_t block_length)
{
    put_varint(w, ticks);
    foliot__write_bytes(w, block, block_length);
}

static void read_block(foliot__reader *r, uint32_t *ticks, const uint8_t **block,
                       size_t *block_length)
{
    *ticks = read_varint(r, FOLIOT__BLOCK_TICKS_MAX);
    *block_length = foliot__reader_left(r);
    *block = foliot__read_bytes(r, *block_length);
}

static size_t written(const foliot__writer *w)
{
    return w->status == FOLIOT_STATUS_OK ? w->at : SIZE_MAX;
}

size_t foliot__lockstep_input_encode(const foliot__lockstep_input *packet,
                                     uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    foliot__writer w = begin_packet(bytes, FOLIOT__LOCKSTEP_INPUT_PACKET);
    put_acks(&w, &packet->acks);
    put_varint(&w, packet->behind);
    foliot__write_u64(&w, packet->digests);
    put_varint(&w, packet->ahead);
    foliot__write_u16(&w, packet->sent_ms);
    foliot__write_u16(&w, packet->shown);
    foliot__write_u8(&w, packet->state);
    put_varint(&w, packet->back);
    put_block(&w, packet->ticks, packet->block, packet->block_length);
    return written(&w);
}

foliot_status foliot__lockstep_input_decode(const uint8_t *bytes, size_t length,
                                            foliot__lockstep_input *packet)
{
    foliot__reader r = open_packet(bytes, length, FOLIOT__LOCKSTEP_INPUT_PACKET);
    read_acks(&r, &packet->acks);
    packet->behind = read_varint(&r, UINT32_MAX);
    packet->digests = foliot__read_u64(&r);
    packet->ahead = read_varint(&r, UINT32_MAX);
    packet->sent_ms = foliot__read_u16(&r);
    packet->shown = foliot__read_u16(&r);
    packet->state = foliot__read_u8(&r);
    packet->back = read_varint(&r, UINT32_MAX);
    read_block(&r, &packet->ticks, &packet->block, &packet->block_length);
    return r.status;
}

size_t foliot__relay_encode(const foliot__relay *packet, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    foliot__writer w = begin_packet(bytes, packet->runs_length ? FOLIOT__RELAY_COMMANDS_PACKET
                                                               : FOLIOT__RELAY_PACKET);
    foliot__write_u32(&w, packet->end);
    if (packet->runs_length) {
        foliot__write_u8(&w, (uint8_t)packet->runs_length);
        foliot__write_bytes(&w, packet->runs, packet->runs_length);
    }
    put_block(&w, packet->ticks, packet->block, packet->block_length);
    return written(&w);
}

foliot_status foliot__relay_decode(const uint8_t *bytes, size_t length, foliot__relay *packet)
{
    bool commands = length > 0 && bytes[0] == FOLIOT__RELAY_COMMANDS_PACKET;
    foliot__reader r =
        open_packet(bytes, length, commands ? FOLIOT__RELAY_COMMANDS_PACKET : FOLIOT__RELAY_PACKET);
    packet->end = foliot__read_u32(&r);
    packet->runs_length = commands ? foliot__read_u8(&r) : 0;
    packet->runs = commands ? foliot__read_bytes(&r, packet->runs_length) : NULL;
    if (commands && (packet->runs_length == 0 || packet->runs_length > FOLIOT__COMMAND_RUNS_BYTES))
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    read_block(&r, &packet->ticks, &packet->block, &packet->block_length);
    return r.status;
}

size_t foliot__early_encode(const foliot__early *packet, uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    foliot__writer w = begin_packet(bytes, FOLIOT__EARLY_PACKET);
    foliot__write_u32(&w, packet->first);
    put_block(&w, packet->ticks, packet->block, packet->block_length);
    return written(&w);
}

foliot_status foliot__early_decode(const uint8_t *bytes, size_t length, foliot__early *packet)
{
    foliot__reader r = open_packet(bytes, length, FOLIOT__EARLY_PACKET);
    packet->first = foliot__read_u32(&r);
    read_block(&r, &packet->ticks, &packet->block, &packet->block_length);
    if (packet->ticks == 0 || packet->ticks > FOLIOT__EARLY_TICKS_MAX || packet->block_length == 0)
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    return r.status;
}

size_t foliot__lockstep_status_encode(const foliot__lockstep_status *packet,
                                      uint8_t bytes[FOLIOT_PACKET_BYTES_MAX])
{
    foliot__writer w = begin_packet(bytes, FOLIOT__LOCKSTEP_STATUS_PACKET);
    foliot__write_u32(&w, packet->tick);
    put_acks(&w, &packet->acks);
    foliot__write_u32(&w, packet->checked);
    foliot__write_u8(&w, packet->diverged);
    foliot__write_u32(&w, packet->stamp);
    foliot__write_u32(&w, (uint32_t)packet->slack_us);
    foliot__write_u16(&w, packet->echo_ms);
    foliot__write_u16(&w, packet->held_ms);
    foliot__write_u32(&w, packet->late);
    foliot__write_u32(&w, packet->missing);
    return written(&w);
}

foliot_status foliot__lockstep_status_decode(const uint8_t *bytes, size_t length,
                                             foliot__lockstep_status *packet)
{
    foliot__reader r = open_packet(bytes, length, FOLIOT__LOCKSTEP_STATUS_PACKET);
    packet->tick = foliot__read_u32(&r);
    read_acks(&r, &packet->acks);
    packet->checked = foliot__read_u32(&r);
    uint8_t flag = foliot__read_u8(&r);
    packet->diverged = flag == 1;
    packet->stamp = foliot__read_u32(&r);
    packet->slack_us = (int32_t)foliot__read_u32(&r);
    packet->echo_ms = foliot__read_u16(&r);
    packet->held_ms = foliot__read_u16(&r);
    packet->late = foliot__read_u32(&r);
    packet->missing = foliot__read_u32(&r);
    if (flag > 1 || (r.status == FOLIOT_STATUS_OK && r.at != length))
        foliot__reader_fail(&r, FOLIOT_STATUS_CORRUPT);
    return r.status;
}

// -- between packets and logs

static uint32_t run_of(const foliot__tick_log *log, uint64_t from, bool here)
{
    uint32_t length = 0;
    while (from + length < log->end && foliot__tick_log_has(log, from + length) == here &&
           length < FOLIOT__BLOCK_TICKS_MAX)
        length++;
    return length;
}

foliot__tick_acks foliot__tick_acks_of(const foliot__tick_log *log)
{
    foliot__tick_acks acks = {.next = (uint32_t)log->next};
    for (uint64_t at = log->next; at < log->end && acks.count < FOLIOT__RUNS_MAX; acks.count++) {
        uint32_t missing = run_of(log, at, false), here = run_of(log, at + missing, true);
        if (missing == 0 || here == 0)
            break;
        acks.runs[acks.count].missing = missing;
        acks.runs[acks.count].here = here;
        at += missing + here;
    }
    return acks;
}

bool foliot__tick_hole(const foliot__tick_acks *acks, uint64_t next, uint32_t i, uint64_t *from,
                       uint64_t *to)
{
    uint64_t at = next;
    if (i >= acks->count)
        return false;
    for (uint32_t k = 0; k < i; k++)
        at += acks->runs[k].missing + acks->runs[k].here;
    *from = at;
    *to = at + acks->runs[i].missing;
    return true;
}

// False if it has more inputs than a block may.
static bool gather(const foliot__tick_log *log, uint64_t from, uint64_t end, foliot__block *block)
{
    block->count = 0;
    block->ticks = (uint32_t)(end - from);
    for (uint64_t tick = from; tick < end; tick++) {
        uint32_t at = block->count, room = FOLIOT__BLOCK_INPUTS_MAX - at;
        uint32_t count = foliot__tick_log_read(log, tick, block->inputs + at, room);
        if (count > room)
            return false;
        for (uint32_t i = 0; i < count; i++)
            block->ages[at + i] = (uint32_t)(tick - from);
        block->count += count;
    }
    return true;
}

// Bytes of [from, end); SIZE_MAX if it does not fit into `capacity`.
static size_t encode(const foliot__tick_log *log, uint64_t from, uint64_t end,
                     foliot__block *scratch, uint8_t *bytes, size_t capacity)
{
    return gather(log, from, end, scratch) ? foliot__block_encode(scratch, bytes, capacity)
                                           : SIZE_MAX;
}

// How many inputs a tick has; none if it is not here.
static uint32_t inputs_of(const foliot__tick_log *log, uint64_t tick)
{
    return foliot__tick_log_read(log, tick, NULL, 0);
}

size_t foliot__block_of_newest(const foliot__tick_log *log, uint64_t from, uint64_t end,
                               foliot__block *scratch, uint8_t *bytes, size_t capacity,
                               uint64_t *first)
{
    if (end - from > FOLIOT__BLOCK_TICKS_MAX)
        from = end - FOLIOT__BLOCK_TICKS_MAX;
    uint64_t least = end;
    for (uint32_t count = 0; least > from; least--) { // ranges far beyond the budget are not tried
        count += inputs_of(log, least - 1);
        if (count > FOLIOT__BUDGET_INPUTS && end - least >= FOLIOT__LEAST_TICKS)
            break;
    }
    from = least;
    for (;;) {
        uint64_t ticks = end - from;
        size_t length = encode(log, from, end, scratch, bytes, capacity);
        *first = from;
        if (length <= FOLIOT__BLOCK_BUDGET || (length != SIZE_MAX && ticks <= FOLIOT__LEAST_TICKS))
            return length;
        if (ticks <= 1)
            return SIZE_MAX;
        uint64_t fewer = ticks - ticks / 4 - 1;
        from =
            end - (ticks > FOLIOT__LEAST_TICKS && fewer < FOLIOT__LEAST_TICKS ? FOLIOT__LEAST_TICKS
                                                                              : fewer);
    }
}

size_t foliot__block_of_oldest(const foliot__tick_log *log, uint64_t from, uint64_t end,
                               foliot__block *scratch, uint8_t *bytes, size_t capacity,
                               uint64_t *next)
{
    if (end - from > FOLIOT__BLOCK_TICKS_MAX)
        end = from + FOLIOT__BLOCK_TICKS_MAX;
    uint64_t most = from;
    for (uint32_t count = 0; most < end; most++) { // an input rarely takes less than a byte
        count += inputs_of(log, most);
        if (count > capacity && most > from)
            break;
    }
    end = most;
    for (;; end = from + (end - from + 1) / 2) {
        size_t length = encode(log, from, end, scratch, bytes, capacity);
        *next = end;
        if (length != SIZE_MAX || end - from <= 1)
            return length;
    }
}

uint32_t foliot__block_apply(foliot__tick_log *log, const foliot__block *block, uint64_t first)
{
    uint32_t at = 0, taken = 0;
    for (uint32_t age = 0; age < block->ticks; age++) {
        uint32_t from = at;
        while (at < block->count && block->ages[at] == age)
            at++;
        foliot_status status =
            foliot__tick_log_put(log, first + age, block->inputs + from, at - from);
        if (status == FOLIOT_STATUS_FULL)
            break;
        taken += status == FOLIOT_STATUS_OK;
    }
    return taken;
}

uint64_t foliot__digest_share(uint64_t tick, foliot_digest digest)
{
    uint64_t seed = digest.high + tick;
    seed = foliot__splitmix64(&seed) ^ digest.low;
    return foliot__splitmix64(&seed);
}
