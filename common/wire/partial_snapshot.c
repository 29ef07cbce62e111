// SPDX-License-Identifier: MIT
// partial_snapshot.c: an item is its slot, as the gap from the one before, then whether it leaves,
// the age of its baseline, and the body as in a whole snapshot. A bit in front of each says that
// there is one more.
#include "wire/partial_snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "wire/snapshot_body.h"

#define HEAD_BYTES 9
#define LENGTHS 21  // of a number, in bits: slots and ages are below 2^20
#define COURSES 128 // ages whose courses are kept
#define NUMBER_MAX ((1u << (LENGTHS - 1)) - 1)

// A number without sign: its bit length in unary, then the two bits behind its leading one.
typedef struct number {
    foliot__model length[LENGTHS], mantissa[LENGTHS][3];
} number;

typedef struct models {
    foliot__model more, leaves, based, same_age;
    number gap, age;
} models;

struct foliot__partial_coder {
    foliot_snapshot_coder *bodies;
    foliot_snapshot_format format;
    models now;
    foliot__course courses[COURSES];
    bool has_course[COURSES];
    foliot__course other; // of an age beyond
    // Of the packet that is decoded.
    foliot__range_decoder in;
    foliot__range_pass pass;
    uint32_t next_slot, age, items_left;
};

static void number_begin(number *n, const double *zeros)
{
    for (unsigned i = 0; i < LENGTHS; i++) {
        n->length[i] = foliot__model_of(zeros[i]);
        for (unsigned k = 0; k < 3; k++)
            n->mantissa[i][k] = foliot__model_of(0.5);
    }
}

// The share of zeros that models begin with: of lengths, that a number of at least that many bits
// has no more.
static void models_begin(models *m)
{
    static const double gap[LENGTHS] = {0.30, 0.25, 0.22, 0.20, 0.22, 0.25, 0.30,
                                        0.35, 0.40, 0.45, 0.50, 0.50, 0.50, 0.50,
                                        0.50, 0.50, 0.50, 0.50, 0.50, 0.50, 0.50},
                        age[LENGTHS] = {0.02, 0.05, 0.10, 0.20, 0.30, 0.35, 0.40,
                                        0.40, 0.40, 0.40, 0.40, 0.40, 0.40, 0.40,
                                        0.50, 0.50, 0.50, 0.50, 0.50, 0.50, 0.50};
    m->more = foliot__model_of(0.02);
    m->leaves = foliot__model_of(0.98);
    m->based = foliot__model_of(0.10);
    m->same_age = foliot__model_of(0.50);
    number_begin(&m->gap, gap);
    number_begin(&m->age, age);
}

static inline unsigned bit_length(uint32_t x)
{
    return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

static uint32_t code_number(const foliot__range_pass *pass, number *n, uint32_t value)
{
    unsigned wanted = bit_length(value), length = 0;
    while (length < LENGTHS - 1 && foliot__range_bit(pass, &n->length[length], wanted > length))
        length++;
    if (length == 0)
        return 0;
    uint32_t x = 1, rest = length - 1, context = 0;
    for (; rest > 0 && context < 3; context = 2 * context + 1 + (x & 1)) {
        rest--;
        x = x << 1 |
            foliot__range_bit(pass, &n->mantissa[length][context], (value >> rest & 1) != 0);
    }
    return rest ? x << rest | foliot__range_raw(pass, value & ((1u << rest) - 1), rest) : x;
}

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
    if (!c || foliot_snapshot_coder_create(format, &c->bodies) != FOLIOT_STATUS_OK) {
        free(c);
        return FOLIOT_STATUS_MEMORY;
    }
    c->format = *format;
    for (uint32_t i = 0; i < COURSES; i++) // they point to the format
        c->has_course[i] = false;
    *coder = c;
    return FOLIOT_STATUS_OK;
}

void foliot__partial_coder_destroy(foliot__partial_coder *coder)
{
    if (!coder)
        return;
    foliot_snapshot_coder_destroy(coder->bodies);
    free(coder);
}

static void begin(foliot__partial_coder *c)
{
    models_begin(&c->now);
    c->next_slot = 0;
    c->age = 0;
    foliot__bodies_begin(c->bodies, &c->pass);
}

// What comes before the body.
static void code_item(foliot__partial_coder *c, foliot__partial_item *item)
{
    models *m = &c->now;
    item->slot = c->next_slot + code_number(&c->pass, &m->gap, item->slot - c->next_slot);
    c->next_slot = item->slot + 1;
    item->leaves = foliot__range_bit(&c->pass, &m->leaves, item->leaves);
    if (item->leaves)
        return;
    if (!foliot__range_bit(&c->pass, &m->based, item->age > 0)) {
        item->age = 0;
        return;
    }
    if (foliot__range_bit(&c->pass, &m->same_age, item->age == c->age))
        item->age = c->age;
    else
        item->age = code_number(&c->pass, &m->age, item->age);
    c->age = item->age;
}

// The first `count` items, or fewer: *coded.
static size_t encode_items(foliot__partial_coder *c, const foliot__partial_item *items,
                           uint32_t count, foliot__range_encoder *out, uint32_t *coded)
{
    c->pass = (foliot__range_pass){.out = out};
    begin(c);
    uint32_t i = 0;
    for (;
         i < count && foliot__range_encoder_length(out) + FOLIOT__BODY_BYTES_USUAL <= out->capacity;
         i++) {
        foliot__partial_item item = items[i];
        foliot__range_bit(&c->pass, &c->now.more, true);
        code_item(c, &item);
        if (!item.leaves)
            foliot__body_code(c->bodies, course_of(c, item.age), item.base, &item.body);
    }
    foliot__range_bit(&c->pass, &c->now.more, false);
    *coded = i;
    return foliot__range_encoder_finish(out);
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
    // A body that took more than it may, which no model expects, goes into the next packet; and
    // bodies that took next to nothing are not to be more than a receiver reads.
    uint32_t limit = count;
    do {
        foliot__range_encoder out =
            foliot__range_encoder_of(bytes + HEAD_BYTES, capacity - HEAD_BYTES);
        size_t length = encode_items(coder, items, limit, &out, coded);
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
    coder->pass = (foliot__range_pass){.in = &coder->in};
    coder->items_left = (uint32_t)length * FOLIOT__PARTIAL_BODIES_A_BYTE;
    begin(coder);
    return FOLIOT_STATUS_OK;
}

foliot__partial_step foliot__partial_next(foliot__partial_coder *coder, uint32_t slots,
                                          foliot__partial_item *item)
{
    *item = (foliot__partial_item){0};
    if (!foliot__range_bit(&coder->pass, &coder->now.more, false))
        return foliot__range_decoder_good(&coder->in) ? FOLIOT__PARTIAL_END
                                                      : FOLIOT__PARTIAL_CORRUPT;
    item->slot = coder->next_slot; // so that the difference is what is read
    code_item(coder, item);
    if (coder->items_left-- == 0 || item->slot >= slots || item->age > FOLIOT__PARTIAL_AGE_MAX ||
        !foliot__range_decoder_good(&coder->in))
        return FOLIOT__PARTIAL_CORRUPT;
    return FOLIOT__PARTIAL_ITEM;
}

foliot_status foliot__partial_body(foliot__partial_coder *coder, foliot__partial_item *item)
{
    item->body = (foliot_snapshot_body){0};
    foliot__body_code(coder->bodies, course_of(coder, item->age), item->base, &item->body);
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
