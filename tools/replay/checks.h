// SPDX-License-Identifier: MIT
// checks.h: checks of a recording: its rules, and the differences from another recording.
#ifndef FOLIOT_TOOLS_REPLAY_CHECKS_H
#define FOLIOT_TOOLS_REPLAY_CHECKS_H

#include <stddef.h>
#include <stdint.h>

#include "foliot/replay.h"

// rules.c: runs the rules of a recorded session again and compares their output.

typedef enum rules_result {
    RULES_MATCH,
    RULES_PART, // they match from a keyframe behind the first tick on: none before has their state
    RULES_DIFFER,
    RULES_NOT_COMPARABLE, // no rules, or others than this program can run
    RULES_FAILED,         // the recording cannot be replayed, or there is no memory
} rules_result;

// Processor time, for the rules alone: a script may come from a stranger, and the instructions of
// a tick can be slow ones. A server stops rules that take 5 ms in one tick.
typedef struct rules_allowance {
    uint64_t start_ns, tick_ns;
} rules_allowance;
#define RULES_ALLOWANCE_DEFAULT ((rules_allowance){10000000000u, 5000000u})

typedef struct rules_counts {
    uint64_t commands; // that agreed
    uint64_t drops;    // places at which the host dropped callbacks
    uint64_t first_tick;
} rules_counts;

// Replays the recording from its first tick. `text` is a sentence on the first difference: tick,
// command and field; or the reason why nothing could be compared; for matching rules, that the host
// stopped them, or nothing. `counts` may be NULL.
rules_result rules_verify(foliot_replay *replay, rules_allowance allowance, char *text,
                          size_t text_bytes, rules_counts *counts);

// differences.c: the contents of two recordings besides states: inputs, commands, orders, messages;
// and their first difference.

typedef struct difference {
    bool found;
    uint64_t tick;
    char text[128]; // which one, and its first differing field or byte; complete but for the tick
} difference;

// The first field in which two commands of one kind differ; NULL if they are equal. Sequence and
// source are not compared.
const char *command_differing_field(const foliot_command *a, const foliot_command *b);

// Compares the inputs and commands of one tick. Writes to *found if they differ and nothing was
// found before. Returns the first error of either recording.
foliot_status differences_of_tick(foliot_replay *a, foliot_replay *b, uint64_t tick,
                                  difference *inputs, difference *commands, difference *orders);
// Messages of the ticks up to `last`, in the order of the files.
foliot_status differences_of_messages(foliot_replay *a, foliot_replay *b, uint64_t last,
                                      difference *messages);

#endif
