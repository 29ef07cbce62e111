// SPDX-License-Identifier: MIT
// recordings.h: the folder of recordings: which of them are to be resumed, their total size, the
// end of one, and the command that gets each finished one.
#ifndef FOLIOT_SERVER_RECORDINGS_H
#define FOLIOT_SERVER_RECORDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host.h"

struct foliot__app;

#define FOLIOT__RECORDINGS_LISTED_MAX 65536 // of one folder

// Starts the process that runs `command` (NULL: none); call it before there is any thread, and
// before privileges are dropped. Returns an exit code, after a sentence.
int foliot__recordings_open(const char *command);
// A recording was closed properly: passes it to the command. Never waits.
void foliot__recordings_finished(const char *file);
// Waits until the commands have ended, `wait_ms` at most.
void foliot__recordings_end_commands(uint32_t wait_ms);

// The unfinished recordings of a folder that no process writes to, the newest first, then
// *empty_count later parts without a tick. The caller frees each and the list. NULL and errno: the
// folder cannot be read.
char **foliot__recordings_unfinished(const char *folder, uint32_t *count, uint32_t *empty_count);

// Deletes the oldest finished recordings of the folder, until all *.foliot in it take at most
// --recordings-max-bytes: on a worker, or at the end of the program. It never deletes a recording
// that is unfinished, that a process has open for writing, or that waits for its command.
void foliot__recordings_trim_soon(struct foliot__app *app);
void foliot__recordings_trim_last(struct foliot__app *app);

// Closes the recording, if there is one, and prints its ticks to stdout. Returns an exit code.
int foliot__hosted_end_recording(foliot__hosted *hosted);
// Ends all recordings, or makes suspended ones durable, once no tick follows. They stay open.
void foliot__hosted_end_all(foliot__hosted *hosted, uint32_t count);
// A worker closes the recording of a session that has ended; the pointer is NULL then. If the
// server still steps the session, the recording stays, and is closed at the end.
void foliot__recordings_close(struct foliot__app *app, foliot__hosted *hosted);
// The same for a recording that the server no longer uses.
void foliot__recordings_close_taken(struct foliot__app *app, foliot__hosted *hosted);

#endif
