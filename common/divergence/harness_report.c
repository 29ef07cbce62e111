// SPDX-License-Identifier: MIT
// harness_report.c: the harness's result as a text table and as JSON.
#include "foliot/divergence.h"

#include "divergence/divergence.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *text;
} tests[] = {
#define ROW(name, text) {#name, text},
    FOLIOT_HARNESS_TESTS(ROW)
#undef ROW
};

const char *foliot_harness_test_get_name(foliot_harness_test test)
{
    return (unsigned)test < FOLIOT_HARNESS_TEST_COUNT ? tests[test].name : "none";
}

static const foliot_divergence_labels names = {.unknown = "here"};

static void put_text(FILE *out, const void *what)
{
    const foliot_harness_result *result = what;
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(result->digest, digest);
    fprintf(out,
            "%s version %" PRIu32 ": %" PRIu64 " ticks, %" PRIu64 " inputs, %zu bytes saved, "
            "digest %s\n",
            result->kind ? result->kind->name : "no simulation",
            result->kind ? result->kind->version : 0, result->ticks, result->inputs,
            result->saved_bytes, digest);
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++) {
        const foliot_harness_row *row = &result->row[i];
        fprintf(out, "%-14s %-7s %8" PRIu64 " checks  %s\n", tests[i].name,
                row->skipped  ? "skipped"
                : row->passed ? "passed"
                              : "FAILED",
                row->checks,
                row->skipped  ? ""
                : row->passed ? tests[i].text
                              : "");
        if (!row->passed) {
            char text[1024];
            fprintf(out, "  %s\n", row->text);
            foliot_divergence_print_text(&row->divergence, &names, text, sizeof text);
            for (const char *line = text; *line;) {
                size_t length = strcspn(line, "\n");
                fprintf(out, "    %.*s\n", (int)length, line);
                line += length + (line[length] == '\n');
            }
        }
    }
}

static void put_json(FILE *out, const void *what)
{
    const foliot_harness_result *result = what;
    char digest[FOLIOT_DIGEST_TEXT_BYTES];
    foliot_digest_print(result->digest, digest);
    foliot__json json = foliot__json_to(out);
    foliot__json_object(&json, NULL);
    foliot__json_text(&json, "kind", result->kind ? result->kind->name : NULL);
    foliot__json_count(&json, "version", result->kind ? result->kind->version : 0);
    foliot__json_bool(&json, "passed", result->passed);
    foliot__json_count(&json, "ticks", result->ticks);
    foliot__json_count(&json, "inputs", result->inputs);
    foliot__json_count(&json, "saved_bytes", result->saved_bytes);
    foliot__json_text(&json, "digest", digest);
    foliot__json_array(&json, "tests");
    for (int i = 0; i < FOLIOT_HARNESS_TEST_COUNT; i++) {
        const foliot_harness_row *row = &result->row[i];
        const foliot_divergence *d = row->passed ? NULL : &row->divergence;
        foliot__json_object(&json, NULL);
        foliot__json_text(&json, "test", tests[i].name);
        foliot__json_bool(&json, "passed", row->passed);
        foliot__json_count(&json, "checks", row->checks);
        foliot__json_bool(&json, "skipped", row->skipped);
        foliot__json_text(&json, "text", row->passed ? NULL : row->text);
        foliot__divergence_put(&json, d, &names);
        foliot__divergence_put_bits(&json, d, &names);
        foliot__json_close(&json);
    }
    foliot__json_close(&json);
    foliot__json_close(&json);
}

size_t foliot_harness_print_text(const foliot_harness_result *result, char *text, size_t capacity)
{
    return foliot__print_stream(put_text, result, text, capacity);
}

size_t foliot_harness_print_json(const foliot_harness_result *result, char *text, size_t capacity)
{
    return foliot__print_stream(put_json, result, text, capacity);
}
