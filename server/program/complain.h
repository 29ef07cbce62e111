// SPDX-License-Identifier: MIT
// complain.h: one sentence on stderr, or for the caller whose request failed.
#ifndef FOLIOT_SERVER_COMPLAIN_H
#define FOLIOT_SERVER_COMPLAIN_H

#include <stddef.h>

// The buffer for this thread's sentences, in place of stderr; NULL: stderr again.
void foliot__host_complain_into(char *text, size_t bytes);
// "foliot-server: what: why". Returns the code. `what` NULL: `why` is the whole line.
int foliot__host_complain(int code, const char *what, const char *why);
// The exit code for an errno of a file: FOLIOT__EXIT_AGAIN for what may pass (a full disk, too many
// open files, a device that fails), FOLIOT__EXIT_SCENE for what somebody must mend.
int foliot__host_exit_for(int error);
// For a start that fails because a resource is missing. Returns FOLIOT__EXIT_AGAIN.
int foliot__host_lacks(const char *what);

#endif
