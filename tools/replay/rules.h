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

// Replays the recording from its first tick. `text` says in a sentence what differs first: tick,
// command and field; or why nothing could be compared. `commands` (may be NULL): how many agreed.
rules_result rules_verify(foliot_replay *replay, char *text, size_t text_bytes, uint64_t *commands);

#endif
