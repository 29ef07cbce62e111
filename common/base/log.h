// SPDX-License-Identifier: MIT
// log.h: structured lines, as sentences for people or as JSON for machines. Lines that
// repeat too fast are dropped and counted, so that no peer can fill a disk. Time is an
// argument. For one thread.
//
//     foliot__log_at(&log, now_ns, unix_ns);
//     if (foliot__log_begin(&log, FOLIOT__LOG_INFO, "joined", "bob joined as player 3")) {
//         foliot__log_count(&log, "player", 3);
//         foliot__log_end(&log);
//     }
//
//     10:00:12 bob joined as player 3
//     {"time":"2026-11-21T10:00:12.345Z","uptime":12.345,"level":"info","event":"joined","player":3,
//      "text":"bob joined as player 3"}
#ifndef FOLIOT_BASE_LOG_H
#define FOLIOT_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/bucket.h"
#include "base/json.h"

#define FOLIOT__LOG_EVENTS_MAX 64  // events with a separate rate; the rest share one
#define FOLIOT__LOG_BURST 20       // lines of one event at once ...
#define FOLIOT__LOG_PER_SECOND 5   // ... and in the long run
#define FOLIOT__LOG_TEXT_BYTES 512 // of a sentence or a field; longer ones are cut

typedef enum foliot__log_level {
    FOLIOT__LOG_DEBUG,
    FOLIOT__LOG_INFO,
    FOLIOT__LOG_WARNING,
    FOLIOT__LOG_ERROR,
} foliot__log_level;

typedef struct foliot__log_rate {
    const char *event;
    foliot__bucket lines;    // that it may still write
    uint64_t suppressed;     // lines dropped since the last one
    foliot__log_level level; // of these
} foliot__log_rate;

typedef struct foliot__log {
    FILE *out;
    bool json;
    foliot__log_level lowest;
    uint64_t start_ns, now_ns;
    int64_t unix_ns;
    foliot__log_rate rates[FOLIOT__LOG_EVENTS_MAX];
    uint32_t rate_count;
    uint64_t lines, suppressed; // counters
    const char *sentence;       // of the line being written
    FILE *line;                 // being written, in memory
    char *text;
    size_t length;
    foliot__json writer;
} foliot__log;

// False if there is no memory. `out` stays the caller's. Free with foliot__log_close, which reports
// the lines that were dropped.
bool foliot__log_open(foliot__log *log, FILE *out, bool json, foliot__log_level lowest,
                      uint64_t now_ns);
void foliot__log_close(foliot__log *log);
// The time of the lines that follow: monotonic, and since 1970 (0: not known; then people get
// uptime).
void foliot__log_at(foliot__log *log, uint64_t now_ns, int64_t unix_ns);

// `event` is a string constant, never a text from outside: its address identifies its rate.
// `sentence` is for people and may hold names: control characters are removed. It must stay valid
// until foliot__log_end. False: the line is dropped; write no fields and no end.
bool foliot__log_begin(foliot__log *log, foliot__log_level level, const char *event,
                       const char *sentence);
// The same without a rate, for actions of the machine's owner: each leaves its line.
bool foliot__log_begin_unlimited(foliot__log *log, foliot__log_level level, const char *event,
                                 const char *sentence);
// Fields, in JSON only: people read the sentence.
void foliot__log_text(foliot__log *log, const char *key, const char *value);
void foliot__log_count(foliot__log *log, const char *key, uint64_t value);
void foliot__log_bool(foliot__log *log, const char *key, bool value);
void foliot__log_end(foliot__log *log); // in one write

#endif
