// SPDX-License-Identifier: MIT
// sandbox.h: restricts the process once it serves: it runs as another user if --user names one, can
// never gain privileges, and may only make the system calls that serving needs. An exploit of a
// network parser then does not compromise the machine.
#ifndef FOLIOT_SERVER_SANDBOX_H
#define FOLIOT_SERVER_SANDBOX_H

#include <stdbool.h>

#include "program/options/arguments.h"

// From here on only the files and folders can be opened that the options name, and those of the
// system that libraries need: written in the folders of recordings, bans, used tokens and the
// socket and in the working folder, read in those of scenes. Call it before any thread is started.
// If the system lacks Landlock, or descriptors or memory are short, nothing happens.
void foliot__sandbox_begin(const foliot__server_choices *choices,
                           const foliot__arguments *arguments);
// In sandbox_files.c, for the above. NULL, or half a sentence: why files are not limited.
const char *foliot__sandbox_files(const foliot__server_choices *choices,
                                  const foliot__arguments *arguments);
// Finds the user that --user names. Returns an exit code, with a sentence on stderr.
int foliot__sandbox_check(const foliot__server_choices *choices,
                          const foliot__arguments *arguments);
// Becomes that user, in every thread; without --user it does nothing. Call it after secrets were
// read and ports were opened. Returns an exit code.
int foliot__sandbox_drop(void);
// Gives up all other system calls, in every thread; a forbidden one ends the process with a
// sentence. The process can no longer connect to services of this machine: those that the options
// name have a socket by now, or a process that connects for this one (life.h). A restriction that
// fails is reported on stderr. Returns an exit code.
int foliot__sandbox_enter(const foliot__server_choices *choices);
// Prints a line on stdout: the privileges that were given up.
void foliot__sandbox_announce(void);

#endif
