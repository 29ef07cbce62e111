// SPDX-License-Identifier: MIT
// lockstep_block.c: one walk over the inputs codes or reads them, so that the two cannot disagree.
// Every block starts from the priors: blocks are lost, repeated and overtaken.
#include "wire/lockstep_block.h"

#include <string.h>

#include "wire/range_coder.h"

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
