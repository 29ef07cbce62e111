// SPDX-License-Identifier: MIT
// partial_body.h: the bytes of a body in a packet of some bodies (partial_snapshot.h), against its
// own baseline. Tables are fixed: no model adapts within a packet, so a body costs little time. A
// distant body is coarse: detail that a watcher could not see is not sent.
#ifndef FOLIOT_WIRE_PARTIAL_BODY_H
#define FOLIOT_WIRE_PARTIAL_BODY_H

#include "foliot/snapshot.h"
#include "wire/motion.h"
#include "wire/range_coder.h"

#define FOLIOT__COARSE_BITS 2 // low bits that a coarse body lacks

// Reduces a body to the precision that a receiver of the coarse form has.
void foliot__body_coarsen(const foliot_snapshot_format *format, foliot_snapshot_body *body);

typedef struct foliot__body_walk {
    foliot__range_pass pass;
    const foliot_snapshot_format *format;
    int32_t last[3]; // position of the last body: the prediction for a body without a baseline
} foliot__body_walk;
// `base`: NULL, there is none. `course` is of the `age` since it. A coarse body that is encoded has
// been coarsened.
void foliot__partial_body_code(foliot__body_walk *walk, const foliot__course *course, uint32_t age,
                               bool coarse, const foliot_snapshot_body *base,
                               foliot_snapshot_body *body);

// A number below 2^20: the symbol of its bit length, from `first` on, is coded by the caller.
static inline unsigned foliot__bit_length(uint32_t x)
{
    return x ? 32 - (unsigned)__builtin_clz(x) : 0;
}

#endif
