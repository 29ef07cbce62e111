// SPDX-License-Identifier: MIT
// corpus.h: the seeds of fuzzers, and what fuzzers once found, as plain tests: a fuzzer's own
// assertions end the program where one does not hold.
#ifndef FOLIOT_TESTS_CORPUS_H
#define FOLIOT_TESTS_CORPUS_H

#include <stddef.h>
#include <stdint.h>

typedef int corpus_one(const uint8_t *bytes, size_t length); // LLVMFuzzerTestOneInput

// Runs `one` on every input of tests/fuzz/corpus/NAME.tar, in the order of their names, from memory
// with nothing behind the bytes; and on `damaged` damaged copies of each. Returns the number of
// inputs; a test fails where the archive cannot be read. tests/fuzz/pack.sh adds inputs.
unsigned corpus_run(const char *name, corpus_one *one, unsigned damaged);

#endif
