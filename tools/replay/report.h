// SPDX-License-Identifier: MIT
// report.h: what the lines of `verify --json`, of any number of shards, say together.
#ifndef FOLIOT_TOOLS_REPLAY_REPORT_H
#define FOLIOT_TOOLS_REPLAY_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "foliot/scene.h"

// In the order of how bad it is.
#define REPORT_VERDICTS(X)                                                                         \
    X(MATCH, "match", "replayed to the same digests")                                              \
    X(UNFINISHED, "unfinished", "agrees as far as it goes, and has no end")                        \
    X(UNREAD, "unread", "no verdict: the file could not be read")                                  \
    X(MISSING, "missing", "in the list, and in no shard's results")                                \
    X(UNSUPPORTED, "unsupported", "needs another build")                                           \
    X(RULES, "rules", "replays alike, but its rules give other commands")                          \
    X(DIVERGED, "diverged", "replays to other digests")                                            \
    X(CORRUPT, "corrupt", "damaged")

typedef enum report_verdict {
#define REPORT_ENUM(id, name, meaning) REPORT_##id,
    REPORT_VERDICTS(REPORT_ENUM)
#undef REPORT_ENUM
        REPORT_VERDICT_COUNT
} report_verdict;

static const struct {
    const char *name, *meaning;
} report_verdicts[] = {
#define REPORT_ROW(id, name, meaning) {name, meaning},
    REPORT_VERDICTS(REPORT_ROW)
#undef REPORT_ROW
};

#define REPORT_SCENES_MAX 4096 // beyond them all others count as one

typedef struct report_scene {
    char name[FOLIOT_NAME_BYTES];
    uint64_t counts[REPORT_VERDICT_COUNT], files, ticks;
    double factor_sum; // of realtime_factor
    uint64_t factors;
} report_scene;

typedef struct report_result {
    char *file, *detail; // detail: may be NULL
    uint32_t scene;
    report_verdict verdict;
    uint64_t ticks;
    double factor; // 0: not known
} report_result;

typedef struct report {
    report_result *results; // sorted: the worst first, then by file
    uint32_t count, capacity;
    report_scene *scenes;
    uint32_t scene_count;
    report_scene total;
    uint64_t repeats;   // results of a file that had one already
    uint64_t bad_lines; // no results
} report;

// report_page.c: one HTML file without scripts and without anything from elsewhere.
bool report_write_page(const report *r, FILE *out, uint32_t worst_max);

#endif
