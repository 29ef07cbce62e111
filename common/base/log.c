// SPDX-License-Identifier: MIT
// log.c: a line is composed in memory and written at once. Each event has a rate.
#include "base/log.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/assert.h"
#include "base/text.h"

#define SECOND_NS UINT64_C(1000000000)

static const char *const level_names[] = {"debug", "info", "warning", "error"};

bool foliot__log_open(foliot__log *log, FILE *out, bool json, foliot__log_level lowest,
                      uint64_t now_ns)
{
    *log = (foliot__log){
        .out = out, .json = json, .lowest = lowest, .start_ns = now_ns, .now_ns = now_ns};
    log->line = open_memstream(&log->text, &log->length);
    return log->line != NULL;
}

void foliot__log_close(foliot__log *log)
{
    if (!log->line)
        return;
    for (uint32_t i = 0; i < log->rate_count; i++) {
        foliot__log_rate *rate = &log->rates[i];
        rate->lines = (foliot__bucket){0};
        if (rate->suppressed && foliot__log_begin(log, rate->level, rate->event, rate->event))
            foliot__log_end(log);
    }
    fclose(log->line);
    free(log->text);
    *log = (foliot__log){0};
}

void foliot__log_at(foliot__log *log, uint64_t now_ns, int64_t unix_ns)
{
    log->now_ns = now_ns;
    log->unix_ns = unix_ns;
}

// Linear scan on purpose: a few dozen events, compared as the pointers that they are.
static foliot__log_rate *rate_of(foliot__log *log, const char *event)
{
    for (uint32_t i = 0; i < log->rate_count; i++)
        if (log->rates[i].event == event)
            return &log->rates[i];
    if (log->rate_count < FOLIOT__LOG_EVENTS_MAX)
        log->rates[log->rate_count++].event = event;
    return &log->rates[log->rate_count - 1];
}

static double uptime(const foliot__log *log)
{
    uint64_t ms = (log->now_ns - log->start_ns) / 1000000;
    return (double)ms / 1000;
}

static void begin_line(foliot__log *log, foliot__log_level level, const char *event,
                       const char *sentence)
{
    rewind(log->line);
    log->sentence = sentence;
    if (log->json) {
        char when[48];
        log->writer = foliot__json_to(log->line);
        foliot__json_object(&log->writer, NULL);
        if (log->unix_ns > 0) {
            // "2026-11-21T10:00:12.345Z", in universal time.
            time_t seconds = (time_t)(log->unix_ns / (int64_t)SECOND_NS);
            struct tm parts;
            if (!gmtime_r(&seconds, &parts))
                memset(&parts, 0, sizeof parts);
            size_t length = strftime(when, 32, "%Y-%m-%dT%H:%M:%S", &parts);
            snprintf(when + length, 48 - length, ".%03dZ",
                     (int)(log->unix_ns % (int64_t)SECOND_NS / 1000000));
            foliot__json_text(&log->writer, "time", when);
        }
        foliot__json_decimals(&log->writer, "uptime", uptime(log), 3);
        foliot__json_text(&log->writer, "level", level_names[level]);
        foliot__json_text(&log->writer, "event", event);
    } else {
        // "10:00:12 ", in the local time zone.
        char clean[FOLIOT__LOG_TEXT_BYTES], clock[16] = "";
        time_t seconds = (time_t)(log->unix_ns / (int64_t)SECOND_NS);
        struct tm parts;
        if (log->unix_ns > 0 && localtime_r(&seconds, &parts))
            strftime(clock, sizeof clock, "%H:%M:%S", &parts);
        else
            snprintf(clock, sizeof clock, "%.3f", uptime(log));
        fprintf(log->line, "%s %s%s%s", clock, level == FOLIOT__LOG_INFO ? "" : level_names[level],
                level == FOLIOT__LOG_INFO ? "" : ": ",
                foliot__text_clean(clean, sizeof clean, sentence));
    }
}

bool foliot__log_begin(foliot__log *log, foliot__log_level level, const char *event,
                       const char *sentence)
{
    if (level < log->lowest)
        return false;
    foliot__log_rate *rate = rate_of(log, event);
    rate->level = level;
    if (!foliot__bucket_spend(&rate->lines, FOLIOT__LOG_BURST, 1e9 / FOLIOT__LOG_PER_SECOND,
                              log->now_ns)) {
        rate->suppressed++;
        log->suppressed++;
        return false;
    }
    begin_line(log, level, event, sentence);
    if (rate->suppressed && log->json)
        foliot__log_count(log, "suppressed", rate->suppressed);
    else if (rate->suppressed)
        fprintf(log->line, " (and %" PRIu64 " more like this were left out)", rate->suppressed);
    rate->suppressed = 0;
    return true;
}

bool foliot__log_begin_unlimited(foliot__log *log, foliot__log_level level, const char *event,
                                 const char *sentence)
{
    if (level < log->lowest)
        return false;
    begin_line(log, level, event, sentence);
    return true;
}

void foliot__log_text(foliot__log *log, const char *key, const char *value)
{
    char clean[FOLIOT__LOG_TEXT_BYTES];
    if (log->json)
        foliot__json_text(&log->writer, key, foliot__text_clean(clean, sizeof clean, value));
}

void foliot__log_count(foliot__log *log, const char *key, uint64_t value)
{
    if (log->json)
        foliot__json_count(&log->writer, key, value);
}

void foliot__log_bool(foliot__log *log, const char *key, bool value)
{
    if (log->json)
        foliot__json_bool(&log->writer, key, value);
}

void foliot__log_end(foliot__log *log)
{
    if (log->json) {
        foliot__log_text(log, "text", log->sentence);
        foliot__json_close(&log->writer);
    }
    fputc('\n', log->line);
    // The buffer may hold the end of an earlier, longer line: this one ends here.
    long end = ftell(log->line);
    FOLIOT_ASSERT(end > 0);
    fflush(log->line);
    fwrite(log->text, 1, (size_t)end, log->out);
    fflush(log->out);
    log->lines++;
}
