// SPDX-License-Identifier: MIT
// status.h: what tests and benches do with a status: demand success, or say that failure is as
// good.
#ifndef FOLIOT_TESTS_STATUS_H
#define FOLIOT_TESTS_STATUS_H

#include "base/assert.h"
#include "foliot/status.h"

// A call that cannot fail here.
static inline void demand(foliot_status status)
{
    FOLIOT_ASSERT(status == FOLIOT_STATUS_OK);
}

// A call whose failure the test allows: a packet that is lost, bytes that are refused.
static inline void allow_failure(foliot_status status)
{
    (void)status;
}

#endif
