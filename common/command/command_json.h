// SPDX-License-Identifier: MIT
// command_json.h: commands in JSON, with the tick, source and sequence that files add.
#ifndef FOLIOT_COMMAND_COMMAND_JSON_H
#define FOLIOT_COMMAND_COMMAND_JSON_H

#include "base/json_reader.h"
#include "command/command.h"

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

#endif
