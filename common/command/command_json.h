// SPDX-License-Identifier: MIT
// command_json.h: commands in JSON, with the tick, source and sequence that files add.
#ifndef FOLIOT_COMMAND_COMMAND_JSON_H
#define FOLIOT_COMMAND_COMMAND_JSON_H

#include "base/json_reader.h"
#include "base/pack.h"
#include "command/command.h"
#include "foliot/command.h"

#define FOLIOT__COMMAND_PROBLEM_BYTES 160

// One line of a file: a command with its tick. `sequence` and `source` are of the command.
typedef struct foliot__command_line {
    foliot_command command; // its texts lie in `texts`
    foliot__command_texts texts;
    uint64_t tick;
    char problem[FOLIOT__COMMAND_PROBLEM_BYTES];
    size_t problem_at; // byte, from 0
} foliot__command_line;

// Reads one object. `in_file`: "tick" is required and "source" and "sequence" are allowed, neither
// of which a command alone has. False with `problem`.
bool foliot__command_line_parse(const char *json, size_t length, bool in_file,
                                foliot__command_line *line);
// As snprintf: {"tick": 12, "sequence": 3, "source": "host", "command": ...}.
size_t foliot__command_line_print(const foliot_command *command, uint64_t tick, char *text,
                                  size_t capacity);

// -- files of commands

// Commands in a file, one JSON object a line, for the lab and for tests:
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
