// SPDX-License-Identifier: MIT
// tag_code.c: changed tags as bits (session_state.h). Games change few tags at a time, to few
// values: slots are gaps in a Rice code whose parameter follows from how many changes share the
// slots, and tags are places in a list of recent ones. Each list of changes has one encoding.
#include "wire/session_state.h"

#include "base/assert.h"

#define RECENT 14 // tags, the last one first; a record begins with 0 to 13
#define COUNT_BITS_MAX 10

typedef struct recent_tags {
    uint32_t tags[RECENT];
} recent_tags;

static void begin_recent(recent_tags *r)
{
    for (uint32_t i = 0; i < RECENT; i++)
        r->tags[i] = i;
}

// RECENT if it is none of them.
static uint32_t find_recent(const recent_tags *r, uint32_t tag)
{
    uint32_t i = 0;
    while (i < RECENT && r->tags[i] != tag)
        i++;
    return i;
}

// Puts it first; the last one falls out if it is new.
static void use_recent(recent_tags *r, uint32_t tag, uint32_t place)
{
    for (uint32_t i = place < RECENT ? place : RECENT - 1; i > 0; i--)
        r->tags[i] = r->tags[i - 1];
    r->tags[0] = tag;
}

static unsigned bit_length(uint32_t x)
{
    return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

// Low bits of a gap that are written as they are: of one change alone all of its slot, else those
// of a mean gap.
static unsigned gap_bits(uint32_t count, uint32_t slots_max)
{
    if (count == 1)
        return bit_length(slots_max - 1);
    unsigned length = bit_length(slots_max / (count + 1));
    return length ? length - 1 : 0;
}

// -- writing

typedef struct bit_writer {
    foliot__writer *out;
    uint32_t held, count; // bits not written yet, the first one highest
} bit_writer;

static void put_bits(bit_writer *w, uint32_t value, unsigned count)
{
    while (count-- > 0) {
        w->held = w->held << 1 | (value >> count & 1);
        if (++w->count < 8)
            continue;
        foliot__write_u8(w->out, (uint8_t)w->held);
        w->held = w->count = 0;
    }
}

void foliot__tags_encode(foliot__writer *out, const foliot__tag_change *changes, uint32_t count,
                         uint32_t slots_max)
{
    bit_writer w = {out, 0, 0};
    recent_tags recent;
    uint32_t next = 0;
    unsigned length = bit_length(count), low = gap_bits(count, slots_max);
    FOLIOT_ASSERT(count > 0);
    FOLIOT_ASSERT(count <= FOLIOT__TAGS_MAX);
    begin_recent(&recent);
    put_bits(&w, 1, 1);
    put_bits(&w, 0, length - 1);
    put_bits(&w, count, length);
    for (uint32_t i = 0; i < count; i++) {
        FOLIOT_ASSERT(changes[i].slot >= next);
        FOLIOT_ASSERT(changes[i].slot < slots_max);
        uint32_t gap = changes[i].slot - next;
        for (uint32_t above = gap >> low; count > 1 && above > 0; above--)
            put_bits(&w, 1, 1);
        put_bits(&w, 0, count > 1);
        put_bits(&w, gap, low);
        uint32_t tag = changes[i].tag;
        uint32_t place = find_recent(&recent, tag);
        if (place < 2)
            put_bits(&w, place, 2); // 0x
        else if (place < 6)
            put_bits(&w, 8 | (place - 2), 4); // 10xx
        else if (place < RECENT)
            put_bits(&w, 48 | (place - 6), 6); // 110xxx
        else if (tag < 1u << 8)
            put_bits(&w, 14, 4), put_bits(&w, tag, 8);
        else if (tag < 1u << 16)
            put_bits(&w, 30, 5), put_bits(&w, tag, 16);
        else
            put_bits(&w, 31, 5), put_bits(&w, tag, 32);
        use_recent(&recent, tag, place);
        next = changes[i].slot + 1;
    }
    put_bits(&w, 0, (8 - w.count) % 8);
}

// -- reading

typedef struct bit_reader {
    foliot__reader *in;
    uint32_t held, count; // bits of the byte that is read, and how many of them are left
} bit_reader;

static uint32_t read_bits(bit_reader *r, unsigned count)
{
    uint32_t value = 0;
    while (count-- > 0) {
        if (r->count == 0) {
            r->held = foliot__read_u8(r->in); // 0 behind the end: every loop over bits ends
            r->count = 8;
        }
        value = value << 1 | (r->held >> --r->count & 1);
    }
    return value;
}

// How many ones come before a zero. Fails beyond `most`.
static uint32_t read_ones(bit_reader *r, uint32_t most)
{
    uint32_t ones = 0;
    while (read_bits(r, 1) == 1)
        if (++ones > most) {
            foliot__reader_fail(r->in, FOLIOT_STATUS_CORRUPT);
            return 0;
        }
    return ones;
}

static uint32_t read_count(bit_reader *r)
{
    unsigned zeros = 0;
    while (zeros < COUNT_BITS_MAX && read_bits(r, 1) == 0)
        zeros++;
    uint32_t count = zeros < COUNT_BITS_MAX ? 1u << zeros | read_bits(r, zeros) : 0;
    if (count == 0 || count > FOLIOT__TAGS_MAX)
        foliot__reader_fail(r->in, FOLIOT_STATUS_CORRUPT);
    return count;
}

// Literals are those tags alone that are not recent, in their shortest form.
static uint32_t read_literal(bit_reader *r, const recent_tags *recent)
{
    unsigned bits = read_bits(r, 1) == 0 ? 8 : read_bits(r, 1) == 0 ? 16 : 32;
    uint32_t tag = read_bits(r, bits);
    if ((bits > 8 && tag >> (bits / 2) == 0) || find_recent(recent, tag) < RECENT)
        foliot__reader_fail(r->in, FOLIOT_STATUS_CORRUPT);
    return tag;
}

static uint32_t read_tag(bit_reader *r, recent_tags *recent)
{
    uint32_t place = RECENT;
    if (read_bits(r, 1) == 0)
        place = read_bits(r, 1);
    else if (read_bits(r, 1) == 0)
        place = 2 + read_bits(r, 2);
    else if (read_bits(r, 1) == 0)
        place = 6 + read_bits(r, 3);
    uint32_t tag = place < RECENT ? recent->tags[place] : read_literal(r, recent);
    use_recent(recent, tag, place);
    return tag;
}

uint32_t foliot__tags_decode(foliot__reader *in, uint8_t first, uint32_t slots_max,
                             foliot__tag_change changes[FOLIOT__TAGS_MAX])
{
    bit_reader r = {in, first, 7};
    recent_tags recent;
    uint64_t next = 0;
    uint32_t count = read_count(&r);
    if (in->status != FOLIOT_STATUS_OK || slots_max == 0) {
        foliot__reader_fail(in, FOLIOT_STATUS_CORRUPT);
        return 0;
    }
    unsigned low = gap_bits(count, slots_max);
    begin_recent(&recent);
    for (uint32_t i = 0; i < count && in->status == FOLIOT_STATUS_OK; i++) {
        uint64_t above = count > 1 ? read_ones(&r, slots_max >> low) : 0;
        next += above << low | read_bits(&r, low);
        if (next >= slots_max)
            foliot__reader_fail(in, FOLIOT_STATUS_CORRUPT);
        changes[i] = (foliot__tag_change){(uint32_t)next++, read_tag(&r, &recent)};
    }
    if (read_bits(&r, r.count) != 0)
        foliot__reader_fail(in, FOLIOT_STATUS_CORRUPT);
    return in->status == FOLIOT_STATUS_OK ? count : 0;
}
