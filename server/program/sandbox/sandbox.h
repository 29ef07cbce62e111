// SPDX-License-Identifier: MIT
// sandbox.h: what this process may still do once it serves: as another user where --user names one,
// without ever getting more rights, and with the system calls alone that serving needs. A hole in
// what parses the network's bytes is then less than the machine.
#ifndef FOLIOT_SERVER_SANDBOX_H
#define FOLIOT_SERVER_SANDBOX_H

#include <stdbool.h>

#include "program/options/arguments.h"

// From here on the files and folders alone can be opened that the options name, and what libraries
// need of the system's: written in the folders of recordings, bans, used tokens and the socket and
// in the working folder, read in those of scenes. Before any thread is started. Where this system
// does not know it (Landlock), or descriptors or memory lack, nothing happens.
void foliot__sandbox_begin(const foliot__server_choices *choices,
                           const foliot__arguments *arguments);
// In sandbox_files.c, for the above. NULL, or half a sentence: why files are not limited.
const char *foliot__sandbox_files(const foliot__server_choices *choices,
                                  const foliot__arguments *arguments);
// Finds the user that --user names. Returns an exit code, with a sentence on stderr.
int foliot__sandbox_check(const foliot__server_choices *choices,
                          const foliot__arguments *arguments);
// Becomes that user, in every thread; nothing where none is named. After secrets were read and
// ports were taken. Returns an exit code.
int foliot__sandbox_drop(void);
// Gives up all other system calls, in every thread; a forbidden one ends the process with a
// sentence. No service of this machine is connected to any more: what the options name has a socket
// by now, or a process that connects for this one (agones.h). A restriction that fails is
// reported on stderr. Returns an exit code.
int foliot__sandbox_enter(const foliot__server_choices *choices);
// A line on stdout: what was given up.
void foliot__sandbox_announce(void);

#endif
