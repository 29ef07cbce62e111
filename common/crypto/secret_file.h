// SPDX-License-Identifier: MIT
// secret_file.h: reads a secret's one line from a file: a key, a password or a token. A file that
// others may read is refused.
#ifndef FOLIOT_CRYPTO_SECRET_FILE_H
#define FOLIOT_CRYPTO_SECRET_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// `file` "-" is stdin. `guarded`: a file that everybody can read, or that a group can write, is
// refused. The line, without its end, goes to `text` (at least 1 byte of it, at most bytes - 1).
// False, with a sentence in `why`: text is empty then. The caller wipes `text`.
bool foliot__secret_read(const char *file, bool guarded, char *text, size_t bytes, char *why,
                         size_t why_bytes);

// Keys of connect tokens, one a line, 1 .. FOLIOT_KEYS_MAX, of a file as above; blank lines count
// for nothing. `keys` has room for FOLIOT_KEYS_MAX, one behind the other; the caller wipes it.
bool foliot__secret_read_keys(const char *file, uint8_t *keys, uint32_t *count, char *why,
                              size_t why_bytes);

#endif
