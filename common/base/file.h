// SPDX-License-Identifier: MIT
// file.h: opens files for reading, regular ones alone: a pipe or a device in their place could keep
// a program waiting for ever, or never end. Also sees to it that the three standard descriptors are
// there.
#ifndef FOLIOT_BASE_FILE_H
#define FOLIOT_BASE_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// A descriptor, or -1 and errno; foliot__file_problem has the sentence. Follows symbolic links: the
// name is the user's.
int foliot__file_open(const char *file);
FILE *foliot__file_stream(const char *file); // the same as a stream
// A name that comes from a file, beside or below `folder`: no component of it may be "..", none a
// symbolic link, and it does not begin at the root.
int foliot__file_open_below(const char *folder, const char *name);
// What `error`, the errno of the above, means.
const char *foliot__file_problem(int error);

// For a program's first line: each of stdin, stdout and stderr that is closed becomes /dev/null.
// Else the next file that is opened, a recording perhaps, would get its number and all that is
// printed. False if that cannot be done.
bool foliot__standard_open(void);
// Whether so many more descriptors can be opened. For libraries that end the process where they
// cannot.
bool foliot__descriptors_left(uint32_t count);

#endif
