// SPDX-License-Identifier: MIT
// Goal: what servers of the fuzzer said, and everything that it once found, goes on to be survived.
// Method: fuzz_client.c itself, built as any test is, over its corpus. Its assertions end the
// program where one does not hold.
#include "../support/check.h"

#include "../fuzz/fuzz_client.c"
#include "corpus.h"

static void hostile_servers_are_survived(void **state)
{
    (void)state;
    check_ge(corpus_run("client", LLVMFuzzerTestOneInput, 0), 15);
}

int main(void)
{
    LLVMFuzzerInitialize(NULL, NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostile_servers_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
