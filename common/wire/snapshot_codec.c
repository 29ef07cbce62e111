// SPDX-License-Identifier: MIT
// snapshot_codec.c: snapshots in pieces that fit a packet, each with its own head and bodies
// (snapshot_body.c).
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "foliot/snapshot.h"
#include "wire/snapshot_body.h"
#include "wire/tick_near.h"

void foliot_snapshot_pieces_destroy(foliot_snapshot_pieces *pieces)
{
    free(pieces->bytes);
    free(pieces->offsets);
    *pieces = (foliot_snapshot_pieces){0};
}

// -- pieces: a head, then the coded bodies

static foliot_status grow(foliot_snapshot_pieces *p)
{
    size_t needed = ((size_t)p->count + 1) * FOLIOT_SNAPSHOT_PIECE_BYTES;
    if (p->bytes_capacity < needed) {
        if (!foliot__array_resize(&p->bytes, 2 * needed, 1))
            return FOLIOT_STATUS_MEMORY;
        p->bytes_capacity = 2 * needed;
    }
    return foliot__array_reserve(&p->offsets, &p->offsets_capacity, p->count + 2, 2 * p->count + 8,
                                 sizeof *p->offsets)
               ? FOLIOT_STATUS_OK
               : FOLIOT_STATUS_MEMORY;
}

// One piece. A body beyond the expected size, which no model predicts, goes into the next one.
static size_t encode_piece(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                           const foliot_snapshot *baseline, foliot_snapshot_head *head,
                           uint8_t *bytes)
{
    for (uint32_t limit = UINT32_MAX;; limit = head->count - 1) {
        foliot__range_encoder out =
            foliot__range_encoder_of(bytes + FOLIOT__SNAPSHOT_HEAD_BYTES_MAX,
                                     FOLIOT_SNAPSHOT_PIECE_BYTES - FOLIOT__SNAPSHOT_HEAD_BYTES_MAX);
        size_t length = foliot__bodies_encode(coder, snapshot, baseline, head, limit, &out);
        if (!out.full)
            return length;
    }
}

foliot_status foliot_snapshot_encode(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                                     const foliot_snapshot *baseline,
                                     foliot_snapshot_pieces *pieces)
{
    if (baseline && (baseline->tick >= snapshot->tick ||
                     snapshot->tick - baseline->tick > FOLIOT__SNAPSHOT_AGE_MAX))
        return FOLIOT_STATUS_INVALID;
    foliot_snapshot_head head = {.tick = snapshot->tick,
                                 .has_baseline = baseline != NULL,
                                 .baseline_tick = baseline ? baseline->tick : 0,
                                 .bodies = snapshot->count};
    size_t head_bytes = 0;
    pieces->count = 0;
    uint32_t at = 0;
    do {
        if (pieces->count == FOLIOT_SNAPSHOT_PIECES_MAX || grow(pieces) != FOLIOT_STATUS_OK)
            return pieces->count == FOLIOT_SNAPSHOT_PIECES_MAX ? FOLIOT_STATUS_FULL
                                                               : FOLIOT_STATUS_MEMORY;
        head.piece = pieces->count;
        size_t length = encode_piece(coder, snapshot, baseline, &head, pieces->bytes + at);
        head.pieces = head.piece == 0 && head.count == snapshot->count ? 1 : 0;
        foliot__writer w = foliot__writer_of(pieces->bytes + at, FOLIOT__SNAPSHOT_HEAD_BYTES_MAX);
        foliot__snapshot_head_write(&w, &head);
        memmove(pieces->bytes + at + w.at, pieces->bytes + at + FOLIOT__SNAPSHOT_HEAD_BYTES_MAX,
                length);
        pieces->offsets[pieces->count++] = at;
        head_bytes = w.at; // the same for all
        at += (uint32_t)(w.at + length);
        pieces->offsets[pieces->count] = at;
        head.first += head.count;
    } while (head.first < snapshot->count);
    for (uint32_t i = 0; i < pieces->count && pieces->count > 1;
         i++) { // now that their number is known
        uint8_t *total =
            pieces->bytes + pieces->offsets[i] + head_bytes - FOLIOT__SNAPSHOT_PIECES_FROM_END;
        total[0] = (uint8_t)pieces->count;
        total[1] = (uint8_t)(pieces->count >> 8);
    }
    return FOLIOT_STATUS_OK;
}

foliot_status foliot_snapshot_decode(foliot_snapshot_coder *coder, const uint8_t *bytes,
                                     size_t length, uint64_t near, const foliot_snapshot *baseline,
                                     foliot_snapshot *into, foliot_snapshot_head *head)
{
    foliot__reader r = foliot__reader_of(bytes, length);
    foliot__snapshot_head_read(&r, near, head);
    if (r.status != FOLIOT_STATUS_OK)
        return r.status;
    if (head->has_baseline != (baseline != NULL) ||
        (baseline && baseline->tick != head->baseline_tick) || into->capacity < head->bodies)
        return FOLIOT_STATUS_INVALID;
    foliot__range_decoder in = foliot__range_decoder_of(bytes + r.at, length - r.at);
    return foliot__bodies_decode(coder, &in, baseline, head, into) ? FOLIOT_STATUS_OK
                                                                   : FOLIOT_STATUS_CORRUPT;
}

// -- the head of a piece, in whole bytes. Refuses a head whose numbers contradict each other, and
// one that claims more bodies than its bytes can carry.

#define FORM_MAX (2 * FOLIOT__SNAPSHOT_AGE_MAX + 1)
#define UNSENT_BYTES_MAX 12 // that a decoder may read behind the end of a piece

// The usual snapshot is one piece, all of its slots: then it needs no more than their number.
void foliot__snapshot_head_write(foliot__writer *w, const foliot_snapshot_head *head)
{
    bool whole = head->pieces == 1;
    uint32_t age = (uint32_t)(head->has_baseline ? head->tick - head->baseline_tick : 0);
    foliot__write_u32(w, (uint32_t)head->tick);
    foliot__write_varint(w, age << 1 | whole);
    foliot__write_varint(w, head->bodies);
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
    uint32_t form = (uint32_t)foliot__read_varint(r, FORM_MAX);
    uint32_t bodies = (uint32_t)foliot__read_varint(r, FOLIOT_BODIES_MAX), age = form >> 1;
    *head = (foliot_snapshot_head){
        .tick = tick, .has_baseline = age != 0, .baseline_tick = tick - age, .pieces = 1};
    if (age > tick || r->status != FOLIOT_STATUS_OK) {
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
