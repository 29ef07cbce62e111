// SPDX-License-Identifier: MIT
// event.h: what happened in a step, for the host to poll.
#ifndef FOLIOT_SIM_STATE_EVENT_H
#define FOLIOT_SIM_STATE_EVENT_H

#include "sim/state/state.h"

// Appends to the step's events. Without room the event is dropped and counted.
void foliot__event(foliot_world *world, foliot_event_kind kind, uint32_t a, uint32_t b);

#endif
