// SPDX-License-Identifier: MIT
// lockstep_limits.c: the limits of every program, and nothing else: see lockstep_message.h.
#include "wire/lockstep_message.h"

const foliot__lockstep_limits *foliot__lockstep_limits_now(void)
{
    static const foliot__lockstep_limits limits = FOLIOT__LOCKSTEP_LIMITS;
    return &limits;
}
