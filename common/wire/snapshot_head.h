// SPDX-License-Identifier: MIT
// snapshot_head.h: the head of a piece of a snapshot: which tick, against which baseline, which
// slots. docs/reference/protocol.md gives the bytes.
#ifndef FOLIOT_WIRE_SNAPSHOT_HEAD_H
#define FOLIOT_WIRE_SNAPSHOT_HEAD_H

#include "base/bytes.h"
#include "foliot/snapshot.h"

#define FOLIOT__SNAPSHOT_HEAD_BYTES_MAX 24
#define FOLIOT__SNAPSHOT_PIECES_FROM_END 8 // in the head of several pieces: their number
#define FOLIOT__SNAPSHOT_AGE_MAX 65535     // ticks from the baseline

void foliot__snapshot_head_write(foliot__writer *w, const foliot_snapshot_head *head);
// FOLIOT_STATUS_CORRUPT sticks to the reader if it is none.
void foliot__snapshot_head_read(foliot__reader *r, uint64_t near, foliot_snapshot_head *head);

#endif
