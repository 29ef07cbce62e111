// SPDX-License-Identifier: MIT
// process.h: what all parts of the program use: sentences about failures with their exit codes, and
// messages between its processes.
#ifndef FOLIOT_SERVER_PROCESS_H
#define FOLIOT_SERVER_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// -- one sentence on stderr, or for the caller whose request failed

// The buffer for this thread's sentences, in place of stderr; NULL: stderr again.
void foliot__host_complain_into(char *text, size_t bytes);
// "foliot-server: what: why". Returns the code. `what` NULL: `why` is the whole line.
int foliot__host_complain(int code, const char *what, const char *why);
// The exit code for an errno of a file: FOLIOT__EXIT_AGAIN for what may pass (a full disk, too many
// open files, a device that fails), FOLIOT__EXIT_SCENE for what somebody must mend.
int foliot__host_exit_for(int error);
// For a start that fails because a resource is missing. Returns FOLIOT__EXIT_AGAIN.
int foliot__host_lacks(const char *what);

// -- messages between two processes of the server that may carry a file descriptor

// Sends a message over a local socket with a copy of `descriptor`; -1: without one. `flags`: of
// sendmsg; a socket without a reader gives EPIPE and no signal.
bool foliot__descriptor_send(int socket, const void *bytes, size_t length, int descriptor,
                             int flags);
// Like recv, with the descriptor that came with the message; -1: none came. The caller closes it.
// Signals do not interrupt it.
ssize_t foliot__descriptor_receive(int socket, void *bytes, size_t capacity, int *descriptor);

#endif
