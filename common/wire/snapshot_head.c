// SPDX-License-Identifier: MIT
// snapshot_head.c: the head of a piece of a snapshot, in whole bytes. Refuses a head whose numbers
// contradict each other, and one that claims more bodies than its bytes can carry.
#include "wire/snapshot_body.h"

#include "wire/tick_near.h"

#define UNSENT_BYTES_MAX 12 // that a decoder may read behind the end of a piece

// Seven bits a byte, the low ones first; the high bit says that more follow.
static void write_varint(foliot__writer *w, uint32_t value)
{
    for (; value >= 0x80; value >>= 7)
        foliot__write_u8(w, (uint8_t)(value | 0x80));
    foliot__write_u8(w, (uint8_t)value);
}

static uint32_t read_varint(foliot__reader *r)
{
    uint32_t value = 0;
    for (unsigned shift = 0; shift < 28; shift += 7) {
        uint8_t byte = foliot__read_u8(r);
        value |= (uint32_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return value;
    }
    foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    return 0;
}

// The usual snapshot is one piece, all of its slots: then it needs no more than their number.
void foliot__snapshot_head_write(foliot__writer *w, const foliot_snapshot_head *head)
{
    bool whole = head->pieces == 1;
    uint32_t age = (uint32_t)(head->has_baseline ? head->tick - head->baseline_tick : 0);
    foliot__write_u32(w, (uint32_t)head->tick);
    write_varint(w, age << 1 | whole);
    write_varint(w, head->bodies);
    if (whole)
        return;
    foliot__write_u16(w, (uint16_t)head->piece);
    foliot__write_u16(w, (uint16_t)head->pieces);
    foliot__write_u24(w, head->first);
    foliot__write_u24(w, head->count);
}

void foliot__snapshot_head_read(foliot__reader *r, uint64_t near, foliot_snapshot_head *head)
{
    uint64_t tick = foliot__tick_near(foliot__read_u32(r), near);
    uint32_t form = read_varint(r);
    uint32_t bodies = read_varint(r), age = form >> 1;
    *head = (foliot_snapshot_head){
        .tick = tick, .has_baseline = age != 0, .baseline_tick = tick - age, .pieces = 1};
    if (age > tick || age > FOLIOT__SNAPSHOT_AGE_MAX || bodies > FOLIOT_BODIES_MAX) {
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
        return;
    }
    head->bodies = head->count = bodies;
    if (!(form & 1)) {
        head->piece = foliot__read_u16(r);
        head->pieces = foliot__read_u16(r);
        head->first = foliot__read_u24(r);
        head->count = foliot__read_u24(r);
        if (head->piece >= head->pieces || head->first + head->count > head->bodies)
            foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
    }
    // Before anything is allocated for them.
    if (head->count > (foliot__reader_left(r) + UNSENT_BYTES_MAX) * FOLIOT_SNAPSHOT_BODIES_PER_BYTE)
        foliot__reader_fail(r, FOLIOT_STATUS_CORRUPT);
}

foliot_status foliot_snapshot_decode_head(const uint8_t *bytes, size_t length, uint64_t near,
                                          foliot_snapshot_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    foliot__snapshot_head_read(&r, near, head);
    return r.status;
}
