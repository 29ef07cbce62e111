// SPDX-License-Identifier: MIT
// file.h: opens regular files for reading and nothing else: a pipe or a device could block a
// program for ever, or never end. Also makes sure that the three standard descriptors are open, and
// that more descriptors and threads can be had.
#ifndef FOLIOT_BASE_FILE_H
#define FOLIOT_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

// A descriptor, or -1 and errno (foliot__file_problem has the sentence). Follows symbolic links:
// the name is the user's.
int foliot__file_open(const char *file);
FILE *foliot__file_stream(const char *file); // the same as a stream
// All bytes of the file, to be freed; NULL and errno: EFBIG beyond `most`, ENOMEM. An empty file is
// not NULL.
char *foliot__file_slurp(const char *file, size_t most, size_t *length);
// The same of a text, as foliot__text_plain has it, with a zero behind it.
char *foliot__file_slurp_text(const char *file, size_t most, size_t *length);
// The same; without a text the sentence "FILE: why" goes to `message`.
char *foliot__file_slurp_message(const char *file, size_t most, size_t *length, char *message,
                                 size_t message_bytes);
// Opens a file named in another file, in `folder` or below it: no component may be ".." or a
// symbolic link, and the name is relative.
int foliot__file_open_below(const char *folder, const char *name);
// For names that are used later. Whether a file can be written there, or a new one can replace it;
// whether there is a folder, and files can be made in it. False with errno.
bool foliot__file_writable(const char *file);
bool foliot__folder_usable(const char *folder, bool writes);
// Text for `error`, the errno of the above.
const char *foliot__file_problem(int error);

// A write beyond the limit of the process (RLIMIT_FSIZE) or of the file system fails with EFBIG,
// and the signal SIGXFSZ ends the process first. Programs ignore it (foliot__standard_open). A
// library does not change what its host does with signals: it writes between these two, which keep
// the signal from this thread where it is not ignored.
typedef struct foliot__file_guard {
    bool blocked;
    unsigned char before[128]; // a sigset_t
} foliot__file_guard;
void foliot__file_guard_begin(foliot__file_guard *guard);
void foliot__file_guard_end(const foliot__file_guard *guard); // keeps errno
// write() between them.
int64_t foliot__file_write(int descriptor, const void *bytes, size_t count);

// For a program's first line: SIGXFSZ is ignored, and opens /dev/null for each of stdin, stdout and
// stderr that is closed. Otherwise the next file opened, perhaps a recording, would get that number
// and receive all that is printed. False if that fails.
bool foliot__standard_open(void);
// Whether `count` more descriptors can be opened, for libraries that abort the process if they
// cannot.
bool foliot__descriptors_left(uint32_t count);

// Whether `count` threads with such stacks can exist at once: starts them and lets them end.
bool foliot__threads_left(uint32_t count, size_t stack_bytes);

#endif
