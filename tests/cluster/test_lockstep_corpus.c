// SPDX-License-Identifier: MIT
// test_lockstep_corpus.c: the seeds of the lockstep fuzzer, and what it once found, as plain tests:
// its own assertions end the program where one does not hold. Each seed also a few times with
// damage as bytes suffer it.
#include "check.h"

#include "../fuzz/fuzz_lockstep.c"
#include "corpus.h"

#define DAMAGED 8

TEST(whatever_is_said_the_honest_play_on)
{
    LLVMFuzzerInitialize(NULL, NULL);
    check_ge(corpus_run("lockstep", LLVMFuzzerTestOneInput, DAMAGED), 20);
}
