// SPDX-License-Identifier: MIT
// recordings.h: the folder of recordings: which of them are to go on, how many bytes they may take
// together, how one ends, and the command that is given each finished one.
#ifndef FOLIOT_SERVER_RECORDINGS_H
#define FOLIOT_SERVER_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

struct foliot__app;

#define FOLIOT__RECORDINGS_LISTED_MAX 65536 // of one folder

// Starts the process that runs `command` (NULL: none); before there is any thread, and before
// rights are given up. Returns an exit code, after a sentence.
int foliot__recordings_open(const char *command);
// A recording was closed in order: it is handed to the command. Never waits.
void foliot__recordings_finished(const char *file);
// Waits until the commands have ended, `wait_ms` at most.
void foliot__recordings_end_commands(uint32_t wait_ms);

// The unfinished recordings of a folder that no process writes to, the newest first, and behind
// them *empty_count later parts without a tick; each to be freed, and the list too. NULL and errno:
// the folder cannot be read.
char **foliot__recordings_unfinished(const char *folder, uint32_t *count, uint32_t *empty_count);

// Deletes the oldest finished recordings of the folder, until all *.foliot in it take at most
// --recordings-max-bytes: on a worker, or at the end of the program. One that is unfinished, that a
// process has open for writing, or that waits for its command is never deleted.
void foliot__recordings_trim_soon(struct foliot__app *app);
void foliot__recordings_trim_last(struct foliot__app *app);

// Closes the recording, if there is one, and prints its ticks to stdout. Returns an exit code.
int foliot__hosted_end_recording(foliot__hosted *hosted);
// Ends all recordings, or makes those durable that are suspended, once no tick follows. They stay
// open.
void foliot__hosted_end_all(foliot__hosted *hosted, uint32_t count);
// The recording of a session that has ended is closed on a worker; it is NULL then. Where the
// server still steps the session it stays, and is closed at the end.
void foliot__recordings_close(struct foliot__app *app, foliot__hosted *hosted);
// The same for a recording that the server does not use any more.
void foliot__recordings_close_taken(struct foliot__app *app, foliot__hosted *hosted);

#endif
