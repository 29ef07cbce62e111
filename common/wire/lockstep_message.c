// SPDX-License-Identifier: MIT
// lockstep_message.c: packets of lockstep to bytes and back. Small numbers are sent as varints.
#include "wire/lockstep_message.h"

#include <string.h>

#include "base/bytes.h"
#include "base/rng.h"
#include "wire/message.h"
#include "wire/range_coder.h"

#define NUMBER_MAX ((1u << 28) - 1) // four bytes of a varint

static void put_acks(foliot__writer *w, const foliot__tick_acks *acks)
{
    foliot__write_u32(w, acks->next);
    foliot__write_u8(w, (uint8_t)acks->count);
    for (uint32_t i = 0; i < acks->count; i++) {
        foliot__write_varint(w, acks->runs[i].missing);
        foliot__write_varint(w, acks->runs[i].here);
    }
}

static uint32_t read_run(foliot__reader *r)
{
    uint32_t length = (uint32_t)foliot__read_varint(r, FOLIOT__BLOCK_TICKS_MAX);
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
    foliot__write_varint(w, ticks);
    foliot__write_bytes(w, block, block_length);
}

static void read_block(foliot__reader *r, uint32_t *ticks, const uint8_t **block,
                       size_t *block_length)
{
    *ticks = (uint32_t)foliot__read_varint(r, FOLIOT__BLOCK_TICKS_MAX);
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
    foliot__write_varint(&w, packet->behind);
    foliot__write_u64(&w, packet->digests);
    foliot__write_varint(&w, packet->ahead);
    foliot__write_u16(&w, packet->sent_ms);
    foliot__write_u16(&w, packet->shown);
    foliot__write_u8(&w, packet->state);
    foliot__write_varint(&w, packet->back);
    put_block(&w, packet->ticks, packet->block, packet->block_length);
    return written(&w);
}

foliot_status foliot__lockstep_input_decode(const uint8_t *bytes, size_t length,
                                            foliot__lockstep_input *packet)
{
    foliot__reader r = open_packet(bytes, length, FOLIOT__LOCKSTEP_INPUT_PACKET);
    read_acks(&r, &packet->acks);
    packet->behind = (uint32_t)foliot__read_varint(&r, NUMBER_MAX);
    packet->digests = foliot__read_u64(&r);
    packet->ahead = (uint32_t)foliot__read_varint(&r, NUMBER_MAX);
    packet->sent_ms = foliot__read_u16(&r);
    packet->shown = foliot__read_u16(&r);
    packet->state = foliot__read_u8(&r);
    packet->back = (uint32_t)foliot__read_varint(&r, NUMBER_MAX);
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

// -- blocks of inputs

// One walk over the inputs codes or reads them, so that the two cannot disagree. Every block starts
// from the priors: blocks are lost, repeated and overtaken.

enum { LENGTHS = 15 };

// In the order of lockstep_priors.h. [2]: whether the player already has controls in this block,
// against which the next ones are coded.
typedef struct models {
    foliot__model gap[LENGTHS], player[LENGTHS], delta[LENGTHS];
    foliot__model other_tick, other_kind, leaves;
    foliot__model axis_differs[2], axis_other[2], axis_partial[2], axis_negative, axis_below;
    foliot__model buttons_differ[2], button_flips[16];
} models;
#define MODEL_COUNT (sizeof(models) / sizeof(foliot__model))

static const uint16_t priors[] = {
#include "wire/lockstep_priors.h"
};
_Static_assert(sizeof priors / sizeof *priors == MODEL_COUNT, "a prior for every model");

typedef struct walk {
    foliot__range_pass pass;
    models models;
    uint16_t last[FOLIOT_PLAYERS_MAX]; // 1 + index of the player's last input in the block; 0: none
    bool bad;
} walk;

static models start(void)
{
    union {
        models named;
        foliot__model all[MODEL_COUNT];
    } m;
    for (size_t i = 0; i < MODEL_COUNT; i++)
        m.all[i] = (foliot__model){priors[i], priors[i]};
    return m.named;
}

static bool code_bit(walk *w, foliot__model *model, bool bit)
{
    return foliot__range_bit(&w->pass, model, bit);
}

static uint32_t code_raw(walk *w, uint32_t value, unsigned bits)
{
    return foliot__range_raw(&w->pass, value, bits);
}

// 0 to 2^(LENGTHS - 1) - 1.
static uint32_t code_number(walk *w, foliot__model *lengths, uint32_t value)
{
    unsigned wanted = value ? 32 - (unsigned)__builtin_clz(value) : 0, length = 0;
    while (length < LENGTHS && code_bit(w, &lengths[length], wanted > length))
        length++;
    if (length == 0)
        return 0;
    uint32_t rest = length - 1;
    return 1u << rest | code_raw(w, value & ((1u << rest) - 1), rest);
}

static uint16_t code_buttons(walk *w, bool known, uint16_t was, uint16_t value)
{
    models *m = &w->models;
    uint16_t flips = (uint16_t)(was ^ value), coded = 0;
    if (code_bit(w, &m->buttons_differ[known], flips != 0) == 0)
        return was;
    for (unsigned i = 0; i < 16; i++)
        coded = (uint16_t)(coded | code_bit(w, &m->button_flips[i], flips >> i & 1) << i);
    return (uint16_t)(was ^ coded);
}

static void code_controls(walk *w, const foliot__block *block, foliot_input *input)
{
    static const foliot_input none;
    // The last controls of this player in the block; NULL: there are none, or the player has joined
    // or left since.
    const foliot_input *before = NULL;
    if (input->player < FOLIOT_PLAYERS_MAX && w->last[input->player] != 0)
        before = &block->inputs[w->last[input->player] - 1];
    if (before && before->kind != FOLIOT_INPUT_CONTROL)
        before = NULL;
    const foliot_input *was = before ? before : &none;
    for (int k = 0; k < FOLIOT_AXIS_COUNT; k++) {
        bool known = before != NULL;
        models *m = &w->models;
        if (code_bit(w, &m->axis_differs[known], input->axes[k] != was->axes[k]) == 0) {
            input->axes[k] = was->axes[k];
        } else if (was->axes[k] != 0 &&
                   code_bit(w, &m->axis_other[known], input->axes[k] != 0) == 0) {
            input->axes[k] = 0;
        } else if (code_bit(w, &m->axis_partial[known],
                            input->axes[k] != 127 && input->axes[k] != -127) == 0) {
            input->axes[k] = code_bit(w, &m->axis_negative, input->axes[k] < 0) ? -127 : 127;
        } else {
            bool less = code_bit(w, &m->axis_below, input->axes[k] < was->axes[k]);
            int32_t delta = (int32_t)code_number(
                w, m->delta,
                (uint32_t)(less ? was->axes[k] - input->axes[k] : input->axes[k] - was->axes[k]));
            int32_t coded = less ? was->axes[k] - delta : was->axes[k] + delta;
            if (coded < -127 || coded > 127)
                w->bad = true;
            input->axes[k] = (int8_t)(coded < -127 ? -127 : coded > 127 ? 127 : coded);
        }
    }
    input->buttons = code_buttons(w, before != NULL, was->buttons, input->buttons);
}

static void code_input(walk *w, foliot__block *block, uint32_t at)
{
    models *m = &w->models;
    uint32_t *age = &block->ages[at];
    foliot_input *now = &block->inputs[at];
    bool same_tick = at && !code_bit(w, &m->other_tick, *age != age[-1]);
    if (!same_tick) {
        uint32_t from = at ? age[-1] + 1 : 0;
        *age = from + code_number(w, m->gap, *age - from);
    } else {
        *age = age[-1];
    }
    uint32_t least = same_tick ? now[-1].player : 0;
    now->player = least + code_number(w, m->player, now->player - least);
    if (!code_bit(w, &m->other_kind, now->kind != FOLIOT_INPUT_CONTROL)) {
        now->kind = FOLIOT_INPUT_CONTROL;
        code_controls(w, block, now);
    } else {
        bool leaves = code_bit(w, &m->leaves, now->kind == FOLIOT_INPUT_LEAVE);
        now->kind = leaves ? FOLIOT_INPUT_LEAVE : FOLIOT_INPUT_JOIN;
    }
    if (*age >= block->ticks || now->player >= FOLIOT_PLAYERS_MAX)
        w->bad = true;
    else
        w->last[now->player] = (uint16_t)(at + 1);
}

size_t foliot__block_encode(const foliot__block *block, uint8_t *bytes, size_t capacity)
{
    if (block->count == 0)
        return 0;
    if (capacity < 2 || block->count > FOLIOT__BLOCK_INPUTS_MAX)
        return SIZE_MAX;
    // The count is one byte, or two where it is 128 and more.
    size_t head = block->count < 128 ? 1 : 2;
    bytes[0] = (uint8_t)((block->count & 127) | (head == 2 ? 128 : 0));
    if (head == 2)
        bytes[1] = (uint8_t)(block->count >> 7);
    foliot__range_encoder out = foliot__range_encoder_of(bytes + head, capacity - head);
    walk w = {.pass.out = &out, .models = start()};
    for (uint32_t i = 0; i < block->count && !out.full; i++)
        code_input(&w, (foliot__block *)(uintptr_t)block, i); // writes back what it reads
    size_t length = foliot__range_encoder_finish(&out);
    return out.full || w.bad ? SIZE_MAX : head + length;
}

foliot_status foliot__block_decode(const uint8_t *bytes, size_t length, uint32_t ticks,
                                   foliot__block *block)
{
    block->ticks = ticks;
    block->count = 0;
    if (ticks > FOLIOT__BLOCK_TICKS_MAX)
        return FOLIOT_STATUS_CORRUPT;
    if (length == 0)
        return FOLIOT_STATUS_OK;
    size_t head = bytes[0] & 128 ? 2 : 1;
    if (length < head)
        return FOLIOT_STATUS_TRUNCATED;
    uint32_t count = bytes[0] & 127u;
    if (head == 2)
        count |= (uint32_t)bytes[1] << 7;
    if (count == 0 || count > FOLIOT__BLOCK_INPUTS_MAX)
        return FOLIOT_STATUS_CORRUPT;
    foliot__range_decoder in = foliot__range_decoder_of(bytes + head, length - head);
    walk w = {.pass.in = &in, .models = start()};
    for (uint32_t i = 0; i < count; i++) {
        memset(&block->inputs[i], 0, sizeof block->inputs[i]);
        block->ages[i] = 0;
        code_input(&w, block, i);
        if (w.bad || !foliot__range_decoder_good(&in))
            return FOLIOT_STATUS_CORRUPT;
    }
    block->count = count;
    return in.at == in.length ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}
