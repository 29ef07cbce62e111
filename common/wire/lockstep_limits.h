// SPDX-License-Identifier: MIT
// lockstep_limits.h: how much data of a lockstep session is kept and in flight. One function in a
// separate file, so that a test can link a replacement with tiny limits: then small worlds and
// short runs reach every edge.
#ifndef FOLIOT_WIRE_LOCKSTEP_LIMITS_H
#define FOLIOT_WIRE_LOCKSTEP_LIMITS_H

#include <stdint.h>

typedef struct foliot__lockstep_limits {
    double log_seconds;      // of closed ticks are kept, and the delay of spectators
    double keyframe_seconds; // between two saved states
    uint32_t part_bytes;     // of a saved state in one message, at most FOLIOT__SCENE_PART_BYTES
    uint32_t heard_bytes;    // of it, after which a client acknowledges them
    uint32_t window_bytes;   // of it in flight to one peer; more than heard_bytes
} foliot__lockstep_limits;
#define FOLIOT__LOCKSTEP_LIMITS                                                                    \
    {                                                                                              \
        90, 2, 8192, 16u << 10, 256u << 10                                                         \
    }

const foliot__lockstep_limits *foliot__lockstep_limits_now(void);

#endif
