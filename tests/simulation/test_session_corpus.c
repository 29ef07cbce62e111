// SPDX-License-Identifier: MIT
// test_session_corpus.c: the seeds of the session fuzzer, and what it once found, as plain tests:
// its own assertions end the program where one does not hold. Each seed also a few times with
// damage as bytes suffer it.
#include "check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fuzz/fuzz_session.c"
#include "seed_wire.h"

#define FILE_BYTES_MAX 65536
#define DAMAGED 8

static size_t read_file(const char *name, uint8_t bytes[FILE_BYTES_MAX])
{
    char file[512];
    snprintf(file, sizeof file, "tests/fuzz/corpus/session/%s", name);
    FILE *stream = fopen(file, "rb");
    assert_non_null(stream);
    size_t length = fread(bytes, 1, FILE_BYTES_MAX, stream);
    fclose(stream);
    return length;
}

static void run(const uint8_t *bytes, size_t length)
{
    uint8_t *exact = malloc(length ? length : 1); // sanitizers see a byte too far
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    assert_int_equal(LLVMFuzzerTestOneInput(exact, length), 0);
    free(exact);
}

static void whatever_is_said_the_honest_play_on(void **state)
{
    static uint8_t bytes[FILE_BYTES_MAX], damaged[FILE_BYTES_MAX];
    struct dirent **entries;
    foliot__rng rng = foliot__rng_seeded(1);
    int found = scandir("tests/fuzz/corpus/session", &entries, NULL, alphasort), seeds = 0;
    (void)state;
    LLVMFuzzerInitialize(NULL, NULL);
    for (int i = 0; i < found; i++) {
        if (entries[i]->d_name[0] != '.') {
            size_t length = read_file(entries[i]->d_name, bytes);
            run(bytes, length);
            for (int k = 0; k < DAMAGED; k++) {
                memcpy(damaged, bytes, length);
                run(damaged, seed_wire_mutate(&rng, damaged, length, sizeof damaged));
            }
            seeds++;
        }
        free(entries[i]);
    }
    free(entries);
    check_ge(seeds, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whatever_is_said_the_honest_play_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
