// SPDX-License-Identifier: MIT
// carver.h: divides a workspace table into arrays. Each array is aligned to a cache line. Without a
// base it only counts bytes, so one layout function gives both the size and the addresses. It
// counts in 64 bits everywhere: a size too large for the machine must not wrap to a small one.
#ifndef FOLIOT_SIM_STATE_CARVER_H
#define FOLIOT_SIM_STATE_CARVER_H

#include <stddef.h>

#include "sim/state/state.h"

typedef struct foliot__carver {
    char *base;  // NULL: only counts
    uint64_t at; // bytes handed out so far
} foliot__carver;

static inline void *foliot__carve(foliot__carver *from, uint64_t entries, size_t size)
{
    void *array = from->base ? from->base + (size_t)from->at : NULL;
    from->at += (entries * size + 63) & ~(uint64_t)63;
    return array;
}

// Sets `pointer` to an array of `entries` of what it points at.
#define FOLIOT__CARVE(from, pointer, entries)                                                      \
    ((pointer) = foliot__carve(from, entries, sizeof *(pointer)))

static inline foliot__v3 foliot__carve_v3(foliot__carver *from, size_t slots)
{
    foliot__v3 field;
    FOLIOT__CARVE(from, field.x, slots);
    FOLIOT__CARVE(from, field.y, slots);
    FOLIOT__CARVE(from, field.z, slots);
    return field;
}

// Slots of a world of `bodies_max` bodies: padded to whole lanes.
static inline size_t foliot__slots_of(uint32_t bodies_max)
{
    return (bodies_max + FOLIOT__LANES - 1) / FOLIOT__LANES * FOLIOT__LANES;
}

#endif
