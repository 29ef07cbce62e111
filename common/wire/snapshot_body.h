// SPDX-License-Identifier: MIT
// snapshot_body.h: the bytes of a quantised body against a baseline's. One walk over the bodies
// serves both directions: it writes a value when encoding and reads it when decoding, so that the
// two cannot disagree. Models adapt from body to body within a packet.
#ifndef FOLIOT_WIRE_SNAPSHOT_BODY_H
#define FOLIOT_WIRE_SNAPSHOT_BODY_H

#include "base/bytes.h"
#include "foliot/snapshot.h"
#include "wire/motion.h"
#include "wire/range_coder.h"

#define FOLIOT__BODY_BYTES_USUAL 64 // what a packet keeps free at its end for one more

// Bodies from head->first on, `limit` at most; how many it took goes into head->count. The length.
size_t foliot__bodies_encode(foliot_snapshot_coder *coder, const foliot_snapshot *snapshot,
                             const foliot_snapshot *baseline, foliot_snapshot_head *head,
                             uint32_t limit, foliot__range_encoder *out);
// Writes the slots of the head into `into`. False if the bytes end before.
bool foliot__bodies_decode(foliot_snapshot_coder *coder, foliot__range_decoder *in,
                           const foliot_snapshot *baseline, const foliot_snapshot_head *head,
                           foliot_snapshot *into);

// Single bodies, each against its own baseline, `base` NULL: none. `course` covers the ticks since
// the baseline.
void foliot__bodies_begin(foliot_snapshot_coder *coder, const foliot__range_pass *pass);
void foliot__body_code(foliot_snapshot_coder *coder, const foliot__course *course,
                       const foliot_snapshot_body *base, foliot_snapshot_body *body);

// snapshot_codec.c: the head of a piece of a snapshot: which tick, against which baseline, which
// slots. docs/reference/protocol.md gives the bytes.

#define FOLIOT__SNAPSHOT_HEAD_BYTES_MAX 24
#define FOLIOT__SNAPSHOT_PIECES_FROM_END 8 // in the head of several pieces: their number
#define FOLIOT__SNAPSHOT_AGE_MAX 65535     // ticks from the baseline

void foliot__snapshot_head_write(foliot__writer *w, const foliot_snapshot_head *head);
// FOLIOT_STATUS_CORRUPT sticks to the reader if it is none.
void foliot__snapshot_head_read(foliot__reader *r, uint64_t near, foliot_snapshot_head *head);

#endif
