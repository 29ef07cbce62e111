// SPDX-License-Identifier: MIT
// line_script.h: reads a text with one statement per line, and reports a mistake with its place.
// Knows no statements.
#ifndef FOLIOT_BASE_LINE_SCRIPT_H
#define FOLIOT_BASE_LINE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

#include "foliot/status.h"

typedef struct foliot__line_script {
    const char *name; // of the file
    size_t bytes_max; // of it
    char *message;    // gets "NAME:LINE:COLUMN: sentence", or "NAME: sentence"
    size_t message_bytes;
    unsigned line; // the present one, from 1
    foliot_status status;
} foliot__line_script;

// Passes each line, without its end, to `read_line`, until that returns false. Returns the script's
// status, which is then what read_line reported with one of the functions below. `text` NULL: reads
// the file; FOLIOT_STATUS_IO if it cannot be read.
foliot_status
foliot__line_script_parse(foliot__line_script *script, const char *text, size_t length,
                          bool (*read_line)(void *reader, const char *line, size_t length),
                          void *reader);
// FOLIOT_STATUS_INVALID and a sentence about `column`, which is from 0. Returns false.
__attribute__((format(printf, 3, 4))) bool
foliot__line_script_refuse(foliot__line_script *script, size_t column, const char *format, ...);
// "WANTED, not 'WORD'", without control characters; "WANTED" where the word is missing.
bool foliot__line_script_refuse_word(foliot__line_script *script, size_t column, const char *word,
                                     const char *wanted);
// FOLIOT_STATUS_MEMORY. Returns false.
bool foliot__line_script_no_memory(foliot__line_script *script);

#endif
