// SPDX-License-Identifier: MIT
// corpus.c: see corpus.h.
#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seed_wire.h"

#define FILE_BYTES_MAX 65536

static size_t read_file(const char *folder, const char *name, uint8_t bytes[FILE_BYTES_MAX])
{
    char file[512];
    snprintf(file, sizeof file, "tests/fuzz/corpus/%s/%s", folder, name);
    FILE *stream = fopen(file, "rb");
    assert_non_null(stream);
    size_t length = fread(bytes, 1, FILE_BYTES_MAX, stream);
    fclose(stream);
    return length;
}

static void run(corpus_one *one, const uint8_t *bytes, size_t length)
{
    uint8_t *exact = malloc(length ? length : 1); // sanitizers see a byte too far
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    assert_int_equal(one(exact, length), 0);
    free(exact);
}

unsigned corpus_run(const char *folder, corpus_one *one, unsigned damaged)
{
    static uint8_t whole[FILE_BYTES_MAX], bytes[FILE_BYTES_MAX];
    char path[256];
    struct dirent **entries;
    foliot__rng rng = foliot__rng_seeded(1);
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s", folder);
    int found = scandir(path, &entries, NULL, alphasort);
    unsigned count = 0;
    check_gt(found, 0);
    for (int i = 0; i < found; i++) {
        if (entries[i]->d_name[0] != '.') {
            size_t length = read_file(folder, entries[i]->d_name, whole);
            run(one, whole, length);
            for (unsigned k = 0; k < damaged; k++) {
                memcpy(bytes, whole, length);
                run(one, bytes, seed_wire_mutate(&rng, bytes, length, sizeof bytes));
            }
            count++;
        }
        free(entries[i]);
    }
    free(entries);
    return count;
}
