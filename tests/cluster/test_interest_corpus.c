// SPDX-License-Identifier: MIT
// test_interest_corpus.c: the seeds of the fuzzer of what watchers say, and what it once found, as
// plain tests. Method: fuzz_interest.c itself, built as any test is, over its corpus, and each seed
// damaged. Its assertions end the program where one does not hold.
#include "check.h"

#include "../fuzz/fuzz_interest.c"
#include "corpus.h"

#define DAMAGED 40

TEST(watchers_say_anything)
{
    check_ge(corpus_run("interest", LLVMFuzzerTestOneInput, DAMAGED), 16);
}
