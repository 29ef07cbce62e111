// SPDX-License-Identifier: MIT
// terminal.h: whether a stream is a terminal that shows colours, and its size. Also a progress bar.
#ifndef FOLIOT_BASE_TERMINAL_H
#define FOLIOT_BASE_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

bool foliot__is_terminal(FILE *stream);
// A terminal, NO_COLOR (no-color.org) absent or empty, and TERM not "dumb".
bool foliot__may_colour(FILE *stream);
// Columns and rows of the terminal behind the stream; 80 x 24 where there is none.
void foliot__terminal_size(FILE *stream, uint32_t *columns, uint32_t *rows);

// For the end of a program: flushes stdout, and reports on stderr if that failed. Returns `code`;
// if that is 0 and output was lost, FOLIOT__EXIT_AGAIN for a full disk and FOLIOT__EXIT_ERROR
// otherwise.
int foliot__stdout_done(const char *program, int code);

// A one-line progress bar on stderr, only where that is a terminal: silent elsewhere. Cheap to
// call: it draws when a whole per cent has passed.
typedef struct foliot__progress {
    const char *what;
    uint64_t total;
    uint32_t percent; // last one drawn
    bool draws;
} foliot__progress;
foliot__progress foliot__progress_begin(const char *what, uint64_t total);
void foliot__progress_at(foliot__progress *progress, uint64_t done);
void foliot__progress_end(foliot__progress *progress); // wipes the line

#endif
