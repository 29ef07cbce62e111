// SPDX-License-Identifier: MIT
// test_lockstep_corpus.c: the seeds of the lockstep fuzzer, and what it once found, as plain tests:
// its own assertions end the program where one does not hold. Each seed also a few times with
// damage as bytes suffer it.
#include "check.h"

#include "../fuzz/fuzz_lockstep.c"
#include "corpus.h"

#define DAMAGED 8

static void whatever_is_said_the_honest_play_on(void **state)
{
    (void)state;
    LLVMFuzzerInitialize(NULL, NULL);
    check_ge(corpus_run("lockstep", LLVMFuzzerTestOneInput, DAMAGED), 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_said_the_honest_play_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
