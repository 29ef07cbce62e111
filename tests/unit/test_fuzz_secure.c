// SPDX-License-Identifier: MIT
// test_fuzz_secure.c: the seeds of fuzz_secure, and everything that it once found, run as plain
// tests: its own assertions end the program where one does not hold.
#include "check.h"

#include "corpus.h"

#define LLVMFuzzerTestOneInput fuzz_secure_one
#include "../fuzz/fuzz_secure.c"
#undef LLVMFuzzerTestOneInput

TEST(what_strangers_send_proves_nothing)
{
    check_ge(corpus_run("secure", fuzz_secure_one, 0), 7);
}
