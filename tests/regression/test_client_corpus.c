// SPDX-License-Identifier: MIT
// Goal: what servers of the fuzzer said, and everything that it once found, goes on to be survived.
// Method: fuzz_client.c itself, built as any test is, over its corpus. Its assertions end the
// program where one does not hold.
#include "../support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "../fuzz/fuzz_client.c"

#define FOLDER "tests/fuzz/corpus/client"
#define FILE_BYTES_MAX 65536

static void run_file(const char *file)
{
    static uint8_t buffer[FILE_BYTES_MAX];
    FILE *stream = fopen(file, "rb");
    assert_non_null(stream);
    size_t length = fread(buffer, 1, sizeof buffer, stream);
    fclose(stream);
    uint8_t *exact = malloc(length ? length : 1); // sanitizers see a byte too far
    assert_non_null(exact);
    memcpy(exact, buffer, length);
    assert_int_equal(LLVMFuzzerTestOneInput(exact, length), 0);
    free(exact);
}

static void hostile_servers_are_survived(void **state)
{
    (void)state;
    struct dirent **entries;
    int found = scandir(FOLDER, &entries, NULL, alphasort);
    check_ge(found, 10);
    for (int i = 0; i < found; i++) {
        char file[512];
        snprintf(file, sizeof file, "%s/%s", FOLDER, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            run_file(file);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    LLVMFuzzerInitialize(NULL, NULL);
    const struct CMUnitTest tests[] = {cmocka_unit_test(hostile_servers_are_survived)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
