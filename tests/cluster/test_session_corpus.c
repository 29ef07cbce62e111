// SPDX-License-Identifier: MIT
// test_session_corpus.c: the seeds of the session fuzzer, and what it once found, as plain tests:
// its own assertions end the program where one does not hold. Each seed also a few times with
// damage as bytes suffer it.
#include "check.h"

#include "../fuzz/fuzz_session.c"
#include "corpus.h"

#define DAMAGED 8

TEST(whatever_is_said_the_honest_play_on)
{
    LLVMFuzzerInitialize(NULL, NULL);
    check_ge(corpus_run("session", LLVMFuzzerTestOneInput, DAMAGED), 20);
}
