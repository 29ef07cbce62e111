// SPDX-License-Identifier: MIT
// corpus.c: see corpus.h.
#include "corpus.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seed_wire.h"

#define BLOCK_BYTES 512
#define FILE_BYTES_MAX 65536
#define ARCHIVE_BYTES_MAX (1u << 20)

static void run(corpus_one *one, const uint8_t *bytes, size_t length)
{
    uint8_t *exact = malloc(length ? length : 1); // sanitizers see a byte too far
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    assert_int_equal(one(exact, length), 0);
    free(exact);
}

static size_t read_archive(const char *name, uint8_t bytes[ARCHIVE_BYTES_MAX])
{
    char path[256];
    snprintf(path, sizeof path, "tests/fuzz/corpus/%s.tar", name);
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    size_t length = fread(bytes, 1, ARCHIVE_BYTES_MAX, stream);
    fclose(stream);
    check_lt(length, ARCHIVE_BYTES_MAX);
    return length;
}

unsigned corpus_run(const char *name, corpus_one *one, unsigned damaged)
{
    static uint8_t archive[ARCHIVE_BYTES_MAX], bytes[FILE_BYTES_MAX];
    foliot__rng rng = foliot__rng_seeded(1);
    size_t archive_length = read_archive(name, archive);
    unsigned count = 0;
    // A head of the ustar format has the name at 0, the size in octal at 124, the magic at 257.
    for (size_t at = 0; at + BLOCK_BYTES <= archive_length && archive[at]; count++) {
        assert_memory_equal(archive + at + 257, "ustar", 5);
        size_t length = strtoul((const char *)archive + at + 124, NULL, 8);
        at += BLOCK_BYTES;
        check_le(length, sizeof bytes);
        check_le(at + length, archive_length);
        run(one, archive + at, length);
        for (unsigned k = 0; k < damaged; k++) {
            memcpy(bytes, archive + at, length);
            run(one, bytes, seed_wire_mutate(&rng, bytes, length, sizeof bytes));
        }
        at += (length + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES;
    }
    return count;
}
