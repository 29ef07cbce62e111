// SPDX-License-Identifier: MIT
// descriptor.h: messages between two processes of the server that may carry a file descriptor.
#ifndef FOLIOT_SERVER_DESCRIPTOR_H
#define FOLIOT_SERVER_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Sends a message over a local socket with a copy of `descriptor`; -1: without one. `flags`: of
// sendmsg; a socket without a reader gives EPIPE and no signal.
bool foliot__descriptor_send(int socket, const void *bytes, size_t length, int descriptor,
                             int flags);
// Like recv, with the descriptor that came with the message; -1: none came. The caller closes it.
// Signals do not interrupt it.
ssize_t foliot__descriptor_receive(int socket, void *bytes, size_t capacity, int *descriptor);

#endif
