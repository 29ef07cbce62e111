// SPDX-License-Identifier: MIT
// signature.h: whether a recording is signed, by which key and how far, in a sentence.
#ifndef FOLIOT_TOOLS_REPLAY_SIGNATURE_H
#define FOLIOT_TOOLS_REPLAY_SIGNATURE_H

#include <stddef.h>
#include <stdint.h>

typedef enum signature_verdict {
    SIGNATURE_WHOLE,   // all of it, by that key
    SIGNATURE_PART,    // by that key, but not up to its end
    SIGNATURE_FOREIGN, // by another key, also
    SIGNATURE_NONE,
    SIGNATURE_FALSE, // one does not fit what is before it, or damage stands before the first
    SIGNATURE_FAILED // the file cannot be read
} signature_verdict;

// Reads all of the file. `text` gets the sentence.
signature_verdict signature_verify(const char *file, const uint8_t *key, char *text, size_t bytes);
const char *signature_verdict_name(signature_verdict verdict);
int signature_exit(signature_verdict verdict);

#endif
