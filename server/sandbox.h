// SPDX-License-Identifier: MIT
// sandbox.h: what this process may still do once it serves: as another user where --user names one,
// without ever getting more rights, and with the system calls alone that serving needs. A hole in
// what parses the network's bytes is then less than the machine.
#ifndef FOLIOT_SERVER_SANDBOX_H
#define FOLIOT_SERVER_SANDBOX_H

#include <stdbool.h>

#include "base/options.h"

// Finds the user that --user names. Returns an exit code, with a sentence on stderr.
int foliot__sandbox_check(const foliot__arguments *arguments);
// Becomes that user, in every thread; nothing where none is named. After secrets were read and
// ports were taken. Returns an exit code.
int foliot__sandbox_drop(void);
// Gives up all other system calls, in every thread; a forbidden one ends the process with a
// sentence. What cannot be given up here is said on stderr. Returns an exit code.
int foliot__sandbox_enter(void);

#endif
