// SPDX-License-Identifier: MIT
// rules.h: runs the rules of a recorded session again and compares what they give.
#ifndef FOLIOT_TOOLS_REPLAY_RULES_H
#define FOLIOT_TOOLS_REPLAY_RULES_H

#include "foliot/replay.h"

typedef enum rules_result {
    RULES_MATCH,
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

// Replays the recording from its first tick. `text` says in a sentence what differs first: tick,
// command and field; or why nothing could be compared; of rules that match, that the host stopped
// them, or nothing. `commands` (may be NULL): how many agreed.
rules_result rules_verify(foliot_replay *replay, rules_allowance allowance, char *text,
                          size_t text_bytes, uint64_t *commands);

#endif
