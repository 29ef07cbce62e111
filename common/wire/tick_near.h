// SPDX-License-Identifier: MIT
// tick_near.h: ticks have 64 bits, and are sent as their low 32: a reader knows a near one.
#ifndef FOLIOT_WIRE_TICK_NEAR_H
#define FOLIOT_WIRE_TICK_NEAR_H

#include <stdint.h>

// The tick with these low bits that is nearest to `near`; none is below 0.
static inline uint64_t foliot__tick_near(uint32_t low, uint64_t near)
{
    int32_t distance = (int32_t)(low - (uint32_t)near);
    return distance < 0 && near < (uint64_t) - (int64_t)distance
               ? low
               : near + (uint64_t)(int64_t)distance;
}

#endif
