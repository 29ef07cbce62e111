// SPDX-License-Identifier: MIT
// command_script.h: commands in a file, one JSON object a line, for the lab and for tests:
//
//     # tick and command come first by custom; keys have no order
//     {"tick": 0, "command": "gravity", "acceleration": [0, 0, -3.7]}
//     {"tick": 60, "command": "spawn", "prototype": 0, "position": [0, 0, 5], "ticket": 1}
//     {"tick": 90, "source": "admin", "command": "end", "reason": "time"}
//
// A command of tick t acts in the step from t to t + 1. Lines stand in order of tick; within a tick
// commands act in the order of their lines. They are numbered from 1: a "sequence" (as
// `foliot-replay export --what commands` writes it) is allowed and ignored. Empty lines and those
// that begin with # are skipped.
#ifndef FOLIOT_COMMAND_COMMAND_SCRIPT_H
#define FOLIOT_COMMAND_COMMAND_SCRIPT_H

#include "base/pack.h"
#include "foliot/command.h"

// Commands are stored as canonical bytes, and decoded when their tick is wanted.
typedef struct foliot__scripted_command {
    uint64_t tick;
    size_t at; // in `bytes`
    uint32_t sequence, source;
} foliot__scripted_command;

typedef struct foliot__command_script {
    foliot__scripted_command *commands; // ticks never fall
    uint32_t count, capacity;
    foliot__buffer bytes;
} foliot__command_script;

// `message` gets "FILE:LINE:COLUMN: sentence" (or "FILE: sentence"). FOLIOT_STATUS_IO,
// FOLIOT_STATUS_INVALID, FOLIOT_STATUS_MEMORY; on FOLIOT_STATUS_OK free with
// foliot__command_script_free. FOLIOT_STATUS_INVALID also: more in one tick than
// FOLIOT_COMMANDS_MAX.
foliot_status foliot__command_script_read(const char *file, foliot__command_script *script,
                                          char *message, size_t message_bytes);
foliot_status foliot__command_script_parse(const char *text, size_t length, const char *name,
                                           foliot__command_script *script, char *message,
                                           size_t message_bytes);
// The commands of one tick, in order, as the whole list. FOLIOT_STATUS_MEMORY.
foliot_status foliot__command_script_at(const foliot__command_script *script, uint64_t tick,
                                        foliot_command_list *list);
void foliot__command_script_free(foliot__command_script *script);

#endif
