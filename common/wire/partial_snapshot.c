// SPDX-License-Identifier: MIT
// partial_snapshot.c: an item is its slot, as the gap from the one before, then the baseline of its
// body, and the body.
#include "wire/partial_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/partial_body.h"
#include "wire/partial_priors.h"

#define HEAD_BYTES 9
#define COURSES 128 // ages whose courses are kept

// How an item names the baseline of its body. All but the first exist twice: fine, and coarse.
enum { LEAVES, NO_BASE, NEWEST_BASE, SAME_AGE, OTHER_AGE, WAYS };

// The context that an item's way gives for the next item, whose slot is the next, or a later one.
enum { AFTER_NONE, AFTER_FINE, AFTER_COARSE, BESIDE_FINE, BESIDE_COARSE };

// Compiled once for each direction.
#define IN static inline __attribute__((always_inline))

struct foliot__partial_coder {
    foliot_snapshot_format format;
    foliot__body_walk walk;
    foliot__course courses[COURSES];
    bool has_course[COURSES];
    foliot__course other; // of an age beyond
    uint32_t next_slot, age, items_left;
    unsigned after;
    foliot__range_decoder in; // of the packet that is decoded
};

static const foliot__course *course_of(foliot__partial_coder *c, uint32_t age)
{
    if (age >= COURSES) {
        c->other = foliot__course_of(&c->format, age);
        return &c->other;
    }
    if (!c->has_course[age])
        c->courses[age] = foliot__course_of(&c->format, age);
    c->has_course[age] = true;
    return &c->courses[age];
}

foliot_status foliot__partial_coder_create(const foliot_snapshot_format *format,
                                           foliot__partial_coder **coder)
{
    foliot__partial_coder *c = calloc(1, sizeof *c);
    if (!c)
        return FOLIOT_STATUS_MEMORY;
    c->format = *format;
    *coder = c;
    return FOLIOT_STATUS_OK;
}

void foliot__partial_coder_destroy(foliot__partial_coder *coder)
{
    free(coder);
}

static void begin(foliot__partial_coder *c, const foliot__range_pass *pass)
{
    c->walk = (foliot__body_walk){.pass = *pass, .format = &c->format};
    c->next_slot = 0;
    c->age = 0;
    c->after = AFTER_NONE;
}

// The bits below the leading one of a number below 2^20 whose bit length is known.
IN uint32_t code_below(const foliot__range_pass *pass, uint32_t value, unsigned length)
{
    if (length < 2)
        return length;
    unsigned rest = length - 1, low = rest > 8 ? 8 : rest;
    uint32_t top = 1u << rest, high = 0;
    if (rest > low)
        high = foliot__range_bits(pass, (value ^ top) >> low, rest - low);
    return top | high << low | foliot__range_bits(pass, value & ((1u << low) - 1), low);
}

// The gap from the slot before. False: there are no more items.
IN bool code_slot(foliot__partial_coder *c, const foliot__range_pass *pass, bool more,
                  uint32_t *slot)
{
    uint32_t gap = *slot - c->next_slot;
    unsigned symbol = more ? foliot__bit_length(gap) : PARTIAL_GAPS;
    symbol = foliot__range_symbol(pass, partial_gap, symbol);
    if (symbol == PARTIAL_GAPS)
        return false;
    *slot = c->next_slot + code_below(pass, gap, symbol);
    c->next_slot = *slot + 1;
    if (symbol == 0 && c->after != AFTER_NONE)
        c->after += BESIDE_FINE - AFTER_FINE;
    return true;
}

IN unsigned way_of(const foliot__partial_coder *c, const foliot__partial_item *item)
{
    unsigned way = item->leaves          ? LEAVES
                   : item->age == 0      ? NO_BASE
                   : item->newest        ? NEWEST_BASE
                   : item->age == c->age ? SAME_AGE
                                         : OTHER_AGE;
    return way + (way != LEAVES && item->coarse ? WAYS - 1 : 0);
}

// Codes the part before the body.
IN void code_way(foliot__partial_coder *c, const foliot__range_pass *pass,
                 foliot__partial_item *item)
{
    unsigned way = foliot__range_symbol(pass, partial_way[c->after], way_of(c, item));
    item->coarse = way >= WAYS;
    way -= item->coarse ? WAYS - 1 : 0;
    item->leaves = way == LEAVES;
    item->newest = way == NEWEST_BASE;
    c->after = item->leaves ? AFTER_NONE : item->coarse ? AFTER_COARSE : AFTER_FINE;
    if (way == SAME_AGE) {
        item->age = c->age;
    } else if (way == OTHER_AGE) {
        unsigned length = foliot__range_symbol(pass, partial_age, foliot__bit_length(item->age));
        item->age = code_below(pass, item->age, length);
        c->age = item->age;
    }
}

static void code_body(foliot__partial_coder *c, const foliot__partial_item *item,
                      foliot_snapshot_body *body)
{
    foliot__partial_body_code(&c->walk, course_of(c, item->age), item->age, item->coarse,
                              item->base, body);
}

size_t foliot__partial_encode(foliot__partial_coder *coder, const foliot__partial_head *head,
                              const foliot__partial_item *items, uint32_t count, uint8_t *bytes,
                              size_t capacity, uint32_t *coded)
{
    *coded = 0;
    if (capacity <= HEAD_BYTES)
        return 0;
    foliot__writer w = foliot__writer_of(bytes, HEAD_BYTES);
    foliot__write_u8(&w, FOLIOT__PARTIAL_PACKET);
    foliot__write_u32(&w, head->sequence);
    foliot__write_u32(&w, head->tick);
    // A body beyond the expected size, which no model predicts, goes into the next packet; the
    // number of bodies that take next to nothing stays within what a receiver accepts.
    uint32_t limit = count;
    do {
        foliot__range_encoder out =
            foliot__range_encoder_of(bytes + HEAD_BYTES, capacity - HEAD_BYTES);
        // The first `count` items, or fewer: *coded.
        const foliot__range_pass pass = {.out = &out};
        begin(coder, &pass);
        uint32_t i = 0, none = 0;
        for (; i < limit &&
               foliot__range_encoder_length(&out) + FOLIOT__PARTIAL_BODY_ROOM <= out.capacity;
             i++) {
            foliot__partial_item item; // all but the body, which encoding leaves as it is
            memcpy(&item, &items[i], offsetof(foliot__partial_item, body));
            code_slot(coder, &pass, true, &item.slot);
            code_way(coder, &pass, &item);
            if (!item.leaves)
                code_body(coder, &item, (foliot_snapshot_body *)(uintptr_t)&items[i].body);
        }
        code_slot(coder, &pass, false, &none);
        *coded = i;
        size_t length = foliot__range_encoder_finish(&out);
        if (!out.full && (*coded > 0 || count == 0) &&
            *coded <= (HEAD_BYTES + length) * FOLIOT__PARTIAL_BODIES_A_BYTE)
            return HEAD_BYTES + length;
        limit = *coded > 0 ? *coded - 1 : 0;
    } while (limit > 0);
    *coded = 0;
    return 0;
}

foliot_status foliot__partial_begin(foliot__partial_coder *coder, const uint8_t *bytes,
                                    size_t length, foliot__partial_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    if (foliot__read_u8(&r) != FOLIOT__PARTIAL_PACKET)
        return FOLIOT_STATUS_CORRUPT;
    head->sequence = foliot__read_u32(&r);
    head->tick = foliot__read_u32(&r);
    if (r.status != FOLIOT_STATUS_OK || head->sequence == 0)
        return FOLIOT_STATUS_CORRUPT;
    coder->in = foliot__range_decoder_of(bytes + r.at, length - r.at);
    coder->items_left = (uint32_t)length * FOLIOT__PARTIAL_BODIES_A_BYTE;
    begin(coder, &(foliot__range_pass){.in = &coder->in});
    return FOLIOT_STATUS_OK;
}

foliot__partial_step foliot__partial_next(foliot__partial_coder *coder, uint32_t slots,
                                          foliot__partial_item *item)
{
    const foliot__range_pass pass = {.in = &coder->in};
    *item = (foliot__partial_item){0};
    if (!code_slot(coder, &pass, false, &item->slot))
        return foliot__range_decoder_good(&coder->in) ? FOLIOT__PARTIAL_END
                                                      : FOLIOT__PARTIAL_CORRUPT;
    code_way(coder, &pass, item);
    if (coder->items_left-- == 0 || item->slot >= slots || item->age > FOLIOT__PARTIAL_AGE_MAX ||
        !foliot__range_decoder_good(&coder->in))
        return FOLIOT__PARTIAL_CORRUPT;
    return FOLIOT__PARTIAL_ITEM;
}

foliot_status foliot__partial_body(foliot__partial_coder *coder, foliot__partial_item *item)
{
    item->body = (foliot_snapshot_body){0};
    code_body(coder, item, &item->body);
    return foliot__range_decoder_good(&coder->in) ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}

// -- acknowledgements

size_t foliot__partial_acknowledge_encode(const foliot__partial_acknowledge *packet,
                                          uint8_t bytes[FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES])
{
    foliot__writer w = foliot__writer_of(bytes, FOLIOT__PARTIAL_ACKNOWLEDGE_BYTES);
    foliot__write_u8(&w, FOLIOT__PARTIAL_ACKNOWLEDGE_PACKET);
    foliot__write_u32(&w, packet->newest);
    foliot__write_u64(&w, packet->before);
    foliot__write_u8(&w, packet->has_focus);
    for (int k = 0; packet->has_focus && k < 3; k++)
        foliot__write_u32(&w, (uint32_t)packet->focus[k]);
    return w.at;
}

foliot_status foliot__partial_acknowledge_decode(const uint8_t *bytes, size_t length,
                                                 foliot__partial_acknowledge *packet)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    *packet = (foliot__partial_acknowledge){0};
    if (foliot__read_u8(&r) != FOLIOT__PARTIAL_ACKNOWLEDGE_PACKET)
        return FOLIOT_STATUS_CORRUPT;
    packet->newest = foliot__read_u32(&r);
    packet->before = foliot__read_u64(&r);
    uint8_t focus = foliot__read_u8(&r);
    packet->has_focus = focus == 1;
    for (int k = 0; packet->has_focus && k < 3; k++)
        packet->focus[k] = (int32_t)foliot__read_u32(&r);
    if (r.status != FOLIOT_STATUS_OK)
        return FOLIOT_STATUS_TRUNCATED;
    return r.at == length && focus <= 1 ? FOLIOT_STATUS_OK : FOLIOT_STATUS_CORRUPT;
}
