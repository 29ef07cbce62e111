// SPDX-License-Identifier: MIT
// lockstep_limits.c: the limits of every program, and nothing else: see lockstep_limits.h.
#include "wire/lockstep_limits.h"

const foliot__lockstep_limits *foliot__lockstep_limits_now(void)
{
    static const foliot__lockstep_limits limits = FOLIOT__LOCKSTEP_LIMITS;
    return &limits;
}
