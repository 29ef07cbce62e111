// SPDX-License-Identifier: MIT
// recordings.h: the folder of recordings: which of them are to go on, how many bytes they may take
// together, and the command that is given each finished one.
#ifndef FOLIOT_SERVER_RECORDINGS_H
#define FOLIOT_SERVER_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FOLIOT__RECORDINGS_LISTED_MAX 65536 // of one folder

// Starts the process that runs `command` (NULL: none); before there is any thread, and before
// rights are given up. Returns an exit code, after a sentence.
int foliot__recordings_open(const char *command);
// A recording was closed in order: it is handed to the command. Never waits.
void foliot__recordings_finished(const char *file);
// Waits until the commands have ended, `wait_ms` at most.
void foliot__recordings_close(uint32_t wait_ms);

// The unfinished recordings of a folder that no process writes to, the newest first, each to be
// freed, and the list too. NULL and errno: the folder cannot be read.
char **foliot__recordings_unfinished(const char *folder, uint32_t *count);

// Deletes the oldest finished recordings of the folder, until all *.foliot in it take at most
// `bytes_max`. One that is unfinished, that a process has open for writing, or that waits for its
// command is never deleted.
typedef struct foliot__recordings_kept {
    uint64_t bytes;   // that remain
    uint32_t deleted; // files
    int error;        // errno of the first deletion or look that failed; 0: none
} foliot__recordings_kept;
foliot__recordings_kept foliot__recordings_trim(const char *folder, uint64_t bytes_max);

#endif
