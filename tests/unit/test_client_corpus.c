// SPDX-License-Identifier: MIT
// Goal: the client survives the messages of the fuzzer's servers, and everything that it once
// found. Method: fuzz_client.c itself, built as any test is, over its corpus. Its assertions end
// the program where one does not hold.
#include "../support/check.h"

#include "../fuzz/fuzz_client.c"
#include "corpus.h"

TEST(hostile_servers_are_survived)
{
    check_ge(corpus_run("client", LLVMFuzzerTestOneInput, 0), 15);
}

int main(void)
{
    LLVMFuzzerInitialize(NULL, NULL);
    return check_run(NULL, NULL);
}
