// SPDX-License-Identifier: MIT
// differences.h: what two recordings have beside states: inputs, commands, orders, messages; where
// they differ first.
#ifndef FOLIOT_TOOLS_REPLAY_DIFFERENCES_H
#define FOLIOT_TOOLS_REPLAY_DIFFERENCES_H

#include "foliot/replay.h"

typedef struct difference {
    bool found;
    uint64_t tick;
    char text[128]; // which one, and its first differing field or byte; complete but for the tick
} difference;

// The first field in which two commands of one kind differ; NULL if they are equal. Sequence and
// source are no fields.
const char *command_differing_field(const foliot_command *a, const foliot_command *b);

// Compares what entered one tick. Writes to *found where it differs and nothing was found before.
// Returns the first error of either recording.
foliot_status differences_of_tick(foliot_replay *a, foliot_replay *b, uint64_t tick,
                                  difference *inputs, difference *commands, difference *orders);
// Messages of the ticks up to `last`, in the order of the files.
foliot_status differences_of_messages(foliot_replay *a, foliot_replay *b, uint64_t last,
                                      difference *messages);

#endif
