// SPDX-License-Identifier: MIT
// corpus.h: the seeds of fuzzers, and what fuzzers once found, as plain tests: a fuzzer's own
// assertions end the program where one does not hold.
#ifndef FOLIOT_TESTS_CORPUS_H
#define FOLIOT_TESTS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

typedef int corpus_one(const uint8_t *bytes, size_t length); // LLVMFuzzerTestOneInput

// Runs `one` on every file of tests/fuzz/corpus/FOLDER, in the order of their names, from memory
// with nothing behind the bytes; and each `damaged` times more with damage as bytes suffer it.
// Returns how many files there were; a test fails where a file cannot be read.
unsigned corpus_run(const char *folder, corpus_one *one, unsigned damaged);

#endif
